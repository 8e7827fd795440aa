# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of the ranks of a job, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from operator import add
from typing import NamedTuple

from .profile import CallSite, Function, Part, Profile


# The description of a merged profile that has the number of ranks.
MERGED = "Ranks"
_MOST_DIGITS = 9


def merged_ranks(parts: Sequence[Part]) -> int:
    """The number of ranks that a profile is the sum of; 0 if it was not merged."""
    found = dict(parts[0].descriptions).get(MERGED, "")
    return int(found) if found.isascii() and found.isdigit() and len(found) <= _MOST_DIGITS else 0


class Rank(NamedTuple):
    """A rank. name: its number or its file. host: empty if not known."""

    name: str
    host: str


class Spread(NamedTuple):
    """A count over all ranks. squares: the sum of the squares. least_at, most_at: the index of the first rank with the
    least and with the most."""

    sum: int
    squares: int
    least: int
    least_at: int
    most: int
    most_at: int

    def above_mean(self, ranks: int) -> float:
        """By how much the maximum exceeds the mean."""
        return (self.most * ranks - self.sum) / ranks

    def mean(self, ranks: int) -> float:
        return self.sum / ranks

    def deviation(self, ranks: int) -> float:
        """The standard deviation over all ranks, rounded down to a thousandth."""
        return isqrt(max(0, 1_000_000 * (ranks * self.squares - self.sum * self.sum))) // ranks / 1000


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of a job, with the spreads, by count, of everything that is not the same in all ranks. counts: calls,
    some sums of events, and events."""

    part: Part
    events: tuple[str, ...]
    counts: tuple[str, ...]
    ranks: tuple[Rank, ...]
    totals: tuple[Sequence[int], ...]  # by event, of each rank
    functions: Mapping[Function, Mapping[str, Spread]]  # self costs
    inclusive: Mapping[Function, Mapping[str, Spread]]
    lines: Mapping[tuple[Function, str, int], Mapping[str, Spread]]
    calls: Mapping[CallSite, Mapping[str, Spread]]
    # The self costs of the functions that differ most: for each of the counts `strips`, by rank.
    strips: tuple[str, ...]
    followed: Mapping[Function, tuple[Sequence[int], ...]]


def with_names(ranks: Ranks, name: Callable[[Function], Function]) -> Ranks:
    """The ranks with other names for the functions in `followed`. Functions that get the same name are added up. Those
    with spreads keep their names, as spreads cannot be added up."""
    found: dict[Function, tuple[Sequence[int], ...]] = {}
    for function, columns in ranks.followed.items():
        known = found.get(name(function))
        found[name(function)] = columns if known is None else tuple(
            tuple(map(add, *pair)) for pair in zip(known, columns)
        )
    return replace(ranks, followed=found)


def violation(ranks: Ranks, profile: Profile) -> str | None:
    """The first fact that shows that both are not from the same merge, as a sentence; None if there is none."""
    totals = tuple(sum(column) for column in ranks.totals)
    if ranks.events == profile.events and totals == profile.totals():
        return None
    return f"{ranks.part.source} is of other profiles than {profile.parts[0].source}"
