# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops whose iterations all execute the same instructions. The time of such an iteration, if its data hits L1, follows
from its code, which shows which instruction waits for which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ...model.code import costs_at
from ...model.frames import Nest
from ...model.machine import Machine
from ...model.profile import Function, Profile
from ...model.work import Body, Cycles, Estimate

# An instruction belongs to each iteration if its executions are at least this share of those of the most frequent one.
_EACH = 0.95
# The minimum share of a loop's executed instructions that must belong to each iteration.
_STRAIGHT = 0.95
# Loops with a smaller share of the program's instructions are skipped.
_NOTABLE = 0.01
_MOST_BODIES = 40
_LONGEST = 400  # instructions of a body; loops with longer ones are skipped


@dataclass(frozen=True, slots=True)
class LoopBody:
    """A loop with a straight body. instructions: how often each one was executed, by address; those that do not belong
    to each iteration are included."""

    function: Function
    body: Body
    iterations: float
    instructions: Mapping[int, int]


def loop_bodies(profile: Profile, nests: Mapping[Function, Nest], most: int = _MOST_BODIES) -> list[LoopBody]:
    """The innermost loops that make no calls and whose iterations are all the same, at most `most` of them, those that
    execute most instructions first; none if the profile has no `Ir`."""
    if "Ir" not in profile.events:
        return []
    event = profile.events.index("Ir")
    least = _NOTABLE * profile.totals()[event]
    wanted: dict[str, set[int]] = {}
    for function, nest in nests.items():
        wanted.setdefault(function.object, set()).update(nest.innermost)
    costs = costs_at(profile.instructions, wanted, [event])
    calling: set[tuple[str, int]] | None = None
    found: list[tuple[int, LoopBody]] = []
    for function, nest in nests.items():
        outer = {loop.parent for loop in nest.loops}
        loops: dict[int, dict[int, int]] = {}
        for address, number in nest.innermost.items():
            if number not in outer and (row := costs.get(function.object, {}).get(address)):
                loops.setdefault(number, {})[address] = row[0]
        for instructions in loops.values():
            total = sum(instructions.values())
            if total < max(least, 1):
                continue
            if calling is None:
                calling = {(caller.object, address) for caller, _, address in profile.instruction_calls}
            if not _calls(function.object, instructions, calling):
                made = _body(function, instructions)
                if made is not None:
                    found.append((total, made))
    found.sort(key=lambda one: (-one[0], one[1].body.object, one[1].body.addresses))
    return [one for _, one in found[:most]]


def _calls(module: str, addresses: Collection[int], calling: Collection[tuple[str, int]]) -> bool:
    return any((module, address) in calling for address in addresses)


def _body(function: Function, instructions: Mapping[int, int]) -> LoopBody | None:
    most = max(instructions.values())
    each = sorted(address for address, count in instructions.items() if count >= _EACH * most)
    mine = sum(instructions[address] for address in each)
    if len(each) > _LONGEST or mine < _STRAIGHT * sum(instructions.values()):
        return None
    return LoopBody(function, Body(function.object, tuple(each)), mine / len(each), dict(instructions))


def work_of(
    bodies: Iterable[LoopBody], cycles: Mapping[Body, Cycles], machine: Machine
) -> dict[tuple[Function, int], Estimate]:
    """The total nanoseconds of each instruction, by function and address. Within a loop, each execution of an
    instruction gets the same time. cycles: those that are known, by body."""
    found: dict[tuple[Function, int], Estimate] = {}
    for one in bodies:
        known = cycles.get(one.body)
        if known is None:
            continue
        total = sum(one.instructions.values())
        time, least = (one.iterations * each * machine.cycle for each in (known.each, known.least))
        for address, count in one.instructions.items():
            found[one.function, address] = Estimate(time * count / total, least * count / total, time * count / total)
    return found
