# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs for Graphviz, of everything with a minimum share of all costs: the call graph, or the context tree, which has
a function once for each path that leads to it.

Calls within recursion have no separate costs in the graph, see model/graph: they are dashed.
"""

from __future__ import annotations

from collections.abc import Iterator

from bdcommon.console import printable

from ..model.errors import UserError
from ..model.graph import build
from ..model.metrics import Metric, Number
from ..model.numbers import share_of, short_count
from ..model.profile import Row
from .request import Request

_NAME_WIDTH = 60


def dot(request: Request) -> Iterator[str]:
    metric = request.metrics[0]
    graph = build(request.profile)
    total = _value(request, request.profile.totals())
    least = max(total * request.threshold / 100, 1)
    shown = sorted(
        function
        for function, costs in graph.functions.items()
        if _value(request, costs.inclusive) >= least
    )
    numbers = {function: number for number, function in enumerate(shown)}
    yield from _head(metric, total)
    for function in shown:
        costs = graph.functions[function]
        inclusive, own = _value(request, costs.inclusive), _value(request, costs.self_cost)
        yield _node(numbers[function], function.label, inclusive, own, total)
    for caller in shown:
        for callee, call in sorted(graph.callees.get(caller, {}).items()):
            if callee not in numbers:
                continue
            ends = f"n{numbers[caller]} -> n{numbers[callee]}"
            times = _times(call.calls)
            if graph.within_cycle(caller, callee):
                yield f"  {ends} [label={_quoted(times)}, style=dashed];\n"
                continue
            cost = _value(request, call.cost)
            if cost >= least:
                yield _edge(ends, f"{_part(cost, total)}\n{times}", cost, total)
    yield "}\n"


def dot_contexts(request: Request) -> Iterator[str]:
    tree = request.tree
    if tree is None:
        raise UserError(
            "--export=dot-contexts needs a context tree beside each profile: run with "
            "--context-tree=yes; --export=dot draws the call graph"
        )
    columns = [tree.costs[tree.events.index(event)] for event in request.profile.events]
    own = [_value(request, row) for row in zip(*columns)]
    inclusive = tree.summed_up(own)
    total = _value(request, request.profile.totals())
    least = max(total * request.threshold / 100, 1)
    yield from _head(request.metrics[0], total)
    for node, (number, above, cost) in enumerate(zip(tree.frame, tree.parent, inclusive)):
        if cost >= least:
            yield _node(node, tree.frames[number].function.label, cost, own[node], total)
            if above >= 0:
                yield _edge(f"n{above} -> n{node}", _times(tree.calls[node]), cost, total)
    yield "}\n"


def _head(metric: Metric, total: int) -> Iterator[str]:
    title = f"{metric.name}: {metric.title}, of {short_count(total)} in all"
    yield f"digraph bdgrind {{\n  label={_quoted(title)};\n  labelloc=t;\n"
    yield '  node [shape=box, style=filled, fontname="sans-serif"];\n'
    yield '  edge [fontname="sans-serif"];\n'


def _node(number: int, name: str, inclusive: int, own: int, total: int) -> str:
    label = f"{_name(name)}\n{_part(inclusive, total)} with callees\n{_part(own, total)} itself"
    # From white to a red on which black is legible, by the inclusive cost.
    colour = f"0.000 {0.7 * _strength(inclusive, total):.3f} 1.000"
    return f"  n{number} [label={_quoted(label)}, fillcolor=\"{colour}\"];\n"


def _edge(ends: str, label: str, cost: int, total: int) -> str:
    return f"  {ends} [label={_quoted(label)}, penwidth={1 + 4 * _strength(cost, total):.2f}];\n"


def _times(calls: int) -> str:
    """The number of calls as a text; empty for 0, if the function was entered without a call."""
    return "1 call" if calls == 1 else f"{short_count(calls)} calls" if calls else ""


def _value(request: Request, costs: Row) -> int:
    return request.row(costs)[0]


def _part(value: Number, total: Number) -> str:
    return f"{short_count(value)} ({share_of(value, total)})"


def _strength(value: Number, total: Number) -> float:
    """The strength of a colour or an edge, from 0 to 1."""
    return min(max(value / total, 0.0), 1.0) if total > 0 else 0.0


def _name(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 3] + "..."


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
