# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of data objects, as a table."""

from __future__ import annotations

from ..analyses.comparison.object_diff import ObjectDiff
from ..analyses.data.object_labels import label
from ..analyses.data.objects import DataUse
from ..model.numbers import percent, signed
from ..model.profile import Row
from .costs import NAMES_NEED
from .objects import named_rows
from .text import Cell, Page, count, left_width

_HEADINGS = (
    ("", "", "never used", "", "", "", "L1 bytes", "", "", "LL misses"),
    ("before", "after", "change", "", "before", "after", "change", "before", "after", "change"),
)
# The columns on narrow pages, which only have the changes of loads and misses, so that names have room.
_CHANGES = (0, 1, 2, 3, 6, 9)
# The minimum relative change that is shown in colour.
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
    if page.width - left_width(rows, headings) < NAMES_NEED:
        headings = [[row[column] for column in _CHANGES] for row in headings]
        rows = [[row[column] for column in _CHANGES] for row in rows]
        headings[0][-2:] = ["L1 bytes", "LL misses"]
    return named_rows(headings, "object", rows, names, page)


def _cells(found: ObjectDiff, before: Row | None, after: Row | None, page: Page) -> list[Cell]:
    old, new = found.use(before), found.use(after)
    relative = "new" if before is None else "gone" if after is None else _relative(old, new)
    cells = [*_triple(old.unused, new.unused, page), Cell(relative, _style(old.unused, new.unused))]
    cells += _triple(old.loaded, new.loaded, page)
    return cells + _triple(old.misses, new.misses, page)


def _relative(old: DataUse, new: DataUse) -> str:
    return signed(percent(new.unused - old.unused, old.unused)) if old.unused else ""


def _triple(old: int, new: int, page: Page) -> list[Cell]:
    change = Cell(signed(count(new - old, page)), _style(old, new))
    return [Cell(count(old, page)), Cell(count(new, page)), change]


def _style(old: int, new: int) -> str:
    if abs(new - old) <= _NOTABLE * old:
        return ""
    return "red" if new > old else "green"
