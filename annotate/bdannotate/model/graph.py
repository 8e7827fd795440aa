# SPDX-License-Identifier: GPL-2.0-or-later
"""Inclusive costs, and the cycles that recursion makes.

The inclusive cost of a function is its self cost plus the cost of the calls it makes. In recursion, that would count
the same cost once per level. Therefore, functions that call each other in a circle form a cycle (a strongly connected
component of the call graph), and calls within it are left out:

  inclusive cost of a cycle          the self costs of its members + their calls out of it
  own part of a member               its own self cost + its own calls out of the cycle
  inclusive cost of a member         its self cost + all calls it makes, or all calls of it if
                                     these cost less, and no more than the cycle

The first is exact, as no chain of calls enters the same cycle twice. The own parts of the members add up to it. The
third is exact for members that were never open more than once, as are most of a large cycle, and too high for others. A
function that calls only itself is its own cycle, and its cost is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from .components import strongly_connected
from .profile import Call, Function, Profile, Row, add_rows, sum_rows

Edges = Mapping[Function, Mapping[Function, Call]]


class FunctionCosts(NamedTuple):
    """The costs of a function. calls: how often it was called, by others and by itself. own_part: see above; outside of
    cycles, it is the inclusive cost. recursive: whether it calls itself directly."""

    self_cost: Row
    inclusive: Row
    own_part: Row
    calls: int
    recursive: bool
    cycle: int  # the number of its cycle, from 1; 0 outside of cycles


@dataclass(frozen=True, slots=True)
class Cycle:
    """Two or more functions that call each other in a circle. calls: how often it was entered by a call."""

    number: int
    members: tuple[Function, ...]  # by their own parts in the first event, the costliest first
    self_cost: Row
    inclusive: Row
    calls: int


@dataclass(frozen=True, slots=True)
class CallGraph:
    """The functions of a profile with their costs and calls. callees: by caller and callee.
    callers: by callee and caller."""

    functions: Mapping[Function, FunctionCosts]
    cycles: tuple[Cycle, ...]
    callees: Edges
    callers: Edges

    def within_cycle(self, caller: Function, callee: Function) -> bool:
        """Whether a call stays inside recursion, so that its cost is counted more than once."""
        if caller == callee:
            return True
        cycle = self.functions[caller].cycle
        return cycle != 0 and cycle == self.functions[callee].cycle


def build(profile: Profile, like: CallGraph | None = None) -> CallGraph:
    """The call graph of a profile. like: a graph with all of its functions and calls, whose functions and cycles it
    gets, so that two profiles can be compared; None: its own."""
    self_costs, callees = _functions_and_callees(profile)
    callers: dict[Function, dict[Function, Call]] = {}
    for caller, out in callees.items():
        for callee, call in out.items():
            known = callers.get(callee)
            if known is None:
                callers[callee] = {caller: call}
            else:
                known[caller] = call

    if like is None:
        groups = strongly_connected(self_costs, callees)
        cycles = [sorted(group) for group in groups if len(group) > 1]
    else:
        self_costs = {
            function: self_costs.get(function, profile.zero) for function in like.functions
        }
        cycles = [list(cycle.members) for cycle in like.cycles]
    cycle_of = {member: number for number, members in enumerate(cycles) for member in members}
    own_parts = {
        function: _own_part(function, self_cost, callees.get(function, {}), cycle_of)
        for function, self_cost in self_costs.items()
    }
    found = [
        _cycle(members, number, self_costs, own_parts, callers, cycle_of)
        for number, members in enumerate(cycles)
    ]
    if like is None:
        # Cycles are numbered by cost, so that numbers do not depend on the order of functions in the file.
        found.sort(key=lambda cycle: cycle.members)
        found.sort(key=lambda cycle: cycle.inclusive, reverse=True)
    found = [replace(cycle, number=number) for number, cycle in enumerate(found, 1)]
    number_of = {member: cycle.number for cycle in found for member in cycle.members}
    inclusive: dict[Function, Row] = {}
    for cycle in found:
        entered = _is_entered_by_calls(cycle, callers, number_of)
        for member in cycle.members:
            inclusive[member] = _member_inclusive(
                member, cycle, self_costs[member], entered, callees, callers
            )
    functions = {
        function: FunctionCosts(
            self_cost=self_cost,
            inclusive=inclusive.get(function, own_parts[function]),
            own_part=own_parts[function],
            calls=sum(call.calls for call in callers.get(function, {}).values()),
            recursive=function in callees.get(function, {}),
            cycle=number_of.get(function, 0),
        )
        for function, self_cost in self_costs.items()
    }
    return CallGraph(functions, tuple(found), callees, callers)


def _own_part(
    function: Function, self_cost: Row, out: Mapping[Function, Call],
    cycle_of: Mapping[Function, int],
) -> Row:
    """The self cost of a function and its calls out of its cycle."""
    mine = cycle_of.get(function)
    rows = [
        call.cost
        for callee, call in out.items()
        if callee != function and (mine is None or cycle_of.get(callee) != mine)
    ]
    if len(rows) < 2:
        return add_rows(self_cost, rows[0]) if rows else self_cost
    return tuple(map(sum, zip(self_cost, *rows)))


def _is_entered_by_calls(
    cycle: Cycle, callers: Edges, number_of: Mapping[Function, int]
) -> bool:
    """Whether calls from outside account for all costs of a cycle, so that no member is a root."""
    calls = [
        call.cost
        for member in cycle.members
        for caller, call in callers.get(member, {}).items()
        if number_of.get(caller) != cycle.number
    ]
    return sum_rows(calls, len(cycle.inclusive)) == cycle.inclusive


def _member_inclusive(
    member: Function, cycle: Cycle, self_cost: Row, entered: bool, callees: Edges, callers: Edges
) -> Row:
    """The inclusive cost of a member of a cycle. entered: whether no member is a root. The cost of a root is not in
    calls of it, so calls are only an upper bound if there is none."""
    made = [call.cost for callee, call in callees.get(member, {}).items() if callee != member]
    below = tuple(map(sum, zip(self_cost, *made)))
    if not entered:
        return tuple(map(min, below, cycle.inclusive))
    calls = [call.cost for caller, call in callers.get(member, {}).items() if caller != member]
    above = sum_rows(calls, len(self_cost))
    return tuple(map(min, below, above, cycle.inclusive))


def _functions_and_callees(
    profile: Profile,
) -> tuple[dict[Function, Row], dict[Function, dict[Function, Call]]]:
    """The self costs of every function, and its calls added up over its call sites."""
    width = len(profile.events)
    zero = profile.zero
    self_costs: dict[Function, Row] = {}
    for place, lines in profile.lines.items():
        rows = lines.values()
        row = next(iter(rows)) if len(rows) == 1 else sum_rows(rows, width)
        known = self_costs.get(place.function)
        self_costs[place.function] = add_rows(known, row) if known else row
    callees: dict[Function, dict[Function, Call]] = {}
    for site, call in profile.calls.items():
        if not call.calls and not any(call.cost):
            continue
        caller, callee = site.caller, site.callee
        self_costs.setdefault(caller, zero)
        self_costs.setdefault(callee, zero)
        out = callees.get(caller)
        if out is None:
            callees[caller] = {callee: call}
            continue
        earlier = out.get(callee)
        out[callee] = earlier.plus(*call) if earlier else call
    return self_costs, callees


def _cycle(
    members: list[Function],
    number: int,
    self_costs: Mapping[Function, Row],
    own_parts: Mapping[Function, Row],
    callers: Edges,
    cycle_of: Mapping[Function, int],
) -> Cycle:
    width = len(self_costs[members[0]])
    calls = sum(
        call.calls
        for member in members
        for caller, call in callers.get(member, {}).items()
        if cycle_of.get(caller) != number
    )
    return Cycle(
        number=number,
        members=tuple(sorted(members, key=lambda member: own_parts[member], reverse=True)),
        self_cost=sum_rows((self_costs[member] for member in members), width),
        inclusive=sum_rows((own_parts[member] for member in members), width),
        calls=calls,
    )
