# SPDX-License-Identifier: GPL-2.0-or-later
"""Which bytes of an element each core reads and writes, in lines that cores take from each other."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...model.objects import ObjectGroup
from ...model.sharing import SharedLine, SharedObject
from ..data.sharing import SharedData
from .typed_groups import TypedGroup

_MOST_LINE = 64  # bytes
PIECE = 64  # bytes


@dataclass(frozen=True, slots=True)
class ByteUse:
    """Bytes of an element that the same cores use in the same way, in any element of the data."""

    bytes: tuple[int, ...]  # their offsets in the element, ascending
    read: tuple[int, ...]  # the cores that only read them
    written: tuple[int, ...]  # the cores that write them
    apart: bool  # whether these are several cores, but never at the same address: they use different elements


class Use(enum.Enum):
    """What a core does with bytes. SHARED: several cores use them, in one way or the other."""

    READ = "read"
    WRITTEN = "written"
    SHARED = "shared"


def shared_bytes(data: SharedData, size: int, typed: TypedGroup | None = None) -> tuple[ByteUse, ...]:
    """The use of the bytes of an element, those of the first byte first. Empty if it is not known where in its lines
    the data begin. size: that of an element in bytes. typed: the type of the data, if it is known."""
    if data.group is None:
        return ()
    masks: dict[Use, dict[int, int]] = {use: {} for use in Use}
    for (use, core), pieces in uses_of_elements(data, data.group, size, typed).items():
        masks[use][core] = sum(bits << PIECE * number for number, bits in pieces.items())
    found: dict[tuple[tuple[int, ...], tuple[int, ...], bool], list[int]] = {}
    for byte in range(size):
        of_byte = {use: [core for core, mask in sorted(masks[use].items()) if mask >> byte & 1] for use in Use}
        written = tuple(of_byte[Use.WRITTEN])
        read = tuple(core for core in of_byte[Use.READ] if core not in written)
        if read or written:
            is_apart = len(read) + len(written) > 1 and not of_byte[Use.SHARED]
            found.setdefault((read, written, is_apart), []).append(byte)
    return tuple(ByteUse(tuple(those), *how) for how, those in found.items())


def uses_of_elements(
    data: SharedData, group: ObjectGroup, size: int, typed: TypedGroup | None
) -> dict[tuple[Use, int], dict[int, int]]:
    """What cores do with elements of `size` bytes, by the use and the core (-1 for several): for each piece of
    an element of which some bytes are used so, by its number, a bit for each of its PIECE bytes."""
    found: dict[tuple[Use, int], dict[int, int]] = {}
    # Each once, as most lines of an array are used alike.
    for use, core, first, bits in {
        (use, core, part.first % size, part.of(mask))
        for line in data.lines for part in element_bytes(line, group, typed) for use, core, mask in _uses_of(line)
    }:
        if bits:
            _add_folded(found.setdefault((use, core), {}), bits, first, size)
    return found


def _uses_of(line: SharedLine) -> Iterator[tuple[Use, int, int]]:
    """With the core and the bytes."""
    used = shared = 0
    for one in line.uses:
        yield Use.READ, one.core, one.read
        yield Use.WRITTEN, one.core, one.written
        shared |= used & one.bytes
        used |= one.bytes
    yield Use.SHARED, -1, shared


class ElementBytes(NamedTuple):
    """The bytes of a line that are in elements of one object."""

    number: int  # of the object, in the order of addresses, from 1; 0 if it is the only one
    first: int  # the offset of the first of these bytes from the first element
    start: int  # its bit
    bits: int  # a bit for each byte of the line

    def of(self, mask: int) -> int:
        """Those of the bytes that are bits of `mask`. The lowest bit stands for offset `first`."""
        return (mask & self.bits) >> self.start


def element_bytes(line: SharedLine, group: ObjectGroup, typed: TypedGroup | None) -> list[ElementBytes]:
    """The bytes that are in elements, object by object. Bytes that have been of different objects, one after the other,
    or may have been, are left out. typed: the type of the elements, if it is known."""
    found: list[ElementBytes] = []
    begins = sorted({one.begin for one in line.objects})
    for number, begin in enumerate(begins, 1):
        own = others = 0
        first = begin + (typed.start if typed else 0) - line.address
        for one in line.objects:
            whole = _bits(one.begin - line.address, one.bytes or None)
            if one.begin == begin:
                end = _end_of_elements(one, group, typed)
                elements = _bits(first, end)
                own |= elements
                whole &= ~elements if one.bytes else 0
            others |= whole
        if bits := own & ~others:
            start = max(first, 0)
            found.append(ElementBytes(number if len(begins) > 1 else 0, start - first, start, bits))
    return found


def _bits(first: int, size: int | None) -> int:
    """A bit for each of `size` bytes of a line, from byte `first` on, which may lie before the line; those beyond it do
    not matter. size: None: up to the end of the line."""
    end = _MOST_LINE if size is None else min(first + size, _MOST_LINE)
    return (1 << max(end, 0)) - (1 << min(max(first, 0), max(end, 0)))


def number_of_elements(group: ObjectGroup, typed: TypedGroup) -> int | None:
    """How many elements each of the objects has; None if they differ in that."""
    if group.blocks is None:
        return max(group.identity.size // typed.type.size, 1)
    if typed.has_open_end or typed.only or group.blocks.smallest != group.blocks.largest:
        return None
    return max((group.blocks.largest - typed.start) // typed.type.size, 1)


def _end_of_elements(one: SharedObject, group: ObjectGroup, typed: TypedGroup | None) -> int | None:
    """How many bytes the elements of an object have; None if that is not known."""
    size = one.bytes
    if not size and group.blocks is None:
        size = group.identity.size
    if not size and group.blocks is not None and group.blocks.smallest == group.blocks.largest:
        size = group.blocks.largest
    if typed is None or not size:
        return size or None
    if typed.only and size != typed.only:
        return 0
    if typed.has_open_end:
        return max(size - typed.start, 0)
    return max((size - typed.start) // typed.type.size, 1) * typed.type.size


def _add_folded(pieces: dict[int, int], bits: int, first: int, size: int) -> None:
    """Adds the bits, of which the lowest stands for byte `first` of an element of `size` bytes, to its pieces."""
    while bits:
        room = size - first
        number, at = divmod(first, PIECE)
        here = (bits if room >= _MOST_LINE else bits & ((1 << room) - 1)) << at
        for piece in (number, number + 1):
            if here:
                pieces[piece] = pieces.get(piece, 0) | here & ((1 << PIECE) - 1)
                here >>= PIECE
        bits >>= room
        first = 0
