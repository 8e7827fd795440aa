# SPDX-License-Identifier: GPL-2.0-or-later
"""What another layout of an array of structs within a type would load: as if it were an array by
itself, with the patterns of its bytes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...model.data_types import Field, Repeats, Type
from ...model.objects import ObjectGroup, Pattern
from ..data.objects import DataUse
from .field_use import FieldUse, field_uses
from .split import Split, best_split
from .typed_groups import TypedGroup

# An array that less than this is loaded for is not what the type costs.
_LEAST_SHARE = 0.5


def inner_split(typed: TypedGroup, group: ObjectGroup, use: DataUse, line_bytes: int) -> Split | None:
    """Of the array that most is loaded for; its bytes are those of `use` in the same share. The fields
    of the parts are those of the type."""
    outer: dict[Repeats, list[FieldUse]] = {}
    for field in typed.fields:
        if field.repeats is not None and field.repeats.number > 1:
            outer.setdefault(field.repeats, []).append(field)
    patterns = {array: tuple(_inside(array, typed.type.size, group.patterns)) for array in outer}
    array = max(outer, key=lambda one: _recorded(patterns[one]), default=None)
    recorded = _recorded(group.patterns)
    if array is None or not recorded:
        return None
    share = _recorded(patterns[array]) / recorded
    if share < _LEAST_SHARE:
        return None
    kind = Type(typed.type.name, array.stride, tuple(
        Field(field.name, field.type, field.offset - array.start, field.size)
        for field in outer[array] if field.type
    ))
    inner = TypedGroup(kind, typed.reason, field_uses(kind, patterns[array]), typed.has_use)
    loaded = round(share * use.loaded)
    found = best_split(inner, replace(group, patterns=patterns[array]), replace(use, loaded=loaded), line_bytes)
    if found is None:
        return None
    known = {(field.name, field.offset - array.start): field for field in outer[array]}
    return replace(found, parts=tuple(
        replace(part, fields=tuple(known[field.name, field.offset] for field in part.fields))
        for part in found.parts
    ))


def _recorded(patterns: Iterable[Pattern]) -> int:
    """In bytes."""
    return sum(pattern.bytes * pattern.times for pattern in patterns)


def _inside(array: Repeats, size: int, patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """The bytes of the array in each element of that size, as if the arrays followed each other."""
    length = array.end - array.start
    for pattern in patterns:
        begin, end = pattern.offset, pattern.offset + pattern.bytes
        for number in range(begin // size, -(-end // size)):
            start = number * size + array.start
            first, last = max(begin, start), min(end, start + length)
            if first < last:
                used = pattern.used >> (first - begin) & (1 << (last - first)) - 1
                yield Pattern(number * length + first - start, last - first, used, pattern.times, pattern.by)
