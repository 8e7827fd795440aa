# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree of functions, loops and inlined functions, as text."""

from __future__ import annotations

from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.code.report import Report
from ..analyses.code.structure import Branch, Structure, branches
from ..model.frames import Frame, Kind, LoopPart
from .costs import NAMES_NEED, cost_cells, cost_headings, cost_table, fitting, name_width
from .functions import entry_label
from .names import fit
from .text import Cell, Page

_HOTTEST = "* "
_OTHER = "  "
# The minimum length of a name that was cut.
_LEGIBLE = 16


def structure_table(found: Sequence[Structure], report: Report, page: Page) -> list[str]:
    """The functions, each followed by its frames. Asterisks mark the way to its costliest place."""
    columns = report.selection.columns
    trees = [(one, branches(report, one)) for one in found]
    shown = [(one, branch) for one, tree in trees if len(tree) > 1 for branch in tree]
    if not shown:
        return ["none that match"]
    cells: list[list[Cell]] = []
    for one, branch in shown:
        is_function = branch.frame.kind is Kind.FUNCTION
        inclusive = one.entry.inclusive if is_function else branch.frame.inclusive
        cells.append(
            cost_cells(columns, branch.frame.self_cost, inclusive, report.totals, page)
        )
    headings, cells = fitting(
        cost_headings(columns, with_sides=True), cells, page, least=_need(shown, page)
    )
    width = name_width(headings, cells, page)
    empty = [Cell("")] * len(headings[0])
    rows: list[list[Cell]] = []
    labels: list[Cell] = []
    for (one, branch), row in zip(shown, cells):
        if branch.depth == 0 and rows:
            rows.append(empty)
            labels.append(Cell(""))
        rows.append(row)
        labels.append(_label(one, branch, page, width))
        for text in _below(branch):
            rows.append(empty)
            labels.append(Cell(_indented(branch.depth + 1, text), "dim"))
    return cost_table(headings, "function, loops and inlined calls", rows, labels, page)


def _need(shown: Sequence[tuple[Structure, Branch]], page: Page) -> int:
    """The width for complete places and numbers, and for legible names."""
    needs = [NAMES_NEED]
    for _, branch in shown:
        if branch.depth:
            frame, indent = branch.frame, 2 * (branch.depth - 1) + len(_HOTTEST)
            whole = len(_text(frame, branch.left_out, page, 0))
            name = len(page.inlined_name(frame.name)) if frame.kind is Kind.INLINED else 0
            needs.append(indent + whole + min(name, _LEGIBLE))
    return max(needs)


def _text(frame: Frame, left_out: int, page: Page, width: int) -> str:
    if frame.kind is Kind.INLINED:
        where = f"  inlined {_where(frame, page)}"
        if left_out:
            where += f" ({left_out} between)"
        name = page.inlined_name(frame.name)
        return (name if page.full_names else fit(name, max(width - len(where), 0))) + where
    text = f"{frame.kind.value} {_where(frame, page)}"
    return text if len(frame.parts) > 1 else f"{text}  {_times(frame.parts[0])}"


def _label(one: Structure, branch: Branch, page: Page, width: int) -> Cell:
    if branch.depth == 0:
        return Cell(entry_label(one.entry, page, width).text, "bold")
    mark = _HOTTEST if branch.is_hottest else _OTHER
    room = width - 2 * (branch.depth - 1) - len(mark)
    text = mark + _text(branch.frame, branch.left_out, page, room)
    return Cell(_indented(branch.depth, text), "bold" if branch.is_hottest else "")


def _below(branch: Branch) -> list[str]:
    parts = branch.frame.parts
    texts = [f"{_OTHER}part {part.address:#x}  {_times(part)}" for part in parts]
    texts = texts if len(texts) > 1 else []
    if branch.hidden:
        texts.append(f"{_OTHER}({branch.hidden} other{'s' if branch.hidden > 1 else ''})")
    return texts


def _indented(depth: int, text: str) -> str:
    return "  " * (depth - 1) + text


def _where(frame: Frame, page: Page) -> str:
    if not frame.line:
        return printable(frame.name or f"{frame.address:#x}")
    return f"{page.file(frame.file)}:{frame.line}"


def _times(part: LoopPart) -> str:
    if not part.entries:
        return f"{part.iterations:,} iterations"
    average = f"{part.iterations / part.entries:,.1f}".removesuffix(".0")
    return f"{part.entries:,} x {average}"
