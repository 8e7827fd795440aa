# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts that follow the numbers of a sampled profile: how far they may be off."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.columns import Column
from ..analyses.intervals import half_width
from ..model.metrics import Metric
from ..model.profile import Intervals, Row
from .text import Cell

_UNKNOWN = "?"


def estimates(found: Intervals) -> str:
    """A clause on the reliability of a report's numbers."""
    if found.total is None:
        number = "1 burst" if found.bursts == 1 else f"{found.bursts} bursts"
        return f"from {number}: too few to say how far they may be off"
    return f"from {found.bursts} bursts; ± is 95%, ? where that is more than the number"


def plus_minus(metric: Metric, widths: Row | None, row: Row) -> str:
    """How far a metric may be off, such as "±5%"; "?" if that is more than its value, or not known. Empty for a ratio,
    or if the value is 0."""
    value = abs(metric.counter()(row))
    if metric.is_ratio or not value:
        return ""
    width = half_width(metric, widths, row)
    if width is None:
        return _UNKNOWN
    percent = 100 * width / value
    return f"±{percent:.1f}%" if percent < 1 else f"±{percent:.0f}%"


def add_column(
    headings: list[list[str]], cells: list[list[Cell]], column: Column, pairs: Sequence[tuple[Row | None, Row]]
) -> None:
    """Insert a column behind the first one that says how far that may be off. pairs: the widths and costs of each
    row."""
    if column.metric.is_ratio:
        return
    for index, row in enumerate(headings):
        row.insert(1, "" if index else "±")
    for cell_row, (widths, costs) in zip(cells, pairs):
        cell_row.insert(1, Cell(plus_minus(column.metric, widths, costs)))
