# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads why lines were loaded, the file beside a profile that docs/format.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.errors import FormatProblem, shorten
from ..model.profile import Function
from ..model.why import (
    NO_SCOPE, Cause, DataDistance, Depends, Distance, Inclusive, Instruction, Order, Reuse, Sampled,
    Scope, Stay, Why, merge, with_scaled_reuses,
)
from .columns import path_beside
from .sections import SectionReader, Table, number_of

PREFIX = "why."

_OWN_LINES = ("line", "d1-lines", "ll-lines", "sets", "history-sample", "reuse-sample", "order-sample")
_SECTIONS = {
    "distances": ("place", "bucket", "misses", "llmisses"),
    "reuses": ("place", "before", "evictor", "scope", "cause", "misses", "llmisses", "distance"),
    "orders": (
        "place", "scope", "inner", "accesses", "straddle-line", "straddle-page", "same", "near", "forward",
        "backward", "far", "runs", "stride1", "times1", "stride2", "times2", "stride3", "times3",
        "depends", "on", "weight",
    ),
    "stays": ("place", "group", "lines", "unused", "late", "never"),
    "data": ("group", "bucket", "misses", "llmisses"),
    "inclusive": ("function", "callee", "bucket", "misses", "llmisses"),
}
_KNOWN_DEPENDS = frozenset(Depends)
# Quarter powers of two of a 64-bit number of lines.
_MOST_BUCKETS = 4 * 64 + 1


def why_path(profile: str) -> str | None:
    """The file beside a profile, if there is one; either may be compressed."""
    return path_beside(profile, PREFIX)


def read_why(path: str) -> Why:
    """That of a file; of several parts, one behind the other, their sum."""
    return merge(read_parts(path))


def read_parts(path: str) -> list[Why]:
    return _Reader.read(path)


class _Reader(SectionReader[Why]):
    what = "a file on why lines were loaded"
    plural = "files on why lines were loaded"
    first_line = "why"
    sections = _SECTIONS

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
        return with_scaled_reuses(why) if why.reuse_sample > 1 else why


class _Rows:
    """Sections as tuples of the model. Numbers of what is not there are refused."""

    def __init__(
        self, found: Mapping[str, Table], places: int, scopes: int, functions: Sequence[Function]
    ) -> None:
        self._found = found
        self._places = places
        self._scopes = scopes
        self._functions = functions

    def distances(self) -> tuple[Distance, ...]:
        rows = self._found["distances"]
        for place, bucket, misses, last in rows:
            self._check(place, self._places, "place")
            self._check_misses(bucket, misses, last)
        return tuple(Distance(*row) for row in rows)

    def data(self) -> tuple[DataDistance, ...] | None:
        rows = self._found.get("data")
        if rows is None:
            return None
        for _, bucket, misses, last in rows:
            self._check_misses(bucket, misses, last)
        return tuple(DataDistance(0, *row) for row in rows)

    def inclusive(self) -> tuple[Inclusive, ...] | None:
        rows = self._found.get("inclusive")
        if rows is None:
            return None
        made: list[Inclusive] = []
        for function, callee, bucket, misses, last in rows:
            self._check(max(function, callee), len(self._functions), "function")
            self._check_misses(bucket, misses, last)
            if not function:
                raise FormatProblem("inclusive: there is no function 0")
            called = self._functions[callee] if callee else None
            made.append(Inclusive(self._functions[function], called, bucket, misses, last))
        return tuple(made)

    def _check_misses(self, bucket: int, misses: int, last: int) -> None:
        self._check(bucket, _MOST_BUCKETS, "bucket")
        if last > misses:
            raise FormatProblem(f"{last:,} LL misses are more than the {misses:,} misses they are part of")

    def reuses(self) -> tuple[Reuse, ...] | None:
        rows = self._found.get("reuses")
        if rows is None:
            return None
        made: list[Reuse] = []
        for place, before, evictor, scope, cause, misses, last, distance in rows:
            for number in (place, before, evictor):
                self._check(number, self._places, "place")
            self._check(scope, self._scopes, "scope")
            if cause not in (1, 2, 3) or last > misses:
                raise FormatProblem(f"reuses: impossible values: cause {cause}, {misses:,} misses, {last:,} of LL")
            made.append(Reuse(place, before, evictor, scope, Cause(cause), misses, last, distance))
        return tuple(made)

    def orders(self) -> tuple[Order, ...] | None:
        rows = self._found.get("orders")
        if rows is None:
            return None
        made: list[Order] = []
        for row in rows:
            place, scope, inner, accesses, line, page, *kinds = row[:12]
            same, near, forward, backward, far, runs = kinds
            steps, (depends, on, weight) = row[12:18], row[18:]
            self._check(place, self._places, "place")
            self._check(on, self._places, "place")
            self._check(scope, self._scopes, "scope")
            strides = [
                (_signed(step), times) for step, times in zip(steps[::2], steps[1::2]) if times
            ]
            made.append(Order(
                place, scope, inner, accesses, line, page, same, near, forward, backward, far, runs,
                tuple(sorted(strides, key=lambda one: -one[1])),
                Depends(depends) if depends in _KNOWN_DEPENDS else Depends.UNKNOWN, on, weight,
            ))
        return tuple(made)

    def stays(self) -> tuple[Stay, ...] | None:
        rows = self._found.get("stays")
        if rows is None:
            return None
        for place, _, _, unused, late, never in rows:
            self._check(place, self._places, "place")
            if late + never > unused:
                raise FormatProblem(
                    f"stays: {late:,} bytes used late and {never:,} never used are more than the {unused:,} unused"
                )
        return tuple(Stay(*row) for row in rows)

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


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
