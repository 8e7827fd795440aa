# SPDX-License-Identifier: GPL-2.0-or-later
"""The costliest source lines of all files, and the functions whose code they are. Where the lines
of a function are not known, it stands for them.

Lines that the reader can change come before those of libraries.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model.metrics import Metric
from ..model.profile import Function, Row, sum_rows
from .data_use import data_loss, mostly_code
from .report import Report
from .verdict import First, verdict


@dataclass(frozen=True, slots=True)
class TopLine:
    file: str
    line: int  # 0: file and line are not known
    functions: tuple[Function, ...]  # the costliest first; several, if the line was inlined
    cost: Row

    @property
    def key(self) -> tuple[object, ...]:
        return (self.file, self.line) if self.line else self.functions


@dataclass(frozen=True, slots=True)
class TopLines:
    """Lines from the threshold on. Those of `others` are not among `lines`."""

    metric: Metric
    lines: tuple[TopLine, ...]
    other_metric: Metric | None
    others: tuple[TopLine, ...]


def top_lines(report: Report) -> TopLines | None:
    """By data never used in L1, then by data misses of the last level, or the other way round if
    these cost more. Without such events, by what the report is sorted by; None where that is a
    ratio."""
    loss = data_loss(report.metrics)
    metric = loss or report.selection.keys[0].column.metric
    if metric.is_ratio:
        return None
    other = report.metrics.get("DLm") if loss else None
    if other is None:
        return TopLines(metric, _ranked(report, metric), None, ())
    found = verdict(report.profile, report.metrics, report.totals)
    if found and found.first is First.LAST_LEVEL:
        metric, other = other, metric
    lines = _ranked(report, metric)
    known = {line.key for line in lines}
    others = [line for line in _ranked(report, other) if line.key not in known]
    return TopLines(metric, lines, other, tuple(others))


def _ranked(report: Report, metric: Metric) -> tuple[TopLine, ...]:
    count = metric.counter()
    least = max(count(report.totals) * (report.selection.threshold or 0.0) / 100, 1)
    pattern = report.selection.function
    chosen = [
        (function, file, rows)
        for (function, file), rows in report.profile.lines.items()
        if file != "???" and not (pattern and not pattern.search(function.name))
    ]
    unknown: dict[Function, Row] = {
        function: sum_rows(rows.values(), len(report.totals))
        for (function, file), rows in report.profile.lines.items()
        if file == "???" and function not in report.startup
        and not (pattern and not pattern.search(function.name))
    }
    values: dict[str, dict[int, int]] = {}
    for _, file, rows in chosen:
        mine = values.setdefault(file, {})
        for line, row in rows.items():
            mine[line] = mine.get(line, 0) + count(row)
    # Few lines are large: only their rows are looked at again.
    large = {
        file: {line for line, value in mine.items() if value >= least and line}
        for file, mine in values.items()
    }
    parts: dict[tuple[str, int], list[tuple[int, Function, Row]]] = {}
    for function, file, rows in chosen:
        for line in large[file] & rows.keys():
            parts.setdefault((file, line), []).append((count(rows[line]), function, rows[line]))
    is_code = mostly_code(report.metrics)
    found: list[TopLine] = []
    for file, line in sorted(parts, key=lambda key: (-values[key[0]][key[1]], key)):
        mine_first = sorted(parts[file, line], key=lambda part: (-part[0], part[1]))
        cost = sum_rows((row for _, _, row in mine_first), len(report.totals))
        if not is_code(cost):
            found.append(TopLine(file, line, tuple(part[1] for part in mine_first), cost))
    found += [
        TopLine("", 0, (function,), row)
        for function, row in sorted(unknown.items()) if count(row) >= least and not is_code(row)
    ]
    found.sort(key=lambda line: -count(line.cost))
    found.sort(key=lambda line: -max(map(report.ownership.reach, line.functions)))
    return tuple(found)
