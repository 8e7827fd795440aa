# SPDX-License-Identifier: GPL-2.0-or-later
"""Contexts: the options that keep functions apart or leave them out, and Callgrind's calls."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from compare_calls import run_both
from harness import GUESTS, IS_ARM64, SMALL_CACHES, SOURCE, Run, run_tool

PROGRAMS = SOURCE / "bdgrind" / "tests" / "bench" / "programs"


def run(folder: Path, guest: str, *options: str) -> Run:
    name = "".join(options).replace("/", "_")
    return run_tool(folder, [GUESTS / guest], [*SMALL_CACHES, *options], name=name)


def functions(run: Run) -> dict[str, Counter[str]]:
    """Self costs by function, under the full names of contexts."""
    return run.contexts.self_costs


def calls(run: Run, *of: str) -> dict[str, int]:
    """How often each context was called, of the functions named."""
    result: Counter[str] = Counter()
    for (_, callee), arc in run.contexts.arcs.items():
        if callee.partition("'")[0] in of:
            result[callee] += arc.calls
    return dict(result)


def test_levels_of_recursion(tmp_path: Path) -> None:
    default = run(tmp_path, "contexts")
    assert calls(default, "self") == {"self": 1, "self'2": 5}
    assert calls(default, "ping", "pong") == {"ping": 1, "ping'2": 2, "pong": 1, "pong'2": 2}
    one = run(tmp_path, "contexts", "--separate-recs=1")
    assert calls(one, "self", "ping") == {"self": 6, "ping": 3}
    three = run(tmp_path, "contexts", "--separate-recs=3")
    assert calls(three, "self") == {"self": 1, "self'2": 1, "self'3": 4}
    assert calls(three, "pong") == {"pong": 1, "pong'2": 1, "pong'3": 1}
    assert default.profile.totals == one.profile.totals == three.profile.totals


def test_levels_of_recursion_of_a_function(tmp_path: Path) -> None:
    options = ("--separate-recs=1", "--separate-recs4=se?f", "--separate-recs2=pong")
    some = run(tmp_path, "contexts", *options)
    assert calls(some, "self") == {"self": 1, "self'2": 1, "self'3": 1, "self'4": 3}
    assert calls(some, "ping", "pong") == {"ping": 3, "pong": 1, "pong'2": 2}


def test_direct_recursion_is_no_level(tmp_path: Path) -> None:
    skipped = run(tmp_path, "contexts", "--skip-direct-rec=yes")
    assert calls(skipped, "self", "ping") == {"self": 6, "ping": 1, "ping'2": 2}


def test_callers(tmp_path: Path) -> None:
    one = run(tmp_path, "contexts", "--separate-callers=1")
    assert calls(one, "left") == {"left'main": 2, "left'right": 3}
    assert calls(one, "leaf") == {"leaf'left": 5, "leaf'right": 3}
    two = run(tmp_path, "contexts", "--separate-callers=2")
    assert calls(two, "leaf") == {"leaf'left'main": 2, "leaf'left'right": 3, "leaf'right'main": 3}


def test_callers_of_a_function(tmp_path: Path) -> None:
    options = ("--separate-callers=1", "--separate-callers2=leaf", "--separate-callers0=l*t")
    some = run(tmp_path, "contexts", *options)
    assert calls(some, "left", "leaf", "right") == {
        "left": 5,
        "leaf'left'main": 2,
        "leaf'left'right": 3,
        "leaf'right'main": 3,
        "right'main": 3,
    }


def test_callers_and_levels(tmp_path: Path) -> None:
    both = run(tmp_path, "contexts", "--separate-callers=2", "--separate-recs=3")
    assert calls(both, "ping") == {
        "ping'main'(below main)": 1,
        "ping'2'pong'ping": 1,
        "ping'3'pong'ping": 1,
    }
    assert calls(both, "self") == {
        "self'main'(below main)": 1,
        "self'2'main'(below main)": 1,
        "self'3'main'(below main)": 4,
    }


def test_what_was_loaded_is_charged_to_the_context(tmp_path: Path) -> None:
    apart = run(tmp_path, "contexts", "--separate-callers=1")
    own = functions(apart)
    loss = {name: own[name]["SpLoss1"] for name in own if name.startswith("wade")}
    assert loss == {"wade'main": 63 * 32, "wade'right": 63 * 3 * 16}
    inclusive = {
        (caller, callee): arc.costs["SpLoss1"]
        for (caller, callee), arc in apart.contexts.arcs.items()
        if callee.startswith("wade")
    }
    assert inclusive == {
        ("main'(below main)", "wade'main"): 63 * 32,
        ("right'main", "wade'right"): 63 * 3 * 16,
    }


@pytest.mark.parametrize("fast", ["--cache-sim=no", "--cacheuse=no"])
def test_contexts_do_not_need_caches(tmp_path: Path, fast: str) -> None:
    options = ("--separate-callers=2", "--separate-recs=3")
    everything = run(tmp_path, "contexts", *options)
    assert calls(run(tmp_path, "contexts", *options, fast), "leaf", "self", "ping") == calls(
        everything, "leaf", "self", "ping"
    )


def test_a_function_is_skipped(tmp_path: Path) -> None:
    shown = run(tmp_path, "contexts")
    skipped = run(tmp_path, "contexts", "--fn-skip=left")
    assert "left" not in functions(skipped)
    arcs = skipped.contexts.arcs
    assert arcs["main", "leaf"].calls == 2 and arcs["right", "leaf"].calls == 3 + 3
    assert skipped.profile.totals == shown.profile.totals
    own = functions(shown)
    assert functions(skipped)["main"]["Ir"] == own["main"]["Ir"] + own["left"]["Ir"] // 5 * 2


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("town::road", {"town::road(int)", "town::road(double)"}),
        ("town::road(int)", {"town::road(int)"}),
        ("town::road(???)", {"town::road(int)"}),
        ("town::house::enter", {"town::house::enter(int) const"}),
        ("town::*", {"town::road(int)", "town::road(double)", "town::house::enter(int) const"}),
        ("*(int)*", {"town::road(int)", "town::house::enter(int) const"}),
        ("road", set()),
    ],
)
def test_names_and_patterns(tmp_path: Path, pattern: str, left_out: set[str]) -> None:
    everything = {
        "town::road(int)",
        "town::road(double)",
        "town::house::enter(int) const",
        "step()",
    }
    shown = set(functions(run(tmp_path, "names", f"--fn-skip={pattern}")))
    assert shown & everything == everything - left_out


def test_several_functions_are_skipped(tmp_path: Path) -> None:
    skipped = run(tmp_path, "names", "--fn-skip=town::road", "--fn-skip=town::house::enter")
    assert calls(skipped, "step()") == {"step()": 6}
    assert set(skipped.contexts.arcs) >= {("main", "step()")}
    assert not any("town" in name for name in functions(skipped))


def test_an_object_is_skipped(tmp_path: Path) -> None:
    shown = run(tmp_path, "plt_now")
    assert any("libc.so" in name for name in objects(shown))
    for pattern in ("libc.so.*", "*/libc.so.6"):
        skipped = run(tmp_path, "plt_now", f"--obj-skip={pattern}")
        assert objects(skipped) < objects(shown)
        assert not any("libc.so" in name for name in objects(skipped))
        assert skipped.profile.totals["Ir"] == shown.profile.totals["Ir"]


def objects(run: Run) -> set[str]:
    return set(re.findall(r"^c?ob=\(\d+\) (.*)$", run.profile_path.read_text(), re.MULTILINE))


def test_stubs_are_skipped_unless_asked_for(tmp_path: Path) -> None:
    skipped = run(tmp_path, "plt_lazy")
    shown = run(tmp_path, "plt_lazy", "--skip-plt=no")
    assert not any(name.endswith(" [PLT]") for name in functions(skipped))
    stubs = {name for name in functions(shown) if name.endswith(" [PLT]")}
    assert stubs
    assert any(("main", stub) in shown.contexts.arcs for stub in stubs)
    assert skipped.profile.totals["Ir"] == shown.profile.totals["Ir"]


def test_all_code_of_a_file_has_its_object(tmp_path: Path) -> None:
    """Also stubs in .plt.got, a section that the core knows nothing of."""
    shown = run(tmp_path, "plt_lazy")
    assert "???" not in objects(shown)


# --- Callgrind counts the same calls -----------------------------------------------------------


def expect_equal(
    folder: Path, command: Sequence[object], options: Sequence[str] = (), stdin: bytes = b""
) -> None:
    words = [str(word) for word in command]
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    result = run_both(folder, words, options, stdin)
    if IS_ARM64:
        # Callgrind takes plain branches for calls there. All that is executed is common.
        assert 0 < result.last_block < 100
        return
    first = result.differing[0].describe() if result.differing else ()
    assert not result.differing, "\n".join(first)
    assert result.functions > 100


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--separate-recs=1"],
        ["--separate-recs=4", "--skip-direct-rec=yes"],
        ["--separate-callers=3"],
        ["--separate-callers2=le*", "--separate-recs3=self", "--fn-skip=left"],
    ],
    ids=" ".join,
)
def test_contexts_equal_callgrind(tmp_path: Path, options: list[str]) -> None:
    expect_equal(tmp_path, [GUESTS / "contexts"], options)


def test_calls_equal_callgrind_sqlite3(tmp_path: Path) -> None:
    size = "CREATE TABLE size(orders INTEGER);\nINSERT INTO size VALUES(200);\n"
    script = (size + (PROGRAMS / "joins.sql").read_text()).encode()
    expect_equal(tmp_path, ["/usr/bin/sqlite3", "-batch", ":memory:"], stdin=script)
    expect_equal(
        tmp_path, ["/usr/bin/sqlite3", "-batch", ":memory:"], ["--separate-callers=2"], stdin=script
    )


def write_text(folder: Path) -> Path:
    text = folder / "text"
    text.write_text((PROGRAMS / "report.py").read_text() * 20)
    return text


def test_calls_equal_callgrind_perl(tmp_path: Path) -> None:
    expect_equal(tmp_path, ["/usr/bin/perl", PROGRAMS / "report.pl", write_text(tmp_path)])


def test_calls_equal_callgrind_python3(tmp_path: Path) -> None:
    command = ["/usr/bin/python3", "-S", "-s", "-B", PROGRAMS / "report.py", write_text(tmp_path)]
    expect_equal(tmp_path, command)


def test_calls_equal_callgrind_cc1(tmp_path: Path) -> None:
    compilers = sorted(Path("/usr/lib/gcc").glob("*/*/cc1"))
    if not compilers:
        pytest.skip("the C compiler is not installed")
    source = tmp_path / "source.c"
    source.write_text("int fold(int *a, int n) { int s = 0; while (n--) s += a[n]; return s; }\n")
    command = [compilers[-1], "-quiet", "-O1", source, "-o", "/dev/null"]
    expect_equal(tmp_path, command)
