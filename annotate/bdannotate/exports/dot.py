# SPDX-License-Identifier: GPL-2.0-or-later
"""The call graph for Graphviz: functions and calls from a share of all costs on.

A call within recursion has no cost of its own here, see model/graph: it is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator

from bdcommon.console import printable

from ..model.graph import build
from ..model.metrics import Number
from ..model.numbers import short_count
from ..model.profile import Function, Row
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
    title = f"{metric.name}: {metric.title}, of {short_count(total)} in all"
    yield f"digraph bdgrind {{\n  label={_quoted(title)};\n  labelloc=t;\n"
    yield '  node [shape=box, style=filled, fontname="sans-serif"];\n'
    yield '  edge [fontname="sans-serif"];\n'
    for function in shown:
        costs = graph.functions[function]
        inclusive, own = _value(request, costs.inclusive), _value(request, costs.self_cost)
        label = (
            f"{_name(function)}\n{_part(inclusive, total)} with callees\n{_part(own, total)} itself"
        )
        # White to red: by what is in the function itself and below.
        colour = f"0.000 {inclusive / total if total else 0:.3f} 1.000"
        yield f"  n{numbers[function]} [label={_quoted(label)}, fillcolor=\"{colour}\"];\n"
    for caller in shown:
        for callee, call in sorted(graph.callees.get(caller, {}).items()):
            if callee not in numbers:
                continue
            ends = f"n{numbers[caller]} -> n{numbers[callee]}"
            times = "1 call" if call.calls == 1 else f"{short_count(call.calls)} calls"
            if graph.within_cycle(caller, callee):
                yield f"  {ends} [label={_quoted(times)}, style=dashed];\n"
                continue
            cost = _value(request, call.cost)
            if cost >= least:
                width = 1 + 4 * cost / total
                label = f"{_part(cost, total)}\n{times}"
                yield f"  {ends} [label={_quoted(label)}, penwidth={width:.2f}];\n"
    yield "}\n"


def _value(request: Request, costs: Row) -> int:
    return request.row(costs)[0]


def _part(value: Number, total: Number) -> str:
    return f"{short_count(value)} ({100 * value / total if total else 0:.1f}%)"


def _name(function: Function) -> str:
    name = printable(function.name)
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 3] + "..."


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
