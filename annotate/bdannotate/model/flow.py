# SPDX-License-Identifier: GPL-2.0-or-later
"""The control flow that a function has executed, from its instructions and jumps.

A profile with instructions and jumps (--structure=yes, or --dump-instr=yes --collect-jumps=yes)
says how often each instruction was executed, and where and how often it was jumped to. What it does
not say follows: what was executed and did not jump went on to the next instruction, or left the
function; what was executed and was not jumped to was come to from the instruction before it, or by
entering the function. Where both could be, as behind a call that never returned, the next
instruction is taken. Calls that ended with an exception lead to the handlers that were entered as
often, if only these can be meant.

An instruction that jumps to itself, as with a REP prefix, counts as one until it goes on. One that
calls may have been charged with what is not shown, such as stubs of the dynamic linker: it was
executed as often as it called, unless the rest went on behind it, as from a conditional jump to
another function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .errors import UserError
from .profile import Function, Jump, JumpCount, Profile, Row, add_rows

# No instruction of x86 is longer; those of ARM have 4 bytes.
_LONGEST_INSTRUCTION = 15


class Step(NamedTuple):
    """An executed instruction. cost is its self cost."""

    address: int
    file: str
    line: int
    cost: Row


class Block(NamedTuple):
    """Instructions that were always executed one after the other, by their numbers in the flow."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Blocks are known by their number, in the order of addresses."""

    steps: tuple[Step, ...]
    executed: tuple[int, ...]  # how often each step was
    blocks: tuple[Block, ...]
    successors: tuple[Mapping[int, int], ...]  # for each block: how often control went on where
    entered: tuple[int, ...]  # for each block: how often it was not come to from another one

    @property
    def entry(self) -> int:
        """The block that the function is entered at: other entries are few, such as by signals."""
        return max(range(len(self.blocks)), key=lambda block: self.entered[block], default=0)


def flows(profile: Profile, functions: Iterable[Function]) -> dict[Function, Flow]:
    """Of those functions that have instructions."""
    wanted = frozenset(functions)
    if "Ir" not in profile.events:
        raise UserError("the profile does not count instructions (Ir): no loops can be found")
    executed_event = profile.events.index("Ir")
    steps: dict[Function, dict[int, Step]] = {}
    for place, instructions in profile.instructions.items():
        if place.function not in wanted:
            continue
        mine = steps.setdefault(place.function, {})
        for address, (line, cost) in instructions.items():
            known = mine.get(address)
            total = add_rows(known.cost, cost) if known else cost
            mine[address] = Step(address, place.file, line, total)
    jumps: dict[Function, dict[tuple[int, int], int]] = {}
    for jump, count in profile.jumps.items():
        function = jump.source.function
        if function in steps and jump.target.function == function:
            _add_jump(jumps.setdefault(function, {}), jump, count)
    calls: dict[Function, dict[int, int]] = {}
    for key, call in profile.instruction_calls.items():
        if key.caller in steps:
            made = calls.setdefault(key.caller, {})
            made[key.address] = made.get(key.address, 0) + call.calls
    return {
        function: _flow(
            [mine[address] for address in sorted(mine)], jumps.get(function, {}),
            calls.get(function, {}), executed_event,
        )
        for function, mine in steps.items()
    }


def _add_jump(jumps: dict[tuple[int, int], int], jump: Jump, count: JumpCount) -> None:
    way = jump.source_address, jump.target_address
    jumps[way] = jumps.get(way, 0) + count.followed


def _flow(
    steps: Sequence[Step], jumps: Mapping[tuple[int, int], int], calls: Mapping[int, int],
    executed_event: int,
) -> Flow:
    made, repeated = _jumps_made(steps, jumps)
    counted = [max(step.cost[executed_event] - own, 0) for step, own in zip(steps, repeated)]
    executed = _executed(steps, counted, made, calls)
    out_left, in_left = list(executed), list(executed)
    for source, target, count in made:
        out_left[source] = max(out_left[source] - count, 0)
        in_left[target] = max(in_left[target] - count, 0)
    falls = [
        min(out_left[index], in_left[index + 1]) if _is_next(steps, index) else 0
        for index in range(len(steps) - 1)
    ]
    caught = _caught(steps, calls, out_left, in_left, falls)
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
        Block(first, end - 1) for first, end in zip(firsts, [*firsts[1:], len(steps)])
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
    return Flow(tuple(steps), tuple(executed), blocks, tuple(successors), tuple(entered))


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


def _caught(
    steps: Sequence[Step], calls: Mapping[int, int], out_left: Sequence[int],
    in_left: Sequence[int], falls: Sequence[int],
) -> list[tuple[int, int, int]]:
    """Ways from calls to where control went on after an exception, or a jump out of the call. Known
    is how often each call did not return, and how often each handler was entered."""
    lost = {
        index: left - fall
        for index, (step, left, fall) in enumerate(zip(steps, out_left, [*falls, 0]))
        if calls.get(step.address) and left > fall
    }
    before = [0, *falls]
    entered = [index for index, count in enumerate(in_left) if count > before[index]]
    # The function itself begins before its handlers.
    handlers = entered[1:]
    ways: list[tuple[int, int, int]] = []
    while handlers and lost:
        known = next(
            (
                (handler, sources)
                for handler in handlers
                # What seems to have gone on from the instruction before may be such an entry, too.
                for count in (in_left[handler], in_left[handler] - before[handler])
                for sources in _sources(lost, count, len(handlers) == 1)
            ),
            None,
        )
        if known is None:
            break
        handler, sources = known
        handlers.remove(handler)
        ways += [(source, handler, lost.pop(source)) for source in sources]
    return ways


def _sources(lost: Mapping[int, int], count: int, is_only: bool) -> list[list[int]]:
    """The calls that alone can have led to what was entered so often; nothing if that is open."""
    if is_only and sum(lost.values()) == count:
        return [list(lost)]
    alike = [[source] for source, number in lost.items() if number == count]
    return alike if len(alike) == 1 else []


def _executed(
    steps: Sequence[Step], counted: Sequence[int], made: Sequence[tuple[int, int, int]],
    calls: Mapping[int, int],
) -> list[int]:
    executed = list(counted)
    jumped_to = [0] * len(steps)
    for _, target, count in made:
        jumped_to[target] += count
    for index in reversed(range(len(steps))):
        called = calls.get(steps[index].address, 0)
        if 0 < called < executed[index]:
            behind = before = 0
            if index + 1 < len(steps) and _is_next(steps, index):
                behind = executed[index + 1] - jumped_to[index + 1]
            if index and _is_next(steps, index - 1) and not jumped_to[index]:
                before = counted[index - 1]
            if 0 < behind == before < called:
                # The dynamic linker was called, too, to find what to call.
                executed[index] = behind
            elif behind == called or behind != executed[index] - called:
                executed[index] = called
    return executed


def _is_next(steps: Sequence[Step], index: int) -> bool:
    """Whether the step behind this one can be the next instruction."""
    return steps[index + 1].address - steps[index].address <= _LONGEST_INSTRUCTION
