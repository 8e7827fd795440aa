# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that counts for the places that call it: the C library and other runtimes, library templates that were compiled
into the program, and accessors of a few instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...model.metrics import Metric
from ...model.profile import Function, Place, Row, add_rows
from .ownership import Reach
from .report import Report

# The place of code: file and line, or the function if these are not known.
Where = tuple[str, int] | Function
# A runtime function is not listed itself if at least this share of its costs is charged to others.
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class RuntimeCalls:
    """The calls into the runtime. calls: the costs of each called function, by the calling function and place. entered:
    all runtime functions that these calls lead to. known: all runtime functions."""

    calls: Mapping[tuple[Function, Where], Mapping[Function, Row]]
    entered: frozenset[Function]
    known: frozenset[Function] = frozenset()


def runtime_calls(report: Report) -> RuntimeCalls:
    """The calls into the runtime; empty if the user asked for functions by name. Runtime functions that call back are
    left out, as their inclusive costs are not only their own."""
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
    """The runtime functions for which most of a metric is charged to other code."""
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
    """The functions of `among` that edges lead to from `start`, directly or through others of `among`."""
    found: set[Function] = set()
    waiting = list(start)
    while waiting:
        for function in edges.get(waiting.pop(), ()):
            if function in among and function not in found:
                found.add(function)
                waiting.append(function)
    return found
