# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other, by the data in them: what kind of sharing that is, and what is
left of it where each thread's bytes have lines of their own."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model.objects import CodeLine, ObjectGroup, Objects
from ...model.profile import Function
from ...model.sharing import CoreUse, SharedLine, Sharing

# Nanoseconds from core to core where the machine file does not say: an assumption, within what machines with one
# last-level cache have.
ASSUMED_COST = 50.0
_INSTRUCTION_COST = 0.1
# A kind has the name of the sharing if so many of the uses that are known were of it.
_MOSTLY = 0.9
# What saves a smaller share of the time, or of all transfers, is not worth changing.
_NOTABLE = 0.02


class Kind(enum.Enum):
    FALSE = "false"
    TRUE = "true"
    MIGRATING = "migrating"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CoreBytes:
    """What a core uses of a line, and where it has to wait for it, most first."""

    core: int
    read: int
    written: int
    transfers: int
    places: tuple[CodeLine, ...]


@dataclass(frozen=True, slots=True)
class SharedData:
    """group: None of a run without data objects, where each line is by itself."""

    group: ObjectGroup | None
    lines: tuple[SharedLine, ...]  # most transfers first
    transfers: int
    invalidated: int
    atomics: int
    kind: Kind
    after: int  # transfers, with each thread's bytes in lines of their own
    cores: tuple[CoreBytes, ...]  # of the first line

    @property
    def function(self) -> Function | None:
        """Where most of it happens."""
        counts: Counter[Function] = Counter()
        for line in self.lines:
            for access in line.accesses:
                if access.place is not None:
                    counts[access.place.function] += access.transfers
        return max(counts, key=lambda one: (counts[one], one)) if counts else None


@dataclass(frozen=True, slots=True)
class SharingReport:
    data: tuple[SharedData, ...]  # most transfers first
    transfers: int
    false: int  # of these, what padding would save
    rest: int
    line: int
    cores: int
    cost: float  # nanoseconds of a transfer

    def notable(self, instructions: int) -> Sequence[SharedData]:
        """Those whose transfers can be saved, if that is worth it among so many instructions."""
        if self.false * self.cost < _NOTABLE * instructions * _INSTRUCTION_COST:
            return []
        return [
            data for data in self.data
            if data.transfers - data.after >= max(_NOTABLE * self.transfers, 1)
        ]


def report_sharing(found: Sharing, objects: Objects | None, cost: float | None = None) -> SharingReport:
    """cost: nanoseconds of a transfer, where these are known."""
    by_data: dict[tuple[int, int], list[SharedLine]] = {}
    groups: dict[tuple[int, int], ObjectGroup | None] = {}
    for number, line in enumerate(found.lines):
        group = _group_of(line, objects)
        key = (0, group) if group is not None else (1, number)
        groups[key] = objects.groups[group] if objects and group is not None else None
        by_data.setdefault(key, []).append(line)
    data = [_data(groups[key], lines) for key, lines in by_data.items()]
    data.sort(key=lambda one: -one.transfers)
    saved = sum(one.transfers - one.after for one in data)
    return SharingReport(tuple(data), found.transfers, saved, found.rest, found.line, found.cores, cost or ASSUMED_COST)


def _group_of(line: SharedLine, objects: Objects | None) -> int | None:
    here = objects.numbers[line.part] if objects and line.part < len(objects.numbers) else ()
    return here[line.group - 1] if 0 < line.group <= len(here) else None


def _data(group: ObjectGroup | None, lines: list[SharedLine]) -> SharedData:
    lines = sorted(lines, key=lambda line: (-line.transfers, line.address))
    accesses = [access for line in lines for access in line.accesses]
    return SharedData(
        group, tuple(lines),
        sum(line.transfers for line in lines),
        sum(access.invalidated for access in accesses),
        sum(access.atomics for access in accesses),
        _kind([use for line in lines for use in line.uses]),
        sum(map(_left, lines)),
        _cores(lines[0]),
    )


def _kind(uses: Iterable[CoreUse]) -> Kind:
    counts = {Kind.FALSE: 0, Kind.TRUE: 0, Kind.MIGRATING: 0}
    for use in uses:
        counts[Kind.FALSE] += use.false
        counts[Kind.TRUE] += use.true
        counts[Kind.MIGRATING] += use.migrating
    known = sum(counts.values())
    if not known:
        return Kind.UNKNOWN
    first = max(counts, key=lambda kind: counts[kind])
    return first if counts[first] >= _MOSTLY * known else Kind.MIXED


def _left(line: SharedLine) -> int:
    """Of its transfers, if bytes that cores do not have in common lie in lines of their own."""
    false = sum(use.false for use in line.uses)
    known = false + sum(use.true + use.migrating for use in line.uses)
    return line.transfers if not known else round(line.transfers * (known - false) / known)


def _cores(line: SharedLine) -> tuple[CoreBytes, ...]:
    transfers: Counter[int] = Counter()
    places: dict[int, Counter[CodeLine]] = {}
    bytes_of: dict[int, tuple[int, int]] = {use.core: (use.read, use.written) for use in line.uses}
    for access in line.accesses:
        transfers[access.core] += access.transfers
        if access.place is not None:
            place = CodeLine(access.place.function, access.place.file, access.place.line)
            places.setdefault(access.core, Counter())[place] += access.transfers + access.invalidated
    return tuple(
        CoreBytes(
            core, *bytes_of.get(core, (0, 0)), transfers[core],
            tuple(place for place, _ in places.get(core, Counter[CodeLine]()).most_common()),
        )
        for core in sorted({*transfers, *bytes_of})
    )
