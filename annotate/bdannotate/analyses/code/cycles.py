# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a cycle: a few calls back, or a few functions through which all others call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...model.components import components
from ...model.graph import CallGraph, Cycle
from ...model.profile import Call, Function

# The maximum number of calls back, and of dispatchers, that explain a cycle.
_FEW_CALLS = 3
_FEW_DISPATCHERS = 2
# The number of functions to try as a dispatcher; each takes a search of the cycle.
_TRIED = 4
# Dispatchers explain a cycle if the largest cycle without them has at most this share of its members.
_MUCH_SMALLER = 0.5


@dataclass(frozen=True, slots=True)
class Origin:
    """The calls, or the functions, without which there would be no cycle, or only much smaller ones. Both are empty if
    no few calls or functions explain it."""

    calls: tuple[tuple[Function, Function, int], ...]  # caller, callee, how often
    dispatchers: tuple[Function, ...]


def origin(graph: CallGraph, cycle: Cycle) -> Origin:
    """The origin of a cycle of `graph`."""
    inside = {
        member: {
            callee: call
            for callee, call in graph.callees.get(member, {}).items()
            if graph.functions[callee].cycle == cycle.number
        }
        for member in cycle.members
    }
    back = list(_calls_back(graph, cycle, inside))
    if len(back) <= _FEW_CALLS:
        return Origin(tuple(back), ())
    return Origin((), _dispatchers(cycle, inside))


_Inside = dict[Function, dict[Function, Call]]  # the calls within a cycle, by caller and callee


def _calls_back(
    graph: CallGraph, cycle: Cycle, inside: _Inside
) -> Iterator[tuple[Function, Function, int]]:
    """The calls to functions that are open already, in a depth-first search that begins where the cycle is entered and
    follows the most frequent calls first."""

    def entered(member: Function) -> int:
        return sum(
            call.calls for caller, call in graph.callers.get(member, {}).items()
            if caller not in inside
        )

    def ordered(member: Function) -> Iterator[tuple[Function, Call]]:
        return iter(sorted(inside[member].items(), key=lambda item: (-item[1].calls, item[0])))

    is_open: dict[Function, bool] = {}
    for start in sorted(cycle.members, key=lambda member: (-entered(member), member)):
        if start in is_open:
            continue
        is_open[start] = True
        work = [(start, ordered(start))]
        while work:
            function, remaining = work[-1]
            for callee, call in remaining:
                if callee not in is_open:
                    is_open[callee] = True
                    work.append((callee, ordered(callee)))
                    break
                if is_open[callee] and callee != function:
                    yield function, callee, call.calls
            else:
                is_open[function] = False
                work.pop()


def _dispatchers(cycle: Cycle, inside: _Inside) -> tuple[Function, ...]:
    """A few functions without which the largest cycle is much smaller; empty if there are none."""
    members = list(inside)
    numbers = {member: number for number, member in enumerate(members)}
    targets = [[numbers[callee] for callee in callees] for callees in inside.values()]
    incoming = [0] * len(members)
    for callees in targets:
        for number in callees:
            incoming[number] += 1
    likely = sorted(
        range(len(members)),
        key=lambda number: (-min(incoming[number], len(targets[number])), members[number]),
    )[: _TRIED + _FEW_DISPATCHERS - 1]
    removed: list[int] = []
    for _ in range(_FEW_DISPATCHERS):
        candidates = [number for number in likely if number not in removed][:_TRIED]
        sizes = [
            (_largest(targets, frozenset({*removed, number})), members[number], number)
            for number in candidates
        ]
        if not sizes:
            break
        size, _member, best = min(sizes)
        removed.append(best)
        if size <= _MUCH_SMALLER * len(cycle.members):
            return tuple(members[number] for number in removed)
    return ()


def _largest(targets: Sequence[Sequence[int]], without: frozenset[int]) -> int:
    """The number of members of the largest cycle without some functions."""
    return max(map(len, components(targets, without)), default=0)
