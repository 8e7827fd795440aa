# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves of one run, against runs with D1 of each size: equal where any line can be anywhere in it. How far they are
from caches with 8 and 16 ways, `python3 -m pytest -s` prints: the table of docs/why.md."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from harness import BUILD, SOURCE, run_tool
from object_runs import annotate

PROGRAMS = SOURCE / "bdgrind" / "tests" / "guest" / "why"
NAMES = ("product", "passes", "fat", "columns", "list", "records", "stream", "histogram")
LINE = 64
SIZES = [1024 << step for step in range(2, 8)]
OTHERS = ["--I1=4096,4,64", "--LL=1048576,16,64", "--why=yes"]
# Whose data lie in all sets alike.
NEAR = ("stream",)


@cache
def trace_of(name: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    folder = Path(mkdtemp(prefix="curves-"))
    subprocess.run(["gcc", "-O2", "-g", "-o", folder / name, PROGRAMS / f"{name}.c"], check=True)
    trace = folder / "trace"
    assert run_tool(folder, [folder / name], [*OTHERS, f"--record-trace={trace}"], name=name).status == 0
    return trace


@cache
def curve(name: str, size: int, ways: int) -> dict[int, int]:
    """Lines that caches load from this size on; the first is what was simulated."""
    trace = trace_of(name)
    out = trace.with_name(f"{size}-{ways}.out")
    bdreplay: list[str | Path] = [
        BUILD / "bdgrind" / "bdreplay", *OTHERS, f"--D1={size},{ways},{LINE}", f"--out={out}", trace,
    ]
    subprocess.run(bdreplay, check=True, capture_output=True)
    completed = annotate("--curve", "--format=json", out)
    assert completed.returncode == 0, completed.stderr
    return {point["size"]: point["misses"] for point in json.loads(completed.stdout)["curve"]["points"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_curve_is_what_caches_of_each_size_load(name: str) -> None:
    least = SIZES[0]
    predicted = curve(name, least, least // LINE)
    for size in SIZES:
        assert curve(name, size, size // LINE)[size] == predicted[size], size
    assert predicted[SIZES[0]] > predicted[SIZES[-1]] > 0


@pytest.mark.parametrize("name", NAMES)
def test_how_far_caches_of_some_ways_are(name: str) -> None:
    predicted = curve(name, SIZES[0], SIZES[0] // LINE)
    for ways in (8, 16):
        ratios = [curve(name, size, ways)[size] / predicted[size] for size in SIZES]
        print(f"| {name}.c | {ways} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
        if name in NEAR:
            assert max(ratios) < 1.15 and min(ratios) > 1 / 1.15
