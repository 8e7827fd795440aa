# SPDX-License-Identifier: GPL-2.0-or-later
"""The calling context tree: costs separated by the whole path of calls that led to them.

A node stands for a function below the node of its caller. Above the functions stand the roots, one
for each thread and signal handler. A parent has a smaller number than its children, so that one
walk from the last node to the first adds everything up.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .errors import UserError
from .profile import Function, Part, Row

NO_PARENT = -1


class Kind(enum.IntEnum):
    FUNCTION = 0
    ROOT = 1
    OTHER = 2  # the paths below its parent for which there was no room


class ContextFrame(NamedTuple):
    """What a node stands for. Roots and "other" nodes have a name only."""

    kind: Kind
    function: Function


class CallPlace(NamedTuple):
    """Where a node was called from: 0 where a line or an address is not known."""

    file: str
    line: int
    address: int


NOWHERE = CallPlace("", 0, 0)
OTHER = ContextFrame(Kind.OTHER, Function("", "", "(other paths)"))


@dataclass(frozen=True, slots=True)
class ContextTree:
    """Columns with one entry per node. Read only, although arrays could change."""

    parts: tuple[Part, ...]
    events: tuple[str, ...]
    titles: Mapping[str, str]
    is_folded: bool  # a call to a function that is on the path goes back to its node
    frames: tuple[ContextFrame, ...]
    lines: tuple[int, ...]  # the line that each frame's function begins in, or 0
    places: tuple[CallPlace, ...]
    parent: array[int]
    frame: array[int]  # numbers in frames
    place: array[int]  # numbers in places
    calls: array[int]
    costs: tuple[array[int], ...]  # self costs, a column per event

    def __len__(self) -> int:
        return len(self.parent)

    def totals(self) -> Row:
        return tuple(sum(column) for column in self.costs)

    def inclusive(self, event: int) -> list[int]:
        """Per node its own cost and that of all below it."""
        return self.summed_up(self.costs[event])

    def summed_up(self, costs: Sequence[int]) -> list[int]:
        total = list(costs)
        parent = self.parent
        for node in range(len(total) - 1, 0, -1):
            above = parent[node]
            if above >= 0:
                total[above] += total[node]
        return total

    def height(self) -> int:
        """How many functions the longest path has."""
        depth = [0] * len(self)
        for node, above in enumerate(self.parent):
            if above >= 0:
                depth[node] = depth[above] + 1
        return max(depth, default=0)


def merge(
    trees: Sequence[ContextTree], rename: Callable[[Function], Function] = lambda same: same,
    with_places: bool = True,
) -> ContextTree:
    """The trees of several parts, threads or runs as one: equal paths are added up. The first
    tree's events are taken; the others must have them all. Without places, paths are equal that
    call from different instructions."""
    first = trees[0]
    merger = _Merger(len(first.events))
    for tree in trees:
        missing = [event for event in first.events if event not in tree.events]
        if missing:
            raise UserError(
                f"{tree.parts[0].source} lacks {' '.join(missing)}, which {first.parts[0].source} has"
            )
        costs = [tree.costs[tree.events.index(event)] for event in first.events]
        try:
            merger.add(tree, costs, rename, with_places)
        except OverflowError:
            raise UserError(f"{tree.parts[0].source}: its costs are too large to be added up") from None
    return ContextTree(
        tuple(part for tree in trees for part in tree.parts),
        first.events,
        first.titles,
        any(tree.is_folded for tree in trees),
        tuple(merger.frames),
        tuple(merger.lines),
        tuple(merger.places),
        merger.parent,
        merger.frame,
        merger.place,
        merger.calls,
        tuple(merger.costs),
    )


def merged(trees: Sequence[ContextTree | None]) -> ContextTree | None:
    """Of several profiles, one tree; none, if one of them has none."""
    known = [tree for tree in trees if tree is not None]
    if not known or len(known) < len(trees):
        return None
    return known[0] if len(known) == 1 else merge(known)


class _Merger:
    def __init__(self, width: int) -> None:
        self.frames: dict[ContextFrame, int] = {}
        self.lines: list[int] = []
        self.places: dict[CallPlace, int] = {}
        self.parent = array("i")
        self.frame = array("I")
        self.place = array("I")
        self.calls = array("Q")
        self.costs = [array("Q") for _ in range(width)]
        self._nodes: dict[tuple[int, int, int], int] = {}

    def add(
        self, tree: ContextTree, costs: Sequence[array[int]],
        rename: Callable[[Function], Function], with_places: bool,
    ) -> None:
        frames: list[int] = []
        for frame, line in zip(tree.frames, tree.lines):
            if frame.kind is Kind.FUNCTION:
                frame = ContextFrame(frame.kind, rename(frame.function))
            frames.append(self.frames.setdefault(frame, len(self.frames)))
            if len(self.lines) < len(self.frames):
                self.lines.append(line)
        places = [
            self.places.setdefault(place if with_places else NOWHERE, len(self.places))
            for place in tree.places
        ]
        numbers = array("i")
        for node, above in enumerate(tree.parent):
            parent = numbers[above] if above >= 0 else NO_PARENT
            key = parent, frames[tree.frame[node]], places[tree.place[node]]
            number = self._nodes.setdefault(key, len(self.parent))
            numbers.append(number)
            if number == len(self.parent):
                self.parent.append(parent)
                self.frame.append(key[1])
                self.place.append(key[2])
        more = len(self.parent) - len(self.calls)
        for mine, other in zip([self.calls, *self.costs], [tree.calls, *costs]):
            mine.frombytes(bytes(more * mine.itemsize))
            for number, count in zip(numbers, other):
                if count:
                    mine[number] += count
