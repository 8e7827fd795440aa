# SPDX-License-Identifier: GPL-2.0-or-later
"""The costliest source lines of all files."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.columns import Column, CostKind, Form
from ..analyses.code.report import Report
from ..analyses.intervals import of_line
from ..analyses.top_lines import Through, TopLine, TopLines
from .costs import NAMES_NEED, cost_cells, cost_headings, cost_table, fitting, name_width
from .intervals import add_column
from .names import as_called, fit, least_width
from .text import Cell, Page, shorten_middle

# The metrics that are shown with a line besides those that it is ranked by.
_OF_DATA = ("UnusedD1", "D1m")
_OF_ALL = ("Unused1", "D1m")  # if data and code are not separated
_UNKNOWN = "(no lines)"
_THROUGH = " through "
_SHORTEST_NAME = 8
# A place is cut before the name of its function gets less room than this.
_SHORTEST_FUNCTION = 18
# Columns are left out before two names, with their places, get less room than this.
_TWO_NAMES_NEED = 44
# Columns are not left out for names that need more room than this.
_MOST_NEEDED = 52
# The number of lines by the second metric: few, as it only matters if the first says little.
_OTHERS = 2


def line_table(
    found: TopLines, limit: int | None, report: Report, page: Page
) -> tuple[list[str], int]:
    """The table of the lines by the first metric, followed by further ones by the second; and how many lines are not in
    it. limit: the maximum number of lines; None: no limit."""
    lines, others = found.lines, found.others
    if limit is not None:
        others = others[: max(min(_OTHERS, limit // 2), limit - len(lines))]
        lines = lines[: limit - len(others)]
    chosen = [*lines, *others]
    columns = [Column(found.metric, CostKind.SELF)]
    if found.other_metric:
        beside = _OF_DATA if "UnusedD1" in report.metrics else _OF_ALL
        columns += [Column(report.metrics[name], CostKind.SELF, Form.COUNT)
                    for name in beside if name in report.metrics and name != found.metric.name]
        columns.insert(2, Column(found.other_metric, CostKind.SELF))
    headings = cost_headings(columns, with_sides=False)
    cells = [cost_cells(columns, line.cost, None, report.totals, page) for line in chosen]
    if (known := report.profile.intervals) is not None:
        add_column(headings, cells, columns[0], [(of_line(known, report, line), line.cost) for line in chosen])
    headings, cells = fitting(
        headings, cells, page,
        least=_needs(chosen, page),
    )
    width = name_width(headings, cells, page)
    rows: list[list[Cell]] = []
    labels: list[Cell] = []
    for row, (label, below) in zip(cells, _labels(chosen, page, width)):
        rows += [row, [Cell("")] * len(row)] if below else [row]
        labels += [Cell(label), Cell(below)] if below else [Cell(label)]
    table = cost_table(headings, "line and function", rows, labels, page)
    return table, len(found.lines) + len(found.others) - len(chosen)


def _needs(lines: Sequence[TopLine], page: Page) -> int:
    """The width for complete places, and for the last parts of names."""
    needs = [
        len(page.file(line.file)) + len(str(line.line)) + 3 + least_width(page.name(line.functions[0]))
        + len(_rest(line)) for line in lines
    ]
    if page.exact:  # the user asked for the columns
        needs = []
    needs += [_TWO_NAMES_NEED for line in lines if line.through]
    return max(min(max(needs, default=0), _MOST_NEEDED), NAMES_NEED)


def _labels(lines: Sequence[TopLine], page: Page, width: int) -> list[tuple[str, str]]:
    """The label of each line, file:line and the function, shortened if there is no room; and what goes on the row
    below, or an empty text."""
    places = [
        f"{page.file(line.file)}:{line.line}" if line.line else _UNKNOWN for line in lines
    ]
    longest = min(max(map(len, places), default=0), max(width - _SHORTEST_FUNCTION, width // 2, 8))
    texts: list[tuple[str, str]] = []
    for place, line in zip(places, lines):
        name = page.name(line.functions[0])
        rest = _rest(line)
        through = _through(line.through, None, page) if line.through else ""
        if page.full_names:
            texts.append((f"{place}  {name}{through}{rest}", ""))
            continue
        place = shorten_middle(place, longest)
        room = width - len(place) - 2 - len(rest)
        below = ""
        if line.through and _least(line.through, name, through, page) > room:
            # Two places do not fit on one row.
            through, below = "", f" {_through(line.through, width - 1, page, is_below=True)}"
        elif line.through:
            most = max(room - len(name) - len(_THROUGH), room // 3, _SHORTEST_NAME)
            through = _through(line.through, most, page)
        room = max(room - len(through), _SHORTEST_NAME)
        name = fit(name, room)
        # Names are aligned if there is room for that.
        spare = width - len(place) - 2 - len(name) - len(through) - len(rest)
        place = place.ljust(min(longest, len(place) + spare))
        texts.append((f"{place}  {name}{through}{rest}", below))
    return texts


def _rest(line: TopLine) -> str:
    """How many more functions contain the line; empty if there are none."""
    return f" and {len(line.functions) - 1} more" if len(line.functions) > 1 else ""


def _least(through: Through, name: str, text: str, page: Page) -> int:
    """The width that both names need on one row. If the second one has a place, they are not shortened."""
    if through.inlined or through.function is None:
        return len(name) + len(text)
    return least_width(name) + len(_THROUGH) + least_width(as_called(page.name(through.function)))


def _through(through: Through, width: int | None, page: Page, is_below: bool = False) -> str:
    """The function or the inlined code that has most of a line's cost, with its place if that is known."""
    inlined = through.inlined
    if through.function is not None:
        name = as_called(page.name(through.function))
    else:
        name = page.inlined_name(inlined.name) if inlined else ""
    where = f", {page.file(inlined.file)}:{inlined.line}" if inlined else ""
    start = f" ({_THROUGH.strip()} " if inlined else _THROUGH
    end = f"{where})" if inlined else ""
    if width is not None:
        room = width - len(end) - (len(start) if inlined or is_below else 0)
        name = fit(name, max(room, _SHORTEST_NAME))
    return f"{start}{name}{end}"
