# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of calls with their costs: all paths of a context tree, or those of a call graph that are certain.

In a call graph, a function with one caller, whose path is certain, has one path, with all of its costs. The costs of a
function with several callers are known for each of them as a whole, as calls have inclusive costs, but it is not known
which of its own calls belong to which caller. Therefore, a path ends there, with a frame that stands for the function
and, if it calls any, its callees. The same applies to recursion, which has as many paths as levels. All paths together
have the costs of the program.

Inlined functions are separate frames if it is known which of them a path is in. Chains are known by instruction: that
of a call is known if the tree separates call sites; that of other code, if its function has only one path, as the costs
of instructions are those of all paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.contexts import CallPlace, ContextTree
from ..model.errors import UserError
from ..model.frames import Chain
from ..model.graph import CallGraph, build
from ..model.profile import Function, Place, Row, add_rows, subtract_rows, sum_rows
from .request import Request

_MOST_FRAMES = 20_000_000


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a path."""

    name: str
    file: str
    has_callees: bool = False  # whether it stands for the function and all that it calls
    object: str = ""
    start: int = 0  # the first line of the function; 0: not known
    is_inlined: bool = False  # whether it is inlined into the frame before it

    @property
    def label(self) -> str:
        return f"{self.name} [and callees]" if self.has_callees else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A frame below others. Paths share their common frames, so that those of a tree only take as much memory as the
    tree."""

    above: Path | None  # None: the frame is the outermost one
    frame: StackFrame
    line: int  # that of its call of the next frame; 0: not known
    depth: int  # the number of frames, including this one


@dataclass(frozen=True, slots=True)
class Stack:
    """A path with costs. row: the request's counts of the innermost frame."""

    path: Path
    row: Row

    def steps(self) -> list[_Step]:
        """The frames with their lines, the outermost first. This takes time proportional to the length of the path."""
        found: list[_Step] = []
        path: Path | None = self.path
        while path is not None:
            found.append((path.frame, path.line))
            path = path.above
        found.reverse()
        return found

    @property
    def frames(self) -> tuple[StackFrame, ...]:
        return tuple(frame for frame, _ in self.steps())


def stacks(request: Request) -> Iterator[Stack]:
    """All paths with costs. Callers come before callees."""
    return _of_tree(request, request.tree) if request.tree else _of_graph(request)


# A frame with its line; 0: not known.
_Step = tuple[StackFrame, int]
# Several of them, the outermost first.
_Steps = tuple[_Step, ...]


def _below_path(path: Path | None, steps: _Steps) -> Path | None:
    for frame, line in steps:
        path = Path(path, frame, line, path.depth + 1 if path else 1)
    return path


def _stack(around: Path | None, steps: _Steps, row: Row) -> Iterator[Stack]:
    path = _below_path(around, steps)
    if path is not None:
        yield Stack(path, row)


def _of_tree(request: Request, tree: ContextTree) -> Iterator[Stack]:
    """The paths of a tree, one for each node. A root is left out if it is the only one."""
    frames = [
        StackFrame(function.label, function.file, object=function.object, start=line)
        for (_, function), line in zip(tree.frames, tree.lines)
    ]
    has_roots = sum(1 for above in tree.parent if above < 0) > 1
    columns = [tree.costs[tree.events.index(event)] for event in request.profile.events]
    nodes_of = Counter(tree.frame)
    code = _Code(request)
    around: list[Path | None] = []  # by node: the path around it
    for node, costs in enumerate(zip(*columns)):
        above = tree.parent[node]
        outer = around[above] if above >= 0 else None
        if above >= 0 and (has_roots or tree.parent[above] >= 0):
            outer = _below_path(outer, code.call(frames[tree.frame[above]], tree.places[tree.place[node]]))
        around.append(outer)
        if not any(request.row(costs)):
            continue
        number, innermost = tree.frame[node], frames[tree.frame[node]]
        is_only_path = nodes_of[number] == 1
        function = tree.frames[number].function if is_only_path else None
        for own, row in code.own(function, innermost, costs):
            yield from _stack(outer, own, row)


class _Code:
    """The inlined functions that instructions are from, as far as they are known."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._places: dict[Function, list[Place]] = {}
        if request.chains:
            for place in request.profile.instructions:
                self._places.setdefault(place.function, []).append(place)

    def call(self, frame: StackFrame, place: CallPlace) -> _Steps:
        """The frame of the function that calls from a place, and those of the functions inlined there."""
        chain = self._request.chains.get(frame.object, {}).get(place.address, ())
        return _inlined(frame, chain) if chain else ((frame, place.line),)

    def own(
        self, function: Function | None, frame: StackFrame, costs: Row
    ) -> Iterator[tuple[_Steps, Row]]:
        """The self costs of a path, by inlined functions and lines, without those that are 0. function: if given, all
        of its costs are on this path, so that its instructions show where they are."""
        found: dict[_Steps, Row] = {}
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


def _inlined(frame: StackFrame, chain: Chain) -> _Steps:
    inner = (
        (StackFrame(name, file, object=frame.object, is_inlined=True), line)
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
                yield from _stack(None, ((_end(graph, function), 0),), row)
    for cycle in graph.cycles:
        incoming = [
            call.cost
            for member in cycle.members
            for caller, call in graph.callers.get(member, {}).items()
            if not graph.within_cycle(caller, member)
        ]
        row = request.row(subtract_rows(cycle.inclusive, sum_rows(incoming, width)))
        if any(row):
            # It is not known which of its members was entered first.
            yield from _stack(None, ((StackFrame(f"<cycle {cycle.number}>", "???", True), 0),), row)


def require_size(request: Request, form: str) -> None:
    """Raise UserError if there are too many frames, for formats in which each path lists all of its frames: these grow
    with the square of a tree's depth."""
    frames = sum(stack.path.depth for stack in stacks(request))
    if frames > _MOST_FRAMES:
        raise UserError(
            f"--export={form} would list {frames:,} functions, as it repeats those of each path; at most "
            f"{_MOST_FRAMES:,} are written: use --export=firefox, whose paths share them, or run with "
            "--context-tree-recursion=folded or a smaller --context-tree-nodes"
        )


def certain_share(request: Request) -> float:
    """The share of the first count that is in separate frames on paths that are certain, from 0 to 1."""
    total = certain = 0
    for stack in stacks(request):
        total += stack.row[0]
        certain += 0 if stack.path.frame.has_callees else stack.row[0]
    return certain / total if total else 1.0


def _below(
    request: Request, graph: CallGraph, code: _Code, root: Function
) -> Iterator[Stack]:
    """The certain paths that begin with `root`. Chains of calls are deeper than Python's stack, so the search has its
    own list."""
    open_paths: list[tuple[Function, Path | None]] = [(root, None)]
    while open_paths:
        function, around = open_paths.pop()
        frame = _frame(function)
        for own, row in code.own(function, frame, graph.functions[function].self_cost):
            yield from _stack(around, own, row)
        path = _below_path(around, ((frame, 0),))
        for callee, call in sorted(graph.callees.get(function, {}).items(), reverse=True):
            if _has_one_path(graph, callee) and _is_covered(request, graph, callee):
                open_paths.append((callee, path))
                continue
            row = request.row(call.cost)
            if any(row):
                yield from _stack(path, ((_end(graph, callee), 0),), row)


def _frame(function: Function) -> StackFrame:
    return StackFrame(function.label, function.file, object=function.object)


def _end(graph: CallGraph, function: Function) -> StackFrame:
    has_callees = bool(graph.callees.get(function))
    return StackFrame(function.label, function.file, has_callees, function.object)


def _has_one_path(graph: CallGraph, function: Function) -> bool:
    """Whether at most one function calls it, and it is not recursive. The caller of this must know that the path of
    that function is certain."""
    costs = graph.functions[function]
    return not costs.cycle and not costs.recursive and len(graph.callers.get(function, {})) <= 1


def _is_covered(request: Request, graph: CallGraph, function: Function) -> bool:
    """Whether a function was always called when it ran, so that no thread or handler begins with it."""
    (call,) = graph.callers[function].values()
    return call.cost[: request.counted] == graph.functions[function].inclusive[: request.counted]
