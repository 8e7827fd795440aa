# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences between the ranks of a job, and groups of ranks that behave alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from ..model.profile import CallSite, Function
from ..model.ranks import Ranks, Spread

# Two ranks are alike if the differences of their functions' costs add up to at most this share of a rank's average
# cost.
ALIKE = 0.05
# The maximum number of groups. Ranks that fit none of these are ungrouped.
MOST_GROUPS = 16
# The counts to compare: bytes never used, misses of both levels, and estimated cycles. The first known one of each row.
_COMPARED = (("SpLossD1", "SpLoss1"), ("D1m", "L1m"), ("DLm", "LLm"), ("CEst", "Ir"))

_Thing = TypeVar("_Thing")


class Imbalance(NamedTuple, Generic[_Thing]):
    """A function or call, with its costs over the ranks."""

    thing: _Thing
    spread: Spread


@dataclass(frozen=True, slots=True)
class CountOverRanks:
    """A count over the ranks. Functions and calls are sorted by their imbalance, the maximum minus the mean, the
    largest first."""

    name: str
    totals: Sequence[int] | None  # by rank; None: the count is no event
    functions: tuple[Imbalance[Function], ...]  # inclusive
    calls: tuple[Imbalance[CallSite], ...]


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks that behave alike. members: their indices. differs: the function whose self cost is furthest from the mean
    of all ranks, with the means of the group and of all; None if all ranks are in the group or no function differs."""

    members: tuple[int, ...]
    differs: tuple[Function, float, float] | None


@dataclass(frozen=True, slots=True)
class RanksReport:
    """The ranks of a job. groups: by the count `grouped_by`, that of the first rank first. ungrouped: how many ranks
    are in no group. above: functions that only start the program."""

    ranks: Ranks
    counts: tuple[CountOverRanks, ...]
    grouped_by: str
    groups: tuple[RankGroup, ...]
    ungrouped: int
    above: frozenset[Function]


def report_ranks(ranks: Ranks, above: Iterable[Function] = ()) -> RanksReport:
    names = [next((name for name in group if name in ranks.counts), None) for group in _COMPARED]
    compared = tuple(dict.fromkeys(name for name in names if name)) or ranks.events[:1]
    strip = len(ranks.strips) - 1
    functions = sorted(ranks.followed)
    rows = list(zip(*(ranks.followed[function][strip] for function in functions))) or [()] * len(ranks.ranks)
    groups = tuple(_group(members, rows, functions) for members in _grouped(rows))
    return RanksReport(
        ranks, tuple(_count(ranks, name) for name in compared), ranks.strips[strip] if ranks.strips else "", groups,
        len(rows) - sum(len(group.members) for group in groups), frozenset(above),
    )


def _count(ranks: Ranks, name: str) -> CountOverRanks:
    totals = None
    if name in ranks.events:
        totals = ranks.totals[ranks.events.index(name)]
    number = len(ranks.ranks)
    return CountOverRanks(
        name, totals, _by_imbalance(ranks.inclusive, name, number), _by_imbalance(ranks.calls, name, number)
    )


def _by_imbalance(
    spreads: Mapping[_Thing, Mapping[str, Spread]], name: str, ranks: int
) -> tuple[Imbalance[_Thing], ...]:
    """The things that have this count, by imbalance. Equal ones keep the order of the file, which is that of names."""
    found = [Imbalance(thing, counts[name]) for thing, counts in spreads.items() if name in counts]
    found.sort(key=lambda one: one.spread.sum - one.spread.most * ranks)
    return tuple(found)


def _grouped(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The groups of ranks. Each rank joins the first group whose first member it is like, or founds a new one. rows:
    the costs of functions, by rank."""
    mean = sum(sum(row) for row in rows) / len(rows)
    found: list[list[int]] = []
    for rank, row in enumerate(rows):
        for group in found:
            if sum(abs(mine - other) for mine, other in zip(row, rows[group[0]])) <= ALIKE * mean:
                group.append(rank)
                break
        else:
            if len(found) < MOST_GROUPS:
                found.append([rank])
    return found


def _group(members: list[int], rows: Sequence[Sequence[int]], functions: Sequence[Function]) -> RankGroup:
    here = [sum(rows[rank][place] for rank in members) / len(members) for place in range(len(functions))]
    everywhere = [sum(row[place] for row in rows) / len(rows) for place in range(len(functions))]
    away = [abs(mine - mean) for mine, mean in zip(here, everywhere)]
    if len(members) == len(rows) or not any(away):
        return RankGroup(tuple(members), None)
    place = away.index(max(away))
    return RankGroup(tuple(members), (functions[place], here[place], everywhere[place]))
