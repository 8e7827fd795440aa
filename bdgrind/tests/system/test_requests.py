# SPDX-License-Identifier: GPL-2.0-or-later
"""Client requests, made by a guest that is told what to do: see guest/steer.c.

What is read at all was read before, but for the lines that touch() reads: so the LL read misses
(DLmr) of a call are the lines that were touched in it, and are worked out by counting letters.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from harness import GUESTS, SOURCE, configured
from part_files import Divided, assert_parts_add_up, steer

# The digits that stand for the requests of bdgrind.h ...
DUMP, DUMP_AT, ZERO, TOGGLE, START, STOP = (str(number) for number in range(6))
# ... and of callgrind.h, which has another order.
CALLGRINDS = {DUMP: "0", ZERO: "1", TOGGLE: "2", DUMP_AT: "3", START: "4", STOP: "5"}


def touched(divided: Divided) -> list[int]:
    return [file.own("touch") for file in divided.files]


def test_each_dump_is_a_part_named_as_callgrind_names_it(tmp_path: Path) -> None:
    parts = steer(tmp_path, f"c{DUMP}e{DUMP_AT}g")
    assert parts.endings == [".1", ".2", ""]
    assert [file.profile.header["part"] for file in parts.files] == [["1"], ["2"], ["3"]]
    assert touched(parts) == [3, 5, 7]
    assert [file.calls("level0", "touch") for file in parts.files] == [1, 1, 1]
    assert [file.trigger for file in parts.files] == [
        "Client Request",
        "Client Request: half way",
        "Program termination",
    ]


def test_parts_follow_each_other_in_time(tmp_path: Path) -> None:
    parts = steer(tmp_path, f"c{DUMP}e{ZERO}d{DUMP}g")
    first, second, last = (file.blocks for file in parts.files)
    assert first[0] == 0
    assert first[1] < second[0]  # where the counts were zeroed
    assert second[1] == last[0] < last[1]


@pytest.mark.parametrize(
    "script",
    [
        f"c{DUMP}e",
        f"c{DUMP}{DUMP}e{DUMP_AT}",
        f"c(d{DUMP}e)f",  # inside an open call
        f"(a{DUMP}(b{DUMP}c){DUMP}d)(e)",  # inside two, and the inner one left
        f"<b<c{DUMP}d>e<f{DUMP}>>(<<{DUMP}z>y>)",  # in recursion, on both ways
        f"zzzz{DUMP}zzzz(zz{DUMP}zz)zz",  # with lines that are evicted parts later
    ],
)
def test_parts_add_up_to_the_run_without_requests(script: str, tmp_path: Path) -> None:
    assert_parts_add_up(steer(tmp_path, script), steer(tmp_path, script, group="NO"))


def test_a_dump_inside_an_open_call(tmp_path: Path) -> None:
    """A call is counted in the part in which it begins, its costs where they arise."""
    first, last = steer(tmp_path, f"c(d{DUMP}e)f").files
    assert first.calls("level0", "level1") == 1 and last.calls("level0", "level1") == 0
    assert first.passed("level0", "level1") == 4 and last.passed("level0", "level1") == 5
    assert first.passed("main", "level0") == 3 + 4 and last.passed("main", "level0") == 5 + 6
    assert first.calls("level1", "touch") == last.calls("level1", "touch") == 1


def test_a_dump_in_recursion(tmp_path: Path) -> None:
    """Two calls of level0 by itself, one inside the other: the arc pays for each that is open."""
    first, last = steer(tmp_path, f"a<b<c{DUMP}d>e>f").files
    recursion = ("level0'2", "level0'2")
    entry = ("level0", "level0'2")
    assert first.calls(*entry) == first.calls(*recursion) == 1
    assert last.calls(*entry) == last.calls(*recursion) == 0
    assert first.passed(*entry) == 2 + 3 and last.passed(*entry) == 4 + 5
    assert first.passed(*recursion) == 3 and last.passed(*recursion) == 4
    assert first.passed("main", "level0") == 1 + 2 + 3
    assert last.passed("main", "level0") == 4 + 5 + 6


def test_zeroing_forgets_what_was(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, f"c(d{ZERO}e)f").files
    assert only.own("touch") == only.passed("main", "level0") == 5 + 6
    assert only.calls("level0", "level1") == 0 and only.passed("level0", "level1") == 5
    assert only.blocks[0] > 0


def test_zeroing_between_dumps(tmp_path: Path) -> None:
    parts = steer(tmp_path, f"a(b{DUMP}c{ZERO}d){DUMP}e{ZERO}")
    assert touched(parts) == [1 + 2, 4, 0]
    assert parts.files[1].passed("level0", "level1") == 4


def test_lines_loaded_before_zeroing_count_when_they_are_evicted(tmp_path: Path) -> None:
    """26 lines, of which the caches keep some: they are evicted at the end, into the last part."""
    (only,) = steer(tmp_path, f"z{ZERO}").files
    assert only.own("touch") == 0
    assert only.own("touch", "UsByte2") >= 26


def test_toggling_collection(tmp_path: Path) -> None:
    script = f"c{TOGGLE}e{TOGGLE}(g{TOGGLE}i)k"
    (default,) = steer(tmp_path, script).files
    assert default.own("touch") == 3 + 7
    assert default.calls("level0", "touch") == 1 and default.calls("level1", "touch") == 1
    (other,) = steer(tmp_path, script, "--collect-atstart=no", name="off").files
    assert other.own("touch") == 5 + 9 + 11
    assert other.passed("level0", "level1") == 9


def test_stopping_and_starting(tmp_path: Path) -> None:
    script = f"c{STOP}e{START}(g{STOP}i)k{START}m{START}"
    (default,) = steer(tmp_path, script).files
    assert default.own("touch") == 3 + 7 + 13
    (late,) = steer(tmp_path, script, "--instr-atstart=no", name="late").files
    assert late.own("touch") == 7 + 13
    # The engine has not seen main call level0, nor level0 go on with the last line.
    assert late.calls("main", "level0") == 0 and late.calls("level0", "level1") == 1
    assert late.passed("level1", "touch") == 7 and late.passed("level0", "touch") == 13


def test_stopping_empties_the_caches(tmp_path: Path) -> None:
    """What touch() has loaded is evicted, and what request() had used misses again."""
    (stopped,) = steer(tmp_path, f"z{STOP}{START}{DUMP}{ZERO}").files[:1]
    assert stopped.own("touch", "UsByte2") >= 26
    # The first one has been in all of request(), which may lie in two lines.
    (kept,) = steer(tmp_path, f"z{ZERO}{ZERO}{DUMP}", name="kept").files[:1]
    assert kept.own("touch", "UsByte2") == 0
    assert stopped.own("request", "ILmr") > kept.own("request", "ILmr") == 0


def test_nothing_observed_is_an_empty_profile(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, "abc", "--instr-atstart=no").files
    assert set(only.profile.totals.values()) == {0}
    assert only.profile.self_costs == {}


@pytest.mark.parametrize(
    "script",
    [
        f"c{DUMP}e{DUMP_AT}g",
        f"c{ZERO}e",
        f"c{TOGGLE}e{TOGGLE}g",
        f"c{STOP}e{START}g",
    ],
)
def test_callgrinds_requests_mean_the_same(script: str, tmp_path: Path) -> None:
    own = steer(tmp_path, script)
    translated = "".join(CALLGRINDS.get(letter, letter) for letter in script)
    callgrinds = steer(tmp_path, translated, group="CT")
    assert callgrinds.endings == own.endings
    assert touched(callgrinds) == touched(own)
    assert [file.trigger for file in callgrinds.files] == [file.trigger for file in own.files]


def test_cachegrinds_requests_start_and_stop(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, "c0e1g0i", "--instr-atstart=no", group="CG").files
    assert only.own("touch") == 5 + 9


def test_others_requests_are_left_alone(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, "c0e1g2i345", group="MC").files
    assert only.own("touch") == 3 + 5 + 7 + 9


def test_a_request_outside_of_valgrind_does_nothing() -> None:
    script = f"c{DUMP}e{ZERO}{TOGGLE}{STOP}{START}{DUMP_AT}"
    assert subprocess.run([GUESTS / "steer", script, "BD"], check=True).returncode == 0


@pytest.mark.parametrize("compiler", [["cc", "-std=c89"], ["cc", "-std=c17"], ["c++"]])
def test_the_header_compiles_without_a_warning(compiler: list[str], tmp_path: Path) -> None:
    language = "c++" if compiler[0] == "c++" else "c"
    source = tmp_path / "program"
    macros = ["DUMP_STATS", "ZERO_STATS", "TOGGLE_COLLECT"]
    macros += ["START_INSTRUMENTATION", "STOP_INSTRUMENTATION", 'DUMP_STATS_AT("x")']
    body = " ".join(f"BDGRIND_{macro};" for macro in macros)
    source.write_text(f'#include "bdgrind.h"\nint main(void) {{ {body} return 0; }}\n')
    warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    include = [f"-I{SOURCE / 'bdgrind'}", "-isystem", str(configured("VG_INCLUDEDIR"))]
    command = [*compiler, *warnings, *include, "-x", language, str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
