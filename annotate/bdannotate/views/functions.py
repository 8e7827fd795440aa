# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of functions with their costs, and a sentence on the cycles among them."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.chains import inner_links
from ..analyses.code.columns import CostKind
from ..analyses.code.cycles import origin
from ..analyses.code.report import FunctionRow, Report, numbered
from ..analyses.intervals import of_function
from ..model.graph import Cycle
from ..model.profile import Function
from .costs import NAMES_NEED, cost_cells, cost_headings, cost_table, fitting, name_width
from .intervals import add_column
from .names import fit, fit_all, least_width
from .text import Cell, Page, function_label, shorten_end

_CYCLES_EXPLAINED = 1
# The minimum length of a name that was cut.
_LEGIBLE = 12
# Columns are left out for the last parts of names, up to this length, unless the user asked for the columns.
_MOST_NEEDED = 44


def listed_entries(report: Report, limit: int | None) -> list[FunctionRow]:
    """The rows of the table. limit: the maximum number of rows; None: no limit."""
    listed = [entry for entry in report.entries if not entry.is_cycle]
    if limit is None:
        return listed
    links = inner_links(report)
    return [entry for entry in listed if entry.is_group or entry.function not in links][:limit]


def function_table(report: Report, limit: int | None, page: Page) -> tuple[list[str], int]:
    """The table of functions, and how many functions are not in it. Cycles have no rows, which would hide their
    members."""
    columns, totals = report.selection.columns, report.totals
    entries = listed_entries(report, limit)
    hidden = sum(not entry.is_cycle for entry in report.entries) - len(entries)
    headings = cost_headings(columns, with_sides=True)
    cells = [
        cost_cells(columns, entry.self_cost, entry.inclusive, totals, page) for entry in entries
    ]
    if page.exact:
        cells.append(cost_cells(columns, totals, totals, totals, page))
    profile = report.profile
    if (found := profile.intervals) is not None:
        is_self = columns[0].side is CostKind.SELF
        pairs = [(of_function(found, entry, columns[0]), entry.self_cost if is_self else entry.inclusive)
                 if not entry.is_group else (None, profile.zero) for entry in entries]
        add_column(headings, cells, columns[0], [*pairs, (found.total, totals)])
    names = [page.name(entry.function) for entry in entries if not entry.is_group]
    headings, cells = fitting(
        headings, cells, page,
        least=NAMES_NEED if page.exact else max(
            NAMES_NEED, min(max(map(least_width, names), default=0), _MOST_NEEDED)
        ),
    )
    width = name_width(headings, cells, page)
    numbers = _numbers(report, entries)
    width -= max(map(len, numbers), default=0)
    labels = [entry_label(entry, page, width) for entry in entries]
    cut = [index for index, entry in enumerate(entries) if not entry.is_group and not page.full_names]
    suffixes = [_suffix(entries[index]) for index in cut]
    texts = fit_all([page.name(entries[index].function) for index in cut],
                    [width - len(suffix) for suffix in suffixes])
    for index, text, suffix in zip(cut, texts, suffixes):
        if text != page.name(entries[index].function):
            labels[index] = Cell(text + suffix)
    labels = [label._replace(text=number + label.text) for number, label in zip(numbers, labels)]
    if page.exact:
        labels.append(Cell("PROGRAM TOTALS"))
    lines = cost_table(headings, "function", cells, labels, page)
    return lines + cycle_lines(report, entries, page), hidden


def _numbers(report: Report, entries: Sequence[FunctionRow]) -> list[str]:
    """The numbers before the names, for --function=NUMBER."""
    if not report.selection.has_numbers:
        return [""] * len(entries)
    known = {id(entry): number for number, entry in enumerate(numbered(report.entries), 1)}
    digits = len(str(max((known.get(id(entry), 0) for entry in entries), default=0)))
    return [" " * (digits + 1) if entry.is_group else f"{known[id(entry)]:>{digits}} "
            for entry in entries]


def entry_label(entry: FunctionRow, page: Page, width: int) -> Cell:
    if entry.is_group:
        start = f"<cycle {entry.cycle}> {len(entry.members)} functions: "
        if entry.is_startup:
            number = len(entry.members)
            start = f"(above main: {number} function{'s' if number > 1 else ''}) "
        names = ", ".join(map(page.name, entry.members))
        if entry.is_startup and not page.full_names and len(start + names) > width:
            names = ""  # a part of these names says nothing
        if not page.full_names:
            names = shorten_end(names, max(0, width - len(start)))
        return Cell((start + names).rstrip(), "dim" if entry.is_startup else "cyan")
    return Cell(function_label(entry.function, page, width, _suffix(entry)))


def _suffix(entry: FunctionRow) -> str:
    return f" <cycle {entry.cycle}>" if entry.cycle else ""


def cycle_lines(report: Report, entries: Sequence[FunctionRow], page: Page) -> list[str]:
    numbers = list(dict.fromkeys(entry.cycle for entry in entries if entry.cycle))
    texts = [
        _cycle_text(report, report.graph.cycles[number - 1], page)
        for number in numbers[:_CYCLES_EXPLAINED]
    ]
    return [
        page.paint(shorten_end(text, page.width) if page.cut else text, "cyan") for text in texts
    ]


def _cycle_text(report: Report, cycle: Cycle, page: Page) -> str:
    found = origin(report.graph, cycle)
    size = f"<cycle {cycle.number}>: {len(cycle.members):,} functions"
    plain = f"{size} call each other"
    if found.calls:
        text = f"{plain}, closed by {_calls_text(found.calls, None, page)}"
        if page.cut and len(text) > page.width:
            start = f"{size}, closed by "
            text = start + _calls_text(found.calls, page.width - len(start), page)
        return text
    if found.dispatchers:
        return f"{plain}, mostly through {' and '.join(map(page.name, found.dispatchers))}"
    return plain


def _calls_text(
    calls: Sequence[tuple[Function, Function, int]], width: int | None, page: Page
) -> str:
    """The calls for which there is room with legible names; the first one in any case. width: None: no limit."""
    for shown in range(len(calls), 0, -1):
        chosen = calls[:shown]
        more = ", ..." if shown < len(calls) else ""
        counts = [f" ({count:,}x)" for _, _, count in chosen]
        names = full = [page.name(function) for call in chosen for function in call[:2]]
        if width is not None:
            fixed = len(more) + len(" -> , ") * shown - len(", ") + sum(map(len, counts))
            names = _fitting(full, width - fixed)
        if all(name == whole or len(name) >= _LEGIBLE for name, whole in zip(names, full)):
            break
    pairs = zip(names[::2], names[1::2], counts)
    return ", ".join(f"{caller} -> {callee}{count}" for caller, callee, count in pairs) + more


def _fitting(names: Sequence[str], room: int) -> list[str]:
    """The names in `room` characters together. Short names leave the room that they do not need to others."""
    fitted: dict[int, str] = {}
    for index in sorted(range(len(names)), key=lambda index: len(names[index])):
        fitted[index] = fit(names[index], room // (len(names) - len(fitted)))
        room -= len(fitted[index])
    return [fitted[index] for index in range(len(names))]
