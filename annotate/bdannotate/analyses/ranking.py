# SPDX-License-Identifier: GPL-2.0-or-later
"""The metric that lists and hints are ranked by: the one that the user chose or, if none, that of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..model.metrics import TIMES, Metric, metrics_of
from ..model.profile import Profile, Row
from .code.columns import Column, SortKey, with_keys_first
from .code.report import Report, Selection
from .data.data_use import data_loss
from .misses.verdict import First, verdict
from .misses.waits import FIRST_TOUCHES, IN_ORDER, OUT_OF_ORDER


@dataclass(frozen=True, slots=True)
class Ranking:
    """by: the metric to rank by. then_by: a second one, which counts where the first says little; None: there is none.
    is_chosen: whether the user chose the first."""

    by: Metric
    then_by: Metric | None
    is_chosen: bool


def ranking(report: Report) -> Ranking | None:
    """The ranking of a report; None if it is sorted by a ratio and the use of data is not known."""
    loss = data_loss(report.metrics)
    key = report.selection.keys[0].column.metric
    is_sorted = report.selection.is_sorted
    if not loss or (is_sorted and not (key.is_ratio or key.name == loss.name)):
        return None if key.is_ratio else Ranking(key, loss, is_sorted)
    misses = _misses(report.profile, report.metrics, report.totals)
    if misses:
        return Ranking(misses, loss, False)
    return Ranking(loss, report.metrics.get("DLm"), False)


def by_verdict(selection: Selection, profile: Profile) -> Selection:
    """The selection, sorted by the misses that the verdict is about, if it is about misses and the user did not choose
    a sort key. Profiles without the use of data keep their usual order."""
    metrics = metrics_of(profile)
    if selection.is_sorted or data_loss(metrics) is None:
        return selection
    misses = _misses(profile, metrics, profile.totals())
    if misses is None:
        return selection
    keys = (SortKey(Column(misses, selection.keys[0].column.side), None),)
    return replace(selection, keys=keys, columns=tuple(with_keys_first(selection.columns, keys)))


_WAITS = {First.OUT_OF_ORDER: OUT_OF_ORDER, First.IN_ORDER: IN_ORDER, First.FIRST_TOUCHES: FIRST_TOUCHES}


def _misses(profile: Profile, metrics: Mapping[str, Metric], totals: Row) -> Metric | None:
    """The metric of the data misses that the verdict is about, or of what they cost if that is known. None if it is
    about bytes never used, about code or about instructions."""
    found = verdict(profile, metrics, totals)
    if found is None:
        return None
    if found.waits is not None:
        return metrics.get(_WAITS.get(found.first, TIMES[0]))
    if found.first in (First.LAST_LEVEL, First.FIRST_TOUCHES):
        return metrics.get("DLm")
    return metrics.get("D1m") if found.first is First.L1_DATA and found.wasted is None else None


def most_saved(report: Report) -> Callable[[Row], float] | None:
    """A function that returns the share of the estimated cycles, from 0 to 1, that could be saved in a row at most:
    what its bytes never used cost or, if the verdict is about misses as such, what these cost without first touches.
    None if the profile lacks events that this needs."""
    found = verdict(report.profile, report.metrics, report.totals)
    if found is None:
        return None
    metrics = report.metrics
    if found.waits is not None:
        return _waits(report, found.cycles)
    first, last = metrics["D1m"].counter(), metrics["DLm"].counter()
    unused = tuple(
        next((metrics[name] for name in names if name in metrics), None)
        for names in (("UnusedD1", "Unused1"), ("UnusedDL", "Unused2"))
    )
    is_of_misses = found.wasted is None and found.first is not First.INSTRUCTIONS
    avoidable = 1 - found.first_touches / found.last_level if found.last_level else 1.0
    for_first, for_last = found.factors[1], found.factors[-1]
    cycles = found.cycles

    def part(metric: Metric | None, row: Row) -> float:
        return (metric.value(row) or 0.0) if metric else 1.0

    def saved(row: Row) -> float:
        if is_of_misses:
            cost = for_first * first(row) + for_last * avoidable * last(row)
        else:
            cost = for_first * first(row) * part(unused[0], row) + for_last * last(row) * part(unused[1], row)
        return min(cost / cycles, 1.0)

    return saved


def _waits(report: Report, cycles: int) -> Callable[[Row], float]:
    """The same for a report with waits: all waits but those for first touches."""
    counters = [report.metrics[name].counter() for name in (IN_ORDER, OUT_OF_ORDER)]
    return lambda row: min(sum(count(row) for count in counters) / cycles, 1.0)
