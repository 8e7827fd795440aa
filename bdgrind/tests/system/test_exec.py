# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that goes on with another program: what it has cost so far is not lost."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, Run, run_tool
from part_files import PartFile, assert_sound, order, written_files
from profile_reader import read_profile

ENV = "/usr/bin/env"
GUEST = GUESTS / "recursion"
EXEC = "Execution of another program"
END = "Program termination"


def run(folder: Path, command: Sequence[str | Path], *options: str) -> tuple[Run, list[PartFile]]:
    done = run_tool(folder, command, [*SMALL_CACHES, *options])
    paths = written_files(done.profile_path)
    parts = [
        PartFile(paths[ending], ending, read_profile(paths[ending], contexts=True))
        for ending in sorted(paths, key=order)
    ]
    for part in parts:
        assert_sound(part)
    return done, parts


def summary(parts: Sequence[PartFile]) -> list[tuple[str, str, str]]:
    return [
        (part.ending, part.trigger, Path(part.profile.header["cmd"][0].split()[0]).name)
        for part in parts
    ]


@pytest.mark.parametrize("threads", ["0", "1", "2"])
def test_the_profile_up_to_an_exec_is_a_part(threads: str, tmp_path: Path) -> None:
    _, parts = run(tmp_path, [ENV, GUEST], f"--engine-threads={threads}")
    assert summary(parts) == [(".1", EXEC, "env")]
    totals = parts[0].profile.totals
    # All that was loaded has left. (A miss may load two lines.)
    assert totals["EvLine1"] >= totals["I1mr"] + totals["D1mr"] + totals["D1mw"] > 0
    assert totals["EvLine2"] >= totals["ILmr"] + totals["DLmr"] + totals["DLmw"] > 0


def test_a_chain_of_programs(tmp_path: Path) -> None:
    done, parts = run(tmp_path, [ENV, ENV, GUEST], "--trace-children=yes")
    expected = [(".1", EXEC, "env"), (".2", EXEC, "env"), ("", END, "recursion")]
    assert done.status == 0 and summary(parts) == expected
    assert [part.profile.header["part"] for part in parts] == [["1"], ["2"], ["3"]]
    assert len({tuple(part.profile.header["pid"]) for part in parts}) == 1


def test_a_chain_of_programs_in_one_file(tmp_path: Path) -> None:
    options = [*SMALL_CACHES, "--trace-children=yes", "--combine-dumps=yes"]
    done = run_tool(tmp_path, [ENV, ENV, GUEST], options)
    assert written_files(done.profile_path).keys() == {""}
    text = done.profile_path.read_text()
    assert text.count("# callgrind format\n") == text.count("\ntotals: ") == 3
    assert text.count(f"desc: Trigger: {EXEC}\n") == 2


def test_an_exec_of_what_is_not_there(tmp_path: Path) -> None:
    """Execvp tries all folders of PATH."""
    done, parts = run(tmp_path, [ENV, "no_such_program"])
    assert done.status == 127
    assert summary(parts) == [("", END, "env")]
    assert parts[0].profile.header["part"] == ["1"]


FAILING = 'exec {"%s"} "x"; print "on"; $x += $_ for 1..1000; exit 3'


@pytest.mark.parametrize("options", [[], ["--combine-dumps=yes"], ["--dump-every-bb=100000"]])
def test_an_exec_that_fails_late(options: list[str], tmp_path: Path) -> None:
    """Valgrind executes no program that changes the user, if it is to observe it."""
    program = tmp_path / "setuid"
    shutil.copy(GUEST, program)
    program.chmod(0o4755)
    command = ["/usr/bin/perl", "-e", FAILING % program]
    done = run_tool(tmp_path, command, [*SMALL_CACHES, "--trace-children=yes", *options])
    assert (done.status, done.stdout) == (3, b"on")
    paths = written_files(done.profile_path)
    text = "".join(path.read_text() for path in paths.values())
    assert EXEC not in text and text.count(END) == 1
    if not options:
        assert paths.keys() == {""}


def test_a_child_that_only_goes_on_with_another_program_writes_nothing(tmp_path: Path) -> None:
    _, parts = run(tmp_path, ["/bin/sh", "-c", "/bin/true; /bin/true; :"])
    assert summary(parts) == [("", END, "sh")]


def test_a_child_that_has_worked_before(tmp_path: Path) -> None:
    script = 'if (!fork) { $x += $_ for 1..200000; exec "/bin/true" } wait'
    _, parts = run(tmp_path, ["/usr/bin/perl", "-e", script])
    assert summary(parts) == [("", END, "perl"), (".pid.1", EXEC, "perl")]
    assert parts[1].profile.totals["Ir"] > 1000000


def test_a_childs_program_does_not_overwrite_its_parents_profile(tmp_path: Path) -> None:
    _, parts = run(tmp_path, ["/bin/sh", "-c", f"{GUEST}; :"], "--trace-children=yes")
    assert summary(parts) == [("", END, "sh"), (".pid", END, "recursion")]


def test_threads_apart(tmp_path: Path) -> None:
    options = ["--separate-threads=yes", "--trace-children=yes"]
    _, parts = run(tmp_path, [ENV, GUEST], *options)
    assert summary(parts) == [(".1-01", EXEC, "env"), ("-01", END, "recursion")]


def test_into_standard_output(tmp_path: Path) -> None:
    options = [*SMALL_CACHES, "--trace-children=yes", "--bdgrind-out-file=/dev/stdout"]
    done = run_tool(tmp_path, [ENV, GUEST], options)
    text = done.stdout.decode()
    assert text.count("# callgrind format\n") == text.count("\ntotals: ") == 2
    assert {path.name for path in tmp_path.iterdir()} == {"profile.log", "stdout"}
