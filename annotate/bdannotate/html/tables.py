# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of whole numbers as the page reads them: columns, each deflated for itself, so that one
can be read without the others, in base64.

A column begins with 8 bytes: the width of its values (1, 2, 4 or 8 bytes), 1 if they are floating-point numbers, as
they are where one of them is 2^64 or more, else 0, and 0s. The values follow, little-endian, and 0s up to the next
multiple of 8, so that the page can use most of them in place.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_CODES = ((1, "B", 1 << 8), (2, "H", 1 << 16), (4, "I", 1 << 32), (8, "Q", 1 << 64))
# What is below 0 is shown as 0: pictures have no room for less than nothing.
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, each with a name, that the page unpacks when a view needs them."""

    rows: int
    columns: Mapping[str, Sequence[int]]
    late: frozenset[str] = frozenset()  # columns that the first pictures do without


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[int]]) -> Table:
    columns = list(zip(*rows)) or [()] * len(names)
    return Table(len(columns[0]) if columns else 0, dict(zip(names, columns)))


def encoded_column(values: Sequence[int]) -> str:
    return _encoded(_column(values))


def encoded_text(text: str) -> str:
    return _encoded(text.encode("utf-8"))


def _encoded(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def _column(values: Sequence[int]) -> bytes:
    if min(values, default=0) < 0:
        values = [max(value, 0) for value in values]
    largest = max(values, default=0)
    found = next(((width, code) for width, code, limit in _CODES if largest < limit), None)
    data: array[int] | array[float]
    if found is not None:
        width, code = found
        data = array(code, values)
    else:
        # The page computes in such numbers anyway.
        width, data = 8, array("d", map(float, values))
    if sys.byteorder == "big":
        data.byteswap()
    raw = data.tobytes()
    return bytes([width, int(found is None)]) + bytes(_ALIGNMENT - 2) + raw + bytes(-len(raw) % _ALIGNMENT)

