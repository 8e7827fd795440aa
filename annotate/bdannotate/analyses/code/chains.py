# SPDX-License-Identifier: GPL-2.0-or-later
"""Library functions that do hardly more than call the next."""

from __future__ import annotations

from ...model.profile import Function
from .ownership import Reach
from .report import Report

# So much of its caller's cost a link of a chain has, and so little of its own.
_SAME = 0.98
_OWN = 0.05


def inner_links(report: Report) -> frozenset[Function]:
    """All but the first of each chain: what the reader calls is worth a line, how the library goes
    on is not, nor how the runtime begins with a program's threads. Neither the reader's own
    functions nor main are among them."""
    metric = report.selection.keys[0].column.metric
    if metric.is_ratio or report.selection.function:
        return frozenset()
    count = metric.counter()
    found: set[Function] = set()
    for entry in report.entries:
        inclusive = count(entry.inclusive)
        if entry.is_group or entry.cycle or count(entry.self_cost) > _OWN * inclusive:
            continue
        reach = report.ownership.reach(entry.function)
        if reach is Reach.OWN:
            continue
        callers = report.graph.callers.get(entry.function, {})
        if reach is Reach.RUNTIME and entry.function not in report.startup and all(
            caller in report.startup or report.ownership.reach(caller) is Reach.RUNTIME
            for caller in callers
        ):
            found.add(entry.function)
            continue
        for caller, call in callers.items():
            if caller in report.startup:
                break
            outer = count(report.graph.functions[caller].inclusive)
            if count(call.cost) >= _SAME * max(outer, inclusive):
                found.add(entry.function)
    return frozenset(found)
