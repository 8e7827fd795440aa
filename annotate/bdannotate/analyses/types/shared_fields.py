# SPDX-License-Identifier: GPL-2.0-or-later
"""Which fields of data each core reads and writes, in lines that cores take from each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...model.objects import Identity, ObjectGroup
from ...model.sharing import SharedLine
from ..data.sharing import CoreBytes, SharedData, SharingReport
from .field_use import FieldUse
from .shared_bytes import PIECE, Use, element_bytes, number_of_elements, uses_of_elements
from .typed_groups import TypedGroup

_ARRAY = re.compile(r"(.*[^\]])\[(\d+)\]")  # the name of a field that is an array of one dimension


@dataclass(frozen=True, slots=True)
class SharedField:
    """A field, in all elements of some data, and the cores that use it in lines that they take from each other."""

    name: str  # that of the data if these have no fields
    read: tuple[int, ...]  # the cores that read it
    written: tuple[int, ...]  # the cores that write it
    apart: bool = False  # whether these are several cores, but none uses a byte that another one does

    @property
    def only_read(self) -> tuple[int, ...]:
        """The cores that read it and do not write it."""
        return tuple(core for core in self.read if core not in self.written)


class _Place(NamedTuple):
    """What a byte belongs to: a field, or one element of an array. element: its number; -1 if it is in no array."""

    before: str  # of the number
    element: int
    behind: str
    object: int = 0  # which one in the line; 0: the only one


def with_fields(found: SharingReport, types: Mapping[Identity, TypedGroup]) -> SharingReport:
    """The report with the names of the fields that each core uses, for the data whose types are known."""
    return replace(found, data=tuple(
        data if data.group is None or data.group.identity not in types
        else _named(data, data.group, types[data.group.identity])
        for data in found.data
    ))


def shared_fields(data: SharedData, typed: TypedGroup) -> tuple[SharedField, ...]:
    """The fields of some data in memory order, with the cores that use them. Empty if it is not known where in its
    lines the data begin."""
    if data.group is None:
        return ()
    cores: dict[Use, dict[str, set[int]]] = {use: {} for use in Use}
    names: dict[int, tuple[str, ...]] = {}
    for (use, core), pieces in uses_of_elements(data, data.group, typed.type.size, typed).items():
        for number, bits in pieces.items():
            for offset in _offsets(number * PIECE, bits):
                if offset not in names:
                    names[offset] = tuple(_fields_at(offset, typed))
                for name in names[offset]:
                    cores[use].setdefault(name, set()).add(core)
    read, written, shared = cores[Use.READ], cores[Use.WRITTEN], cores[Use.SHARED]
    order = {field.name: number for number, field in enumerate(typed.fields)}
    return tuple(
        SharedField(
            name or data.group.identity.name, tuple(sorted(read.get(name, ()))), tuple(sorted(written.get(name, ()))),
            len({*read.get(name, ()), *written.get(name, ())}) > 1 and name not in shared,
        )
        for name in sorted({*read, *written}, key=lambda name: (order.get(name, -1), name))
    )


def fields_of(offsets: Iterable[int], typed: TypedGroup) -> tuple[str, ...]:
    """The declared names of the fields that bytes of an element belong to, in the order of the bytes."""
    return tuple(dict.fromkeys(name for at in offsets for name in _fields_at(at, typed) if name))


def _fields_at(at: int, typed: TypedGroup) -> Iterator[str]:
    """The declared names of the fields of a byte of an element; empty if the type has no fields."""
    if not typed.fields:
        yield ""
    for field in typed.fields:
        if _place_in(field, at) is not None:
            yield field.name


def _named(data: SharedData, group: ObjectGroup, typed: TypedGroup) -> SharedData:
    line = data.lines[0]

    def names(core: CoreBytes) -> CoreBytes:
        return replace(
            core, fields_read=_names(_places(line, core.read & ~core.written, group, typed)),
            fields_written=_names(_places(line, core.written, group, typed)),
        )

    return replace(data, cores=tuple(map(names, data.cores)))


def _names(places: Iterable[_Place]) -> tuple[str, ...]:
    """Each place once, with consecutive elements of an array as one."""
    found: list[tuple[_Place, int]] = []  # and the last index
    for place in places:
        if found:
            first, last = found[-1]
            is_next = place.element in (last, last + 1) and place.element >= 0
            if place == first or (is_next and place._replace(element=first.element) == first):
                found[-1] = first, place.element
                continue
        found.append((place, place.element))
    names = (
        _of_object(place.before + _index(place.element, last) + place.behind, place.object) for place, last in found
    )
    return tuple(dict.fromkeys(name for name in names if name))


def _of_object(name: str, number: int) -> str:
    """The name of a place in one of several objects. number: that of the object; 0: it is the only one."""
    if not number:
        return name
    return f"{name} of block {number}" if name else f"block {number}"


def _index(first: int, last: int) -> str:
    if first < 0:
        return ""
    return f"[{first}]" if first == last else f"[{first}-{last}]"


def _places(line: SharedLine, mask: int, group: ObjectGroup, typed: TypedGroup) -> Iterator[_Place]:
    """What each of the bytes belongs to, which are bits of the mask; those that are not of the data are left out."""
    number = number_of_elements(group, typed)
    array = group.identity.name if group.blocks is None else ""
    for part in element_bytes(line, group, typed):
        for offset in _offsets(part.first, part.of(mask)):
            element, at = divmod(offset, typed.type.size)
            if not typed.fields:
                yield _Place(*((array, element) if number != 1 else ("", -1)), "", part.number)
            for field in typed.fields:
                place = _place_in(field, at)
                if place is not None:
                    yield (place if number == 1 else _of_element(array, element, place))._replace(object=part.number)


def _offsets(first: int, bits: int) -> Iterator[int]:
    """The offsets of the bytes whose bits are set, of which the lowest stands for offset `first`."""
    return (first + bit for bit in range(bits.bit_length()) if bits >> bit & 1)


def _place_in(field: FieldUse, at: int) -> _Place | None:
    """The place of a byte of an element, if it belongs to the field."""
    repeats = field.repeats
    if repeats is None:
        if not field.offset <= at < field.offset + field.size:
            return None
        array = _ARRAY.fullmatch(field.name)
        if array is None or not 0 < int(array[2]) <= field.size:
            return _Place(field.name, -1, "")
        return _Place(array[1], (at - field.offset) // (field.size // int(array[2])), "")
    if not repeats.start <= at < repeats.end:
        return None
    index, inner = divmod(at - repeats.start, repeats.stride)
    first = field.offset - repeats.start
    if not first <= inner < first + field.size:
        return None
    before, bracket, behind = field.name.partition(f"[{repeats.number}]")
    return _Place(before, index, behind) if bracket else _Place(field.name, -1, "")


def _of_element(array: str, element: int, place: _Place) -> _Place:
    """The same in an element of an array, where all of a field that is an array is one place. array: the name of the
    outer one; empty for a block of the heap."""
    return _Place(array, element, f".{place.before}{place.behind}")
