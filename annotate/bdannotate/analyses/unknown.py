# SPDX-License-Identifier: GPL-2.0-or-later
"""Object files without symbols or line numbers that have a notable part of the cost."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.metrics import Metric
from .code.report import Report
from .data.objects import is_data

# The minimum share of the cost to be reported.
_NOTABLE = 0.1


@dataclass(frozen=True, slots=True)
class Unknown:
    """Object files whose functions or lines are not known, the costliest first."""

    objects: tuple[str, ...]
    share: float  # of the program's cost
    has_symbols: bool  # whether only the lines are not known


def unknown_code(report: Report, metric: Metric) -> Unknown | None:
    """The object files without symbols or, if these cost too little, those without lines. None if both cost too little.
    metric: must be a count."""
    count = metric.counter()
    total = count(report.totals)
    without_symbols: dict[str, int] = {}
    without_lines: dict[str, int] = {}
    for function, costs in report.graph.functions.items():
        value = count(costs.self_cost)
        if function.file != "???" or value <= 0 or is_data(function):
            continue
        without_lines[function.object] = without_lines.get(function.object, 0) + value
        if function.is_nameless:
            without_symbols[function.object] = without_symbols.get(function.object, 0) + value
    for found, has_symbols in ((without_symbols, False), (without_lines, True)):
        everything = sum(found.values())
        if total and everything > _NOTABLE * total:
            large = [name for name in found if found[name] > _NOTABLE * everything]
            large.sort(key=lambda name: (-found[name], name))
            return Unknown(tuple(large), everything / total, has_symbols)
    return None
