# SPDX-License-Identifier: GPL-2.0-or-later
"""Cold parts of functions, joined with their functions.

GCC puts code that is hardly ever executed, such as most catch handlers, into a separate symbol, `f.cold`, which f jumps
to and which jumps back. In the Callgrind format, that is a function that f calls. As it never returns, it gets all that
f does after that: if the body of a loop jumps to the cold part in its tenth iteration, f has ten iterations and f.cold
has the others.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import NamedTuple

from .merge import functions_of, map_functions
from .profile import Function, Jump, JumpCount, Place, Profile

# The name of the symbol, or the demangled one, followed by the level of recursion.
_COLD = re.compile(r"(.+?)(?:\.cold| \[clone \.cold\])(?:'\d+)?", re.DOTALL)
_LEVEL = re.compile(r"'\d+$")


class _Position(NamedTuple):
    place: Place
    line: int
    address: int


def with_cold_parts(profile: Profile) -> Profile:
    """The profile with cold parts joined with their functions, as its `cold_parts` state. Calls of cold parts become
    jumps, if the profile has instructions. If a function has several levels of recursion, its cold part stays separate,
    as it is not known which level its costs belong to."""
    owners = _owners(profile)
    if not owners:
        return profile

    def joined(function: Function) -> Function:
        return owners.get(function, function)

    def is_within(caller: Function, callee: Function) -> bool:
        return callee in owners and joined(caller) == owners[callee]

    known = _positions(profile, set(owners) | set(owners.values()))
    jumps = dict(profile.jumps)
    for key, call in profile.instruction_calls.items():
        source = known.get((key.caller, key.address))
        target = known.get((key.callee, profile.beginnings.get(key.callee, 0)))
        if is_within(key.caller, key.callee) and source and target and call.calls:
            jump = Jump(*source, *target, conditional=False)
            jumps[jump] = JumpCount(call.calls, call.calls)
    calls = {
        site: call for site, call in profile.calls.items()
        if not is_within(site.caller, site.callee)
    }
    instruction_calls = {
        key: call for key, call in profile.instruction_calls.items()
        if not is_within(key.caller, key.callee)
    }
    beginnings = {
        function: address for function, address in profile.beginnings.items()
        if function not in owners
    }
    whole = replace(
        profile, calls=calls, instruction_calls=instruction_calls, jumps=jumps,
        beginnings=beginnings, cold_parts=owners,
    )
    return map_functions(whole, joined)


def _owners(profile: Profile) -> dict[Function, Function]:
    """The function of each cold part. It must be the only one that calls the part, but for other cold parts of it."""
    parts: dict[tuple[str, str], set[Function]] = {}
    for function in functions_of(profile):
        found = _COLD.fullmatch(function.name)
        if found:
            parts.setdefault((function.object, found[1]), set()).add(function)
    callers: dict[Function, set[Function]] = {}
    for site in profile.calls:
        callers.setdefault(site.callee, set()).add(site.caller)
    owners: dict[Function, Function] = {}
    for (object_name, name), mine in parts.items():
        outside = set().union(*(callers.get(part, set()) for part in mine)) - mine
        if len(outside) != 1:
            continue
        (owner,) = outside
        if (owner.object, _LEVEL.sub("", owner.name)) == (object_name, name):
            owners.update(dict.fromkeys(mine, owner))
    return owners


def _positions(
    profile: Profile, functions: Set[Function]
) -> dict[tuple[Function, int], _Position]:
    """The positions of instructions by function and address."""
    return {
        (place.function, address): _Position(place, instruction.line, address)
        for place in profile.instructions if place.function in functions
        for address, instruction in profile.instructions[place].items()
    }
