# SPDX-License-Identifier: GPL-2.0-or-later
"""The callers (<) and callees (>) of each function (*), and the data that it loaded itself (=)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..analyses.code.columns import Column, CostKind
from ..analyses.code.report import Report, key_limits
from ..analyses.code.tree import Arc, Neighbours, neighbours
from ..analyses.data.loads import Loads
from ..model.profile import Row
from .costs import cost_cells, cost_headings, cost_table, fitting, name_width
from .functions import entry_label
from .objects import short_label
from .text import Cell, Page, function_label

_MARK_WIDTH = 4


def tree_table(
    report: Report, page: Page, callers: bool, callees: bool, loads: Loads | None = None
) -> list[str]:
    """The table of functions with their neighbours. Costs are inclusive, those of the functions and of the calls; only
    those of data are self costs."""
    columns = inclusive_columns(report.selection.columns)
    limits = key_limits(report.selection, report.totals)
    threshold = limits[0][1] if limits else 1
    headings = [[*row, "calls"] for row in cost_headings(columns, with_sides=False)]
    cells: list[list[Cell]] = []
    labels: list[Cell] = []
    blocks = [
        neighbours(report, entry, threshold) for entry in report.entries if not entry.is_startup
    ]
    # The width of labels is what numbers leave, so numbers are made first.
    for block in blocks:
        rows = _block(report, block, columns, page, callers, callees, 0, loads)
        cells += [row for row, _ in rows]
    headings, cells = fitting(headings, cells, page, kept=1)
    width = name_width(headings, cells, page) - _MARK_WIDTH
    for block in blocks:
        rows = _block(report, block, columns, page, callers, callees, width, loads)
        labels += [label for _, label in rows]
    return cost_table(headings, "function", cells[:-1], labels[:-1], page)


def inclusive_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns with inclusive costs, each once."""
    return list(dict.fromkeys(replace(column, side=CostKind.INCLUSIVE) for column in columns))


_Line = tuple[list[Cell], Cell]


def _block(
    report: Report, block: Neighbours, columns: Sequence[Column], page: Page, callers: bool,
    callees: bool, width: int, loads: Loads | None,
) -> list[_Line]:
    def line(cost: Row | None, calls: str, label: Cell) -> _Line:
        return [*cost_cells(columns, None, cost, report.totals, page), Cell(calls)], label

    def arc(mark: str, arc: Arc) -> _Line:
        within = "" if arc.cost and not report.graph.within_cycle(
            entry.function, arc.other
        ) else " <recursion>"
        name = function_label(arc.other, page, width, within)
        return line(arc.cost, f"{arc.calls:,}", Cell(f"{mark} {name}"))

    def hidden(mark: str, count: int, cost: Row) -> list[_Line]:
        return [line(cost, "", Cell(f"{mark} ({count} others)", "dim"))] if count else []

    entry = block.entry
    lines: list[_Line] = []
    if callers:
        lines += hidden("  <", block.hidden_callers, block.hidden_callers_cost)
        lines += [arc("  <", caller) for caller in reversed(block.callers)]
    own = entry_label(entry, page, width)
    lines.append(line(entry.inclusive, f"{entry.calls:,}", Cell(f"* {own.text}", "bold")))
    if callees and (block.callees or block.hidden_callees):
        lines.append(line(entry.self_cost, "", Cell("  > (self)")))
        lines += [arc("  >", callee) for callee in block.callees]
        lines += hidden("  >", block.hidden_callees, block.hidden_callees_cost)
    if loads and not entry.is_group:
        loaded = loads.of_function(entry.function)
        for load in loaded.loads:
            name = short_label(load.label, width, page)
            lines.append(line(load.cost, "", Cell(f"  = {name}", "cyan")))
        lines += hidden("  =", loaded.others, loaded.other_cost)
    lines.append(([Cell("")] * (len(columns) + 1), Cell("")))
    return lines
