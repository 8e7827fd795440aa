# SPDX-License-Identifier: GPL-2.0-or-later
"""All data of a page: facts (JSON), counts (tables), and sources."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..analyses.code.columns import CostKind as CostSide
from ..analyses.code.report import Report
from ..analyses.code.source import profile_time
from ..analyses.code.source_text import read_source
from ..analyses.code.startup import above_main
from ..analyses.data.data_use import data_loss, share_beside
from ..analyses.misses.verdict import Verdict, verdict
from ..analyses.misses.waits import EVENTS, WAIT
from ..analyses.top_lines import top_lines
from ..analyses.unknown import unknown_code
from ..model.contexts import ContextTree, Kind
from ..model.metrics import Metric, metrics_of
from ..model.placements import PLACEMENTS, is_of_placements, placements_of
from ..model.profile import Function, Part, Profile
from ..views.json_values import text
from ..views.names import Names
from ..views.placements import summary_of
from . import schema
from .members import member_name, part_name, parts_in_order
from .numbers import Numbers
from .page_answer import first_facts, hot_line_widths, hot_lines, page_selection, use_facts
from .page_frames import frames_of_calls, frames_table
from .page_hints import hints_for_page
from .page_objects import data_columns, objects_for_page
from .page_paths import paths_for_page
from .page_ranges import member_tables
from .page_ranks import ranks_for_page
from .page_sharing import sharing_for_page
from .page_tables import (
    arcs_table, cycles_table, function_widths, functions_table, line_widths, lines_table,
    members_table, sites_table,
)
from .page_tree import tree_table
from .page_why import why_for_page
from .subject import Subject, with_waits
from .tables import PackedTable, packed

_WAITS = (*EVENTS, WAIT)
_CAUSES = ("D1first", "D1cap", "D1conf")
# The page embeds sources, the costliest first, up to so many characters in total.
SOURCE_LIMIT = 8_000_000


@dataclass(frozen=True, slots=True)
class PageData:
    facts: schema.Facts
    tables: dict[str, PackedTable]
    sources: list[schema.SourceText] | None  # None: the user wants none


def page_data(
    subject: Subject, numbers: Numbers, include: Sequence[str], with_sources: bool, generator: str
) -> PageData:
    """numbers: those that the tables packed so far use for functions and files."""
    costed = subject.costed or subject.report
    found = verdict(costed.profile, costed.metrics, costed.totals)
    # Contexts, instructions, frames and data have the counted events only, without the cost of misses.
    counted, subject = subject, with_waits(subject)
    if len(subject.sides) == 1:
        selection = page_selection(subject.report, found)
        subject = replace(subject, report=replace(subject.report, selection=selection))
    report = subject.report
    tree = None if subject.tree is None else subject.tree.paths
    tables: dict[str, PackedTable] = {}
    inlined: list[str] = []
    within: list[int] | None = None
    frames_found = frames_table(counted.structures, counted, numbers) if subject.structures else None
    if frames_found is not None and tree is not None and len(subject.sides) == 1:
        within = frames_of_calls(tree, frames_found, counted.sides[0].profile)
    if subject.tree is not None:
        sides = [side.prefix for side in subject.sides]
        tables["tree"] = tree_table(subject.tree, within, report, sides)
    sites = sites_table(subject, numbers)
    tables["arcs"] = packed(arcs_table(subject, numbers), sites, schema.SUMS["arcs"][1:])
    tables["lines"] = packed(lines_table(subject, numbers))
    tables["sites"] = packed(sites)
    tables["cycles"] = packed(cycles_table(subject))
    if subject.code is not None and subject.code.table.rows:
        tables["code"] = subject.code.table
    if subject.members:
        tables["members"] = packed(members_table(subject, numbers))
    if frames_found is not None:
        inlined, tables["frames"] = frames_found.inlined, packed(frames_found.table)
    objects: schema.Data | None = None
    if subject.objects is not None:
        plain = counted.report
        columns = data_columns(plain.metrics, plain.profile.events, subject.objects.objects.events)
        objects, more = objects_for_page(subject.objects, columns, numbers)
        tables |= {name: packed(table) for name, table in more.items()}
    sharing = None if subject.sharing is None else sharing_for_page(
        subject.sharing, subject.objects.objects.groups if subject.objects else (),
        _instructions(counted.report), subject.functions, numbers,
    )
    paths = None if subject.paths is None else paths_for_page(subject.paths, subject.functions, numbers)
    ranks: schema.Ranks | None = None
    if subject.ranks is not None:
        ranks, more = ranks_for_page(subject.ranks, subject.functions, numbers)
        tables |= {name: packed(table) for name, table in more.items()}
    why: schema.Why | None = None
    if subject.why is not None:
        why = why_for_page(subject.why, report.graph, numbers)
    frames = _frames(tree, numbers)
    lines = top_lines(costed)
    intervals = report.profile.intervals if len(subject.sides) == 1 else None
    if intervals is not None:
        tables["lineWidths"] = packed(line_widths(subject, intervals))
        tables["hotLineWidths"] = packed(hot_line_widths(costed, lines))
    hottest, hot = hot_lines(costed, lines, report.profile.events, numbers)
    tables["hotLines"] = packed(hot)
    first = first_facts(costed, found, lines, numbers)
    tables = {"functions": packed(functions_table(subject, numbers)), **tables}
    if intervals is not None:
        tables["functionWidths"] = packed(function_widths(subject, intervals, numbers))
    tables |= member_tables(subject, tables, numbers)
    sources, source_notes = _sources(report, numbers, include) if with_sources else (None, {})
    object_names, functions = _functions(numbers, tree)
    hints = hints_for_page(subject, found, numbers)
    places = _places(tree, numbers)
    facts: schema.Facts = {
        "version": schema.VERSION,
        "generator": generator,
        "matched": subject.matched,
        "sides": [_parts(side.profile) for side in subject.sides],
        "totals": [list(side.profile.totals()) for side in subject.sides],
        "members": [
            {"label": label, "totals": list(totals)} for label, totals in _members(subject)
        ],
        "events": list(report.profile.events),
        "metrics": [_metric(metric, report.metrics) for metric in report.metrics.values()],
        "columns": _columns(report),
        "objects": object_names,
        "functions": functions,
        "above": [
            numbers.function(function) for function in sorted(above_main(subject.sides[0].graph))
        ],
        "cycles": [
            [numbers.function(member) for member in cycle.members]
            for cycle in subject.sides[0].graph.cycles
        ],
        "use": use_facts(report, found),
        "verdict": _verdict(found),
        "first": first,
        "hottest": hottest,
        "unknown": _unknown(report),
        "hints": hints,
        "why": why,
        "tables": {
            name: {"rows": table.rows, "columns": list(table.columns)}
            for name, table in tables.items()
        },
        "inlined": inlined,
        "codeTexts": [text(line) for line in subject.code.texts] if subject.code else [],
        "frames": frames,
        "places": places,
        "data": objects,
        "sharing": sharing,
        "paths": paths,
        "ranks": ranks,
        "tree": None if subject.tree is None else {
            "folded": subject.tree.paths.is_folded, "height": subject.tree.paths.height(),
            "other": subject.tree.other(),
        },
        "estimates": _estimates(subject),
        "files": [text(name) for name in numbers.files],
        "sourceNotes": source_notes,
        "hasSources": sources is not None,
    }
    return PageData(facts, tables, sources)


def _estimates(subject: Subject) -> schema.Estimates | None:
    found = [side.profile.intervals for side in subject.sides]
    if not any(found):
        return None
    only = found[0] if len(found) == 1 else None
    return {
        "bursts": [one.bursts if one is not None else 0 for one in found],
        "totals": None if only is None or only.total is None else list(only.total),
    }


def _members(subject: Subject) -> list[tuple[str, Sequence[int]]]:
    """The profiles of a sum; of a single profile, its parts."""
    if subject.members:
        return [(member_name(profile), profile.totals()) for profile in subject.members]
    parts = parts_in_order(subject.sides[0].profile.parts)
    return [(part_name(part), part.sums) for part in parts] if len(parts) > 1 else []


def _parts(profile: Profile) -> list[schema.Part]:
    """The parts; the first one says what another placement may change."""
    parts = [_part(part) for part in profile.parts]
    placed = placements_of(profile)
    if placed is not None:
        parts[0]["descriptions"].append((PLACEMENTS, summary_of(placed, metrics_of(profile), profile)))
    return parts


def _part(part: Part) -> schema.Part:
    return {
        "source": text(part.source),
        "creator": text(part.creator),
        "pid": text(part.pid),
        "command": text(part.command),
        "part": text(part.part),
        "thread": text(part.thread),
        "descriptions": [
            (text(name), text(value)) for name, value in part.descriptions if not is_of_placements(name)
        ],
    }


def _functions(
    numbers: Numbers, tree: ContextTree | None
) -> tuple[list[str], list[tuple[str, int, int, int, str]]]:
    """The names of the object files, and the functions."""
    names = Names(numbers.functions)
    objects: dict[str, int] = {}
    lines: dict[Function, int] = {}
    if tree is not None:
        for frame, line in zip(tree.frames, tree.lines):
            lines.setdefault(frame.function, line)
    functions: list[tuple[str, int, int, int, str]] = []
    for function in numbers.functions:
        name, label = text(function.name), text(names.label(function))
        functions.append((
            name, objects.setdefault(function.object, len(objects)), numbers.file(function.file),
            lines.get(function, 0), "" if label == name else label,
        ))
    return [text(name) for name in objects], functions


def _frames(tree: ContextTree | None, numbers: Numbers) -> list[int | str]:
    """For each frame, the number of its function; or its name, if it is a root or stands for other nodes."""
    if tree is None:
        return []
    return [
        numbers.function(frame.function) if frame.kind is Kind.FUNCTION
        else text(frame.function.name)
        for frame in tree.frames
    ]


def _places(tree: ContextTree | None, numbers: Numbers) -> list[tuple[int, int]]:
    if tree is None:
        return []
    return [
        (numbers.file(place.file) if place.file else -1, place.line) for place in tree.places
    ]


def _instructions(report: Report) -> int:
    events = report.profile.events
    return report.totals[events.index("Ir")] if "Ir" in events else 0


def _verdict(found: Verdict | None) -> schema.Verdict | None:
    if found is None:
        return None
    return {
        "cycles": found.cycles,
        "instructions": found.instructions,
        "l1Data": found.l1_data,
        "l1Code": found.l1_code,
        "l2": found.l2,
        "lastLevel": found.last_level,
        "fitsLastLevel": found.fits_last_level,
        "first": found.first.value,
        "wasted": found.wasted,
        "waits": None if found.waits is None else {
            "firstTouches": found.waits.first_touches,
            "inOrder": found.waits.in_order,
            "outOfOrder": found.waits.out_of_order,
        },
        "time": None if found.time is None else {
            "what": text(found.time.what),
            "seconds": found.time.seconds,
            "least": found.time.least,
            "most": found.time.most,
        },
    }


def _unknown(report: Report) -> schema.UnknownCode | None:
    loss = data_loss(report.metrics)
    found = unknown_code(report, loss) if loss else None
    if found is None:
        return None
    objects = [text(os.path.basename(name)) for name in found.objects]
    return {"objects": objects, "share": found.share, "hasSymbols": found.has_symbols}


def _columns(report: Report) -> list[tuple[str, bool]]:
    """The report's columns; the causes of misses follow the misses, if they are known."""
    found: list[tuple[str, bool]] = []
    for column in report.selection.columns:
        is_inclusive = column.side is CostSide.INCLUSIVE
        found.append((column.metric.name, is_inclusive))
        if column.metric.name == "D1m" and (is_inclusive or not report.profile.calls):
            found += [(name, is_inclusive) for name in _CAUSES if name in report.metrics]
    return found


def _metric(metric: Metric, metrics: Mapping[str, Metric]) -> schema.Metric:
    # The cost of data misses is coloured as the misses themselves are.
    share = share_beside(metrics["D1m"] if metric.name in _WAITS and "D1m" in metrics else metric, metrics)
    return {
        "name": text(metric.name),
        "heading": text(metric.heading),
        "title": text(metric.title),
        "numerator": list(metric.numerator),
        "denominator": None if metric.denominator is None else list(metric.denominator),
        "isShare": metric.is_share,
        "isTime": metric.is_time,
        "moreIsBetter": metric.more_is_better,
        "share": None if share is None else text(share.name),
    }


def _sources(
    report: Report, numbers: Numbers, include: Sequence[str]
) -> tuple[list[schema.SourceText], dict[str, str]]:
    """The texts of the files that have costs, and by file number, why a text is missing."""
    metric = report.selection.keys[0].column.metric
    costs: dict[str, float] = {}
    for place, rows in report.profile.lines.items():
        value = sum(abs(metric.value(row) or 0) for row in rows.values())
        costs[place.file] = costs.get(place.file, 0) + value
    written = profile_time(report)
    left = SOURCE_LIMIT
    found: list[schema.SourceText] = []
    notes: dict[str, str] = {}
    for name in sorted(costs, key=lambda name: (-costs[name], name)):
        number = numbers.file(name)
        if name in ("", "???"):
            continue
        source = read_source(name, include)
        if isinstance(source, str):
            notes[str(number)] = source
            continue
        size = sum(len(line) + 1 for line in source.lines)
        if source.is_outside:
            notes[str(number)] = "left out: it is outside the current folder, those of -I, and /usr"
            continue
        if size > left:
            notes[str(number)] = "left out: costlier sources already fill the page"
            continue
        left -= size
        found.append({
            "file": number,
            "path": text(source.path),
            "newer": written is not None and source.modified > written,
            "text": text("\n".join(source.lines)),
        })
    return found, notes
