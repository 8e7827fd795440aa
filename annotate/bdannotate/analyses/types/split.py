# SPDX-License-Identifier: GPL-2.0-or-later
"""What another layout of a type would load: its fields in several arrays, or in another order.

Fields belong together if the same functions use them: of what a function visits, a part of the type
is loaded as often as its most used field. The price of a part is that number times its bytes, where
elements are used in memory order, or times all the lines that it lies in, where each is far
from the one before. Which of the two holds, no pattern of a single line says; so both are computed,
and the split is the one that costs least in order, with few parts.

Nor does a pattern say where the elements lie of which a function uses a part if it does not of all that
it visits. If next to each other, the price in order is as above. If they are spread evenly among the
others, all lines of the part are loaded as often as the function goes through, or each of them has a
line for itself, whichever is less.
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
# What saves less is not worth a change of the program: all code that uses an array, or the order of fields alone.
_LEAST_SAVING = 0.2
_LEAST_SAVING_BY_ORDER = 0.1
# Parts are put together as long as that costs no more than this share of what is loaded now.
_PRICE_OF_FEWER = 0.05
_MOST_PARTS = 64  # to begin with: what is used least is one
_MOST_ELEMENT = 4096  # bytes; larger types are not split field by field
# Fields that are used as often, in tenths of the most used, stand in the order of their alignment.
_STEPS = 10
_FIRST = 4  # those that are used so many times less than the most used need not be named


@dataclass(frozen=True, slots=True)
class FieldGroup:
    fields: tuple[FieldUse, ...]
    size: int  # in bytes, with the padding at its end
    loads: int  # how often it would be loaded, in patterns


@dataclass(frozen=True, slots=True)
class Split:
    """The parts, the one loaded most often first. Bytes loaded: now, and with the split if elements
    are used in memory order, at least and at most, and if each lies far from the one before."""

    parts: tuple[FieldGroup, ...]
    now: int
    in_order: int
    in_order_most: int
    scattered: int
    line: int  # the bytes of one

    def misses_saved(self, then: int) -> int:
        """Of D1, if so many bytes are loaded: a miss loads a line. Negative if there are more. Of LL, it
        is not known: what is smaller may stay there."""
        return round((self.now - then) / self.line)


@dataclass(frozen=True, slots=True)
class Order:
    """All fields in an order in which fewer lines have those that are used, and the first of them,
    which this is for; bytes loaded now and then."""

    fields: tuple[FieldUse, ...]
    first: tuple[FieldUse, ...]
    now: int
    then: int
    line: int  # the bytes of one

    @property
    def misses_saved(self) -> int:
        """Of D1."""
        return round((self.now - self.then) / self.line)


_Visits = tuple[int, ...]  # by function


@dataclass(frozen=True, slots=True)
class _Piece:
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
        """walked: how many elements each function visits."""
        size, lines = self.size, self.lines(line)
        return sum(min(all_of_them * size, visits * lines) for all_of_them, visits in zip(walked, self.visits))

    def scattered(self, line: int) -> int:
        return sum(self.visits) * self.lines(line)

    def lines(self, line: int) -> int:
        """Those that one of it lies in, in bytes, on average over all places."""
        return line + self.size - self.alignment

    def part(self) -> FieldGroup:
        fields = sorted(
            (field for unit in self.units for field in unit.fields), key=lambda field: field.offset
        )
        return FieldGroup(tuple(fields), self.size, sum(self.visits))


def best_split(typed: TypedGroup, group: ObjectGroup, use: DataUse, line: int) -> Split | None:
    """line: the bytes of a line of D1. None where nothing would be saved, or that is not known. Blocks
    with one element each are as far from each other as the allocator puts them, and their lines
    have others' bytes: no split is in order."""
    if not is_array(group, typed.type.size) or typed.type.size > _MOST_ELEMENT:
        return None
    recorded = sum(pattern.bytes * pattern.times for pattern in group.patterns)
    pieces = _pieces(typed, group)
    # Where nothing was loaded for it, it came along with what others loaded.
    if not recorded or not use.loaded or len(pieces) < 2:
        return None
    scale = use.loaded / recorded
    # A type that would cost as little in memory order as it is has no fault: its order has.
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
    if group.identity.kind in VARIABLES:
        return group.identity.size >= 2 * element
    return group.blocks is not None and group.blocks.smallest >= 2 * element


def _pieces(typed: TypedGroup, group: ObjectGroup) -> list[_Piece]:
    """Units that are visited alike are one piece from the start."""
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
    """Puts pieces together for at most that many bytes: always the two that cost least."""
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
    return one.plus(other).in_order - one.in_order - other.in_order


def better_order(
    typed: TypedGroup, group: ObjectGroup, use: DataUse, loaded_by: Mapping[Function, int], line: int
) -> Order | None:
    """Of blocks with one element each; loaded_by: how many bytes each function has loaded for it, if any;
    line: the bytes of a line of D1. None where nothing would be saved, or that is not known.

    A function that visits the elements in memory order has loaded less than the model says of now, as
    neighbours share lines; it is not taken to load more than that.

    It must save that of what the run has loaded, and by the same model as is predicted by. The model
    alone would promise too much: the end of a block and the beginning of the next one often share a line."""
    if group.blocks is None or group.blocks.largest >= 2 * typed.type.size:
        return None
    if typed.type.size > _MOST_ELEMENT:
        return None
    found = units(typed.fields)
    # Into lines that were loaded for others, as for the allocator's notes before a block, it comes along.
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
    """How many lines are loaded for a function's visits, on average over all places that an allocator may
    put an element at. Without offsets, the units follow each other."""
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
    """How many times as many visits there were as the patterns have: what is in none of them is taken
    to be like these."""
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
    return max(gcd(field.offset, field.size, _MOST_ALIGNMENT) for field in unit.fields)
