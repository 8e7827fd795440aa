# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of an element that were loaded and used, and where cache lines begin in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ...model.data_types import Type
from ...model.objects import ObjectGroup
from .folding import Span, folded

# The maximum size of an element in bytes: larger ones do not fit into a picture, and mostly are not elements.
MOST_ELEMENT = 1024
# The minimum common divisor of block sizes that counts as the size of an element: any numbers have small ones.
_LEAST_DIVISOR = 16
# Two bytes look alike if their shares of uses differ by at most this.
_LIKE = 0.1
# What is true for this share of the loads counts as always true, as a few lines are loaded in other ways.
ALWAYS = 0.95
# The patterns of longer lines are parts of this many bytes.
_MOST_PATTERN = 64


@dataclass(frozen=True, slots=True)
class Byte:
    """One byte of an element. loaded, used: how often it was, with a line."""

    loaded: int
    used: int
    borders: int  # how often a cache line began here
    is_padding: bool

    @property
    def share(self) -> float:
        """The share of its loads in which it was used, from 0 to 1."""
        return self.used / self.loaded if self.loaded else 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Patterns folded by the size of an element."""

    size: int  # of an element, in bytes
    reason: str  # why that is its size
    bytes: tuple[Byte, ...]
    unmapped: int  # parts of lines that are in no pattern
    knows_borders: bool  # whether it is known where lines begin
    # How often an element was loaded with a line, and how often only a part of it, as the rest is in another line. Both
    # are 0 if a line has no room for an element.
    loads: int
    cut: int


def layout(group: ObjectGroup, line: int | None, size: int | None = None) -> Layout | None:
    """How often each byte of an element was loaded and used; None if the size of an element is not known, or none was
    loaded. line: the bytes of a line of D1; None: not known. size: the bytes of an element, if the user gives them."""
    if not group.has_patterns:
        return None
    if size is not None:
        return _folded(group, line, size, "as asked for")
    size, reason = _known_size(group)
    if size:
        return _folded(group, line, size, reason)
    return _guessed(group, line)


def typed_layout(group: ObjectGroup, line: int | None, found: Type) -> Layout | None:
    """The same for elements whose type is known, and so their padding."""
    if not group.has_patterns:
        return None
    layout = _folded(group, line, found.size, "the size of its type")
    padding = padding_of(found)
    return replace(layout, bytes=tuple(
        replace(byte, is_padding=at in padding) for at, byte in enumerate(layout.bytes)
    ))


def padding_of(found: Type) -> set[int]:
    """The offsets of the bytes that are in no field; empty if the type has virtual bases, which may lie there."""
    if not found.fields or found.has_virtual_bases:
        return set()
    padding: set[int] = set()
    end = 0
    for field in sorted(found.fields, key=lambda field: field.offset):
        padding.update(range(end, field.offset))
        end = max(end, field.offset + field.size)
    padding.update(range(end, found.size))
    return padding


def _known_size(group: ObjectGroup) -> tuple[int, str]:
    """The size of an element in bytes, and why that is known; 0 if it is not."""
    blocks = group.blocks
    if blocks is None:
        if group.identity.size <= MOST_ELEMENT:
            return group.identity.size, "the size of the variable"
    elif blocks.smallest == blocks.largest and blocks.largest <= MOST_ELEMENT:
        return blocks.largest, "the size of every block"
    elif blocks.smallest == blocks.largest and 1 < blocks.divisor < blocks.smallest:
        return blocks.divisor if blocks.divisor <= MOST_ELEMENT else 0, "the size that calloc was asked for"
    return 0, ""


def _guessed(group: ObjectGroup, line: int | None) -> Layout | None:
    """The layout by the common divisor of the sizes of blocks, such as those of vectors that grow; None if there is
    none of a suitable size. If the two halves of an element look alike, these are taken for the elements."""
    blocks = group.blocks
    if blocks is None or blocks.smallest == blocks.largest:
        return None
    if not _LEAST_DIVISOR <= blocks.divisor <= MOST_ELEMENT:
        return None
    found = _folded(group, line, blocks.divisor, "all sizes of blocks are multiples of it")
    half, odd = divmod(found.size, 2)
    while not odd and half >= _LEAST_DIVISOR and all(map(_alike, found.bytes[:half], found.bytes[half:])):
        reason = "all sizes of blocks are multiples of it, and consecutive elements look the same"
        found = _folded(group, line, half, reason)
        half, odd = divmod(half, 2)
    return found


def _alike(one: Byte, other: Byte) -> bool:
    if bool(one.loaded) != bool(other.loaded) or bool(one.borders) != bool(other.borders):
        return False
    return abs(one.share - other.share) <= _LIKE


def _folded(group: ObjectGroup, line: int | None, size: int, reason: str) -> Layout:
    loaded, used = [0] * size, [0] * size
    spans: Counter[Span] = Counter()
    for (span, mask), times in folded(group.patterns, size).items():
        spans[span] += times
        while mask:
            lowest = mask & -mask
            used[(span.start + lowest.bit_length() - 1) % size] += times
            mask -= lowest
    loads = cut = 0
    fits = line is not None and size <= line <= _MOST_PATTERN
    for span, times in spans.items():
        for at in range(span.start, span.start + span.bytes):
            loaded[at % size] += times
        if fits:
            loads += times * -(-(span.start + span.bytes) // size)
            cut += times * _cut(span, size)
    knows_borders = line is None or line <= _MOST_PATTERN
    borders = _borders(group, line, size) if knows_borders else [0] * size
    found = (Byte(*counts, False) for counts in zip(loaded, used, borders))
    return Layout(size, reason, tuple(found), group.unmapped, knows_borders, loads, cut)


def _cut(span: Span, size: int) -> int:
    """How many elements the span has only a part of."""
    end = span.start + span.bytes
    if end < size:
        return 1
    return (span.start > 0) + (end % size > 0)


def _borders(group: ObjectGroup, line: int | None, size: int) -> list[int]:
    """How often a line began at each byte of an element. A line begins where a pattern does, unless that is only the
    beginning of a block."""
    borders = [0] * size
    for pattern in group.patterns:
        if pattern.bytes and (pattern.offset or pattern.bytes == line):
            borders[pattern.offset % size] += pattern.times
    return borders
