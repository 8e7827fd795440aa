# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_annotate and says how it went: status 0 good, 1 a check failed, 2 an error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from bdcommon import __version__, console
from bdcommon.console import EXIT_ERROR

from .analyses.budget import failures, parse_condition
from .analyses.columns import without_rates
from .analyses.data_hints import notable_objects
from .analyses.diff import Diff, make_diff, matching_functions
from .analyses.hint_changes import hint_changes
from .analyses.loads import Loads
from .analyses.object_details import Details, object_details
from .analyses.object_diff import ObjectDiff, diff_objects
from .analyses.objects import Entry, as_profile, label, list_objects
from .analyses.per_file import make_per_file
from .analyses.report import (
    FunctionPattern, Report, Selection, function_pattern, make_report, make_selection,
)
from .analyses.source import time_written
from .analyses.source_diff import diff_sources, same_lines
from .analyses.structure import Structure, structures, wanted_lines
from .analyses.types import AskedType, TypedGroup, call_sites, types_of, typing
from .exports.formats import FORMATS
from .exports.request import make_request
from .html.page import page
from .html.page_data import page_data
from .html.subject import of_sum, of_two
from .model.check import check
from .model.cold_parts import with_cold_parts
from .model.context_check import context_violation
from .model.contexts import ContextTree, Kind, merged
from .model.errors import OtherRun, UserError
from .model.frames import Chains
from .model.merge import (
    Renaming, add, common_events, functions_of, parse_substitution, project, reorder,
)
from .model.metrics import with_cycle_costs
from .model.objects import Identity, Objects, object_violation, only_of
from .model.profile import Function, Profile
from .model.separate import Separation, in_frames, separated
from .options import (
    DEFAULT_FUNCTIONS, DEFAULT_LINES, DEFAULT_OBJECTS, DEFAULT_THRESHOLD, Options, parse_options,
)
from .pager import write_paged
from .reading.contexts import contexts_path, read_contexts
from .reading.inlined import read_inlined_calls
from .reading.load import (
    default_profile, load, load_contexts, load_objects, load_sum, sum_of, with_costs,
)
from .reading.objects import objects_path, read_objects
from .reading.parser import Detail, parse
from .reading.progress import Progress
from .reading.types import read_types
from .views import csv_report, json_report, text_report
from .views.names import Names
from .views.text import Page

EXIT_GOOD = 0
EXIT_FAILED = 1

_DEFAULT_WIDTH = 120
_MIN_WIDTH = 40


def main(argv: Sequence[str]) -> int:
    return console.guarded("bd_annotate", lambda: _main(argv))


def _main(argv: Sequence[str]) -> int:
    try:
        return _run(parse_options(argv))
    except UserError as error:
        console.say(f"bd_annotate: {error}")
        return EXIT_ERROR


def _run(options: Options) -> int:
    paths = options.profiles or (default_profile(),)
    if options.html is not None:
        return _html(paths, options, options.html)
    if options.mode == "check":
        return max(_check(path) for path in paths)
    if options.mode == "diff":
        return _diff(paths, options)
    if options.mode == "per-file":
        return _per_file(paths, options)
    if options.mode == "export":
        return _export(paths, options)
    return _report(paths, options)


def _report(paths: Sequence[str], options: Options) -> int:
    renaming = _renaming(options)
    profile = load_sum(paths, _detail(options), renaming, options.threads)
    profile = _separated(_estimated(profile, options), options)
    baseline = None
    if options.baseline is not None:
        detail = Detail.INSTRUCTIONS if _separation(options) else Detail.FUNCTIONS
        baseline = load(options.baseline, detail, renaming, options.threads)
        baseline = _separated(_estimated(baseline, options), options)
    report = make_report(profile, _selection(profile, options))
    found = _structures(report) if options.structure else []
    is_asked_for = options.objects or options.object is not None
    objects = _objects(paths, profile, options) if is_asked_for else None
    meant = _meant(objects, options) if objects else []
    shown = meant[:_rows(options.limit, DEFAULT_LINES)]
    has_objects = options.format == "text" and all(objects_path(path) is not None for path in paths)
    objects_of_hints = objects if has_objects else None
    if has_objects and objects is None:
        objects_of_hints = _objects_of_hints(paths, profile, options)
    notable = notable_objects(objects_of_hints) if objects_of_hints else []
    types: dict[Identity, TypedGroup] = {}
    # The first screen is to be there soon, so it does without types.
    if meant or (options.hints and objects_of_hints):
        others = [entry for entry in notable if options.hints and entry not in shown]
        types = _types([*shown, *others], report, options)
    details = object_details(objects, shown, types, options.element_size) if objects else []
    if options.format == "json":
        shape = json_report.profile_json(report, found, objects, details)
        console.write(json_report.to_json(shape))
    elif options.format == "csv":
        console.write([csv_report.profile_csv(report)])
    else:
        page = _page(options, report.graph.functions)
        loads = Loads(objects, profile.events) if objects and options.objects else None
        known = types if options.hints else {}
        data = object_details(objects_of_hints, notable, known) if objects_of_hints else []
        lines = _sections(report, found, options, page, has_objects, data, loads)
        if objects:
            lines += _object_sections(objects, details, len(meant), options, page)
        write_paged(lines)
    return _judge(options, profile, baseline)


def _objects(paths: Sequence[str], profile: Profile, options: Options) -> Objects:
    """What is to be shown of the data objects beside the profiles."""
    objects = _load_objects(paths, profile, options)
    if _separation(options):
        objects = in_frames(objects, profile)
    if options.function is None:
        return objects
    return only_of(objects, FunctionPattern(function_pattern(options.function)).matches)


def _objects_of_hints(
    paths: Sequence[str], profile: Profile, options: Options
) -> Objects | None:
    """Hints stay where the objects cannot be read."""
    try:
        return _objects(paths, profile, options)
    except UserError as error:
        console.say(f"bd_annotate: note: no hints on data: {error}")
        return None


def _load_objects(paths: Sequence[str], profile: Profile, options: Options) -> Objects:
    loaded = load_objects(paths, profile, _renaming(options), time_written(profile))
    for note in loaded.notes:
        console.say(f"bd_annotate: note: {note}")
    return loaded.objects


def _meant(objects: Objects, options: Options) -> list[Entry]:
    """Those that --object is about."""
    if options.object is None:
        return []
    pattern = function_pattern(options.object)
    found = list_objects(objects, 0, None)
    meant = [entry for entry in found.entries if pattern.search(label(entry.group))]
    if not meant:
        raise UserError(f"--object={options.object}: no object that was loaded has such a name")
    return meant


def _types(meant: Sequence[Entry], report: Report, options: Options) -> dict[Identity, TypedGroup]:
    groups = [entry.group for entry in meant]
    asked = [
        AskedType(function_pattern(place), name, f"--object-type={place}={name}")
        for place, name in options.object_types
    ]
    for one in asked:
        if not any(one.pattern.search(label(group)) for group in groups):
            raise UserError(f"{one.option}: no object that is shown has such a name")
    inlined = read_inlined_calls(call_sites(groups))
    sought = typing(groups, asked, inlined.chains, options.include)
    found = read_types(sought.wanted, inlined.changed, time_written(report.profile))
    types, refusals = types_of(asked, sought, found)
    for note in (*inlined.notes, *found.notes, *refusals):
        console.say(f"bd_annotate: note: {note}")
    return types


def _object_sections(
    objects: Objects, details: Sequence[Details], meant: int, options: Options, page: Page
) -> list[str]:
    """meant: how many --object is about."""
    lines: list[str] = []
    if options.objects:
        threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
        found = list_objects(objects, threshold, _rows(options.limit, DEFAULT_OBJECTS))
        lines += text_report.objects(found, page)
    if details:
        lines += text_report.object_details(details, page)
        if meant > len(details):
            lines.append(f"{meant - len(details)} more have such a name: --limit=all")
    return lines


def _structures(report: Report) -> list[Structure]:
    chains = _chains(report.profile, (entry.function for entry in report.entries))
    return structures(report.profile, report.graph, report.entries, chains)


def _diff(paths: Sequence[str], options: Options) -> int:
    detail = Detail.LINES if options.annotate or options.hints else Detail.FUNCTIONS
    before, after = (_load_one(path, detail, options) for path in paths)
    events = common_events(before, after)
    for profile in (before, after):
        left_out = [event for event in profile.events if event not in events]
        if left_out:
            console.say(
                f"bd_annotate: note: only {profile.parts[0].source} counts "
                f"{' '.join(left_out)}: not compared"
            )
    objects = _object_diff(paths, (before, after), options) if options.objects else None
    before, after = project(before, events), project(after, events)
    selection = _selection(add(before, after), options)
    if not options.show and options.format == "text":
        selection = replace(selection, columns=without_rates(selection.columns))
    diff = make_diff(before, after, selection)
    if options.format == "json":
        console.write(json_report.to_json(json_report.diff_json(diff, objects)))
    elif options.format == "csv":
        console.write([csv_report.diff_csv(diff)])
    else:
        write_paged(_diff_sections(diff, objects, options))
    return _judge(options, after, before)


def _object_diff(
    paths: Sequence[str], profiles: tuple[Profile, Profile], options: Options
) -> ObjectDiff:
    before, after = (
        _objects([path], profile, options) for path, profile in zip(paths, profiles)
    )
    threshold, limit = options.threshold, _rows(options.limit, DEFAULT_OBJECTS)
    if threshold is None:
        threshold = DEFAULT_THRESHOLD
    if options.format == "json":
        threshold, limit = options.threshold or 0.0, None
    lines = partial(same_lines, include=options.include, include_before=options.include_before)
    return diff_objects(before, after, matching_functions(*profiles), lines, threshold, limit)


def _per_file(paths: Sequence[str], options: Options) -> int:
    profiles = [_load_one(path, Detail.FUNCTIONS, options) for path in paths]
    profiles = [reorder(profile, profiles[0].events) for profile in profiles]
    found = make_per_file(profiles, _selection(profiles[0], options))
    if options.format == "json":
        console.write(json_report.to_json(json_report.per_file_json(found)))
    elif options.format == "csv":
        console.write([csv_report.per_file_csv(found)])
    else:
        functions = (entry.function for entry, _ in found.functions)
        write_paged(text_report.per_file_report(found, _page(options, functions)))
    return EXIT_GOOD


def _export(paths: Sequence[str], options: Options) -> int:
    form = FORMATS[options.export]
    detail = Detail.LINES if form.needs_lines else Detail.FUNCTIONS
    detail = Detail.INSTRUCTIONS if _separation(options) or form.has_inlined else detail
    paths = with_costs(paths)
    profiles = [load(path, detail, _renaming(options), options.threads) for path in paths]
    profile = _separated(sum_of(profiles), options)
    if options.objects:
        profile = as_profile(_load_objects(paths, profile, options), profile)
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    has_tree = form.has_paths and not _separation(options)
    tree = merged(_trees(paths, profiles, options)) if has_tree else None
    if form.is_binary and options.output is None:
        raise UserError(f"--export={options.export} is no text: say with -o where it goes")
    functions = {place.function for place in profile.instructions} if form.has_inlined else ()
    chains = _chains(profile, functions) if functions else None
    request = make_request(profile, options.events, threshold, tree, form.all_events, chains)
    if form.is_one_event and len(request.metrics) > 1:
        raise UserError(f"--export={options.export} holds one event, --events names several")
    note = form.note(request)
    if note:
        console.say(f"bd_annotate: note: {note}")
    pieces: Iterable[str | bytes] = form.pieces(request)
    if options.output is None:
        console.write(piece for piece in pieces if isinstance(piece, str))
    else:
        _write_file(options.output, pieces)
    return EXIT_GOOD


def _trees(
    paths: Sequence[str], profiles: Sequence[Profile], options: Options
) -> list[ContextTree | None]:
    """The context trees beside the profiles. Those of other runs are left out, with a note."""
    renaming = _renaming(options)
    found = [load_contexts(path, profile, renaming) for path, profile in zip(paths, profiles)]
    for contexts in found:
        if contexts.note:
            console.say(f"bd_annotate: note: {contexts.note}")
    return [contexts.tree for contexts in found]


def _objects_of_page(
    paths: Sequence[str], profile: Profile, options: Options
) -> Objects | None:
    """The data objects beside the profiles if all have some. Those of another run are left out, with
    a note."""
    if any(objects_path(path) is None for path in paths):
        return None
    try:
        return _load_objects(paths, profile, options)
    except OtherRun as error:
        console.say(f"bd_annotate: note: {error}; here they are left out")
        return None


def _write_file(path: str, pieces: Iterable[str | bytes]) -> None:
    try:
        with open(path, "wb") as file:
            for piece in pieces:
                file.write(
                    piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape")
                )
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "not a file's name"
        raise UserError(f"{path}: {reason}") from None


def _html(paths: Sequence[str], options: Options, target: str) -> int:
    renaming = _renaming(options)
    paths = paths if options.mode == "diff" else with_costs(paths)
    profiles = [
        _estimated(load(path, Detail.INSTRUCTIONS, renaming, options.threads), options)
        for path in paths
    ]
    trees = _trees(paths, profiles, options)
    if options.mode == "diff":
        subject = of_two(profiles[0], profiles[1], (trees[0], trees[1]))
    else:
        subject = of_sum(profiles, trees, lambda total: _objects_of_page(paths, total, options))
    data = page_data(subject, options.include, options.sources, f"bd_annotate {__version__}")
    names = [os.path.basename(path) for path in paths]
    title = " and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    _write_file(target, page(data, json_report.text(title)))
    return EXIT_GOOD


def _judge(options: Options, profile: Profile, baseline: Profile | None) -> int:
    """The conditions of --fail-if, after the report: who is told that it failed wants to see."""
    conditions = [parse_condition(text) for text in options.fail_if]
    console.flush()
    reasons = failures(conditions, profile, baseline) if conditions else []
    for reason in reasons:
        console.say(f"bd_annotate: failed: {reason}")
    return EXIT_FAILED if reasons else EXIT_GOOD


def _load_one(path: str, detail: Detail, options: Options) -> Profile:
    detail = Detail.INSTRUCTIONS if _separation(options) else detail
    profile = load(path, detail, _renaming(options), options.threads)
    return _separated(_estimated(profile, options), options)


def _separation(options: Options) -> Separation:
    return Separation(options.separate_loops, options.separate_inlines)


def _separated(profile: Profile, options: Options) -> Profile:
    separation = _separation(options)
    if separation or options.structure:
        profile = with_cold_parts(profile)
    if not separation:
        return profile
    functions = {place.function for place in profile.instructions}
    return separated(profile, _chains(profile, functions), separation)


def _chains(profile: Profile, functions: Iterable[Function]) -> Chains:
    inlined = read_inlined_calls(wanted_lines(profile, functions))
    for note in inlined.notes:
        console.say(f"bd_annotate: note: {note}")
    return inlined.chains


def _estimated(profile: Profile, options: Options) -> Profile:
    return with_cycle_costs(profile, options.cycle_costs) if options.cycle_costs else profile


def _detail(options: Options) -> Detail:
    if options.instructions or options.structure or _separation(options):
        return Detail.INSTRUCTIONS
    return Detail.FUNCTIONS if options.format == "csv" else Detail.LINES


def _renaming(options: Options) -> Renaming:
    return Renaming(
        tuple(map(parse_substitution, options.mod_filename)),
        tuple(map(parse_substitution, options.mod_funcname)),
    )


def _selection(profile: Profile, options: Options) -> Selection:
    threshold = options.threshold
    if threshold is None and options.format == "text":
        threshold = DEFAULT_THRESHOLD
    return make_selection(
        profile, options.show, options.sort, threshold, options.inclusive, options.function,
        full_stacks=options.full_stacks or options.format != "text",
    )


def _page(options: Options, functions: Iterable[Function]) -> Page:
    terminal = console.is_terminal()
    width = options.width or _DEFAULT_WIDTH
    if terminal and options.width is None:
        width = shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns
    wanted = options.colour == "yes" or (
        options.colour == "auto" and terminal and "NO_COLOR" not in os.environ
    )
    exact = bool(options.show) if options.exact is None else options.exact
    return Page(
        max(width, _MIN_WIDTH), wanted, exact, options.show_percs, options.full_names,
        cut=(terminal or options.width is not None) and not options.full_names,
        names=Names(function.name for function in functions),
    )


def _diff_sections(diff: Diff, objects: ObjectDiff | None, options: Options) -> list[str]:
    page = _page(options, functions_of(diff.before) | functions_of(diff.after))
    lines = text_report.diff_report(diff, page)
    if objects:
        lines += text_report.object_diff(objects, page)
    if options.hints:
        lines += text_report.hint_changes(hint_changes(diff), page)
    if options.annotate:
        found = diff_sources(diff, options.include, options.include_before, options.context)
        lines += text_report.source_diff(found, diff, page)
    return lines


def _sections(
    report: Report, found: Sequence[Structure], options: Options, page: Page, has_objects: bool,
    notable: Sequence[Details], loads: Loads | None,
) -> list[str]:
    limits = text_report.Limits(
        _rows(options.limit, DEFAULT_FUNCTIONS), _rows(options.limit, DEFAULT_LINES),
        fit=options.limit is None,
    )
    asked_for_more = (
        options.totals or options.hints or options.tree != "none" or options.files
        or options.annotate or options.instructions or options.structure
        or options.objects or options.object is not None
    )
    lines = text_report.first_screen(
        report, limits, not options.hints, not asked_for_more, page, has_objects,
        () if options.hints else notable,
    )
    if options.totals:
        lines += text_report.totals(report, page)
    if options.hints:
        lines += text_report.hints(report, page, notable)
    if options.tree != "none":
        lines += text_report.tree(report, page, options.tree, loads)
    if options.structure:
        lines += text_report.structure(found, report, page)
    if options.files:
        lines += text_report.files(report, page)
    if options.annotate:
        lines += text_report.source(report, page, options.include, options.context, loads)
    if options.instructions:
        lines += text_report.instructions(report, page)
    return lines


def _rows(limit: int | None, default: int) -> int | None:
    return default if limit is None else limit or None


def _check(path: str) -> int:
    profile = parse(path, Detail.FUNCTIONS, Progress("reading"))
    result = check(profile)
    if result.violation:
        console.say(f"bd_annotate: {result.violation}")
        return EXIT_FAILED
    source = profile.parts[0].source
    what = f"{result.functions} functions, {len(profile.events)} events: all costs add up"
    lines = [f"{source}: {what}"]
    for title, found in (("roots", result.roots), ("called, and a root", result.also_called)):
        names = ", ".join(function.name for function in found[:8])
        if found:
            lines.append(f"  {title}: {len(found)} ({names}{', ...' if len(found) > 8 else ''})")
    console.write([f"{console.printable(line)}\n" for line in lines])
    contexts = contexts_path(path)
    status = _check_contexts(contexts, profile) if contexts else EXIT_GOOD
    objects = objects_path(path)
    return max(status, _check_objects(objects, profile)) if objects else status


def _check_objects(path: str, profile: Profile) -> int:
    objects = read_objects(path)
    violation = object_violation(objects, profile)
    if violation:
        console.say(f"bd_annotate: {violation}")
        return EXIT_FAILED
    line = (
        f"{path}: {len(objects.groups)} objects, {len(objects.rows)} rows: "
        "the same run as the profile tells of"
    )
    console.write([f"{console.printable(line)}\n"])
    return EXIT_GOOD


def _check_contexts(path: str, profile: Profile) -> int:
    tree = read_contexts(path)
    violation = context_violation(tree, profile)
    if violation:
        console.say(f"bd_annotate: {violation}")
        return EXIT_FAILED
    functions = sum(1 for frame in tree.frames if frame.kind is Kind.FUNCTION)
    line = (
        f"{path}: {len(tree)} nodes of {functions} functions, height {tree.height()}: "
        "the same run as the profile tells of"
    )
    console.write([f"{console.printable(line)}\n"])
    return EXIT_GOOD
