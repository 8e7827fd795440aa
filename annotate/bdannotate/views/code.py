# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions whose own instructions miss I1."""

from __future__ import annotations

import textwrap

from ..analyses.code.columns import Column, CostKind, Form
from ..analyses.code.report import Report
from ..analyses.code_use import CodeUse
from .costs import cost_cells, cost_headings, cost_table, fitting, name_width
from .names import fit
from .text import Cell, Page

_METRICS = ("I1mr", "SpLossI1", "UnusedI1", "ILmr")


def code_table(found: CodeUse, limit: int | None, report: Report, page: Page) -> list[str]:
    chosen = found.functions[:limit]
    columns = [Column(report.metrics["I1mr"], CostKind.SELF)]
    columns += [Column(report.metrics[name], CostKind.SELF, Form.COUNT)
                for name in _METRICS[1:] if name in report.metrics]
    headings = cost_headings(columns, with_sides=False)
    cells = [cost_cells(columns, cost, None, report.totals, page) for _, cost in chosen]
    headings, cells = fitting(headings, cells, page)
    width = name_width(headings, cells, page)
    labels = [Cell(fit(page.name(function), width)) for function, _ in chosen]
    table = cost_table(headings, "function", cells, labels, page)
    return [*table, *textwrap.wrap(found.helps, page.width)]
