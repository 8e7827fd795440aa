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
from dataclasses import dataclass

from .model import Call, Function, Profile, Row, add_rows, sum_rows

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


def build(profile: Profile) -> CallGraph:
    self_costs = function_self_costs(profile)
    callees: dict[Function, dict[Function, Call]] = {}
    callers: dict[Function, dict[Function, Call]] = {}
    for site, call in profile.calls.items():
        self_costs.setdefault(site.caller, profile.zero)
        self_costs.setdefault(site.callee, profile.zero)
        out = callees.setdefault(site.caller, {})
        known = out.get(site.callee)
        out[site.callee] = known.plus(*call) if known else call
    for caller, out in callees.items():
        for callee, call in out.items():
            callers.setdefault(callee, {})[caller] = call

    groups = strongly_connected(self_costs, callees)
    group_of = {function: index for index, group in enumerate(groups) for function in group}
    inclusive = {
        function: add_rows(
            self_cost,
            sum_rows(
                (
                    call.cost
                    for callee, call in callees.get(function, {}).items()
                    if group_of[callee] != group_of[function]
                ),
                len(profile.events),
            ),
        )
        for function, self_cost in self_costs.items()
    }
    cycles = _cycles(groups, group_of, self_costs, inclusive, callers)
    cycle_of = {function: cycle.number for cycle in cycles for function in cycle.members}
    functions = {
        function: FunctionCosts(
            self_cost=self_cost,
            inclusive=inclusive[function],
            calls=sum(call.calls for call in callers.get(function, {}).values()),
            recursive=function in callees.get(function, {}),
            cycle=cycle_of.get(function, 0),
        )
        for function, self_cost in self_costs.items()
    }
    return CallGraph(functions, cycles, callees, callers)


def function_self_costs(profile: Profile) -> dict[Function, Row]:
    width = len(profile.events)
    result: dict[Function, Row] = {}
    for place, lines in profile.lines.items():
        row = sum_rows(lines.values(), width)
        known = result.get(place.function)
        result[place.function] = add_rows(known, row) if known else row
    return result


def _cycles(
    groups: list[list[Function]],
    group_of: Mapping[Function, int],
    self_costs: Mapping[Function, Row],
    inclusive: Mapping[Function, Row],
    callers: Edges,
) -> tuple[Cycle, ...]:
    """Numbered from 1, the costliest first, so that numbers do not depend on the file's order."""
    found: list[Cycle] = []
    for group in groups:
        if len(group) < 2:
            continue
        members = sorted(group)
        members.sort(key=lambda member: inclusive[member], reverse=True)
        width = len(self_costs[members[0]])
        calls = sum(
            call.calls
            for member in members
            for caller, call in callers.get(member, {}).items()
            if group_of[caller] != group_of[member]
        )
        found.append(
            Cycle(
                number=0,
                members=tuple(members),
                self_cost=sum_rows((self_costs[member] for member in members), width),
                inclusive=sum_rows((inclusive[member] for member in members), width),
                calls=calls,
            )
        )
    found.sort(key=lambda cycle: cycle.members)
    found.sort(key=lambda cycle: cycle.inclusive, reverse=True)
    return tuple(
        Cycle(number, cycle.members, cycle.self_cost, cycle.inclusive, cycle.calls)
        for number, cycle in enumerate(found, 1)
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
