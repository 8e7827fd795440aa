# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of costs that all lists have: those of functions, calls, files, lines and instructions."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.columns import Column, CostKind, Form
from ..model.metrics import Number
from ..model.numbers import ratio, seconds_text, share_of
from ..model.profile import Row
from .text import Cell, Page, Table, count, left_width

# Numbers with at least the share _HOT of the total are red; those below the share _WARM are dim.
_HOT = 0.10
_WARM = 0.01
_MOSTLY_UNUSED = 0.5  # the minimum share of unused bytes that is yellow
_MIN_NAME_WIDTH = 24
# Columns are left out before names get less room than this.
NAMES_NEED = 32


def cost_cells(
    columns: Sequence[Column], self_cost: Row | None, inclusive: Row | None, totals: Row, page: Page
) -> list[Cell]:
    """One cell per column, with its share of the total. A cell is empty if the costs of its side are None."""
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
    # The share of 0 is left out, as many lines have no costs.
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
    """The headings of columns, with a second line for self or inclusive if `with_sides`."""
    names = [column.metric.heading for column in columns]
    return [names, [column.side.value for column in columns]] if with_sides else [names]


def fitting(
    headings: Sequence[Sequence[str]], cells: Sequence[Sequence[Cell]], page: Page,
    kept: int = 0, least: int = NAMES_NEED,
) -> tuple[list[list[str]], list[list[Cell]]]:
    """The headings and cells without the columns that must go to leave room for names: those further right go first, as
    they matter less. The first column and the last `kept` ones stay. least: the minimum width for names. The headings
    of columns that go are added to page.left_out."""
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
    """The width that is left for a name behind these cells, at least _MIN_NAME_WIDTH."""
    return max(_MIN_NAME_WIDTH, page.width - left_width(cells, headings))


def cost_table(
    headings: Sequence[Sequence[str]],
    title: str,
    cells: Sequence[Sequence[Cell]],
    labels: Sequence[Cell],
    page: Page,
) -> list[str]:
    """A table of costs, with labels that say what has these costs. title: the heading of the labels."""
    above = [[*row, ""] for row in headings[:-1]]
    above += [[*row, title] for row in headings[-1:]]
    return Table(above, [[*row, label] for row, label in zip(cells, labels)]).lines(page)
