# SPDX-License-Identifier: GPL-2.0-or-later
"""The spreads over many profiles, as text."""

from __future__ import annotations

from bdcommon.console import printable

from ..analyses.per_file import PerFile, Spread
from ..model.metrics import Metric, Number
from ..model.numbers import ratio
from .costs import cost_table, fitting, name_width
from .functions import entry_label
from .text import Cell, Page, count, shorten_middle

_SOURCE_WIDTH = 24
# The minimum spread that is red: the profiles differ enough to look for the reason.
_NOTABLE = 0.2


def spread_tables(found: PerFile, page: Page) -> list[tuple[str, list[str]]]:
    """The title and the lines of one table per sort column."""
    return [
        (f"{key.column.name} over {len(found.sources)} profiles", _table(found, index, page))
        for index, key in enumerate(found.selection.keys)
    ]


def _table(found: PerFile, index: int, page: Page) -> list[str]:
    metric = found.selection.keys[index].column.metric
    cells = [_cells(metric, found.total[index], found.sources, page)]
    cells += [
        _cells(metric, spreads[index], found.sources, page) for _, spreads in found.functions
    ]
    headings = [["min", "mean", "max", "spread", "max in"]]
    headings, cells = fitting(headings, cells, page)
    width = name_width(headings, cells, page)
    labels = [Cell("(whole program)")]
    labels += [entry_label(entry, page, width) for entry, _ in found.functions]
    return cost_table(headings, "function", cells, labels, page)


def _cells(
    metric: Metric, found: Spread | None, sources: tuple[str, ...], page: Page
) -> list[Cell]:
    if found is None:
        return [Cell("-")] * 4 + [Cell("")]

    def text(value: Number) -> Cell:
        if metric.is_ratio:
            return Cell(ratio(metric, value))
        return Cell(count(round(value), page))

    source = printable(sources[found.at_maximum])
    return [
        text(found.minimum),
        text(found.mean),
        text(found.maximum),
        Cell(f"{100 * found.spread:.1f}%", "red" if found.spread >= _NOTABLE else ""),
        Cell(source if page.full_names else shorten_middle(source, _SOURCE_WIDTH)),
    ]
