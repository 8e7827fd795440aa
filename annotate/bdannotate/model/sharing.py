# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of data that cores take from each other, and what each core does with caches of its own."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import NamedTuple

from .profile import Function, Part, Profile
from .why import Instruction


# What is counted for each core that has caches of its own.
CORE_EVENTS = (
    "Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "D1copy", "I2mr", "D2mr", "D2mw", "ILmr", "DLmr", "DLmw",
    "SpLoss1", "UsByte1", "SpLossD1", "UsByteD1",
)


class Protocol(enum.Enum):
    """What becomes of a line that one core has modified and another one reads. MESI: it is written to the level that
    they share, and no longer modified. MOESI: the first core owns it, and passes it on to all that ask for it."""

    MESI = "mesi"
    MOESI = "moesi"


class CoreTotals(NamedTuple):
    """counts: those of CORE_EVENTS on a core, in that order; 0: none, or not counted."""

    core: int
    counts: tuple[int, ...]

    def of(self, *events: str) -> int:
        """The sum of some events."""
        return sum(self.counts[CORE_EVENTS.index(event)] for event in events)


class CoreUse(NamedTuple):
    """A core's use of a line. read, written: bit i stands for byte i. unknown, false, true, migrating: how often the
    core lost the line after a use of that kind."""

    core: int
    read: int
    written: int
    unknown: int
    false: int
    true: int
    migrating: int

    @property
    def bytes(self) -> int:
        """The bytes that the core used, as bits."""
        return self.read | self.written


class SharedAccess(NamedTuple):
    """The accesses of an instruction to a line, on one core."""

    core: int
    place: Instruction | None
    bytes: int
    reads: int  # of a line that another core had modified
    writes: int
    lost: int
    invalidated: int
    atomics: int

    @property
    def transfers(self) -> int:
        return self.reads + self.writes


class SharedObject(NamedTuple):
    """A heap block or variable in a line. bytes: 0 if they are not known."""

    begin: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SharedLine:
    """A line that cores take from each other."""

    part: int  # the index of the part
    address: int
    group: int  # of the data objects beside the profile; 0: none
    uses: tuple[CoreUse, ...]
    accesses: tuple[SharedAccess, ...]
    object: int = 0  # the address of the only object of the group that was accessed there; 0: not known, or several
    objects: tuple[SharedObject, ...] = ()  # those of the group that were accessed there, by address; empty: not known

    @property
    def transfers(self) -> int:
        return sum(access.transfers for access in self.accesses)


class CoreLoad(NamedTuple):
    """What a place in the code loads of some data, on one core. place: None if it is not known, or if there was no
    room for more rows."""

    part: int  # the index of the part
    core: int
    place: Instruction | None
    group: int  # of the data objects beside the profile; 0: none
    pages: int  # that it touched first
    lines: int  # that no core had loaded before
    second: int  # that one other core had loaded before, but not this one
    further: int  # that several others had loaded before, but not this one
    misses: tuple[tuple[int, int], ...]  # by core: misses of the last level in the pages that it touched first


class LastLevelCore(NamedTuple):
    """What a core has loaded into the last level that all cores share."""

    core: int
    lines: int  # that it loaded
    held: int  # how many of its lines were there each time after any core had loaded one, added up


class LastLevelEviction(NamedTuple):
    """Lines of a core that another one, or the same, has driven out of the last level."""

    evictor: int
    core: int
    lines: int
    again: int  # of these, those that `core` was the next to load


@dataclass(frozen=True, slots=True)
class Sharing:
    """The contents of a sharing file. others: accesses to the lines that are not in `lines`."""

    parts: tuple[Part, ...]
    line: int  # bytes
    cores: int
    lines: tuple[SharedLine, ...]
    others: tuple[SharedAccess, ...]
    totals: tuple[CoreTotals, ...] = ()  # by core; empty if all cores share one set of caches
    page: int = 0  # bytes; 0: pages and loads are not recorded
    loads: tuple[CoreLoad, ...] = ()
    protocol: Protocol | None = None  # None: not recorded
    ll_lines: int = 0  # that the last level has; 0: what cores have of it is not recorded
    ll_cores: tuple[LastLevelCore, ...] = ()  # by core
    ll_evictions: tuple[LastLevelEviction, ...] = ()  # by core that evicts, and by core

    @property
    def reads(self) -> int:
        """Transfers by reads."""
        accesses = [*self.others, *(access for line in self.lines for access in line.accesses)]
        return sum(access.reads for access in accesses)

    @property
    def rest(self) -> int:
        """Transfers of lines that are not in `lines`."""
        return sum(access.transfers for access in self.others)

    @property
    def transfers(self) -> int:
        return self.rest + sum(line.transfers for line in self.lines)


def merge(found: Sequence[Sharing], name: Callable[[Function], Function]) -> Sharing:
    """The contents of several files as one. name: returns the new name of a function."""
    def new_place(place: Instruction | None) -> Instruction | None:
        return None if place is None else place._replace(function=name(place.function))

    def renamed(access: SharedAccess) -> SharedAccess:
        return access._replace(place=new_place(access.place))

    lines = [
        replace(line, part=number, accesses=tuple(map(renamed, line.accesses)))
        for number, one in enumerate(found) for line in one.lines
    ]
    parts = tuple(part for one in found for part in one.parts)
    others = tuple(renamed(access) for one in found for access in one.others)
    totals = sum_of_cores(core for one in found for core in one.totals)
    loads = tuple(
        load._replace(part=number, place=new_place(load.place)) for number, one in enumerate(found)
        for load in one.loads
    )
    page = max(one.page for one in found)
    return Sharing(
        parts, found[0].line, found[0].cores, tuple(lines), others, totals, page, loads, _protocol_of(found),
        max(one.ll_lines for one in found), sum_of_ll_cores(core for one in found for core in one.ll_cores),
        sum_of_evictions(row for one in found for row in one.ll_evictions),
    )


def _protocol_of(found: Sequence[Sharing]) -> Protocol | None:
    """The protocol of all; None if they differ."""
    protocols = {one.protocol for one in found}
    return protocols.pop() if len(protocols) == 1 else None


def sum_of_cores(totals: Iterable[CoreTotals]) -> tuple[CoreTotals, ...]:
    """The sum for each core, by core."""
    sums: dict[int, tuple[int, ...]] = {}
    for core, counts in totals:
        sums[core] = tuple(map(add, sums.get(core, (0,) * len(counts)), counts))
    return tuple(CoreTotals(core, sums[core]) for core in sorted(sums))


def sum_of_ll_cores(rows: Iterable[LastLevelCore]) -> tuple[LastLevelCore, ...]:
    """The sum for each core, by core."""
    sums: dict[int, tuple[int, int]] = {}
    for core, lines, held in rows:
        before = sums.get(core, (0, 0))
        sums[core] = before[0] + lines, before[1] + held
    return tuple(LastLevelCore(core, *sums[core]) for core in sorted(sums))


def sum_of_evictions(rows: Iterable[LastLevelEviction]) -> tuple[LastLevelEviction, ...]:
    """The sum for each two cores, by core."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for evictor, core, lines, again in rows:
        before = sums.get((evictor, core), (0, 0))
        sums[evictor, core] = before[0] + lines, before[1] + again
    return tuple(LastLevelEviction(*cores, *sums[cores]) for cores in sorted(sums))


def run_violation(found: Sequence[Sharing], profile: Profile) -> str | None:
    """The first fact that shows that the files are not from the profile's run, as a sentence; None if there is none."""
    def run(part: Part) -> tuple[object, ...]:
        return part.pid, part.command, part.part, part.thread

    mine = Counter(run(part) for one in found for part in one.parts)
    if mine != Counter(map(run, profile.parts)):
        return f"{found[0].parts[0].source} is from another run than {profile.parts[0].source}"
    return None
