# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles added, subtracted and renamed. As all costs are sums, (A + B) - B = A. Entries without costs go."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from .costs import Costs
from .errors import UserError
from .profile import (
    Call, CallSite, Function, InstructionCall, InstructionCost, JumpCount, Place, Profile, Row,
    add_rows,
)
from .sample import both, chosen, mapped

Key = TypeVar("Key")
Value = TypeVar("Value")

# An event in a formula.
_NAME = re.compile(r"[A-Za-z_][^\s+*-]*")


def add(left: Profile, right: Profile) -> Profile:
    """The sum of two profiles, which must have the same events in any order."""
    return _combine(left, right, 1)


def subtract(left: Profile, right: Profile) -> Profile:
    """The left profile without the right one, which must have the same events in any order."""
    return _combine(left, right, -1)


def _combine(left: Profile, right: Profile, sign: int) -> Profile:
    right = reorder(right, left.events)
    zero = left.zero

    def scaled(row: Row) -> Row:
        return row if sign == 1 else tuple(-count for count in row)

    def call(mine: Call | None, other: Call) -> Call | None:
        calls, cost = mine or (0, zero)
        result = Call(calls + sign * other.calls, add_rows(cost, scaled(other.cost)))
        return result if result.calls or any(result.cost) else None

    def row(mine: Row | None, other: Row) -> Row | None:
        result = add_rows(mine or zero, scaled(other))
        return result if any(result) else None

    def instruction(mine: InstructionCost | None, other: InstructionCost) -> InstructionCost | None:
        cost = row(mine.cost if mine else None, other.cost)
        return InstructionCost(other.line, cost) if cost else None

    def jump(mine: JumpCount | None, other: JumpCount) -> JumpCount | None:
        followed, executed = mine or (0, 0)
        result = JumpCount(followed + sign * other.followed, executed + sign * other.executed)
        return result if any(result) else None

    def rows(mine: Mapping[int, Row] | None, other: Mapping[int, Row]) -> dict[int, Row] | None:
        return _merged(mine or {}, other, row) or None

    def instructions(
        mine: Mapping[int, InstructionCost] | None, other: Mapping[int, InstructionCost]
    ) -> dict[int, InstructionCost] | None:
        return _merged(mine or {}, other, instruction) or None

    return Profile(
        parts=left.parts + right.parts,
        events=left.events,
        titles={**right.titles, **left.titles},
        formulas={**right.formulas, **left.formulas},
        lines=_merged(left.lines, right.lines, rows),
        calls=_merged(left.calls, right.calls, call),
        instructions=_merged(left.instructions, right.instructions, instructions),
        instruction_calls=_merged(left.instruction_calls, right.instruction_calls, call),
        jumps=_merged(left.jumps, right.jumps, jump),
        beginnings={**right.beginnings, **left.beginnings},
        hot=_merged(left.hot, right.hot, instructions),
        hot_calls=_merged(left.hot_calls, right.hot_calls, instructions),
        intervals=both(left.intervals, right.intervals),
    )


def _merged(
    left: Mapping[Key, Value],
    right: Mapping[Key, Value],
    combine: Callable[[Value | None, Value], Value | None],
) -> dict[Key, Value]:
    """Both mappings combined, without keys for which `combine` returns None."""
    result = dict(left)
    for key, other in right.items():
        combined = combine(result.get(key), other)
        if combined is not None:
            result[key] = combined
        elif key in result:
            del result[key]
    return result


def common_events(left: Profile, right: Profile) -> tuple[str, ...]:
    """The events that both profiles have, in the order of the left one. Raises UserError if there are none."""
    common = tuple(event for event in left.events if event in right.events)
    if not common:
        raise UserError(
            f"{left.parts[0].source} and {right.parts[0].source} have no event in common"
        )
    return common


def reorder(profile: Profile, events: tuple[str, ...]) -> Profile:
    """The profile with its events in this order. Raises UserError unless these are exactly its events."""
    if profile.events == events:
        return profile
    if set(profile.events) != set(events):
        raise UserError(
            f"{profile.parts[0].source} has {' '.join(profile.events)}, but the profile before it {' '.join(events)}"
        )
    return project(profile, events)


def _without(formulas: Mapping[str, str], events: Set[str]) -> dict[str, str]:
    """The formulas that do not depend on these events, directly or by other formulas."""
    lost = set(events)
    left = dict(formulas)
    while gone := [name for name, formula in left.items() if lost & set(_NAME.findall(formula))]:
        lost.update(gone)
        for name in gone:
            del left[name]
    return left


def project(profile: Profile, events: tuple[str, ...]) -> Profile:
    """The profile with only these of its events, in this order."""
    if profile.events == events:
        return profile
    order = [profile.events.index(event) for event in events]

    def row(costs: Row) -> Row:
        return tuple(costs[index] for index in order)

    def instructions(
        places: Mapping[Place, Mapping[int, InstructionCost]]
    ) -> dict[Place, dict[int, InstructionCost]]:
        return {
            place: {
                address: InstructionCost(instruction.line, row(instruction.cost))
                for address, instruction in rows.items()
            }
            for place, rows in places.items()
        }

    return replace(
        profile,
        events=events,
        formulas=_without(profile.formulas, set(profile.events) - set(events)),
        lines={
            place: {line: row(costs) for line, costs in rows.items()}
            for place, rows in profile.lines.items()
        },
        calls={site: Call(call.calls, row(call.cost)) for site, call in profile.calls.items()},
        instructions=instructions(profile.instructions),
        hot=instructions(profile.hot),
        hot_calls=instructions(profile.hot_calls),
        instruction_calls={
            key: Call(call.calls, row(call.cost))
            for key, call in profile.instruction_calls.items()
        },
        intervals=chosen(profile.intervals, row) if profile.intervals else None,
    )


@dataclass(frozen=True, slots=True)
class Substitution:
    """sed's s/OLD/NEW/, with the flags g (every match) and i (any case)."""

    pattern: re.Pattern[str]
    replacement: str
    every: bool

    def apply(self, text: str) -> str:
        return self.pattern.sub(self.replacement, text, count=0 if self.every else 1)


@dataclass(frozen=True, slots=True)
class Renaming:
    """The substitutions for the names of files, including object files, and of functions, applied in order."""

    files: tuple[Substitution, ...] = ()
    functions: tuple[Substitution, ...] = ()


def parse_substitution(text: str) -> Substitution:
    """The substitution s/OLD/NEW/ that a text states; any character may replace the slash. Raises UserError."""
    parts = re.split(rf"(?<!\\){re.escape(text[1])}", text[2:]) if len(text) > 1 else []
    if text[:1] != "s" or len(parts) != 3 or set(parts[2]) - set("gi"):
        raise UserError(f"'{text}' is not of the form s/OLD/NEW/, with g and i as flags")
    old, new, flags = parts
    try:
        pattern = re.compile(old, re.IGNORECASE if "i" in flags else 0)
        replacement = re.sub(r"\$(\d)", r"\\\1", new)
        pattern.sub(replacement, "")  # complains about a group that is not there
        return Substitution(pattern, replacement, "g" in flags)
    except re.error as error:
        raise UserError(f"'{text}': {error}") from None


def rename(profile: Profile, renaming: Renaming) -> Profile:
    """The profile with other names. Entries that get the same name are added up."""
    if not renaming.files and not renaming.functions:
        return profile

    return map_functions(
        profile,
        lambda function: rename_function(function, renaming),
        lambda name: _applied(renaming.files, name),
    )


def rename_function(function: Function, renaming: Renaming) -> Function:
    """The function with other names."""
    return Function(
        _applied(renaming.files, function.object),
        _applied(renaming.files, function.file),
        _applied(renaming.functions, function.name),
    )


def functions_of(profile: Profile) -> set[Function]:
    """All functions with self costs or calls."""
    found = {place.function for place in profile.lines}
    for site in profile.calls:
        found.add(site.caller)
        found.add(site.callee)
    return found


def map_functions(
    profile: Profile, function: Callable[[Function], Function],
    file: Callable[[str], str] = lambda name: name,
) -> Profile:
    """The profile with other functions and files. Entries that become the same are added up."""

    def place(old: Place) -> Place:
        return Place(function(old.function), file(old.file))

    costs = Costs()
    for old_place, rows in profile.lines.items():
        costs.add_lines(place(old_place), rows)
    for old_place, instructions in profile.instructions.items():
        costs.add_instructions(place(old_place), instructions)
    for old_place in {**profile.hot, **profile.hot_calls}:
        costs.add_hot_code(
            place(old_place), profile.hot.get(old_place, {}), profile.hot_calls.get(old_place, {})
        )
    for site, call in profile.calls.items():
        new = CallSite(function(site.caller), function(site.callee), file(site.file), site.line)
        costs.add_call(new, call.calls, call.cost)
    for key, call in profile.instruction_calls.items():
        new_key = InstructionCall(function(key.caller), function(key.callee), key.address)
        costs.add_instruction_call(new_key, call.calls, call.cost)
    for jump, count in profile.jumps.items():
        costs.add_jump(jump._replace(source=place(jump.source), target=place(jump.target)), count)
    for called, address in profile.beginnings.items():
        costs.add_beginning(function(called), address)
    return replace(
        profile,
        lines=costs.lines,
        calls=costs.calls,
        instructions=costs.instructions,
        instruction_calls=costs.instruction_calls,
        jumps=costs.jumps,
        beginnings=costs.beginnings,
        hot=costs.hot,
        hot_calls=costs.hot_calls,
        intervals=mapped(profile.intervals, profile.lines, function, file) if profile.intervals else None,
    )


def _applied(substitutions: Sequence[Substitution], text: str) -> str:
    for substitution in substitutions:
        text = substitution.apply(text)
    return text
