# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of the ranks of a job, made up: main calls some functions, which call nothing. All sums hold."""

import random

EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "SpLoss1", "UsByte1")
MAIN = "main"


def rank_costs(seed, functions=6, lines=4):
    """Rows by function and line, and how often functions are called. What most ranks have they have alike; some
    ranks lack some functions."""
    chance = random.Random(seed)
    common = random.Random(7)
    costs, calls = {(MAIN, 1): _row(common)}, {}
    for number in range(functions):
        name = f"f{number}"
        if chance.random() < 0.2:
            continue
        calls[name] = chance.choice((3, 3, 3, 4))
        for line in range(10 * number + 10, 10 * number + 10 + lines):
            alike = _row(common)
            if chance.random() < 0.9:
                costs[name, line] = alike if chance.random() < 0.5 else _row(chance)
        if all(name != owner for owner, _ in costs):
            costs[name, 10 * number + 10] = _row(chance)
    return costs, calls


def _row(chance):
    filled = chance.choice((1, 3, len(EVENTS)))
    return tuple(chance.randrange(10**chance.randrange(1, 12)) for _ in EVENTS[:filled]) + (0,) * (len(EVENTS) - filled)


def added(rows):
    return tuple(map(sum, zip(*rows))) or (0,) * len(EVENTS)


def rank_text(costs, calls, head="", events=EVENTS, pid=1, part=1, command="./job"):
    """events: in which order."""
    def text(row):
        return " ".join(str(row[EVENTS.index(event)]) for event in events)

    lines = [f"version: 1\ncreator: test\npid: {pid}\ncmd: {command}\npart: {part}\n{head}", "positions: line"]
    lines += [f"events: {' '.join(events)}", f"summary: {text(added(costs.values()))}", "ob=job\nfl=job.c"]
    for name in (MAIN, *calls):
        lines.append(f"fn={name}")
        lines += [f"{line} {text(row)}" for (owner, line), row in costs.items() if owner == name]
        for callee, times in calls.items() if name == MAIN else ():
            cost = added(row for (owner, _), row in costs.items() if owner == callee)
            lines.append(f"cfn={callee}\ncalls={times} 1\n2 {text(cost)}")
    return "\n".join([*lines, f"totals: {text(added(costs.values()))}", ""])


def write_job(folder, seeds, with_names=True):
    """A file per rank, named in no order; their paths, by rank."""
    paths = []
    for rank, seed in enumerate(seeds):
        path = folder / (f"out.{(7 * rank + 3) % 101}x" if with_names else f"out.{rank}")
        head = f"desc: Rank: {rank}\ndesc: Host: node{rank // 2}" if with_names else ""
        events = EVENTS if rank % 3 else EVENTS[::-1]
        path.write_text(rank_text(*rank_costs(seed), head, events, pid=rank + 1))
        paths.append(str(path))
    return paths
