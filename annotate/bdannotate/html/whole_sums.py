# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of whole columns. A column becomes one long integer with its values as digits: Python adds two of these many
times faster than it adds their values one by one."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

from ..model.narrow import widened

_DIGIT = 8  # bytes
_SIGN = 1 << 8 * _DIGIT - 1


def rest_of_sum(values: array[int], parts: Iterable[tuple[array[int], int]]) -> array[int] | None:
    """Subtracts from each value the weighted sum of the parts in its row; None if this leaves 0 everywhere. All results
    must fit into 64 bits with a sign."""
    parts = list(parts)
    width = max(column.itemsize for column in (values, *(column for column, _ in parts)))
    left = _digits(values, width)
    for column, weight in parts:
        left = [mine - weight * theirs for mine, theirs in zip(left, _digits(column, width))]
    if not any(left):
        return None
    found = array("q", bytes(_DIGIT * len(values)))
    for number, one in enumerate(left):
        found[number :: len(left)] = _signed(one, (len(values) - number + len(left) - 1) // len(left))
    return found


def _digits(column: array[int], width: int) -> list[int]:
    """The values as digits of one integer. If they are at most 4 bytes wide, those of even and of odd rows become the
    digits of two integers, so that half of each digit stays free. width: bytes of the widest column."""
    data = _little(widened(column, _DIGIT if width == _DIGIT else _DIGIT // 2)).tobytes()
    number = int.from_bytes(data, "little")
    if width == _DIGIT:
        return [number]
    half = 4 * _DIGIT
    even = _repeated((1 << half) - 1, (len(column) + 1) // 2)
    return [number & even, number >> half & even]


def _signed(number: int, count: int) -> array[int]:
    """The digits of an integer, which may be negative, the lowest first. count: how many there are."""
    signs = _repeated(_SIGN, count)
    found = array("q", (number + signs ^ signs).to_bytes(_DIGIT * count, "little"))
    return _little(found)


def _repeated(digit: int, count: int) -> int:
    return int.from_bytes(digit.to_bytes(_DIGIT, "little") * count, "little")


def _little(column: array[int]) -> array[int]:
    """The column in the other order of bytes where the machine's is not little-endian. It may be the same object."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column
