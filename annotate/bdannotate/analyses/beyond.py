# SPDX-License-Identifier: GPL-2.0-or-later
"""Costs whose shares of the total are meaningless: calls that cost more than all functions, as in a file that is cut or
counts recursion at each level; and what can be given back, such as memory."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.metrics import Metric
from ..model.profile import Function, Profile
from .code.columns import CostKind
from .code.report import Report
from .misses.waits import MADE, WAIT

_WHOLE = 1.001


def beyond_total(report: Report) -> tuple[Function, Metric, float] | None:
    """The function with the highest inclusive cost in the first inclusive column, its metric, and the cost as a
    multiple of the total; None if it is no more than the total. Times are not considered: those of calls are averages,
    so they do not add up."""
    metric = next((
        column.metric for column in report.selection.columns
        if column.side is CostKind.INCLUSIVE and not column.metric.is_ratio
        and column.metric.name not in (WAIT, *MADE)
    ), None)
    if metric is None:
        return None
    count = metric.counter()
    total = count(report.totals)
    cost, function = max(
        ((count(costs.inclusive), function) for function, costs in report.graph.functions.items()), default=(0, None)
    )
    if function is None or total <= 0 or cost <= _WHOLE * total:
        return None
    return function, metric, cost / total


def given_back(profiles: Sequence[Profile]) -> list[str]:
    """The events with negative costs, as some code gave back what other code took."""
    least: dict[str, int] = {}
    for profile in profiles:
        for lines in profile.lines.values():
            for event, column in zip(profile.events, zip(*lines.values())):
                least[event] = min(least.get(event, 0), *column, 0)
    return [event for event, cost in least.items() if cost < 0]


def falls(report: Report, metric: Metric) -> bool:
    """Whether the metric, a count, is negative for some code."""
    count = metric.counter()
    return any(count(row) < 0 for lines in report.profile.lines.values() for row in lines.values())
