# SPDX-License-Identifier: GPL-2.0-or-later
"""The costliest source lines of all files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.columns import Column, Form, Side
from ..analyses.report import Report
from ..analyses.top_lines import TopLine, TopLines
from .costs import cost_cells, cost_headings, cost_table, fitting, name_width
from .names import fit
from .text import Cell, Page, shorten_middle

# What a line is shown with besides what it is ranked by.
_OF_DATA = ("UnusedD1", "D1m")
_OF_ALL = ("Unused1", "D1m")  # where data and code are not told apart
_UNKNOWN = "(no lines)"
# Lines of the second ranking: fewer, as these matter where the first says little.
_OTHERS = 2


def line_table(
    found: TopLines, limit: int | None, report: Report, page: Page
) -> tuple[list[str], int]:
    """Those by the first metric, then those that only the second one knows; and how many more
    there are."""
    lines, others = found.lines, found.others
    if limit is not None:
        others = others[: max(min(_OTHERS, limit // 2), limit - len(lines))]
        lines = lines[: limit - len(others)]
    chosen = [*lines, *others]
    columns = [Column(found.metric, Side.SELF)]
    if found.other_metric:
        beside = _OF_DATA if "UnusedD1" in report.metrics else _OF_ALL
        columns += [Column(report.metrics[name], Side.SELF, Form.COUNT)
                    for name in beside if name in report.metrics]
        columns.insert(2, Column(found.other_metric, Side.SELF))
    headings = cost_headings(columns, with_sides=False)
    cells = [cost_cells(columns, line.cost, None, report.totals, page) for line in chosen]
    headings, cells = fitting(headings, cells, page)
    width = name_width(headings, cells, page)
    labels = [Cell(label) for label in _labels(chosen, page, width)]
    table = cost_table(headings, "line and function", cells, labels, page)
    return table, len(found.lines) + len(found.others) - len(chosen)


def _labels(lines: Sequence[TopLine], page: Page, width: int) -> list[str]:
    """file:line and the function, without folders where there is no room for them."""
    places: list[str] = []
    for line in lines:
        file = printable(line.file)
        places.append(
            f"{file if page.full_names else os.path.basename(file)}:{line.line}" if line.line
            else _UNKNOWN
        )
    longest = min(max(map(len, places), default=0), max(width // 2, 8))
    texts: list[str] = []
    for place, line in zip(places, lines):
        name = page.name(line.functions[0])
        rest = f" +{len(line.functions) - 1}" if len(line.functions) > 1 else ""
        if not page.full_names:
            place = shorten_middle(place, longest)
            name = fit(name, max(width - longest - 2 - len(rest), 8))
        texts.append(f"{place:<{longest}}  {name}{rest}")
    return texts
