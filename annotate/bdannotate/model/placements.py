# SPDX-License-Identifier: GPL-2.0-or-later
"""How far misses depend on where pages lie in memory, and those of D1 on where the stack begins, by --placements=N:
docs/machines.md.

A run has N placements at random, the first of which is the one that is profiled. Of two runs on a real machine, each
has a placement of its own. So by 95 % they differ by less than t s √2, where s is the standard deviation of the N
placements, and t Student's quantile of 97.5 % with N - 1 degrees of freedom.

What depends on neither is the same in all placements, and nothing is said of events that were not counted in each of
them: a metric has a spread only if it is a sum of events of both kinds that are known. Profiles of older versions have
D1's misses of one stack only.

The estimated time has a spread, too: waits for lines from memory are taken to be as many times as long as there are
misses of data in LL, other waits as misses of D1, and the rest to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from .metrics import TIME_MEMORY, TIME_WAIT, TIMES, Metric
from .profile import Part, Profile

# The descriptions: how many there are, with their seeds; and the counts of each, of an event.
PLACEMENTS = "Placements"
_OF_EVENT = "Placements of "
_NUMBER = re.compile(r"(\d{1,2}), seeds (\d{1,20}) to (\d{1,20})", re.ASCII)
_COUNTS = re.compile(r"\d{1,20}(?: \d{1,20}){1,31}", re.ASCII)

# The events that do not depend on pages, and those of D1 that may be known for one stack only. (There are more of
# these, but no metric adds them to misses of L2 or LL.)
_OF_FIRST_LEVEL = frozenset({"Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw"})

# What the estimated time is taken to depend on: misses of data, from memory and from elsewhere.
_FROM_MEMORY = ("DLmr", "DLmw")
_FROM_CACHES = ("D1mr", "D1mw")

# Student's quantiles of 97.5 %, by degrees of freedom from 1 to 31.
_QUANTILES = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042, 2.040,
)

Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placements:
    """seeds: the first and the last. processes: for each process, the counts of its placements by event; those of the
    same process add up, part by part."""

    number: int
    seeds: tuple[str, str]
    processes: tuple[Mapping[str, Counts], ...]

    def has(self, event: str) -> bool:
        """Whether an event was counted in each placement of each process."""
        return all(event in counts for counts in self.processes)

    def what(self) -> str:
        """What differs between placements."""
        return "pages and stacks" if self.has("D1mr") else "pages"


@dataclass(frozen=True, slots=True)
class Spread:
    """What a metric is in all placements. width: two runs differ by less, by 95 %."""

    mean: float
    deviation: float
    least: int
    most: int
    width: float


def is_of_placements(name: str) -> bool:
    """Whether a description is about placements."""
    return name == PLACEMENTS or name.startswith(_OF_EVENT)


def is_of_event(name: str) -> bool:
    """Whether a description has the counts of an event."""
    return name.startswith(_OF_EVENT)


def placements_of(profile: Profile) -> Placements | None:
    """The placements of a profile; None unless all of its parts have them, equally many."""
    number = 0
    seeds = ("", "")
    processes: dict[str, dict[str, Counts]] = {}
    for part in profile.parts:
        found = _NUMBER.fullmatch(dict(part.descriptions).get(PLACEMENTS, ""))
        counts = _counts(part)
        if found is None or not counts or {len(row) for row in counts.values()} != {int(found[1])}:
            return None
        known = processes.setdefault(part.pid, {})
        if number not in (0, int(found[1])) or known and known.keys() != counts.keys():
            return None
        number, seeds = int(found[1]), (found[2], found[3])
        for event, row in counts.items():
            known[event] = tuple(map(sum, zip(known.get(event, (0,) * number), row)))
    return Placements(number, seeds, tuple(processes.values()))


def _counts(part: Part) -> dict[str, Counts]:
    """The counts by event."""
    return {
        name.removeprefix(_OF_EVENT): tuple(map(int, text.split()))
        for name, text in part.descriptions
        if name.startswith(_OF_EVENT) and _COUNTS.fullmatch(text)
    }


def spread_of(found: Placements | None, metric: Metric, profile: Profile) -> Spread | None:
    """The spread of a metric's total; None if it is the same in all placements, or if that is not known."""
    if found is None or metric.is_ratio:
        return None
    totals = dict(zip(profile.events, profile.totals()))
    weights = _weights(metric, profile.events, totals)
    depends = {event for event in weights if found.has(event)}
    if not depends or weights.keys() - depends - _OF_FIRST_LEVEL:
        return None
    constant = metric.counter()(profile.totals()) - sum(weights[event] * totals[event] for event in depends)
    # The sums of each process; pages of one process lie where they do whatever those of another one do.
    values = [
        [sum(weights[event] * counts[event][i] for event in depends) for i in range(found.number)]
        for counts in found.processes
    ]
    variance = sum(_variance(row) for row in values)
    return Spread(
        constant + sum(sum(row) for row in values) / found.number,
        sqrt(variance),
        round(constant + sum(min(row) for row in values)),
        round(constant + sum(max(row) for row in values)),
        _QUANTILES[found.number - 2] * sqrt(2 * variance),
    )


def _weights(metric: Metric, events: Sequence[str], totals: Mapping[str, int]) -> dict[str, float]:
    """By how much a metric grows with each event that it depends on; empty if that is not known."""
    if not metric.is_time:
        return {event: weight for event, weight in zip(events, metric.numerator) if weight}
    if metric.name != TIMES[0] or not {TIME_WAIT, TIME_MEMORY, *_FROM_MEMORY, *_FROM_CACHES} <= totals.keys():
        return {}
    memory = totals[TIME_MEMORY]
    weights: dict[str, float] = {}
    for names, time in ((_FROM_MEMORY, memory), (_FROM_CACHES, totals[TIME_WAIT] - memory)):
        misses = sum(totals[event] for event in names)
        weights |= {event: time / misses for event in names if misses}
    return weights


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def width_of_change(before: Spread, after: Spread) -> float:
    """By how much two runs differ, at most (95 %), one of either program: half of the variance is that of each."""
    return sqrt((before.width**2 + after.width**2) / 2)


def width_of(before: Profile, after: Profile, old: Metric, new: Metric) -> float | None:
    """By how much a total may change because of another placement; None if not known. old, new: the metric of either
    profile."""
    spreads = (
        spread_of(placements_of(before), old, before), spread_of(placements_of(after), new, after)
    )
    return None if spreads[0] is None or spreads[1] is None else width_of_change(spreads[0], spreads[1])


def lies_elsewhere(before: Profile, after: Profile) -> str:
    """What makes runs of two profiles with placements differ."""
    found = placements_of(before), placements_of(after)
    whats = {each.what() for each in found if each is not None}
    return f"{min(whats, default='pages')} that lie elsewhere"


def first_violation(profile: Profile) -> str | None:
    """A sentence on the first placement, which is the one that is profiled, if it has other counts than the part."""
    for part in profile.parts:
        for event, row in _counts(part).items():
            if event in profile.events and row[0] != (found := part.sums[profile.events.index(event)]):
                return (
                    f"{part.source}: the first placement has {event} {row[0]:,}, but the costs add up to {found:,}"
                )
    return None
