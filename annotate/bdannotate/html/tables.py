# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of whole numbers in a page. Each column is deflated by itself, so that it can be read without most others.

A column begins with a head of 8 bytes: the width of its values (1, 2, 4 or 8 bytes); 1 if they are floating-point
numbers, because one is 2^64 or more, else 0; its form; one byte for the width of its gaps or the number of columns that
it refers to, depending on the form; and 4 bytes, little-endian, for its number of values. Bytes that a form does not
use are 0. Values are written by bytes: first the lowest byte of all values, then the next one of all. As most of the
higher bytes are 0, this deflates to two thirds of the size, in a third of the time.

If a column refers to others, 4 bytes for each of these follow the head: its number in the table and a weight (from
-32768 to 32767), both in 2 bytes, little-endian. Then comes a whole column of another form.
"""

from __future__ import annotations

import enum
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, groupby
from operator import eq, not_, sub

from ..model.narrow import CODES, narrow, width_of, zeros
from .relations import order_for, sum_for
from .whole_sums import rest_of_sum

# Higher levels take twice the time and save only 2 % of the bytes.
_LEVEL = 4
# A column is sparse if it has at least _FEW values, and at least this share of them is 0.
_ZEROS = 0.25
_FEW = 64
_HEAD = 8
# Below this, the numbers of a page (doubles) are exact.
_EXACT = 1 << 53
_LARGEST_WEIGHT = (1 << 15) - 1
# At most so many orders of rows are kept for the columns to come.
_MOST_ORDERS = 4


class Form(enum.IntEnum):
    """How the values of a column are written. Differences are modulo 2 to the bits of their width."""

    PLAIN = 0
    STEPS = 1  # the difference to the value before
    RANKS = 2  # the number of the row, from 1, minus the value
    SPARSE = 3  # for each value that is not 0, the rows since the one before it (or since row -1); then these values
    # The rows in another order: first those that are not 0 in the first column referred to, sorted by their values in
    # it, then in the second one, then by number; then the other rows. Values missing at the end are 0.
    ORDERED = 4
    # The weighted sum of the columns referred to, plus the rest that follows: a rest r is written as 2r, or as -2r - 1
    # if it is negative.
    SUM = 5
    # A head only: each value is the sum of the column of the same name over the rows of another table that belong to
    # its row (schema.SUMS).
    GROUPED = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, by name. The page unpacks a column when a view needs it."""

    rows: int
    columns: Mapping[str, Sequence[int]]
    late: frozenset[str] = frozenset()  # columns that the page does not need for its first view
    forms: Mapping[str, Form] = field(default_factory=dict)  # of the columns that are not PLAIN
    alone: frozenset[str] = frozenset()  # columns that the page needs soon, written without reference to others


@dataclass(frozen=True, slots=True)
class PackedTable:
    """A table as it is written."""

    rows: int
    columns: Mapping[str, bytes]
    late: frozenset[str] = frozenset()
    refers: Mapping[str, Sequence[str]] = field(default_factory=dict)  # for each column, those needed to read it

    def with_late(self, late: Iterable[str]) -> PackedTable:
        """The table with these columns late, except those that are needed to read a column that is not late."""
        known = frozenset(late)
        waiting = [name for name in self.columns if name not in known]
        early: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in early:
                early.add(name)
                waiting += self.refers.get(name, ())
        return replace(self, late=frozenset(self.columns) - early)


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[int]]) -> Table:
    columns = list(zip(*rows)) or [()] * len(names)
    return Table(len(columns[0]) if columns else 0, dict(zip(names, columns)))


def packed(table: Table, parts: Table | None = None, by: Sequence[str] = ()) -> PackedTable:
    """Packs all columns. Negative values are written as 0, as no view can show less than nothing. parts: a table whose
    rows may add up to the rows of this one with equal values in the columns `by`."""
    columns = _Columns(table)
    sums = columns.sums_of(parts, by) if parts is not None else {}
    found, refers = {}, {}
    for name in table.columns:
        data, refers[name] = columns.written(name, table.forms.get(name, Form.PLAIN), sums.get(name))
        found[name] = deflated(data)
    return PackedTable(table.rows, found, refers=refers).with_late(table.late)


def deflated(data: bytes) -> bytes:
    return zlib.compress(data, _LEVEL)


class _Columns:
    """Writes the columns of a table, each in the form that takes least room."""

    def __init__(self, table: Table) -> None:
        self._rows = table.rows
        self._numbers = {name: number for number, name in enumerate(table.columns)}
        self._columns = table.columns
        self._alone = table.alone
        self._counts = {name: _counts(values) for name, values in table.columns.items()}
        self._exact = {
            name: values for name, values in self._counts.items()
            if values is not None and (values.itemsize < 8 or max(values, default=0) < _EXACT)
        }
        self._orders: dict[tuple[str, ...], array[int]] = {}

    def written(self, name: str, form: Form, sums: Sequence[int] | None) -> tuple[bytes, Sequence[str]]:
        """The bytes of a column, and the columns that it refers to. sums: what the parts add up to, or None."""
        values = self._counts[name]
        if values is None:
            # The page computes with doubles anyway.
            floats = array("d", [float(max(value, 0)) for value in self._columns[name]])
            return bytes([8, 1]) + bytes(_HEAD - 2) + _by_bytes(floats), ()
        if form in (Form.STEPS, Form.RANKS) and values.itemsize < 8:
            return _differences(values, form), ()
        if self._rows and sums is not None and name in self._exact and all(map(eq, sums, values)):
            return bytes([values.itemsize, 0, Form.GROUPED]) + bytes(_HEAD - 3), ()
        if self._rows >= _FEW and name in self._exact and name not in self._alone:
            weights = sum_for(name, self._exact)
            rest = self._rest(values, weights)
            if rest is not None:
                return self._head(values, Form.SUM, self._rows, weights) + _whole(rest), tuple(weights)
            order = order_for(name, self._exact)
            if order:
                kept = self._ordered(values, order)
                return self._head(values, Form.ORDERED, len(kept), dict.fromkeys(order, 0)) + _whole(kept), order
        return _whole(values), ()

    def sums_of(self, parts: Table, by: Sequence[str]) -> dict[str, list[int]]:
        """For each column and row, the sum over the parts with equal values in the columns `by`; empty if two rows are
        equal in these, or if a part belongs to no row."""
        places = {key: row for row, key in enumerate(zip(*(self._exact[name] for name in by)))}
        rows = [places.get(key, -1) for key in zip(*(parts.columns[name] for name in by))]
        found: dict[str, list[int]] = {}
        if len(places) < self._rows or -1 in rows:
            return found
        for name in self._exact:
            values = _counts(parts.columns.get(name, ()))
            if name not in by and values is not None and len(values) == len(rows):
                found[name] = sums = [0] * self._rows
                for row, value in zip(compress(rows, values), filter(None, values)):
                    sums[row] += value
        return found

    def _head(self, values: array[int], form: Form, count: int, refers: Mapping[str, int]) -> bytes:
        head = bytes([values.itemsize, 0, form, len(refers)]) + count.to_bytes(4, "little")
        return head + b"".join(
            self._numbers[name].to_bytes(2, "little") + weight.to_bytes(2, "little", signed=True)
            for name, weight in refers.items()
        )

    def _rest(self, values: array[int], weights: Mapping[str, int]) -> array[int] | None:
        """The values minus the weighted sum of other columns; None if there are no weights, if more than half of the
        rows differ, or if the sum may not be exact."""
        largest = sum(abs(weight) << 8 * self._exact[name].itemsize for name, weight in weights.items())
        if not weights or largest >= _EXACT or max(abs(weight) for weight in weights.values()) > _LARGEST_WEIGHT:
            return None
        rest = rest_of_sum(values, ((self._exact[name], weight) for name, weight in weights.items()))
        if rest is None:
            return zeros(self._rows)
        places = _places(rest)
        if 2 * len(places) > self._rows:
            return None
        kept = [2 * one if one >= 0 else -2 * one - 1 for one in map(rest.__getitem__, places)]
        found = zeros(self._rows, width_of(max(kept)))
        for place, one in zip(places, kept):
            found[place] = one
        return found

    def _ordered(self, values: array[int], names: tuple[str, ...]) -> array[int]:
        found = array(values.typecode, map(values.__getitem__, self._order(names)))
        if _nonzero(values) > _nonzero(found):
            found.extend(compress(values, map(not_, self._exact[names[0]])))
        return found

    def _order(self, names: tuple[str, ...]) -> array[int]:
        """The rows that are not 0 in the first of one or two columns, in the order of form ORDERED."""
        known = self._orders.pop(names, None)
        if known is None:
            by_first, *others = (self._exact[name].__getitem__ for name in names)
            if others:
                # Sorting the few rows of each count in the first column is faster than sorting all rows.
                groups = groupby(self._order(names[:1]), by_first)
                known = array("I", chain.from_iterable(sorted(same, key=others[0]) for _, same in groups))
            else:
                known = array("I", sorted(_places(self._exact[names[0]]), key=by_first))
        # Orders used last are the most likely to be used again.
        self._orders[names] = known
        while len(self._orders) > _MOST_ORDERS:
            self._orders.pop(next(iter(self._orders)))
        return known


def _nonzero(values: array[int]) -> int:
    return len(values) - values.count(0)


def _counts(values: Sequence[int]) -> array[int] | None:
    """The values in an array, negative ones as 0; None if one does not fit into 64 bits."""
    if isinstance(values, array):
        return values
    if min(values, default=0) < 0:
        values = [max(value, 0) for value in values]
    try:
        return narrow(values)
    except OverflowError:
        return None


def _differences(values: array[int], form: Form) -> bytes:
    width = values.itemsize
    before: Iterable[int] = chain((0,), values)
    told = map(sub, values, before) if form is Form.STEPS else map(sub, range(1, len(values) + 1), values)
    bits = (1 << 8 * width) - 1
    found = array(CODES[width], [one & bits for one in told])
    return bytes([width, 0, form]) + bytes(_HEAD - 3) + _by_bytes(found)


def _whole(values: array[int]) -> bytes:
    """A column that refers to no other one: SPARSE or PLAIN."""
    if len(values) >= _FEW:
        places = _places(values)
        if len(values) - len(places) >= _ZEROS * len(values):
            return _sparse(values, places)
    return bytes([values.itemsize]) + bytes(_HEAD - 1) + _by_bytes(values)


def _places(values: array[int]) -> array[int]:
    """The numbers of the rows that are not 0."""
    return array("I", compress(range(len(values)), values))


def _sparse(values: array[int], places: array[int]) -> bytes:
    """places: the numbers of the rows that are not 0."""
    gaps = narrow(list(map(sub, places, chain((-1,), places))))
    kept = array(values.typecode, map(values.__getitem__, places))
    head = bytes([values.itemsize, 0, Form.SPARSE, gaps.itemsize]) + len(kept).to_bytes(4, "little")
    return head + _by_bytes(gaps) + _by_bytes(kept)


def _by_bytes(values: array[int] | array[float]) -> bytes:
    data, width = values.tobytes(), values.itemsize
    order = range(width) if sys.byteorder == "little" else range(width - 1, -1, -1)
    return b"".join(data[byte::width] for byte in order)
