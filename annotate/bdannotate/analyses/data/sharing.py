# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other, by the data in them: the kind of sharing, and the transfers that are left if
the bytes of each thread have lines of their own."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model.objects import CodeLine, ObjectGroup, Objects
from ...model.profile import Function
from ...model.sharing import CoreTotals, CoreUse, Protocol, SharedLine, Sharing
from .core_loads import CoreLoadsReport, report_loads
from .last_level import LastLevelReport, report_last_level

# Nanoseconds of a transfer between cores if the machine file has no figure: an assumption, typical of machines with one
# last-level cache.
ASSUMED_COST = 50.0
_INSTRUCTION_COST = 0.1  # nanoseconds
# The minimum share of the known uses that must be of one kind; otherwise the kind is MIXED.
_MOSTLY = 0.9
# The minimum share of the time, and of all transfers, that a change must save.
_NOTABLE = 0.02


class Kind(enum.Enum):
    """The kind of sharing of some data."""

    FALSE = "false"
    TRUE = "true"
    MIGRATING = "migrating"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CoreBytes:
    """The bytes of a line that a core uses, and where it waits for the line."""

    core: int
    read: int  # a bit for each byte
    written: int  # a bit for each byte
    transfers: int
    places: tuple[CodeLine, ...]  # the ones with most transfers and invalidations first
    # The fields that these bytes belong to, where the type of the data is known.
    fields_read: tuple[str, ...] = ()  # that it does not write
    fields_written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedData:
    """Data whose lines threads take from each other: an object group or, without data objects, a single line."""

    group: ObjectGroup | None  # None: not known
    lines: tuple[SharedLine, ...]  # most transfers first
    transfers: int
    invalidated: int
    atomics: int
    kind: Kind
    after: int  # transfers that are left if the bytes of each thread have lines of their own
    cores: tuple[CoreBytes, ...]  # of the first line

    @property
    def function(self) -> Function | None:
        """The function with most transfers; None if no places are known."""
        counts: Counter[Function] = Counter()
        for line in self.lines:
            for access in line.accesses:
                if access.place is not None:
                    counts[access.place.function] += access.transfers
        return max(counts, key=lambda one: (counts[one], one)) if counts else None


@dataclass(frozen=True, slots=True)
class SharingReport:
    """The sharing of a run, by data."""

    data: tuple[SharedData, ...]  # most transfers first
    transfers: int
    false: int  # transfers that padding would save
    rest: int  # transfers of lines that the file does not have
    line: int  # bytes of a line
    cores: int
    cost: float  # nanoseconds of a transfer
    totals: tuple[CoreTotals, ...] = ()  # by core; empty if all cores share one set of caches
    loads: CoreLoadsReport | None = None  # None: not recorded
    protocol: Protocol | None = None  # None: not known
    reads: int = 0  # transfers by reads
    last_level: LastLevelReport | None = None  # None: not recorded

    @property
    def written_back(self) -> int | None:
        """Lines that were written to the shared level as another core read them; None if that is not known."""
        return None if self.protocol is None else self.reads if self.protocol is Protocol.MESI else 0

    def notable(self, instructions: int) -> Sequence[SharedData]:
        """The data of which enough transfers can be saved; empty if that would be too small a share of the run's time.
        instructions: those of the run."""
        if self.false * self.cost < _NOTABLE * instructions * _INSTRUCTION_COST:
            return []
        return [
            data for data in self.data
            if data.transfers - data.after >= max(_NOTABLE * self.transfers, 1)
        ]


def report_sharing(found: Sharing, objects: Objects | None, cost: float | None = None) -> SharingReport:
    """The sharing of a run by data. cost: nanoseconds of a transfer; None: ASSUMED_COST."""
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
    return SharingReport(
        tuple(data), found.transfers, saved, found.rest, found.line, found.cores, cost or ASSUMED_COST, found.totals,
        report_loads(found, objects), found.protocol, found.reads, report_last_level(found),
    )


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
    """The transfers of a line that are left without false sharing."""
    false = sum(use.false for use in line.uses)
    known = false + sum(use.true + use.migrating for use in line.uses)
    return line.transfers if not known else round(line.transfers * (known - false) / known)


def _cores(line: SharedLine) -> tuple[CoreBytes, ...]:
    """The use of a line by core."""
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
