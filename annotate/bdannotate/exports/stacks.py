# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of calls with their costs: all of a context tree, or as far as a call graph tells them for
certain.

In a call graph, a function that has one caller, whose own path is certain, has one path: all it costs is on it. What
a function with several callers costs is known for each of them as a whole, as calls have inclusive
costs; but not which of what it calls belongs to whom. So a path ends there, with a frame that
stands for the function and all it calls, if it calls anything. The same for recursion, which has as
many paths as levels. All paths together cost what the program does.

Inlined functions are frames of their own where it is known which of them a path is in. Chains are
known by instruction: so that of a call is known where the tree keeps call sites apart, and what is
not a call, where a function has no other path, as costs of instructions are those of all paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.contexts import CallPlace, ContextTree
from ..model.frames import Chain
from ..model.graph import CallGraph, build
from ..model.profile import Function, Place, Row, add_rows, subtract_rows, sum_rows
from .request import Request


@dataclass(frozen=True, slots=True)
class Frame:
    name: str
    file: str
    has_callees: bool = False  # stands for the function with all it calls
    object: str = ""
    start: int = 0  # the line that the function begins in, where that is known
    is_inlined: bool = False  # into the frame before it

    @property
    def label(self) -> str:
        return f"{self.name} [and callees]" if self.has_callees else self.name


@dataclass(frozen=True, slots=True)
class Stack:
    """The outermost function first; row has the request's counts of the innermost frame. lines has
    for each frame the line of its call to the next, or 0; it is empty where no calls are known."""

    frames: tuple[Frame, ...]
    row: Row
    lines: tuple[int, ...] = ()


def stacks(request: Request) -> Iterator[Stack]:
    """All that cost something. Callers come before callees."""
    return _of_tree(request, request.tree) if request.tree else _of_graph(request)


# From the outermost function on, each with the line that it is in, or 0.
_Path = tuple[tuple[Frame, int], ...]


def _stack(path: _Path, row: Row) -> Stack:
    return Stack(tuple(frame for frame, _ in path), row, tuple(line for _, line in path))


def _of_tree(request: Request, tree: ContextTree) -> Iterator[Stack]:
    """A node is a path. A root that is the only one would say nothing."""
    frames = [
        Frame(function.label, function.file, object=function.object, start=line)
        for (_, function), line in zip(tree.frames, tree.lines)
    ]
    has_roots = sum(1 for above in tree.parent if above < 0) > 1
    columns = [tree.costs[tree.events.index(event)] for event in request.profile.events]
    nodes_of = Counter(tree.frame)
    code = _Code(request)
    for node, costs in enumerate(zip(*columns)):
        if not any(request.row(costs)):
            continue
        number, innermost = tree.frame[node], frames[tree.frame[node]]
        around: _Path = ()
        while (above := tree.parent[node]) >= 0 and (has_roots or tree.parent[above] >= 0):
            around = (*code.call(frames[tree.frame[above]], tree.places[tree.place[node]]), *around)
            node = above
        is_only_path = nodes_of[number] == 1
        function = tree.frames[number].function if is_only_path else None
        for own, row in code.own(function, innermost, costs):
            yield _stack((*around, *own), row)


class _Code:
    """What is known of the inlined functions that instructions are from."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._places: dict[Function, list[Place]] = {}
        if request.chains:
            for place in request.profile.instructions:
                self._places.setdefault(place.function, []).append(place)

    def call(self, frame: Frame, place: CallPlace) -> _Path:
        """The frame of the function that calls from this place, and those inlined there."""
        chain = self._request.chains.get(frame.object, {}).get(place.address, ())
        return _inlined(frame, chain) if chain else ((frame, place.line),)

    def own(
        self, function: Function | None, frame: Frame, costs: Row
    ) -> Iterator[tuple[_Path, Row]]:
        """What a path costs itself, as far as that is something: by the inlined functions and
        lines that it is in, where this function is named, because all that it costs is here."""
        found: dict[_Path, Row] = {}
        for place in self._places.get(function, ()) if function else ():
            chains = self._request.chains.get(frame.object, {})
            for address, instruction in self._request.profile.instructions[place].items():
                chain = chains.get(address)
                line = instruction.line if place.file == frame.file else 0
                path = _inlined(frame, chain) if chain else ((frame, line),)
                found[path] = (
                    add_rows(found[path], instruction.cost) if path in found else instruction.cost
                )
        if sum_rows(found.values(), len(costs)) != costs:
            found = {((frame, 0),): costs}
        for path, all_counts in found.items():
            row = self._request.row(all_counts)
            if any(row):
                yield path, row


def _inlined(frame: Frame, chain: Chain) -> _Path:
    inner = (
        (Frame(name, file, object=frame.object, is_inlined=True), line)
        for name, file, line, _ in chain[1:]
    )
    return ((frame, chain[0].line), *inner)


def _of_graph(request: Request) -> Iterator[Stack]:
    graph = build(request.profile)
    code = _Code(request)
    width = len(request.profile.events)
    for function in sorted(graph.functions):
        incoming = [
            call.cost
            for caller, call in graph.callers.get(function, {}).items()
            if not graph.within_cycle(caller, function)
        ]
        if not incoming and _has_one_path(graph, function):
            yield from _below(request, graph, code, function)
        else:
            # A function that a thread or handler begins with may be called as well.
            costs = graph.functions[function]
            uncovered = subtract_rows(costs.inclusive, sum_rows(incoming, width))
            row = request.row(uncovered)
            if any(row) and not costs.cycle:
                yield Stack((_end(graph, function),), row)
    for cycle in graph.cycles:
        incoming = [
            call.cost
            for member in cycle.members
            for caller, call in graph.callers.get(member, {}).items()
            if not graph.within_cycle(caller, member)
        ]
        row = request.row(subtract_rows(cycle.inclusive, sum_rows(incoming, width)))
        if any(row):
            # Which of its members was entered first is not known.
            yield Stack((Frame(f"<cycle {cycle.number}>", "???", True),), row)


def certain_share(request: Request) -> float:
    """Of the first count: how much of it is in a frame of its own, on a path that is certain."""
    total = certain = 0
    for stack in stacks(request):
        total += stack.row[0]
        certain += 0 if stack.frames[-1].has_callees else stack.row[0]
    return certain / total if total else 1.0


def _below(
    request: Request, graph: CallGraph, code: _Code, root: Function
) -> Iterator[Stack]:
    """Chains of calls are deeper than Python's, so the paths to go are on a list."""
    open_paths: list[tuple[Function, tuple[Frame, ...]]] = [(root, (_frame(root),))]
    while open_paths:
        function, path = open_paths.pop()
        around = tuple((frame, 0) for frame in path[:-1])
        for own, row in code.own(function, path[-1], graph.functions[function].self_cost):
            yield _stack((*around, *own), row)
        for callee, call in sorted(graph.callees.get(function, {}).items(), reverse=True):
            if _has_one_path(graph, callee) and _is_covered(graph, callee):
                open_paths.append((callee, (*path, _frame(callee))))
                continue
            row = request.row(call.cost)
            if any(row):
                yield Stack((*path, _end(graph, callee)), row)


def _frame(function: Function) -> Frame:
    return Frame(function.label, function.file, object=function.object)


def _end(graph: CallGraph, function: Function) -> Frame:
    has_callees = bool(graph.callees.get(function))
    return Frame(function.label, function.file, has_callees, function.object)


def _has_one_path(graph: CallGraph, function: Function) -> bool:
    """Whether nobody or one function calls it, and it is not recursive. That its caller's path is
    certain is for whoever comes from there to know."""
    costs = graph.functions[function]
    return not costs.cycle and not costs.recursive and len(graph.callers.get(function, {})) <= 1


def _is_covered(graph: CallGraph, function: Function) -> bool:
    """Whether it was called whenever it ran: no thread or handler begins with it."""
    (call,) = graph.callers[function].values()
    return call.cost == graph.functions[function].inclusive
