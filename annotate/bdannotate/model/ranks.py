# SPDX-License-Identifier: GPL-2.0-or-later
"""What ranks of a job cost beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from operator import add
from typing import NamedTuple

from .profile import CallSite, Function, Part, Profile


# What a merged profile describes.
MERGED = "Ranks"
_MOST_DIGITS = 9


def merged_ranks(parts: Sequence[Part]) -> int:
    """Of how many ranks a profile is the sum; 0 if it has not been merged."""
    found = dict(parts[0].descriptions).get(MERGED, "")
    return int(found) if found.isascii() and found.isdigit() and len(found) <= _MOST_DIGITS else 0


class Rank(NamedTuple):
    """name: its number, or its file; host: empty if that is not known."""

    name: str
    host: str


class Spread(NamedTuple):
    """Of a count over all ranks; the ranks with the least and the most, by their place, the first ones of several."""

    sum: int
    squares: int
    least: int
    least_at: int
    most: int
    most_at: int

    def above_mean(self, ranks: int) -> float:
        """What the rank with the most has more than ranks on average."""
        return (self.most * ranks - self.sum) / ranks

    def mean(self, ranks: int) -> float:
        return self.sum / ranks

    def deviation(self, ranks: int) -> float:
        """The standard deviation of all ranks, to a thousandth."""
        return isqrt(max(0, 1_000_000 * (ranks * self.squares - self.sum * self.sum))) // ranks / 1000


@dataclass(frozen=True, slots=True)
class Ranks:
    """Spreads by count, of what is not the same in all ranks. counts are calls, some sums of events, and events."""

    part: Part
    events: tuple[str, ...]
    counts: tuple[str, ...]
    ranks: tuple[Rank, ...]
    totals: tuple[Sequence[int], ...]  # by event, of each rank
    functions: Mapping[Function, Mapping[str, Spread]]  # their own costs
    inclusive: Mapping[Function, Mapping[str, Spread]]
    lines: Mapping[tuple[Function, str, int], Mapping[str, Spread]]
    calls: Mapping[CallSite, Mapping[str, Spread]]
    # What the functions that differ most cost themselves: for each of these counts, of each rank.
    strips: tuple[str, ...]
    followed: Mapping[Function, tuple[Sequence[int], ...]]


def with_names(ranks: Ranks, name: Callable[[Function], Function]) -> Ranks:
    """With other names of the functions that are known in each rank; those that get the same one are one. Spreads keep
    theirs: those of two functions cannot be added up."""
    found: dict[Function, tuple[Sequence[int], ...]] = {}
    for function, columns in ranks.followed.items():
        known = found.get(name(function))
        found[name(function)] = columns if known is None else tuple(
            tuple(map(add, *pair)) for pair in zip(known, columns)
        )
    return replace(ranks, followed=found)


def violation(ranks: Ranks, profile: Profile) -> str | None:
    """The first thing by which they cannot be of the same merge, as a sentence."""
    totals = tuple(sum(column) for column in ranks.totals)
    if ranks.events == profile.events and totals == profile.totals():
        return None
    return f"{ranks.part.source} is of other profiles than {profile.parts[0].source}"
