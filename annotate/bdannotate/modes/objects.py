# SPDX-License-Identifier: GPL-2.0-or-later
"""The data objects beside the profiles: those that the user asked for, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..analyses.code.report import FunctionPattern, function_pattern
from ..analyses.code.source import time_written
from ..analyses.comparison.diff import matching_functions
from ..analyses.comparison.object_diff import ObjectChanges, ObjectDiff, listed_changes, object_changes
from ..analyses.comparison.source_diff import same_lines
from ..analyses.data.object_labels import Namer, label, labelled, plain_name
from ..analyses.data.objects import GroupRow, list_objects
from ..analyses.data.sharing import SharingReport
from ..analyses.data.wrappers import wrappers
from ..analyses.data_hints import notable_objects
from ..analyses.types.object_details import Details, object_details, with_ways
from ..analyses.types.typed_groups import AskedType, GroupTypes, call_sites, types_of, typing
from ..html.page_objects import PageObjects
from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.merge import functions_of
from ..model.objects import ObjectGroup, Objects, only_of
from ..model.profile import Profile
from ..model.separate import in_frames
from ..options import DEFAULT_LINES, DEFAULT_OBJECTS, DEFAULT_THRESHOLD, Options
from ..reading.debug_types import read_types
from ..reading.inlined import read_inlined_calls
from ..reading.load import load_objects
from ..reading.objects import objects_path
from ..views import csv_objects, text_report
from ..views.names import Names
from ..views.text import Page
from .inputs import Inputs
from .outputs import rows_of


def all_objects(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Objects:
    """The objects beside all of the profiles. profile: the sum of these."""
    loaded = load_objects(paths, profile, inputs.renaming, time_written(profile))
    inputs.say_notes(loaded.notes)
    return labelled(loaded.objects, _namer((profile,), inputs.options))


def _namer(profiles: Sequence[Profile], options: Options) -> Namer:
    """The names of functions in the lists of functions."""
    if options.full_names:
        return plain_name
    return Names(function for one in profiles for function in functions_of(one)).label


def objects_if_readable(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Objects | None:
    """The same for reports on more than objects: None unless all profiles have some. If they cannot be read, or are
    from another run, it is None with a note."""
    if any(objects_path(path) is None for path in paths):
        return None
    try:
        return all_objects(paths, profile, inputs)
    except UserError as error:
        inputs.say_notes([f"data objects are left out: {error}"])
        return None


def _shown(objects: Objects, profile: Profile, inputs: Inputs) -> Objects:
    """The objects as they are to be shown."""
    if inputs.separation:
        objects = in_frames(objects, profile)
    function = inputs.options.function
    if function is None:
        return objects
    pattern = inputs.functions or FunctionPattern(function_pattern(function))
    return only_of(objects, pattern.matches)


@dataclass(frozen=True, slots=True)
class ReportedObjects:
    """The data objects of a report."""

    found: Objects | None  # all that are known, whether the user asked for them or not
    asked_for: Objects | None  # the same with --objects or --object; None without
    meant: int  # how many match --object
    details: Sequence[Details]  # those of the ones that are shown
    notable: Sequence[Details]  # those of the ones that hints are about
    are_there: bool  # whether the report could show more of them


def known_objects(
    paths: Sequence[str], profile: Profile, inputs: Inputs, for_repairs: bool = False
) -> Objects | None:
    """The objects that the report needs. for_repairs: whether repairs need them, whatever is printed."""
    if _is_asked_for(inputs.options):
        return all_objects(paths, profile, inputs)
    if inputs.options.is_for_people or for_repairs:
        return objects_if_readable(paths, profile, inputs)
    return None


def _is_asked_for(options: Options) -> bool:
    return options.objects or options.object is not None


def reported_objects(
    found: Objects | None, profile: Profile, graph: CallGraph, inputs: Inputs
) -> ReportedObjects:
    """The objects of a report. found: those that are known. graph: that of the profile."""
    options = inputs.options
    is_asked_for = _is_asked_for(options)
    found = _shown(found, profile, inputs) if found else None
    asked_for = found if is_asked_for else None
    of_hints = found if options.is_for_people else None
    meant = _meant(asked_for, options) if asked_for else []
    default = None if options.format == "csv" else DEFAULT_LINES
    shown = meant[:rows_of(options.limit, default)]
    notable = notable_objects(of_hints) if of_hints else []
    types = GroupTypes()
    # The first screen must be there soon, so it has no types.
    if meant or (options.hints and of_hints):
        others = [entry for entry in notable if options.hints and entry not in shown]
        types = _types([*shown, *others], profile, inputs)
    known = types if options.hints else GroupTypes()
    details = object_details(asked_for, shown, types, options.element_size) if asked_for else ()
    return ReportedObjects(
        found, asked_for, len(meant), [with_ways(one, graph, profile.events) for one in details],
        object_details(of_hints, notable, known) if of_hints else (),
        of_hints is not None,
    )


def with_types(
    objects: Objects, meant: Sequence[GroupRow], profile: Profile, inputs: Inputs
) -> list[Details]:
    """All that is known about some of the objects, including their types."""
    return object_details(objects, meant, _types(meant, profile, inputs))


def object_sections(found: ReportedObjects, options: Options, page: Page) -> list[str]:
    """The sections on objects that the user asked for."""
    lines: list[str] = []
    if found.asked_for and options.objects:
        threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
        limit = rows_of(options.limit, DEFAULT_OBJECTS)
        everything = list_objects(found.asked_for, 0, None).entries
        listing = list_objects(found.asked_for, threshold, limit)
        lines += text_report.objects(listing, wrappers(everything), page)
    if found.details:
        one_in = found.asked_for.one_in if found.asked_for else 1
        lines += text_report.object_details(found.details, one_in, page)
        more = found.meant - len(found.details)
        lines += [f"{more} more match: --limit=all"] if more else []
    return lines


def objects_as_csv(found: ReportedObjects, options: Options) -> str | None:
    """The table of objects that the user asked for; None if the table of functions is wanted."""
    if found.asked_for is None:
        return None
    if options.object is not None:
        return csv_objects.loaders_csv(found.details)
    limit = rows_of(options.limit, None)
    return csv_objects.objects_csv(list_objects(found.asked_for, options.threshold or 0, limit))


def objects_of_page(
    paths: Sequence[str], profile: Profile, inputs: Inputs
) -> PageObjects | None:
    """The objects of a page; None if they cannot be read. Only those that lose most, and those of --object-type, have
    types, as finding types can take longer than everything else."""
    found = objects_if_readable(paths, profile, inputs)
    if found is None:
        return None
    meant = notable_objects(found)
    patterns = [function_pattern(place) for place, _ in inputs.options.object_types]
    meant += [
        entry for entry in list_objects(found, 0, None).entries
        if any(pattern.search(label(entry.group)) for pattern in patterns)
        and all(entry.group is not one.group for one in meant)
    ]
    return PageObjects(found, object_details(found, meant, _types(meant, profile, inputs)))


def with_sharing(found: PageObjects, sharing: SharingReport, types: GroupTypes) -> PageObjects:
    """The objects of a page, with the cores that take lines of them from each other. types: those of groups that have
    such lines."""
    known = {one.entry.group.identity for one in found.details}
    meant = [
        entry for entry in list_objects(found.objects, 0, None).entries
        if entry.group.identity in types.known and entry.group.identity not in known
    ]
    return replace(found, sharing=sharing, shared=object_details(found.objects, meant, types))


def compared_objects_of_page(
    paths: Sequence[str], profiles: tuple[Profile, Profile], inputs: Inputs
) -> PageObjects | None:
    before = objects_if_readable(paths[:1], profiles[0], inputs)
    after = objects_of_page(paths[1:], profiles[1], inputs) if before else None
    if before is None or after is None:
        return None
    changes = _changes(before, after.objects, profiles, inputs.options)
    return replace(after, changes=changes)


def _meant(objects: Objects, options: Options) -> list[GroupRow]:
    """The groups that match --object. Raises UserError if there are none."""
    if options.object is None:
        return []
    pattern = function_pattern(options.object)
    found = list_objects(objects, 0, None)
    meant = [entry for entry in found.entries if pattern.search(label(entry.group))]
    if not meant:
        raise UserError(f"--object={options.object}: no loaded object matches")
    return meant


def _types(
    meant: Sequence[GroupRow], profile: Profile, inputs: Inputs
) -> GroupTypes:
    groups = [entry.group for entry in meant]
    for place, name in inputs.options.object_types:
        pattern = function_pattern(place)
        if not any(pattern.search(label(group)) for group in groups):
            raise UserError(f"--object-type={place}={name}: no object shown matches")
    return types_of_groups(groups, profile, inputs)


def types_of_groups(groups: Sequence[ObjectGroup], profile: Profile, inputs: Inputs) -> GroupTypes:
    """The types of groups of data; with notes on what could not be read."""
    options = inputs.options
    asked = [
        AskedType(function_pattern(place), name, f"--object-type={place}={name}")
        for place, name in options.object_types
    ]
    inlined = read_inlined_calls(call_sites(groups), with_types=True)
    sought = typing(groups, asked, inlined.chains, options.include)
    found = read_types(sought.wanted, inlined.changed, time_written(profile))
    types, refusals = types_of(asked, sought, found)
    inputs.say_notes((*inlined.notes, *found.notes, *refusals))
    return types


@dataclass(frozen=True, slots=True)
class ComparedObjects:
    """The data objects of a comparison."""

    diff: ObjectDiff | None  # None without --objects
    notable: Sequence[Details]  # those of the ones, in the profile after, that hints are about


def compared_objects(
    paths: Sequence[str], profiles: tuple[Profile, Profile], inputs: Inputs
) -> ComparedObjects:
    options = inputs.options
    has_hints = options.hints and options.is_for_people
    diff = None
    after: Objects | None = None
    if options.objects:
        before, after = (
            _shown(all_objects([path], profile, inputs), profile, inputs)
            for path, profile in zip(paths, profiles)
        )
        diff = _object_diff(before, after, profiles, options)
    elif has_hints:
        found = objects_if_readable(paths[1:], profiles[1], inputs)
        after = _shown(found, profiles[1], inputs) if found else None
    if after is None or not has_hints:
        return ComparedObjects(diff, ())
    notable = notable_objects(after)
    types = _types(notable, profiles[1], inputs)
    return ComparedObjects(diff, object_details(after, notable, types))


def _object_diff(
    before: Objects, after: Objects, profiles: tuple[Profile, Profile], options: Options
) -> ObjectDiff:
    threshold, limit = options.threshold, rows_of(options.limit, DEFAULT_OBJECTS)
    if threshold is None:
        threshold = DEFAULT_THRESHOLD
    if not options.is_for_people:
        threshold, limit = options.threshold or 0.0, None
    return listed_changes(_changes(before, after, profiles, options), threshold, limit)


def _changes(
    before: Objects, after: Objects, profiles: tuple[Profile, Profile], options: Options
) -> ObjectChanges:
    lines = partial(same_lines, include=options.include, include_before=options.include_before)
    name = _namer(profiles, options)
    return object_changes(before, after, matching_functions(*profiles), lines, name)
