# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of costs that all lists share: of functions, calls, files, lines, instructions."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.columns import Column, CostKind, Form
from ..model.metrics import Number
from ..model.numbers import ratio, seconds_text, share_of
from ..model.profile import Row
from .text import Cell, Page, Table, count, left_width

# From these shares of the total on, a number is worth looking at.
_HOT = 0.10
_WARM = 0.01
_MOSTLY_UNUSED = 0.5
_MIN_NAME_WIDTH = 24
# Columns go rather than names get shorter than this.
NAMES_NEED = 32


def cost_cells(
    columns: Sequence[Column], self_cost: Row | None, inclusive: Row | None, totals: Row, page: Page
) -> list[Cell]:
    """One cell per column, with its share of the total; empty for a side that is not known."""
    return [
        _cell(column, self_cost if column.side is CostKind.SELF else inclusive, totals, page)
        for column in columns
    ]


def _cell(column: Column, row: Row | None, totals: Row, page: Page) -> Cell:
    if row is None:
        return Cell("")
    metric = column.metric
    value = metric.value(row)
    if metric.is_ratio or value is None:
        notable = metric.name.startswith("Unused") and (value or 0) >= _MOSTLY_UNUSED
        return Cell(ratio(metric, value), "yellow" if notable else "")
    total = metric.value(totals) or 0
    # The share of nothing says nothing, and many lines have nothing.
    share = f"{share_of(value, total) if value else '':>6}"
    text = seconds_text(value) if metric.is_time else count(value, page)
    if column.form is Form.COUNT or not page.percents:
        return Cell(text, _heat(value, total))
    if column.form is Form.SHARE:
        return Cell(share, _heat(value, total))
    return Cell(f"{text} {share}", _heat(value, total))


def _heat(value: Number, total: Number) -> str:
    share = value / total if total > 0 else 0.0
    return "red" if share >= _HOT else "" if share >= _WARM else "dim"


def cost_headings(columns: Sequence[Column], with_sides: bool) -> list[list[str]]:
    """What is counted and, unless a list has only one kind, whether self or inclusive."""
    names = [column.metric.heading for column in columns]
    return [names, [column.side.value for column in columns]] if with_sides else [names]


def fitting(
    headings: Sequence[Sequence[str]], cells: Sequence[Sequence[Cell]], page: Page,
    kept: int = 0, least: int = NAMES_NEED,
) -> tuple[list[list[str]], list[list[Cell]]]:
    """Without as many columns as must go to leave room for names: those further right matter less.
    The first stays, and so do as many of the last as `kept` says."""
    count = len(headings[0]) if headings else 0
    use = list(range(count))
    widths = [left_width([[row[i]] for row in cells if row], [[row[i]] for row in headings])
              for i in use]
    while page.cut and len(use) > 1 + kept and page.width - sum(widths[i] for i in use) < least:
        gone = use.pop(-1 - kept)
        page.left_out.update([headings[0][gone]] if headings[0][gone] else [])
    return [[row[i] for i in use] for row in headings], [[row[i] for i in use] for row in cells]


def name_width(
    headings: Sequence[Sequence[str]], cells: Sequence[Sequence[Cell]], page: Page
) -> int:
    """How much of the page is left for a name behind these cells."""
    return max(_MIN_NAME_WIDTH, page.width - left_width(cells, headings))


def cost_table(
    headings: Sequence[Sequence[str]],
    title: str,
    cells: Sequence[Sequence[Cell]],
    labels: Sequence[Cell],
    page: Page,
) -> list[str]:
    """Rows of costs with what they are the costs of; the title stands above the latter."""
    above = [[*row, ""] for row in headings[:-1]]
    above += [[*row, title] for row in headings[-1:]]
    return Table(above, [[*row, label] for row, label in zip(cells, labels)]).lines(page)
