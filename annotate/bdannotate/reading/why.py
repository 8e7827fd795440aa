# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads why lines were loaded, the file beside a profile that docs/format.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.errors import FormatProblem, shorten
from ..model.profile import Function
from ..model.why import (
    NO_SCOPE, Cause, DataDistance, Depends, Distance, Inclusive, Instruction, Order, Reuse, Sampled,
    Scope, ScopeKind, Stay, Why, merge, with_scaled_reuses,
)
from .columns import ColumnReader, counts, named_function, path_beside

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
_MOST_DIGITS = 18
# Quarter powers of two of a 64-bit number of lines.
_MOST_BUCKETS = 4 * 64 + 1
# Far more than any program has: the writer's own bounds are in the hundred thousands.
_MOST_ROWS = 1 << 22
_MOST_COLUMNS = 64

_Table = Sequence[Sequence[int]]


def why_path(profile: str) -> str | None:
    """The file beside a profile, if there is one; either may be compressed."""
    return path_beside(profile, PREFIX)


def read_why(path: str) -> Why:
    """That of a file; of several parts, one behind the other, their sum."""
    return merge(read_parts(path))


def read_parts(path: str) -> list[Why]:
    return _Reader.read(path)


class _Reader(ColumnReader[Why]):
    what = "a file on why lines were loaded"
    plural = "files on why lines were loaded"
    first_line = "why"
    has_events = False

    def _part(self) -> Why:
        headers, own, objects, files = self._head(_OWN_LINES)
        line, d1_lines, ll_lines, sets = (_number(own, key) for key in _OWN_LINES[:4])
        functions = [Function("", "", "")]
        for text in self._names(self._section("functions")):
            functions.append(named_function(text, objects, files)[0])
        names = _Names(files, functions)
        places: list[Instruction | None] = [None]
        places += map(names.place, self._names(self._section("places")))
        scopes = [NO_SCOPE, *map(names.scope, self._names(self._section("scopes")))]
        found: dict[str, _Table] = {}
        while section := self._next_section():
            name, table = section
            if name in found:
                raise FormatProblem(f"{name}: stands there twice")
            found[name] = table
        if "distances" not in found:
            raise FormatProblem("distances: is missing")
        rows = _Rows(found, len(places), len(scopes), functions)
        why = Why(
            (headers.part(self._source, ()),), line, d1_lines, ll_lines, sets,
            _number(own, "history-sample", 1), _number(own, "reuse-sample", 1),
            _sampled(own.get("order-sample", "0 0")),
            tuple(places), tuple(scopes), rows.distances(), rows.reuses(), rows.orders(), rows.stays(),
            rows.data(), rows.inclusive(),
        )
        return with_scaled_reuses(why) if why.reuse_sample > 1 else why

    def _next_section(self) -> tuple[str, _Table] | None:
        """Its name and rows; those of columns that are not known are left out. The part ends where a new
        one begins, or the file."""
        if not self._has_more():
            return None
        key, value = self._key_value()
        if key == self.first_line:
            # The next part; it is read again from there.
            self._ahead = f"{key}: {value}\n".encode("utf-8", "surrogateescape")
            return None
        columns = value.split()
        if len(columns) > _MOST_COLUMNS or len(set(columns)) < len(columns):
            raise FormatProblem(f"{shorten(key)}: has too many columns, or one twice")
        wanted = _SECTIONS.get(key, ())
        for name in wanted:
            if name not in columns:
                raise FormatProblem(f"{key}: has no column {name}")
        chosen = [columns.index(name) for name in wanted]
        rows: list[tuple[int, ...]] = []
        number = 0
        while count := self._block():
            number += count
            if number > _MOST_ROWS:
                raise FormatProblem(f"{shorten(key)}: has more than {_MOST_ROWS:,} rows")
            block = [self._column(count) for _ in columns]
            rows += zip(*(counts(block[index]) for index in chosen))
        self._check_sums(f"rows of {shorten(key)}", number, (), ())
        return key, rows


class _Rows:
    """Sections as tuples of the model. Numbers of what is not there are refused."""

    def __init__(
        self, found: Mapping[str, _Table], places: int, scopes: int, functions: Sequence[Function]
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
                raise FormatProblem("inclusive: function 0 is not there")
            called = self._functions[callee] if callee else None
            made.append(Inclusive(self._functions[function], called, bucket, misses, last))
        return tuple(made)

    def _check_misses(self, bucket: int, misses: int, last: int) -> None:
        self._check(bucket, _MOST_BUCKETS, "bucket")
        if last > misses:
            raise FormatProblem(f"{last:,} of {misses:,} misses cannot have missed LL")

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
                raise FormatProblem(f"reuses: cause {cause} of {misses:,} misses, {last:,} of LL")
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
                    f"stays: of {unused:,} unused bytes {late:,} are used late and {never:,} never"
                )
        return tuple(Stay(*row) for row in rows)

    def _check(self, number: int, limit: int, what: str) -> None:
        if number >= limit:
            raise FormatProblem(f"{what} {number} is not there")


class _Names:
    def __init__(self, files: list[str], functions: list[Function]) -> None:
        self._files = files
        self._functions = functions

    def place(self, text: str) -> Instruction:
        return self._place(text, text.split(" "))

    def scope(self, text: str) -> Scope:
        match text.split(" "):
            case ["call", function]:
                return Scope(ScopeKind.CALL, self._place(text, [function, "0", "0", "0"]))
            case ["loop", *words]:
                return Scope(ScopeKind.LOOP, self._place(text, words))
        raise FormatProblem(f"'{shorten(text)}' is not a scope")

    def _place(self, text: str, words: Sequence[str]) -> Instruction:
        if len(words) != 4 or not all(
            word.isascii() and word.isdigit() and len(word) <= 20 for word in words
        ):
            raise FormatProblem(f"'{shorten(text)}' is not the place of an instruction")
        function, file, line, address = map(int, words)
        if function >= len(self._functions) or file >= len(self._files):
            raise FormatProblem(f"'{shorten(text)}' is in a function or file that has no name")
        return Instruction(self._functions[function], self._files[file], line, address)


def _number(own: Mapping[str, str], key: str, missing: int | None = None) -> int:
    text = own.get(key, "" if missing is None else str(missing))
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text)):
        raise FormatProblem(f"{key}: '{shorten(text)}' is not a number above 0")
    return int(text)


def _sampled(text: str) -> Sampled:
    words = text.split()
    if len(words) != 2 or not all(
        word.isascii() and word.isdigit() and len(word) <= 20 for word in words
    ):
        raise FormatProblem(f"order-sample: '{shorten(text)}' is not how many of how many accesses")
    return Sampled(*map(int, words))


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
