# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of whole numbers as the page reads them: columns, each deflated for itself, so that one
can be read without the others, in base64.

A column begins with 8 bytes: the width of its values (1, 2, 4 or 8 bytes); 1 if they are floating-point numbers, as
they are where one of them is 2^64 or more, else 0; its form; of a sparse one, the width of its gaps, and in 4 bytes,
little-endian, how many values it has; else 0s. Numbers are written byte by byte: first the lowest byte of all, then the
next one of all. Most of the higher bytes are 0, so that this takes two thirds of the room and a third of the time to
deflate.
"""

from __future__ import annotations

import base64
import enum
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from operator import sub

from ..model.narrow import CODES, narrow

# Beyond it, deflating takes twice the time for two in a hundred bytes.
_LEVEL = 4
# So many of the values must be 0, of so many at least, for a column to be sparse.
_ZEROS = 0.25
_FEW = 64
_HEAD = 8


class Form(enum.IntEnum):
    """How values are written. Differences are without the bits that the width has no room for."""

    PLAIN = 0
    STEPS = 1  # what is added to the value before
    RANKS = 2  # how much less than the number of its row, from 1, a value is
    SPARSE = 3  # how many 0s stand before each other value; then these values


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, each with a name, that the page unpacks when a view needs them."""

    rows: int
    columns: Mapping[str, Sequence[int]]
    late: frozenset[str] = frozenset()  # columns that the first pictures do without
    forms: Mapping[str, Form] = field(default_factory=dict)  # those whose values tell more of each other than zeros


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[int]]) -> Table:
    columns = list(zip(*rows)) or [()] * len(names)
    return Table(len(columns[0]) if columns else 0, dict(zip(names, columns)))


def encoded_column(values: Sequence[int], form: Form = Form.PLAIN) -> str:
    """What is below 0 is written as 0: pictures have no room for less than nothing."""
    return _encoded(_column(values, form))


def encoded_text(text: str) -> str:
    return _encoded(text.encode("utf-8"))


def _encoded(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode("ascii")


def _column(values: Sequence[int], form: Form) -> bytes:
    if not isinstance(values, array):
        if min(values, default=0) < 0:
            values = [max(value, 0) for value in values]
        try:
            values = narrow(values)
        except OverflowError:
            # The page computes in such numbers anyway.
            return bytes([8, 1]) + bytes(_HEAD - 2) + _by_bytes(array("d", map(float, values)))
    width, rows = values.itemsize, len(values)
    if form in (Form.STEPS, Form.RANKS) and width < 8:
        before: Iterable[int] = chain((0,), values)
        told = map(sub, values, before) if form is Form.STEPS else map(sub, range(1, rows + 1), values)
        bits = (1 << 8 * width) - 1
        found = array(CODES[width], [one & bits for one in told])
        return bytes([width, 0, form]) + bytes(_HEAD - 3) + _by_bytes(found)
    if rows >= _FEW and values.count(0) >= _ZEROS * rows:
        return _sparse(values)
    return bytes([width]) + bytes(_HEAD - 1) + _by_bytes(values)


def _sparse(values: array[int]) -> bytes:
    places = list(compress(range(len(values)), values))
    behind = chain((0,), (place + 1 for place in places))
    gaps = narrow(list(map(sub, places, behind)))
    kept = array(values.typecode, filter(None, values))
    head = bytes([values.itemsize, 0, Form.SPARSE, gaps.itemsize]) + len(kept).to_bytes(4, "little")
    return head + _by_bytes(gaps) + _by_bytes(kept)


def _by_bytes(values: array[int] | array[float]) -> bytes:
    data, width = values.tobytes(), values.itemsize
    order = range(width) if sys.byteorder == "little" else range(width - 1, -1, -1)
    return b"".join(data[byte::width] for byte in order)
