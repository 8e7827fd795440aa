# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions, added up over ranks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from ..model.errors import UserError
from ..model.narrow import narrow
from ..model.paths import Cells, NodeKind, Paths, merge
from ..model.profile import Function, Profile, Row, add_rows

_STEPS = (NodeKind.STEP, NodeKind.CHARGED)
# Of a node, but for its parent.
_COLUMNS = ("kind", "function", "step", "times")


class RankPaths(NamedTuple):
    """The paths of one or more ranks. unfollowed: functions that have costs in a rank that did not follow them."""

    paths: Paths
    unfollowed: frozenset[Function]


def paths_of_file(parts: Sequence[Paths], profile: Profile, name: Callable[[Function], Function]) -> RankPaths:
    """The paths beside a profile. parts: those of the file; name: returns the new name of a function."""
    paths = merge(parts, name)
    costly = {place.function for place, rows in profile.lines.items() if any(map(any, rows.values()))}
    return RankPaths(paths, frozenset(costly - _followed(paths)))


def added(things: Sequence[RankPaths]) -> RankPaths:
    """The sum over ranks. It has only those functions that were followed in all ranks that executed them: other sums
    would not be those of the profile. If there are more beginnings than the largest limit allows, the rarest become
    other paths of their functions."""
    first = things[0].paths
    unfollowed = frozenset[Function]().union(*(thing.unfollowed for thing in things))
    paths = [_with_events(thing.paths, first) for thing in things]
    drops = unfollowed & frozenset[Function]().union(*map(_followed, paths))
    whole = merge([_without(one, drops) for one in paths])
    part = replace(whole.parts[0], pid="", part="", thread="", descriptions=())
    return RankPaths(_narrow(_cut(replace(whole, parts=(part,)))), unfollowed)


def _followed(paths: Paths) -> set[Function]:
    return {paths.functions[number] for number in set(paths.function) if number}


def _with_events(paths: Paths, first: Paths) -> Paths:
    """The paths with their events in the order of the first one's."""
    if paths.events == first.events:
        return paths
    if set(paths.events) != set(first.events):
        raise UserError(
            f"{paths.parts[0].source} has {' '.join(paths.events)}, but {first.parts[0].source} "
            f"{' '.join(first.events)}"
        )
    columns = tuple(paths.cells.costs[paths.events.index(event)] for event in first.events)
    return replace(paths, events=first.events, cells=paths.cells._replace(costs=columns))


def _without(paths: Paths, drops: Set[Function]) -> Paths:
    if not drops & _followed(paths):
        return paths
    gone = {number for number, function in enumerate(paths.functions) if function in drops}
    return _kept(paths, [node for node in range(1, paths.nodes) if paths.function[node] not in gone])


def _kept(paths: Paths, nodes: Sequence[int]) -> Paths:
    """The paths reduced to these nodes, and to their cells. A parent comes before its children."""
    number = {0: 0, **{node: at for at, node in enumerate(nodes, 1)}}
    rows = {number[node]: row for node, row in _rare(paths).items() if node in number}
    columns = {name: [0, *(getattr(paths, name)[node] for node in nodes)] for name in _COLUMNS}
    return replace(
        paths, parent=[number[parent] for parent in (0, *(paths.parent[node] for node in nodes))], **columns,
        cells=_cells(rows, len(paths.events)),
    )


def _cut(paths: Paths) -> Paths:
    """The paths with as many beginnings as the limit allows, not counting functions. The rarest beginnings become other
    paths of their functions, with all paths that begin so and their costs."""
    steps = [node for node in range(1, paths.nodes) if paths.kind[node] in _STEPS]
    most = max(paths.limit - (paths.nodes - 1 - len(steps)), 0)
    if len(steps) <= most:
        return paths
    below = list(paths.times)
    for node in range(paths.nodes - 1, 0, -1):
        below[paths.parent[node]] += below[node]
    # A parent stands in front of what is below it, and has as much or more: it is kept as long.
    gone = set(sorted(steps, key=lambda node: (-below[node], node))[most:])
    parents = list(paths.parent)
    columns = {name: list(getattr(paths, name)) for name in _COLUMNS}
    kinds, functions, times = columns["kind"], columns["function"], columns["times"]
    roots = {functions[node]: node for node in range(paths.nodes) if kinds[node] == NodeKind.ROOT}
    others = {functions[node]: node for node in range(paths.nodes) if kinds[node] == NodeKind.OTHER}
    for function in sorted({functions[node] for node in gone} - others.keys()):
        others[function] = len(parents)
        parents.append(roots[function])
        for name, number in (("kind", NodeKind.OTHER), ("function", function), ("step", 0), ("times", 0)):
            columns[name].append(number)
    rows = _rare(paths)
    zero = (0,) * len(paths.events)
    for node, row in paths.costs():
        if node in gone:
            other = others[functions[node]]
            times[other] += times[node]
            rows[other] = add_rows(rows.get(other, zero), row)
    whole = replace(paths, parent=parents, **columns, cells=_cells(rows, len(paths.events)))
    return _kept(whole, [node for node in range(1, whole.nodes) if node not in gone])


def _rare(paths: Paths) -> dict[int, Row]:
    """The sums of cells by node."""
    found: dict[int, Row] = {}
    for node, row in zip(paths.cells.node, zip(*paths.cells.costs)):
        known = found.get(node)
        found[node] = row if known is None else add_rows(known, row)
    return found


def _cells(rows: Mapping[int, Row], width: int) -> Cells:
    """The cells: one for each node that has any."""
    nodes = sorted(node for node, row in rows.items() if any(row))
    columns = tuple(zip(*(rows[node] for node in nodes))) or ((),) * width
    return Cells(array("Q", nodes), columns)


def _narrow(paths: Paths) -> Paths:
    cells = _cells(_rare(paths), len(paths.events))
    try:
        columns = {name: narrow(getattr(paths, name)) for name in ("parent", *_COLUMNS)}
        costs = tuple(array("q", column) for column in cells.costs)
    except OverflowError:
        raise UserError("sums of paths are of 63 bits and more") from None
    return replace(paths, **columns, cells=Cells(cells.node, costs))
