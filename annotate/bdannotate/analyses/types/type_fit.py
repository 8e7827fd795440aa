# SPDX-License-Identifier: GPL-2.0-or-later
"""How a type fits the sizes of heap blocks: as the type of their elements, which may follow a count that C++ puts
before them; or as the beginning of a block, if the type ends in a flexible array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...model.data_types import Field, Type
from ...model.objects import HeapBlocks, ObjectGroup, Pattern
from .source_types import Guess

# The C++ ABI puts n before the elements of new T[n] if T has a destructor. Types with a larger alignment than this need
# more bytes for it; they do not fit here.
_COUNT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Fit:
    """A type that fits the blocks of a group."""

    type: Type  # of an element, as it is in these blocks
    start: int = 0  # the offset of the first element in a block, in bytes
    has_open_end: bool = False  # whether its last field extends to the end of the block
    note: str = ""  # to be appended to the reason
    only: int = 0  # the size in bytes of the blocks that have this type; 0: all


def fit(found: Type, guess: Guess, group: ObjectGroup) -> Fit | None:
    """How a type fits the blocks of a group; None if the sizes rule it out. A few blocks may have other sizes, such as
    those that refill a pool."""
    blocks = group.blocks
    if blocks is None or not blocks.divisor:
        return None
    known = _fit(found, guess, group, blocks)
    if known is not None or not blocks.usual:
        return known
    usual = _fit(found, guess, group, _of_size(blocks, blocks.usual))
    note = f"; at least nine tenths of the blocks have {blocks.usual:,} bytes"
    return replace(usual, note=usual.note + note, only=blocks.usual) if usual else None


def _of_size(blocks: HeapBlocks, size: int) -> HeapBlocks:
    return blocks._replace(smallest=size, largest=size, divisor=size)


def _fit(found: Type, guess: Guess, group: ObjectGroup, blocks: HeapBlocks) -> Fit | None:
    last = _open_end(found)
    if last is not None:
        return _with_open_end(found, last, blocks)
    if guess.is_single:
        return Fit(found) if blocks.smallest == blocks.largest == found.size else None
    if blocks.divisor % found.size == 0:
        return Fit(found)
    # Whether there is a count depends on T only, so either all blocks have one or none has.
    function = group.identity.function
    is_counted = function is not None and function.name.startswith("operator new[]")
    if is_counted and all(_is_counted(size, found.size) for size in (blocks.smallest, blocks.largest)):
        return Fit(found, _COUNT_BYTES, note="; 8 bytes with their number come first")
    return None


def _is_counted(size: int, element: int) -> bool:
    return element > _COUNT_BYTES and size % element == _COUNT_BYTES


def _open_end(found: Type) -> Field | None:
    """The flexible array at the end of a type; None if there is none. Types with one cannot be elements of arrays."""
    return next((field for field in found.fields if not field.size and field.name.endswith("[]")), None)


def _with_open_end(found: Type, last: Field, blocks: HeapBlocks) -> Fit | None:
    """How a type with a flexible array fits: an element is a whole block, or an element of calloc, but for single
    bytes."""
    is_array = blocks.smallest == blocks.largest and blocks.divisor > 1
    size = blocks.divisor if is_array else blocks.largest
    if min(size, blocks.smallest) < last.offset:
        return None
    fields = tuple(
        field._replace(size=size - field.offset) if field is last else field for field in found.fields
    )
    note = f"; {last.name} goes on to the end of the block"
    return Fit(replace(found, size=size, fields=fields), has_open_end=True, note=note)


def elements_of(group: ObjectGroup, start: int, only: int = 0) -> ObjectGroup:
    """The group with patterns relative to the first element, which is at offset `start` of a block. only: the size of
    the blocks to keep, 0 for all. Patterns do not have the sizes of their blocks, so only those beyond that size are
    left out."""
    if only and group.blocks:
        patterns = tuple(pattern for pattern in group.patterns if pattern.offset + pattern.bytes <= only)
        group = replace(group, blocks=_of_size(group.blocks, only), patterns=patterns)
    return replace(group, patterns=tuple(_from(start, group.patterns))) if start else group


def _from(start: int, patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """The patterns without the first `start` bytes of each block."""
    for pattern in patterns:
        left_out = max(start - pattern.offset, 0)
        if not pattern.bytes:
            yield pattern
        elif left_out < pattern.bytes:
            yield pattern._replace(
                offset=max(pattern.offset - start, 0), bytes=pattern.bytes - left_out,
                used=pattern.used >> left_out,
            )
