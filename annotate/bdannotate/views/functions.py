# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of functions and cycles with their costs."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.columns import Column
from .costs import cost_cells, cost_headings, cost_table, name_width
from ..model.profile import Row
from ..analyses.report import Entry
from .text import Cell, Page, function_label, printable, shorten_end


def function_table(
    entries: Sequence[Entry], columns: Sequence[Column], totals: Row, page: Page
) -> list[str]:
    headings = cost_headings(columns, with_sides=True)
    cells = [
        cost_cells(columns, entry.self_cost, entry.inclusive, totals, page) for entry in entries
    ]
    width = name_width(headings, cells, page)
    labels = [entry_label(entry, page, width) for entry in entries]
    if page.exact:
        cells.append(cost_cells(columns, totals, totals, totals, page))
        labels.append(Cell("PROGRAM TOTALS"))
    return cost_table(headings, "function", cells, labels, page)


def entry_label(entry: Entry, page: Page, width: int) -> Cell:
    if entry.is_cycle:
        start = f"<cycle {entry.cycle}> {len(entry.members)} functions: "
        names = ", ".join(printable(member.name) for member in entry.members)
        if not page.full_names:
            names = shorten_end(names, max(12, width - len(start)))
        return Cell(start + names, "cyan")
    suffix = f" <cycle {entry.cycle}>" if entry.cycle else ""
    return Cell(function_label(entry.function, page, width, suffix))
