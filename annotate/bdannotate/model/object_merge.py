# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects of several parts, threads or runs as one."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import compress
from math import gcd
from typing import Any, NamedTuple, overload

from .errors import UserError
from .narrow import widened, width_of
from .objects import CodeLine, HeapBlocks, Identity, ObjectGroup, ObjectRow, Objects, Pattern, Site
from .profile import Function, Row, add_rows
from .rows import CountRows, Rows


class _Run(NamedTuple):
    """A thread of a process, or a process whose threads are not separated."""

    pid: str
    thread: str
    command: str
    number: int  # counts runs for which all of this is the same


def merge(
    found: Sequence[Objects], rename: Callable[[Function], Function] = lambda same: same, by_site: bool = False
) -> Objects:
    """The objects of several parts, threads or runs as one. Groups with the same identity become one. by_site: whether
    groups that different instructions of the same lines allocated stay separate. Raises UserError if events differ."""
    first = found[0]
    rename = cache(rename)
    # Patterns are most of a file, and few reports need more than those of some groups.
    loaders = _Loaders(_all_patterns(found), rename) if len(found) > 1 else None
    numbers: dict[tuple[Identity, object], int] = {}
    numbers_of: dict[int, list[int]] = {}
    blocks: list[dict[_Run, HeapBlocks]] = []
    patterns: list[list[Sequence[Pattern]]] = []
    sites: list[dict[tuple[Site, ...], None]] = []
    for run, objects in _in_order(found):
        if objects.events != first.events:
            raise UserError(
                f"{objects.parts[0].source} has other events than {first.parts[0].source}"
            )
        here: list[int] = []
        mine: dict[int, HeapBlocks] = {}
        numbers_of[id(objects)] = here
        for group in objects.groups:
            identity = _renamed(group.identity, rename)
            number = numbers.setdefault((identity, group.sites if by_site else ()), len(numbers))
            here.append(number)
            if number == len(blocks):
                blocks.append({})
                patterns.append([])
                sites.append({})
            sites[number].update(dict.fromkeys(group.sites))
            if group.blocks is not None:
                # A line may have several instructions that allocate.
                mine[number] = _beside(mine[number], group.blocks) if number in mine else group.blocks
            patterns[number].append(group.patterns)
        for number, now in mine.items():
            before = blocks[number].get(run)
            blocks[number][run] = _later(before, now) if before else now
    return Objects(
        tuple(part for objects in found for part in objects.parts),
        first.events,
        tuple(
            ObjectGroup(
                identity, _sum_of_blocks(blocks[number]),
                loaders.patterns(patterns[number]) if loaders else _patterns_of_one(patterns[number], rename),
                tuple(sites[number]),
            )
            for (identity, _), number in numbers.items()
        ),
        _merged_rows([(objects, numbers_of[id(objects)]) for _, objects in _in_order(found)], rename),
        max(objects.one_in for objects in found),
        tuple(
            tuple(here) for here in (numbers_of[id(objects)] for objects in found)
        ),
        max(objects.depth for objects in found),
        max(objects.whole_to for objects in found),
    )


def _merged_rows(
    found: Sequence[tuple[Objects, Sequence[int]]], rename: Callable[[Function], Function]
) -> Sequence[ObjectRow]:
    """The rows of all, with equal places added up. found: with the number of each of their groups in the sum."""
    (first, numbers), *others = found
    columns = first.rows.columns if isinstance(first.rows, Rows) and first.rows and not others else ()
    if columns and isinstance(columns[-1], CountRows):
        try:
            return _merged_columns(columns, columns[-1], numbers, rename)
        except OverflowError:
            pass  # a sum does not fit 64 bits
    sums: dict[tuple[int, Function, str, int], Row] = {}
    for objects, numbers in found:
        for row in objects.rows:
            place = numbers[row.group], rename(row.function), row.file, row.line
            known = sums.get(place)
            sums[place] = add_rows(known, row.cost) if known else row.cost
    return tuple(ObjectRow(*place, cost) for place, cost in sums.items())


def _all_patterns(found: Iterable[Objects]) -> Iterator[Sequence[Pattern]]:
    return (group.patterns for objects in found for group in objects.groups)


def _merged_columns(
    columns: Sequence[Sequence[Any]], costs: CountRows, numbers: Sequence[int],
    rename: Callable[[Function], Function],
) -> Rows[ObjectRow]:
    """The same for the columns of rows, the last of which is `costs`, without making objects of them. Raises
    OverflowError if a sum does not fit 64 bits."""
    groups, functions, files, lines, _ = columns
    places: dict[tuple[int, Function, str, int], int] = {}
    firsts: list[int] = []  # by place: the number of its first row
    sums: dict[int, Row] = {}  # of places that have several
    is_first = bytearray(len(costs))
    for number, place in enumerate(zip(map(numbers.__getitem__, groups), map(rename, functions), files, lines)):
        at = places.setdefault(place, len(firsts))
        if at == len(firsts):
            firsts.append(number)
            is_first[number] = 1
        else:
            sums[at] = add_rows(sums.get(at) or costs[firsts[at]], costs[number])
    merged = [array(column.typecode, compress(column, is_first)) for column in costs.columns]
    for event, column in enumerate(merged):
        values = [row[event] for row in sums.values()]
        merged[event] = column = widened(column, max(column.itemsize, width_of(max(values, default=0))))
        for at, value in zip(sums, values):
            column[at] = value
    return Rows(ObjectRow, (*map(list, zip(*places)), CountRows(merged)))


def _patterns_of_one(
    found: Sequence[Sequence[Pattern]], rename: Callable[[Function], Function]
) -> Sequence[Pattern]:
    return _MergedPatterns(found, rename) if any(found) else ()


class _MergedPatterns(Sequence[Pattern]):
    """The patterns of a group, in order and equal ones added up, when they are asked for."""

    __slots__ = ("_make", "_made")

    def __init__(self, found: Sequence[Sequence[Pattern]], rename: Callable[[Function], Function]) -> None:
        """found: one pattern at least."""
        # It is forgotten once it has been called: what renames may know a whole profile.
        self._make: Callable[[], Sequence[Pattern]] | None = lambda: _Loaders(found, rename).patterns(found)
        self._made: Sequence[Pattern] = ()

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Pattern: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Pattern]: ...

    def __getitem__(self, index: int | slice) -> Pattern | Sequence[Pattern]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return self._all() == other

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> Sequence[Pattern]:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made


class _Loaders:
    """Merges patterns. Code that loaded lines is known by its rank in sorted order: most of what is merged are
    patterns, and looking up and comparing names for each of them would take longer than everything else."""

    def __init__(self, found: Iterable[Iterable[Pattern]], rename: Callable[[Function], Function]) -> None:
        # A reader makes each code line once, so that it is known by its id.
        made = {id(pattern.by): pattern.by for patterns in found for pattern in patterns}
        renamed = {number: by._replace(function=rename(by.function)) for number, by in made.items()}
        self._lines = sorted(set(renamed.values()))
        rank = {line: number for number, line in enumerate(self._lines)}
        self._ranks = {number: rank[line] for number, line in renamed.items()}

    def patterns(self, found: Iterable[Iterable[Pattern]]) -> Rows[Pattern]:
        """The patterns in order, equal ones added up."""
        sums: dict[tuple[int, int, int, int], int] = {}
        ranks, lines = self._ranks, self._lines
        for patterns in found:
            for offset, size, used, times, by in patterns:
                key = offset, size, used, ranks[id(by)]
                sums[key] = sums.get(key, 0) + times
        return Rows.of(Pattern, (
            (offset, size, used, times, lines[rank]) for (offset, size, used, rank), times in sorted(sums.items())
        ))


def _renamed(identity: Identity, rename: Callable[[Function], Function]) -> Identity:
    """The identity with other names. Consecutive places that become the same, as in recursion, are one."""
    places: list[CodeLine] = []
    for place in identity.places:
        place = place._replace(function=rename(place.function))
        if not places or places[-1] != place:
            places.append(place)
    function = identity.function and rename(identity.function)
    return identity._replace(function=function, places=tuple(places))


def _in_order(found: Sequence[Objects]) -> Iterator[tuple[_Run, Objects]]:
    """The objects in the order of their parts, each with its run. A process has each part once; a second one is from
    another run, whose process had the same number."""
    times: Counter[tuple[str, ...]] = Counter()

    def number(objects: Objects) -> int:
        part = objects.parts[0].part
        return int(part) if part.isascii() and part.isdigit() else 0

    for objects in sorted(found, key=number):
        part = objects.parts[0]
        which = part.pid, part.thread, part.command, part.part
        yield _Run(part.pid, part.thread, part.command, times[which]), objects
        times[which] += 1


def _sum_of_blocks(found: Mapping[_Run, HeapBlocks]) -> HeapBlocks | None:
    """The blocks of several runs as those of one group; None if there are none."""
    return reduce(_beside, found.values()) if found else None


def _later(mine: HeapBlocks, after: HeapBlocks) -> HeapBlocks:
    """The blocks of two consecutive parts of a process. Those alive at the end are those of the second one."""
    most = max(mine.most_alive, after.most_alive)
    return _beside(mine, after)._replace(alive=after.alive, most_alive=most)


def _beside(mine: HeapBlocks, other: HeapBlocks) -> HeapBlocks:
    """The sum of blocks that may be alive at the same time."""
    return HeapBlocks(
        mine.number + other.number, mine.bytes + other.bytes, mine.freed + other.freed,
        mine.alive + other.alive,
        mine.most_alive + other.most_alive,  # an upper bound, as they may not be alive at the same time
        min(mine.smallest, other.smallest), max(mine.largest, other.largest),
        gcd(mine.divisor, other.divisor),
        _usual(mine) if _usual(mine) == _usual(other) else 0,
    )


def _usual(blocks: HeapBlocks) -> int:
    """The usual size of blocks; 0 if there is none. If there are too few blocks for one, it is the size of all."""
    return blocks.usual or (blocks.smallest if blocks.smallest == blocks.largest else 0)
