# SPDX-License-Identifier: GPL-2.0-or-later
"""How a type goes with the sizes of heap blocks: as their elements, behind a number that C++ puts
before them, or as their beginning, where it ends in an array of any length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...model.data_types import Field, Type
from ...model.objects import HeapBlocks, ObjectGroup, Pattern
from .source_types import Guess

# Of the C++ ABI: before the elements of new T[n] stands n, if T has a destructor. Of types that are
# aligned to more than this, it takes more; they have no type here.
_COUNT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Fit:
    type: Type  # of an element, as it is in these blocks
    start: int = 0  # where in a block the first element is, in bytes
    has_open_end: bool = False  # its last field goes on to the end of the block
    note: str = ""
    only: int = 0  # it is the blocks of this size that have it; 0: all


def fit(found: Type, guess: Guess, group: ObjectGroup) -> Fit | None:
    """None where the sizes say that it is not so. A few blocks may be of other sizes, as those are that refill a
    pool."""
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
    # Whether there is a number depends on T alone. So it is in all blocks, if it is in one.
    function = group.identity.function
    is_counted = function is not None and function.name.startswith("operator new[]")
    if is_counted and all(_is_counted(size, found.size) for size in (blocks.smallest, blocks.largest)):
        return Fit(found, _COUNT_BYTES, note="; 8 bytes with their number come first")
    return None


def _is_counted(size: int, element: int) -> bool:
    return element > _COUNT_BYTES and size % element == _COUNT_BYTES


def _open_end(found: Type) -> Field | None:
    """An array of any length; no array has elements that end so."""
    return next((field for field in found.fields if not field.size and field.name.endswith("[]")), None)


def _with_open_end(found: Type, last: Field, blocks: HeapBlocks) -> Fit | None:
    """An element is a block, or what calloc was asked for, unless that is bytes."""
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
    """With its patterns from where its first element is; of blocks of one size only, as far as patterns tell: what lies
    behind that size is none of theirs."""
    if only and group.blocks:
        patterns = tuple(pattern for pattern in group.patterns if pattern.offset + pattern.bytes <= only)
        group = replace(group, blocks=_of_size(group.blocks, only), patterns=patterns)
    return replace(group, patterns=tuple(_from(start, group.patterns))) if start else group


def _from(start: int, patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    for pattern in patterns:
        left_out = max(start - pattern.offset, 0)
        if not pattern.bytes:
            yield pattern
        elif left_out < pattern.bytes:
            yield pattern._replace(
                offset=max(pattern.offset - start, 0), bytes=pattern.bytes - left_out,
                used=pattern.used >> left_out,
            )
