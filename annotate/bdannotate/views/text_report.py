# SPDX-License-Identifier: GPL-2.0-or-later
"""The text report: its sections, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from . import diff as diff_view
from ..analyses.columns import SortKey
from ..analyses.diff import Diff
from ..analyses.files import by_file, by_function
from .files import group_table
from .functions import function_table
from .headers import metadata, pairs, source_text, totals_tables
from ..analyses.hints import hints as find_hints
from .hints import hint_lines
from ..analyses.instructions import function_codes
from .instructions import code_tables
from ..analyses.per_file import PerFile
from .per_file import spread_tables
from ..analyses.report import Report, Selection
from ..analyses.source import annotate
from .source import source_tables
from .text import Page
from .tree import tree_table


def section(title: str, lines: list[str], page: Page) -> list[str]:
    return ["", page.heading(f"== {title} =="), "", *lines]


def head(report: Report, page: Page) -> list[str]:
    lines = pairs([*metadata(report.profile), ("Sorted by", sort_text(report.selection))], page)
    return lines + section("Totals", totals_tables(report.profile, report.metrics, page), page)


def sort_text(selection: Selection) -> str:
    def key_text(index: int, key: SortKey) -> str:
        percent = key.threshold
        if percent is None and index == 0 and not key.column.metric.is_ratio:
            percent = selection.threshold
        unit = "" if key.column.metric.is_ratio and not key.column.metric.is_share else "%"
        limit = f" (from {percent:g}{unit})" if percent and not selection.function else ""
        return f"{key.column.name}{limit}"

    return ", ".join(key_text(index, key) for index, key in enumerate(selection.keys))


def functions(report: Report, page: Page) -> list[str]:
    if not report.entries:
        return section("Functions", ["none that match"], page)
    table = function_table(report.entries, report.selection.columns, report.totals, page)
    return section("Functions", table, page)


def tree(report: Report, page: Page, kind: str) -> list[str]:
    table = tree_table(report, page, kind in ("caller", "both"), kind in ("calling", "both"))
    return section("Callers (<) and callees (>)", table, page)


def files(report: Report, page: Page) -> list[str]:
    lines = group_table(by_file(report), "<", "file:function", report, page)
    more = group_table(by_function(report), ">", "function:file", report, page)
    return section("Files and their functions", lines, page) + section(
        "Functions and their files", more, page
    )


def source(report: Report, page: Page, include: Sequence[str], context: int) -> list[str]:
    tables = source_tables(annotate(report, include, context), report, page)
    return [line for title, lines in tables for line in section(title, lines, page)]


def hints(report: Report, page: Page) -> list[str]:
    return section("Hints", hint_lines(find_hints(report), page), page)


def instructions(report: Report, page: Page) -> list[str]:
    tables = code_tables(function_codes(report), report, page)
    return [line for title, lines in tables for line in section(title, lines, page)]


def diff_report(diff: Diff, page: Page) -> list[str]:
    lines = diff_view.diff_head(diff, sort_text(diff.selection), page)
    lines += section("Totals", diff_view.totals_table(diff, page), page)
    nothing = ["none that changed by this much"]
    table = diff_view.functions_table(diff, page) if diff.functions else nothing
    lines += section("Functions", table, page)
    if diff.before.calls or diff.after.calls:
        table = diff_view.calls_table(diff, page) if diff.calls else nothing
        lines += section("Calls", table, page)
    return lines


def per_file_report(found: PerFile, page: Page) -> list[str]:
    parts = tuple(part for profile in found.profiles for part in profile.parts)
    rows = [("Profiles", source_text(parts)), ("Command", parts[0].command)]
    lines = pairs([*rows, ("Sorted by", f"mean of {sort_text(found.selection)}")], page)
    for title, table in spread_tables(found, page):
        lines += section(title, table, page)
    return lines
