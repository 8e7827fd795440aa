# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls that lead to functions that load something, as far as a call graph shows them.

A call graph has the costs of each function by its callers, but not which data they loaded. Callers further out are
certain only if each function has a single one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model.graph import CallGraph
from ...model.profile import Function
from ..code.startup import is_start
from .objects import use_of

_MOST_WAYS = 4
_LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Way:
    """A chain of calls that leads to a function.

    callers: the innermost first, then those further out as long as each has a single caller.
    share: the share of the function's inclusive costs in calls from there, from 0 to 1.
    further: how many functions call the last one; 0 if none does, or if the program or a thread begins there.
    is_recursive: whether the last one is in a cycle of calls, so that several ways may lead out of it.
    """

    callers: tuple[Function, ...]
    share: float
    further: int
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class Reached:
    """A function and the ways that lead to it, the costliest first. others: how many are left out."""

    function: Function
    ways: tuple[Way, ...]
    others: int


def ways_to(functions: Iterable[Function], graph: CallGraph, events: Sequence[str]) -> list[Reached]:
    """The ways to each of the functions that is called at all."""
    found: list[Reached] = []
    for function in dict.fromkeys(functions):
        costs = {caller: _cost(caller, function, graph, events) for caller in _callers(function, graph)}
        # Costs are bytes never used; if there are none, bytes loaded; if there are none, calls.
        at = next((at for at in range(3) if any(cost[at] for cost in costs.values())), 0)
        total = sum(cost[at] for cost in costs.values())
        ways = [
            _way(caller, function, graph, cost[at] / total if total else 0.0)
            for caller, cost in sorted(costs.items(), key=lambda one: (-one[1][at], one[0]))
        ]
        shown = [way for way in ways if way.share >= _LEAST_SHARE][:_MOST_WAYS]
        if shown:
            found.append(Reached(function, tuple(shown), len(ways) - len(shown)))
    return found


def _cost(
    caller: Function, callee: Function, graph: CallGraph, events: Sequence[str]
) -> tuple[int, int, int]:
    call = graph.callers[callee][caller]
    use = use_of(call.cost, events)
    return use.unused, use.loaded, call.calls


def _callers(function: Function, graph: CallGraph) -> list[Function]:
    """The callers of a function without itself, and without code that starts the program or a thread."""
    return [
        caller for caller in graph.callers.get(function, ())
        if caller != function and not is_start(caller)
    ]


def _way(caller: Function, function: Function, graph: CallGraph, share: float) -> Way:
    callers = [caller]
    seen = {caller, function}
    while graph.functions[callers[-1]].cycle == 0:
        further = _callers(callers[-1], graph)
        if len(further) != 1 or further[0] in seen:
            return Way(tuple(callers), share, len(further), is_recursive=False)
        callers.append(further[0])
        seen.add(further[0])
    return Way(tuple(callers), share, len(_callers(callers[-1], graph)), is_recursive=True)
