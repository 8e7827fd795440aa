# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the file on why lines were loaded beside a profile (docs/format.md)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import gt, itemgetter

from ..model.errors import FormatProblem, shorten
from ..model.narrow import zeros
from ..model.profile import Function
from ..model.rows import Rows, maker
from ..model.why import (
    NO_SCOPE, Cause, DataDistance, Depends, Distance, Inclusive, Order, Reuse, Sampled, Stay,
    StrideColumn, Why, with_scaled_reuses,
)
from ..model.why_merge import merge
from .columns import path_beside
from .sections import SectionReader, Table, number_of

PREFIX = "why."

_OWN_LINES = (
    "line", "d1-lines", "ll-lines", "sets", "history-sample", "reuse-sample", "order-sample", "least-distance",
)
_DISTANCES = {
    "distances": ("place", "bucket", "misses", "llmisses"),
    "data": ("group", "bucket", "misses", "llmisses"),
    "inclusive": ("function", "callee", "bucket", "misses", "llmisses"),
}
_HIT = "hit-"  # the beginning of the names of the same sections of hits
_SECTIONS = {
    **_DISTANCES,
    **{_HIT + name: columns for name, columns in _DISTANCES.items()},
    "reuses": ("place", "before", "evictor", "scope", "cause", "misses", "llmisses", "distance"),
    "orders": (
        "place", "scope", "inner", "accesses", "straddle-line", "straddle-page", "same", "near", "forward",
        "backward", "far", "runs", "stride1", "times1", "stride2", "times2", "stride3", "times3",
        "depends", "on", "weight", "access",
    ),
    "stays": ("place", "group", "lines", "unused", "late", "never"),
}
_CAUSES = {int(cause): cause for cause in Cause}
_DEPENDS = {int(depends): depends for depends in Depends}
# Buckets are quarter powers of two, up to 2^64 lines.
_MOST_BUCKETS = 4 * 64 + 1


def why_path(profile: str) -> str | None:
    """The path of the file on why lines were loaded beside a profile, or None. Both may be compressed."""
    return path_beside(profile, PREFIX)


def read_why(path: str) -> Why:
    """The reasons in a file; the sum of its parts, if it has several."""
    return merge(read_parts(path))


def read_parts(path: str) -> list[Why]:
    return _Reader.read(path)


class _Reader(SectionReader[Why]):
    what = "a file on why lines were loaded"
    plural = "files on why lines were loaded"
    first_line = "why"
    sections = _SECTIONS
    optional = frozenset({"access"})

    def _part(self) -> Why:
        headers, own, functions, places, names = self._places_head(_OWN_LINES)
        line, d1_lines, ll_lines, sets = (number_of(own, key) for key in _OWN_LINES[:4])
        scopes = [NO_SCOPE, *map(names.scope, self._names(self._section("scopes")))]
        found = self._sections()
        if "distances" not in found:
            raise FormatProblem("'distances:' is missing")
        rows = _Rows(found, len(places), len(scopes), functions)
        why = Why(
            (headers.part(self._source, ()),), line, d1_lines, ll_lines, sets,
            number_of(own, "history-sample", 1), number_of(own, "reuse-sample", 1),
            _sampled(own.get("order-sample", "0 0")),
            tuple(places), tuple(scopes), rows.distances(), rows.reuses(), rows.orders(), rows.stays(),
            rows.data(), rows.inclusive(),
        )
        if _HIT + "distances" in found:
            hits = _Rows(_of_hits(found), len(places), len(scopes), functions)
            least = number_of(own, "least-distance")
            why = replace(why, hits=_hits(why, hits), least_distance=least)
        return with_scaled_reuses(why) if why.reuse_sample > 1 else why


def _of_hits(found: Mapping[str, Table]) -> dict[str, Table]:
    return {name.removeprefix(_HIT): table for name, table in found.items() if name.startswith(_HIT)}


def _hits(why: Why, rows: _Rows) -> Why:
    return replace(
        why, distances=rows.distances(), data=rows.data(), inclusive=rows.inclusive(), reuses=None, orders=None,
        stays=None,
    )


class _Rows:
    """Turns sections into tuples of the model. FormatProblem: a number refers to nothing."""

    def __init__(
        self, found: Mapping[str, Table], places: int, scopes: int, functions: Sequence[Function]
    ) -> None:
        self._found = found
        self._places = places
        self._scopes = scopes
        self._functions = functions

    def distances(self) -> Rows[Distance]:
        columns = self._found["distances"].columns
        place, bucket, misses, last = columns
        self._check_all(place, self._places, "place")
        self._check_misses(bucket, misses, last)
        if any(map(gt, place, islice(place, 1, None))):
            return Rows.of(Distance, sorted(zip(*columns), key=itemgetter(0)))
        return Rows(Distance, columns)

    def data(self) -> Rows[DataDistance] | None:
        table = self._found.get("data")
        if table is None:
            return None
        group, bucket, misses, last = table.columns
        self._check_misses(bucket, misses, last)
        return Rows(DataDistance, (zeros(table.number), group, bucket, misses, last))

    def inclusive(self) -> Rows[Inclusive] | None:
        table = self._found.get("inclusive")
        if table is None:
            return None
        function, callee, bucket, misses, last = table.columns
        self._check_all(function, len(self._functions), "function")
        self._check_all(callee, len(self._functions), "function")
        self._check_misses(bucket, misses, last)
        if 0 in function:
            raise FormatProblem("inclusive: there is no function 0")
        open_ones = list(map(self._functions.__getitem__, function))
        called = list(map([None, *self._functions[1:]].__getitem__, callee))
        return Rows(Inclusive, (open_ones, called, bucket, misses, last))

    def _check_misses(self, bucket: array[int], misses: array[int], last: array[int]) -> None:
        self._check_all(bucket, _MOST_BUCKETS, "bucket")
        if any(map(gt, last, misses)):
            most, of = next((one, other) for one, other in zip(last, misses) if one > other)
            raise FormatProblem(f"{most:,} LL misses are more than the {of:,} misses they are part of")

    def _check_all(self, numbers: array[int], limit: int, what: str) -> None:
        self._check(max(numbers, default=0), limit, what)

    def reuses(self) -> tuple[Reuse, ...] | None:
        table = self._found.get("reuses")
        if table is None:
            return None
        place, before, evictor, scope, cause, misses, last, distance = table.columns
        if table.number and (
            max(max(place), max(before), max(evictor)) >= self._places or max(scope) >= self._scopes
            or not set(cause) <= _CAUSES.keys() or any(map(gt, last, misses))
        ):
            self._refuse_reuses(table)
        causes = map(_CAUSES.__getitem__, cause)
        return tuple(map(maker(Reuse), zip(place, before, evictor, scope, causes, misses, last, distance)))

    def _refuse_reuses(self, table: Table) -> None:
        """Raises a FormatProblem for the first row that is wrong."""
        for place, before, evictor, scope, cause, misses, last, _ in table.rows:
            for number in (place, before, evictor):
                self._check(number, self._places, "place")
            self._check(scope, self._scopes, "scope")
            if cause not in _CAUSES or last > misses:
                raise FormatProblem(f"reuses: impossible values: cause {cause}, {misses:,} misses, {last:,} of LL")

    def orders(self) -> Rows[Order] | None:
        table = self._found.get("orders")
        if table is None:
            return None
        place, scope, *others = table.columns
        steps, (depends, on, weight, access) = others[10:16], others[16:]
        if table.number and (max(max(place), max(on)) >= self._places or max(scope) >= self._scopes):
            for at, within, by in zip(place, scope, on):
                self._check(at, self._places, "place")
                self._check(by, self._places, "place")
                self._check(within, self._scopes, "scope")
        kinds = [_DEPENDS.get(one, Depends.UNKNOWN) for one in depends]
        return Rows(Order, (place, scope, *others[:10], StrideColumn(steps), kinds, on, weight, access))

    def stays(self) -> tuple[Stay, ...] | None:
        table = self._found.get("stays")
        if table is None:
            return None
        for place, _, _, unused, late, never in table.rows:
            self._check(place, self._places, "place")
            if late + never > unused:
                raise FormatProblem(
                    f"stays: {late:,} bytes used late and {never:,} never used are more than the {unused:,} unused"
                )
        return tuple(map(maker(Stay), table.rows))

    def _check(self, number: int, limit: int, what: str) -> None:
        if number >= limit:
            raise FormatProblem(f"there is no {what} {number}")


def _sampled(text: str) -> Sampled:
    words = text.split()
    if len(words) != 2 or not all(
        word.isascii() and word.isdigit() and len(word) <= 20 for word in words
    ):
        raise FormatProblem(
            f"order-sample: '{shorten(text)}' is not two numbers, the accesses looked at and all accesses"
        )
    return Sampled(*map(int, words))
