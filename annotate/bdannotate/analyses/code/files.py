# SPDX-License-Identifier: GPL-2.0-or-later
"""Self costs by file and function, and by function and file.

A function with inlined code has costs in several files, and a file has costs of several functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...model.metrics import Number
from ...model.profile import Place, Row, add_rows, sum_rows
from .report import Report, key_limits, rank


@dataclass(frozen=True, slots=True)
class Item:
    """A function of a file, or a file of a function."""

    name: str
    cost: Row


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A file with its functions, or a function with its files."""

    name: str
    cost: Row
    running_share: float  # of the total, from 0 to 1, by the sort column: that of this group and all before it
    has_one_item: bool
    items: tuple[Item, ...]  # those that reach the threshold, the costliest first
    hidden: int  # how many other items have any of the cost


def by_file(report: Report) -> list[FileGroup]:
    """The files that reach the threshold, with their functions, the costliest first."""
    return _groups(report, lambda place: place.file, lambda place: place.function.name)


def by_function(report: Report) -> list[FileGroup]:
    """The functions that reach the threshold, with their files, the costliest first."""
    return _groups(report, lambda place: place.function.name, lambda place: place.file)


def _groups(
    report: Report, outer: Callable[[Place], str], inner: Callable[[Place], str]
) -> list[FileGroup]:
    width = len(report.totals)
    costs: dict[str, dict[str, Row]] = {}
    pattern = report.selection.function
    for place, rows in report.profile.lines.items():
        if pattern and not pattern.matches(place.function):
            continue
        items = costs.setdefault(outer(place), {})
        row = sum_rows(rows.values(), width)
        name = inner(place)
        items[name] = add_rows(items[name], row) if name in items else row
    sums = {name: sum_rows(items.values(), width) for name, items in costs.items()}

    key = report.selection.keys[0]
    metric = key.column.metric
    limits = key_limits(report.selection, report.totals)
    smallest = limits[0][1] if limits else 1
    total = metric.value(report.totals) or 0

    def order(rows: Mapping[str, Row]) -> list[str]:
        names = sorted(rows)
        names.sort(key=lambda name: rank(metric.value(rows[name])), reverse=True)
        return names

    groups: list[FileGroup] = []
    running: Number = 0
    for name in order(sums):
        value = metric.value(sums[name]) or 0
        running += value
        if abs(value) < smallest:
            continue
        items = costs[name]
        shown = [
            Item(item, items[item])
            for item in order(items)
            if abs(metric.value(items[item]) or 0) >= smallest or len(items) == 1
        ]
        hidden = sum(1 for row in items.values() if metric.value(row)) - len(shown)
        running_share = running / total if total else 0.0
        groups.append(FileGroup(name, sums[name], running_share, len(items) == 1, tuple(shown), max(hidden, 0)))
    return groups
