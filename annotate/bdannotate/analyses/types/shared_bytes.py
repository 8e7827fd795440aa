# SPDX-License-Identifier: GPL-2.0-or-later
"""Which bytes of an element each core reads and writes, in lines that cores take from each other."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from ...model.objects import ObjectGroup
from ...model.sharing import SharedLine
from ..data.sharing import SharedData
from .typed_groups import TypedGroup


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
    for use, core, first, bits in uses_of_elements(data, data.group, size, typed):
        masks[use][core] = masks[use].get(core, 0) | _folded(bits, first, size)
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
) -> set[tuple[Use, int, int, int]]:
    """What cores do with elements of `size` bytes, each once, as most lines of an array are used alike: the use, the
    core (-1 for several), the offset of a byte in its element, and from there on a bit for each byte."""
    return {
        (use, core, first % size, bits)
        for line in data.lines for use, core, mask in _uses_of(line)
        for first, bits in parts_of_elements(line, mask, group, typed)
    }


def _uses_of(line: SharedLine) -> Iterator[tuple[Use, int, int]]:
    """With the core and the bytes."""
    used = shared = 0
    for one in line.uses:
        yield Use.READ, one.core, one.read
        yield Use.WRITTEN, one.core, one.written
        shared |= used & one.bytes
        used |= one.bytes
    yield Use.SHARED, -1, shared


def parts_of_elements(
    line: SharedLine, mask: int, group: ObjectGroup, typed: TypedGroup | None
) -> Iterator[tuple[int, int]]:
    """Those of the bytes of a line that are in elements, which are bits of `mask`: the offset of the line's first one
    from the first element, and from there on a bit for each byte. typed: the type of the elements, if it is known."""
    if not line.object:
        return
    first = line.address - line.object - (typed.start if typed else 0)
    if first < 0:
        mask >>= -first
        first = 0
    end = _end_of_elements(group, typed)
    if end is not None:
        mask &= (1 << max(end - first, 0)) - 1
    if mask:
        yield first, mask


def number_of_elements(group: ObjectGroup, typed: TypedGroup) -> int | None:
    """How many elements each of the objects has; None if they differ in that."""
    if group.blocks is None:
        return max(group.identity.size // typed.type.size, 1)
    if typed.has_open_end or typed.only or group.blocks.smallest != group.blocks.largest:
        return None
    return max((group.blocks.largest - typed.start) // typed.type.size, 1)


def _end_of_elements(group: ObjectGroup, typed: TypedGroup | None) -> int | None:
    """How many bytes the elements of an object have; None if objects differ in that."""
    if typed is not None:
        number = number_of_elements(group, typed)
        return None if number is None else number * typed.type.size
    if group.blocks is None:
        return group.identity.size
    return group.blocks.largest if group.blocks.smallest == group.blocks.largest else None


def _folded(bits: int, first: int, size: int) -> int:
    """The bits, of which the lowest stands for byte `first` of an element of `size` bytes, by byte of the element."""
    bits <<= first
    found = 0
    while bits:
        found |= bits & ((1 << size) - 1)
        bits >>= size
    return found
