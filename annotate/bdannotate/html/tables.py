# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of whole numbers as the page reads them: columns, each deflated for itself, so that one can be read without
most of the others.

A column begins with 8 bytes: the width of its values (1, 2, 4 or 8 bytes); 1 if they are floating-point numbers, as
they are where one of them is 2^64 or more, else 0; its form; then, as far as its form has them, the width of its gaps,
or how many columns it refers to; and in 4 bytes, little-endian, how many values it has; else 0s. Numbers are written
byte by byte: first the lowest byte of all, then the next one of all. Most of the higher bytes are 0, so that this takes
two thirds of the room and a third of the time to deflate.

A column that refers to others has behind these bytes, of each in 4 bytes, little-endian, its number in the table, and a
weight, from -32768 to 32767. Then follows a whole column of another form.
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

# Beyond it, deflating takes twice the time for two in a hundred bytes.
_LEVEL = 4
# So many of the values must be 0, of so many at least, for a column to be sparse.
_ZEROS = 0.25
_FEW = 64
_HEAD = 8
# A page computes exactly below it.
_EXACT = 1 << 53
_LARGEST_WEIGHT = (1 << 15) - 1
# Orders that are kept while other columns are written.
_MOST_ORDERS = 4


class Form(enum.IntEnum):
    """How values are written. Differences are without the bits that the width has no room for."""

    PLAIN = 0
    STEPS = 1  # what is added to the value before
    RANKS = 2  # how much less than the number of its row, from 1, a value is
    SPARSE = 3  # how far each value that is not 0 is from the one before it, or from row -1; then these values
    # In another order of the rows: those that are not 0 in the first column that it refers to, by their values there,
    # then by those in the next one, then by their numbers; behind them the others. What is not there is 0.
    ORDERED = 4
    # The sum of the columns that it refers to, each times its weight, and of what follows: twice a number from 0 on,
    # or twice what is below 0, with its sign turned, less 1.
    SUM = 5
    # Without anything behind its head: the sum of the column of the same name in another table, of the rows there that
    # belong to a row here (schema.SUMS).
    GROUPED = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, each with a name, that the page unpacks when a view needs them."""

    rows: int
    columns: Mapping[str, Sequence[int]]
    late: frozenset[str] = frozenset()  # columns that the first pictures do without
    forms: Mapping[str, Form] = field(default_factory=dict)  # those whose values tell more of each other than zeros
    alone: frozenset[str] = frozenset()  # columns that a page needs soon: they do not wait for others


@dataclass(frozen=True, slots=True)
class PackedTable:
    """The same as it is written."""

    rows: int
    columns: Mapping[str, bytes]
    late: frozenset[str] = frozenset()
    refers: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of a column, the others that it is read with

    def with_late(self, late: Iterable[str]) -> PackedTable:
        """Those of these that no other column is read with."""
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
    """What is below 0 is written as 0: pictures have no room for less than nothing. parts: whose rows may add up to
    those of the table that have the same in these columns."""
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
    """Those of a table, as they are written."""

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
        """And the columns that it refers to."""
        values = self._counts[name]
        if values is None:
            # The page computes in such numbers anyway.
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
        """Of the rows of the parts that have the same in these columns as one here; nothing where some have not."""
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
        """What the others do not tell of them; None if that is not little."""
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
        """Rows that are not 0 in the first of one or two columns."""
        known = self._orders.pop(names, None)
        if known is None:
            by_first, *others = (self._exact[name].__getitem__ for name in names)
            if others:
                # Rows with the same count in the first column are few, and sorted sooner than all.
                groups = groupby(self._order(names[:1]), by_first)
                known = array("I", chain.from_iterable(sorted(same, key=others[0]) for _, same in groups))
            else:
                known = array("I", sorted(_places(self._exact[names[0]]), key=by_first))
        # The last ones are those that are asked for again.
        self._orders[names] = known
        while len(self._orders) > _MOST_ORDERS:
            self._orders.pop(next(iter(self._orders)))
        return known


def _nonzero(values: array[int]) -> int:
    return len(values) - values.count(0)


def _counts(values: Sequence[int]) -> array[int] | None:
    """None if one of them does not fit 64 bits."""
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
    """A column that needs no other one."""
    if len(values) >= _FEW:
        places = _places(values)
        if len(values) - len(places) >= _ZEROS * len(values):
            return _sparse(values, places)
    return bytes([values.itemsize]) + bytes(_HEAD - 1) + _by_bytes(values)


def _places(values: array[int]) -> array[int]:
    """The rows that are not 0."""
    return array("I", compress(range(len(values)), values))


def _sparse(values: array[int], places: array[int]) -> bytes:
    """places: the rows that are not 0."""
    gaps = narrow(list(map(sub, places, chain((-1,), places))))
    kept = array(values.typecode, map(values.__getitem__, places))
    head = bytes([values.itemsize, 0, Form.SPARSE, gaps.itemsize]) + len(kept).to_bytes(4, "little")
    return head + _by_bytes(gaps) + _by_bytes(kept)


def _by_bytes(values: array[int] | array[float]) -> bytes:
    data, width = values.tobytes(), values.itemsize
    order = range(width) if sys.byteorder == "little" else range(width - 1, -1, -1)
    return b"".join(data[byte::width] for byte in order)
