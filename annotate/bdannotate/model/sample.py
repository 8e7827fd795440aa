# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that are estimates from bursts, see docs/sampling.md.

Where estimates are added up, so are the widths of their intervals: they are not independent. What has no interval may
be off by its whole cost there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .profile import Function, Intervals, Part, Place, Row, add_rows, sum_rows

SAMPLE = "Sample"

Key = TypeVar("Key")


def is_estimate(parts: Sequence[Part]) -> bool:
    """Whether any of the parts is."""
    return any(name == SAMPLE for part in parts for name, _ in part.descriptions)


def both(left: Intervals | None, right: Intervals | None) -> Intervals | None:
    """Of what two profiles have together, or of the difference between them. An exact one adds nothing."""
    if left is None or right is None:
        return left or right
    lines: dict[Place, dict[int, Row]] = {}
    for place in left.lines.keys() & right.lines.keys():
        lines[place] = _common(left.lines[place], right.lines[place])
    has_total = left.total is not None and right.total is not None
    return Intervals(
        min(left.bursts, right.bursts), add_rows(left.total or (), right.total or ()) if has_total else None,
        _common(left.own, right.own), _common(left.inclusive, right.inclusive), lines,
    )


def _common(left: Mapping[Key, Row], right: Mapping[Key, Row]) -> dict[Key, Row]:
    return {key: add_rows(row, right[key]) for key, row in left.items() if key in right}


def mapped(
    found: Intervals, costs: Mapping[Place, Mapping[int, Row]], function: Callable[[Function], Function],
    file: Callable[[str], str],
) -> Intervals:
    """With other functions and files. costs: of all lines, with the old ones."""
    own: dict[Function, Row] = {}
    inclusive: dict[Function, Row] = {}
    lines: dict[Place, dict[int, Row]] = {}
    known = {function(old) for old in found.own}
    width = len(found.total or ())
    self_costs: dict[Function, list[Row]] = {}
    for place, rows in costs.items():
        self_costs.setdefault(place.function, []).extend(rows.values())
        new_place = Place(function(place.function), file(place.file))
        new = lines.setdefault(new_place, {})
        known_lines = found.lines.get(place, {})
        for line, row in rows.items():
            # Where nothing else is known of the line, it has no interval, see below.
            _add(new, line, known_lines.get(line, row))
    has_any = {
        (function(place.function), file(place.file), line)
        for place, rows in found.lines.items() for line in rows
    }
    lines = {
        place: {line: row for line, row in rows.items() if (place.function, place.file, line) in has_any}
        for place, rows in lines.items()
    }
    for old, all_rows in self_costs.items():
        if function(old) in known:
            _add(own, function(old), found.own.get(old) or sum_rows(all_rows, width))
    for old, widths in found.inclusive.items():
        _add(inclusive, function(old), widths)
    return Intervals(found.bursts, found.total, own, inclusive, lines)


def _add(known: dict[Key, Row], key: Key, row: Row) -> None:
    known[key] = add_rows(known[key], row) if key in known else row


def chosen(found: Intervals, row: Callable[[Row], Row]) -> Intervals:
    """With the events that `row` takes from a row."""
    return Intervals(
        found.bursts, row(found.total) if found.total is not None else None,
        {key: row(widths) for key, widths in found.own.items()},
        {key: row(widths) for key, widths in found.inclusive.items()},
        {place: {line: row(widths) for line, widths in rows.items()} for place, rows in found.lines.items()},
    )
