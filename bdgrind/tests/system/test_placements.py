# SPDX-License-Identifier: GPL-2.0-or-later
"""Several placements of pages in one run: each has the misses of a run of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from harness import GUESTS, VALGRIND, annotated, check_profile, run_tool

SMALL = "--I1=1024,2,64 --D1=1024,2,64"
CACHES = {
    "two levels": f"{SMALL} --LL=131072,2,64",
    "three levels": f"{SMALL} --L2=32768,4,64 --LL=131072,2,64",
    "exclusive": f"{SMALL} --L2=32768,4,64 --LL=131072,2,64 --LL-inclusion=exclusive --simulate-wb=yes",
    "prefetchers": f"{SMALL} --L2=32768,4,64 --LL=131072,2,64 --prefetch=adjacent,stream,stride --simulate-hwpref=yes",
    "policies": f"{SMALL} --L2=32768,4,64 --LL=131072,4,64 --L2-replacement=random,3 --LL-replacement=tree-plru "
                "--LL-index=hash",
    "other lines": "--I1=1024,2,32 --D1=2048,2,128 --L2=16384,4,64 --LL=163840,5,256",
}
EVENTS = ("D1mr", "D1mw", "I2mr", "D2mr", "D2mw", "ILmr", "DLmr", "DLmw")
OF_D1 = {"D1mr", "D1mw"}


def placements(text: str) -> list[dict[str, list[int]]]:
    """The counts of each part, by event."""
    parts: list[dict[str, list[int]]] = []
    for line in text.splitlines():
        if line.startswith("desc: Placements: "):
            parts.append({})
        elif line.startswith("desc: Placements of "):
            event, _, counts = line.removeprefix("desc: Placements of ").partition(": ")
            parts[-1][event] = [int(count) for count in counts.split()]
    return parts


def without_placements(text: str) -> list[str]:
    left_out = ("desc: Placements", "pid: ", "desc: Trigger")
    return [line for line in text.splitlines() if not line.startswith(left_out)]


@pytest.mark.parametrize("name", CACHES)
def test_each_has_the_misses_of_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    caches = CACHES[name].split()
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--pages=random,5", "--placements=4"], name="several")
    assert not check_profile(run.profile_path)
    (found,) = placements(run.profile_path.read_text())
    assert list(found) == [event for event in EVENTS if event in run.profile.totals]
    assert "desc: Placements: 4, seeds 5 to 8" in run.profile_path.read_text()
    for number in range(4):
        seed = 5 + number
        alone = run_tool(tmp_path, [GUESTS / "workload"], [*caches, f"--pages=random,{seed}"], name=f"alone-{seed}")
        # The stack of the first one only is where that of a run of its own is.
        behind_d1 = [event for event in found if event not in OF_D1 or number == 0]
        assert {event: found[event][number] for event in behind_d1} == \
            {event: alone.profile.totals[event] for event in behind_d1}
        if number == 0:
            several, one = (without_placements(each.profile_path.read_text()) for each in (run, alone))
            assert several == one
    assert len(set(found["DLmr"])) > 1, "pages matter to this program"


def test_pages_are_at_random_then(tmp_path: Path) -> None:
    caches = CACHES["two levels"].split()
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--placements=2"], name="default")
    text = run.profile_path.read_text()
    assert "desc: Placement: pages at random, seed 0\n" in text and "desc: Placements: 2, seeds 0 to 1\n" in text
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain")
    assert "Placement" not in plain.profile_path.read_text()
    off = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--placements=no"], name="off")
    assert off.profile_path.read_text().partition("cmd:")[2] == plain.profile_path.read_text().partition("cmd:")[2]


def test_where_sets_are_within_a_page_nothing_differs(tmp_path: Path) -> None:
    options = [*SMALL.split(), "--L2=4096,2,64", "--LL=65536,16,64", "--placements=3"]
    (found,) = placements(run_tool(tmp_path, [GUESTS / "workload"], options).profile_path.read_text())
    assert all(len(set(counts)) == 1 for event, counts in found.items() if event not in OF_D1)


def test_parts_and_what_is_not_collected(tmp_path: Path) -> None:
    options = [*CACHES["three levels"].split(), "--placements=3"]
    whole = run_tool(tmp_path, [GUESTS / "workload"], options, name="whole")
    (of_all,) = placements(whole.profile_path.read_text())
    parts = run_tool(tmp_path, [GUESTS / "workload"], [*options, "--dump-every-bb=20000", "--combine-dumps=yes"])
    found = placements(parts.profile_path.read_text())
    assert len(found) > 2
    sums = {event: [sum(each) for each in zip(*(part[event] for part in found))] for event in of_all}
    for event in of_all:
        # D1's are estimates, of which chunks of the trace are in one part or the other.
        known = 1 if event in OF_D1 else 3
        assert sums[event][:known] == of_all[event][:known]
        assert sums[event] == [pytest.approx(count, rel=0.01) for count in of_all[event]]
    assert json.loads(annotated("--format=json", parts.profile_path))["placements"]["processes"] == [sums]
    nothing = run_tool(tmp_path, [GUESTS / "workload"], [*options, "--collect-atstart=no"], name="nothing")
    (found_nothing,) = placements(nothing.profile_path.read_text())
    assert set(sum(found_nothing.values(), [])) == {0}


@pytest.mark.parametrize(("options", "sentence"), [
    ("--placements=1", "it must be no, or a number from 2 to 32"),
    ("--placements=33", "it must be no, or a number from 2 to 32"),
    ("--placements=yes", "it must be no, or a number from 2 to 32"),
    ("--placements=4 --pages=virtual",
     "--placements needs pages at random: leave out --pages, or give --pages=random,<seed>."),
    ("--placements=4 --pages=contiguous",
     "--placements needs pages at random: leave out --pages, or give --pages=random,<seed>."),
    ("--placements=4 --cores=2", "--placements cannot be combined with --cores: leave one of them out."),
    ("--placements=4 --separate-threads=yes",
     "--placements cannot be combined with --separate-threads=yes: leave one of them out."),
    ("--placements=4 --sample=bursts", "--sample=bursts cannot be combined with --placements: leave one of them out."),
])
def test_what_it_cannot_be_combined_with(tmp_path: Path, options: str, sentence: str) -> None:
    command = [str(VALGRIND), "--tool=bdgrind", *options.split(), "echo", "it ran"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert refused.returncode == 1 and "it ran" not in refused.stdout
    assert sentence in " ".join(line.split("== ", 1)[-1] for line in refused.stderr.splitlines())
    assert not list(tmp_path.iterdir())


def test_without_caches_it_does_nothing(tmp_path: Path) -> None:
    run = run_tool(tmp_path, [GUESTS / "workload"], ["--placements=4", "--cache-sim=no"])
    assert "Warning: --placements does nothing with --cache-sim=no." in run.log
    assert "Placement" not in run.profile_path.read_text()
