# SPDX-License-Identifier: GPL-2.0-or-later
"""Where threads were created is in the profile, and reports have their costs below that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, annotated, check_profile, run_tool


def origins(path: Path) -> list[tuple[int, list[str]]]:
    """How many threads, the function that they begin with, and those that created them."""
    text = path.read_text()
    found = re.findall(r"^# threads: (\d+)\n((?:# .*\n)+)", text, re.MULTILINE)
    return [(int(number), re.findall("^# fn=(.*)$", way, re.MULTILINE)) for number, way in found]


def inclusive(path: Path, *options: str, event: str = "SpLoss1") -> dict[str, int]:
    report = json.loads(annotated("--format=json", *options, path))
    column = report["events"].index(event)
    return {entry["name"]: entry["inclusive"][column] for entry in report["functions"]}


@pytest.mark.parametrize("threads", ["0", "1"])
def test_who_created_two_threads(threads: str, tmp_path: Path) -> None:
    options = [*SMALL_CACHES, "--compress-strings=no", f"--engine-threads={threads}"]
    path = run_tool(tmp_path, [GUESTS / "threads"], options).profile_path
    ((number, way),) = origins(path)
    assert number == 2
    root, *creators = way
    assert "clone" in root
    assert creators.index("main") < next(i for i, f in enumerate(creators) if "pthread_create" in f)
    assert check_profile(path) == ""


def test_reports_have_threads_below_who_created_them(tmp_path: Path) -> None:
    path = run_tool(tmp_path, [GUESTS / "threads"], SMALL_CACHES).profile_path
    for event in ("Ir", "D1mw", "SpLoss1", "SpLoss2"):
        apart = inclusive(path, "--threads=apart", event=event)
        below = inclusive(path, event=event)
        of_threads = sum(apart[f"turns_of_{which}"] for which in ("first", "second"))
        assert apart["main"] + of_threads <= below["main"], event
        assert below["work_of_first"] == apart["work_of_first"]
        (creates,) = [name for name in below if re.fullmatch("_*pthread_create.*", name)]
        assert below[creates] >= of_threads > apart[creates], event


def test_parts_and_threads_in_files_of_their_own(tmp_path: Path) -> None:
    options = ["--separate-threads=yes", "--dump-before=after", "--compress-strings=no"]
    run = run_tool(tmp_path, [GUESTS / "threads"], [*SMALL_CACHES, *options])
    found = {path.name: origins(path) for path in tmp_path.glob("profile.out*")}
    assert found["profile.out-01"] == [] and len(found["profile.out-02"]) == 1
    (number, (root, *creators)) = found["profile.out-03"][0]
    assert (number, "main" in creators) == (1, True)
    below = inclusive(Path(f"{run.profile_path}-02"))
    assert below["main"] >= below["turns_of_first"] > 0


def test_a_child_does_not_know_its_parents_threads(tmp_path: Path) -> None:
    run = run_tool(tmp_path, [GUESTS / "forks"], SMALL_CACHES)
    assert all(origins(path) == [] for path in tmp_path.glob("profile.out*"))
    assert run.profile_path.exists()


def test_a_pools_threads_are_below_who_created_the_pool(tmp_path: Path) -> None:
    """Not below those whose jobs they do."""
    path = run_tool(tmp_path, [GUESTS / "thread_pool"], SMALL_CACHES).profile_path
    assert [number for number, _ in origins(path)] == [2]
    costs = inclusive(path, event="Ir")
    assert min(costs["start_pool"], costs["worker"]) > costs["sparse"] + costs["dense"]
    assert costs["ask_for_sparse"] < costs["sparse"]
    assert costs["ask_for_dense"] < costs["dense"]
    assert costs["worker"] < costs["start_pool"] < costs["main"]


def test_threads_of_several_creators_are_below_what_these_have_in_common(tmp_path: Path) -> None:
    """All threads begin in the same function of the C library, whatever they do then."""
    options = [*SMALL_CACHES, "--compress-strings=no"]
    path = run_tool(tmp_path, [GUESTS / "thread_pool", "more"], options).profile_path
    ways = origins(path)
    assert len({root for _, (root, *_) in ways}) == 1
    found = {creators[creators.index("main") + 1]: number for number, (_, *creators) in ways}
    assert found == {"start_pool": 2, "start_another": 1}
    costs = inclusive(path, event="Ir")
    assert costs["start_pool"] < costs["worker"] < costs["main"]
