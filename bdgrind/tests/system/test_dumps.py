# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in parts: which files, what is in them, and that together they are the whole.

The numbers are worked out as in test_requests.py: LL read misses are the lines touched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import BD_ANNOTATE, ENVIRONMENT, GUESTS, SMALL_CACHES, run_tool, steady_environment
from part_files import (
    Divided,
    assert_parts_add_up,
    assert_sound,
    normal_bytes,
    run_divided,
    steer,
    written_files,
)
from profile_reader import read_profile

# level0 calls level1 three times; it calls itself once in the second, and level2 twice in the last.
SCRIPT = "a(b)c(d<e>f)g(h(i)(j)k)l"


def whole(folder: Path, script: str = SCRIPT) -> Divided:
    return steer(folder, script, name="whole")


def triggers(divided: Divided) -> list[str]:
    return [file.trigger for file in divided.files]


def touched(divided: Divided) -> list[int]:
    return [file.own("touch") for file in divided.files]


def test_dump_before(tmp_path: Path) -> None:
    parts = steer(tmp_path, SCRIPT, "--dump-before=level1")
    assert parts.endings == [".1", ".2", ".3", ""]
    assert triggers(parts) == ["--dump-before=level1"] * 3 + ["Program termination"]
    assert touched(parts) == [1, 2 + 3, 4 + 5 + 6 + 7, 8 + 9 + 10 + 11 + 12]
    # A call begins with the part that its costs go to; recursion is no further entry.
    assert [file.calls("level0", "level1") for file in parts.files] == [0, 1, 1, 1]
    assert [file.passed("level0", "level1") for file in parts.files] == [0, 2, 15, 38]
    assert_parts_add_up(parts, whole(tmp_path))


def test_dump_after(tmp_path: Path) -> None:
    parts = steer(tmp_path, SCRIPT, "--dump-after=level1")
    assert triggers(parts) == ["--dump-after=level1"] * 3 + ["Program termination"]
    assert touched(parts) == [1 + 2, 3 + 4 + 5 + 6, 7 + 8 + 9 + 10 + 11, 12]
    assert [file.calls("level0", "level1") for file in parts.files] == [1, 1, 1, 0]
    assert [file.passed("level0", "level1") for file in parts.files] == [2, 15, 38, 0]
    assert_parts_add_up(parts, whole(tmp_path))


def test_dump_before_and_after(tmp_path: Path) -> None:
    options = ("--dump-before=level2", "--dump-after=level2", "--dump-after=level1")
    parts = steer(tmp_path, SCRIPT, *options)
    assert touched(parts) == [3, 18, 7 + 8, 9, 0, 10, 11, 12]
    assert [file.calls("level1", "level2") for file in parts.files] == [0, 0, 0, 1, 0, 1, 0, 0]
    assert_parts_add_up(parts, whole(tmp_path))


def test_dumps_in_recursion(tmp_path: Path) -> None:
    script = "a<b<c(d)e>(f)>(<g>)"
    for option in ("--dump-before=level1", "--dump-after=level1", "--dump-before=touch"):
        parts = steer(tmp_path, script, option, name=option[2:])
        assert_parts_add_up(parts, whole(tmp_path, script))


def test_dump_before_a_function_by_pattern(tmp_path: Path) -> None:
    parts = steer(tmp_path, SCRIPT, "--dump-before=level[12]", "--dump-before=le?el2")
    assert triggers(parts) == ["--dump-before=level2"] * 2 + ["Program termination"]
    parts = steer(tmp_path, SCRIPT, "--dump-before=l*2")
    assert triggers(parts) == ["--dump-before=level2"] * 2 + ["Program termination"]


@pytest.mark.parametrize(
    ("pattern", "dumps"),
    [
        ("town::road(int)", 2),
        ("town::road(double)", 3),
        ("town::road", 5),
        ("town::*", 6),
        ("town::house::enter", 1),
        ("*enter(int)*", 1),
        ("road", 0),
    ],
)
def test_names_of_cpp_functions(pattern: str, dumps: int, tmp_path: Path) -> None:
    parts = run_divided(tmp_path, [GUESTS / "names"], f"--dump-before={pattern}")
    assert len(parts.files) == dumps + 1
    assert all(trigger.startswith("--dump-before=town::") for trigger in triggers(parts)[:-1])


def test_zero_before(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, SCRIPT, "--zero-before=level1").files
    assert only.calls("level0", "level1") == 1 and only.passed("level0", "level1") == 38
    assert only.own("touch") == only.passed("main", "level0") == 38 + 12
    (only,) = steer(tmp_path, SCRIPT, "--zero-before=level2", name="2").files
    assert only.calls("level1", "level2") == 1 and only.passed("level1", "level2") == 10
    assert only.calls("level0", "level1") == 0 and only.passed("level0", "level1") == 10 + 11


def test_zero_before_between_dumps(tmp_path: Path) -> None:
    options = ("--zero-before=level2", "--dump-after=level1")
    parts = steer(tmp_path, SCRIPT, *options)
    assert touched(parts) == [1 + 2, 18, 10 + 11, 12]
    before, at_zero, after = parts.files[1].blocks, parts.files[2].blocks, parts.files[3].blocks
    assert before[1] < at_zero[0] and at_zero[1] == after[0]


@pytest.mark.parametrize("count", [1000, 1777])
def test_dump_every_bb(count: int, tmp_path: Path) -> None:
    parts = steer(tmp_path, SCRIPT, f"--dump-every-bb={count}")
    ranges = [file.blocks for file in parts.files]
    *full, last = ranges
    assert len(full) >= 2
    assert full == [(i * count, (i + 1) * count) for i in range(len(full))]
    assert last[0] == len(full) * count and 0 <= last[1] - last[0] <= count
    assert triggers(parts)[:-1] == [f"--dump-every-bb={count}"] * len(full)
    assert_parts_add_up(parts, whole(tmp_path))


def test_all_kinds_of_dumps_at_once(tmp_path: Path) -> None:
    options = ("--dump-every-bb=2000", "--dump-before=level*", "--dump-after=touch")
    script = "a0(b<c0>d)0zzz(0z(<0y>x)zz)w"
    parts = steer(tmp_path, script, *options)
    kinds = [trigger.partition("=")[0] for trigger in triggers(parts)]
    assert kinds.count("Client Request") == 5
    assert kinds.count("--dump-before") == 1 + 2 + 1  # recursion is no entry
    assert kinds.count("--dump-after") == 13  # a letter each
    assert kinds.count("--dump-every-bb") >= 2
    assert_parts_add_up(parts, steer(tmp_path, script, group="NO"))


def jumps_followed(divided: Divided) -> list[int]:
    """How many, of all jumps and of all conditional ones. (A part does not write how often one was
    executed that it never saw followed.)"""
    text = "".join(file.path.read_text() for file in divided.files)
    counts = (re.findall(rf"^{kind}=(\d+)", text, re.MULTILINE) for kind in ("jump", "jcnd"))
    return [sum(map(int, count)) for count in counts]


def test_all_other_events_and_jumps_add_up(tmp_path: Path) -> None:
    options = (
        "--branch-sim=yes",
        "--collect-jumps=yes",
        "--collect-bus=yes",
        "--simulate-wb=yes",
        "--simulate-hwpref=yes",
        "--LL=8192,4,64",
    )
    script = "!a<b!0zzzz>(d!0!e)0zzzf"
    parts = steer(tmp_path, script, "--dump-after=touch", *options)
    undivided = steer(tmp_path, script, *options, group="NO")
    counts = undivided.files[0].profile.totals
    assert all(counts[event] > 0 for event in ("Bcm", "Bim", "Ge", "ILdmr", "DLdmr", "DLdmw"))
    assert_parts_add_up(parts, undivided)
    assert jumps_followed(parts) == jumps_followed(undivided)
    assert min(jumps_followed(parts)) > 0


@pytest.mark.parametrize(
    ("guest", "options"),
    [
        ("coroutines", ["--dump-before=*worker*", "--dump-after=*co*"]),
        ("exceptions", ["--dump-before=*catch*", "--dump-after=*throw*", "--dump-every-bb=20000"]),
        ("handler_stack", ["--dump-every-bb=700"]),
        ("handlers", ["--dump-before=inner", "--dump-after=outer", "--dump-before=deep"]),
        ("longjmp", ["--dump-before=deep", "--dump-after=deep", "--dump-before=after"]),
        ("plt_lazy", ["--dump-before=toupper", "--dump-after=_dl_runtime_resolve*"]),
        ("siglongjmp", ["--dump-before=*handler*", "--dump-after=deep"]),
        ("tail_call", ["--dump-before=second", "--dump-after=first", "--dump-after=third"]),
        ("written_code", ["--dump-every-bb=500"]),
    ],
)
def test_parts_add_up_where_calls_end_in_other_ways(
    guest: str, options: list[str], tmp_path: Path
) -> None:
    command = [str(GUESTS / guest)]
    environment = steady_environment(tmp_path, command)
    parts = run_divided(tmp_path, command, *options, environment=environment)
    for file in parts.files:
        assert_sound(file)
    undivided = run_divided(tmp_path, command, environment=environment, name="whole")
    assert_parts_add_up(parts, undivided)


def combine(folder: Path, *options: str) -> Path:
    options = (*SMALL_CACHES, "--dump-before=level1", "--combine-dumps=yes", *options)
    run = run_tool(folder, [GUESTS / "steer", SCRIPT, "BD"], options, name="combined")
    assert written_files(run.profile_path).keys() == {""}
    return run.profile_path


@pytest.mark.parametrize("where", ["0", "1", "2"])
def test_combined_dumps_are_one_file(where: str, tmp_path: Path) -> None:
    parts = steer(tmp_path, SCRIPT, "--dump-before=level1", name="apart")
    head = "# callgrind format\n"
    _, *bodies = normal_bytes(combine(tmp_path, f"--engine-threads={where}")).split(head)
    assert bodies == [normal_bytes(file.path).removeprefix(head) for file in parts.files]


def test_readers_of_combined_dumps(tmp_path: Path) -> None:
    profile = combine(tmp_path)
    (undivided,) = whole(tmp_path).files
    bd_annotate = [sys.executable, str(BD_ANNOTATE), "--show=Ir", "--exact", str(profile)]
    completed = subprocess.run(bd_annotate, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    assert f"{undivided.profile.totals['Ir']:,}" in completed.stdout
    callgrind_annotate = shutil.which("callgrind_annotate")
    if not callgrind_annotate:
        pytest.skip("callgrind_annotate is not installed")
    # Its percentages are of the last part's total, and calls that began in an earlier part are self
    # costs to it: Callgrind's own files fare no better. It adds up functions that call no others.
    completed = subprocess.run(
        [callgrind_annotate, "--show=Ir", "--show-percs=no", "--threshold=100", str(profile)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    (shown,) = re.findall(r"^ *([\d,]+)  .*:touch \[", completed.stdout, re.MULTILINE)
    assert int(str(shown).replace(",", "")) == undivided.own("touch", "Ir")


@pytest.mark.parametrize(
    "options",
    [
        ["--dump-before=level1"],
        ["--dump-before=level1", "--combine-dumps=yes"],
        ["--dump-before=level1", "--separate-threads=yes"],
        ["--separate-threads=yes"],
    ],
)
def test_files_have_callgrinds_names(options: list[str], tmp_path: Path) -> None:
    endings = []
    for tool in ("bdgrind", "callgrind"):
        command = [str(GUESTS / "steer"), SCRIPT, "BD"]
        run = run_tool(tmp_path, command, options, tool=tool, name=tool)
        files = written_files(run.profile_path)
        # Callgrind leaves an empty file where nothing is written.
        endings.append(sorted(ending for ending, path in files.items() if path.stat().st_size))
    assert endings[0] == endings[1]


def test_a_file_for_each_thread(tmp_path: Path) -> None:
    command = [GUESTS / "threads"]
    parts = run_divided(tmp_path, command, "--separate-threads=yes", same_bytes=False)
    assert parts.endings == ["-01", "-02", "-03"]
    assert [file.profile.header["thread"] for file in parts.files] == [["1"], ["2"], ["3"]]
    for file in parts.files:
        assert_sound(file)
    work = [(f"turns_of_{which}", f"work_of_{which}") for which in ("first", "second")]
    assert [[file.calls(*call) for call in work] for file in parts.files] == [
        [0, 0],
        [150, 0],
        [0, 150],
    ]
    assert [file.calls("main", "after") for file in parts.files] == [1, 0, 0]
    together = run_divided(tmp_path, command, same_bytes=False, name="together")
    (only,) = together.files
    functions = ("after", "work_of_first", "work_of_second")
    for file, function in zip(parts.files, functions, strict=True):
        for event in ("Ir", "Dr", "Dw", "D1mr", "DLmr"):
            assert file.own(function, event) == only.own(function, event)
    assert only.own("work_of_first", "D1mr") > 150 * 1000


def test_a_dump_of_one_thread(tmp_path: Path) -> None:
    """What one thread's function triggers is about that thread only."""
    options = ("--separate-threads=yes", "--dump-before=turns_of_second", "--dump-before=after")
    command = [GUESTS / "threads"]
    parts = run_divided(tmp_path, command, *options, same_bytes=False)
    assert sorted(parts.endings) == sorted([".1-03", ".2-01", "-01", "-02", "-03"])
    by_ending = {file.ending: file for file in parts.files}
    assert by_ending["-03"].calls("turns_of_second", "work_of_second") == 150
    assert by_ending[".1-03"].calls("turns_of_second", "work_of_second") == 0
    assert by_ending[".2-01"].calls("main", "after") == 0
    assert by_ending["-01"].calls("main", "after") == 1
    assert by_ending["-02"].blocks[0] == 0


def test_a_child_counts_from_the_fork(tmp_path: Path) -> None:
    script = "dFe(f)|g(h)"
    command = [str(GUESTS / "steer"), script, "BD"]
    parts = run_divided(tmp_path, command)
    assert parts.endings == ["", ".pid"]
    parent, child = parts.files
    assert parent.own("touch") == 4 + 5 + 6 and child.own("touch") == 7 + 8
    assert child.calls("level0", "level1") == 1 and child.passed("level0", "level1") == 8
    assert parent.passed("level0", "level1") == 6
    assert parent.profile.header["pid"] != child.profile.header["pid"]
    assert child.path.name.endswith(f".pid{child.profile.header['pid'][0]}")
    assert child.profile.header["part"] == ["1"] and child.blocks[0] > 0
    for file in parts.files:
        assert_sound(file)


def test_a_child_is_not_charged_for_its_parents_lines(tmp_path: Path) -> None:
    """Each line is charged once, in the process that has loaded it."""
    command = [str(GUESTS / "steer"), "zF(z)|c", "BD"]
    for file in run_divided(tmp_path, command).files:
        for function in ("touch", "level0", "split"):
            loaded = sum(file.own(function, event) for event in ("I1mr", "D1mr", "D1mw"))
            assert file.own(function, "EvLine1") == loaded
        assert file.own("touch", "D1mr") == (3 if file.ending else 26 + 26)


def test_a_childs_own_name_by_percent_p(tmp_path: Path) -> None:
    options = [*SMALL_CACHES, f"--bdgrind-out-file={tmp_path}/out.%p", "--dump-before=level1"]
    run_tool(tmp_path, [GUESTS / "steer", "d(a)Fe(f)|g(h)(i)", "BD"], options)
    by_process: dict[str, list[str]] = {}
    for path in tmp_path.glob("out.*"):
        process, _, part = path.name.removeprefix("out.").partition(".")
        assert f"\npid: {process}\n" in path.read_text()
        by_process.setdefault(process, []).append(part)
    parts = sorted(sorted(files) for files in by_process.values())
    assert parts == [["", "1", "2"], ["", "1", "2"]]


def test_a_part_that_cannot_be_written_goes_elsewhere(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    blocked = tmp_path / "profile.out.1"
    blocked.mkdir()
    command = [str(GUESTS / "steer"), "c0e", "BD"]
    run = run_tool(tmp_path, command, SMALL_CACHES, environment={"TMPDIR": str(temporary)})
    assert f"could not be written to {blocked}: it is a folder" in run.log
    assert run.status == 0 and list(blocked.iterdir()) == []
    (elsewhere,) = temporary.glob("bdgrind.out.*")
    assert f"The profile is in {elsewhere} instead." in run.log
    assert f"Read it:  bd_annotate {run.profile_path} {elsewhere}" in run.log
    assert re.fullmatch(r"bdgrind\.out\.\d+\.1", elsewhere.name)
    assert read_profile(elsewhere).self_cost("touch", "DLmr") == 3
    assert run.profile.self_cost("touch", "DLmr") == 5


@pytest.mark.parametrize("blocked", ["objects.", "contexts.", "why.", ""])
def test_what_belongs_to_a_part_goes_elsewhere_together(tmp_path: Path, blocked: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / f"{blocked}profile.out.1").mkdir()
    options = (*SMALL_CACHES, "--objects=yes", "--context-tree=yes", "--why=yes")
    command = [str(GUESTS / "steer"), "c0e", "BD"]
    run = run_tool(tmp_path, command, options, environment={"TMPDIR": str(temporary)})
    (elsewhere,) = temporary.glob("bdgrind.out.*")
    beside = {f"{kind}{elsewhere.name}" for kind in ("", "objects.", "contexts.", "why.")}
    assert {path.name for path in temporary.iterdir()} == beside
    left = {path.name for path in tmp_path.glob("*profile.out.1") if path.is_file()}
    assert run.status == 0 and left == set(), "nothing stays that belongs to what has moved"
    assert not list(tmp_path.glob(".bdgrind-*"))
    for kind in ("profile", "context tree", "file of objects", "why file"):
        assert f"The {kind} is in {temporary}/" in run.log
    assert run.log.splitlines()[-1] == f"Read it:  bd_annotate {run.profile_path} {elsewhere}"


def test_a_combined_file_keeps_its_parts_if_the_objects_cannot_follow(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    objects = tmp_path / "objects.profile.out"
    command = ["/bin/sh", "-c", f"rm {objects}; mkdir {objects}; {GUESTS / 'steer'} c0e BD"]
    options = (*SMALL_CACHES, "--objects=yes", "--combine-dumps=yes", "--dump-every-bb=20000")
    run = run_tool(tmp_path, command, options, environment={"TMPDIR": str(temporary)})
    moved = sorted(path.name for path in temporary.iterdir())
    assert moved and [name for name in moved if name.startswith("objects.")] == [
        f"objects.{name}" for name in moved if not name.startswith("objects.")
    ]
    assert "Read it:  bd_annotate" in run.log.splitlines()[-1]
