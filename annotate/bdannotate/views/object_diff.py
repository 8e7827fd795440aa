# SPDX-License-Identifier: GPL-2.0-or-later
"""What changed for data objects, as a table."""

from __future__ import annotations

from ..analyses.object_diff import ObjectDiff
from ..analyses.objects import Use, label
from ..model.numbers import percent, signed
from ..model.profile import Row
from .objects import short_label
from .text import Cell, Page, Table, count, left_width

_HEADINGS = (
    ("", "", "never used", "", "", "", "L1 bytes", "", "", "LL misses", ""),
    ("before", "after", "change", "", "before", "after", "change", "before", "after", "change", "object"),
)
# Of a narrow page, what was loaded and missed is told as a change only.
_NARROW = 100
_CHANGES = (0, 1, 2, 3, 6, 9, 10)
# What changed by more than this part of itself is worth colour.
_NOTABLE = 0.05


def object_diff_table(found: ObjectDiff, page: Page) -> list[str]:
    if not found.changes:
        return ["none that changed by this much"]
    rows = [_cells(found, change.before, change.after, page) for change in found.changes]
    names = [label(change.group) for change in found.changes]
    if found.others:
        rows.append(_cells(found, found.other_before, found.other_after, page))
        names.append(f"({found.others} other{'s' if found.others > 1 else ''})")
    rows.append(_cells(found, found.before, found.after, page))
    names.append("all")
    headings = [list(row) for row in _HEADINGS]
    if page.width < _NARROW:
        headings = [[row[column] for column in _CHANGES] for row in headings]
        rows = [[row[column] for column in _CHANGES[:-1]] for row in rows]
        headings[0][-3:-1] = ["L1 bytes", "LL misses"]
    room = page.width - left_width(rows, [row[:-1] for row in headings])
    return Table(
        headings, [[*row, Cell(short_label(name, room, page))] for row, name in zip(rows, names)]
    ).lines(page)


def _cells(found: ObjectDiff, before: Row | None, after: Row | None, page: Page) -> list[Cell]:
    old, new = found.use(before), found.use(after)
    relative = "new" if before is None else "gone" if after is None else _relative(old, new)
    cells = [*_triple(old.unused, new.unused, page), Cell(relative, _style(old.unused, new.unused))]
    cells += _triple(old.loaded, new.loaded, page)
    return cells + _triple(old.misses, new.misses, page)


def _relative(old: Use, new: Use) -> str:
    return signed(percent(new.unused - old.unused, old.unused)) if old.unused else ""


def _triple(old: int, new: int, page: Page) -> list[Cell]:
    change = Cell(signed(count(new - old, page)), _style(old, new))
    return [Cell(count(old, page)), Cell(count(new, page)), change]


def _style(old: int, new: int) -> str:
    if abs(new - old) <= _NOTABLE * old:
        return ""
    return "red" if new > old else "green"
