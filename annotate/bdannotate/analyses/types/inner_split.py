# SPDX-License-Identifier: GPL-2.0-or-later
"""What another layout of an array of structs within a type would load. The array is treated as if it were separate,
with the patterns of its bytes only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...model.data_types import Field, Repeats, Type
from ...model.objects import ObjectGroup, Pattern
from ..data.objects import DataUse
from .field_use import FieldUse, field_uses
from .split import Split, best_split
from .typed_groups import TypedGroup

# The minimum share of the type's loaded bytes that the array must have.
_LEAST_SHARE = 0.5


def inner_split(typed: TypedGroup, group: ObjectGroup, use: DataUse, line_bytes: int) -> Split | None:
    """The best split of the inner array that most bytes are loaded for; None if there is none. Its loaded bytes are a
    share of those of `use`, as in the patterns. The fields of the parts are those of the type."""
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
    """The bytes loaded in all."""
    return sum(pattern.bytes * pattern.times for pattern in patterns)


def _inside(array: Repeats, size: int, patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """The patterns of the array's bytes in each element of `size` bytes, as if the arrays followed each other."""
    length = array.end - array.start
    for pattern in patterns:
        begin, end = pattern.offset, pattern.offset + pattern.bytes
        for number in range(begin // size, -(-end // size)):
            start = number * size + array.start
            first, last = max(begin, start), min(end, start + length)
            if first < last:
                used = pattern.used >> (first - begin) & (1 << (last - first)) - 1
                yield Pattern(number * length + first - start, last - first, used, pattern.times, pattern.by)
