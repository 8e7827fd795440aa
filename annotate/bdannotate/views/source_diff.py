# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of two versions as text: the numbers of each line, and its costs before and after."""

from __future__ import annotations

from bdcommon.console import printable

from ..analyses.comparison.diff import Diff
from ..analyses.comparison.source_diff import FileChange, LineChange, SourceDiff
from ..model.profile import Row
from .costs import cost_table, fitting
from .diff import Sides, change_cells, change_headings, ordered
from .files import self_columns
from .source import OUTSIDE, TAB
from .text import Cell, Page

_ONE_VERSION = (
    "Only one version of this file was found, so lines are matched by number: --include-before=DIR names the folder "
    "of the other."
)
_FEW_COLUMNS = 3
# Columns are left out before source lines get less room than this.
_TEXT_NEEDS = 60


_Labelled = tuple[Row | None, Row | None, Cell]  # costs before and after, and the label


def source_diff_tables(found: SourceDiff, diff: Diff, page: Page) -> list[tuple[str, list[str]]]:
    """The titles and lines of the sections: one for each file, and one for the files that cannot be read."""
    sections = [
        (f"Source: {printable(file.name)}", _file_lines(file, diff, page)) for file in found.files
    ]
    if not found.files:
        sections.append(("Sources", ["none with a line that changed by this much"]))
    if found.unreadable:
        rows: list[_Labelled] = [
            (before, after, Cell(f"{printable(name)}: {reason}"))
            for name, reason, before, after in found.unreadable
        ]
        sections.append(("Sources that cannot be read", _table(rows, "file", diff, page)))
    return sections


def _file_lines(file: FileChange, diff: Diff, page: Page) -> list[str]:
    notes: list[str] = []
    if file.before is None:
        notes.append(page.paint(_ONE_VERSION, "yellow"))
    if file.after.is_outside or (file.before and file.before.is_outside):
        notes.append(page.paint(OUTSIDE, "yellow"))
    for what, version in (("before", file.before), ("after", file.after)):
        if version and version.path != file.name:
            notes.append(f"{what}: {printable(version.path)}")
    if notes:
        notes.append("")
    return notes + _table(_rows(file, diff, page), "line before, after", diff, page)


def _rows(file: FileChange, diff: Diff, page: Page) -> list[_Labelled]:
    digits = len(str(max(
        (number or 0 for group in file.groups for line in group for number in line.pair), default=0
    )))
    rows: list[_Labelled] = []
    if file.elsewhere:
        rows.append((*file.elsewhere, Cell("<line unknown, or past the end of the file>")))
    for group in file.groups:
        if rows:
            rows.append((None, None, Cell(f"{'':{2 * digits + 4}}...", "dim")))
        rows += [(line.before, line.after, _label(line, digits)) for line in group]
    return rows


def _label(line: LineChange, digits: int) -> Cell:
    before, after = (f"{number or '':>{digits}}" for number in line.pair)
    sign = "-" if line.pair.after is None else "+" if line.pair.before is None else " "
    text = printable(line.text.expandtabs(TAB))
    return Cell(f"{before} {after} {sign} {text}".rstrip())


def _table(rows: list[_Labelled], heading: str, diff: Diff, page: Page) -> list[str]:
    columns = self_columns(ordered(diff.selection.keys[0].column, diff.selection.columns))
    main, *others = columns[: 1 + _FEW_COLUMNS]
    headings = change_headings(main, others, with_sides=False)
    zero = diff.before.zero
    cells: list[list[Cell]] = []
    for before, after, _ in rows:
        if before is None and after is None:
            cells.append([Cell("")] * len(headings[0]))
            continue
        old, new = (Sides(row or zero, row or zero) for row in (before, after))
        cells.append(change_cells(main, others, old, new, page))
    headings, cells = fitting(headings, cells, page, least=_TEXT_NEEDS)
    return cost_table(headings, heading, cells, [label for *_, label in rows], page)
