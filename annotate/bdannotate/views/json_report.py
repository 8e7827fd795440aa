# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as JSON, by the schema that docs/annotate-json.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analyses.code.columns import Column
from ..analyses.code.report import FunctionRow, Report
from ..analyses.code.structure import Structure
from ..analyses.comparison.diff import Diff
from ..analyses.comparison.object_diff import ObjectDiff
from ..analyses.data.layout import Layout
from ..analyses.data.object_labels import label
from ..analyses.data.sharing import SharingReport
from ..analyses.hint_changes import HintChanges
from ..analyses.hints import Hint
from ..analyses.intervals import known_widths
from ..analyses.paths import PathsReport
from ..analyses.per_file import PerFile, Spread
from ..analyses.ranks import RanksReport
from ..analyses.repairs.choice import Repairs
from ..analyses.types.object_details import Details
from ..analyses.types.shared_bytes import ByteUse
from ..analyses.types.split import Split
from ..analyses.types.typed_groups import TypedGroup
from ..model.frames import Frame
from ..model.metrics import SECOND, Metric
from ..model.objects import CodeLine, ObjectGroup, Objects
from ..model.placements import placements_of
from ..model.profile import Call, Function, Intervals, Part, Place, Profile, Row
from .byte_users import users_json
from .curve import NamedCurve
from .json_hints import hint_changes_json, hints_json, verdict_json
from .json_values import Json, text
from .json_why import named_curve_json, repairs_json
from .paths import paths_json
from .placements import change_json, placements_json
from .ranks import ranks_json
from .core_loads import loads_json
from .last_level import last_level_json
from .sharing import sharing_json

# Incremented if a reader of the old schema would misread the new one.
SCHEMA_VERSION = 1


def profile_json(
    report: Report, found: Sequence[Structure] = (), objects: Objects | None = None,
    details: Sequence[Details] = (), hints: Sequence[Hint] | None = None, curve: NamedCurve | None = None,
    repairs: Repairs | None = None, sharing: SharingReport | None = None,
    ranks: RanksReport | None = None, paths: PathsReport | None = None,
) -> Json:
    """A report. hints, curve, ranks, paths: None if the user did not ask for them. repairs, sharing: None if not
    known."""
    index = {function: number for number, function in enumerate(report.graph.functions)}
    wanted = {entry.function for entry in report.entries if not entry.is_cycle}
    return {
        **_head("profile", report.profile, report.metrics, report.selection.columns),
        "parts": [part_json(part) for part in report.profile.parts],
        "totals": list(report.totals),
        **_sampled(report),
        **placements_json(placements_of(report.profile), report.metrics, report.profile),
        "verdict": verdict_json(report),
        **({} if hints is None else {"hints": hints_json(hints, index)}),
        "functions": [
            {
                **_function(entry, report.selection.columns, index[entry.function]),
                "own_part": list(report.graph.functions[entry.function].own_part),
                **_function_interval(report.profile.intervals, entry),
            }
            for entry in report.entries
            if not entry.is_cycle
        ],
        "cycles": [
            {
                "cycle": cycle.number,
                "members": [index[member] for member in cycle.members],
                "self": list(cycle.self_cost),
                "inclusive": list(cycle.inclusive),
                "calls": cycle.calls,
            }
            for cycle in report.graph.cycles
        ],
        "calls": [
            {
                "caller": index[caller],
                "callee": index[callee],
                "calls": call.calls,
                "cost": list(call.cost),
                "recursive": report.graph.within_cycle(caller, callee),
            }
            for caller, callees in report.graph.callees.items()
            for callee, call in callees.items()
            if caller in wanted and callee in wanted
        ],
        "lines": [
            {"function": index[place.function], "file": text(place.file), "line": line,
             "self": list(row), **_line_interval(report.profile.intervals, place, line, row)}
            for place, rows in report.profile.lines.items()
            if place.function in wanted
            for line, row in rows.items()
            if line
        ],
        **({"structure": [_structure(one, index) for one in found]} if found else {}),
        **({"objects": _objects(objects, details, index)} if objects else {}),
        **({"curve": named_curve_json(curve)} if curve else {}),
        **({} if repairs is None else {"repairs": repairs_json(repairs)}),
        **({} if sharing is None else {"sharing": {
            **sharing_json(sharing), **loads_json(sharing.loads), **last_level_json(sharing.last_level),
        }}),
        **({} if ranks is None else {"ranks": ranks_json(ranks)}),
        **({} if paths is None else {"paths": paths_json(paths)}),
    }


def _objects(
    objects: Objects, details: Sequence[Details], index: Mapping[Function, int]
) -> Json:
    known = {one.entry.group.identity: one for one in details}
    return {
        "events": list(objects.events),
        "sample": objects.one_in,
        "groups": [
            _group(group, known.get(group.identity), cost, index)
            for group, cost in zip(objects.groups, objects.costs())
        ],
        "rows": [
            {"group": row.group, "function": text(row.function.name),
             "function_id": index.get(row.function), "file": text(row.file),
             "line": row.line or None, "self": list(row.cost)}
            for row in objects.rows
        ],
    }


def _identity(group: ObjectGroup) -> dict[str, Json]:
    identity = group.identity
    return {
        "kind": identity.kind.value,
        "label": text(label(group)),
        "name": text(identity.name) or None,
        "object": text(identity.object) or None,
        "size": identity.size or None,
        "function": text(identity.function.name) if identity.function else None,
        "places": [
            {"function": text(place.function.name), "file": text(place.file),
             "line": place.line or None}
            for place in identity.places
        ],
    }


def _patterns(group: ObjectGroup, index: Mapping[Function, int]) -> dict[str, Json]:
    code: dict[CodeLine, int] = {}
    patterns: list[Json] = [
        [pattern.offset, pattern.bytes, pattern.used, pattern.times,
         code.setdefault(pattern.by, len(code))]
        for pattern in group.patterns if pattern.bytes
    ]
    return {"patterns": patterns, "patterns_by": [
        {"function": text(by.function.name), "function_id": index.get(by.function),
         "file": text(by.file), "line": by.line or None}
        for by in code
    ]}


def _group(
    group: ObjectGroup, details: Details | None, cost: Row, index: Mapping[Function, int]
) -> Json:
    blocks = group.blocks
    return {
        **_identity(group),
        "blocks": {**blocks._asdict(), "unmapped": group.unmapped} if blocks else None,
        **_patterns(group, index),
        "layout": _layout(details.layout, details.users) if details and details.layout else None,
        "type": _type(details.typed, details) if details and details.typed else None,
        "no_type": text(details.no_type) or None if details else None,
        **({"shared": [
            {"name": text(one.name), "read": [*one.read], "written": [*one.written], "apart": one.apart}
            for one in details.shared
        ]} if details and details.shared else {}),
        "self": list(cost),
    }


def _layout(found: Layout, users: Sequence[ByteUse]) -> Json:
    return {
        "size": found.size,
        "reason": found.reason,
        "loaded": [byte.loaded for byte in found.bytes],
        "used": [byte.used for byte in found.bytes],
        "borders": [byte.borders for byte in found.bytes] if found.knows_borders else None,
        "unmapped": found.unmapped,
        "loads": found.loads,
        "cut": found.cut,
        **({"users": users_json(users)} if users else {}),
    }


def _type(typed: TypedGroup, details: Details) -> Json:
    split, order, packed = details.split, details.order, details.packed
    numbers = {(field.name, field.offset): number for number, field in enumerate(typed.fields)}
    return {
        "name": text(typed.type.name),
        "size": typed.type.size,
        "reason": text(typed.reason),
        "fields": [
            {"name": text(field.name) if field.type else None, "type": text(field.type) or None,
             "offset": field.offset, "size": field.size,
             **({"repeats": field.repeats._asdict()} if field.repeats else {}),
             **({"loaded": field.loaded, "used": field.used} if typed.has_use else {})}
            for field in typed.fields
        ],
        "uses": [
            {"function": text(use.by.function.name), "file": text(use.by.file),
             "line": use.by.line or None, "lines": use.parts,
             "fields": [[numbers[field.name, field.offset], field.used] for field in use.fields]}
            for use in details.uses
        ],
        "split": _split(split, numbers) if split else None,
        "order": {
            "fields": [numbers[field.name, field.offset] for field in order.fields],
            "now": order.now, "then": order.then, "misses_saved": order.misses_saved,
        } if order else None,
        "packed": {
            "fields": [numbers[field.name, field.offset] for field in packed.fields],
            "size": packed.size, "now": packed.now, "then": packed.then,
        } if packed else None,
    }


def _split(split: Split, numbers: Mapping[tuple[str, int], int]) -> Json:
    return {
        "parts": [
            {"fields": [numbers[field.name, field.offset] for field in part.fields],
             "size": part.size, "loads": part.loads}
            for part in split.parts
        ],
        "now": split.now, "in_order": split.in_order, "in_order_most": split.in_order_most,
        "scattered": split.scattered,
        "misses_saved": {
            "in_order": split.misses_saved(split.in_order),
            "in_order_most": split.misses_saved(split.in_order_most),
            "scattered": split.misses_saved(split.scattered),
        },
    }


def _structure(found: Structure, index: Mapping[Function, int]) -> Json:
    return {"function": index[found.entry.function], **_frame(found.frame, index)}


def _frame(frame: Frame, index: Mapping[Function, int]) -> dict[str, Json]:
    return {
        "kind": frame.kind.value,
        "name": text(frame.name),
        "file": text(frame.file),
        "line": frame.line or None,
        "address": frame.address,
        "entries": frame.entries,
        "parts": [
            {"address": part.address, "entries": part.entries, "iterations": part.iterations}
            for part in frame.parts
        ],
        "self": list(frame.self_cost),
        "inclusive": list(frame.inclusive),
        "calls": [
            {"callee": index[call.callee], "file": text(call.file), "line": call.line,
             **_call(call.call)}
            for call in frame.calls
        ],
        "frames": [_frame(inner, index) for inner in frame.frames],
    }


def diff_json(
    diff: Diff, objects: ObjectDiff | None = None, hints: HintChanges | None = None
) -> Json:
    columns = diff.selection.columns
    return {
        **_head("diff", diff.before, diff.metrics, columns),
        "before": [part_json(part) for part in diff.before.parts],
        "after": [part_json(part) for part in diff.after.parts],
        "totals": {"before": list(diff.before_totals), "after": list(diff.after_totals)},
        **change_json(diff.before, diff.after, diff.metrics),
        "functions": [
            {
                **_name(change.after.function),
                "cycle": change.after.cycle or None,
                "is_cycle": change.after.is_cycle,
                "before": _costs(change.before, columns),
                "after": _costs(change.after, columns),
            }
            for change in diff.functions
        ],
        "calls": [
            {
                "caller": _name(change.caller),
                "callee": _name(change.callee),
                "before": _call(change.before),
                "after": _call(change.after),
            }
            for change in diff.calls
        ],
        **({"objects": _object_changes(objects)} if objects else {}),
        **({"hints": hint_changes_json(hints)} if hints else {}),
    }


def _object_changes(found: ObjectDiff) -> Json:
    return {
        "events": list(found.events),
        "groups": [
            {
                **_identity(change.group),
                "before": None if change.before is None else list(change.before),
                "after": None if change.after is None else list(change.after),
            }
            for change in found.changes
        ],
        "before": list(found.before),
        "after": list(found.after),
    }


def per_file_json(found: PerFile) -> Json:
    names = [key.column.name for key in found.selection.keys]
    columns = [key.column for key in found.selection.keys]
    return {
        **_head("per-file", found.profiles[0], found.metrics, columns),
        "parts": [part_json(part) for profile in found.profiles for part in profile.parts],
        "sources": [text(source) for source in found.sources],
        "totals": dict(zip(names, map(_spread, found.total))),
        "functions": [
            {
                **_name(entry.function),
                "cycle": entry.cycle or None,
                "is_cycle": entry.is_cycle,
                "columns": dict(zip(names, map(_spread, spreads))),
            }
            for entry, spreads in found.functions
        ],
    }


def _head(
    kind: str, profile: Profile, metrics: Mapping[str, Metric], columns: Sequence[Column]
) -> dict[str, Json]:
    return {
        "schema": "bd_annotate",
        "version": SCHEMA_VERSION,
        "kind": kind,
        "events": list(profile.events),
        "columns": [column.name for column in columns],
        "metrics": [_metric(metric, profile.events) for metric in metrics.values()],
    }


def _metric(metric: Metric, events: Sequence[str]) -> Json:
    def weights(row: Row | None) -> Json:
        if row is None:
            return None
        return {event: weight for event, weight in zip(events, row) if weight}

    return {
        "name": text(metric.name),
        "title": text(metric.title),
        "numerator": weights(metric.numerator),
        "denominator": weights(metric.denominator),
        **({"scale": SECOND} if metric.is_time else {}),
    }


def part_json(part: Part) -> Json:
    return {
        "source": text(part.source),
        "creator": text(part.creator),
        "pid": text(part.pid),
        "command": text(part.command),
        "part": text(part.part),
        "thread": text(part.thread),
        "descriptions": [[text(name), text(value)] for name, value in part.descriptions],
    }


def _name(function: Function) -> dict[str, Json]:
    return {
        "name": text(function.name), "file": text(function.file), "object": text(function.object)
    }


def _function(entry: FunctionRow, columns: Sequence[Column], number: int) -> dict[str, Json]:
    return {
        "id": number,
        **_name(entry.function),
        "calls": entry.calls,
        "recursive": entry.recursive,
        "cycle": entry.cycle or None,
        **_costs(entry, columns),
    }


def _sampled(report: Report) -> dict[str, Json]:
    """How far the totals of a sampled profile may be off; empty for an exact one."""
    found = report.profile.intervals
    if found is None:
        return {}
    return {"interval": {"bursts": found.bursts, "totals": _widths(found.total, report.totals)}}


def _function_interval(found: Intervals | None, entry: FunctionRow) -> dict[str, Json]:
    if found is None:
        return {}
    function = entry.function
    return {"interval": {
        "self": _widths(found.own.get(function), entry.self_cost),
        "inclusive": _widths(found.inclusive.get(function), entry.inclusive),
    }}


def _line_interval(found: Intervals | None, place: Place, line: int, row: Row) -> dict[str, Json]:
    if found is None:
        return {}
    return {"interval": _widths(found.lines.get(place, {}).get(line), row)}


def _widths(widths: Row | None, row: Row) -> Json:
    known = known_widths(widths, row)
    return None if known is None else [*known]


def _costs(entry: FunctionRow, columns: Sequence[Column]) -> dict[str, Json]:
    return {
        "self": list(entry.self_cost),
        "inclusive": list(entry.inclusive),
        "columns": {column.name: entry.value(column) for column in columns},
    }


def _call(call: Call) -> dict[str, Json]:
    return {"calls": call.calls, "cost": list(call.cost)}


def _spread(found: Spread | None) -> Json:
    if found is None:
        return None
    return {
        "values": list(found.values),
        "min": found.minimum,
        "mean": found.mean,
        "max": found.maximum,
        "spread": found.spread,
        "max_in": found.at_maximum,
    }
