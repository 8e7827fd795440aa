# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of one thing (a function, a line, a call) in each of many ranks, as exact statistics that can be joined.

Ranks are added in their order. All counts are whole numbers of any size, so the statistics are the same to the last
digit, whichever process adds which ranks. Most things cost the same in rank after rank; of these, only runs of equal
rows are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, gt, lt, mul

from ..model.profile import Row
from ..model.ranks import Spread


class RankRows:
    """The rows of a thing, from the first rank that has it to the last one so far. Its cost is 0 in ranks between that
    lack it."""

    __slots__ = ("_begin", "_row", "_since", "_next", "_sums", "_squares", "_least", "_least_at", "_most", "_most_at")

    def __init__(self, row: Row, begin: int, end: int) -> None:
        """The thing has this row in the ranks from `begin` to before `end`."""
        self._begin = begin
        # The run of equal rows that is not among the sums yet.
        self._row = row
        self._since = begin
        self._next = end
        # Of all runs before; without zeros at the end of a row.
        self._sums: Row | None = None
        self._squares: Row = ()
        self._least: Row = ()
        self._least_at: Row = ()
        self._most: Row = ()
        self._most_at: Row = ()

    def __reduce__(self) -> tuple[object, ...]:
        return _remade, tuple(getattr(self, name) for name in self.__slots__)

    def add(self, row: Row, begin: int, end: int) -> None:
        """Add a row for the ranks from `begin` to before `end`, which follow all ranks so far."""
        if begin > self._next:
            self._add_run((0,) * len(row), self._next, begin)
        self._add_run(row, begin, end)

    def append(self, other: RankRows) -> None:
        """Add what later ranks have. `other` must not be used afterwards."""
        if other._sums is None:
            self.add(other._row, other._since, other._next)
            return
        if other._begin > self._next:
            self._add_run((0,) * len(other._row), self._next, other._begin)
        self._close_run()
        other._close_run()
        self._join(other._sums, other._squares, other._least, other._least_at, other._most, other._most_at,
                   other._begin)
        self._row, self._since, self._next = other._row, other._next, other._next

    def shift(self, by: int) -> None:
        """Increase the numbers of all ranks."""
        self._begin += by
        self._since += by
        self._next += by
        self._least_at = tuple(at + by for at in self._least_at)
        self._most_at = tuple(at + by for at in self._most_at)

    def sums(self) -> Row:
        times = self._next - self._since
        last = tuple(count * times for count in self._row)
        return last if self._sums is None else tuple(map(add, last, _longer(self._sums, len(last))))

    def varying(self, ranks: int) -> list[tuple[int, Spread]]:
        """The counts that are not equal in all ranks, by their position in the row. ranks: how many there are."""
        whole: RankRows = self
        zero = (0,) * len(self._row)
        if self._begin > 0:
            whole = RankRows(zero, 0, self._begin)
            whole.append(self)
        if whole._next < ranks:
            whole._add_run(zero, whole._next, ranks)
        if whole._sums is None:
            return []
        whole._close_run()
        columns = zip(
            whole._sums or (), whole._squares, whole._least, whole._least_at, whole._most, whole._most_at
        )
        return [
            (place, Spread(*numbers)) for place, numbers in enumerate(columns) if numbers[2] != numbers[4]
        ]

    def _add_run(self, row: Row, begin: int, end: int) -> None:
        if row != self._row:
            self._close_run()
            self._row, self._since = row, begin
        self._next = end

    def _close_run(self) -> None:
        times, since = self._next - self._since, self._since
        if times == 0:
            return
        row = _trimmed(self._row)
        sums = row if times == 1 else tuple(count * times for count in row)
        here = (since,) * len(row)
        self._join(sums, tuple(map(mul, sums, row)), row, here, row, here, since)
        self._since = self._next

    def _join(
        self, sums: Row, squares: Row, least: Row, least_at: Row, most: Row, most_at: Row, begin: int
    ) -> None:
        """Add the statistics of later ranks, which begin at `begin`."""
        if self._sums is None:
            self._sums, self._squares = sums, squares
            self._least, self._least_at, self._most, self._most_at = least, least_at, most, most_at
            return
        width = len(sums)
        if len(self._sums) != width:
            width = max(width, len(self._sums))
            sums, squares, least, most = (_longer(row, width) for row in (sums, squares, least, most))
            least_at, most_at = _longer(least_at, width, begin), _longer(most_at, width, begin)
            self._sums, self._squares = _longer(self._sums, width), _longer(self._squares, width)
            self._least, self._most = _longer(self._least, width), _longer(self._most, width)
            self._least_at = _longer(self._least_at, width, self._begin)
            self._most_at = _longer(self._most_at, width, self._begin)
        self._sums = tuple(map(add, self._sums, sums))
        self._squares = tuple(map(add, self._squares, squares))
        # After some ranks, few have less or more than all before them.
        if any(lower := list(map(lt, least, self._least))):
            self._least = _replaced(self._least, least, lower)
            self._least_at = _replaced(self._least_at, least_at, lower)
        if any(higher := list(map(gt, most, self._most))):
            self._most = _replaced(self._most, most, higher)
            self._most_at = _replaced(self._most_at, most_at, higher)


def _remade(*values: object) -> RankRows:
    found = RankRows.__new__(RankRows)
    for name, value in zip(RankRows.__slots__, values):
        setattr(found, name, value)
    return found


def _replaced(row: Row, new: Row, where: Sequence[bool]) -> Row:
    return tuple([other if there else one for one, other, there in zip(row, new, where)])


def _trimmed(row: Row) -> Row:
    width = len(row)
    while width and not row[width - 1]:
        width -= 1
    return row[:width]


def _longer(row: Row, width: int, fill: int = 0) -> Row:
    return row + (fill,) * (width - len(row))
