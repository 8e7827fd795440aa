# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects as CSV: a row per group, or per source line that loaded one. Numbers are exact."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.comparison.object_diff import ObjectDiff
from ..analyses.data.object_labels import label
from ..analyses.data.objects import DataUse, Listing
from ..analyses.types.object_details import Details
from ..model.objects import HeapBlocks, ObjectGroup
from .csv_report import Cells, to_csv

_USE = ("loaded", "unused", "lines", "accesses", "misses")
_GROUP = ("object", "kind", "file")


def objects_csv(found: Listing) -> str:
    """A row per group."""
    rows: list[Cells] = [(*_GROUP, "blocks", *HeapBlocks._fields[1:], *_USE)]
    for entry in found.entries:
        blocks: Cells = entry.group.blocks or (None,) * len(HeapBlocks._fields)
        rows.append((*_group(entry.group), *blocks, *_use(entry.use)))
    return to_csv(rows)


def loaders_csv(found: Sequence[Details]) -> str:
    """A row per source line that loaded one of the groups."""
    rows: list[Cells] = [("object", "function", "file", "line", *_USE)]
    for details in found:
        name = label(details.entry.group)
        for one in details.loaders:
            rows.append((name, one.function.name, one.file, one.line or None, *_use(one.use)))
    return to_csv(rows)


def object_diff_csv(found: ObjectDiff) -> str:
    """A row per group that changed."""
    rows: list[Cells] = [
        (*_GROUP, *(f"{name}:{side}" for name in _USE for side in ("before", "after")))
    ]
    for change in found.changes:
        sides = [
            _use(found.use(cost)) if cost else (None,) * len(_USE)
            for cost in (change.before, change.after)
        ]
        rows.append((*_group(change.group), *(value for pair in zip(*sides) for value in pair)))
    return to_csv(rows)


def _group(group: ObjectGroup) -> Cells:
    return label(group), group.identity.kind.value, group.identity.object


def _use(use: DataUse) -> Cells:
    return use.loaded, use.unused, use.lines, use.accesses, use.misses
