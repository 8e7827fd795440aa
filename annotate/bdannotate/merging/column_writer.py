# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the blocks of binary columns of the files beside a profile: docs/format.md."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..model.narrow import CODES, narrow

_BLOCK = 65_535


def section(name: str, columns: str, rows: Iterable[Sequence[int]]) -> Iterator[bytes]:
    """Rows of numbers from 0 to below 2^64."""
    yield f"{name}: {columns}\n".encode()
    left = iter(rows)
    number = 0
    while block := list(islice(left, _BLOCK)):
        number += len(block)
        yield len(block).to_bytes(2, "little")
        yield from map(_column, zip(*block))
    yield bytes(2) + number.to_bytes(8, "little")


def _column(values: Sequence[int]) -> bytes:
    """In the shortest form."""
    column = narrow(values)
    filled = len(values) - column.count(0)
    if not filled:
        return b"\0"
    width = column.itemsize
    if 2 + filled * (2 + width) >= width * len(values):
        return bytes([width]) + _little(column)
    at = array("H", (place for place, value in enumerate(values) if value))
    return (
        bytes([0x10 | width]) + filled.to_bytes(2, "little") + _little(at)
        + _little(array(CODES[width], filter(None, values)))
    )


def _little(column: array[int]) -> bytes:
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()
