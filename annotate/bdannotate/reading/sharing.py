# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads which lines cores take from each other, the file beside a profile that docs/format.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.errors import FormatProblem, shorten
from ..model.sharing import (
    CORE_EVENTS, CoreLoad, CoreTotals, CoreUse, LastLevelCore, LastLevelEviction, Protocol, SharedAccess, SharedLine,
    SharedObject, Sharing, sum_of_evictions, sum_of_ll_cores,
)
from ..model.why import Instruction
from .columns import path_beside
from .sections import SectionReader, Table, number_of

PREFIX = "sharing."

_SECTIONS = {
    "lines": ("address", "group", "object"),
    "objects": ("line", "address", "bytes"),
    "cores": ("line", "core", "read", "written", "unknown", "false", "true", "migrating"),
    "accesses": ("line", "core", "place", "bytes", "reads", "writes", "lost", "invalidated", "atomics"),
    "totals": ("core", *CORE_EVENTS),
    "loads": ("core", "place", "group", "pages", "lines", "second", "further"),
    "page-misses": ("load", "core", "misses"),
    "ll-cores": ("core", "lines", "held"),
    "ll-evictions": ("evictor", "core", "lines", "again"),
}
_OPTIONAL = {"objects", "totals", "loads", "page-misses", "ll-cores", "ll-evictions"}
_MOST_CORES = 64


def sharing_path(profile: str) -> str | None:
    """The file beside a profile, if there is one; either may be compressed."""
    return path_beside(profile, PREFIX)


def read_sharing(path: str) -> list[Sharing]:
    """Its parts."""
    return _Reader.read(path)


class _Reader(SectionReader[Sharing]):
    what = "a file on lines that threads share"
    plural = "files on lines that threads share"
    first_line = "sharing"
    sections = _SECTIONS
    optional = frozenset({"object"})

    def _part(self) -> Sharing:
        headers, own, _, places, _ = self._places_head(("line", "cores", "coherence", "page", "ll-lines"))
        line, cores = number_of(own, "line"), number_of(own, "cores")
        if line > 64 or cores > _MOST_CORES:
            raise FormatProblem(f"lines of {line:,} bytes and {cores:,} cores are more than there can be")
        found = self._sections()
        for name in _SECTIONS:
            if name not in found and name not in _OPTIONAL:
                raise FormatProblem(f"'{name}:' is missing")
        lines, others = _lines(found, places)
        page = number_of(own, "page") if "page" in own else 0
        return Sharing(
            (headers.part(self._source, ()),), line, cores, lines, others, _totals(found.get("totals")), page,
            _loads(found, places), _protocol(own.get("coherence")),
            number_of(own, "ll-lines") if "ll-lines" in own else 0, *_last_level(found),
        )


def _protocol(name: str | None) -> Protocol | None:
    try:
        return None if name is None else Protocol(name)
    except ValueError:
        raise FormatProblem(f"coherence: there is no protocol '{shorten(name or '')}'") from None


def _lines(
    found: Mapping[str, Table], places: Sequence[Instruction | None]
) -> tuple[tuple[SharedLine, ...], tuple[SharedAccess, ...]]:
    """And what was done to all others."""
    number_of_lines = found["lines"].number
    objects = _objects(found, number_of_lines)
    uses: dict[int, list[CoreUse]] = {}
    accesses: dict[int, list[SharedAccess]] = {}
    for line, *use in found["cores"].rows:
        _check(line, number_of_lines + 1, "line")
        _check(use[0], _MOST_CORES, "core")
        uses.setdefault(line, []).append(CoreUse(*use))
    for line, core, place, *counts in found["accesses"].rows:
        _check(line, number_of_lines + 1, "line")
        _check(core, _MOST_CORES, "core")
        _check(place, len(places), "place")
        accesses.setdefault(line, []).append(SharedAccess(core, places[place], *counts))
    lines = tuple(
        SharedLine(
            0, address, group, tuple(uses.get(number, ())), tuple(accesses.get(number, ())), begin,
            tuple(objects.get(number, [SharedObject(begin, 0)] if begin else [])),
        ) for number, (address, group, begin) in enumerate(found["lines"].rows, 1)
    )
    return lines, tuple(accesses.get(0, ()))


def _objects(found: Mapping[str, Table], number_of_lines: int) -> dict[int, list[SharedObject]]:
    """The objects of each line that has some, by its number from 1."""
    objects: dict[int, list[SharedObject]] = {}
    for line, begin, size in found["objects"].rows if "objects" in found else ():
        if not line:
            raise FormatProblem("objects: there is no line 0")
        _check(line, number_of_lines + 1, "line")
        objects.setdefault(line, []).append(SharedObject(begin, size))
    return objects


def _totals(table: Table | None) -> tuple[CoreTotals, ...]:
    totals = [] if table is None else [CoreTotals(core, tuple(counts)) for core, *counts in table.rows]
    for number, one in enumerate(totals):
        _check(one.core, _MOST_CORES, "core")
        if number and one.core <= totals[number - 1].core:
            raise FormatProblem("totals: the cores are not in ascending order")
    return tuple(totals)


def _loads(found: Mapping[str, Table], places: Sequence[Instruction | None]) -> tuple[CoreLoad, ...]:
    """What cores load, each with what others miss in its pages."""
    rows = found["loads"].rows if "loads" in found else ()
    misses: dict[int, list[tuple[int, int]]] = {}
    for load, core, count in found["page-misses"].rows if "page-misses" in found else ():
        _check(core, _MOST_CORES, "core")
        misses.setdefault(load, []).append((core, count))
    loads: list[CoreLoad] = []
    for number, (core, place, group, pages, lines, second, further) in enumerate(rows, 1):
        _check(core, _MOST_CORES, "core")
        _check(place, len(places), "place")
        missed = tuple(misses.pop(number, ()))
        loads.append(CoreLoad(0, core, places[place], group, pages, lines, second, further, missed))
    for unknown in misses:
        raise FormatProblem(f"page-misses: there is no load {unknown}")
    return tuple(loads)


def _last_level(
    found: Mapping[str, Table]
) -> tuple[tuple[LastLevelCore, ...], tuple[LastLevelEviction, ...]]:
    """What cores have of the last level, and what they drive out of it."""
    cores = [LastLevelCore(*row) for row in found["ll-cores"].rows] if "ll-cores" in found else []
    evictions = [LastLevelEviction(*row) for row in found["ll-evictions"].rows] if "ll-evictions" in found else []
    for number in (*(one.core for one in cores), *(core for one in evictions for core in one[:2])):
        _check(number, _MOST_CORES, "core")
    return sum_of_ll_cores(cores), sum_of_evictions(evictions)


def _check(number: int, limit: int, what: str) -> None:
    if number >= limit:
        raise FormatProblem(f"there is no {what} {number}")
