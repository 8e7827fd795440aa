# SPDX-License-Identifier: GPL-2.0-or-later
"""From samples to ratios. Ratios are taken within a round, between neighbours in time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bdbench.model import Campaign, Metric, Sample


@dataclass(frozen=True, slots=True)
class Spread:
    """Several measurements of one thing."""

    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Question:
    """A target: a ratio's geometric mean, and where one is set, its value for each program."""

    text: str
    metric: Metric
    of: str
    to: str
    target: float
    target_each: float | None = None


QUESTIONS = (
    Question("one thread, against the peer", Metric.CPU, "bdgrind", "callgrind-cacheuse", 0.3, 0.5),
    Question("one thread, against calls only", Metric.CPU, "bdgrind", "callgrind", 1.0),
    Question(
        "two threads, against the peer", Metric.WALL, "bdgrind-thread", "callgrind-cacheuse", 0.2
    ),
    Question("two threads, against the floor", Metric.WALL, "bdgrind-thread", "none", 2.3),
    Question("calls only, against calls only", Metric.CPU, "bdgrind-nocache", "callgrind", 0.6),
    Question("what jumps for loops cost", Metric.CPU, "bdgrind-structure", "bdgrind", 1.1),
    Question("what the context tree costs", Metric.CPU, "bdgrind-tree", "bdgrind", 1.1),
    Question("what data objects cost", Metric.CPU, "bdgrind-objects", "bdgrind", 1.1),
    Question("what causes of misses cost", Metric.CPU, "bdgrind-causes", "bdgrind", 1.12),
    Question("what all of --why=yes costs", Metric.CPU, "bdgrind-why", "bdgrind", 1.3),
    Question("one thread, against the peer", Metric.MEMORY, "bdgrind", "callgrind-cacheuse", 1.2),
    Question(
        "two threads, against the peer", Metric.MEMORY, "bdgrind-thread", "callgrind-cacheuse", 1.2
    ),
    Question("what all of --why=yes needs", Metric.MEMORY, "bdgrind-why", "bdgrind", 1.3),
)


def spread(values: Sequence[float]) -> Spread | None:
    """None without values."""
    if not values:
        return None
    return Spread(min(values), statistics.median(values), max(values))


def geometric_mean(values: Iterable[float]) -> float:
    """The mean for ratios: that of a/b is one over that of b/a."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


class Summary:
    """The good samples of a campaign, by guest, variant and round."""

    def __init__(self, campaign: Campaign) -> None:
        self._guests = campaign.guests
        self._rounds = range(campaign.rounds)
        self._samples: dict[tuple[str, str, int], Sample] = {
            (sample.guest, sample.variant, sample.round): sample
            for sample in campaign.samples
            if not sample.failure
        }

    def values(self, guest: str, variant: str, metric: Metric) -> Spread | None:
        """A variant's own figures for a guest."""
        found = (self._samples.get((guest, variant, number)) for number in self._rounds)
        return spread([sample.value(metric) for sample in found if sample])

    def ratio(self, guest: str, of: str, to: str, metric: Metric) -> Spread | None:
        """How `of` relates to `to` on one guest, over all rounds that have both."""
        return spread(list(self._round_ratios(guest, of, to, metric).values()))

    def mean_ratio(self, of: str, to: str, metric: Metric) -> Spread | None:
        """The geometric mean over the guests, in each round that has every guest.

        A guest that failed throughout is left out. Without a complete round the spread is that
        of nothing: the mean of the medians.
        """
        by_guest = {g: self._round_ratios(g, of, to, metric) for g in self._guests}
        present = [ratios for ratios in by_guest.values() if ratios]
        if not present:
            return None
        complete = [
            geometric_mean(ratios[number] for ratios in present)
            for number in self._rounds
            if all(number in ratios for ratios in present)
        ]
        medians = (statistics.median(ratios.values()) for ratios in present)
        return spread(complete or [geometric_mean(medians)])

    def worst_ratio(self, of: str, to: str, metric: Metric) -> tuple[str, float] | None:
        """The guest with the highest median ratio."""
        ratios = {guest: self.ratio(guest, of, to, metric) for guest in self._guests}
        medians = {guest: ratio.median for guest, ratio in ratios.items() if ratio}
        return max(medians.items(), key=lambda item: item[1]) if medians else None

    def _round_ratios(self, guest: str, of: str, to: str, metric: Metric) -> dict[int, float]:
        ratios = {}
        for number in self._rounds:
            above = self._samples.get((guest, of, number))
            below = self._samples.get((guest, to, number))
            if above and below and below.value(metric) > 0 and above.value(metric) > 0:
                ratios[number] = above.value(metric) / below.value(metric)
        return ratios
