#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the exact value lies in the interval that a sampled run gives for it:

    sample_coverage.py FOLDER LENGTH PERIOD SEEDS [--option=OPTION...] -- PROGRAM ARGUMENTS...

Runs PROGRAM once under bdgrind as it is, and once for each of the seeds 1 to SEEDS with
--sample=bursts,LENGTH,PERIOD,SEED, two runs at a time. FOLDER keeps the profiles; those that it has are not made
again. The tool is that of the build in $BDGRIND_BUILD, else of the source folder.

For the totals, and for the 20 functions and the 20 lines that have most of each event, prints of how many estimates
the exact value lies within the interval of 95 %, how far estimates are off in the mean over the seeds, how much they
spread, and what they say of that themselves (the mean interval's half width), all relative to the exact value. Behind
that, the same for all events of a kind together: Ir, Dr and Dw, and events of L1."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev

_TOP = Path(__file__).resolve().parents[3]
_BUILD = Path(os.environ.get("BDGRIND_BUILD", _TOP))
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"}
_HOTTEST = 20
# What a number is of: "all", "self" and "sum" of a function, or "line", with its object, file and name, and for a line
# the file and the number of that.
Key = tuple[str, ...]


@dataclass
class Profile:
    events: list[str] = field(default_factory=list)
    costs: dict[Key, list[int]] = field(default_factory=dict)
    bursts: int = 0
    widths: dict[Key, list[int]] = field(default_factory=dict)  # half the intervals'


@dataclass
class Share:
    """Of estimates: how many there are, how many of them are shown, and how many of those hold."""

    asked: int = 0
    shown: int = 0
    within: int = 0

    def add(self, other: Share) -> None:
        self.asked += other.asked
        self.shown += other.shown
        self.within += other.within

    def __str__(self) -> str:
        """What holds and what is left out, in %."""
        holds = f"{100 * self.within / self.shown:5.1f}" if self.shown else "    -"
        return f"{holds} {100 * (self.asked - self.shown) / self.asked:5.1f}"


def read(path: Path) -> Profile:
    """A profile without compressed names and positions, by line."""
    profile = Profile()
    costs: defaultdict[Key, list[int]] = defaultdict(list)
    names = {"ob": "", "fl": "", "fn": "", "fi": ""}
    is_call = False

    def add(key: Key, counts: Sequence[int]) -> None:
        sums = costs[key] or costs.setdefault(key, []) or [0] * len(profile.events)
        costs[key] = sums
        for at, count in enumerate(counts):
            sums[at] += count

    for line in path.read_text(errors="replace").splitlines():
        word, equals, value = line.removeprefix("# ").partition("=")
        function = (names["ob"], names["fl"], names["fn"])
        if line.startswith("events:"):
            profile.events = line.split()[1:]
        elif line.startswith("totals:"):
            costs[("all",)] = list(map(int, line.split()[1:]))
        elif line.startswith("# intervals:"):
            profile.bursts = int(line.split()[2])
        elif equals and word in names:
            names["fi" if word == "fe" else word] = value
            if word == "fl":
                names["fi"] = value
        elif equals and word == "fe":
            names["fi"] = value
        elif equals and word == "calls":
            is_call = True
        elif line.startswith("# ") and equals and word in ("all", "self", "sum", "line") and profile.bursts:
            counts = list(map(int, value.split()))
            number = str(counts.pop(0)) if word == "line" else ""
            key = {"all": ("all",), "line": ("line", *function, names["fi"], number)}.get(word, (word, *function))
            profile.widths[key] = counts[1:]
        elif line and line[0].isdigit():
            number, *words = line.split()
            counts = list(map(int, words))
            add(("sum", *function), counts)
            if not is_call:
                add(("self", *function), counts)
                add(("line", *function, names["fi"], number), counts)
            is_call = False
    width = len(profile.events)
    profile.costs = {key: counts + [0] * (width - len(counts)) for key, counts in costs.items()}
    return profile


def run(options: Sequence[str], command: Sequence[str], path: Path) -> Path:
    if not path.exists():
        tool = [str(_BUILD / "vg-in-place"), "--tool=bdgrind", "-q", f"--bdgrind-out-file={path}"]
        full = ["--compress-strings=no", "--compress-pos=no", "--engine-threads=0"]
        subprocess.run([*tool, *full, *options, *command], env=_ENVIRONMENT, cwd=path.parent, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return path


def half_width(profile: Profile, key: Key, column: int) -> float:
    """Of the interval of 95 %; infinite where the profile has none."""
    widths = profile.widths.get(key)
    if widths is None or profile.bursts < 2:
        return math.inf
    return widths[column]


def event_kind(event: str) -> str:
    return event if event == "Ir" else "Dr and Dw" if event in ("Dr", "Dw") else "events of L1"


def rows(exact: Profile, estimates: Sequence[Profile]) -> list[str]:
    found = []
    sums: defaultdict[tuple[str, str], Share] = defaultdict(Share)
    for kind, name, most in (
        ("all", "totals", 1), ("self", "functions", _HOTTEST), ("sum", "functions", _HOTTEST),
        ("line", "lines", _HOTTEST),
    ):
        for event in estimates[0].events:
            at, of = exact.events.index(event), estimates[0].events.index(event)
            keys = [key for key, costs in exact.costs.items() if key[0] == kind and costs[at] > 0]
            keys = sorted(keys, key=lambda key: -exact.costs[key][at])[:most]
            if not keys:
                continue
            share = Share(asked=len(keys) * len(estimates))
            biases, spreads, said = [], [], []
            for key in keys:
                value = exact.costs[key][at]
                values = [one.costs.get(key, [0] * len(one.events))[of] for one in estimates]
                widths = [half_width(one, key, of) for one in estimates]
                for one, width in zip(values, widths):
                    if width > max(one, 0):  # left out
                        continue
                    share.shown += 1
                    share.within += abs(one - value) <= width + 1
                biases.append(fmean(values) / value - 1)
                spreads.append(pstdev(values) / value)
                said.append(fmean([width for width in widths if width < math.inf] or [math.inf]) / value)
            numbers = " ".join(f"{100 * fmean(of_all):8.3f}" for of_all in (biases, spreads, said))
            worst = 100 * max(biases, key=abs)
            found.append(f"{kind:4} {event:8} {share} {numbers} {worst:8.3f}")
            sums[name, event_kind(event)].add(share)
    found += [f"{name:9} {event:12} {share}" for (name, event), share in sums.items()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("length", type=int)
    parser.add_argument("period", type=int)
    parser.add_argument("seeds", type=int)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    bursts = f"--sample=bursts,{given.length},{given.period}"
    with ThreadPoolExecutor(2) as pool:
        exact = pool.submit(run, given.option, given.command, folder / "exact")
        samples = [
            pool.submit(run, [*given.option, f"{bursts},{seed}"], given.command, folder / f"seed.{seed}")
            for seed in range(1, given.seeds + 1)
        ]
    estimates = [read(sample.result()) for sample in samples]
    numbers = sorted(one.bursts for one in estimates)
    print(f"{len(estimates)} seeds, {numbers[0]} to {numbers[-1]} bursts; all but the first two in %")
    print("of   event   within  left     bias   spread    half width  worst bias")
    print("\n".join(rows(read(exact.result()), estimates)))


if __name__ == "__main__":
    main()
