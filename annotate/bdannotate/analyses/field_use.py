# SPDX-License-Identifier: GPL-2.0-or-later
"""How the fields of a type were used: in all, by each line of code that loads it, and how often
each function came by an element for the sake of a field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model.objects import Pattern, Place
from ..model.profile import Function
from ..model.types import Type

_PADDING = "(padding)"
_PADDING_OR_BASE = "(padding, virtual bases)"
_WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A field, or a gap between fields. loaded: how many lines came with bytes of it; used: in how
    many of these any of them was used."""

    name: str
    type: str  # empty for a gap
    offset: int
    size: int
    loaded: int
    used: int

    @property
    def share(self) -> float:
        return self.used / self.loaded if self.loaded else 0.0


@dataclass(frozen=True, slots=True)
class CodeUse:
    """What came of the lines that a line of code loaded: the fields that were used in any of them."""

    by: Place
    lines: int
    fields: tuple[FieldUse, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """Fields that share bytes, as bit-fields and members of unions do; mostly it is one."""

    fields: tuple[FieldUse, ...]

    @property
    def offset(self) -> int:
        return self.fields[0].offset

    @property
    def size(self) -> int:
        return max(field.offset + field.size for field in self.fields) - self.offset


def field_uses(found: Type, patterns: Iterable[Pattern]) -> tuple[FieldUse, ...]:
    """Of all bytes of an element."""
    places = _with_gaps(found)
    loaded, used = [0] * len(places), [0] * len(places)
    extents = [place[2:] for place in places]
    for own, mask, times in _folded(patterns, found.size, extents):
        for index, bits in own:
            loaded[index] += times
            if mask & bits:
                used[index] += times
    return tuple(
        FieldUse(*place, loaded[index], used[index]) for index, place in enumerate(places)
    )


def code_uses(found: Type, patterns: Iterable[Pattern]) -> list[CodeUse]:
    """The code that loaded most lines first."""
    by_code: dict[Place, list[Pattern]] = {}
    for pattern in patterns:
        if pattern.bytes:
            by_code.setdefault(pattern.by, []).append(pattern)
    uses = [
        CodeUse(by, sum(pattern.times for pattern in here),
                tuple(field for field in field_uses(found, here) if field.used))
        for by, here in by_code.items()
    ]
    return sorted(uses, key=lambda use: (-use.lines, use.by))


def units(fields: Sequence[FieldUse]) -> list[Unit]:
    """In the order of memory, without gaps."""
    found: list[list[FieldUse]] = []
    end = 0
    for field in sorted(fields, key=lambda field: field.offset):
        if not field.type or not field.size:
            continue
        if found and field.offset < end:
            found[-1].append(field)
        else:
            found.append([field])
        end = max(end, field.offset + field.size)
    return [Unit(tuple(fields)) for fields in found]


def visits(
    element: int, found: Sequence[Unit], patterns: Iterable[Pattern]
) -> Mapping[Function, tuple[int, ...]]:
    """By the function that loaded the line, how many elements had each unit used in it. Of a unit in
    several lines, it is that of the word used most: every line has a pattern of its own."""
    words = [
        (index, (start, min(start - start % _WORD_BYTES + _WORD_BYTES, unit.offset + unit.size)))
        for index, unit in enumerate(found)
        for start in (unit.offset, *range(
            unit.offset - unit.offset % _WORD_BYTES + _WORD_BYTES, unit.offset + unit.size, _WORD_BYTES
        ))
    ]
    extents = [(start, end - start) for _, (start, end) in words]
    by_function: dict[Function, list[Pattern]] = {}
    for pattern in patterns:
        by_function.setdefault(pattern.by.function, []).append(pattern)
    counted: dict[Function, tuple[int, ...]] = {}
    for function, here in by_function.items():
        used = [0] * len(words)
        for own, mask, times in _folded(here, element, extents):
            for word, bits in own:
                if mask & bits:
                    used[word] += times
        most = [0] * len(found)
        for (index, _), times in zip(words, used):
            most[index] = max(most[index], times)
        counted[function] = tuple(most)
    return counted


_Place = tuple[str, str, int, int]  # name, type, offset, size
_Masks = Sequence[tuple[int, int]]  # the number of an extent, and which bits of a pattern are its


def _with_gaps(found: Type) -> list[_Place]:
    places: list[_Place] = []
    gap = _PADDING_OR_BASE if found.has_virtual_bases else _PADDING
    end = 0
    for field in found.fields:
        if field.offset > end:
            places.append((gap, "", end, field.offset - end))
        places.append((field.name, field.type, field.offset, field.size))
        end = max(end, field.offset + field.size)
    if found.fields and found.size > end:
        places.append((gap, "", end, found.size - end))
    return places


def _folded(
    patterns: Iterable[Pattern], element: int, extents: Sequence[tuple[int, int]]
) -> Iterator[tuple[_Masks, int, int]]:
    """Patterns of elements of that size, as masks, which bytes were used, and how often. extents:
    offset and size of what is looked for in each element."""
    folded: Counter[tuple[int, int, int]] = Counter()
    for pattern in patterns:
        if pattern.bytes:
            folded[pattern.offset % element, pattern.bytes, pattern.used] += pattern.times
    masks: dict[tuple[int, int], _Masks] = {}
    for (start, size, mask), times in folded.items():
        if (start, size) not in masks:
            masks[start, size] = list(_masks(extents, element, start, size))
        yield masks[start, size], mask, times


def _masks(
    extents: Sequence[tuple[int, int]], element: int, start: int, size: int
) -> Iterator[tuple[int, int]]:
    """Of `size` bytes that begin at `start` of an element, those of each extent, as bits: one mask for
    each element that they are of."""
    for base in range(0, start + size, element):
        for index, (offset, length) in enumerate(extents):
            first = max(base + offset - start, 0)
            last = min(base + offset + length - start, size)
            if first < last:
                yield index, (1 << last) - (1 << first)
