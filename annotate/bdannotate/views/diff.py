# SPDX-License-Identifier: GPL-2.0-or-later
"""A diff as text: totals, functions and calls, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bdcommon.console import printable

from ..analyses.code.columns import Column
from ..analyses.comparison.diff import CallChange, Diff, difference
from ..model.metrics import Metric, Number
from ..model.numbers import percent, ratio, signed
from ..model.profile import Row
from .costs import cost_table, fitting, name_width
from .functions import entry_label
from .headers import pairs, source_text
from .names import fit
from .text import Cell, Page, Table, count
from .tree import inclusive_columns

# The minimum relative change that is shown in colour.
_NOTABLE = 0.05
# Calls show fewer other columns, as two names need room.
_CALL_COLUMNS = 3
_NOTE = 20  # characters of a name in a note


class Sides(NamedTuple):
    """The self and inclusive costs of one thing in one profile."""

    self_cost: Row
    inclusive: Row


def diff_head(diff: Diff, sort: str, page: Page) -> list[str]:
    """The head of a comparison. sort: the sort keys as a text."""
    rows = [
        (name, f"{source_text(profile.parts)}: {profile.parts[0].command}")
        for name, profile in (("Before", diff.before), ("After", diff.after))
    ]
    if diff.matched:
        functions = "1 function" if diff.matched == 1 else f"{diff.matched} functions"
        text = f"{functions} by name only: file or object changed"
        rows.append(("Matched", text))
    if diff.moved_loops:
        loops = "1 loop" if diff.moved_loops == 1 else f"{diff.moved_loops} loops"
        rows.append(("Matched", f"{loops} by their order: lines or files changed"))
    return pairs([*rows, ("Sorted by", f"change of {sort}")], page)


def totals_table(diff: Diff, page: Page) -> list[str]:
    """The totals that changed visibly, in the digits of a share, and how many others changed."""
    rows: list[list[Cell]] = []
    unseen = 0
    for metric in diff.metrics.values():
        if not metric.is_ratio and metric.name not in diff.before.events:
            continue
        before, after = metric.value(diff.before_totals), metric.value(diff.after_totals)
        if before == after:
            continue
        relative = "" if metric.is_ratio else _relative(before, after)
        if _is_unseen(metric, before, after, relative):
            unseen += 1
            continue
        style = _style(metric, before, after)
        rows.append([
            Cell(_text(metric, before, None)),
            Cell(_text(metric, after, None)),
            Cell(_change(metric, before, after, None), style),
            Cell(relative, style),
            Cell(metric.name),
            Cell(printable(metric.title)),
        ])
    if not rows:
        return [f"nothing changed{' by 0.05% or more' if unseen else ''}"]
    headings = [["before", "after", "change", "", "", ""]]
    lines = Table(headings, rows, frozenset({4})).lines(page)
    return [*lines, f"{unseen} more changed by less than 0.05%"] if unseen else lines


def _is_unseen(metric: Metric, before: Number | None, after: Number | None, relative: str) -> bool:
    if metric.is_ratio:
        return _text(metric, before, None) == _text(metric, after, None)
    return relative.strip(" +-") == "0.0%"


def functions_table(diff: Diff, limit: int | None, page: Page) -> tuple[list[str], int]:
    """The table of functions, and how many are not in it. Functions whose costs only moved come last."""
    changes = diff.functions[:limit]
    main, *others = ordered(diff.selection.keys[0].column, diff.selection.columns)
    cells = [
        change_cells(
            main, others, Sides(change.before.self_cost, change.before.inclusive),
            Sides(change.after.self_cost, change.after.inclusive), page,
        )
        for change in changes
    ]
    headings, cells = fitting(change_headings(main, others, with_sides=True), cells, page)
    width = name_width(headings, cells, page)
    moves = diff.summary.moves if diff.summary else ()
    notes = {move.source: f" (now in {fit(page.name(move.target), _NOTE)})" for move in moves}
    notes |= {move.target: f" (from {fit(page.name(move.source), _NOTE)})" for move in moves}
    labels = []
    for change in changes:
        note = "" if change.after.is_group else notes.get(change.after.function, "")
        label = entry_label(change.after, page, max(width - len(note), _NOTE))
        labels.append(Cell(label.text + note, label.style))
    table = cost_table(headings, "function", cells, labels, page)
    return table, len(diff.functions) - len(changes)


def calls_table(diff: Diff, limit: int | None, page: Page) -> tuple[list[str], int]:
    """The table of calls, and how many are not in it."""
    changes = diff.calls[:limit]
    main, *others = inclusive_columns(
        ordered(diff.selection.keys[0].column, diff.selection.columns)
    )
    others = others[:_CALL_COLUMNS]
    cells = [
        [
            *change_cells(
                main, others, Sides(change.before.cost, change.before.cost),
                Sides(change.after.cost, change.after.cost), page,
            ),
            Cell(_calls(change.before.calls, change.after.calls)),
        ]
        for change in changes
    ]
    headings = [[*row, ""] for row in change_headings(main, others, with_sides=False)]
    headings[-1][-1] = "calls"
    headings, cells = fitting(headings, cells, page, kept=1)
    width = name_width(headings, cells, page) - 4
    labels = [Cell(_call(change, page, width)) for change in changes]
    return cost_table(headings, "call", cells, labels, page), len(diff.calls) - len(changes)


def _call(change: CallChange, page: Page, width: int) -> str:
    """The names of a call in `width` characters. A short name leaves its room to the other."""
    caller, callee = page.name(change.caller), page.name(change.callee)
    if not page.full_names:
        half = width // 2
        caller = fit(caller, max(half, width - len(callee)))
        callee = fit(callee, max(half, width - len(caller)))
    return f"{caller} -> {callee}"


def ordered(main: Column, columns: Sequence[Column]) -> list[Column]:
    """The columns with the main one first."""
    return [main, *(column for column in columns if column != main)]


def change_headings(main: Column, others: Sequence[Column], with_sides: bool) -> list[list[str]]:
    """The headings for change_cells(). with_sides: whether they say if costs are self or inclusive."""
    def side(column: Column) -> str:
        return f" {column.side.value}" if with_sides else ""

    first = ["", f"{main.metric.heading}{side(main)}", "", ""]
    first += [column.metric.heading for column in others]
    second = ["before", "after", "change", ""]
    return [first, second + [side(column).strip() for column in others]]


def change_cells(
    main: Column, others: Sequence[Column], before: Sides, after: Sides, page: Page
) -> list[Cell]:
    """The cells of a change: the main column before and after with its change, and the changes of the others."""
    def values(column: Column) -> tuple[Number | None, Number | None]:
        return column.value(*before), column.value(*after)

    old, new = values(main)
    style = _style(main.metric, old, new)
    cells = [
        Cell(_text(main.metric, old, page)),
        Cell(_text(main.metric, new, page)),
        Cell(_change(main.metric, old, new, page), style),
        Cell("" if main.metric.is_ratio else _relative(old, new), style),
    ]
    for column in others:
        old, new = values(column)
        if column.metric.is_ratio:
            one, two = ratio(column.metric, old), ratio(column.metric, new)
            text = one if one == two else f"{one} -> {two}"
        else:
            text = _change(column.metric, old, new, page)
        cells.append(Cell(text, _style(column.metric, old, new)))
    return cells


def _text(metric: Metric, value: Number | None, page: Page | None) -> str:
    """The value of a metric as a text; with all digits if there is no page."""
    if metric.is_ratio or value is None:
        return ratio(metric, value)
    return count(value, page) if page else f"{value:,}"


def _change(metric: Metric, before: Number | None, after: Number | None, page: Page | None) -> str:
    change = difference(before, after, metric)
    if change is None:
        return "-"
    return signed(_text(metric, change, page))


def _relative(before: Number | None, after: Number | None) -> str:
    if not before:
        return "new" if after else ""
    return signed(percent((after or 0) - before, abs(before)))


def _calls(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} -> {after:,}"


def _style(metric: Metric, before: Number | None, after: Number | None) -> str:
    change = (after or 0) - (before or 0)
    if abs(change) <= _NOTABLE * abs(before or 0):
        return ""
    return "green" if (change > 0) == metric.more_is_better else "red"
