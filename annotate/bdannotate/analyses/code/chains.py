# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains of library functions, each of which hardly does more than call the next one."""

from __future__ import annotations

from ...model.profile import Function
from .ownership import Reach
from .report import Report

# A link of a chain has at least the share _SAME of its caller's cost, and at most the share _OWN of its own.
_SAME = 0.98
_OWN = 0.05


def inner_links(report: Report) -> frozenset[Function]:
    """The functions to leave out of lists: all but the first of each chain, as the reader calls only that one, and
    runtime functions that only start the program's threads. The reader's own functions and main are not among them."""
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
