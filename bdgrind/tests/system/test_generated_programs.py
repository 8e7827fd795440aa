# SPDX-License-Identifier: GPL-2.0-or-later
"""Random programs, compiled and run: what the tool makes of them, the naive engine and Callgrind make, too.

BDGRIND_LONG in the environment, which `make check-long` sets, means 1,000 of them.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from generate_programs import generate
from harness import BDCOMPARE, CALLGRIND_EVENTS, Run, check_profile, needs_bdcompare, run_tool

# Programs are compiled and run so many at once, as what takes the time is to compile and to start.
LONG = bool(os.environ.get("BDGRIND_LONG"))
PROGRAMS = 20 if LONG else 8
SEEDS = range(50 if LONG else 2)

# Small, as the naive engine looks at every line for each one that is evicted.
GEOMETRIES = [
    ("--I1=4096,4,64", "--D1=4096,4,64", "--LL=16384,8,64"),
    ("--I1=2048,2,32", "--D1=3072,3,64", "--LL=20480,5,128"),
    ("--I1=8192,1,128", "--D1=1024,2,16", "--LL=12288,4,32"),
]

# So large that nothing of what the programs touch leaves it again. Callgrind looks up an access across two lines in
# both levels, where bdgrind leaves out the line that has hit; that must not show.
LARGE_LL = ("--I1=4096,4,64", "--D1=4096,4,64", "--LL=4194304,16,64")

# Callgrind counts no block that is not followed by another: that a handler interrupts and then jumps away from, that
# returns from a handler (code without a name, by its address), and the last one.
LOSE_BLOCKS = re.compile("__pthread_kill_implementation|raise|_?_?_[eE]xit|0x[0-9a-f]+")
INSTRUCTION_EVENTS = ("Ir", "I1mr", "ILmr")


def compile_programs(folder: Path, seed: int) -> Path:
    compiler = shutil.which("c++")
    if not compiler:
        pytest.skip("there is no C++ compiler to compile the programs with")
    source, program = folder / "programs.cpp", folder / "programs"
    source.write_text(generate(seed, PROGRAMS))
    optimize = random.Random(seed).choice(["-O0", "-O1", "-O2"])
    flags = ["-g", optimize, "-foptimize-sibling-calls", "-static", "-pthread", "-w"]
    subprocess.run([compiler, *flags, "-o", program, source], check=True)
    return program


@needs_bdcompare
@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_equals_the_naive_one(seed: int, tmp_path: Path) -> None:
    program = compile_programs(tmp_path, seed)
    caches = GEOMETRIES[seed % len(GEOMETRIES)]
    trace = tmp_path / "trace"
    run = run_tool(tmp_path, [program], [*caches, "--objects=yes", f"--record-trace={trace}"], timeout=600)
    assert run.status == 0, run.log
    assert check_profile(run.profile_path) == ""
    completed = subprocess.run(
        [BDCOMPARE, *caches, "--objects=yes", trace], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, f"seed {seed}: {completed.stdout}{completed.stderr}"


def without_lost_blocks(run: Run) -> dict[str, dict[str, int]]:
    """Self costs by function; of those that lose blocks only the events of data."""
    costs = {}
    for name, all_events in run.profile.self_costs.items():
        loses = LOSE_BLOCKS.fullmatch(name)
        kept = {
            event: all_events[event]
            for event in CALLGRIND_EVENTS
            if not (loses and event in INSTRUCTION_EVENTS) and all_events[event]
        }
        if kept:
            costs[name] = kept
    return costs


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_equal_callgrinds(seed: int, tmp_path: Path) -> None:
    """With all in one thread: threads take turns differently each time."""
    command: list[str | Path] = [compile_programs(tmp_path, seed), "in one thread"]
    ours = run_tool(tmp_path, command, LARGE_LL, timeout=600)
    options = ["--cache-sim=yes", *LARGE_LL]
    theirs = run_tool(tmp_path, command, options, tool="callgrind", name="callgrind", timeout=600)
    assert ours.status == theirs.status == 0
    assert without_lost_blocks(ours) == without_lost_blocks(theirs), f"seed {seed}"
