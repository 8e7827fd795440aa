# SPDX-License-Identifier: GPL-2.0-or-later
"""The callers and callees of a report's functions and cycles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...model.graph import CallGraph
from ...model.metrics import Number
from ...model.profile import Call, Function, Row, sum_rows
from .columns import Column, CostKind
from .report import FunctionRow, Report, rank


@dataclass(frozen=True, slots=True)
class Arc:
    """The calls between an entry and one other function."""

    other: Function
    calls: int
    cost: Row | None  # None: calls of a function to itself, whose costs would count each level of recursion


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The callers and callees of an entry, the costliest first. Arcs below the threshold are hidden: only their number
    and their sum are known."""

    entry: FunctionRow
    callers: tuple[Arc, ...]
    hidden_callers: int
    hidden_callers_cost: Row
    callees: tuple[Arc, ...]
    hidden_callees: int
    hidden_callees_cost: Row


def neighbours(report: Report, entry: FunctionRow, threshold: Number) -> Neighbours:
    """The neighbours of an entry. threshold: the minimum inclusive value of the first sort column's metric."""
    graph = report.graph
    members = entry.members or (entry.function,)
    callers, hidden_callers = _split(report, _arcs(graph, members, incoming=True), threshold)
    callees, hidden_callees = _split(report, _arcs(graph, members, incoming=False), threshold)
    width = len(report.totals)
    return Neighbours(
        entry,
        callers,
        len(hidden_callers),
        sum_rows((arc.cost for arc in hidden_callers if arc.cost), width),
        callees,
        len(hidden_callees),
        sum_rows((arc.cost for arc in hidden_callees if arc.cost), width),
    )


def _arcs(graph: CallGraph, members: tuple[Function, ...], incoming: bool) -> list[Arc]:
    """The arcs of a function, or of the members of a cycle. The latter are those that cross its border, added up by the
    function outside."""
    edges = graph.callers if incoming else graph.callees
    inside = frozenset(members) if len(members) > 1 else frozenset()
    found: dict[Function, Arc] = {}
    for member in members:
        for other, call in edges.get(member, {}).items():
            if other in inside:
                continue
            arc = _arc(graph, member, other, call)
            known = found.get(other)
            if known and known.cost and arc.cost:
                cost = sum_rows((known.cost, arc.cost), len(arc.cost))
                arc = Arc(other, known.calls + arc.calls, cost)
            found[other] = arc
    return list(found.values())


def _arc(graph: CallGraph, member: Function, other: Function, call: Call) -> Arc:
    if member == other:
        return Arc(other, call.calls, None)
    if not graph.within_cycle(member, other):
        return Arc(other, call.calls, call.cost)
    # Within a cycle, costs may count each level of recursion. They are at most those of either function.
    ends = graph.functions[member].inclusive, graph.functions[other].inclusive
    return Arc(other, call.calls, tuple(min(counts) for counts in zip(call.cost, *ends)))


def _split(
    report: Report, arcs: Iterable[Arc], threshold: Number
) -> tuple[tuple[Arc, ...], list[Arc]]:
    metric = report.selection.keys[0].column.metric
    column = Column(metric, CostKind.INCLUSIVE)

    def value(arc: Arc) -> Number:
        return rank(column.value(arc.cost, arc.cost)) if arc.cost else float("-inf")

    ordered = sorted(arcs, key=lambda arc: (arc.other.name, arc.other))
    ordered.sort(key=value, reverse=True)
    shown = [arc for arc in ordered if arc.cost is None or abs(value(arc)) >= threshold]
    hidden = [arc for arc in ordered if arc.cost is not None and abs(value(arc)) < threshold]
    # A single arc takes as much room as the line that would say that it is hidden.
    if len(hidden) == 1:
        return tuple(ordered), []
    return tuple(shown), hidden
