# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns of counts with as few bytes per count as the largest one needs: most counts of a large profile are 0 or
small.

A column is an array of unsigned numbers of 1, 2, 4 or 8 bytes, unless stated otherwise.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}  # by the bytes of a value


def zeros(count: int, width: int = 1) -> array[int]:
    """A column of `count` zeros of `width` bytes each."""
    found = array(CODES[width])
    found.frombytes(bytes(width * count))
    return found


def narrow(values: Sequence[int]) -> array[int]:
    """The column of these counts. Raises OverflowError unless all are from 0 to below 2^64."""
    if isinstance(values, (bytes, bytearray)):
        return array("B", values)
    width = width_of(max(values, default=0))
    return array(CODES[width], values)


def width_of(largest: int) -> int:
    """The bytes per value of a column whose largest value is this one, at most 8."""
    return next((width for width in CODES if largest < 1 << 8 * width), 8)


def extended(known: array[int], more: array[int]) -> array[int]:
    """The two columns joined, in the wider one's width. `known` itself is extended if it has that width."""
    width = max(known.itemsize, more.itemsize)
    longer = widened(known, width)
    longer.extend(widened(more, width))
    return longer


def widened(column: array[int], width: int) -> array[int]:
    """The column with `width` bytes per value, at least as many as before; the column itself if it has these."""
    if column.itemsize == width:
        return column
    if sys.byteorder == "big":
        return array(CODES[width], column)
    # Copy the same byte of all values at a time, without making a Python number of any value.
    data, old = column.tobytes(), column.itemsize
    wide = bytearray(width * len(column))
    for byte in range(old):
        wide[byte::width] = data[byte::old]
    return array(CODES[width], bytes(wide))


class Growing:
    """A column that grows piece by piece. It becomes a list if a count is negative or does not fit 64 bits."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: array[int] | list[int] = array("B")

    def extend(self, more: Sequence[int]) -> None:
        if isinstance(self.values, list):
            self.values += more
            return
        try:
            self.values = extended(self.values, _like(self.values, more))
        except OverflowError:
            self.values = [*self.values, *more]


def _like(column: array[int], more: Sequence[int]) -> array[int]:
    """The column of these counts, at least as wide as it needs to be: where they fit, which need not be looked for, as
    wide as this one. Raises OverflowError as `narrow` does."""
    if not any(more):
        return zeros(len(more))
    try:
        return array(column.typecode, more)
    except OverflowError:
        return narrow(more)
