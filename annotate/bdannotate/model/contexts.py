# SPDX-License-Identifier: GPL-2.0-or-later
"""The calling context tree: costs separated by the whole path of calls that led to them.

A node stands for a function below the node of its caller. The roots, one for each thread and signal handler, are above
the functions. A parent has a smaller number than its children, so that one walk from the last node to the first adds
everything up.
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
    OTHER = 2  # paths below its parent that were not separated, as there was no room


class ContextFrame(NamedTuple):
    """What a node stands for. Roots and "other" nodes have a name only."""

    kind: Kind
    function: Function


class CallPlace(NamedTuple):
    """The place from which a node was called. line, address: 0 if not known."""

    file: str
    line: int
    address: int


NOWHERE = CallPlace("", 0, 0)
OTHER = ContextFrame(Kind.OTHER, Function("", "", "(other paths)"))


@dataclass(frozen=True, slots=True)
class ContextTree:
    """A tree as columns with one entry per node. It must not be modified."""

    parts: tuple[Part, ...]
    events: tuple[str, ...]
    titles: Mapping[str, str]
    is_folded: bool  # whether a call of a function that is on the path leads back to its node
    frames: tuple[ContextFrame, ...]
    lines: tuple[int, ...]  # the first line of each frame's function; 0: not known
    places: tuple[CallPlace, ...]
    parent: array[int]  # NO_PARENT for roots
    frame: array[int]  # indices into frames
    place: array[int]  # indices into places
    calls: array[int]
    costs: tuple[array[int], ...]  # self costs, one column per event
    limit: int  # the maximum number of nodes of functions

    def __len__(self) -> int:
        return len(self.parent)

    def totals(self) -> Row:
        return tuple(sum(column) for column in self.costs)

    def inclusive(self, event: int) -> list[int]:
        """The cost of each node and of all nodes below it. event: the index of an event."""
        return self.summed_up(self.costs[event])

    def summed_up(self, costs: Sequence[int]) -> list[int]:
        """The sums of a column over each node and all nodes below it."""
        total = list(costs)
        parent = self.parent
        for node in range(len(total) - 1, 0, -1):
            above = parent[node]
            if above >= 0:
                total[above] += total[node]
        return total

    def height(self) -> int:
        """The number of functions on the longest path."""
        depth = [0] * len(self)
        for node, above in enumerate(self.parent):
            if above >= 0:
                depth[node] = depth[above] + 1
        return max(depth, default=0)


def merge(
    trees: Sequence[ContextTree], rename: Callable[[Function], Function] = lambda same: same,
    with_places: bool = True,
) -> ContextTree:
    """The trees of several parts, threads or runs as one, in which equal paths are added up. It has the events of the
    first tree. with_places: whether paths that call from different instructions differ. Raises UserError if a tree
    lacks an event, or if sums do not fit 64 bits."""
    first = trees[0]
    sums = ContextSum(first.events)
    for tree in trees:
        missing = [event for event in first.events if event not in tree.events]
        if missing:
            raise UserError(
                f"{tree.parts[0].source} lacks {' '.join(missing)}, which {first.parts[0].source} has"
            )
        try:
            sums.add(tree, rename, with_places)
        except OverflowError:
            raise UserError(f"{tree.parts[0].source}: its costs are too large to be added up") from None
    return sums.tree(tuple(part for tree in trees for part in tree.parts), first.titles)


def merged(trees: Sequence[ContextTree | None]) -> ContextTree | None:
    """The trees of several profiles as one; None if one of the profiles has none."""
    known = [tree for tree in trees if tree is not None]
    if not known or len(known) < len(trees):
        return None
    return known[0] if len(known) == 1 else merge(known)


class ContextSum:
    """A sum of trees, in which equal paths are added up. Trees must have all of the events. Raises OverflowError if a
    sum does not fit 64 bits."""

    def __init__(self, events: tuple[str, ...]) -> None:
        self.events = events
        self.is_folded = False
        self.limit = 0
        self._frames: dict[ContextFrame, int] = {}
        self._lines: list[int] = []
        self._places: dict[CallPlace, int] = {}
        self._parent = array("i")
        self._frame = array("I")
        self._place = array("I")
        self._calls = array("Q")
        self._costs = [array("Q") for _ in events]
        self._nodes: dict[tuple[int, int, int], int] = {}

    def add(
        self, tree: ContextTree, rename: Callable[[Function], Function] = lambda same: same, with_places: bool = True
    ) -> None:
        frames = [
            self.frame(ContextFrame(frame.kind, rename(frame.function)) if frame.kind is Kind.FUNCTION else frame, line)
            for frame, line in zip(tree.frames, tree.lines)
        ]
        places = [self.place(place if with_places else NOWHERE) for place in tree.places]
        numbers = array("i")
        for above, frame_number, place_number in zip(tree.parent, tree.frame, tree.place):
            parent = numbers[above] if above >= 0 else NO_PARENT
            numbers.append(self.node(parent, frames[frame_number], places[place_number]))
        self.add_counts(tree, numbers)

    def frame(self, frame: ContextFrame, line: int) -> int:
        """The number of a frame, which is added if it is new. line: the first line of its function, 0 if not known; of
        several, the lowest counts."""
        number = self._frames.setdefault(frame, len(self._frames))
        if number == len(self._lines):
            self._lines.append(line)
        elif line:
            self._lines[number] = min(line, self._lines[number] or line)
        return number

    def place(self, place: CallPlace) -> int:
        """The number of a place, which is added if it is new."""
        return self._places.setdefault(place, len(self._places))

    def node(self, parent: int, frame: int, place: int) -> int:
        """The number of a node, which is added if it is new."""
        number = self._nodes.setdefault((parent, frame, place), len(self._parent))
        if number == len(self._parent):
            self._parent.append(parent)
            self._frame.append(frame)
            self._place.append(place)
        return number

    def add_counts(self, tree: ContextTree, numbers: Sequence[int]) -> None:
        """Add the counts of a tree. numbers: for each node of the tree, the number of the node here that gets them."""
        self.is_folded = self.is_folded or tree.is_folded
        self.limit = max(self.limit, tree.limit)
        more = len(self._parent) - len(self._calls)
        costs = [tree.costs[tree.events.index(event)] for event in self.events]
        for mine, other in zip([self._calls, *self._costs], [tree.calls, *costs]):
            mine.frombytes(bytes(more * mine.itemsize))
            for number, count in zip(numbers, other):
                if count:
                    mine[number] += count

    def tree(self, parts: tuple[Part, ...], titles: Mapping[str, str]) -> ContextTree:
        """The tree of what was added. Nothing must be added after this."""
        return ContextTree(
            parts, self.events, titles, self.is_folded, tuple(self._frames), tuple(self._lines), tuple(self._places),
            self._parent, self._frame, self._place, self._calls, tuple(self._costs), self.limit,
        )
