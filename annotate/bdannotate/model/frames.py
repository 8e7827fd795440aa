# SPDX-License-Identifier: GPL-2.0-or-later
"""The frames of a function: its loops and the functions inlined into it, nested as they ran.

Each executed instruction has a chain of inlined calls, which debug information describes, and may be in loops, which
follow from the control flow. A loop belongs to the inlined function that contains its jump back and nearly all of its
instructions; inlined calls of only some of its instructions are within the loop.

Loops in the same frame that begin at the same source line count as one, with several parts: the compiler made them by
unrolling, vectorising or splitting a loop into versions.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .errors import UserError
from .flow import Flow, Step, flows
from .profile import Call, Function, Profile, Row, add_rows, sum_rows
from .regions import Region, find_regions, jumps

# The minimum share of a loop's executed instructions that are in the inlined function that it belongs to. It is more
# than two thirds, which is what a comparison and a jump alone are of a loop of three instructions.
_MOST = 0.8


class Kind(enum.Enum):
    """The kind of a frame."""

    FUNCTION = "function"
    INLINED = "inlined"
    LOOP = "loop"
    REGION = "irreducible region"


class Position(NamedTuple):
    """The position of an instruction within one function of its chain."""

    function: str
    file: str
    line: int
    start: int = 0  # the first line of the function; 0: not known, or not asked for


# The positions of an instruction, the outermost function first. Each but the last one is a call that was inlined.
Chain = tuple[Position, ...]
# The chains by object file and address.
Chains = Mapping[str, Mapping[int, Chain]]


@dataclass(frozen=True, slots=True)
class LoopPart:
    """A loop of the machine code. address: that of its header or, of an irreducible region, of the first one."""

    address: int
    entries: int
    iterations: int


class FrameCall(NamedTuple):
    """A call from a frame, with its file and line."""

    callee: Function
    file: str
    line: int
    call: Call


@dataclass(frozen=True, slots=True)
class Frame:
    """A function, a loop in it, or a function inlined into it.

    name: that of a function; empty for a loop with a line.
    file, line: where a loop begins, or where an inlined function is called; of a function, its file and 0.
    entries: how often control entered the frame from outside, by the flow of instructions. If the compiler mixed its
    code with the code around it, that is more often than the source says.
    inclusive: without calls of the function to itself, like the inclusive costs of functions, as their costs are in its
    frames already.
    """

    kind: Kind
    name: str
    file: str
    line: int
    address: int
    entries: int
    parts: tuple[LoopPart, ...]
    self_cost: Row
    inclusive: Row
    lines: Mapping[tuple[str, int], Row]
    calls: tuple[FrameCall, ...]
    frames: tuple[Frame, ...]
    addresses: tuple[int, ...] = ()  # those of its own instructions


@dataclass(slots=True, eq=False)
class _Node:
    """A frame in the making."""

    kind: Kind
    name: str
    file: str
    line: int
    address: int
    parent: _Node | None
    entries: int = 0
    parts: list[LoopPart] = field(default_factory=list)
    lines: dict[tuple[str, int], Row] = field(default_factory=dict)
    calls: list[FrameCall] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    below: dict[tuple[str, str, str, int], _Node] = field(default_factory=dict)

    def child(self, kind: Kind, name: str, file: str, line: int, address: int) -> _Node:
        key = kind.value, name, file, line
        found = self.below.get(key)
        if found is None:
            found = _Node(kind, name, file, line, address, self)
            self.below[key] = found
        return found


def frames_by_function(
    profile: Profile, functions: Iterable[Function], chains: Chains
) -> dict[Function, Frame]:
    """The frames of those functions that executed instructions themselves. Raises UserError if the profile has no
    instructions and jumps."""
    if not profile.instructions or not profile.jumps:
        raise UserError(
            f"{profile.parts[0].source} has no instructions and jumps, from which loops are found: run with "
            "--structure=yes, in Callgrind with --dump-instr=yes --collect-jumps=yes"
        )
    found = flows(profile, functions)
    calls: dict[Function, dict[int, list[tuple[Function, Call]]]] = {}
    for (caller, callee, address), call in profile.instruction_calls.items():
        if caller in found:
            calls.setdefault(caller, {}).setdefault(address, []).append((callee, call))
    return {
        function: frames_of(
            function, flow, chains.get(function.object, {}), calls.get(function, {})
        )
        for function, flow in found.items()
    }


def frames_of(
    function: Function, flow: Flow, chains: Mapping[int, Chain],
    calls: Mapping[int, Sequence[tuple[Function, Call]]],
) -> Frame:
    """The frame of a function. chains, calls: by address. An instruction without a chain is the function's own."""
    regions = find_regions(flow)
    innermost: list[int | None] = [None] * len(flow.steps)
    for index, region in enumerate(regions):
        for block in region.blocks:
            first, last = flow.blocks[block]
            innermost[first : last + 1] = [index] * (last + 1 - first)
    all_chains = [_chain(function, step, chains) for step in flow.steps]
    inlined = [_inlined_calls(chain, step) for chain, step in zip(all_chains, flow.steps)]
    shared = _shared_calls(regions, flow, inlined)
    begin = flow.blocks[flow.entry].first
    opening = _opening(all_chains, begin)
    root = _Node(Kind.FUNCTION, function.name, function.file, 0, flow.steps[begin].address, None)
    nodes: list[_Node] = []
    named: set[tuple[str, int]] = set()
    for region, common in zip(regions, shared):
        around, depth = root, 0
        if region.parent is not None:
            around, depth = nodes[region.parent], len(shared[region.parent])
        outer = (around.file, around.line) if around is not root and depth == len(common) else ("", 0)
        around = _below(around, common[depth:])
        nodes.append(_loop_node(region, flow, all_chains, around, len(common), opening, named, outer))
    own: list[_Node] = []
    for calls_in, within in zip(inlined, innermost):
        if within is None:
            own.append(_below(root, calls_in))
            continue
        # Instructions that are not from the loop's inlined function were moved into the loop.
        depth = len(shared[within])
        is_inside = _equal(shared[within], calls_in) == depth
        own.append(_below(nodes[within], calls_in[depth:] if is_inside else ()))
    for step, node in zip(flow.steps, own):
        where = step.file, step.line
        node.addresses.append(step.address)
        known = node.lines.get(where)
        node.lines[where] = add_rows(known, step.cost) if known else step.cost
        for callee, call in calls.get(step.address, ()):
            node.calls.append(FrameCall(callee, step.file, step.line, call))
    _count_entries(flow, own)
    return _frozen(root, (0,) * len(flow.steps[0].cost), function)


class _InlinedCall(NamedTuple):
    name: str
    file: str
    line: int
    address: int


def _chain(function: Function, step: Step, chains: Mapping[int, Chain]) -> Chain:
    return chains.get(step.address) or (Position(function.name, step.file, step.line),)


def _inlined_calls(chain: Chain, step: Step) -> list[_InlinedCall]:
    return [
        _InlinedCall(inner.function, outer.file, outer.line, step.address)
        for outer, inner in zip(chain, chain[1:])
    ]


def _below(node: _Node, calls: Sequence[_InlinedCall]) -> _Node:
    for call in calls:
        node = node.child(Kind.INLINED, *call)
    return node


def _equal(calls: Sequence[_InlinedCall], others: Sequence[_InlinedCall]) -> int:
    """How many calls are the same, from the outermost one on."""
    number = 0
    for one, other in zip(calls, others):
        if one[:3] != other[:3]:
            break
        number += 1
    return number


def _shared_calls(
    regions: Sequence[Region], flow: Flow, inlined: Sequence[Sequence[_InlinedCall]]
) -> list[Sequence[_InlinedCall]]:
    """The inlined calls that each region belongs to: those of the jump that closes it which contain nearly all that it
    executes. Compilers move single instructions into loops of other functions, and the jump may be in an inlined
    comparison with little else."""
    found: list[Sequence[_InlinedCall]] = []
    for region in regions:
        calls = inlined[_closing_step(region, flow)]
        executed = [0] * (len(calls) + 1)
        for block in region.blocks:
            for index in range(flow.blocks[block].first, flow.blocks[block].last + 1):
                executed[_equal(calls, inlined[index])] += flow.executed[index]
        depth, inside = len(calls), executed[-1]
        while inside < _MOST * sum(executed):
            depth -= 1
            inside += executed[depth]
        around = found[region.parent] if region.parent is not None else []
        is_within = _equal(around, calls[:depth]) == len(around)
        found.append(calls[:depth] if is_within else around)
    return found


def _closing_step(region: Region, flow: Flow) -> int:
    """The index of the jump that repeats a loop; if the block `closing` does not jump, the end of the header, which
    then is behind the body."""
    is_jump = jumps(flow, region.closing)
    return flow.blocks[region.closing if is_jump else region.headers[0]].last


def _opening(chains: Sequence[Chain], begin: int) -> Position:
    """The position where a function begins: its first line, as what is executed first may be the test of a loop."""
    first = chains[begin][0]
    own = [chain[0] for chain in chains if chain[0].file == first.file and chain[0].line]
    return min(own, key=lambda place: place.line, default=first)


class _Named(NamedTuple):
    """The name of a region: the position of its loop."""

    file: str
    line: int
    address: int
    iterations: int


def _named(
    region: Region, flow: Flow, chains: Sequence[Chain], depth: int, opening: Position,
    others: Container[tuple[str, int]], around: tuple[str, int] = ("", 0),
) -> _Named:
    """The name of a region: the first line of those instructions that may decide whether the loop goes on, as compilers
    put the test at the end or at the beginning, and tests of the body at the other.

    Some lines do not count if there are others: the first line of a function, which instructions from anywhere may
    have; a line that another loop, an outer or earlier one, is named by; and a line before the outer loop, as of a
    constant that code there uses, too. depth: the number of inlined calls that the region belongs to. others: the names
    of other loops. around: the position of the outer loop, if it is in the same inlined function.
    """
    first = min(flow.blocks[header].first for header in region.headers)
    at_start = flow.blocks[region.headers[0]]

    def position(index: int) -> Position:
        return chains[index][min(depth, len(chains[index]) - 1)]

    deciding = [_closing_step(region, flow), at_start.first]
    if jumps(flow, region.headers[0]):
        deciding.append(at_start.last)
    begin = flow.blocks[flow.entry].first

    def opens_function(place: Position) -> bool:
        is_own = depth == 0 and first != begin and place.file == opening.file
        return is_own and place.line <= opening.line

    known = [place for place in map(position, deciding) if place.line]
    # In a function of one line, there is no other line.
    known = [place for place in known if not opens_function(place)] or known
    known = [place for place in known if place.file != around[0] or place.line >= around[1]] or known
    jump = position(deciding[0])
    if jump in known and (jump.file, jump.line) not in others:
        known = [place for place in known if (place.file, place.line) not in others]
    file, line = "", 0
    if known:
        file = known[0].file
        line = min(place.line for place in known if place.file == file)
    # If the header ends with the loop's own test, the last pass left it before the body.
    is_test = position(at_start.last).line in (line, 0)
    iterations = region.passed - (region.left if is_test else 0)
    return _Named(file, line, flow.steps[first].address, iterations)


def _loop_node(
    region: Region, flow: Flow, chains: Sequence[Chain], around: _Node, depth: int,
    opening: Position, others: set[tuple[str, int]], outer: tuple[str, int],
) -> _Node:
    name = _named(region, flow, chains, depth, opening, others, outer)
    others.add((name.file, name.line))
    kind = Kind.REGION if region.is_irreducible else Kind.LOOP
    # Loops without a source line are named by their address.
    address = "" if name.line else f"{name.address:#x}"
    node = around.child(kind, address, name.file, name.line, name.address)
    node.parts.append(LoopPart(name.address, region.entries, name.iterations))
    return node


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the machine code, with the position by which its frame is named. calls: the files and lines of the
    inlined calls around it, the outermost first. address: that of its header. parent: the index of the outer loop in
    the nest; None if there is none."""

    file: str
    line: int
    calls: tuple[tuple[str, int], ...]
    address: int
    entries: int
    iterations: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a function, outer ones before inner ones.

    innermost: the index of the innermost loop that an executed instruction is in, by its address.
    outside: the addresses of executed instructions that are in no loop, and do not repeat themselves.
    """

    loops: tuple[Loop, ...]
    innermost: Mapping[int, int]
    outside: frozenset[int] = frozenset()


def nest_of(function: Function, flow: Flow, chains: Mapping[int, Chain]) -> Nest:
    """The loops of a function. chains: by address. An instruction without a chain is the function's own."""
    regions = find_regions(flow)
    all_chains = [_chain(function, step, chains) for step in flow.steps]
    inlined = [_inlined_calls(chain, step) for chain, step in zip(all_chains, flow.steps)]
    shared = _shared_calls(regions, flow, inlined)
    opening = _opening(all_chains, flow.blocks[flow.entry].first)
    loops: list[Loop] = []
    named: set[tuple[str, int]] = set()
    innermost: dict[int, int] = {}
    for number, (region, common) in enumerate(zip(regions, shared)):
        outer = ("", 0)
        if region.parent is not None and len(shared[region.parent]) == len(common):
            outer = loops[region.parent].file, loops[region.parent].line
        name = _named(region, flow, all_chains, len(common), opening, named, outer)
        named.add((name.file, name.line))
        loops.append(Loop(
            name.file, name.line, tuple((call.file, call.line) for call in common), name.address,
            region.entries, name.iterations, region.parent,
        ))
        for block in region.blocks:
            first, last = flow.blocks[block]
            for index in range(first, last + 1):
                innermost[flow.steps[index].address] = number
    once = {step.address for index, step in enumerate(flow.steps) if index not in flow.repeating}
    return Nest(tuple(loops), innermost, frozenset(once - innermost.keys()))


def _count_entries(flow: Flow, own: Sequence[_Node]) -> None:
    """Set the entries of all frames. own: the innermost frame of each step."""
    def go_on(source: _Node | None, target: _Node, count: int) -> None:
        around: set[_Node] = set()
        while source is not None:
            around.add(source)
            source = source.parent
        node: _Node | None = target
        while node is not None and node not in around:
            node.entries += count
            node = node.parent

    for block, ways, entered in zip(flow.blocks, flow.successors, flow.entered):
        go_on(None, own[block.first], entered)
        for index in range(block.first, block.last):
            if own[index] is not own[index + 1]:
                go_on(own[index], own[index + 1], flow.executed[index])
        for other, count in ways.items():
            go_on(own[block.last], own[flow.blocks[other].first], count)


def _frozen(node: _Node, zero: Row, function: Function) -> Frame:
    frames = tuple(_frozen(below, zero, function) for below in node.below.values())
    self_cost = sum_rows(node.lines.values(), len(zero))
    inclusive = [self_cost, *(frame.inclusive for frame in frames)]
    inclusive += [made.call.cost for made in node.calls if made.callee != function]
    return Frame(
        node.kind, node.name, node.file, node.line, node.address, node.entries,
        tuple(node.parts), self_cost, sum_rows(inclusive, len(zero)), node.lines,
        tuple(node.calls), frames, tuple(node.addresses),
    )
