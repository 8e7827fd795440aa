# SPDX-License-Identifier: GPL-2.0-or-later
"""Source files with the costs of their lines."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.errors import UserError
from ...model.metrics import Metric, Number
from ...model.profile import Function, Profile, Row, add_rows, sum_rows
from .report import Report, key_limits
from .source_text import SourceText, read_source
from .windows import windows

# The threshold of a line is this share of that of a function.
LINE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class LineCall:
    """The calls of one function at a line."""

    callee: Function
    calls: int
    cost: Row | None  # None: within recursion


@dataclass(frozen=True, slots=True)
class Line:
    """A source line with its costs and calls."""

    number: int
    cost: Row | None  # None: the line has no code
    text: str
    calls: tuple[LineCall, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file with the lines to show."""

    name: str  # in the profile
    path: str  # where it was read
    is_newer: bool  # than the profile, so that costs may be beside the wrong lines
    is_outside: bool  # of the folders where sources are expected: see source_text
    cost: Row
    groups: tuple[tuple[Line, ...], ...]  # each without gaps
    beyond: tuple[Line, ...]  # line 0, whose costs have no known line, and lines past the end


class Category(enum.Enum):
    """Where a report shows the costs of a line, or why it does not."""

    SHOWN = "lines of the files above"
    NO_LINE = "the same files, line unknown"
    PAST_END = "the same files, past their end"
    UNREADABLE = "files that cannot be read"
    SMALL = "files below the threshold"
    NO_FILE = "file unknown"


@dataclass(frozen=True, slots=True)
class Annotation:
    """The source files of a report, the costliest first."""

    files: tuple[SourceFile, ...]
    unreadable: tuple[tuple[str, str, Row], ...]  # name, reason, cost
    summary: Mapping[Category, Row]


_Costs = dict[int, Row]
_Calls = dict[int, list[LineCall]]


def annotate(report: Report, include: Sequence[str], context: int) -> Annotation:
    """The source files with the costs of their lines. include: the folders to search them in. context: how many lines
    are shown around a notable one. Raises UserError if a folder does not exist."""
    for folder in include:
        if not os.path.isdir(folder):
            raise UserError(f"-I {folder}: there is no such folder")
    costs, calls = _by_file(report)
    metric, smallest = _limit(report)
    width = len(report.totals)
    summary = {category: (0,) * width for category in Category}
    files: list[SourceFile] = []
    unreadable: list[tuple[str, str, Row]] = []
    written = profile_time(report)
    sums = {name: sum_rows(costs.get(name, {}).values(), width) for name in {*costs, *calls}}

    def value(row: Row) -> Number:
        return abs(metric.value(row) or 0)

    for name in sorted(sums, key=lambda name: (-value(sums[name]), name)):
        notable = _notable(costs.get(name, {}), calls.get(name, {}), metric, smallest)
        is_large = value(sums[name]) >= smallest
        if name in ("", "???"):
            category = Category.NO_FILE
        elif not is_large and not notable:
            category = Category.SMALL
        else:
            found = read_source(name, include)
            if isinstance(found, str):
                category = Category.UNREADABLE if is_large else Category.SMALL
                if is_large:
                    unreadable.append((name, found, sums[name]))
            else:
                file = _source_file(
                    name, found, costs.get(name, {}), calls.get(name, {}), notable, context,
                    written is not None and found.modified > written, sums[name],
                )
                files.append(file)
                _summarize(summary, costs.get(name, {}), len(found.lines))
                continue
        summary[category] = add_rows(summary[category], sums[name])
    return Annotation(tuple(files), tuple(unreadable), summary)


def _by_file(report: Report) -> tuple[dict[str, _Costs], dict[str, _Calls]]:
    """The costs and the calls of lines, by file."""
    pattern = report.selection.function
    costs: dict[str, _Costs] = {}
    for place, rows in report.profile.lines.items():
        if pattern and not pattern.matches(place.function):
            continue
        mine = costs.setdefault(place.file, {})
        for line, row in rows.items():
            mine[line] = add_rows(mine[line], row) if line in mine else row
    calls: dict[str, _Calls] = {}
    for site, call in report.profile.calls.items():
        if pattern and not pattern.matches(site.caller):
            continue
        within = report.graph.within_cycle(site.caller, site.callee)
        entry = LineCall(site.callee, call.calls, None if within else call.cost)
        calls.setdefault(site.file, {}).setdefault(site.line, []).append(entry)
    return costs, calls


def _limit(report: Report) -> tuple[Metric, Number]:
    """The metric of the first sort key, and its threshold for functions."""
    column = report.selection.keys[0].column
    limits = key_limits(report.selection, report.totals)
    return column.metric, limits[0][1] if limits else 1


def _notable(costs: _Costs, calls: _Calls, metric: Metric, smallest: Number) -> set[int]:
    """The lines whose own costs, or one of whose calls, reach the threshold."""
    least = smallest if metric.is_ratio else max(smallest * LINE_SHARE, 1)
    found = {line for line, row in costs.items() if abs(metric.value(row) or 0) >= least}
    for line, entries in calls.items():
        if any(call.cost and abs(metric.value(call.cost) or 0) >= smallest for call in entries):
            found.add(line)
    return found


def _source_file(
    name: str, source: SourceText, costs: _Costs, calls: _Calls, notable: set[int],
    context: int, is_newer: bool, cost: Row,
) -> SourceFile:
    text = source.lines

    def line(number: int) -> Line:
        known = 1 <= number <= len(text)
        return Line(
            number, costs.get(number), text[number - 1] if known else "",
            tuple(sorted(calls.get(number, ()), key=lambda call: (call.callee.name, call.callee))),
        )

    groups = tuple(
        tuple(line(number) for number in window)
        for window in windows(notable, context, 1, len(text))
    )
    beyond = tuple(
        line(number)
        for number in sorted({*costs, *calls})
        if (number == 0 or number > len(text)) and (any(costs.get(number, ())) or number in calls)
    )
    return SourceFile(
        name, source.path, is_newer, source.is_outside, cost, groups, beyond
    )


def _summarize(summary: dict[Category, Row], costs: _Costs, length: int) -> None:
    for number, row in costs.items():
        category = Category.SHOWN
        if number == 0:
            category = Category.NO_LINE
        elif number > length:
            category = Category.PAST_END
        summary[category] = add_rows(summary[category], row)


def profile_time(report: Report) -> float | None:
    """When the report's profile was written: see time_written()."""
    return time_written(report.profile)


def time_written(profile: Profile) -> float | None:
    """When the oldest part of a profile was written, in seconds since 1970; None if that is not known, as for standard
    input."""
    times: list[float] = []
    for part in profile.parts:
        try:
            times.append(os.stat(part.source).st_mtime)
        except (OSError, ValueError):
            return None
    return min(times)
