# SPDX-License-Identifier: GPL-2.0-or-later
"""How the fields of a type were used: in all, by each source line that loads it, and how often each function visited an
element to use a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.data_types import Field, Repeats, Type
from ...model.objects import CodeLine, Pattern
from ...model.profile import Function
from ..data.folding import Span, folded

_PADDING = "(padding)"
_PADDING_OR_BASE = "(padding, virtual bases)"
_WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A field, or a gap between fields. loaded: how often bytes of it were loaded with a line, counted for each element
    in a line. used: how often any of these bytes was used."""

    name: str
    type: str  # empty for a gap
    offset: int
    size: int
    loaded: int
    used: int
    repeats: Repeats | None = None  # if set, loaded and used are sums over all elements of the array

    @property
    def end(self) -> int:
        """The offset behind its last byte, or behind the array of structs that it is in."""
        return self.repeats.end if self.repeats else self.offset + self.size

    @property
    def share(self) -> float:
        """The share of its loads in which it was used, from 0 to 1."""
        return self.used / self.loaded if self.loaded else 0.0


@dataclass(frozen=True, slots=True)
class CodeUse:
    """The fields that were used in any of the cache lines that a source line loaded. If several blocks lie in a cache
    line, each has a part of it, so there may be more parts than lines."""

    by: CodeLine
    parts: int
    fields: tuple[FieldUse, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """Fields that share bytes, as bit-fields and members of unions do; mostly a single field."""

    fields: tuple[FieldUse, ...]

    @property
    def offset(self) -> int:
        return self.fields[0].offset

    @property
    def size(self) -> int:
        return max(field.end for field in self.fields) - self.offset


def field_uses(found: Type, patterns: Iterable[Pattern]) -> tuple[FieldUse, ...]:
    """The use of all fields and gaps of a type, in memory order. patterns: those of its elements."""
    places = _with_gaps(found)
    loaded, used = [0] * len(places), [0] * len(places)
    extents = [(place.offset, place.size, place.repeats) for place in places]
    for own, mask, times in _masked(patterns, found.size, extents):
        for index, bits in own:
            loaded[index] += times
            if mask & bits:
                used[index] += times
    return tuple(
        FieldUse(*place[:4], loaded[index], used[index], place.repeats)
        for index, place in enumerate(places)
    )


def code_uses(found: Type, patterns: Iterable[Pattern]) -> list[CodeUse]:
    """The use of fields by the source lines that loaded them, those that loaded most parts of lines first."""
    by_code: dict[CodeLine, list[Pattern]] = {}
    for pattern in patterns:
        if pattern.bytes:
            by_code.setdefault(pattern.by, []).append(pattern)
    uses = [
        CodeUse(by, sum(pattern.times for pattern in here),
                tuple(field for field in field_uses(found, here) if field.used))
        for by, here in by_code.items()
    ]
    return sorted(uses, key=lambda use: (-use.parts, use.by))


def units(fields: Sequence[FieldUse]) -> list[Unit]:
    """The fields as units in memory order, without gaps."""
    found: list[list[FieldUse]] = []
    end = 0
    for field in sorted(fields, key=lambda field: field.offset):
        if not field.type or not field.size:
            continue
        if found and field.offset < end:
            found[-1].append(field)
        else:
            found.append([field])
        end = max(end, field.end)
    return [Unit(tuple(fields)) for fields in found]


def visits(
    element: int, found: Sequence[Unit], patterns: Iterable[Pattern]
) -> Mapping[Function, tuple[int, ...]]:
    """In how many elements each unit was used, by the function that loaded the line. element: the size of an element in
    bytes. For a unit in several lines, it is the count of the word used most, as each line has a pattern of its own."""
    words = [
        (index, (start, min(start - start % _WORD_BYTES + _WORD_BYTES, unit.offset + unit.size)))
        for index, unit in enumerate(found)
        for start in (unit.offset, *range(
            unit.offset - unit.offset % _WORD_BYTES + _WORD_BYTES, unit.offset + unit.size, _WORD_BYTES
        ))
    ]
    extents = [(start, end - start, None) for _, (start, end) in words]
    by_function: dict[Function, list[Pattern]] = {}
    for pattern in patterns:
        by_function.setdefault(pattern.by.function, []).append(pattern)
    counted: dict[Function, tuple[int, ...]] = {}
    for function, here in by_function.items():
        used = [0] * len(words)
        for own, mask, times in _masked(here, element, extents):
            for word, bits in own:
                if mask & bits:
                    used[word] += times
        most = [0] * len(found)
        for (index, _), times in zip(words, used):
            most[index] = max(most[index], times)
        counted[function] = tuple(most)
    return counted


_Extent = tuple[int, int, Repeats | None]  # offset and size
_Masks = Sequence[tuple[int, int]]  # the number of an extent, and its bits in a pattern


def _with_gaps(found: Type) -> list[Field]:
    """The fields of a type, and the gaps between them, which have no type."""
    gap = _PADDING_OR_BASE if found.has_virtual_bases else _PADDING
    arrays: dict[Repeats, list[Field]] = {}
    for field in found.fields:
        if field.repeats:
            arrays.setdefault(field.repeats, []).append(field)
    places: list[Field] = []
    end = 0
    for field in found.fields:
        start = field.repeats.start if field.repeats else field.offset
        if start > end:
            places.append(Field(gap, "", end, start - end))
        if field.repeats is None:
            places.append(field)
            end = max(end, field.offset + field.size)
        elif field.repeats in arrays:
            places += _element_with_gaps(field.repeats, arrays.pop(field.repeats), gap)
            end = max(end, field.repeats.end)
    if found.fields and found.size > end:
        places.append(Field(gap, "", end, found.size - end))
    return places


def _element_with_gaps(array: Repeats, fields: Sequence[Field], gap: str) -> Iterator[Field]:
    """The fields of the first element of an array of structs, and the gaps between them."""
    end = array.start
    for field in fields:
        if field.offset > end:
            yield Field(gap, "", end, field.offset - end, array)
        yield field
        end = max(end, field.offset + field.size)
    if array.start + array.stride > end:
        yield Field(gap, "", end, array.start + array.stride - end, array)


def _masked(
    patterns: Iterable[Pattern], element: int, extents: Sequence[_Extent]
) -> Iterator[tuple[_Masks, int, int]]:
    """The folded patterns of elements of `element` bytes: the masks of the extents, the bits of the bytes that were
    used, and how often. extents: what is looked for in each element."""
    masks: dict[Span, _Masks] = {}
    for (span, mask), times in folded(patterns, element).items():
        if span not in masks:
            masks[span] = list(_masks(extents, element, *span))
        yield masks[span], mask, times


def _masks(
    extents: Sequence[_Extent], element: int, start: int, size: int
) -> Iterator[tuple[int, int]]:
    """The bits of each extent in `size` bytes that begin at byte `start` of an element: one mask for each element that
    the bytes belong to."""
    for base in range(0, start + size, element):
        for index, (offset, length, repeats) in enumerate(extents):
            for shift in _shifts(offset, repeats, start - base, size):
                first = max(base + offset + shift - start, 0)
                last = min(base + offset + shift + length - start, size)
                if first < last:
                    yield index, (1 << last) - (1 << first)


def _shifts(offset: int, repeats: Repeats | None, start: int, size: int) -> range:
    """The distances, from the first element of an array, of the elements that may have some of the `size` bytes that
    begin at `start`."""
    if repeats is None:
        return range(1)
    first = max((start - offset) // repeats.stride, 0)
    last = min((start + size - 1 - offset) // repeats.stride, repeats.number - 1)
    return range(first * repeats.stride, last * repeats.stride + 1, repeats.stride)
