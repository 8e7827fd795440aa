# SPDX-License-Identifier: GPL-2.0-or-later
"""Annotated source as text, with a summary."""

from __future__ import annotations

from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.code.columns import Column
from ..analyses.code.report import Report
from ..analyses.code.source import Annotation, Category, Line, SourceFile
from ..analyses.data.loads import Loads
from ..model.profile import Row
from .costs import NAMES_NEED, cost_cells, cost_headings, cost_table, fitting
from .files import self_columns
from .objects import short_label
from .text import Cell, Page, function_label
from .tree import inclusive_columns

_CALLEE_WIDTH = 60
# The number of blanks for a tab. More would move code off a narrow page.
TAB = 2
# Columns are left out before source lines get less room than this.
_CODE_NEEDS = 60
_NEWER = "This file is newer than the profile: costs may stand beside the wrong lines."
OUTSIDE = "Not read: it is outside the current folder, those of -I, and /usr."


def source_tables(
    annotation: Annotation, report: Report, page: Page, loads: Loads | None = None
) -> list[tuple[str, list[str]]]:
    """The titles and lines of the sections: one for each file, and the summary."""
    columns = self_columns(report.selection.columns)
    sections = [
        (f"Source: {printable(file.name)}", _file_table(file, columns, report, page, loads))
        for file in annotation.files
    ]
    sections.append(("Annotated source, summary", _summary(annotation, columns, report, page)))
    return sections


def _file_table(
    file: SourceFile, columns: Sequence[Column], report: Report, page: Page, loads: Loads | None
) -> list[str]:
    cells: list[list[Cell]] = []
    labels: list[Cell] = []
    digits = max((len(str(line.number)) for group in file.groups for line in group), default=1)

    def add(cost: Row | None, label: Cell, is_call: bool = False) -> None:
        own, inclusive = (None, cost) if is_call else (cost, None)
        shown = inclusive_columns(columns) if is_call else columns
        cells.append(cost_cells(shown, own, inclusive, report.totals, page))
        labels.append(label)

    def add_line(line: Line, text: str) -> None:
        add(line.cost, Cell(f"{line.number:>{digits}}  {text}".rstrip()))
        for call in line.calls:
            within = "" if call.cost else " <recursion>"
            name = function_label(call.callee, page, _CALLEE_WIDTH, within)
            times = "1 call" if call.calls == 1 else f"{call.calls:,} calls"
            add(call.cost, Cell(f"{'':>{digits}}  => {name}  ({times})", "cyan"), True)
        if loads:
            loaded = loads.of_line(file.name, line.number)
            for load in loaded.loads:
                data = short_label(load.label, _CALLEE_WIDTH, page)
                add(load.cost, Cell(f"{'':>{digits}}  = {data}", "cyan"))
            if loaded.others:
                add(loaded.other_cost, Cell(f"{'':>{digits}}  = ({loaded.others} others)", "dim"))

    for line in file.beyond:
        what = "line unknown" if line.number == 0 else "past the end of the file"
        add_line(line, f"<{what}>")
    for index, group in enumerate(file.groups):
        if index or file.beyond or group[0].number > 1:
            add(None, Cell(f"{'':>{digits}}  ...", "dim"))
        for line in group:
            add_line(line, printable(line.text.expandtabs(TAB)))

    lines = [f"from {printable(file.path)}", ""] if file.path != file.name else []
    warnings = [_NEWER] if file.is_newer else []
    warnings += [OUTSIDE] if file.is_outside else []
    for warning in warnings:
        lines = [page.paint(warning, "yellow"), "", *lines]
    longest = max((len(label.text) for label in labels), default=0)
    headings, cells = fitting(
        cost_headings(columns, with_sides=False), cells, page,
        least=max(min(longest, _CODE_NEEDS), NAMES_NEED),
    )
    return lines + cost_table(headings, "line", cells, labels, page)


def _summary(
    annotation: Annotation, columns: Sequence[Column], report: Report, page: Page
) -> list[str]:
    cells: list[list[Cell]] = []
    labels: list[Cell] = []
    for category in Category:
        row = annotation.summary[category]
        if any(row):
            cells.append(cost_cells(columns, row, None, report.totals, page))
            labels.append(Cell(category.value))
        if category is Category.UNREADABLE:
            for name, reason, cost in annotation.unreadable:
                cells.append(cost_cells(columns, cost, None, report.totals, page))
                labels.append(Cell(f"    {printable(name)}: {reason}", "dim"))
    headings, cells = fitting(cost_headings(columns, with_sides=False), cells, page)
    return cost_table(headings, "where", cells, labels, page)
