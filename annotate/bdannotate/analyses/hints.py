# SPDX-License-Identifier: GPL-2.0-or-later
"""What the numbers suggest, place by place, and no more than they support.

A place is a function with all it calls. A function that only passes the costs of one callee on,
which nobody else calls, is not a place of its own: the callee is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.metrics import Metric
from ..model.profile import Function, Row
from .report import Entry, Report

NEEDED = ("SpLoss1", "UsByte1", "EvLine1", "Access1", "AcCost1", "Ir")
_MAX_PLACES = 10
# Below this many lines, shares are chance.
_MIN_LINES = 100
_PASSES_ON = 0.95
_SEVERAL_TIMES = 2.0
# Callers whose shares differ by this much use the same code differently.
_DIFFERENT = 0.3
_CALLER_PART = 0.05


@dataclass(frozen=True, slots=True)
class Use:
    """How the L1 lines that a place loaded were used."""

    lines: int
    loaded: int
    never_used: int
    unused_share: float
    used_per_line: float
    line_size: float
    accesses_per_line: float  # typically: the harmonic mean
    average_accesses: float
    loads_per_line: float  # at least so often was each line of memory loaded, on average


@dataclass(frozen=True, slots=True)
class Hint:
    function: Function
    use: Use
    share: float  # of all bytes never used
    looks: str
    helps: str
    line: tuple[str, int, float] | None  # where most of its own is: file, line, share of it
    callers: tuple[tuple[Function, float], ...]  # with their shares, where these differ


@dataclass(frozen=True, slots=True)
class _Pattern:
    fits: Callable[[Use], bool]
    looks: str
    helps: str


# The first that fits is taken.
_PATTERNS = (
    _Pattern(
        lambda use: use.unused_share >= 0.5 and use.accesses_per_line < 4
        and use.loads_per_line >= _SEVERAL_TIMES,
        "few bytes of a line are used at a time, and the same lines are loaded again and again: "
        "as by strides larger than a line, or by objects in no order of memory, over more data "
        "than the cache holds until the rest of a line has its turn",
        "for strides, exchange the loops so that the innermost one walks along memory, or work in "
        "tiles that fit the cache; for objects, store together what is visited together",
    ),
    _Pattern(
        lambda use: use.unused_share >= 0.5 and use.accesses_per_line < 4,
        "few bytes of a line are used, in few accesses: as by strides larger than a line, by one "
        "field of many objects, or by pointers all over memory",
        "store together what is visited together: an array per field, an index of keys, objects "
        "allocated in the order of their use",
    ),
    _Pattern(
        lambda use: use.unused_share >= 0.3 and use.accesses_per_line >= 4,
        "some bytes of a line are used repeatedly, those beside them not at all: as where hot and "
        "cold fields, or small objects and their padding, share lines",
        "keep the hot fields together and move the cold ones elsewhere",
    ),
    _Pattern(
        lambda use: use.unused_share >= 0.3,
        "a part of each line is used, briefly",
        "check the order of fields and the padding of what is visited here",
    ),
    _Pattern(
        lambda use: use.accesses_per_line <= use.line_size / 4 and use.loads_per_line >= 2,
        "most of each line is used, but briefly, and the same lines are loaded again and again",
        "do more with the data while it is in the cache: fuse passes, or work in blocks",
    ),
    _Pattern(
        lambda use: use.accesses_per_line <= use.line_size / 4,
        "most of each line is used, in few accesses: a stream",
        "nothing about the layout; only touching less data helps, as by smaller types",
    ),
    _Pattern(
        lambda use: True,
        "lines are used well",
        "nothing stands out here",
    ),
)


def hints(report: Report) -> list[Hint]:
    """The places by bytes never used, inclusive: those that the report's threshold lets through,
    whatever else it is sorted by."""
    missing = [name for name in NEEDED if name not in report.profile.events]
    if missing:
        raise UserError(
            f"--hints needs cache use as bdgrind counts it: {' '.join(missing)} is not there"
        )
    metric = report.metrics["SpLoss1"]
    total = metric.value(report.totals) or 0
    candidates = [
        entry
        for entry in _all_entries(report)
        if not entry.is_cycle and _count(metric, entry.inclusive) > 0
        and _count(metric, entry.inclusive) >= (report.selection.threshold or 0.0) / 100 * total
    ]
    candidates.sort(key=lambda entry: entry.function)
    candidates.sort(
        key=lambda entry: (_count(metric, entry.inclusive), entry.inclusive), reverse=True
    )
    found: list[Hint] = []
    for entry in candidates:
        use = _use(report, entry.inclusive)
        if use is None or use.lines < _MIN_LINES or _passes_on(report, entry):
            continue
        pattern = next(pattern for pattern in _PATTERNS if pattern.fits(use))
        found.append(
            Hint(
                entry.function, use, use.never_used / total if total else 0.0, pattern.looks,
                pattern.helps, _hottest_line(report, entry), _differing_callers(report, entry),
            )
        )
    return found[:_MAX_PLACES]


def _all_entries(report: Report) -> list[Entry]:
    pattern = report.selection.function
    return [
        Entry(function, costs.self_cost, costs.inclusive, costs.calls)
        for function, costs in report.graph.functions.items()
        if not pattern or pattern.search(function.name)
    ]


def _count(metric: Metric, row: Row) -> int:
    return int(metric.value(row) or 0)


def _use(report: Report, row: Row) -> Use | None:
    def event(name: str, of: Row = row) -> int:
        return _count(report.metrics[name], of) if name in report.metrics else 0

    lines, used, never_used = event("EvLine1"), event("UsByte1"), event("SpLoss1")
    loaded = used + never_used
    if not lines or not loaded:
        return None
    # Every line of memory that came into L1 came into LL at least once.
    in_memory = event("EvLine2", report.totals)
    average = event("Access1") / lines
    cost = event("AcCost1")  # 1000 / accesses of each line, rounded down
    typical = min(1000 * lines / cost, average) if cost else average
    return Use(
        lines, loaded, never_used, never_used / loaded, used / lines, loaded / lines,
        typical, average, lines / in_memory if in_memory else 0.0,
    )


def _passes_on(report: Report, entry: Entry) -> bool:
    """Whether nearly all is lost in callees that (nearly) nobody else calls."""
    graph = report.graph
    loss = report.metrics["SpLoss1"]
    passed = sum(
        _count(loss, call.cost)
        for callee, call in graph.callees.get(entry.function, {}).items()
        if _belongs_to(graph, report.metrics["Ir"], entry.function, callee, call.cost)
    )
    return passed >= _PASSES_ON * _count(loss, entry.inclusive)


def _belongs_to(
    graph: CallGraph, work: Metric, caller: Function, callee: Function, cost: Row
) -> bool:
    if graph.within_cycle(caller, callee):
        return False
    return _count(work, cost) >= _PASSES_ON * _count(work, graph.functions[callee].inclusive)


def _hottest_line(report: Report, entry: Entry) -> tuple[str, int, float] | None:
    """Where the function itself loses most, if that is where most is lost."""
    loss = report.metrics["SpLoss1"]
    own = _count(loss, entry.self_cost)
    if own < 0.5 * _count(loss, entry.inclusive):
        return None
    best = (0, "", 0)
    for place, rows in report.profile.lines.items():
        if place.function == entry.function:
            for line, row in rows.items():
                if line:
                    best = max(best, (_count(loss, row), place.file, line))
    return (best[1], best[2], best[0] / own) if best[0] else None


def _differing_callers(report: Report, entry: Entry) -> tuple[tuple[Function, float], ...]:
    """The callers that load enough to count, if the shares they cause differ: then the place to
    change is a caller, not this function."""
    found: list[tuple[Function, float]] = []
    total = _use(report, entry.inclusive)
    work = report.metrics["Ir"]
    for caller, call in report.graph.callers.get(entry.function, {}).items():
        use = _use(report, call.cost)
        if use is None or total is None or report.graph.within_cycle(caller, entry.function):
            continue
        part = max(
            use.loaded / total.loaded,
            _count(work, call.cost) / max(1, _count(work, entry.inclusive)),
        )
        if part >= _CALLER_PART:
            found.append((caller, use.unused_share))
    found.sort(key=lambda item: (-item[1], item[0]))
    if len(found) < 2 or found[0][1] - found[-1][1] < _DIFFERENT:
        return ()
    return tuple(found)
