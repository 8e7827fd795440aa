# SPDX-License-Identifier: GPL-2.0-or-later
"""How a page begins: what to look at first, in the words of the text report; the costliest lines; and the metrics by
which the whole page counts bytes as never used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ..analyses.code.columns import Column, CostKind, SortKey, parse_column, with_keys_first
from ..analyses.code.report import Report, Selection
from ..analyses.intervals import half_width, of_line
from ..analyses.misses.verdict import First, Verdict
from ..analyses.misses.waits import has_waits
from ..analyses.ranking import by_verdict
from ..analyses.top_lines import TopLine, TopLines
from ..model.profile import Row
from ..views.json_values import text
from ..views.names import Names
from ..views.overview import first, first_place
from ..views.text import UNLIMITED, Page
from . import schema
from .numbers import Numbers
from .page_tables import known_or_not
from .tables import Table, table_of_rows

# The page lists at most so many lines.
_MOST_LINES = 40

_OF_CODE = (
    "I1mr:incl", "I1mr:self", "SpLossI1:incl", "UnusedI1:incl", "ILmr:incl", "Ir:incl", "I1rate:incl",
)


def page_selection(report: Report, found: Verdict | None) -> Selection:
    """The columns and the sort key of the page's lists: those of the problem that the verdict names first."""
    selection, metrics = report.selection, report.metrics
    side = selection.keys[0].column.side
    if found is None:
        return selection
    if found.first is First.L1_CODE and "I1mr" in metrics:
        columns = [parse_column(name, metrics, side) for name in _OF_CODE if name.split(":")[0] in metrics]
        if side is CostKind.SELF:
            columns = list(dict.fromkeys(replace(column, side=side) for column in columns))
        return replace(selection, columns=tuple(columns), keys=(SortKey(columns[0], None),))
    if has_waits(report.profile.events) and found.first is not First.INSTRUCTIONS:
        return by_verdict(selection, report.profile)
    name = {
        First.INSTRUCTIONS: "Ir", First.OUT_OF_ORDER: "D1m", First.IN_ORDER: "D1m", First.FIRST_TOUCHES: "DLm",
        First.L2: "D2m",
    }.get(found.first)
    if name is None or name not in metrics:
        return by_verdict(selection, report.profile)
    keys = (SortKey(Column(metrics[name], side), None),)
    return replace(selection, keys=keys, columns=tuple(with_keys_first(selection.columns, keys)))


def use_facts(report: Report, found: Verdict | None) -> schema.Use:
    """The metrics of bytes used, by cache level: those of code, if the verdict names code first; else those of data,
    or of both together, if the profile does not separate them."""
    metrics = report.metrics
    of: Literal["code", "data", "all"]
    first, second, last = "First-level cache", "Second-level cache", "Last-level cache"
    if found is not None and found.first is First.L1_CODE and "UnusedI1" in metrics:
        of, levels = "code", ((first, "I1", "I1mr"), (second, "I2", "I2mr"), (last, "IL", "ILmr"))
    elif "UnusedD1" in metrics:
        of, levels = "data", ((first, "D1", "D1m"), (second, "D2", "D2m"), (last, "DL", "DLm"))
    else:
        of, levels = "all", ((first, "1", "L1m"), (second, "L2", "L2m"), (last, "2", "LLm"))
    return {"of": of, "levels": [
        {
            "title": title, "loaded": f"Loaded{level}", "lost": f"SpLoss{level}", "share": f"Unused{level}",
            "perLine": f"AccLine{level}", "misses": misses,
        }
        for title, level, misses in levels
        if title != second or misses in metrics
    ]}


def first_facts(
    report: Report, found: Verdict | None, lines: TopLines | None, numbers: Numbers
) -> schema.First | None:
    """What to look at first; None if the profile does not tell what misses cost."""
    if found is None:
        return None
    page = Page(width=UNLIMITED, names=Names(report.graph.functions))
    place = first_place(found, report, lines)
    return {
        "says": text(first(found, report, lines, page, with_options=False)),
        "place": None if place is None else (
            numbers.function(place[0].functions[0]), numbers.file(place[0].file), place[0].line,
        ),
    }


def hot_line_widths(report: Report, lines: TopLines | None) -> Table:
    """The error of each row of `hot_lines`, for a sampled run; an empty table for an exact one."""
    found, events = report.profile.intervals, report.profile.events
    rows: list[Row] = []
    if lines is not None and found is not None:
        for one in _listed(lines):
            widths = of_line(found, report, one)
            ranked = half_width(lines.metric, widths, one.cost)
            rows.append((0 if ranked is None else ranked + 1, *known_or_not(widths, len(events))))
    return table_of_rows(["ranked", *(f"self:{event}" for event in events)], rows)


def hot_lines(
    report: Report, lines: TopLines | None, events: tuple[str, ...], numbers: Numbers
) -> tuple[schema.Hottest | None, Table]:
    """The facts, and a row for each of the costliest lines: its place, the count that ranks it, and its cost. events:
    the page's, a prefix of the report's."""
    if lines is None:
        return None, Table(0, {})
    chosen = _listed(lines)
    count = lines.metric.counter()
    names = ["function", "file", "line", "ranked", *(f"self:{event}" for event in events)]
    table = table_of_rows(names, [
        (numbers.function(one.functions[0]), numbers.file(one.file), one.line, count(one.cost),
         *one.cost[: len(events)])
        for one in chosen
    ])
    total = count(report.totals)
    metric = lines.metric
    return {"heading": metric.heading, "title": metric.title, "isTime": metric.is_time, "total": total}, table


def _listed(lines: TopLines) -> Sequence[TopLine]:
    return (*lines.lines, *lines.others)[:_MOST_LINES]
