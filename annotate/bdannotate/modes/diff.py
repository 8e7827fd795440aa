# SPDX-License-Identifier: GPL-2.0-or-later
"""The mode --diff: the report on the changes from one profile to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bdcommon import console

from ..analyses.code.columns import without_rates
from ..analyses.comparison.diff import Diff, make_diff
from ..analyses.comparison.source_diff import diff_sources
from ..analyses.hint_changes import hint_changes
from ..model.merge import add, common_events, functions_of, project
from ..options import DEFAULT_FUNCTIONS, Options
from ..reading.parser import Detail
from ..views import csv_objects, csv_report, json_report, text_report
from ..views.json_values import to_json
from ..views.text import Page
from .inputs import Inputs
from .objects import ComparedObjects, compared_objects
from .outputs import judge, rows_of, selection_of, with_threshold, write_text


def diff(paths: Sequence[str], options: Options) -> int:
    inputs = Inputs(options)
    detail = Detail.LINES if options.annotate or options.hints else Detail.FUNCTIONS
    before, after = (inputs.profile(path, detail) for path in paths)
    events = common_events(before, after)
    for profile in (before, after):
        left_out = [event for event in profile.events if event not in events]
        if left_out:
            source = profile.parts[0].source
            inputs.say_notes([f"only {source} counts {' '.join(left_out)}: not compared"])
    objects = compared_objects(paths, (before, after), inputs)
    before, after = project(before, events), project(after, events)
    selection = selection_of(add(before, after), options)
    if not options.show and options.is_for_people:
        selection = replace(selection, columns=without_rates(selection.columns))
    made = make_diff(before, after, selection)
    if options.format == "json":
        changes = hint_changes(with_threshold(made)) if options.hints else None
        console.write_data(to_json(json_report.diff_json(made, objects.diff, changes)))
    elif options.format == "csv":
        console.write_data([
            csv_objects.object_diff_csv(objects.diff) if objects.diff else csv_report.diff_csv(made)
        ])
    else:
        functions = functions_of(made.before) | functions_of(made.after)
        write_text(lambda page: _sections(made, objects, options, page), functions, options)
    return judge(options, after, before)


def _sections(made: Diff, objects: ComparedObjects, options: Options, page: Page) -> list[str]:
    lines = text_report.diff_report(made, rows_of(options.limit, DEFAULT_FUNCTIONS), page)
    if objects.diff:
        lines += text_report.object_diff(objects.diff, page)
    if options.hints:
        lines += text_report.hint_changes(hint_changes(made), page, objects.notable)
    if options.annotate:
        found = diff_sources(made, options.include, options.include_before, options.context)
        lines += text_report.source_diff(found, made, page)
    return lines
