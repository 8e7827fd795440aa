# SPDX-License-Identifier: GPL-2.0-or-later
"""Where threads were created is in the profile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, check_profile, run_tool


def origins(path: Path) -> list[tuple[int, list[str]]]:
    """How many threads, the function that they begin with, and those that created them."""
    text = path.read_text()
    found = re.findall(r"^# threads: (\d+)\n((?:# .*\n)+)", text, re.MULTILINE)
    return [(int(number), re.findall("^# fn=(.*)$", way, re.MULTILINE)) for number, way in found]


@pytest.mark.parametrize("thread", ["no", "yes"])
def test_who_created_two_threads(thread: str, tmp_path: Path) -> None:
    options = [*SMALL_CACHES, "--compress-strings=no", f"--engine-thread={thread}"]
    path = run_tool(tmp_path, [GUESTS / "threads"], options).profile_path
    ((number, way),) = origins(path)
    assert number == 2
    root, *creators = way
    assert "clone" in root
    assert creators.index("main") < next(i for i, f in enumerate(creators) if "pthread_create" in f)
    assert check_profile(path) == ""


def test_parts_and_threads_in_files_of_their_own(tmp_path: Path) -> None:
    options = ["--separate-threads=yes", "--dump-before=after", "--compress-strings=no"]
    run_tool(tmp_path, [GUESTS / "threads"], [*SMALL_CACHES, *options])
    found = {path.name: origins(path) for path in tmp_path.glob("profile.out*")}
    assert found["profile.out-01"] == [] and len(found["profile.out-02"]) == 1
    (number, (root, *creators)) = found["profile.out-03"][0]
    assert (number, "main" in creators) == (1, True)


def test_a_child_does_not_know_its_parents_threads(tmp_path: Path) -> None:
    run = run_tool(tmp_path, [GUESTS / "forks"], SMALL_CACHES)
    assert all(origins(path) == [] for path in tmp_path.glob("profile.out*"))
    assert run.profile_path.exists()
