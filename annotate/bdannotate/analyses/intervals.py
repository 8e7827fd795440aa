# SPDX-License-Identifier: GPL-2.0-or-later
"""The half widths of the intervals that contain a sampled profile's true numbers, with 95 % certainty."""

from __future__ import annotations

from ..model.metrics import Metric
from ..model.profile import Intervals, Place, Row, add_rows, sum_rows
from .code.columns import Column, CostKind
from .code.report import FunctionRow, Report
from .top_lines import TopLine


def half_width(metric: Metric, widths: Row | None, row: Row) -> int | None:
    """By how much the metric of `row` may be off, in its own unit; for a weighted sum of events, the weighted sum of
    their widths. None for a ratio, if nothing is known, or if that is more than the metric's value."""
    if metric.is_ratio or widths is None:
        return None
    width = sum(abs(weight) * one for weight, one in zip(metric.numerator, widths))
    value = metric.counter()(row)
    return width if width <= abs(value) else None


def known_widths(widths: Row | None, row: Row) -> list[int | None] | None:
    """The widths by event; None for an event that may be off by more than its count. None if nothing is known."""
    if widths is None:
        return None
    return [width if width <= abs(count) else None for width, count in zip(widths, row)]


def of_function(found: Intervals, entry: FunctionRow, column: Column) -> Row | None:
    """The widths of a function's costs, on the side that the column shows; None if not known."""
    side = found.own if column.side is CostKind.SELF else found.inclusive
    return side.get(entry.function)


def of_line(found: Intervals, report: Report, at: TopLine) -> Row | None:
    """The widths of a line, which may be of several functions, or of a function without lines. None if not known, or if
    its cost is not just what these functions counted there."""
    profile, line = report.profile, at.line
    if not line:
        function = at.functions[0]
        return found.own.get(function) if report.graph.functions[function].self_cost == at.cost else None
    places = [Place(function, at.file) for function in at.functions]
    rows = {place: profile.lines[place][line] for place in places if line in profile.lines.get(place, {})}
    known = {place: found.lines[place][line] for place in rows if line in found.lines.get(place, {})}
    if not known or sum_rows(rows.values(), len(profile.events)) != at.cost:
        return None
    total = profile.zero
    for place, row in rows.items():
        total = add_rows(total, known.get(place, row))
    return total
