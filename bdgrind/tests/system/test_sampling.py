# SPDX-License-Identifier: GPL-2.0-or-later
"""--sample=bursts: estimates from bursts, whose exact values a run without it has."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from bdannotate.cli import main as bd_annotate
from harness import GUESTS, SMALL_CACHES, SOURCE, Run, check_profile, run_tool
from part_files import normal_bytes, written_files
from test_bad_input import run as run_badly

PHASES = GUESTS / "phases"
BURSTS = "--sample=bursts,100000,500000"
# Of which there are enough for intervals.
TWICE = (PHASES, "twice")
MANY_BURSTS = "--sample=bursts,100000,400000"
SAMPLE = re.compile(r"counted (\d+) of (\d+) blocks, in (\d+) bursts")


def sampled(folder: Path, *options: str, name: str = "profile", command: tuple[str | Path, ...] = (PHASES,)) -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options], name=name)


def counted(profile: Path) -> tuple[int, int, int]:
    """Blocks that count, all blocks, bursts."""
    found = SAMPLE.search(profile.read_text())
    assert found
    return int(found[1]), int(found[2]), int(found[3])


def inclusive(run: Run) -> Counter[str]:
    """The instructions of each function that has been called, with all that it called."""
    costs: Counter[str] = Counter()
    for (_, callee), arc in run.profile.arcs.items():
        costs[callee] += arc.costs["Ir"]
    return costs


def test_estimates_are_near_the_exact_costs(tmp_path: Path) -> None:
    exact = sampled(tmp_path, name="exact").profile
    run = sampled(tmp_path, BURSTS, "--engine-threads=0")
    assert check_profile(run.profile_path) == ""
    estimate = run.profile
    some, all_blocks, bursts = counted(run.profile_path)
    assert 6 <= bursts <= 12
    # These are too few for intervals.
    assert "too few bursts to say how good the estimates are" in run.log and intervals(run.profile_path) == {}
    assert 0.15 < some / all_blocks < 0.5
    for event in ("Ir", "Dr", "D1mr", "SpLoss1", "UsByte1"):
        assert estimate.totals[event] == pytest.approx(exact.totals[event], rel=0.1), event
        for function in ("stream", "touch"):
            assert estimate.self_costs[function][event] == pytest.approx(
                exact.self_costs[function][event], rel=0.25
            ), (function, event)
    # stdout is the program's own.
    assert run.stdout == sampled(tmp_path, "--sample=no", name="no").stdout


def test_all_blocks_are_known_without_being_observed(tmp_path: Path) -> None:
    """Valgrind's count of what runs unobserved is that of an exact run, but for how often it looks for code."""
    exact = sampled(tmp_path, name="exact")
    ended = re.search(r"Basic block 0 - (\d+)", exact.profile_path.read_text())
    assert ended
    _, all_blocks, _ = counted(sampled(tmp_path, BURSTS).profile_path)
    assert all_blocks == pytest.approx(int(ended[1]), rel=0.005)


def test_all_instructions_are_known_without_being_observed(tmp_path: Path) -> None:
    """But for those of a block that a fault or a signal interrupts."""
    exact = sampled(tmp_path, name="exact").profile.totals["Ir"]
    for seed in (1, 2, 3):
        run = sampled(tmp_path, f"{BURSTS},{seed}", name=f"seed{seed}")
        assert run.profile.totals["Ir"] == pytest.approx(exact, rel=1e-5)


def test_calls_that_were_open_have_inclusive_costs(tmp_path: Path) -> None:
    """main and rounds() are entered once, before most bursts; what is below them is their cost all the same."""
    run = sampled(tmp_path, BURSTS)
    arcs = run.profile.arcs
    total = run.profile.totals["Ir"]
    inside = sum(arc.costs["Ir"] for (caller, callee), arc in arcs.items() if (caller, callee) == ("main", "rounds"))
    assert inside == pytest.approx(total, rel=0.01)
    for callee in ("stream", "touch"):
        assert ("rounds", callee) in arcs
        assert ("main", callee) not in arcs


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the C compiler is not installed")
def test_open_calls_of_code_without_symbols_have_its_names(tmp_path: Path) -> None:
    """Functions are named by where they are called; so are those whose calls were open when a burst began."""
    source = SOURCE / "bdgrind" / "tests" / "guest" / "phases.c"
    stripped = tmp_path / "stripped"
    subprocess.run(["gcc", "-O1", "-s", "-o", stripped, source], check=True)
    exact = inclusive(sampled(tmp_path, name="exact", command=(stripped,)))
    estimate = inclusive(sampled(tmp_path, BURSTS, command=(stripped,)))
    whole = exact["(below main)"]
    nameless = {name: cost for name, cost in exact.items() if name.startswith("0x") and whole / 10 < cost < whole}
    assert len(nameless) == 4  # main, rounds, stream and touch
    for name, cost in nameless.items():
        assert estimate[name] == pytest.approx(cost, rel=0.1), name
    # No other name has as much, but for the dynamic linker's call of the program's first function.
    others = [name for name, cost in estimate.items() if name.startswith("0x") and cost > whole / 10]
    assert len(others) <= len(nameless) + 1


def test_a_seed_repeats_itself_and_another_differs(tmp_path: Path) -> None:
    names = {"one": ",5", "again": ",5", "other": ",6"}
    files = {name: sampled(tmp_path, BURSTS + seed, name=name).profile_path for name, seed in names.items()}
    assert normal_bytes(files["one"]) == normal_bytes(files["again"])
    assert normal_bytes(files["one"]) != normal_bytes(files["other"])


@pytest.mark.parametrize("way", ["fork", "exec"])
def test_each_program_has_an_estimate_of_its_own(way: str, tmp_path: Path) -> None:
    run = sampled(
        tmp_path, BURSTS, "--trace-children=yes", f"--bdgrind-out-file={tmp_path}/part.%p", command=(PHASES, way)
    )
    assert run.status == 0
    parts = [path for path in tmp_path.iterdir() if path.name.startswith("part.")]
    assert len(parts) == 2
    for part in parts:
        assert check_profile(part) == ""
        some, all_blocks, bursts = counted(part)
        assert 0 < some < all_blocks and bursts > 0
    # Each half is there once.
    blocks = sum(counted(part)[1] for part in parts)
    assert blocks == pytest.approx(counted(sampled(tmp_path, BURSTS, name="whole").profile_path)[1], rel=0.05)


def test_lengths_that_are_not_given(tmp_path: Path) -> None:
    run = sampled(tmp_path, "--sample=bursts", command=(GUESTS / "loops",))
    said = "bursts of 2000000 blocks in 100000000, seed 1, margins of 200000;"
    assert f"desc: Sample: {said}" in run.profile_path.read_text()


def test_a_run_that_is_too_short_says_so(tmp_path: Path) -> None:
    run = sampled(tmp_path, "--sample=bursts,100000,4000000000,3")
    assert "Estimates from 0 bursts" in run.log
    assert "Only the start of the program was counted: use shorter periods" in run.log
    assert check_profile(run.profile_path) == ""


def test_a_run_that_ends_in_its_start_is_exact(tmp_path: Path) -> None:
    command = (GUESTS / "loops",)
    exact = sampled(tmp_path, name="exact", command=command)
    run = sampled(tmp_path, "--sample=bursts,50000000,4000000000", command=command)
    assert "That is" not in run.log and "intervals" not in run.profile_path.read_text()
    assert check_profile(run.profile_path) == ""
    known = exact.profile.totals
    assert {event: known[event] for event in run.profile.totals} == run.profile.totals
    # Not only in numbers.
    calls = {names: arc.calls for names, arc in exact.profile.arcs.items()}
    assert {names: arc.calls for names, arc in run.profile.arcs.items()} == calls


def intervals(profile: Path) -> dict[str, list[int]]:
    """Half the widths: of all, and of self costs by function."""
    found: dict[str, list[int]] = {}
    function = "all"
    for line in profile.read_text().partition("# intervals: ")[2].splitlines():
        key, _, value = line.removeprefix("# ").partition("=")
        if key == "fn":
            function = value.partition(" ")[2] or value
        elif key in ("all", "self"):
            found[function] = [int(word) for word in value.split()[1:]]
    return found


def test_exact_values_lie_in_the_intervals(tmp_path: Path) -> None:
    """In those of at least 93 % of the runs; bench/sample_coverage.py looks at more of them."""
    exact = sampled(tmp_path, name="exact", command=TWICE).profile
    events = ("Ir", "Dr", "D1mr", "SpLossD1")
    within = shown = 0
    for seed in range(1, 11):
        options = f"{MANY_BURSTS},{seed}", "--compress-strings=no"
        run = sampled(tmp_path, *options, name=f"seed{seed}", command=TWICE)
        order = run.profile.header["events"][0].split()
        widths = intervals(run.profile_path)
        for event in events:
            of = order.index(event)
            assert widths["all"][of] < 0.1 * exact.totals[event]
            pairs = [(exact.totals[event], run.profile.totals[event], widths["all"][of])]
            pairs += [(exact.self_costs[name][event], run.profile.self_costs[name][event], widths[name][of])
                      for name in ("stream", "touch")]
            shown += len(pairs)
            within += sum(abs(real - estimate) <= width for real, estimate, width in pairs)
    assert shown == 120 and within >= 0.93 * shown


def test_sums_of_ranks_lie_in_their_intervals(tmp_path: Path) -> None:
    """Eight runs in pairs, fours and all together; in narrower ones than the runs' own, as their seeds differ."""
    exact = sampled(tmp_path, name="exact", command=TWICE).profile
    runs = [sampled(tmp_path, f"{MANY_BURSTS},{seed}", name=f"seed{seed}", command=TWICE) for seed in range(11, 19)]
    paths = [str(run.profile_path) for run in runs]
    order = runs[0].profile.header["events"][0].split()
    within = shown = 0
    for size in (2, 4, 8):
        for first in range(0, len(runs), size):
            members, output = runs[first : first + size], tmp_path / f"all.{size}.{first}"
            assert bd_annotate(["--merge", "-o", str(output), *paths[first : first + size]]) == 0
            widths = intervals(output)
            single = [intervals(run.profile_path)["all"] for run in members]
            for event in ("Ir", "Dr", "D1mr", "SpLossD1"):
                of = order.index(event)
                total = sum(run.profile.totals[event] for run in members)
                shown += 1
                within += abs(total - size * exact.totals[event]) <= widths["all"][of]
                assert max(one[of] for one in single) < widths["all"][of] < 0.8 * sum(one[of] for one in single)
    assert shown == 28 and within >= 0.93 * shown


def test_the_start_counts_as_it_is(tmp_path: Path) -> None:
    """What happens once, before main, is no estimate."""
    exact = sampled(tmp_path, name="exact").profile
    for seed in range(1, 6):
        found = sampled(tmp_path, f"{BURSTS},{seed}", name=f"seed{seed}").profile
        (calls,) = (arc.calls for (_, callee), arc in found.arcs.items() if callee == "main")
        assert calls == 1
        assert found.totals["Dw"] >= 0.7 * exact.totals["Dw"]


@pytest.mark.parametrize(
    "option",
    ["--instr-atstart=no", "--toggle-collect=f", "--dump-every-bb=5", "--why=causes", "--objects=yes", "--cores=2",
     "--context-tree=yes", "--separate-threads=yes", "--zero-before=f"],
)
def test_what_does_not_go_together_is_refused(option: str, tmp_path: Path) -> None:
    status, said = run_badly(tmp_path, "--sample=bursts", option)
    assert status == 1
    assert "--sample=bursts cannot be combined with" in said


@pytest.mark.parametrize(
    "value, why",
    [("sets", "it must be no, bursts"), ("bursts,5", "it must be no, bursts"), ("bursts,", "it must be no, bursts"),
     ("bursts,1,2", "at least 100000 blocks"), ("bursts,100000,150000", "at least twice as long"),
     ("bursts,100000,18446744073709551615", "too long"), ("bursts,100000,200000,1,1", "it must be no, bursts")],
)
def test_wrong_values_are_explained(value: str, why: str, tmp_path: Path) -> None:
    status, said = run_badly(tmp_path, f"--sample={value}")
    assert status != 0
    assert why in said


def test_without_sampling_nothing_is_said(tmp_path: Path) -> None:
    run = sampled(tmp_path, "--sample=no", command=(GUESTS / "loops",))
    assert [path.name for path in written_files(run.profile_path).values()] == ["profile.out"]
    text = run.profile_path.read_text()
    assert "Sample" not in text and "intervals" not in text


def test_nothing_is_said_of_caches_that_a_burst_does_not_fill(tmp_path: Path) -> None:
    """With write-backs and an L2, whose events an exact run has."""
    options = ("--simulate-wb=yes", "--L2=4096,4,64")
    exact = sampled(tmp_path, *options, name="exact")
    run = sampled(tmp_path, BURSTS, *options)
    assert {"ILmr", "DLmr", "SpLoss2", "D2mr", "ILdmr"} <= {*exact.profile.totals}
    assert {*run.profile.totals} == {
        "Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw",
        *(f"{event}{of}" for event in ("AcCost", "SpLoss", "EvLine", "UsByte") for of in ("1", "D1")),
    }
    assert "LLd misses" in exact.log and "LLd" not in run.log and "D1  misses" in run.log
    assert check_profile(run.profile_path) == ""
