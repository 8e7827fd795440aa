# SPDX-License-Identifier: GPL-2.0-or-later
"""The costliest source lines of all files, with the functions that contain them. A function whose lines are not known
is listed itself.

Lines that the reader can change come before those of libraries. Code that only works for others counts for the line
that calls it: the C library and other runtimes, accessors, and what was inlined of both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass

from ..model.metrics import Metric
from ..model.profile import Function, Place, Row, add_rows, sum_rows
from .code.inlined_lines import Inlined
from .code.ownership import Reach
from .code.report import Report
from .code.runtime import RuntimeCalls, Where, mostly_charged, runtime_calls
from .data.data_use import mostly_code
from .ranking import ranking

# The minimum share of a line's cost that a function it calls must have to be named.
_THROUGH = 0.5


@dataclass(frozen=True, slots=True)
class Through:
    """The function that a line calls, or the inlined code, that has most of the line's cost."""

    function: Function | None  # None: inlined code
    inlined: Inlined | None = None  # the place of inlined code or of an accessor; None: not known, or not needed


@dataclass(frozen=True, slots=True)
class TopLine:
    """A source line, or a function without lines, with its costs."""

    file: str
    line: int  # 0: file and line are not known
    functions: tuple[Function, ...]  # the costliest first; several if the line was inlined
    cost: Row  # its own, and that of what counts for it
    through: Through | None  # None: nothing that it calls has most of its cost

    @property
    def key(self) -> tuple[object, ...]:
        return (self.file, self.line) if self.line else self.functions


@dataclass(frozen=True, slots=True)
class TopLines:
    """The lines that reach the threshold. others: further lines, by the other metric."""

    metric: Metric
    lines: tuple[TopLine, ...]
    other_metric: Metric | None
    others: tuple[TopLine, ...]


def top_lines(report: Report) -> TopLines | None:
    """The lines by the metrics of the report's ranking; None if it has none."""
    chosen = ranking(report)
    if chosen is None:
        return None
    runtime = runtime_calls(report)
    lines = _ranked(report, chosen.by, runtime)
    if chosen.then_by is None:
        return TopLines(chosen.by, lines, None, ())
    known = {line.key for line in lines}
    others = [line for line in _ranked(report, chosen.then_by, runtime) if line.key not in known]
    return TopLines(chosen.by, lines, chosen.then_by, tuple(others))


# Metrics of data, which say nothing about a line whose L1 misses are mostly instruction fetches.
_OF_DATA = ("SpLoss1", "DLm", "D1m")


def _never(_row: Row) -> bool:
    return False


def _ranked(report: Report, metric: Metric, runtime: RuntimeCalls) -> tuple[TopLine, ...]:
    count = metric.counter()
    least = max(count(report.totals) * (report.selection.threshold or 0.0) / 100, 1)
    chosen, unknown = _costs(report, runtime, mostly_charged(report, runtime, metric))
    called: dict[Where, dict[Function, int]] = {}
    for (_, where), costs in runtime.calls.items():
        there = called.setdefault(where, {})
        for callee, row in costs.items():
            there[callee] = there.get(callee, 0) + count(row)
    values: dict[str, dict[int, int]] = {}
    for _, file, rows in chosen:
        mine = values.setdefault(file, {})
        for line, row in rows.items():
            mine[line] = mine.get(line, 0) + count(row)
    # Few lines are large, and only their rows are looked at again.
    large = {
        file: {line for line, value in mine.items() if value >= least and line}
        for file, mine in values.items()
    }
    parts: dict[tuple[str, int], dict[Function, Row]] = {}
    for function, file, rows in chosen:
        for line in large[file] & rows.keys():
            at_line = parts.setdefault((file, line), {})
            known = at_line.get(function)
            at_line[function] = add_rows(known, rows[line]) if known else rows[line]
    is_code = mostly_code(report.metrics) if metric.name in _OF_DATA else _never
    found: list[TopLine] = []
    for (file, line), costs_of in sorted(parts.items()):
        cost = _sum(costs_of.values(), len(report.totals))
        if not is_code(cost):
            functions = sorted(costs_of, key=lambda one: (-count(costs_of[one]), one))
            through = _inlined(report, (file, line), count, count(cost)) or _through(
                report, called.get((file, line)), count(cost)
            )
            found.append(TopLine(file, line, tuple(functions), cost, through))
    found += [
        TopLine("", 0, (function,), row, _through(report, called.get(function), count(row)))
        for function, row in sorted(unknown.items()) if count(row) >= least and not is_code(row)
    ]
    found.sort(key=lambda line: -count(line.cost))
    found.sort(key=lambda line: -max(_rank(report, function, line) for function in line.functions))
    return tuple(found)


def _rank(report: Report, function: Function, line: TopLine) -> Reach:
    """The reach of a line. Code without a name can be changed as easily as the rest of its program. A line of a library
    cannot, whatever function it is part of."""
    reach = report.ownership.reach(function)
    if line.line and reach is Reach.OWN and report.ownership.folders.is_library(line.file):
        return Reach.FOREIGN
    return Reach.NAMED if reach is Reach.NAMELESS else reach


# A function, a file, and the costs of the function's lines in the file.
_Lines = tuple[Function, str, Mapping[int, Row]]


def _sum(rows: Collection[Row], width: int) -> Row:
    """The sum of rows, which often is one only."""
    return next(iter(rows)) if len(rows) == 1 else sum_rows(rows, width)


def _costs(
    report: Report, runtime: RuntimeCalls, charged: Container[Function]
) -> tuple[list[_Lines], dict[Function, Row]]:
    """The costs of lines, and of functions without lines, including the runtime functions that they call. charged: the
    functions to leave out, as their costs are mostly charged to callers."""
    pattern = report.selection.function
    width = len(report.totals)
    lines: list[_Lines] = []
    unknown: dict[Function, Row] = {}
    for (function, file), rows in report.inlined.lines.items():
        if function in charged or (pattern and not pattern.matches(function)):
            continue
        if file != "???":
            lines.append((function, file, rows))
            if 0 in rows:
                known = unknown.get(function)
                unknown[function] = add_rows(known, rows[0]) if known else rows[0]
        elif function not in report.startup:
            cost = _sum(rows.values(), width)
            known = unknown.get(function)
            unknown[function] = add_rows(known, cost) if known else cost
    for (caller, where), costs in runtime.calls.items():
        cost = _sum(costs.values(), width)
        if isinstance(where, Function):
            known = unknown.get(where)
            unknown[where] = add_rows(known, cost) if known else cost
        else:
            lines.append((caller, where[0], {where[1]: cost}))
    return lines, unknown


def _through(
    report: Report, called: Mapping[Function, int] | None, everything: int
) -> Through | None:
    """The function called at a line that has most of the line's cost; None if there is none. called: the costs of the
    functions called there."""
    found = ((cost, callee) for callee, cost in (called or {}).items())
    cost, function = max(found, default=(0, None))
    if function is None or cost < _THROUGH * everything:
        return None
    if function not in report.accessors:
        return Through(function)
    rows = report.profile.lines.get(Place(function, function.file), {})
    line = max((line for line in rows if line), key=lambda line: rows[line], default=0)
    return Through(function, Inlined(function.name, function.file, line) if line else None)


def _inlined(
    report: Report, where: tuple[str, int], count: Callable[[Row], int], everything: int
) -> Through | None:
    """The costliest code inlined at a line, if inlined code has most of the line's cost; else None."""
    found = ((count(row), source) for source, row in report.inlined.moved.get(where, {}).items())
    ranked = sorted(found, key=lambda item: (-item[0], item[1].file, item[1].line, item[1].name))
    if sum(cost for cost, _ in ranked) < _THROUGH * everything or not ranked[0][0]:
        return None
    return Through(None, ranked[0][1])
