# SPDX-License-Identifier: GPL-2.0-or-later
"""32-bit programs, and those that run one another: there is a tool for either kind."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, Run, check_profile, run_tool, why_no_x86
from profile_reader import read_profile

pytestmark = pytest.mark.skipif(bool(why_no_x86()), reason=why_no_x86())

# Folders of the same guests for either architecture.
FOLDERS = {"amd64": GUESTS, "x86": GUESTS / "x86"}


def run_one_another(folder: Path, programs: list[Path], options: list[str]) -> tuple[Run, list[Path]]:
    run = run_tool(
        folder,
        programs,
        [*SMALL_CACHES, *options, f"--bdgrind-out-file={folder}/%p.out"],
    )
    return run, sorted(folder.glob("[0-9]*.out"))


@pytest.mark.parametrize(
    "kinds", itertools.permutations(["amd64", "x86", "amd64"]), ids="-".join
)
def test_children_of_the_other_kind_are_traced(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    programs = [FOLDERS[kind] / "run_program" for kind in kinds[:-1]]
    programs.append(FOLDERS[kinds[-1]] / "exit_deep")
    run, profiles = run_one_another(tmp_path, programs, ["--trace-children=yes"])
    last = run_tool(tmp_path, programs[-1:], tool="none", name="last")
    assert run.status == last.status, run.log
    assert len(profiles) == len(programs)
    commands: set[str] = set()
    for path in profiles:
        assert check_profile(path) == ""
        assert read_profile(path).totals["Ir"] > 0
        commands.update(line for line in path.read_text().splitlines() if line.startswith("cmd: "))
    words = [str(program) for program in programs]
    assert commands == {f"cmd: {' '.join(words[i:])}" for i in range(len(words))}


def test_the_engine_thread_is_said_to_be_missing(tmp_path: Path) -> None:
    program = [FOLDERS["x86"] / "recursion"]
    asked = run_tool(tmp_path, program, [*SMALL_CACHES, "--engine-threads=1"], name="asked")
    assert asked.status == 0
    assert "bdgrind has no thread of its own on this platform" in asked.log
    silent = run_tool(tmp_path, program, SMALL_CACHES, name="silent")
    assert "platform" not in silent.log
    assert asked.profile.totals == silent.profile.totals


def test_system_calls_that_take_long_are_timed(tmp_path: Path) -> None:
    """Nanoseconds in a second are more than half of what 32 bits hold."""
    run = run_tool(tmp_path, [FOLDERS["x86"] / "handlers"], [*SMALL_CACHES, "--collect-systime=nsec"])
    assert run.profile.totals["sysCount"] > 0
    assert run.profile.totals["sysTime"] > 0
