# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes why lines were loaded as docs/format.md describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..model.errors import UserError
from ..model.why import DataDistance, Inclusive, Instruction, Order, Scope, ScopeKind, Why
from .column_writer import section
from .file_head import MergedHead, NameLists, run_lines
from .objects_file import GroupKey

_ORDER_COLUMNS = (
    "place scope inner access accesses straddle-line straddle-page same near forward backward far runs "
    "stride1 times1 stride2 times2 stride3 times3 depends on weight"
)
_DISTANCE_COLUMNS = "place bucket misses llmisses"
_DATA_COLUMNS = "group bucket misses llmisses"
_INCLUSIVE_COLUMNS = "function callee bucket misses llmisses"
_MOST_STRIDES = 3
_WHOLE = 1 << 64


def why_text(
    why: Why, meant: Sequence[GroupKey], head: MergedHead, groups: Mapping[GroupKey, int]
) -> Iterator[bytes]:
    """The file. It has the same bytes for the same sums, whatever their order.

    meant: the meaning of the numbers of groups, from 1.
    groups: their numbers in the file of data objects beside it.
    """
    try:
        yield from _text(why, meant, head, groups)
    except OverflowError:
        raise UserError("sums of causes are of 64 bits and more") from None


def _text(why: Why, meant: Sequence[GroupKey], head: MergedHead, groups: Mapping[GroupKey, int]) -> Iterator[bytes]:
    lists = _Lists(why)
    yield "".join(["why: 1\n", *run_lines(head), *_own_lines(why), lists.text()]).encode("utf-8", "surrogateescape")
    place, scope = lists.places, lists.scopes
    known = [0, *(groups.get(key, 0) for key in meant)]

    def group(number: int) -> int:
        return known[number] if number < len(known) else 0

    yield from section("distances", _DISTANCE_COLUMNS, _distances(why, place))
    if why.reuses is not None:
        yield from section("reuses", "place before evictor scope cause misses llmisses distance", sorted(
            (place[row.place], place[row.before], place[row.evictor], scope[row.scope], *row[4:]) for row in why.reuses
        ))
    if why.stays is not None:
        yield from section("stays", "place group lines unused late never", sorted(
            (place[row.place], group(row.group), *row[2:]) for row in why.stays
        ))
    if why.data is not None:
        yield from section("data", _DATA_COLUMNS, _data(why.data, group))
    if why.inclusive is not None:
        yield from section("inclusive", _INCLUSIVE_COLUMNS, _inclusive(why.inclusive, lists))
    if why.hits is not None:
        yield from _hits(why.hits, lists, group)
    if why.orders is not None:
        yield from section("orders", _ORDER_COLUMNS, sorted(_order(row, place, scope) for row in why.orders))


def _hits(hits: Why, lists: _Lists, group: Callable[[int], int]) -> Iterator[bytes]:
    yield from section("hit-distances", _DISTANCE_COLUMNS, _distances(hits, lists.numbers_of(hits)))
    if hits.data is not None:
        yield from section("hit-data", _DATA_COLUMNS, _data(hits.data, group))
    if hits.inclusive is not None:
        yield from section("hit-inclusive", _INCLUSIVE_COLUMNS, _inclusive(hits.inclusive, lists))


def _distances(why: Why, place: Sequence[int]) -> list[tuple[int, ...]]:
    return sorted((place[row.place], row.bucket, row.misses, row.last_level) for row in why.distances)


def _data(rows: Iterable[DataDistance], group: Callable[[int], int]) -> list[tuple[int, ...]]:
    return sorted((group(row.group), *row[2:]) for row in rows)


def _inclusive(rows: Iterable[Inclusive], lists: _Lists) -> list[tuple[int, ...]]:
    numbers = lists.names.functions
    return sorted((numbers[row.function], 0 if row.callee is None else numbers[row.callee], *row[2:]) for row in rows)


def _own_lines(why: Why) -> Iterator[str]:
    yield f"line: {why.line}\nd1-lines: {why.d1_lines}\nll-lines: {why.ll_lines}\nsets: {why.sets}\n"
    if why.hits is not None:
        yield f"least-distance: {why.least_distance}\n"
    if why.stays is not None:
        yield f"history-sample: {why.history_sample}\n"
    if why.reuses is not None:
        yield f"reuse-sample: {why.reuse_sample}\n"
    if why.orders is not None:
        yield f"order-sample: {why.order_sample.seen} {why.order_sample.of}\n"


def _order(row: Order, place: list[int], scope: list[int]) -> tuple[int, ...]:
    strides = [*row.strides, *[(0, 0)] * _MOST_STRIDES][:_MOST_STRIDES]
    return (
        place[row.place], scope[row.scope], row.inner, row.access, *row[3:12],
        *(number for step, times in strides for number in (step % _WHOLE, times)),
        row.depends, place[row.on], row.weight,
    )


class _Lists:
    """The lists of places and scopes. places, scopes: the numbers here, by the numbers that the sums have."""

    def __init__(self, why: Why) -> None:
        hits = why.hits.places if why.hits else ()
        known = list(dict.fromkeys(place for place in (*why.places, *hits) if place is not None))
        functions = {place.function for place in (*known, *(scope.place for scope in why.scopes[1:]))}
        for row in (*(why.inclusive or ()), *(why.hits and why.hits.inclusive or ())):
            functions.add(row.function)
            if row.callee is not None:
                functions.add(row.callee)
        files = {place.file for place in (*known, *(scope.place for scope in why.scopes[1:]))}
        self.names = NameLists(dict.fromkeys(functions, 0), files)
        self._places = sorted(known)
        self._scopes = sorted(why.scopes[1:], key=lambda scope: (scope.kind.value, scope.place))
        self._numbers = {place: number for number, place in enumerate(self._places, 1)}
        self.places = self.numbers_of(why)
        scope_number = {scope: number for number, scope in enumerate(self._scopes, 1)}
        self.scopes = [0, *(scope_number[scope] for scope in why.scopes[1:])]

    def numbers_of(self, why: Why) -> list[int]:
        """The numbers of the places of `why`, which is that of the lists or its hits."""
        return [0 if place is None else self._numbers[place] for place in why.places]

    def text(self) -> str:
        places, scopes = map(self._place, self._places), map(self._scope, self._scopes)
        return "".join([
            self.names.text(), f"places: {len(self._places)}\n", *places, f"scopes: {len(self._scopes)}\n", *scopes,
        ])

    def _place(self, place: Instruction) -> str:
        return f"{self.names.functions[place.function]} {self.names.files[place.file]} {place.line} {place.address}\n"

    def _scope(self, scope: Scope) -> str:
        if scope.kind is ScopeKind.CALL:
            return f"call {self.names.functions[scope.place.function]}\n"
        return f"loop {self._place(scope.place)}"
