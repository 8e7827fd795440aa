# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts for the places that call it: the C library and its like, a library's templates that were
compiled into the program, and accessors of a few instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...model.metrics import Metric
from ...model.profile import Function, Place, Row, add_rows
from .ownership import Reach
from .report import Report

# Where code is: file and line, or the function where these are not known.
Where = tuple[str, int] | Function
# Of a runtime function's calls, so much must be charged to others for it not to be told again.
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class RuntimeCalls:
    """For each function and place that calls into the runtime, what each function that it calls
    costs there. `entered` are all runtime functions below these calls, of `known` ones."""

    calls: Mapping[tuple[Function, Where], Mapping[Function, Row]]
    entered: frozenset[Function]
    known: frozenset[Function] = frozenset()


def runtime_calls(report: Report) -> RuntimeCalls:
    """Without runtime functions that call back: what they cost is not their own. None at all where
    functions were asked for by name."""
    if report.selection.function:
        return RuntimeCalls({}, frozenset())
    reach, is_instance = report.ownership.reach, report.ownership.is_instance
    runtime = {
        function for function in report.graph.functions
        if function in report.accessors or reach(function) is Reach.RUNTIME or is_instance(function)
    }
    others = report.graph.functions.keys() - runtime
    calling_back = _connected(others, report.graph.callers, runtime)
    calls: dict[tuple[Function, Where], dict[Function, Row]] = {}
    for (caller, callee, file, line), call in report.profile.calls.items():
        if callee not in runtime or callee in calling_back:
            continue
        if caller not in runtime and caller not in report.startup:
            where: Where = caller
            if line and file != "???":
                where = report.inlined.calls.get((Place(caller, file), line), (file, line))
            called = calls.setdefault((caller, where), {})
            known = called.get(callee)
            called[callee] = add_rows(known, call.cost) if known else call.cost
    callees = {callee for called in calls.values() for callee in called}
    return RuntimeCalls(
        calls, frozenset(callees | _connected(callees, report.graph.callees, runtime)),
        frozenset(runtime),
    )


def mostly_charged(report: Report, found: RuntimeCalls, metric: Metric) -> set[Function]:
    """The runtime functions that have most of a metric in calls that others are charged with."""
    count = metric.counter()
    graph = report.graph
    chosen: set[Function] = set()
    for function in found.entered:
        charged = everything = 0
        for caller, call in graph.callers.get(function, {}).items():
            if graph.within_cycle(caller, function):
                continue
            cost = count(call.cost)
            everything += cost
            if caller in found.entered or (
                caller not in report.startup and caller not in found.known
            ):
                charged += cost
        if charged and charged >= _MOSTLY * everything:
            chosen.add(function)
    return chosen


def _connected(
    start: Iterable[Function], edges: Mapping[Function, Iterable[Function]], among: set[Function]
) -> set[Function]:
    """All of `among` that edges lead to from `start`, through others of them."""
    found: set[Function] = set()
    waiting = list(start)
    while waiting:
        for function in edges.get(waiting.pop(), ()):
            if function in among and function not in found:
                found.add(function)
                waiting.append(function)
    return found
