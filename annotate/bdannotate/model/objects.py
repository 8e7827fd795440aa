# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects: costs separated by the memory that was loaded, and by the code that loaded it.

A group has the objects that are not separated further: the heap blocks that were allocated in one place, a variable, or
the stack frames of a function. A row has the costs of a source line in a group.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from .frames import Chains
from .graph import build
from .profile import CACHE, Function, Part, Profile, Row, add_rows, sum_rows
from .rows import CountRows, Rows


class ObjectKind(enum.Enum):
    """The kind of a data object."""

    UNKNOWN = "unknown"
    CODE = "code"
    HEAP = "heap"
    UNUSED = "unused"  # the allocator's own memory, and free blocks
    STACK = "stack"
    STATIC = "static"
    THREAD_LOCAL = "thread-local"
    FILE = "file"
    MAPPING = "mapping"


VARIABLES = frozenset({ObjectKind.STATIC, ObjectKind.THREAD_LOCAL})


class CodeLine(NamedTuple):
    """A source line of a function, which called or loaded something."""

    function: Function
    file: str
    line: int


class Identity(NamedTuple):
    """The identity of a group."""

    kind: ObjectKind
    name: str = ""  # that of a variable
    object: str = ""  # the object file of code or a variable, or the file itself
    size: int = 0  # that of a variable, in bytes
    function: Function | None = None  # the one whose stack frames these are, or that was called to allocate
    places: tuple[CodeLine, ...] = ()  # the calls that led to that function, the innermost first
    symbol: str = ""  # the linker's name of a variable, if it is another one


class HeapBlocks(NamedTuple):
    """The heap blocks of a group. Sizes and sums are in bytes."""

    number: int
    bytes: int
    freed: int  # the number of freed blocks
    alive: int  # bytes at the end
    most_alive: int  # bytes
    smallest: int
    largest: int
    divisor: int  # the greatest common divisor of all sizes; of calloc's, of the sizes of elements
    usual: int = 0  # the size of at least nine tenths of the blocks; 0: there is none, or there are too few blocks


class Pattern(NamedTuple):
    """Bytes of a block or variable that were in one line of D1 when it was evicted: all that the block has in a line of
    up to 64 bytes, or in a 64-byte part of a longer line."""

    offset: int  # that of the first byte in the block
    bytes: int  # how many, at most 64; 0: only the code that loaded the line is known
    used: int  # a bit for each byte, the lowest one for the first
    times: int
    by: CodeLine  # the code that loaded the line


class ObjectRow(NamedTuple):
    """The costs of a source line in a group."""

    group: int  # an index into Objects.groups
    function: Function
    file: str
    line: int
    cost: Row


class Site(NamedTuple):
    """A call site: an instruction that called something, with its source position."""

    function: Function
    file: str
    line: int
    address: int  # in the function's object file


@dataclass(frozen=True, slots=True)
class ObjectGroup:
    """Objects with the same costs. sites: the call sites of the identity's places, one chain for each way to them, as a
    line can have several instructions."""

    identity: Identity
    blocks: HeapBlocks | None = None
    patterns: Sequence[Pattern] = ()
    sites: tuple[tuple[Site, ...], ...] = ()
    label: str = ""  # unique; empty until groups are named

    @property
    def has_patterns(self) -> bool:
        """Whether it is known which bytes were used."""
        return any(pattern.bytes for pattern in self.patterns)

    @property
    def unmapped(self) -> int:
        """How many parts of lines are in no pattern. A line has a part for each block or variable in it."""
        return sum(pattern.times for pattern in self.patterns if not pattern.bytes)


@dataclass(frozen=True, slots=True)
class Objects:
    """The data objects of a run, or of several added up."""

    parts: tuple[Part, ...]
    events: tuple[str, ...]
    groups: tuple[ObjectGroup, ...]
    rows: Sequence[ObjectRow]
    one_in: int = 1  # after the first lines, one line in so many has a pattern; 1: all
    # For each part that was merged, the indices here of its groups.
    numbers: tuple[tuple[int, ...], ...] = ()
    depth: int = 0  # how many callers distinguish heap blocks
    whole_to: int = 0  # objects of up to this many bytes have patterns of all of their bytes
    _costs: list[Row] = field(default_factory=list, init=False, repr=False, compare=False)  # once they are known

    @property
    def line_bytes(self) -> int | None:
        """The bytes of a line of D1; None if that is not known, or differs between parts."""
        caches = [CACHE.fullmatch(dict(part.descriptions).get("D1 cache", "")) for part in self.parts]
        sizes = {int(match[2]) if match else 0 for match in caches}
        return max(sizes) or None if len(sizes) == 1 else None

    def columns(self) -> Sequence[Sequence[Any]]:
        """The values of each field of the rows; in place of their costs, a column for each event."""
        of_fields: Sequence[Sequence[Any]] = self.rows.columns if isinstance(self.rows, Rows) else [*zip(*self.rows)]
        *others, costs = of_fields or [()] * len(ObjectRow._fields)
        counts: Sequence[Sequence[int]] = costs.columns if isinstance(costs, CountRows) else [*zip(*costs)]
        return [*others, *(counts or [()] * len(self.events))]

    def totals(self) -> Row:
        if isinstance(self.rows, Rows) and isinstance(costs := self.rows.columns[-1], CountRows):
            return costs.sums()
        return sum_rows((row.cost for row in self.rows), len(self.events))

    def costs(self) -> Sequence[Row]:
        """The costs of each group."""
        if not self._costs:
            self._costs.extend(self._costs_of_groups())
        return self._costs

    def _costs_of_groups(self) -> list[Row]:
        zero = (0,) * len(self.events)
        costs = [zero] * len(self.groups)
        for group, same in groupby(self.rows, attrgetter("group")):
            rows = [row.cost for row in same]
            cost = rows[0] if len(rows) == 1 else tuple(map(sum, zip(*rows)))
            costs[group] = cost if costs[group] is zero else add_rows(costs[group], cost)
        return costs


# Events that happen without a load. All others belong to objects.
_WITHOUT_OBJECT = frozenset({
    "Ir", "Dr", "Dw", "Bc", "Bcm", "Bi", "Bim", "Ge", "sysCount", "sysTime", "sysCpuTime",
})


def has_object(event: str) -> bool:
    """Whether the costs of an event belong to objects."""
    return event not in _WITHOUT_OBJECT


def inlined_calls(found: Iterable[Objects]) -> dict[str, dict[int, int]]:
    """The addresses, in main and below it, at which code that was inlined from another file called an allocator or a
    function that leads to one; each with its source line, by object file."""
    addresses: dict[str, dict[int, int]] = {}
    for objects in found:
        ways = (way for group in objects.groups for way in group.sites)
        for site in (site for way in ways for site in _to_main(way)):
            if site.file != site.function.file and site.address:
                addresses.setdefault(site.function.object, {})[site.address] = site.line
    return addresses


def _to_main(sites: Sequence[Site]) -> Iterator[Site]:
    for site in sites:
        yield site
        if site.function.name == "main":
            return


def at_own_lines(objects: Objects, chains: Chains) -> Objects:
    """The objects with other places for calls in inlined code from other files: the lines of the functions themselves.
    Otherwise, all containers that allocate in one function would have the same line of the library. The groups must be
    as they were read, with at most one chain of sites each."""
    wanted = inlined_calls([objects])

    def place(site: Site) -> CodeLine:
        chain = chains.get(site.function.object, {}).get(site.address)
        if not chain or site.address not in wanted.get(site.function.object, ()):
            return CodeLine(site.function, site.file, site.line)
        return CodeLine(site.function, chain[0].file, chain[0].line)

    return replace(objects, groups=tuple(
        replace(group, identity=group.identity._replace(places=tuple(map(place, group.sites[0]))))
        if group.sites else group
        for group in objects.groups
    ))


def with_fewer_patterns(objects: Objects, most: int) -> Objects:
    """The objects with at most `most` patterns with bytes. Of the rarest ones, only the code that loaded the lines is
    kept."""
    known = [
        (-pattern.times, number, place) for number, group in enumerate(objects.groups)
        for place, pattern in enumerate(group.patterns) if pattern.bytes
    ]
    if len(known) <= most:
        return objects
    rare: dict[int, list[int]] = {}
    for _, number, place in sorted(known)[most:]:
        rare.setdefault(number, []).append(place)
    return replace(objects, groups=tuple(
        replace(group, patterns=_without(group.patterns, rare[number])) if number in rare else group
        for number, group in enumerate(objects.groups)
    ))


def with_events(objects: Objects, events: tuple[str, ...]) -> Objects:
    """The objects with their events in this order."""
    if objects.events == events:
        return objects
    order = [objects.events.index(event) for event in events]
    return replace(objects, events=events, rows=tuple(
        row._replace(cost=tuple(row.cost[place] for place in order)) for row in objects.rows
    ))


def _without(patterns: Sequence[Pattern], rare: Iterable[int]) -> tuple[Pattern, ...]:
    """The patterns, those with the indices `rare` without bytes. Patterns without bytes are added up."""
    left = dict(enumerate(patterns))
    unknown: Counter[CodeLine] = Counter()
    for place in rare:
        pattern = left.pop(place)
        unknown[pattern.by] += pattern.times
    for place, pattern in [*left.items()]:
        if not pattern.bytes:
            unknown[pattern.by] += left.pop(place).times
    return (*left.values(), *(Pattern(0, 0, 0, times, by) for by, times in sorted(unknown.items())))


def object_violation(objects: Objects, profile: Profile) -> str | None:
    """The first contradiction between the file of objects and the profile beside it, as a sentence; None if there is
    none. It compares the runs, the totals, and the self costs of each function."""
    source = objects.parts[0].source
    if objects.events != profile.events:
        return (
            f"{source} has {' '.join(objects.events)}, but the profile has {' '.join(profile.events)}"
        )
    mine, theirs = _runs(objects.parts), _runs(profile.parts)
    if mine != theirs:
        return f"{source} is about process {_processes(mine)}, but the profile about {_processes(theirs)}"
    found: dict[Function, Row] = {}
    for row in objects.rows:
        known = found.get(row.function)
        found[row.function] = add_rows(known, row.cost) if known else row.cost
    zero = (0,) * len(objects.events)
    functions: Mapping[Function, Row] = {
        function: costs.self_cost for function, costs in build(profile).functions.items()
    }
    yours = [("in all", objects.totals(), profile.totals())]
    yours += [
        (f"of {function.name}", found.get(function, zero), functions.get(function, zero))
        for function in {**dict.fromkeys(functions), **dict.fromkeys(found)}
    ]
    for what, mine_row, their_row in yours:
        for event, one, other in zip(objects.events, mine_row, their_row):
            if one != (other if has_object(event) else 0):
                return f"{source}: {event} {what}: the objects have {one:,}, the profile {other:,}"
    return None


def run_violation(found: Sequence[Objects], profile: Profile) -> str | None:
    """The first fact that shows that the files are not from the profile's run, as a sentence; None if there is none. It
    compares the processes and the totals."""
    parts = [part for objects in found for part in objects.parts]
    mine, theirs = Counter(_runs(parts)), Counter(_runs(profile.parts))
    whole = profile.parts[0].source
    for part in parts:
        if mine[_run(part)] > theirs[_run(part)] > 0:
            return f"{part.source} has part {part.part} of process {part.pid} more often than {whole}"
    source = parts[0].source
    if mine != theirs:
        return (
            f"{source} is from another run than {whole}: from process {_processes(_runs(parts))}, not "
            f"{_processes(_runs(profile.parts))}"
        )
    sums: dict[str, int] = {}
    for objects in found:
        for event, total in zip(objects.events, objects.totals()):
            sums[event] = sums.get(event, 0) + total
    totals = dict(zip(profile.events, profile.totals()))
    for event, total in sums.items():
        if has_object(event) and totals.get(event) != total:
            return (
                f"{source} has {total:,} {event} and {whole} has {totals.get(event, 0):,}: one of the two files is "
                "from another run or damaged"
            )
    return None


def _runs(parts: Iterable[Part]) -> list[tuple[str, str, str, str]]:
    return sorted(map(_run, parts))


def _run(part: Part) -> tuple[str, str, str, str]:
    return part.pid, part.part, part.thread, part.command


def _processes(runs: Sequence[tuple[str, str, str, str]]) -> str:
    """The processes and parts of the first runs, as a text."""
    return ", ".join(f"{pid} (part {part})" for pid, part, _, _ in runs[:3])


def only_of(objects: Objects, is_meant: Callable[[Function], bool]) -> Objects:
    """The objects with only the rows and patterns of functions for which `is_meant` returns True."""
    return replace(
        objects, rows=tuple(row for row in objects.rows if is_meant(row.function)),
        groups=tuple(
            replace(group, patterns=tuple(
                pattern for pattern in group.patterns if is_meant(pattern.by.function)
            )) if group.patterns else group
            for group in objects.groups
        ),
    )
