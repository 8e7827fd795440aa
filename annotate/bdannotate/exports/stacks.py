# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of calls with their costs: all of a context tree, or as far as a call graph tells them for
certain.

In a call graph, a function that has one caller, whose own path is certain, has one path: all it costs is on it. What
a function with several callers costs is known for each of them as a whole, as calls have inclusive
costs; but not which of what it calls belongs to whom. So a path ends there, with a frame that
stands for the function and all it calls, if it calls anything. The same for recursion, which has as
many paths as levels. All paths together cost what the program does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model.contexts import ContextTree
from ..model.graph import CallGraph, build
from ..model.profile import Function, Row, subtract_rows, sum_rows
from .request import Request


@dataclass(frozen=True, slots=True)
class Frame:
    name: str
    file: str
    has_callees: bool = False  # stands for the function with all it calls
    object: str = ""
    start: int = 0  # the line that the function begins in, where that is known

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


def _of_tree(request: Request, tree: ContextTree) -> Iterator[Stack]:
    """A node is a path. A root that is the only one would say nothing."""
    frames = [
        Frame(function.name, function.file, object=function.object, start=line)
        for (_, function), line in zip(tree.frames, tree.lines)
    ]
    has_roots = sum(1 for above in tree.parent if above < 0) > 1
    columns = [tree.costs[tree.events.index(event)] for event in request.profile.events]
    for node, costs in enumerate(zip(*columns)):
        row = request.row(costs)
        if not any(row):
            continue
        path: list[Frame] = []
        lines: list[int] = [0]
        while node >= 0 and (has_roots or not path or tree.parent[node] >= 0):
            path.append(frames[tree.frame[node]])
            lines.append(tree.places[tree.place[node]].line)
            node = tree.parent[node]
        yield Stack(tuple(reversed(path)), row, tuple(reversed(lines[:-1])))


def _of_graph(request: Request) -> Iterator[Stack]:
    graph = build(request.profile)
    width = len(request.profile.events)
    for function in sorted(graph.functions):
        incoming = [
            call.cost
            for caller, call in graph.callers.get(function, {}).items()
            if not graph.within_cycle(caller, function)
        ]
        if not incoming and _has_one_path(graph, function):
            yield from _below(request, graph, function)
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


def _below(request: Request, graph: CallGraph, root: Function) -> Iterator[Stack]:
    """Chains of calls are deeper than Python's, so the paths to go are on a list."""
    open_paths: list[tuple[Function, tuple[Frame, ...]]] = [(root, (_frame(root),))]
    while open_paths:
        function, path = open_paths.pop()
        row = request.row(graph.functions[function].self_cost)
        if any(row):
            yield Stack(path, row)
        for callee, call in sorted(graph.callees.get(function, {}).items(), reverse=True):
            if _has_one_path(graph, callee) and _is_covered(graph, callee):
                open_paths.append((callee, (*path, _frame(callee))))
                continue
            row = request.row(call.cost)
            if any(row):
                yield Stack((*path, _end(graph, callee)), row)


def _frame(function: Function) -> Frame:
    return Frame(function.name, function.file, object=function.object)


def _end(graph: CallGraph, function: Function) -> Frame:
    has_callees = bool(graph.callees.get(function))
    return Frame(function.name, function.file, has_callees, function.object)


def _has_one_path(graph: CallGraph, function: Function) -> bool:
    """Whether nobody or one function calls it, and it is not recursive. That its caller's path is
    certain is for whoever comes from there to know."""
    costs = graph.functions[function]
    return not costs.cycle and not costs.recursive and len(graph.callers.get(function, {})) <= 1


def _is_covered(graph: CallGraph, function: Function) -> bool:
    """Whether it was called whenever it ran: no thread or handler begins with it."""
    (call,) = graph.callers[function].values()
    return call.cost == graph.functions[function].inclusive
