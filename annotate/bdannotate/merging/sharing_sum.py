# SPDX-License-Identifier: GPL-2.0-or-later
"""Cache lines that threads take from each other, added up over ranks, as columns that take a tenth of the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import add
from typing import NamedTuple

from ..model.errors import UserError
from ..model.narrow import narrow
from ..model.objects import Objects
from ..model.profile import Row
from ..model.sharing import (
    CoreTotals, LastLevelCore, LastLevelEviction, Protocol, Sharing, sum_of_cores, sum_of_evictions, sum_of_ll_cores,
)
from ..model.why import Instruction
from .objects_file import GroupKey
from .why_sum import keys_of_groups

_Columns = tuple[Sequence[int], ...]
_BYTES = 2  # the first columns of what a core uses are bytes; so is the first one of accesses


class RankSharing(NamedTuple):
    """The shared lines of one or more ranks. Numbers of groups, places and lines begin with 1.

    run: the process and part, if the file is that of a thread.
    lines: addresses, groups, and the addresses of the only objects in them, or 0.
    objects: by line: addresses and bytes.
    uses: by line and core.
    accesses: by line, core and place; line 0 is all other lines.
    page: bytes; 0: loads are not recorded.
    loads: by core, place and group.
    page_misses: by number of a load, from 1, and core.
    ll_lines: those of the last level; 0: what cores have of it is not recorded.
    """

    source: str
    run: tuple[str, str] | None
    line: int
    cores: int
    groups: tuple[GroupKey, ...]
    places: tuple[Instruction, ...]
    lines: _Columns
    objects: _Columns
    uses: _Columns
    accesses: _Columns
    totals: tuple[CoreTotals, ...]
    page: int
    loads: _Columns
    page_misses: _Columns
    protocol: Protocol | None
    ll_lines: int
    ll_cores: tuple[LastLevelCore, ...]
    ll_evictions: tuple[LastLevelEviction, ...]


def sharing_of_part(sharing: Sharing, objects: Objects | None) -> RankSharing:
    """The shared lines of a part. objects: those of the same part of the same run."""
    groups = keys_of_groups(objects)
    part = sharing.parts[0]
    places: dict[Instruction | None, int] = {None: 0}
    accesses = [
        (number, access.core, places.setdefault(access.place, len(places)), *access[2:])
        for number, here in enumerate((sharing.others, *(line.accesses for line in sharing.lines)))
        for access in here
    ]
    loads = [
        (load.core, places.setdefault(load.place, len(places)), load.group if load.group <= len(groups) else 0,
         *load[4:8])
        for load in sharing.loads
    ]
    return RankSharing(
        part.source, (part.pid, part.part) if part.thread else None, sharing.line, sharing.cores, groups,
        tuple(place for place in places if place is not None),
        _columns(
            (line.address, line.group if line.group <= len(groups) else 0, line.object) for line in sharing.lines
        ),
        _columns((number, *one) for number, line in enumerate(sharing.lines, 1) for one in line.objects if one.bytes),
        _columns((number, *use) for number, line in enumerate(sharing.lines, 1) for use in line.uses),
        _columns(accesses),
        sharing.totals,
        sharing.page,
        _columns(loads),
        _columns((number, *one) for number, load in enumerate(sharing.loads, 1) for one in load.misses),
        sharing.protocol,
        sharing.ll_lines, sharing.ll_cores, sharing.ll_evictions,
    )


def added(things: Sequence[RankSharing], most_lines: int, most_accesses: int) -> RankSharing:
    """The sum over ranks. Lines at the same address that belong to the same data are one. If there are more lines or
    rows than the limits allow, those with the fewest transfers become other lines."""
    found = _Sum()
    for thing in things:
        if thing.line != things[0].line:
            raise UserError(
                f"{thing.source} has lines of {thing.line} bytes, but {things[0].source} of {things[0].line}"
            )
        if thing.page and things[0].page and thing.page != things[0].page:
            raise UserError(
                f"{thing.source} has pages of {thing.page} bytes, but {things[0].source} of {things[0].page}"
            )
        if thing.ll_lines and things[0].ll_lines and thing.ll_lines != things[0].ll_lines:
            raise UserError(
                f"{thing.source} has a last level of {thing.ll_lines:,} lines, but {things[0].source} of "
                f"{things[0].ll_lines:,}"
            )
        found.add(thing)
    found.cut(most_lines, most_accesses)
    return found.whole(things[0], max(thing.cores for thing in things), max(thing.page for thing in things))._replace(
        ll_lines=max(thing.ll_lines for thing in things),
        ll_cores=sum_of_ll_cores(row for thing in things for row in thing.ll_cores),
        ll_evictions=sum_of_evictions(row for thing in things for row in thing.ll_evictions),
        protocol=things[0].protocol if len({thing.protocol for thing in things}) == 1 else None
    )


class _Sum:
    """Counts by line, core, and place."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, int] = {}
        self._places: dict[Instruction, int] = {}
        self._lines: dict[Row, int] = {(0, 0): 0}
        self._only: dict[Row, int] = {}  # by line; 0: several
        self._objects: dict[int, list[Row]] = {}  # by line; empty if ranks differ in them
        self._uses: dict[Row, Row] = {}
        # Of files of threads: bytes and kinds in each are those of all threads of the run.
        self._of_runs: dict[tuple[tuple[str, str], Row], Row] = {}
        self._accesses: dict[Row, Row] = {}
        self._totals: tuple[CoreTotals, ...] = ()
        self._loads: dict[Row, Row] = {}
        self._page_misses: dict[tuple[Row, int], int] = {}

    def add(self, thing: RankSharing) -> None:
        groups = [0, *(self._groups.setdefault(key, len(self._groups) + 1) for key in thing.groups)]
        places = [0, *(self._places.setdefault(place, len(self._places) + 1) for place in thing.places)]
        lines = [0]
        for address, group, begin in zip(*thing.lines):
            one = address, groups[group]
            lines.append(self._lines.setdefault(one, len(self._lines)))
            if self._only.setdefault(one, begin) != begin:
                self._only[one] = 0
        objects: dict[int, list[Row]] = {line: [] for line in lines[1:]}
        for line, *found in zip(*thing.objects):
            objects[lines[line]].append((*found,))
        for number, those in objects.items():
            if self._objects.setdefault(number, those) != those:
                self._objects[number] = []
        for line, core, *counts in zip(*thing.uses):
            key = lines[line], core
            if thing.run is None:
                _add(self._uses, key, tuple(counts), _BYTES)
            else:
                known = self._of_runs.get((thing.run, key), (0,) * len(counts))
                of_bytes = [first | more for first, more in zip(known[:_BYTES], counts)]
                kinds = [max(first, more) for first, more in zip(known[_BYTES:], counts[_BYTES:])]
                self._of_runs[thing.run, key] = (*of_bytes, *kinds)
        for line, core, place, *counts in zip(*thing.accesses):
            _add(self._accesses, (lines[line], core, places[place]), tuple(counts), 1)
        self._totals = sum_of_cores((*self._totals, *thing.totals))
        loads: list[Row] = [()]
        for core, place, group, *counts in zip(*thing.loads):
            loads.append((core, places[place], groups[group]))
            _add(self._loads, loads[-1], tuple(counts), 0)
        for load, core, count in zip(*thing.page_misses):
            key = loads[load], core
            self._page_misses[key] = self._page_misses.get(key, 0) + count

    def cut(self, most_lines: int, most_accesses: int) -> None:
        for (_, key), counts in self._of_runs.items():
            _add(self._uses, key, counts, _BYTES)
        self._of_runs.clear()
        self._cut_loads(most_lines)
        if len(self._lines) - 1 <= most_lines and len(self._accesses) <= most_accesses:
            return
        transfers: dict[int, int] = dict.fromkeys(self._lines.values(), 0)
        rows: dict[int, int] = dict.fromkeys(self._lines.values(), 0)
        for (line, _, _), (_, reads, writes, *_) in self._accesses.items():
            transfers[line] += reads + writes
            rows[line] += 1
        ranked = sorted((line for line in self._lines.values() if line), key=lambda line: (-transfers[line], line))
        kept: set[int] = set()
        left = most_accesses // 2  # the other half is for what is not kept
        for line in ranked[:most_lines]:
            left -= rows[line]
            if left < 0:
                break
            kept.add(line)
        self._keep(kept, most_accesses // 2)

    def _cut_loads(self, most: int) -> None:
        """If there are more loads, those with the fewest misses and lines become a load of each core without a
        place."""
        if len(self._loads) <= most:
            return
        weights: Counter[Row] = Counter({key: sum(counts) for key, counts in self._loads.items()})
        for (key, _), count in self._page_misses.items():
            weights[key] += count
        ranked = sorted(self._loads, key=lambda key: (-weights[key], key))
        new = {key: key if number < most // 2 else (key[0], 0, 0) for number, key in enumerate(ranked)}
        loads, misses = self._loads, self._page_misses
        self._loads, self._page_misses = {}, {}
        for key, counts in loads.items():
            _add(self._loads, new[key], counts, 0)
        for (key, core), count in misses.items():
            self._page_misses[new[key], core] = self._page_misses.get((new[key], core), 0) + count

    def _keep(self, kept: set[int], most_others: int) -> None:
        others: dict[Row, Row] = {}
        accesses: dict[Row, Row] = {}
        for (line, core, place), counts in self._accesses.items():
            if line in kept:
                accesses[line, core, place] = counts
            else:
                _add(others, (0, core, place), (0, *counts[1:]), 1)
        if len(others) > most_others:
            places, others = others, {}
            for (line, core, _), counts in places.items():
                _add(others, (line, core, 0), counts, 1)
        self._accesses = {**others, **accesses}
        self._uses = {key: counts for key, counts in self._uses.items() if key[0] in kept}
        self._lines = {key: line for key, line in self._lines.items() if line in kept or not line}

    def whole(self, first: RankSharing, cores: int, page: int) -> RankSharing:
        number = {line: at for at, line in enumerate(self._lines.values())}
        load_number = {load: at for at, load in enumerate(self._loads, 1)}
        return RankSharing(
            first.source, None, first.line, cores, tuple(self._groups), tuple(self._places),
            _columns((*line, self._only[line]) for line in [*self._lines][1:]),
            _columns(
                (number[line], *one) for line in [*self._lines.values()][1:] for one in self._objects[line]
            ),
            _columns((number[line], core, *counts) for (line, core), counts in self._uses.items()),
            _columns((number[line], *key, *counts) for (line, *key), counts in self._accesses.items()),
            self._totals,
            page,
            _columns((*key, *counts) for key, counts in self._loads.items()),
            _columns((load_number[load], core, count) for (load, core), count in self._page_misses.items()),
            first.protocol, 0, (), (),
        )


def _add(known: dict[Row, Row], key: Row, counts: Row, bytes_first: int) -> None:
    """Add counts to a row. bytes_first: how many of the first numbers are masks of bytes, with bit i for byte i."""
    before = known.get(key)
    if before is not None:
        of_bytes = (one | more for one, more in zip(before[:bytes_first], counts))
        counts = (*of_bytes, *map(add, before[bytes_first:], counts[bytes_first:]))
    known[key] = counts


def _columns(rows: Iterable[Sequence[int]]) -> _Columns:
    try:
        return tuple(map(narrow, zip(*rows)))
    except OverflowError:
        raise UserError("sums of what cores do to lines are of 64 bits and more") from None
