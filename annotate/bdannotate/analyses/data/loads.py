# SPDX-License-Identifier: GPL-2.0-or-later
"""The data that functions and source lines loaded. Code is not counted as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from ...model.objects import ObjectKind, Objects
from ...model.profile import Function, Row, add_rows
from .object_labels import label
from .objects import use_of

# The minimum percentage of the bytes that a function or line loaded for a group to be listed.
_LEAST = 1.0
_MOST = 5  # groups


@dataclass(frozen=True, slots=True)
class Load:
    """What a function or line loaded of one group."""

    label: str
    cost: Row


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a function or line loaded, the groups with most bytes first. others, other_cost: the number and the sum of
    the groups that are not listed."""

    loads: tuple[Load, ...]
    others: int
    other_cost: Row


class Loads:
    """The groups that each function and each source line loaded. events: those of the costs, as in a profile."""

    def __init__(self, objects: Objects, events: tuple[str, ...]) -> None:
        self._events = events
        self._labels = [label(group) for group in objects.groups]
        places = [
            objects.events.index(event) if event in objects.events else None for event in events
        ]
        self._functions: dict[Function, dict[int, Row]] = {}
        self._lines: dict[tuple[str, int], dict[int, Row]] = {}
        kinds = [group.identity.kind for group in objects.groups]
        for row in objects.rows:
            if kinds[row.group] is ObjectKind.CODE:
                continue
            cost = tuple(0 if place is None else row.cost[place] for place in places)
            _add(self._functions, row.function, row.group, cost)
            _add(self._lines, (row.file, row.line), row.group, cost)

    def of_function(self, function: Function) -> Loaded:
        return self._loaded(self._functions.get(function, {}))

    def of_line(self, file: str, line: int) -> Loaded:
        return self._loaded(self._lines.get((file, line), {}))

    def _loaded(self, costs: Mapping[int, Row]) -> Loaded:
        amounts = {group: use_of(cost, self._events).loaded for group, cost in costs.items()}
        groups = [group for group in costs if amounts[group]]
        groups.sort(key=lambda group: (-amounts[group], self._labels[group], group))
        least = sum(amounts.values()) * _LEAST / 100
        shown = [group for group in groups if amounts[group] >= least][:_MOST]
        rest = groups[len(shown) :]
        # A single group takes as much room as the line that would say that it is left out.
        shown, rest = (groups, []) if len(rest) == 1 else (shown, rest)
        other: Row = (0,) * len(self._events)
        for group in rest:
            other = add_rows(other, costs[group])
        loads = tuple(Load(self._labels[group], costs[group]) for group in shown)
        return Loaded(loads, len(rest), other)


_Key = TypeVar("_Key")


def _add(known: dict[_Key, dict[int, Row]], key: _Key, group: int, cost: Row) -> None:
    mine = known.setdefault(key, {})
    mine[group] = add_rows(mine[group], cost) if group in mine else cost
