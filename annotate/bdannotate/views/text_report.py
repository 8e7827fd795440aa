# SPDX-License-Identifier: GPL-2.0-or-later
"""The text report: its sections, in their order."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass

from bdcommon.console import printable

from ..analyses.beyond import beyond_total, falls
from ..analyses.code.columns import SortKey
from ..analyses.code.files import by_file, by_function
from ..analyses.code.instructions import function_codes
from ..analyses.code.report import Report, Selection
from ..analyses.code.source import annotate
from ..analyses.code.structure import Structure
from ..analyses.code_use import code_use
from ..analyses.comparison.diff import Diff
from ..analyses.comparison.object_diff import ObjectDiff
from ..analyses.comparison.source_diff import SourceDiff
from ..analyses.data.data_use import MIXED, data_loss
from ..analyses.data.loads import Loads
from ..analyses.data.objects import Listing
from ..analyses.data.wrappers import Wrapper
from ..analyses.data_hints import DataHints, data_hints
from ..analyses.hint_changes import HintChanges
from ..analyses.hints import Hint, can_hint, has_too_few_bursts
from ..analyses.hints import hints as find_hints
from ..analyses.misses.verdict import First, verdict
from ..analyses.per_file import PerFile
from ..analyses.top_lines import TopLines, top_lines
from ..analyses.types.object_details import Details
from ..analyses.unknown import unknown_code
from ..model.profile import Function, Profile
from . import diff as diff_view
from .code import code_table
from .data_hints import brief_data, brief_others, data_texts, other_data
from .diff_summary import summary_lines
from .files import group_table
from .functions import function_table, listed_entries
from .headers import metadata, pairs, source_text, totals_tables, wrapped_pairs
from .hints import brief_lines, hint_change_lines, hint_lines
from .instructions import code_tables
from .lines import line_table
from .names import fit
from .next_steps import next_steps
from .object_diff import object_diff_table
from .objects import object_details as details_of_object
from .objects import objects_table, wrapper_lines
from .overview import overview
from .per_file import spread_tables
from .picture import legend, sample_sentence
from .source import source_tables
from .source_diff import source_diff_tables
from .structure import structure_table
from .text import Page, shorten_end, wrapped
from .tree import tree_table


def section(title: str, lines: list[str], page: Page) -> list[str]:
    title = f"== {title} =="
    return ["", page.heading(shorten_end(title, page.width) if page.cut else title), *lines]


# The maximum number of hints on the first screen; --hints has them all.
_BRIEF_HINTS = 3
# The number of source lines if code costs more than data, so that there is room for the list of code.
_FEW_LINES = 2
# The height of a list of lines with its title, its heading and the fewest rows.
_FEWEST_OF_LINES = 4 + _FEW_LINES
# The height of the first screen, which should be visible at once.
_HEIGHT = 40
# The height around a list of functions: it has a title with a gap, two headings and a rule, and may have a line on a
# cycle; the commands for what is next follow, or at least one of them.
_AROUND_FUNCTIONS = 6 + 5
_LEAST_AROUND = 6 + 2
_FEWEST_FUNCTIONS = 4
_FEWEST_STEPS = 1
# The maximum number of functions whose code misses I1; all of them with --limit=all.
_CODE_FUNCTIONS = 3
_TOO_FEW = (
    "too few bursts to name a place: choose shorter periods (--sample=bursts,<length>,<period>), or run without "
    "--sample"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum number of rows of each list on the first screen; None: no limit. fit: whether lists get shorter if
    the screen has no room for them."""

    functions: int | None
    lines: int | None
    fit: bool


@dataclass(frozen=True, slots=True)
class BriefRepairs:
    """The lines on repairs for the first screen. function: that of the first repair; None: there is none."""

    lines: Sequence[str]
    function: Function | None


def first_screen(
    report: Report, limits: Limits, with_hints: bool, with_next: bool, page: Page,
    has_objects: bool = False, details: Sequence[Details] = (), repairs: BriefRepairs | None = None,
    sharing: str | None = None,
) -> list[str]:
    """The first screen: what to change, and where, in 80 columns and 40 lines, unless the user asks for more. details:
    those of notable objects. repairs: if there are any, they replace hints, which only guess. sharing: a clause."""
    ranked = top_lines(report)
    judged = verdict(report.profile, report.metrics, report.totals)
    is_code_first = judged is not None and judged.first is First.L1_CODE
    rows = overview(report, ranked, page)
    if note := _unknown_code(report):
        rows.append(("Unknown", note))
    if note := _beyond(report, page):
        rows.append(("Shares", note))
    if sharing:
        rows.append(("Sharing", sharing))
    lines = wrapped_pairs(rows, page)
    if repairs is not None and with_hints:
        lines += section("What to change", list(repairs.lines), page)
    wants_hints = with_hints and can_hint(report)
    wants_why = wants_hints and repairs is None and _can_record_why(report)
    found = find_hints(report) if wants_hints and repairs is None else []
    found = [hint for hint in found if hint.pattern.brief][:_BRIEF_HINTS]
    if limits.fit and is_code_first:
        found = found[:1]
    data = _data_hints(report, found, details if repairs is None else ())
    data = data.most() if limits.fit else data
    brief = brief_lines(found, page, brief_data(data, page)) + brief_others(data, page)
    if wants_hints and has_too_few_bursts(report):
        brief = wrapped(_TOO_FEW, page)
    advice = section(_advice_title(report), brief, page) if brief else []
    code = code_use(report)
    of_code: list[str] = []
    if code:
        few = None if limits.functions is None else min(_CODE_FUNCTIONS, limits.functions)
        of_code = section("Code that misses I1", code_table(code, few, report, page), page)
    fewest = _FEWEST_FUNCTIONS - (is_code_first or bool(data.of_hints or data.others))
    fewest = min(fewest, len(report.entries))
    least = len(advice) + _LEAST_AROUND + fewest
    if ranked and ranked.lines + ranked.others:
        rows_of_lines = _FEW_LINES if limits.fit and is_code_first else limits.lines
        if limits.fit and not is_code_first and _HEIGHT - len(lines) - least - len(of_code) < _FEWEST_OF_LINES:
            of_code = []
        room = _HEIGHT - len(lines) - least - len(of_code) if limits.fit else None
        lines += _lines(ranked, rows_of_lines, room, report, page)
    advice += of_code
    rows_of_functions = limits.functions
    if limits.fit and rows_of_functions:
        room = _HEIGHT - len(lines) - len(advice) - _AROUND_FUNCTIONS - int(has_objects)
        room -= int(wants_why)
        if repairs is not None:
            fewest = min(fewest, max(room + int(has_objects), _FEW_LINES))
        rows_of_functions = max(min(rows_of_functions, room), fewest)
    lines += functions(report, rows_of_functions, page) + advice
    repaired = repairs.function if repairs else None
    steps: list[str] = []
    if with_next:
        listed = frozenset(entry.function for entry in listed_entries(report, rows_of_functions))
        steps = next_steps(report, found, has_objects, page, listed, repaired, wants_why)
    if limits.fit:
        # The most important step comes first.
        steps = steps[: max(_HEIGHT - 1 - len(lines), _FEWEST_STEPS)]
    return [*lines, "", *steps] if steps else lines


def _lines(
    ranked: TopLines, limit: int | None, room: int | None, report: Report, page: Page
) -> list[str]:
    """The section of the costliest source lines. room: the maximum height, but a few lines are shown in any case; None:
    no limit."""
    while True:
        table, hidden = line_table(ranked, limit, report, page)
        made = section(f"Lines by {ranked.metric.heading}{_more(hidden)}", table, page)
        if room is None or limit is None or len(made) <= room or limit <= _FEW_LINES:
            return made
        limit -= 1


def _can_record_why(report: Report) -> bool:
    """Whether the profile is from bdgrind, which can record why lines are loaded."""
    return report.profile.parts[0].creator.startswith("bdgrind")


def _advice_title(report: Report) -> str:
    """The title of the hints. If misses cost little, it says so, as advice on data is not what to do next then."""
    found = verdict(report.profile, report.metrics, report.totals)
    costs_little = found is not None and found.first is First.INSTRUCTIONS
    return "What to change" + (", if anything: misses cost little" if costs_little else "")


def _more(hidden: int) -> str:
    return f"; {hidden:,} more: --limit=all" if hidden > 0 else ""


def _unknown_code(report: Report) -> str:
    """A clause on object files without symbols or lines, and what would help; empty if they cost little."""
    loss = data_loss(report.metrics)
    metric = loss or report.selection.keys[0].column.metric
    found = None if metric.is_ratio else unknown_code(report, metric)
    if not found:
        return ""
    objects = ", ".join(os.path.basename(printable(name)) for name in found.objects)
    what = "lines" if found.has_symbols else "symbols"
    return (
        f"{100 * found.share:.0f}% of {'the loss' if loss else metric.name} is in code without "
        f"{what} ({objects}): -g, debug packages or DEBUGINFOD_URLS (Valgrind 3.19) help"
    )


def _beyond(report: Report, page: Page) -> str:
    """A clause on why there are shares above 100 %; empty if there are none."""
    found = beyond_total(report)
    if found is None:
        return ""
    function, metric, times = found
    if falls(report, metric):
        return f"{metric.name} is also credited back, so the parts exceed the total: see the counts"
    return (
        f"the calls in {fit(page.name(function), 40)} cost {times:.1f} times as much {metric.name} as all functions: "
        "the profile is incomplete, or counts recursion twice; see self costs"
    )


def totals(report: Report, page: Page) -> list[str]:
    lines = pairs([*metadata(report.profile), ("Sorted by", sort_text(report.selection))], page)
    table = [*lines, "", *totals_tables(report.profile, report.metrics, page)]
    return section("Totals", table, page)


def sort_text(selection: Selection) -> str:
    def key_text(index: int, key: SortKey) -> str:
        percent = key.threshold
        if percent is None and index == 0 and not key.column.metric.is_ratio:
            percent = selection.threshold
        unit = "" if key.column.metric.is_ratio and not key.column.metric.is_share else "%"
        limit = f" (from {percent:g}{unit})" if percent and not selection.function else ""
        return f"{key.column.name}{limit}"

    return ", ".join(key_text(index, key) for index, key in enumerate(selection.keys))


def functions(report: Report, limit: int | None, page: Page) -> list[str]:
    title = f"Functions by {sort_text(report.selection)}"
    if all(entry.is_cycle for entry in report.entries):
        return section(title, ["none that match"], page)
    table, hidden = function_table(report, limit, page)
    return section(f"{title}{_more(hidden)}", table, page)


def tree(report: Report, page: Page, kind: str, loads: Loads | None = None) -> list[str]:
    callers, callees = kind in ("caller", "both"), kind in ("calling", "both")
    table = tree_table(report, page, callers, callees, loads)
    data = ", and data loaded (=)" if loads else ""
    return section(f"Callers (<) and callees (>){data}", table, page)


def structure(found: Sequence[Structure], report: Report, page: Page) -> list[str]:
    return section("Loops and inlined functions", structure_table(found, report, page), page)


def files(report: Report, page: Page) -> list[str]:
    lines = group_table(by_file(report), "<", "file:function", report, page)
    more = group_table(by_function(report), ">", "function:file", report, page)
    return section("Files and their functions", lines, page) + section(
        "Functions and their files", more, page
    )


def source(
    report: Report, page: Page, include: Sequence[str], context: int, loads: Loads | None = None
) -> list[str]:
    tables = source_tables(annotate(report, include, context), report, page, loads)
    return [line for title, lines in tables for line in section(title, lines, page)]


def hints(
    report: Report, page: Page, details: Sequence[Details] = (),
    repaired: Container[Function] | None = None,
) -> list[str]:
    """The section of hints. details: those of notable objects. repaired: functions to leave out, as repairs say more
    about them."""
    found = find_hints(report)
    if has_too_few_bursts(report):
        return section("Hints", wrapped(_TOO_FEW, page), page)
    if repaired is not None:
        found = [hint for hint in found if hint.function not in repaired]
        if not found:
            return []
    data = _data_hints(report, found, details)
    texts, others = data_texts(data, page), other_data(data, page)
    return section("Hints", hint_lines(found, page, None, texts, others), page)


def _data_hints(
    report: Report, found: Sequence[Hint], details: Sequence[Details]
) -> DataHints:
    loss = report.metrics.get(MIXED.loss)  # the metric that objects are ranked by
    unused = loss.counter()(report.totals) if loss else 0
    return data_hints(found, details, unused, report.graph)


def instructions(report: Report, page: Page) -> list[str]:
    tables = code_tables(function_codes(report), report, page)
    return [line for title, lines in tables for line in section(title, lines, page)]


def diff_report(diff: Diff, limit: int | None, page: Page) -> list[str]:
    """A comparison, with the answer first and the totals of all events last. limit: the maximum number of rows of a
    list; None: no limit."""
    lines = diff_view.diff_head(diff, sort_text(diff.selection), page)
    if summary := summary_lines(diff, page):
        lines += section("Summary", summary, page)
    nothing = ["none that changed by this much"], 0
    table, hidden = diff_view.functions_table(diff, limit, page) if diff.functions else nothing
    lines += section(f"Functions{_more(hidden)}", table, page)
    if diff.before.calls or diff.after.calls:
        table, hidden = diff_view.calls_table(diff, limit, page) if diff.calls else nothing
        lines += section(f"Calls{_more(hidden)}", table, page)
    return [*lines, *section("Totals", diff_view.totals_table(diff, page), page)]


def hint_changes(found: HintChanges, page: Page, details: Sequence[Details] = ()) -> list[str]:
    """The sections on changes of hints. details: those of notable objects in the profile after."""
    data = _data_hints(found.after, (*found.new, *found.remaining), details)
    texts, others = data_texts(data, page), other_data(data, page)
    sections = hint_change_lines(found, page, texts, others)
    return [line for title, lines in sections for line in section(title, lines, page)]


def source_diff(found: SourceDiff, diff: Diff, page: Page) -> list[str]:
    tables = source_diff_tables(found, diff, page)
    return [line for title, lines in tables for line in section(title, lines, page)]


def per_file_report(found: PerFile, page: Page) -> list[str]:
    parts = tuple(part for profile in found.profiles for part in profile.parts)
    rows = [("Profiles", source_text(parts)), ("Command", parts[0].command)]
    lines = pairs([*rows, ("Sorted by", f"mean of {sort_text(found.selection)}")], page)
    for title, table in spread_tables(found, page):
        lines += section(title, table, page)
    return lines


def objects(found: Listing, hidden: Sequence[Wrapper], page: Page) -> list[str]:
    """The section of data objects. hidden: wrappers that hide the places of allocation."""
    lines = section("Data objects by bytes never used", objects_table(found, page), page)
    return [*lines, "", *wrapper_lines(hidden, page)] if hidden else lines


def objects_head(profile: Profile, page: Page) -> list[str]:
    """The head of a report that is only about objects."""
    rows = [("Profile", source_text(profile.parts)), ("Command", profile.parts[0].command)]
    return wrapped_pairs([(name, text) for name, text in rows if text], page)


def object_diff(found: ObjectDiff, page: Page) -> list[str]:
    return section("Data objects", object_diff_table(found, page), page)


def object_details(found: Sequence[Details], one_in: int, page: Page) -> list[str]:
    """The details of objects. one_in: see Objects."""
    lines: list[str] = []
    for details in found:
        lines += ["", *details_of_object(details, page)]
    has_picture = any(details.layout is not None for details in found)
    if not has_picture:
        return lines
    return [*lines, "", *legend(page), *wrapped(sample_sentence(one_in), page)]
