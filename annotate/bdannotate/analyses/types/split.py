# SPDX-License-Identifier: GPL-2.0-or-later
"""What another layout of a type would load: its fields in several arrays, or in another order.

Fields belong together if the same functions use them. A function loads a part of the type as often as it visits the
part's most used field. The price of a part is that number times its bytes if elements are used in memory order, or
times the bytes of all lines that it lies in if each element is far from the one before. The patterns of single lines do
not show which of the two is true, so both are computed. The split is the one with few parts that costs least in order.

If a function uses a part of only some of the elements that it visits, the patterns do not show where these lie. If they
are next to each other, the price in order is as above. If they are spread evenly, the function loads all lines of the
part each time that it goes through the array, or a line for each of these elements, whichever is less.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

from ...model.objects import VARIABLES, ObjectGroup
from ...model.profile import Function
from ..data.objects import DataUse
from .field_use import FieldUse, Unit, units, visits
from .typed_groups import TypedGroup

_MOST_ALIGNMENT = 8
_BLOCK_ALIGNMENT = 16  # of what allocators return
# The minimum share of the loaded bytes that must be saved. A split changes all code that uses the array, another order
# of fields only the type, so less is enough there.
_LEAST_SAVING = 0.2
_LEAST_SAVING_BY_ORDER = 0.1
# Parts are joined as long as that costs no more than this share of what is loaded now.
_PRICE_OF_FEWER = 0.05
_MOST_PARTS = 64  # at the beginning; all fields that are used less are one part
_MOST_ELEMENT = 4096  # bytes; larger types are not split
# Fields with the same use, in tenths of that of the most used one, are sorted by alignment.
_STEPS = 10
_FIRST = 4  # a field is named if it is used at least 1 / _FIRST as often as the most used one


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """A part of a split: the fields of one of its arrays."""

    fields: tuple[FieldUse, ...]
    size: int  # in bytes, with the padding at its end
    loads: int  # how often it would be loaded, in patterns


@dataclass(frozen=True, slots=True)
class Split:
    """A split of a type into several arrays. All but `parts` is in bytes."""

    parts: tuple[FieldGroup, ...]  # the one loaded most often first
    now: int  # loaded without the split
    in_order: int  # loaded with it if elements are used in memory order, at least
    in_order_most: int  # the same, at most
    scattered: int  # loaded with it if each element is far from the one before
    line: int  # of a line of D1

    def misses_saved(self, then: int) -> int:
        """The misses of D1 that are saved if `then` bytes are loaded, as a miss loads a line; negative if there are
        more. Those of LL are not known: smaller data may stay there."""
        return round((self.now - then) / self.line)


@dataclass(frozen=True, slots=True)
class Order:
    """An order of fields in which the used ones lie in fewer lines. All but the fields is in bytes."""

    fields: tuple[FieldUse, ...]
    first: tuple[FieldUse, ...]  # those at the beginning that are used most
    now: int  # loaded in the present order
    then: int  # loaded in the new order
    line: int  # of a line of D1

    @property
    def misses_saved(self) -> int:
        """The misses of D1 that are saved."""
        return round((self.now - self.then) / self.line)


_Visits = tuple[int, ...]  # by function


@dataclass(frozen=True, slots=True)
class _Piece:
    """Units of fields that lie together. visits: how often each function visits it."""

    units: tuple[Unit, ...]
    visits: _Visits

    def plus(self, other: _Piece) -> _Piece:
        return _Piece(self.units + other.units, tuple(map(max, self.visits, other.visits)))

    @property
    def alignment(self) -> int:
        return max(alignment_of(unit) for unit in self.units)

    @property
    def size(self) -> int:
        size, alignment = sum(unit.size for unit in self.units), self.alignment
        return -(-size // alignment) * alignment

    @property
    def in_order(self) -> int:
        return sum(self.visits) * self.size

    def in_order_most(self, walked: _Visits, line: int) -> int:
        """The bytes loaded if the visited elements are spread evenly. walked: how many elements each function goes
        through. line: the bytes of a line."""
        size, lines = self.size, self.lines(line)
        return sum(min(all_of_them * size, visits * lines) for all_of_them, visits in zip(walked, self.visits))

    def scattered(self, line: int) -> int:
        return sum(self.visits) * self.lines(line)

    def lines(self, line: int) -> int:
        """The bytes of the lines that one such piece lies in, on average over all offsets in a line."""
        return line + self.size - self.alignment

    def part(self) -> FieldGroup:
        fields = sorted(
            (field for unit in self.units for field in unit.fields), key=lambda field: field.offset
        )
        return FieldGroup(tuple(fields), self.size, sum(self.visits))


def best_split(typed: TypedGroup, group: ObjectGroup, use: DataUse, line: int) -> Split | None:
    """The best split of a type; None if it would save too little, or if that is not known. line: the bytes of a line of
    D1. Blocks of one element each are not split, as the allocator decides where they lie, and their lines have bytes
    of other blocks."""
    if not is_array(group, typed.type.size) or typed.type.size > _MOST_ELEMENT:
        return None
    recorded = sum(pattern.bytes * pattern.times for pattern in group.patterns)
    pieces = _pieces(typed, group)
    # If nothing was loaded for the group, its bytes came with lines that were loaded for others.
    if not recorded or not use.loaded or len(pieces) < 2:
        return None
    scale = use.loaded / recorded
    # The split is compared with the type as it is in memory order: what another order of visits saves does not count.
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole.plus(piece)
    as_it_is = min(use.loaded, whole.in_order * scale)
    pieces = _few(pieces, _PRICE_OF_FEWER * as_it_is / scale)
    most = scale * sum(piece.in_order_most(whole.visits, line) for piece in pieces)
    if most > as_it_is * (1 - _LEAST_SAVING):
        return None
    pieces.sort(key=lambda piece: (-sum(piece.visits), piece.units[0].offset))
    in_order = scale * sum(piece.in_order for piece in pieces)
    scattered = scale * sum(piece.scattered(line) for piece in pieces)
    parts = tuple(piece.part() for piece in pieces)
    return Split(parts, use.loaded, round(in_order), round(most), round(scattered), line)


def is_array(group: ObjectGroup, element: int) -> bool:
    """Whether the variable, or each block, has room for at least two elements of `element` bytes."""
    if group.identity.kind in VARIABLES:
        return group.identity.size >= 2 * element
    return group.blocks is not None and group.blocks.smallest >= 2 * element


def _pieces(typed: TypedGroup, group: ObjectGroup) -> list[_Piece]:
    """The pieces to begin with, those visited most often first. Units that are visited equally often by each function
    are one piece."""
    found = units(typed.fields)
    by_function = visits(typed.type.size, found, group.patterns)
    alike: dict[_Visits, list[Unit]] = {}
    for unit, times in zip(found, zip(*by_function.values())):
        alike.setdefault(times, []).append(unit)
    pieces = [_Piece(tuple(here), times) for times, here in alike.items()]
    pieces.sort(key=lambda piece: -sum(piece.visits))
    for rest in pieces[_MOST_PARTS:]:
        pieces[_MOST_PARTS - 1] = pieces[_MOST_PARTS - 1].plus(rest)
    return pieces[:_MOST_PARTS]


def _few(pieces: list[_Piece], budget: float) -> list[_Piece]:
    """Join pieces, always the two that cost least, until that costs more than `budget` bytes in all."""
    while len(pieces) > 1:
        price, one, other = min(
            (_price(pieces[one], pieces[other]), one, other)
            for one, other in combinations(range(len(pieces)), 2)
        )
        if price > budget:
            break
        budget -= price
        pieces[one] = pieces[one].plus(pieces.pop(other))
    return pieces


def _price(one: _Piece, other: _Piece) -> int:
    """How many more bytes are loaded if two pieces are joined."""
    return one.plus(other).in_order - one.in_order - other.in_order


def better_order(
    typed: TypedGroup, group: ObjectGroup, use: DataUse, loaded_by: Mapping[Function, int], line: int
) -> Order | None:
    """A better order of fields for blocks of one element each; None if it would save too little, or if that is not
    known. loaded_by: how many bytes each function loaded for the group, if any. line: the bytes of a line of D1.

    A function that visits elements in memory order loaded less than the model says, as neighbours share lines. It is
    not predicted to load more than that.

    The order must save enough of what the run loaded, and also by the model alone. The model alone would promise too
    much, as the end of a block and the beginning of the next one often share a line."""
    if group.blocks is None or group.blocks.largest >= 2 * typed.type.size:
        return None
    if typed.type.size > _MOST_ELEMENT:
        return None
    found = units(typed.fields)
    # A block may come with lines that were loaded for others, such as the allocator's notes before a block.
    known = visits(typed.type.size, found, group.patterns)
    loading = [function for function in known if loaded_by.get(function)]
    by_function = [known[function] for function in loading]
    if len(found) < 2 or not any(map(any, by_function)):
        return None
    often = [sum(times) for times in zip(*by_function)]
    most = max(often)
    order = sorted(range(len(found)), key=lambda index: (
        -(_STEPS * often[index] // most), -alignment_of(found[index]), found[index].offset,
    ))
    in_order = [found[index] for index in order]
    scale = line * _not_mapped(group, loaded_by)
    lines = [_lines(in_order, [times[index] for index in order], line) for times in by_function]
    then = round(sum(
        min(one * scale, loaded_by[function]) for function, one in zip(loading, lines)
    ))
    offsets = [unit.offset for unit in found]
    lines_now = sum(_lines(found, times, line, offsets) for times in by_function)
    left = 1 - _LEAST_SAVING_BY_ORDER
    if then > use.loaded * left or sum(lines) > lines_now * left:
        return None
    fields = tuple(field for index in order for field in found[index].fields)
    first = tuple(
        field for index in order if _FIRST * often[index] >= most for field in found[index].fields
    )
    return Order(fields, first, use.loaded, then, line)


def _lines(
    found: Sequence[Unit], times: Sequence[int], line: int, offsets: Sequence[int] | None = None,
) -> float:
    """The lines that a function's visits load, on average over all offsets in a line at which an allocator may put an
    element. times: its visits of each unit. offsets: those of the units; None: the units follow each other."""
    if offsets is None:
        offsets = []
        end = 0
        for unit in found:
            end += -end % alignment_of(unit)
            offsets.append(end)
            end += unit.size
    starts = range(0, line, _BLOCK_ALIGNMENT)
    total = 0
    for start in starts:
        lines: dict[int, int] = {}
        for unit, offset, here in zip(found, offsets, times):
            first = (start + offset) // line
            last = (start + offset + unit.size - 1) // line
            for number in range(first, last + 1):
                lines[number] = max(lines.get(number, 0), here)
        total += sum(lines.values())
    return total / len(starts)


def _not_mapped(group: ObjectGroup, loaded_by: Container[Function]) -> float:
    """The ratio of all visits to those in patterns, at least 1. Visits that are in no pattern are taken to be like the
    others."""
    mapped = sum(
        pattern.times for pattern in group.patterns
        if pattern.bytes and pattern.by.function in loaded_by
    )
    unmapped = sum(
        pattern.times for pattern in group.patterns
        if not pattern.bytes and pattern.by.function in loaded_by
    )
    return (mapped + unmapped) / mapped if mapped else 1.0


def alignment_of(unit: Unit) -> int:
    """The alignment of a unit in bytes, as its offsets and sizes suggest, at most _MOST_ALIGNMENT."""
    return max(gcd(field.offset, field.size, _MOST_ALIGNMENT) for field in unit.fields)
