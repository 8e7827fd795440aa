# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile of a large program, as a browser's, to measure bd_annotate with:

    python3 large_profile.py >large.out; time bd_annotate large.out

Functions call others further down, some also back up, so that many are in one cycle, as in programs
with callbacks. All sums hold.
"""

import random
import sys

EVENTS = (
    "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 AcCost2 SpLoss2 UsByte1 UsByte2 Ev1 Ev2 "
    "SpLossD1 SpLossDL UsByteD1 UsByteDL AcCostD1 AcCostDL EvD1 EvDL"
).split()


def large_profile(functions=32_000, calls=100_000, lines=6, back=0.02, seed=1):
    """Lines of text. Every function but the first is called once at least."""
    chance = random.Random(seed)
    own = []
    for _ in range(functions):
        rows = []
        for line in range(lines):
            count = int(chance.paretovariate(0.8)) % 10**7
            row = [count * 3, count, count // 2]
            if chance.random() < 0.3:
                row += [chance.randrange(1 + count // 9) for _ in EVENTS[3:]]
            rows.append((10 * line + 1, row))
        own.append(rows)
    arcs = {}
    for number in range(1, functions):
        arcs[max(0, number - int(chance.expovariate(1 / 300)) - 1), number] = None
    while len(arcs) < calls:
        caller = chance.randrange(functions)
        step = int(chance.expovariate(1 / 500)) + 1
        callee = caller - step if chance.random() < back else caller + step
        if 0 < callee < functions:
            arcs[caller, callee] = None
    width = len(EVENTS)

    def filled(row):
        return row + [0] * (width - len(row))

    # From the last function on: what a function costs is shared out among the calls of it. Calls
    # back up cost nothing beside, as inclusive costs of a cycle count once per level.
    callers = {}
    for caller, callee in arcs:
        callers.setdefault(callee, []).append(caller)
    inclusive = [[sum(c) for c in zip(*(filled(row) for _, row in rows))] for rows in own]
    costs = {}
    for callee in range(functions - 1, 0, -1):
        forward = [caller for caller in callers[callee] if caller < callee]
        left = inclusive[callee]
        for place, caller in enumerate(forward, 1):
            part = left if place == len(forward) else [count // 2 for count in left]
            left = [count - taken for count, taken in zip(left, part)]
            costs[caller, callee] = part
            inclusive[caller] = [old + more for old, more in zip(inclusive[caller], part)]
    below = {}
    for caller, callee in arcs:
        below.setdefault(caller, []).append(callee)

    def text(row):
        while row and row[-1] == 0:
            row = row[:-1]
        return " ".join(map(str, row))

    def name(number):
        return f"space{number % 97}::Class{number % 1999}<int, std::allocator<int> >::f{number}(int, char const*)"

    yield f"# callgrind format\nversion: 1\npositions: line\nevents: {' '.join(EVENTS)}\n"
    yield f"summary: {text(inclusive[0])}\n"
    known = set()

    def named(number):
        if number in known:
            return f"({number + 1})"
        known.add(number)
        return f"({number + 1}) {name(number)}"

    for number, rows in enumerate(own):
        yield f"\nob=lib{number % 40}.so\nfl=file{number % 3000}.cc\nfn={named(number)}\n"
        for line, row in rows:
            yield f"{line} {text(row)}\n"
        for callee in below.get(number, ()):
            yield f"cob=lib{callee % 40}.so\ncfi=file{callee % 3000}.cc\ncfn={named(callee)}\n"
            yield f"calls=3 1\n7 {text(costs.get((number, callee), []))}\n"
    yield f"totals: {text(inclusive[0])}\n"


if __name__ == "__main__":
    sys.stdout.writelines(large_profile())
