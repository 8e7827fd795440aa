# SPDX-License-Identifier: GPL-2.0-or-later
"""Callers and callees of the functions and cycles of a report."""

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
    cost: Row | None  # None of a function's calls to itself, which would count each level


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Callers and callees of an entry, the costliest first. The arcs that do not reach the
    report's threshold are only counted, with their sum."""

    entry: FunctionRow
    callers: tuple[Arc, ...]
    hidden_callers: int
    hidden_callers_cost: Row
    callees: tuple[Arc, ...]
    hidden_callees: int
    hidden_callees_cost: Row


def neighbours(report: Report, entry: FunctionRow, threshold: Number) -> Neighbours:
    """threshold is the smallest value of the first sort column, taken as inclusive."""
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
    """A cycle's arcs are those that cross its border, added up per function outside."""
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
    # Inside a cycle, a cost can count levels of recursion. More than either has, it is not.
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
    # One that is left out takes as much room as the line that says so.
    if len(hidden) == 1:
        return tuple(ordered), []
    return tuple(shown), hidden
