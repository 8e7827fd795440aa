# SPDX-License-Identifier: GPL-2.0-or-later
"""Where instructions miss I1, and what helps, as what helps data does not help code."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.profile import Function, Row
from .code.ownership import Reach
from .code.report import Report
from .misses.verdict import NOTABLE, verdict

# From this share of loaded bytes that are not executed on, cold code is the cause: branches that are not taken.
_MOSTLY_UNUSED = 0.4


@dataclass(frozen=True, slots=True)
class CodeUse:
    """The functions whose own instructions miss I1 most, the costliest first. Those of the runtime come last, as they
    cannot be changed."""

    functions: tuple[tuple[Function, Row], ...]  # with their self costs
    helps: str  # advice


def code_use(report: Report) -> CodeUse | None:
    """The code that misses I1; None if code is not separated from data, or if its misses cost little."""
    metrics = report.metrics
    if "UnusedI1" not in metrics or "I1mr" not in metrics:
        return None
    found = verdict(report.profile, metrics, report.totals)
    if found is None or found.l1_code < NOTABLE:
        return None
    misses = metrics["I1mr"].counter()
    least = max(misses(report.totals) * (report.selection.threshold or 0.0) / 100, 1)
    functions = [
        (function, costs.self_cost)
        for function, costs in report.graph.functions.items()
        if misses(costs.self_cost) >= least
    ]
    functions.sort(key=lambda item: (-misses(item[1]), item[0]))
    functions.sort(key=lambda item: report.ownership.reach(item[0]) is Reach.RUNTIME)
    unused = metrics["UnusedI1"].value(report.totals) or 0
    return CodeUse(tuple(functions), _SPLIT if unused >= _MOSTLY_UNUSED else _SHRINK)


_SPLIT = (
    "split off cold code (-fprofile-use, [[unlikely]]); order functions by profile"
)
_SHRINK = (
    "more code is in use than I1 holds: inline and unroll less, use -Os where code is cold, and order functions by "
    "profile (-fprofile-use, a linker's order file)"
)
