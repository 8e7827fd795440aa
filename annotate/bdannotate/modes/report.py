# SPDX-License-Identifier: GPL-2.0-or-later
"""The report on one profile, or on the sum of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bdcommon import console

from ..analyses.code.report import Report, make_report
from ..analyses.code.structure import Structure, structures
from ..analyses.data.loads import Loads
from ..analyses.data.sharing import SharingReport
from ..analyses.hints import hints
from ..analyses.paths import PathsReport
from ..analyses.ranks import RanksReport
from ..analyses.repairs.choice import Repairs, functions_with_callers
from ..analyses.repairs.unshare import with_unshare
from ..analyses.types.object_details import with_sharing
from ..options import DEFAULT_FUNCTIONS, DEFAULT_LINES, DEFAULT_OBJECTS, Options
from ..reading.parser import Detail
from ..reading.why import why_path
from ..views import csv_report, json_report, text_report
from ..views.curve import NamedCurve, curve_lines, curve_title
from ..views.json_values import to_json
from ..views.last_level import LAST_LEVEL_TITLE, last_level_lines
from ..views.names import Names
from ..views.paths import PATHS_TITLE, line_texts, path_lines
from ..views.ranks import rank_sections
from ..views.repairs import brief_repairs, repair_lines, variables
from ..views.sarif import sarif
from ..views.core_loads import AGAIN_TITLE, TOUCHES_TITLE, again_lines, touch_lines
from ..views.sharing import CORES_TITLE, SHARING_TITLE, brief_sharing, core_lines, sharing_lines
from ..views.text import Page
from .curves import named_curve
from .inputs import Inputs
from .objects import (
    ReportedObjects, known_objects, object_sections, objects_as_csv, reported_objects,
)
from .outputs import judge, rows_of, selection_of, with_threshold, write_text
from .paths import paths_of
from .ranks import ranks_of
from .sharing import shares_lines, sharing_of
from .why import repairs_of, sites_of_run, why_beside, why_if_readable, with_what_misses_cost


def report(paths: Sequence[str], options: Options) -> int:
    inputs = Inputs(options)
    tells_why = (options.format != "csv" or _is_of_times(options)) and all(why_path(path) is not None for path in paths)
    profile = inputs.sum_of_profiles(paths, Detail.INSTRUCTIONS if tells_why else _detail(options))
    baseline = None
    if options.baseline is not None:
        baseline = inputs.profile(options.baseline, Detail.FUNCTIONS)
    why = sites = None
    whole = profile
    if tells_why:
        # A file that the user asked for must be readable.
        read = why_if_readable if options.curve is None else why_beside
        whole = inputs.whole(paths) if inputs.separation else profile
        why = read(paths, whole, inputs)
        sites = sites_of_run(why, whole, inputs) if why else None
    costs = with_what_misses_cost(profile, sites, inputs)
    made = make_report(costs, selection_of(costs, options), inputs.folders)
    if options.is_for_people or options.hints or options.format == "sarif":
        made = inputs.with_inlined_lines(made)
    inputs.functions = made.selection.function
    found = _structures(made, inputs) if options.structure else []
    known = known_objects(paths, profile, inputs, why is not None or shares_lines(paths))
    objects = reported_objects(known, profile, made.graph, inputs)
    of_sizes = named_curve(paths, made, inputs)
    sharing = None
    if options.format != "csv":
        most = rows_of(options.limit, DEFAULT_OBJECTS) if options.sharing else 0
        sharing = sharing_of(paths, inputs.whole(paths) if inputs.separation else profile, known, inputs, most)
    if sharing is not None:
        about = sharing
        objects = replace(objects, details=[with_sharing(one, about) for one in objects.details])
    ranks = ranks_of(paths, profile, made.graph, options)
    ways = paths_of(paths, inputs.whole(paths) if inputs.separation else profile, made, inputs)
    repairs = repairs_of(sites, whole, known, inputs) if sites else None
    if repairs is not None and sharing is not None:
        repairs = with_unshare(repairs, sharing)
    if options.format == "json":
        shape = json_report.profile_json(
            made, found, objects.asked_for, objects.details,
            hints(with_threshold(made)) if options.hints else None,
            of_sizes, repairs, sharing, ranks, ways,
        )
        console.write_data(to_json(shape))
    elif options.format == "sarif":
        console.write_data(to_json(sarif(with_threshold(made), Names(made.graph.functions))))
    elif options.format == "csv":
        of_objects = objects_as_csv(objects, options)
        console.write_data([csv_report.profile_csv(made) if of_objects is None else of_objects])
    else:
        def lines(page: Page) -> list[str]:
            first = _sections(made, found, objects, of_sizes, repairs, sharing, ranks, ways, options, page)
            if of_sizes is not None and of_sizes.data:
                return first
            return [*first, *object_sections(objects, options, page)]

        files = (place.file for place in made.inlined.lines)
        write_text(lines, made.graph.functions, options, files)
    return console.ended(judge(options, profile, baseline))


def _is_of_times(options: Options) -> bool:
    """Whether the user asked for columns that only a run with --why=yes has."""
    return any(name.startswith(("T", "Wait")) for name in (*options.show, *options.sort))


def _detail(options: Options) -> Detail:
    if options.instructions or options.structure:
        return Detail.INSTRUCTIONS
    return Detail.FUNCTIONS if options.format == "csv" else Detail.LINES


def _structures(made: Report, inputs: Inputs) -> list[Structure]:
    chains = inputs.inlined_chains(made.profile, (entry.function for entry in made.entries))
    return structures(made.profile, made.graph, made.entries, chains)


def _brief(repairs: Repairs | None, options: Options, page: Page) -> text_report.BriefRepairs | None:
    if repairs is None or not repairs.list:
        return None
    function = None if repairs.is_none else repairs.list[0].function
    return text_report.BriefRepairs(
        brief_repairs(repairs, page, variables(options.include)), function
    )


def _shows_details_only(options: Options) -> bool:
    """Whether the first screen is left out. Readers who ask for objects, curves, ranks, paths or sharing have seen it,
    unless they also ask for other views."""
    is_asked_for = (
        options.object is not None or options.curve is not None or options.sharing or options.paths or options.ranks
    )
    return is_asked_for and not (
        options.totals or options.hints or options.tree != "none" or options.files
        or options.annotate or options.instructions or options.structure or options.objects
    )


def _sections(
    made: Report, found: Sequence[Structure], objects: ReportedObjects, of_sizes: NamedCurve | None,
    repairs: Repairs | None, sharing: SharingReport | None, ranks: RanksReport | None, ways: PathsReport | None,
    options: Options, page: Page,
) -> list[str]:
    limits = text_report.Limits(
        rows_of(options.limit, DEFAULT_FUNCTIONS), rows_of(options.limit, DEFAULT_LINES),
        fit=options.limit is None,
    )
    asked_for_more = (
        options.totals or options.hints or options.tree != "none" or options.files
        or options.annotate or options.instructions or options.structure
        or objects.asked_for is not None or of_sizes is not None or options.sharing or options.paths or options.ranks
    )
    events = made.profile.events
    instructions = made.totals[events.index("Ir")] if "Ir" in events else 0
    if _shows_details_only(options):
        lines = text_report.objects_head(made.profile, page)
    else:
        lines = text_report.first_screen(
            made, limits, not options.hints,
            not asked_for_more and options.format == "text", page, objects.are_there,
            () if options.hints else objects.notable, _brief(repairs, options, page),
            None if sharing is None else brief_sharing(sharing, instructions, page),
        )
    loads = None
    if objects.asked_for and options.objects:
        loads = Loads(objects.asked_for, made.profile.events)
    if options.totals:
        lines += text_report.totals(made, page)
    if of_sizes is not None:
        lines += text_report.section(curve_title(of_sizes), curve_lines(of_sizes, page), page)
    if options.hints:
        if repairs is not None and repairs.list:
            lines += text_report.section("Repairs", repair_lines(repairs, page, variables(options.include)), page)
        if repairs is None or not repairs.is_none:
            functions = None if repairs is None else functions_with_callers(repairs, made.graph)
            lines += text_report.hints(made, page, () if repairs else objects.notable, functions)
    if options.sharing and sharing is not None:
        most = rows_of(options.limit, DEFAULT_OBJECTS)
        lines += text_report.section(SHARING_TITLE, sharing_lines(sharing, most, page), page)
        if sharing.totals:
            lines += text_report.section(CORES_TITLE, core_lines(sharing, page), page)
        if sharing.last_level is not None and sharing.last_level.cores:
            about_last = last_level_lines(sharing.last_level, sharing, most, page)
            lines += text_report.section(LAST_LEVEL_TITLE, about_last, page)
        if sharing.loads is not None and sharing.loads.touches:
            lines += text_report.section(TOUCHES_TITLE, touch_lines(sharing.loads, sharing, most, page), page)
        if sharing.loads is not None and sharing.loads.again:
            lines += text_report.section(AGAIN_TITLE, again_lines(sharing.loads, most, page), page)
    if ways is not None:
        most = rows_of(options.limit, None)
        about_paths = path_lines(ways, made.selection.columns, most, line_texts(options.include), page)
        lines += text_report.section(PATHS_TITLE, about_paths, page)
    for title, about in () if ranks is None else rank_sections(ranks, rows_of(options.limit, DEFAULT_FUNCTIONS), page):
        lines += text_report.section(title, about, page)
    if options.tree != "none":
        lines += text_report.tree(made, page, options.tree, loads)
    if options.structure:
        lines += text_report.structure(found, made, page)
    if options.files:
        lines += text_report.files(made, page)
    if options.annotate:
        lines += text_report.source(made, page, options.include, options.context, loads)
    if options.instructions:
        lines += text_report.instructions(made, page)
    return lines
