# SPDX-License-Identifier: GPL-2.0-or-later
"""Which entries a report lists, and in which order. Knows nothing of how they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .columns import Column, SortKey
from .graph import CallGraph
from .metrics import Number
from .model import Function, Row


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, or a cycle of functions."""

    function: Function  # for a cycle, its costliest member
    self_cost: Row
    inclusive: Row
    calls: int
    cycle: int = 0  # the cycle it belongs to, or is
    cycle_size: int = 0  # for the cycle itself: how many members
    recursive: bool = False

    def value(self, column: Column) -> Number | None:
        return column.value(self.self_cost, self.inclusive)


def entries(graph: CallGraph) -> list[Entry]:
    found = [
        Entry(
            function, costs.self_cost, costs.inclusive, costs.calls, costs.cycle,
            recursive=costs.recursive,
        )
        for function, costs in graph.functions.items()
    ]
    found += [
        Entry(
            cycle.members[0], cycle.self_cost, cycle.inclusive, cycle.calls, cycle.number,
            len(cycle.members),
        )
        for cycle in graph.cycles
    ]
    return found


def select(
    candidates: Iterable[Entry], keys: Sequence[SortKey], totals: Row, default_threshold: float
) -> list[Entry]:
    """Those that reach the threshold of any key, sorted by all keys, then by name."""
    thresholds = [
        (key.column, _limit(key, totals, default_threshold if index == 0 else None))
        for index, key in enumerate(keys)
    ]
    chosen = [
        entry
        for entry in candidates
        if any(
            limit is not None and abs(entry.value(column) or 0) >= limit
            for column, limit in thresholds
        )
    ]
    chosen.sort(key=lambda entry: (entry.function.name, entry.function, -entry.cycle_size))
    chosen.sort(
        key=lambda entry: tuple(_rank(entry.value(key.column)) for key in keys), reverse=True
    )
    return chosen


def _limit(key: SortKey, totals: Row, default: float | None) -> Number | None:
    percent = key.threshold if key.threshold is not None else default
    if percent is None:
        return None
    if key.column.metric.is_ratio:
        given = key.threshold or 0.0
        return given / 100 if key.column.metric.is_share else given
    # An entry without any cost is not worth a line, however low the threshold.
    return max(abs(key.column.metric.value(totals) or 0) * percent / 100, 1)


def _rank(value: Number | None) -> Number:
    return float("-inf") if value is None else value
