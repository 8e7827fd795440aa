# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of functions with their costs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .columns import Column
from .model import Function, Row
from .report import Entry
from .text import Table, percent, printable, ratio, short_count, shorten_middle


def function_table(
    entries: Sequence[Entry], columns: Sequence[Column], totals: Row, width: int, exact: bool
) -> list[str]:
    headings = [
        [column.metric.heading for column in columns] + [""],
        [column.side.value for column in columns] + ["function"],
    ]
    cells = [[_cell(entry, column, totals, exact) for column in columns] for entry in entries]
    taken = sum(
        2 + max(len(row[index]) for row in [*headings, *cells]) for index in range(len(columns))
    )
    rows = [row + [label(entry, max(20, width - taken))] for entry, row in zip(entries, cells)]
    return Table(headings, rows).lines()


def _cell(entry: Entry, column: Column, totals: Row, exact: bool) -> str:
    value = entry.value(column)
    if column.metric.is_ratio or value is None:
        return ratio(column.metric, value)
    share = percent(value, column.metric.value(totals) or 0)
    return f"{f'{value:,}' if exact else short_count(value)} {share:>6}"


def label(entry: Entry, width: int) -> str:
    if entry.cycle_size:
        text = f"<cycle {entry.cycle}> {entry.cycle_size} functions, "
        return text + shorten_middle(printable(entry.function.name), max(10, width - len(text)))
    suffix = f" <cycle {entry.cycle}>" if entry.cycle else ""
    return function_label(entry.function, width - len(suffix)) + suffix


def function_label(function: Function, width: int) -> str:
    """The name, and where it is as far as there is room."""
    name = printable(function.name)
    file = "" if function.file in ("", "???") else os.path.basename(printable(function.file))
    module = os.path.basename(printable(function.object)).replace("???", "")
    for where in (f"{file} [{module}]" if file and module else "", file, f"[{module}]" if module else ""):
        if where and len(name) + 2 + len(where) <= width:
            return f"{name}  {where}"
    return shorten_middle(name, width)
