# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves of one run, against runs with D1 of each size: equal where any line can be anywhere in it. How far they are
from caches with 8 and 16 ways, `python3 -m pytest -s` prints, all with BDGRIND_LONG in the environment, which
`make check-long` sets: the table of docs/why.md."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from harness import BUILD, SOURCE, annotate, run_tool

PROGRAMS = SOURCE / "bdgrind" / "tests" / "guest" / "why"
NAMES = ("product", "passes", "fat", "columns", "list", "records", "stream", "histogram")
LINE = 64
SIZES = [1024 << step for step in range(2, 8)]
CACHES = ["--I1=4096,4,64", "--LL=1048576,16,64"]
# Whose data lie in all sets alike; the others are for the table, and take their time.
NEAR = ("stream",)
LONG = bool(os.environ.get("BDGRIND_LONG"))


@cache
def trace_of(name: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    folder = Path(mkdtemp(prefix="curves-"))
    subprocess.run(["gcc", "-O2", "-g", "-o", folder / name, PROGRAMS / f"{name}.c"], check=True)
    trace = folder / "trace"
    assert run_tool(folder, [folder / name], [*CACHES, f"--record-trace={trace}"], name=name).status == 0
    return trace


def replayed(name: str, size: int, ways: int, options: list[str]) -> Path:
    trace = trace_of(name)
    out = trace.with_name(f"{size}-{ways}.out")
    bdreplay: list[str | Path] = [
        BUILD / "bdgrind" / "bdreplay", *CACHES, *options, f"--D1={size},{ways},{LINE}", f"--out={out}", trace,
    ]
    subprocess.run(bdreplay, check=True, capture_output=True)
    return out


def loaded(name: str, size: int, ways: int) -> int:
    """Lines that a cache loads, and that have left it at the end."""
    lines = [line.split() for line in replayed(name, size, ways, []).read_text().split("\n")]
    events, totals = (next(words for words in lines if words[:1] == [start]) for start in ("events:", "totals:"))
    return int(totals[events.index("EvLineD1")])


@cache
def curve(name: str) -> dict[int, int]:
    """Lines that caches load from the least size on."""
    completed = annotate("--curve", "--format=json", replayed(name, SIZES[0], SIZES[0] // LINE, ["--why=causes"]))
    assert completed.returncode == 0, completed.stderr
    return {point["size"]: point["misses"] for point in json.loads(completed.stdout)["curve"]["points"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_curve_is_what_caches_of_each_size_load(name: str) -> None:
    predicted = curve(name)
    for size in SIZES:
        assert loaded(name, size, size // LINE) == predicted[size], size
    assert predicted[SIZES[0]] > predicted[SIZES[-1]] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_curve_below_d1_is_what_caches_of_each_size_load(name: str) -> None:
    """Whatever the ways of D1."""
    options = ["--why=causes", f"--curve-from={SIZES[0]}"]
    completed = annotate("--curve", "--format=json", replayed(name, SIZES[4], 8, options))
    assert completed.returncode == 0, completed.stderr
    points = json.loads(completed.stdout)["curve"]["points"]
    predicted = {point["size"]: point["misses"] for point in points}
    assert [point["size"] for point in points[:6]] == SIZES
    for size in SIZES[:4]:
        assert curve(name)[size] == predicted[size], size
    assert loaded(name, SIZES[4], 8) == predicted[SIZES[4]]


@pytest.mark.parametrize("curve_from, error", [
    ("5000", "must be a power of two"), ("64", "must be at least two lines"), ("8192", "must be less than the size"),
])
def test_a_curve_from_no_size_below_d1_is_refused(tmp_path: Path, curve_from: str, error: str) -> None:
    options = ["--why=causes", "--D1=8192,2,64", f"--curve-from={curve_from}"]
    run = run_tool(tmp_path, ["/bin/true"], options)
    assert run.status == 1 and f"--curve-from {error}" in run.log


@pytest.mark.parametrize("name", [name for name in NAMES if LONG or name in NEAR])
def test_how_far_caches_of_some_ways_are(name: str) -> None:
    for ways in (8, 16):
        ratios = [loaded(name, size, ways) / curve(name)[size] for size in SIZES]
        print(f"| {name}.c | {ways} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
        if name in NEAR:
            assert max(ratios) < 1.15 and min(ratios) > 1 / 1.15
