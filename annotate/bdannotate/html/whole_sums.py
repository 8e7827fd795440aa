# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of whole columns. A column is one long integer whose digits are its values: Python adds two of these many times
as fast as it adds their digits one by one."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

from ..model.narrow import widened

_DIGIT = 8  # bytes
_SIGN = 1 << 8 * _DIGIT - 1


def rest_of_sum(values: array[int], parts: Iterable[tuple[array[int], int]]) -> array[int] | None:
    """What is left of each value without the parts in its row, each times its weight; None if that is always 0. Sums
    must be from -2^63 to below 2^63."""
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
    """The values as digits of one integer; up to 4 bytes wide, those in even and in odd rows as digits of two, as half
    of a digit is free then. width: bytes of the widest column."""
    data = _little(widened(column, _DIGIT if width == _DIGIT else _DIGIT // 2)).tobytes()
    number = int.from_bytes(data, "little")
    if width == _DIGIT:
        return [number]
    half = 4 * _DIGIT
    even = _repeated((1 << half) - 1, (len(column) + 1) // 2)
    return [number & even, number >> half & even]


def _signed(number: int, count: int) -> array[int]:
    """The digits of an integer, each of which may be below 0, from the lowest one on. count: how many there are."""
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
