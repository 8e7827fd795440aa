# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions: the ways that calls took, how often, and what each path cost.

A path is known by the node where it ends: its steps are those of the nodes from the function's root to that one. Steps,
functions and nodes are known by their numbers; number 0 is none.
"""

from __future__ import annotations

import enum
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, compress
from typing import NamedTuple

from .graph import build
from .profile import Function, Part, Profile, Row, add_rows

MOST_STEPS = 255


class NodeKind(enum.IntEnum):
    """What a node stands for."""

    STEP = 0  # one more step than the parent has
    ROOT = 1  # the beginning of a function's paths
    OTHER = 2  # paths of a function that were not separated
    CHARGED = 3  # one more step, of code that is not shown


class Ending(enum.IntEnum):
    """How a step left its block."""

    PLAIN = 0
    CALL = 1
    RETURN = 2
    TAKEN = 3
    NOT_TAKEN = 4
    INDIRECT = 5


class Piece(NamedTuple):
    """Consecutive instructions of one source line. line: 0 if not known."""

    file: str
    line: int
    instructions: int


class Step(NamedTuple):
    """A block and the exit by which it was left. Addresses are in the function's object file."""

    begin: int
    last: int  # its last instruction
    end: int  # behind that
    ending: Ending
    reads: int
    writes: int
    pieces: tuple[Piece, ...]

    @property
    def instructions(self) -> int:
        return sum(piece.instructions for piece in self.pieces)


class Cells(NamedTuple):
    """The rare costs: all but those that follow from the steps. In the order of the nodes, which may repeat."""

    node: array[int]
    costs: tuple[Sequence[int], ...]  # one column per event


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of a run, or of several added up. Columns are by node; a parent precedes its children."""

    parts: tuple[Part, ...]
    events: tuple[str, ...]
    limit: int  # how many nodes there could be before new paths were merged
    functions: tuple[Function, ...]
    steps: tuple[Step | None, ...]
    parent: Sequence[int]
    kind: Sequence[int]
    function: Sequence[int]
    step: Sequence[int]
    times: Sequence[int]  # how often a path ended at the node
    cells: Cells

    @property
    def nodes(self) -> int:
        """The number of nodes, including number 0, which is none."""
        return len(self.parent)

    def steps_to(self, node: int) -> tuple[tuple[int, bool], ...]:
        """The steps of the path that ends at a node, in order: their numbers, and whether each is of code that is not
        shown."""
        found: list[tuple[int, bool]] = []
        while self.kind[node] in (NodeKind.STEP, NodeKind.CHARGED):
            found.append((self.step[node], self.kind[node] == NodeKind.CHARGED))
            node = self.parent[node]
        return tuple(reversed(found))

    def costs(self) -> Iterator[tuple[int, Row]]:
        """The costs of the paths that end at each node, in the order of the nodes. Nodes at which no path ended are
        left out; paths that were executed without costs are included."""
        zero = (0,) * len(self.events)
        rare = self._rare()
        node, row = next(rare, (0, zero))
        for end, executed in self._executed():
            while 0 < node < end:
                yield node, row
                node, row = next(rare, (0, zero))
            if node == end:
                yield node, add_rows(row, executed)
                node, row = next(rare, (0, zero))
            else:
                yield end, add_rows(zero, executed)
        if node:
            yield node, row
            yield from rare

    def _executed(self) -> Iterator[tuple[int, Row]]:
        """The costs that follow from the steps, for the nodes at which paths ended."""
        counted = [
            [0 if step is None else count(step) for step in self.steps] for count in (_instructions, _reads, _writes)
        ]
        columns = [self._sums_from_roots(counts) for counts in counted]
        places = [self.events.index(event) if event in self.events else -1 for event in ("Ir", "Dr", "Dw")]
        width = len(self.events)
        for node in compress(range(self.nodes), self.times):
            row = [0] * width
            for place, column in zip(places, columns):
                if place >= 0:
                    row[place] = self.times[node] * column[node]
            yield node, tuple(row)

    def _sums_from_roots(self, counts: Sequence[int]) -> list[int]:
        """The sums of counts, which are by step, over the steps from the root to each node."""
        sums = [0] * self.nodes
        for node, (parent, step) in enumerate(zip(self.parent, self.step)):
            sums[node] = sums[parent] + counts[step]
        return sums

    def _rare(self) -> Iterator[tuple[int, Row]]:
        """The sums of cells, by node."""
        known, total = 0, (0,) * len(self.events)
        for node, row in zip(self.cells.node, zip(*self.cells.costs)):
            if node == known:
                total = add_rows(total, row)
            else:
                if known:
                    yield known, total
                known, total = node, row
        if known:
            yield known, total


def _instructions(step: Step) -> int:
    return step.instructions


def _reads(step: Step) -> int:
    return step.reads


def _writes(step: Step) -> int:
    return step.writes


def self_costs(paths: Paths) -> Mapping[Function, Row]:
    """The self costs of each function that was followed: the sums over its paths."""
    found: dict[int, Row] = {}
    zero = (0,) * len(paths.events)
    for node, row in paths.costs():
        function = paths.function[node]
        found[function] = add_rows(found.get(function, zero), row)
    sums: dict[Function, Row] = {paths.functions[number]: zero for number in sorted(set(paths.function)) if number}
    for number, row in found.items():
        sums[paths.functions[number]] = add_rows(sums[paths.functions[number]], row)
    return sums


def merge(found: Sequence[Paths], rename: Callable[[Function], Function] = lambda same: same) -> Paths:
    """The paths of several parts, threads or runs as one, in which equal paths are added up. All must have the same
    events. rename: returns the new name of a function."""
    if len(found) == 1:
        only = replace(found[0], functions=tuple(map(rename, found[0].functions)))
        roots = [
            (only.functions[function], kind) for function, kind in zip(only.function, only.kind)
            if kind in (NodeKind.ROOT, NodeKind.OTHER)
        ]
        if len(roots) == len(set(roots)):
            return only
    return _Merged(found[0].events).of(found, rename)


class _Merged:
    """Adds up paths. Nodes are the same if they have the same steps from the root of the same function."""

    def __init__(self, events: tuple[str, ...]) -> None:
        self._events = events
        self._functions: dict[Function, int] = {Function("", "", ""): 0}
        self._steps: dict[Step | None, int] = {None: 0}
        self._nodes: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 0}
        self._times: list[int] = [0]

    def of(self, found: Sequence[Paths], rename: Callable[[Function], Function]) -> Paths:
        numbers = [self._add(one, rename) for one in found]
        parent, kind, function, step = (array("Q", column) for column in zip(*self._nodes))
        return Paths(
            tuple(part for one in found for part in one.parts), self._events, max(one.limit for one in found),
            tuple(self._functions), tuple(self._steps), parent, kind, function, step, self._times,
            self._cells(found, numbers),
        )

    def _add(self, one: Paths, rename: Callable[[Function], Function]) -> list[int]:
        """Add the nodes of `one`, and return their numbers here."""
        functions = [self._functions.setdefault(rename(each), len(self._functions)) for each in one.functions]
        functions[0] = 0
        steps = [self._steps.setdefault(step, len(self._steps)) for step in one.steps]
        here = [0]
        for node in range(1, one.nodes):
            key = here[one.parent[node]], one.kind[node], functions[one.function[node]], steps[one.step[node]]
            number = self._nodes.setdefault(key, len(self._nodes))
            if number == len(self._times):
                self._times.append(0)
            self._times[number] += one.times[node]
            here.append(number)
        return here

    @staticmethod
    def _cells(found: Sequence[Paths], numbers: Sequence[Sequence[int]]) -> Cells:
        rows = [
            (here[node], row)
            for one, here in zip(found, numbers) for node, row in zip(one.cells.node, zip(*one.cells.costs))
        ]
        rows.sort(key=lambda row: row[0])
        columns = [[row[event] for _, row in rows] for event in range(len(found[0].events))]
        return Cells(array("Q", (node for node, _ in rows)), tuple(columns))


def starts(step: Step) -> tuple[int, ...]:
    """How many instructions precede each piece of a step, followed by how many there are."""
    return (0, *accumulate(piece.instructions for piece in step.pieces))


def run_violation(found: Sequence[Paths], profile: Profile) -> str | None:
    """The first fact that shows that the files are not from the profile's run, as a sentence; None if there is none."""
    def run(part: Part) -> tuple[object, ...]:
        return part.pid, part.command, part.part, part.thread

    source, whole = found[0].parts[0].source, profile.parts[0].source
    mine = Counter(run(part) for one in found for part in one.parts)
    if mine != Counter(map(run, profile.parts)):
        return f"{source} is from another run than {whole}"
    for one in found:
        if one.events != found[0].events:
            return f"{one.parts[0].source} has other events than {source}"
        if unknown := next((event for event in one.events if event not in profile.events), None):
            return f"{source} has the event {unknown}, but {whole} has not"
    return None


def path_violation(paths: Paths, profile: Profile) -> str | None:
    """The first contradiction between the file and the profile beside it, as a sentence; None if there is none. It
    compares the runs and the self costs of functions, in every event."""
    if violation := run_violation([paths], profile):
        return violation
    graph = build(profile)
    places = [profile.events.index(event) for event in paths.events]
    for function, row in self_costs(paths).items():
        known = graph.functions.get(function)
        for place, event, mine in zip(places, paths.events, row):
            expected = known.self_cost[place] if known else 0
            if mine != expected:
                return (
                    f"{paths.parts[0].source}: {event} of {function.name}: its paths have {mine:,}, but the profile "
                    f"{expected:,}"
                )
    return None
