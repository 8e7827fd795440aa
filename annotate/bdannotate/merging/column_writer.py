# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the blocks of binary columns of the files beside a profile: docs/format.md."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..model.narrow import CODES, narrow

_MOST_ROWS = 65_535  # of a block


def section(name: str, columns: str, rows: Iterable[Sequence[int]]) -> Iterator[bytes]:
    """The blocks of a section, and the number of its rows. Numbers are from 0 to below 2^64."""
    yield f"{name}: {columns}\n".encode()
    yield from counted_blocks(rows)


def counted_blocks(rows: Iterable[Sequence[int]]) -> Iterator[bytes]:
    """The blocks of rows, and the number of these rows behind them."""
    number = 0

    def passed() -> Iterator[Sequence[int]]:
        nonlocal number
        for number, row in enumerate(rows, 1):
            yield row

    yield from blocks(passed())
    yield number.to_bytes(8, "little")


def blocks(rows: Iterable[Sequence[int]], most: int = _MOST_ROWS) -> Iterator[bytes]:
    """The rows in blocks. most: the maximum number of rows in a block, up to 65,535. Each column is as wide as the
    largest number of the block."""
    left = iter(rows)
    while block := list(islice(left, most)):
        yield len(block).to_bytes(2, "little")
        yield from map(_column, zip(*block))
    yield bytes(2)


def _column(values: Sequence[int]) -> bytes:
    """A column in its shortest form."""
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
