#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures bd_annotate --merge with the profiles of many ranks, made by varying a real one:

    merge_ranks.py PROFILE RANKS FOLDER PROCESSES...     time and memory with so many processes each

In half of the rows of costs, each rank has up to a tenth more or less than the profile; the rest is the same in all of
them. Profiles that the folder already has are not made again."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

_COST = re.compile(r"[0-9+*-]")
_HEAD = "desc: Timerange"
_BD_ANNOTATE = Path(__file__).resolve().parents[3] / "annotate" / "bd_annotate"
_OPEN_MPI = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def varied(lines: list[str], rank: int) -> list[str]:
    """Costs by line and of calls; comments and totals are made to fit."""
    chance = random.Random(rank)
    width = next(len(line.split()) - 1 for line in lines if line.startswith("events:"))
    totals = [0] * width
    found = []
    is_call = False
    for line in lines:
        if line.startswith(("summary:", "# at=", "# call=")):
            continue
        if line.startswith("totals:"):
            line = f"totals: {' '.join(map(str, totals))}"
        elif line.startswith(_HEAD):
            found += [f"desc: Rank: {rank}", f"desc: Host: node{rank // 64}"]
        elif _COST.match(line):
            position, *words = line.split()
            counts = list(map(int, words))
            if chance.random() < 0.5:
                counts = [count * chance.randrange(90, 111) // 100 for count in counts]
                line = f"{position} {' '.join(map(str, counts))}"
            if not is_call:
                totals[: len(counts)] = [total + count for total, count in zip(totals, counts)]
        is_call = line.startswith("calls=")
        found.append(line)
    return found


def make(profile: Path, ranks: int, folder: Path) -> list[str]:
    lines = profile.read_text().splitlines()
    paths = []
    for rank in range(ranks):
        path = folder / f"out.{rank}"
        if not path.exists():
            path.write_text("\n".join([*varied(lines, rank), ""]))
        paths.append(str(path))
    return paths


def peak(pid: int) -> int:
    """The most memory of a process so far, in KiB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) if found else 0


def measured(paths: list[str], processes: int, output: Path) -> tuple[float, float, int]:
    """Seconds, those of processors, and the most memory that one process had, in MiB."""
    command = [sys.executable, str(_BD_ANNOTATE), "--merge", "-o", str(output), *paths]
    if processes > 1:
        command = ["mpirun", "-np", str(processes), *command]
    before, start = os.times(), time.monotonic()
    most = 0
    with subprocess.Popen(command, env={**os.environ, **_OPEN_MPI}, stdout=subprocess.DEVNULL) as started:
        while started.poll() is None:
            for entry in Path("/proc").glob("[0-9]*"):
                try:
                    if str(output) in (entry / "cmdline").read_text() and "mpirun" not in (entry / "comm").read_text():
                        most = max(most, peak(int(entry.name)))
                except OSError:
                    pass
            time.sleep(0.5)
        if started.returncode:
            sys.exit(f"the merge ended with status {started.returncode}")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, used, most >> 10


def main() -> None:
    profile, ranks, folder, *processes = sys.argv[1:]
    Path(folder).mkdir(exist_ok=True)
    paths = make(Path(profile), int(ranks), Path(folder))
    outputs = []
    for number in map(int, processes):
        output = Path(folder) / f"merged.{number}"
        seconds, used, memory = measured(paths, number, output)
        outputs.append((output.read_bytes(), (output.parent / f"ranks.{output.name}").read_bytes()))
        told = f"{seconds:.1f} s, {used:.1f} s of processors, {memory} MiB each"
        print(f"{ranks} ranks, {number} processes: {told}", flush=True)
    if any(output != outputs[0] for output in outputs):
        sys.exit("the merged files differ")


if __name__ == "__main__":
    main()
