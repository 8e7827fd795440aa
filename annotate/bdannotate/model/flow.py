# SPDX-License-Identifier: GPL-2.0-or-later
"""The control flow that a function executed, from its instructions and jumps.

A profile with instructions and jumps (--structure=yes, or --dump-instr=yes --collect-jumps=yes) states how often each
instruction was executed, and from where and how often it was jumped to. The rest follows: an instruction that was
executed and did not jump went on to the next one, or left the function; one that was executed and not jumped to was
reached from the instruction before it, or by entering the function. If both are possible, as behind a call that never
returned, the next instruction is assumed. Calls that ended with an exception lead to the handlers that were entered as
often, if there is no other possibility.

An instruction that jumps to itself, as with a REP prefix, counts once until it goes on. An instruction that calls may
have been charged with code that is not shown, such as stubs of the dynamic linker. It was executed as often as it
called, unless the rest of its executions went on behind it, as those of a conditional jump to another function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from .caught import Reach, caught_ways
from .code import jumps_of
from .errors import UserError
from .profile import Function, Jump, JumpCount, Profile, Row, add_rows

# No instruction of x86 is longer; those of ARM have 4 bytes.
_LONGEST_INSTRUCTION = 15
# Functions that throw, continue to throw, or end the program.
_NEVER_RETURNS = re.compile(
    r"_Unwind_Resume|__cxa_(?:re)?throw|std::__throw_|std::terminate|(?:_?_?exit|abort)(?:$|@)"
)
# The resolver of glibc's dynamic linker.
_RESOLVER = "_dl_runtime_resolve"


class Step(NamedTuple):
    """An executed instruction. cost: its self cost."""

    address: int
    file: str
    line: int
    cost: Row


class BasicBlock(NamedTuple):
    """Instructions that were always executed one after the other, by their indices in the flow."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Flow:
    """The control flow of a function. Steps and blocks are known by their indices, in the order of addresses."""

    steps: tuple[Step, ...]
    executed: tuple[int, ...]  # how often each step was executed
    blocks: tuple[BasicBlock, ...]
    successors: tuple[Mapping[int, int], ...]  # for each block: how often control went on to which blocks
    entered: tuple[int, ...]  # for each block: how often it was reached from no other block
    entry: int = 0  # the block that the function begins with
    repeating: frozenset[int] = frozenset()  # the steps that jumped to themselves


def flows(profile: Profile, functions: Iterable[Function]) -> dict[Function, Flow]:
    """The control flows of those functions that have instructions. Raises UserError if the profile has no `Ir`."""
    wanted = frozenset(functions)
    if "Ir" not in profile.events:
        raise UserError("the profile has no instruction counts (Ir), so no loops can be found")
    executed_event = profile.events.index("Ir")
    steps: dict[Function, dict[int, Step]] = {}
    for place in profile.instructions:
        if place.function not in wanted:
            continue
        mine = steps.setdefault(place.function, {})
        for address, (line, cost) in profile.instructions[place].items():
            known = mine.get(address)
            total = add_rows(known.cost, cost) if known else cost
            mine[address] = Step(address, place.file, line, total)
    jumps: dict[Function, dict[tuple[int, int], int]] = {}
    for jump, count in jumps_of(profile.jumps, steps).items():
        function = jump.source.function
        if jump.target.function == function:
            _add_jump(jumps.setdefault(function, {}), jump, count)
    calls: dict[Function, dict[int, int]] = {}
    resolved: dict[Function, dict[int, int]] = {}
    final: dict[Function, set[int]] = {}
    for key, call in profile.instruction_calls.items():
        if key.caller in steps:
            if _NEVER_RETURNS.match(key.callee.name):
                final.setdefault(key.caller, set()).add(key.address)
            # The resolver finds the function to call, and the profile also has the call of that function from here.
            found = resolved if key.callee.name.startswith(_RESOLVER) else calls
            made = found.setdefault(key.caller, {})
            made[key.address] = made.get(key.address, 0) + call.calls
    return {
        function: _flow(
            [mine[address] for address in sorted(mine)], jumps.get(function, {}),
            resolved.get(function, {}) | calls.get(function, {}), executed_event,
            profile.beginnings.get(function), final.get(function, frozenset()),
        )
        for function, mine in steps.items()
    }


def _add_jump(jumps: dict[tuple[int, int], int], jump: Jump, count: JumpCount) -> None:
    way = jump.source_address, jump.target_address
    jumps[way] = jumps.get(way, 0) + count.followed


def _flow(
    steps: Sequence[Step], jumps: Mapping[tuple[int, int], int], calls: Mapping[int, int],
    executed_event: int, beginning: int | None, final: Set[int],
) -> Flow:
    made, repeated = _jumps_made(steps, jumps)
    counted = [max(step.cost[executed_event] - own, 0) for step, own in zip(steps, repeated)]
    executed = _executed(steps, counted, made, calls)
    out_left, in_left = list(executed), list(executed)
    for source, target, count in made:
        out_left[source] = max(out_left[source] - count, 0)
        in_left[target] = max(in_left[target] - count, 0)
    falls = [
        min(out_left[index], in_left[index + 1])
        if _is_next(steps, index) and steps[index].address not in final else 0
        for index in range(len(steps) - 1)
    ]
    before = [0, *falls]
    entries = [index for index, left in enumerate(in_left) if left > before[index]]
    known = [index for index in entries if steps[index].address == beginning]
    handlers = [index for index in entries if index not in (known or entries[:1])]
    lost = {
        index: left - fall
        for index, (step, left, fall) in enumerate(zip(steps, out_left, [*falls, 0]))
        if calls.get(step.address) and left > fall
    }
    counts = {index: (in_left[index], in_left[index] - before[index]) for index in handlers}
    caught = caught_ways(lost, counts, Reach(made, falls, known or entries[:1]))
    for source, target, count in caught:
        out_left[source] -= count
        in_left[target] -= count
    falls = [min(fall, left) for fall, left in zip(falls, in_left[1:])]
    made += caught
    begins = {0, *(target for _, target, _ in made), *(source + 1 for source, _, _ in made)}
    for index, fall in enumerate(falls):
        if not fall == executed[index] == executed[index + 1]:
            begins.add(index + 1)
    firsts = sorted(index for index in begins if index < len(steps))
    blocks = tuple(
        BasicBlock(first, end - 1) for first, end in zip(firsts, [*firsts[1:], len(steps)])
    )
    block_of = {block.first: index for index, block in enumerate(blocks)}
    ending = {block.last: index for index, block in enumerate(blocks)}
    successors: list[dict[int, int]] = [{} for _ in blocks]
    entered = [in_left[block.first] for block in blocks]
    for source, target, count in made:
        ways = successors[ending[source]]
        ways[block_of[target]] = ways.get(block_of[target], 0) + count
    for index, fall in enumerate(falls):
        if fall and index in ending:
            ways = successors[ending[index]]
            ways[block_of[index + 1]] = ways.get(block_of[index + 1], 0) + fall
            entered[block_of[index + 1]] -= fall
    # Other entries are few, such as by signals.
    entry = max(range(len(blocks)), key=lambda block: entered[block], default=0)
    if known:
        entry = next(index for index, block in enumerate(blocks) if block.first == known[0])
    repeating = frozenset(index for index, own in enumerate(repeated) if own)
    return Flow(tuple(steps), tuple(executed), blocks, tuple(successors), tuple(entered), entry, repeating)


def _jumps_made(
    steps: Sequence[Step], jumps: Mapping[tuple[int, int], int]
) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Jumps from step to step with their counts, and how often each step jumped to itself."""
    number = {step.address: index for index, step in enumerate(steps)}
    made: list[tuple[int, int, int]] = []
    repeated = [0] * len(steps)
    for (source_address, target_address), count in sorted(jumps.items()):
        source, target = number.get(source_address), number.get(target_address)
        if source is None or target is None or not count:
            continue
        if source == target:
            repeated[source] += count
        else:
            made.append((source, target, count))
    return made, repeated


def _executed(
    steps: Sequence[Step], counted: Sequence[int], made: Sequence[tuple[int, int, int]],
    calls: Mapping[int, int],
) -> list[int]:
    """How often each step was executed, without what it was only charged with. counted: how often by its costs."""
    executed = list(counted)
    jumped_to = [0] * len(steps)
    for _, target, count in made:
        jumped_to[target] += count
    for index in reversed(range(len(steps))):
        called = calls.get(steps[index].address, 0)
        if 0 < called < executed[index]:
            behind = 0
            if index + 1 < len(steps) and _is_next(steps, index):
                behind = executed[index + 1] - jumped_to[index + 1]
            if behind == called or behind != executed[index] - called:
                executed[index] = called
    return executed


def _is_next(steps: Sequence[Step], index: int) -> bool:
    """Whether the next step may be the next instruction in memory."""
    return steps[index + 1].address - steps[index].address <= _LONGEST_INSTRUCTION
