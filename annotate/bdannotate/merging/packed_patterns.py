# SPDX-License-Identifier: GPL-2.0-or-later
"""Patterns of used bytes in a tenth of the memory, for ranks that wait to be joined."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from ..model.narrow import narrow
from ..model.objects import CodeLine, Objects, Pattern


class PackedPatterns(Sequence[Pattern]):
    """A sequence of patterns, which are made when they are asked for.

    lines: the source lines that may have loaded them.
    numbers: for each pattern, the index of its line in `lines`.
    """

    __slots__ = ("_columns", "_lines", "_numbers")

    def __init__(self, patterns: Sequence[Pattern], lines: Sequence[CodeLine], numbers: Sequence[int]) -> None:
        self._columns: list[array[int]] = [narrow(column) for column in zip(*(pattern[:4] for pattern in patterns))]
        self._lines = lines
        self._numbers = narrow(numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Pattern]:
        lines = self._lines
        for offset, size, used, times, number in zip(*self._columns, self._numbers):
            yield Pattern(offset, size, used, times, lines[number])

    @overload
    def __getitem__(self, place: int) -> Pattern: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Pattern]: ...

    def __getitem__(self, place: int | slice) -> Pattern | Sequence[Pattern]:
        if isinstance(place, slice):
            return tuple(self)[place]
        offset, size, used, times = (column[place] for column in self._columns)
        return Pattern(offset, size, used, times, self._lines[self._numbers[place]])


def with_packed_patterns(objects: Objects) -> Objects:
    """The objects with packed patterns. Raises OverflowError if a count has more than 64 bits."""
    numbers: dict[CodeLine, int] = {}
    known: dict[int, int] = {}  # by the object, whose names need not be compared
    for group in objects.groups:
        for pattern in group.patterns:
            if id(pattern.by) not in known:
                known[id(pattern.by)] = numbers.setdefault(pattern.by, len(numbers))
    lines = tuple(numbers)
    return replace(objects, groups=tuple(
        replace(group, patterns=PackedPatterns(
            group.patterns, lines, [known[id(pattern.by)] for pattern in group.patterns]
        )) if group.patterns else group
        for group in objects.groups
    ))
