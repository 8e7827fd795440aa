# SPDX-License-Identifier: GPL-2.0-or-later
"""Inclusive costs, and the cycles that recursion makes.

A function's inclusive cost is its self cost plus the cost of the calls it makes. In recursion
that would count the same cost once per level. So functions that call each other in a circle form
a cycle (a strongly connected component of the call graph), and calls inside it are left out:

  inclusive cost of a cycle          the self costs of its members + their calls out of it
  inclusive cost of a member         its own self cost + its own calls out of the cycle

The first is exact: no chain of calls enters the same cycle twice. The second is what can be
known of a member: the members' costs add up to the cycle's. A function that calls only itself
is its own cycle, and its cost is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .profile import Call, Function, Profile, Row, add_rows, sum_rows

Edges = Mapping[Function, Mapping[Function, Call]]


@dataclass(frozen=True, slots=True)
class FunctionCosts:
    """calls counts how often the function was called, by others and by itself."""

    self_cost: Row
    inclusive: Row
    calls: int
    recursive: bool
    cycle: int  # the number of its cycle, from 1; 0 outside of cycles


@dataclass(frozen=True, slots=True)
class Cycle:
    """Two or more functions that call each other in a circle. calls counts calls into it."""

    number: int
    members: tuple[Function, ...]  # the costliest first, in the first event
    self_cost: Row
    inclusive: Row
    calls: int


@dataclass(frozen=True, slots=True)
class CallGraph:
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
    """The call graph of a profile. With `like`, which must know all of its functions and calls,
    it gets the functions and cycles of that graph, so that two profiles can be compared."""
    self_costs, callees = _functions_and_callees(profile)
    callers: dict[Function, dict[Function, Call]] = {}
    for caller, out in callees.items():
        for callee, call in out.items():
            callers.setdefault(callee, {})[caller] = call

    if like is None:
        groups = strongly_connected(self_costs, callees)
        cycles = [sorted(group) for group in groups if len(group) > 1]
    else:
        self_costs = {
            function: self_costs.get(function, profile.zero) for function in like.functions
        }
        cycles = [list(cycle.members) for cycle in like.cycles]
    cycle_of = {member: number for number, members in enumerate(cycles) for member in members}
    inclusive = {
        function: _inclusive(function, self_cost, callees.get(function, {}), cycle_of)
        for function, self_cost in self_costs.items()
    }
    found = [
        _cycle(members, number, self_costs, inclusive, callers, cycle_of)
        for number, members in enumerate(cycles)
    ]
    if like is None:
        # By cost, so that the numbers do not depend on the order of functions in the file.
        found.sort(key=lambda cycle: cycle.members)
        found.sort(key=lambda cycle: cycle.inclusive, reverse=True)
    found = [replace(cycle, number=number) for number, cycle in enumerate(found, 1)]
    number_of = {member: cycle.number for cycle in found for member in cycle.members}
    functions = {
        function: FunctionCosts(
            self_cost=self_cost,
            inclusive=inclusive[function],
            calls=sum(call.calls for call in callers.get(function, {}).values()),
            recursive=function in callees.get(function, {}),
            cycle=number_of.get(function, 0),
        )
        for function, self_cost in self_costs.items()
    }
    return CallGraph(functions, tuple(found), callees, callers)


def _inclusive(
    function: Function, self_cost: Row, out: Mapping[Function, Call],
    cycle_of: Mapping[Function, int],
) -> Row:
    mine = cycle_of.get(function)
    total = self_cost
    for callee, call in out.items():
        if callee != function and (mine is None or cycle_of.get(callee) != mine):
            total = add_rows(total, call.cost)
    return total


def _functions_and_callees(
    profile: Profile,
) -> tuple[dict[Function, Row], dict[Function, dict[Function, Call]]]:
    """The self costs of every function, and its calls added up over its call sites."""
    width = len(profile.events)
    self_costs: dict[Function, Row] = {}
    for place, lines in profile.lines.items():
        row = sum_rows(lines.values(), width)
        known = self_costs.get(place.function)
        self_costs[place.function] = add_rows(known, row) if known else row
    callees: dict[Function, dict[Function, Call]] = {}
    for site, call in profile.calls.items():
        if not call.calls and not any(call.cost):
            continue
        self_costs.setdefault(site.caller, profile.zero)
        self_costs.setdefault(site.callee, profile.zero)
        out = callees.setdefault(site.caller, {})
        earlier = out.get(site.callee)
        out[site.callee] = earlier.plus(*call) if earlier else call
    return self_costs, callees


def _cycle(
    members: list[Function],
    number: int,
    self_costs: Mapping[Function, Row],
    inclusive: Mapping[Function, Row],
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
        members=tuple(sorted(members, key=lambda member: inclusive[member], reverse=True)),
        self_cost=sum_rows((self_costs[member] for member in members), width),
        inclusive=sum_rows((inclusive[member] for member in members), width),
        calls=calls,
    )


def strongly_connected(functions: Iterable[Function], callees: Edges) -> list[list[Function]]:
    """Tarjan's algorithm, with a stack of its own: call chains are deeper than Python's."""
    order: dict[Function, int] = {}
    lowest: dict[Function, int] = {}
    open_functions: list[Function] = []
    is_open: set[Function] = set()
    groups: list[list[Function]] = []
    for start in functions:
        if start in order:
            continue
        order[start] = lowest[start] = len(order)
        open_functions.append(start)
        is_open.add(start)
        work = [(start, iter(callees.get(start, ())))]
        while work:
            function, remaining = work[-1]
            for callee in remaining:
                if callee not in order:
                    order[callee] = lowest[callee] = len(order)
                    open_functions.append(callee)
                    is_open.add(callee)
                    work.append((callee, iter(callees.get(callee, ()))))
                    break
                if callee in is_open:
                    lowest[function] = min(lowest[function], order[callee])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[function])
                if lowest[function] == order[function]:
                    group: list[Function] = []
                    while not group or group[-1] != function:
                        group.append(open_functions.pop())
                        is_open.discard(group[-1])
                    groups.append(group)
    return groups
