# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a section as columns: hundreds of thousands of named tuples would take eight times the memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import eq
from typing import Any, Generic, TypeVar, cast, overload

from .narrow import narrow

_Row = TypeVar("_Row", bound="tuple[Any, ...]")
_Value = TypeVar("_Value", bound="tuple[Any, ...]")


def maker(kind: type[_Row]) -> Callable[[Iterable[Any]], _Row]:
    """What makes a named tuple of this kind of its values. Called by its name, the class takes three times as long."""
    return cast(Callable[[Iterable[Any]], _Row], partial(tuple.__new__, kind))


class Rows(Sequence[_Row], Generic[_Row]):
    """Named tuples that are made whenever they are looked at. A slice shares the columns of the whole. It is equal to
    any sequence of the same rows."""

    __slots__ = ("_make", "_columns", "_start", "_stop")

    def __init__(self, kind: type[_Row], columns: Sequence[Sequence[Any]]) -> None:
        """kind: a named tuple; columns: of its fields, of equal length. They must not be modified."""
        self._make = maker(kind)
        self._columns = columns
        self._start, self._stop = 0, len(columns[0])

    @classmethod
    def of(cls, kind: type[_Row], rows: Iterable[Sequence[Any]]) -> Rows[_Row]:
        """Of these rows, each as a named tuple of this kind or as its values."""
        columns: list[Sequence[Any]] = [*map(_narrowed, zip(*rows))]
        return cls(kind, columns or [()] * len(cast(Any, kind)._fields))

    @property
    def columns(self) -> Sequence[Sequence[Any]]:
        """The values of each field."""
        if self._stop - self._start == len(self._columns[0]):
            return self._columns
        return [column[self._start : self._stop] for column in self._columns]

    def pieces(self, lengths: Iterable[int]) -> Iterator[Rows[_Row]]:
        """The first of the rows, the ones behind them and so on, so many in each."""
        start = self._start
        for length in lengths:
            yield self._part(start, start + length)
            start += length

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[_Row]:
        return map(self._make, zip(*self.columns))

    @overload
    def __getitem__(self, index: int) -> _Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[_Row]: ...

    def __getitem__(self, index: int | slice) -> _Row | Sequence[_Row]:
        chosen = range(self._start, self._stop)[index]
        if isinstance(chosen, int):
            return self._make([column[chosen] for column in self._columns])
        if chosen.step != 1:
            return [self._make([column[at] for column in self._columns]) for at in chosen]
        return self._part(chosen.start, chosen.stop)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _part(self, start: int, stop: int) -> Rows[_Row]:
        part = Rows.__new__(type(self))
        part._make, part._columns, part._start, part._stop = self._make, self._columns, start, stop
        return part


class RowColumns(Generic[_Row]):
    """Named tuples of a kind, or None, as columns. So they are pickled in a third of the time."""

    __slots__ = ("_rows", "_missing")

    def __init__(self, kind: type[_Row], rows: Sequence[_Row | None]) -> None:
        self._missing = [number for number, row in enumerate(rows) if row is None]
        self._rows = Rows.of(kind, (row for row in rows if row is not None))

    def rows(self) -> tuple[_Row | None, ...]:
        if not self._missing:
            return tuple(self._rows)
        missing, rows = {*self._missing}, iter(self._rows)
        return tuple([
            None if number in missing else next(rows) for number in range(len(self._rows) + len(missing))
        ])


class TableColumns(Generic[_Row, _Value]):
    """The same of a table whose keys and values are named tuples."""

    __slots__ = ("_keys", "_values")

    def __init__(self, key: type[_Row], value: type[_Value], table: Mapping[_Row, _Value]) -> None:
        self._keys = Rows.of(key, table)
        self._values = Rows.of(value, table.values())

    def table(self) -> dict[_Row, _Value]:
        return dict(zip(self._keys, self._values))


class CountRows(Sequence[tuple[int, ...]]):
    """Rows of counts that are made whenever they are looked at: a column of Rows whose values are such rows."""

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[array[int]]) -> None:
        """columns: one for each count of a row, of equal length, and one at least. They must not be modified."""
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return zip(*self.columns)

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> CountRows: ...

    def __getitem__(self, index: int | slice) -> tuple[int, ...] | CountRows:
        if isinstance(index, slice):
            return CountRows([column[index] for column in self.columns])
        return tuple([column[index] for column in self.columns])

    def sums(self) -> tuple[int, ...]:
        """The sum of each column."""
        return tuple(map(sum, self.columns))


def _narrowed(column: tuple[Any, ...]) -> Sequence[Any]:
    """The same in less memory if these are counts."""
    try:
        return narrow(column) if type(column[0]) is int else column
    except OverflowError:
        return column
