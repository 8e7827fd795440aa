# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions with their costs, as text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.code.columns import Column
from ..analyses.code.instructions import FunctionCode
from ..analyses.code.report import Report
from .costs import cost_cells, cost_headings, cost_table, fitting
from .files import self_columns
from .text import Cell, Page, function_label
from .tree import inclusive_columns

_CALLEE_WIDTH = 60


def code_tables(
    codes: Sequence[FunctionCode], report: Report, page: Page
) -> list[tuple[str, list[str]]]:
    """The title and the lines of each function's section."""
    columns = self_columns(report.selection.columns)
    return [
        (
            f"Instructions of {function_label(code.function, page, page.width - 23)}",
            _code_table(code, columns, report, page),
        )
        for code in codes
    ]


def _code_table(
    code: FunctionCode, columns: Sequence[Column], report: Report, page: Page
) -> list[str]:
    cells: list[list[Cell]] = []
    labels: list[Cell] = []
    empty = [Cell("")] * len(columns)
    everything = [line for group in code.groups for line in group]
    digits = max((len(f"{line.address:x}") for line in everything), default=1)
    text_width = min(max((len(line.text) for line in everything), default=0), 44)
    for index, group in enumerate(code.groups):
        if index:
            cells.append(empty)
            labels.append(Cell("...", "dim"))
        for line in group:
            cells.append(cost_cells(columns, line.cost, None, report.totals, page))
            where = "" if line.file == "???" else os.path.basename(printable(line.file))
            where = f"{where}:{line.line}" if line.line else where
            text = f"{line.address:{digits}x}  {printable(line.text):{text_width}}  {where}"
            labels.append(Cell(text.rstrip()))
            for call in line.calls:
                within = "" if call.cost else " <recursion>"
                name = function_label(call.callee, page, _CALLEE_WIDTH, within)
                times = "1 call" if call.calls == 1 else f"{call.calls:,} calls"
                inclusive = inclusive_columns(columns)
                cells.append(cost_cells(inclusive, None, call.cost, report.totals, page))
                labels.append(Cell(f"{'':{digits}}  => {name}  ({times})", "cyan"))
    headings, cells = fitting(cost_headings(columns, with_sides=False), cells, page)
    return cost_table(headings, "address", cells, labels, page)
