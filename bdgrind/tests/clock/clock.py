#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimated seconds against the clock's: programs run natively, in interleaved rounds, and under bdgrind.

  clock.py FOLDER [--rounds=N] [--valgrind=VALGRIND] [--calibrate=PROGRAM] [NAME...]

FOLDER takes programs, profiles, the machine file here.machine, and the times of all rounds, rounds.json; what is there
is not made anew, and rounds are added to those before.
Prints the rows of the tables in docs/results.md, and which machine it was and how busy. Measured is time in user mode,
the least of the rounds: all of it, which is exact, times the share of user mode in all rounds, which the kernel only
samples. Predicted speed-ups are those that the report of the first program of a pair has for its first repair.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
TOP = TESTS.parent.parent
GUESTS, BENCH, GALLERY = TESTS / "guest" / "why", TESTS / "bench" / "programs", TOP / "docs" / "gallery"

# Each is built twice, as it is and repaired: sizes that a processor of today works on for some hundredths of a second.
PAIRS = {
    "product": ["-DSIZE=500"], "transpose": ["-DSIZE=4104"], "passes": ["-DSIZE=4000000"], "fat": ["-DSIZE=600000"],
    "padding": ["-DSIZE=1000000"], "columns": ["-DSTEPS=30000"], "table": ["-DSIZE=(1<<24)", "-DLOOKUPS=2000000"],
    "list": ["-DSIZE=150000"], "pages": ["-DSTEPS=8000"], "records": ["-DSIZE=(1<<18)", "-DLOOKUPS=2000000"],
    "histogram": ["-DBINS=20480", "-DVALUES=8000000"], "volume": ["-DSIZE=280"], "samples": ["-DSIZE=2000000"],
    "elements": ["-DSIZE=300000", "-DSTEPS=8"],
}
SINGLE = {"stream": ["-DSIZE=3000000"], "steps": ["-DSIZE=(64<<20)", "-DROUNDS=6"]}
BENCHMARK = {
    "chase": ["131072", "2000000"], "deep": ["100000", "15000000"], "dispatch": ["100000", "8"],
    "join": ["100000", "3"], "recurse": ["150"], "sort": ["20000", "5"], "stencil": ["500", "3"],
    "trees": ["1000000"], "names": ["1"],
}
INSTALLED = {
    "xz": ["xz", "-1", "-T1", "-c", "text"], "bzip2": ["bzip2", "-c", "text"],
    "python3": ["python3", "-S", "-s", "-B", str(BENCH / "report.py"), "text"],
    "perl": ["perl", str(BENCH / "report.pl"), "text"],
}
WITHIN, SIGN, PAIR_WITHIN = 1.5, 1.1, 1.3
# The model of time is made with an eye on every other name of these lists, beginning with the first: the rest is held
# out, and reported beside it.
LATER = ["steps", "elements"]  # behind all others, whose halves stay as they were
ORDERED = [
    *(one for one in [*PAIRS, *SINGLE] if one not in LATER), *BENCHMARK, "gallery-objects", "gallery-loops",
    "gallery-table", *INSTALLED, *LATER,
]
HELD_OUT = frozenset(ORDERED[1::2])
_WORDS, _TEXT = 3000, 400_000


@dataclass
class Program:
    name: str
    command: list[str]
    rounds: list[tuple[float, float]] = field(default_factory=list)  # user and system time
    seconds: float = 0.0  # estimated
    least: float = 0.0
    most: float = 0.0
    predicted: float = 1.0  # how many times as fast the first repair makes it
    remedy: str = ""

    @property
    def is_held_out(self) -> bool:
        name = self.name.removesuffix("-before").removesuffix("-after")
        return (name if name in PAIRS else self.name) in HELD_OUT

    @property
    def measured(self) -> float:
        user = sum(one for one, _ in self.rounds)
        wholes = [one + other for one, other in self.rounds]
        return min(wholes) * user / sum(wholes) if any(wholes) else 0.0


def build(command: Sequence[str | Path], target: Path) -> None:
    if not target.exists():
        subprocess.run([*command, "-o", target], check=True)


def programs(folder: Path, names: Sequence[str]) -> list[Program]:
    """Those whose compilers are there."""
    found: list[Program] = []
    for name, options in PAIRS.items():
        for mark in ("before", "after"):
            more = ["-DREPAIRED"] if mark == "after" else []
            path = folder / f"{name}-{mark}"
            if not names or name in names:
                build(["gcc", "-O2", "-g", *options, *more, GUESTS / f"{name}.c", "-lpthread"], path)
                found.append(Program(f"{name}-{mark}", [str(path)]))
    for name, options in SINGLE.items():
        build(["gcc", "-O2", "-g", *options, GUESTS / f"{name}.c"], folder / name)
        found.append(Program(name, [str(folder / name)]))
    for name, arguments in BENCHMARK.items():
        source = next(BENCH.glob(f"{name}.c*"))
        compiler = "gcc" if source.suffix == ".c" else "g++"
        build([compiler, "-O2", "-g", source, "-lm", "-lpthread"], folder / name)
        found.append(Program(name, [str(folder / name), *arguments]))
    for source_name, command in (
        ("objects.cpp", ["g++", "-std=c++17", "-O2", "-g"]), ("loops.f90", ["gfortran", "-O1", "-g", f"-J{folder}"]),
        ("table.rs", ["rustc", "-Copt-level=2", "-g"]),
    ):
        if shutil.which(command[0]):
            name = f"gallery-{source_name.partition('.')[0]}"
            build([*command, GALLERY / source_name], folder / name)
            found.append(Program(name, [str(folder / name)]))
    write_text(folder / "text")
    for name, command in INSTALLED.items():
        program = "/usr/bin/python3" if name == "python3" else shutil.which(command[0])
        if program and os.path.exists(program):
            found.append(Program(name, [program, *command[1:]]))
    return [one for one in found if not names or one.name in names or one.name.rpartition("-")[0] in names]


def write_text(path: Path) -> None:
    """Random words, the same each time."""
    state = 1

    def number(below: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (state >> 33) % below

    words = ["".join(chr(97 + number(26)) for _ in range(2 + number(8))) for _ in range(_WORDS)]
    lines = []
    length = 0
    while length < _TEXT:
        text = " ".join(words[number(_WORDS)] for _ in range(12))
        lines.append(text)
        length += len(text) + 1
    path.write_text("\n".join(lines) + "\n")


def run_natively(program: Program, folder: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(program.command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    program.rounds.append((after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime))


def estimate(program: Program, folder: Path, valgrind: str, machine: Path) -> None:
    profile = folder / f"{program.name}.out"
    if not profile.exists():
        subprocess.run(
            [valgrind, "--tool=bdgrind", "--why=yes", "--objects=yes", "--branch-sim=yes",
             f"--bdgrind-out-file={profile}", *program.command],
            cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PERL_HASH_SEED": "0"},
        )
    said = subprocess.run(
        [sys.executable, TOP / "annotate" / "bd_annotate", "--format=json", f"--machine-file={machine}", profile],
        check=True, stdout=subprocess.PIPE,
    )
    found = json.loads(said.stdout)
    time = found["verdict"]["time"]
    program.seconds, program.least, program.most = time["seconds"], time["least"], time["most"]
    best = found["repairs"][0]
    program.remedy = best["remedy"]
    program.predicted = program.seconds / max(program.seconds - best["seconds"], 1e-9)


def machine_text() -> str:
    """The processor's name, the day and the load."""
    name = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    known = name[1] if name else "unknown processor"
    return f"{known}, {os.cpu_count()} processors, {datetime.date.today()}, load {os.getloadavg()[0]:.1f}"


def factor(one: float, other: float) -> float:
    """How many times as large the larger one is."""
    return max(one / other, other / one) if one > 0 and other > 0 else float("inf")


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's."""
    ranks = [
        {value: number for number, value in enumerate(sorted(side))} for side in zip(*pairs)
    ]
    left, right = ([ranks[side][pair[side]] for pair in pairs] for side in (0, 1))
    return statistics.correlation(left, right)


def spread(title: str, factors: Iterable[float], within: float) -> None:
    found = sorted(factors)
    inside = sum(one <= within for one in found)
    print(
        f"{title}: median {statistics.median(found):.2f}, worst {found[-1]:.2f}; within {within}: {inside} of "
        f"{len(found)}"
    )


def report(found: Sequence[Program]) -> None:
    print("\n| program | measured | estimated | from, to | estimated / measured |\n|---|---:|---:|---:|---:|")
    for one in found:
        print(
            f"| {one.name} | {1e3 * one.measured:.1f} ms | {1e3 * one.seconds:.1f} ms | "
            f"{1e3 * one.least:.1f}, {1e3 * one.most:.1f} | {one.seconds / one.measured:.2f} |"
        )
    by_name = {one.name: one for one in found}
    print("\n| pair | measured | of both estimates | predicted by the repair | |\n|---|---:|---:|---:|---|")
    pairs = []
    held = []
    for name in PAIRS:
        before, after = by_name.get(f"{name}-before"), by_name.get(f"{name}-after")
        if before and after:
            pairs.append((before.measured / after.measured, before.seconds / after.seconds, before.predicted))
            held.append(before.is_held_out)
            print(f"| {name} | {pairs[-1][0]:.2f} | {pairs[-1][1]:.2f} | {pairs[-1][2]:.2f} | `{before.remedy}` |")
    print()
    spread("estimates", (factor(one.seconds, one.measured) for one in found), WITHIN)
    for title, half in (("  of the half that was looked at", False), ("  of the half that was held out", True)):
        here = [factor(one.seconds, one.measured) for one in found if one.is_held_out == half]
        if here:
            spread(title, here, WITHIN)
    print(f"inside their own bounds: {sum(one.least <= one.measured <= one.most for one in found)} of {len(found)}")
    if len(found) > 2:
        print(f"rank correlation: {rank_correlation([(one.measured, one.seconds) for one in found]):.2f}")
    for title, side in (("speed-ups of both estimates", 1), ("predicted speed-ups", 2)):
        if pairs:
            spread(title, (factor(pair[0], pair[side]) for pair in pairs), PAIR_WITHIN)
            clear = [pair for pair in pairs if factor(pair[0], 1) > SIGN]
            right = sum((pair[0] > 1) == (pair[side] > 1.005) for pair in clear)
            print(f"  sign of those above 10 %: right of {right} of {len(clear)}")
            for half, kind in ((False, "looked at"), (True, "held out")):
                inside = [factor(pair[0], pair[side]) <= PAIR_WITHIN for pair, out in zip(pairs, held) if out == half]
                print(f"  of the half that was {kind}: {sum(inside)} of {len(inside)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimated seconds against the clock's.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--valgrind", default="valgrind")
    parser.add_argument("--calibrate", default="bd_calibrate", metavar="PROGRAM")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    machine = folder / "here.machine"
    if not machine.exists():
        subprocess.run([given.calibrate, "--passes=10", f"--output={machine}"], check=True)
    found = programs(folder, given.names)
    times = folder / "rounds.json"
    known = json.loads(times.read_text()) if times.exists() else {}
    for one in found:
        one.rounds += [(user, system) for user, system in known.get(one.name, ())]
    print(f"{machine_text()}; {given.rounds} rounds", flush=True)
    for _ in range(given.rounds):
        for one in found:
            run_natively(one, folder)
        times.write_text(json.dumps(known | {one.name: one.rounds for one in found}))
    print(machine_text(), flush=True)
    for one in found:
        estimate(one, folder, given.valgrind, machine)
    report(found)


if __name__ == "__main__":
    main()
