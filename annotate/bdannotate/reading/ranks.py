# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the statistics over ranks beside a merged profile (docs/format.md)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..model.errors import FormatProblem, UserError, shorten
from ..model.narrow import zeros
from ..model.profile import CallSite, Function, Profile
from ..model.ranks import Rank, Ranks, Spread, violation
from .columns import named_function, path_beside
from .sections import MOST_ROWS, SectionReader, Table

PREFIX = "ranks."

_WIDTH = 8  # bytes of a count
_MOST_NUMBERS = 4 * MOST_ROWS  # even if most are 0

_T = TypeVar("_T")

_STATISTICS = ("count", "sum", "squares", "squares-high", "least", "least-at", "most", "most-at")
_SECTIONS = {
    "totals": ("member", "count", "sum"),
    "functions": ("function", *_STATISTICS),
    "inclusive": ("function", *_STATISTICS),
    "lines": ("function", "file", "line", *_STATISTICS),
    "calls": ("caller", "callee", "file", "line", *_STATISTICS),
    "strips": ("member", "function", "strip", "number"),
}


def ranks_beside(path: str, profile: Profile) -> Ranks | None:
    """The statistics beside a profile, or None. UserError: the file is damaged or belongs to another profile."""
    beside = path_beside(path, PREFIX)
    if beside is None:
        return None
    found: list[Ranks] = _Reader.read(beside)
    if problem := violation(found[0], profile):
        raise UserError(f"{problem}: remove or rename it")
    return found[0]


class _Reader(SectionReader[Ranks]):
    what = "a file on ranks"
    plural = "files on ranks"
    first_line = "ranks"
    sections = _SECTIONS
    has_events = True

    def _part(self) -> Ranks:
        headers, own, objects, files = self._head(("counts", "strips"))
        functions = [Function("", "", "")]
        functions += (named_function(text, objects, files)[0] for text in self._names(self._section("functions")))
        ranks = tuple(map(_rank, self._names(self._section("members"))))
        counts, strips = tuple(own.get("counts", "").split()), tuple(own.get("strips", "").split())
        if not ranks or counts[len(counts) - len(headers.events):] != headers.events:
            raise FormatProblem("it names no ranks, or its counts do not end with its events")
        found = self._sections()
        for name in _SECTIONS:
            if name not in found:
                raise FormatProblem(f"'{name}:' is missing")
        names = _Names(functions, files, counts, len(ranks))
        return Ranks(
            headers.part(self._source, ()), headers.events, counts, ranks,
            names.totals(found["totals"], len(headers.events)),
            {names.function(key[0]): spreads for key, spreads in names.spreads(found["functions"], 1).items()},
            {names.function(key[0]): spreads for key, spreads in names.spreads(found["inclusive"], 1).items()},
            {
                (names.function(function), names.file(file), line): spreads
                for (function, file, line), spreads in names.spreads(found["lines"], 3).items()
            },
            {
                CallSite(names.function(caller), names.function(callee), names.file(file), line): spreads
                for (caller, callee, file, line), spreads in names.spreads(found["calls"], 4).items()
            },
            strips, names.strips(found["strips"], len(strips)),
        )


class _Names:
    def __init__(self, functions: list[Function], files: list[str], counts: tuple[str, ...], ranks: int) -> None:
        self._functions = functions
        self._files = files
        self._counts = counts
        self._ranks = ranks

    def function(self, number: int) -> Function:
        return _entry(self._functions, number, "function")

    def file(self, number: int) -> str:
        return _entry(self._files, number, "file")

    def totals(self, table: Table, events: int) -> tuple[array[int], ...]:
        found = [zeros(self._ranks, _WIDTH) for _ in range(events)]
        before = len(self._counts) - events
        for member, count, number in table.rows:
            if not 0 <= count - before < events:
                raise FormatProblem(f"there is no event {count}")
            if member >= self._ranks:
                raise FormatProblem(f"there is no rank {member}")
            found[count - before][member] = number
        return tuple(found)

    def spreads(self, table: Table, keys: int) -> Mapping[tuple[int, ...], Mapping[str, Spread]]:
        found: dict[tuple[int, ...], dict[str, Spread]] = {}
        for row in table.rows:
            count, total, low, high, least, least_at, most, most_at = row[keys:]
            if max(least_at, most_at) >= self._ranks:
                raise FormatProblem(f"there is no rank {max(least_at, most_at)}")
            spread = Spread(total, high << 64 | low, least, least_at, most, most_at)
            found.setdefault(row[:keys], {})[_entry(self._counts, count, "count")] = spread
        return found

    def strips(self, table: Table, strips: int) -> Mapping[Function, tuple[array[int], ...]]:
        found: dict[int, tuple[array[int], ...]] = {}
        if not strips:
            return {}
        for member, function, strip, number in table.rows:
            if function not in found:
                if (1 + len(found)) * strips * self._ranks > _MOST_NUMBERS:
                    raise FormatProblem(f"strips: has more than {_MOST_NUMBERS:,} numbers")
                found[function] = tuple(zeros(self._ranks, _WIDTH) for _ in range(strips))
            if strip >= strips:
                raise FormatProblem(f"there is no strip {strip}")
            if member >= self._ranks:
                raise FormatProblem(f"there is no rank {member}")
            found[function][strip][member] = number
        return {self.function(function): columns for function, columns in found.items()}


def _rank(text: str) -> Rank:
    words = text.split(" ", 2)
    if len(words) < 3 or not words[2]:
        raise FormatProblem(f"'{shorten(text)}' is not a rank")
    return Rank(words[2], "" if words[1] == "-" else words[1])


def _entry(entries: Sequence[_T], number: int, what: str) -> _T:
    if number >= len(entries):
        raise FormatProblem(f"there is no {what} {number}")
    return entries[number]
