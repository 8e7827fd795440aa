# SPDX-License-Identifier: GPL-2.0-or-later
"""The lists by file (<) and by function (>), with running shares."""

from __future__ import annotations

from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.code.columns import Column, CostKind
from ..analyses.code.files import FileGroup
from ..analyses.code.report import Report
from ..model.profile import Row
from .costs import cost_cells, cost_headings, cost_table, fitting, name_width
from .text import Cell, Page, shorten_middle


def group_table(
    groups: Sequence[FileGroup], mark: str, title: str, report: Report, page: Page
) -> list[str]:
    """The table of a list. mark: the character before each group."""
    columns = self_columns(report.selection.columns)
    headings = [["running", *row] for row in cost_headings(columns, with_sides=False)]
    cells: list[list[Cell]] = []
    names: list[tuple[str, str]] = []  # an indentation, and a name that may be shortened

    def add(running: str, cost: Row | None, start: str, name: str = "") -> None:
        cells.append([Cell(running), *cost_cells(columns, cost, None, report.totals, page)])
        names.append((start, printable(name)))

    is_sum = not report.selection.keys[0].column.metric.is_ratio
    for group in groups:
        running = f"{100 * group.running_share:.1f}%" if is_sum else ""
        if group.has_one_item:
            add(running, group.cost, f"{mark} ", f"{group.name}:{group.items[0].name}")
            continue
        add(running, group.cost, f"{mark} ", group.name)
        for item in group.items:
            add("", item.cost, "    ", item.name)
        if group.hidden:
            add("", None, f"    ({group.hidden} others)")
    headings, cells = fitting(headings, cells, page)
    width = name_width(headings, cells, page)
    labels = [
        Cell(start + (name if page.full_names else shorten_middle(name, width - len(start))))
        for start, name in names
    ]
    return cost_table(headings, title, cells, labels, page)


def self_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns with self costs, each once."""
    return list(dict.fromkeys(Column(column.metric, CostKind.SELF, column.form) for column in columns))
