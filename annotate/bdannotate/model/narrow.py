# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns of counts in as few bytes each as their largest one takes: most counts of a large profile are 0, or small.

A column is an array of unsigned numbers; where it does not say otherwise, of 1, 2, 4 or 8 bytes.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}  # by the bytes of a value


def zeros(count: int, width: int = 1) -> array[int]:
    found = array(CODES[width])
    found.frombytes(bytes(width * count))
    return found


def narrow(values: Sequence[int]) -> array[int]:
    """Of counts from 0 to below 2^64; others are an OverflowError."""
    if isinstance(values, (bytes, bytearray)):
        return array("B", values)
    width = width_of(max(values, default=0))
    return array(CODES[width], values)


def width_of(largest: int) -> int:
    """Of values up to this one."""
    return next((width for width in CODES if largest < 1 << 8 * width), 8)


def extended(known: array[int], more: array[int]) -> array[int]:
    """Both behind each other, in the wider one's width: the first one itself if that is its width."""
    width = max(known.itemsize, more.itemsize)
    longer = widened(known, width)
    longer.extend(widened(more, width))
    return longer


def widened(column: array[int], width: int) -> array[int]:
    """The column itself if it is as wide already."""
    if column.itemsize == width:
        return column
    if sys.byteorder == "big":
        return array(CODES[width], column)
    # Byte by byte of all values at once: no number is made of any of them.
    data, old = column.tobytes(), column.itemsize
    wide = bytearray(width * len(column))
    for byte in range(old):
        wide[byte::width] = data[byte::old]
    return array(CODES[width], bytes(wide))


class Growing:
    """A column that is made piece by piece. Where a count does not fit 64 bits, or is below 0, it is a list."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: array[int] | list[int] = array("B")

    def extend(self, more: Sequence[int]) -> None:
        if isinstance(self.values, list):
            self.values += more
            return
        try:
            piece = narrow(more) if any(more) else zeros(len(more))
        except OverflowError:
            self.values = [*self.values, *more]
            return
        self.values = extended(self.values, piece)
