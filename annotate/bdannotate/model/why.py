# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines of data were loaded: the distances of reuse, the instructions that had loaded and evicted a line before,
the order of addresses, and the bytes that were used in other stays of a line, or never.

Instructions and scopes are known by their numbers in `places` and `scopes`; number 0 is none.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, overload

from .graph import build
from .profile import Function, Part, Profile
from .rows import RowColumns, Rows

# Buckets of distances per power of two.
STEPS = 4


class Instruction(NamedTuple):
    """An instruction and its source line."""

    function: Function
    file: str
    line: int
    address: int  # in the function's object file


class ScopeKind(enum.Enum):
    RUN = "run"
    CALL = "call"
    LOOP = "loop"


class Scope(NamedTuple):
    """A scope that carries reuse: it was open when a line was loaded again, and had begun before the line's last touch.
    place: of a loop, its header."""

    kind: ScopeKind
    place: Instruction


class Cause(enum.IntEnum):
    FIRST_TOUCH = 1
    CAPACITY = 2
    CONFLICT = 3


class Depends(enum.IntEnum):
    """What an address depends on."""

    UNKNOWN = 0
    ARITHMETIC = 1
    INDEX = 2  # an index that another instruction loaded
    CHAIN = 3  # a pointer whose chain of loads passes one instruction twice, as in a list
    POINTER = 4  # a pointer that another instruction loaded


class Distance(NamedTuple):
    """Misses of D1 by an instruction, by the number of other lines touched since the line's last touch. Bucket 0 has
    lines that were not touched before; bucket b has distances from 2^((b - 1) / 4) to less than 2^(b / 4) lines."""

    place: int
    bucket: int
    misses: int
    last_level: int  # those of them that missed LL, too


class Reuse(NamedTuple):
    """Misses of D1 by an instruction, by the history of the line."""

    place: int
    before: int  # the instruction that had loaded the line the last time
    evictor: int  # the instruction whose miss evicted it
    scope: int  # the one that carries the reuse
    cause: Cause
    misses: int
    last_level: int  # those of them that missed LL, too
    distance: int  # the sum of the distances, in lines


class Order(NamedTuple):
    """The addresses of an instruction in a loop, from some pieces of the run.

    same, near, forward, backward, far: where an address was relative to the previous one: at the same address, within a
    line, a constant step further on or back, or anywhere else.
    """

    place: int
    scope: int  # the loop
    inner: int  # how many loops are within it; if there are any, the accesses are the first ones of their runs
    accesses: int
    straddle_line: int
    straddle_page: int
    same: int
    near: int
    forward: int
    backward: int
    far: int
    runs: int
    strides: tuple[tuple[int, int], ...]  # steps in bytes and how often, the most frequent first
    depends: Depends
    on: int  # the instruction that loaded what the address depends on
    weight: int  # for how many accesses `depends` and `on` are true
    access: int = 0  # the number of the access among those of the instruction

    @staticmethod
    def without_place(accesses: int) -> Order:
        """The row of accesses for which there was no room."""
        return Order(0, 0, 0, accesses, 0, 0, 0, 0, 0, 0, 0, 0, (), Depends.UNKNOWN, 0, 0)


class StrideColumn(Sequence[tuple[tuple[int, int], ...]]):
    """A column of Order.strides, each of which is made whenever it is looked at."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[Sequence[int]]) -> None:
        """columns: the first steps, how often they occurred, the second steps, and so on, as 64-bit numbers without
        sign, in any order. They must not be modified."""
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> tuple[tuple[int, int], ...]: ...

    @overload
    def __getitem__(self, index: slice) -> StrideColumn: ...

    def __getitem__(self, index: int | slice) -> tuple[tuple[int, int], ...] | StrideColumn:
        if isinstance(index, slice):
            return StrideColumn([column[index] for column in self._columns])
        row = [column[index] for column in self._columns]
        found = [(_signed(step), times) for step, times in zip(row[::2], row[1::2]) if times]
        return tuple(sorted(found, key=lambda step: -step[1]))


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


class Stay(NamedTuple):
    """Lines that an instruction loaded, and their use until they left D1."""

    place: int
    group: int  # of the data objects beside the profile; 0: none
    lines: int
    unused: int  # bytes
    late: int  # bytes of these that were used in another stay of their line
    never: int  # bytes of these that were never used while the object lived


class DataDistance(NamedTuple):
    """Misses of D1 by the group of data that was loaded."""

    part: int  # the index of the part
    group: int  # its number in that part's file of data objects; 0: none in that file
    bucket: int
    misses: int
    last_level: int


class Inclusive(NamedTuple):
    """Misses of D1 while a function was open. callee: if not None, only those in its calls of that function."""

    function: Function
    callee: Function | None
    bucket: int
    misses: int
    last_level: int


class Sampled(NamedTuple):
    """The size of the sample of accesses whose order is known."""

    seen: int  # accesses in the sample
    of: int  # all accesses


@dataclass(frozen=True, slots=True)
class Why:
    """The contents of a why file. A section that the file does not have is None."""

    parts: tuple[Part, ...]
    line: int  # bytes of a line of D1
    d1_lines: int
    ll_lines: int
    sets: int  # of D1
    history_sample: int  # stays are those of one line in so many
    reuse_sample: int  # 1: reuses are of all lines; else they are scaled from one line in so many, after some time
    order_sample: Sampled
    places: tuple[Instruction | None, ...]
    scopes: tuple[Scope, ...]
    distances: Rows[Distance]  # those of an instruction follow each other
    reuses: tuple[Reuse, ...] | None
    orders: Rows[Order] | None
    stays: tuple[Stay, ...] | None
    data: Rows[DataDistance] | None = None
    inclusive: Rows[Inclusive] | None = None
    # Distances of hits instead of misses, as if of a file of its own: what caches smaller than D1 miss beside these.
    hits: Why | None = None
    least_distance: int = 0  # of hits, in lines; 0: these are not known

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Why], tuple[dict[str, Any]]]:
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        state["places"] = RowColumns(Instruction, self.places)
        if self.reuses is not None:
            state["reuses"] = RowColumns(Reuse, self.reuses)
        return _unpacked, (state,)

    def misses(self) -> int:
        """The number of lines of data that D1 missed."""
        return sum(self.distances.columns[2])

    def without_rows(self) -> Why:
        """The same with empty sections."""
        return replace(
            self, distances=Rows.of(Distance, ()),
            reuses=None if self.reuses is None else (),
            orders=None if self.orders is None else Rows.of(Order, ()),
            stays=None if self.stays is None else (),
            data=None if self.data is None else Rows.of(DataDistance, ()),
            inclusive=None if self.inclusive is None else Rows.of(Inclusive, ()),
            hits=None if self.hits is None else self.hits.without_rows(),
        )

    def function_of(self, place: int) -> Function | None:
        """The function of an instruction; None for number 0."""
        found = self.places[place]
        return found.function if found else None


def _unpacked(state: dict[str, Any]) -> Why:
    return Why(**{name: value.rows() if isinstance(value, RowColumns) else value for name, value in state.items()})


def with_scaled_reuses(why: Why) -> Why:
    """The reuses of a sample of lines, scaled so that those of each instruction add up to its misses without first
    touches, which are known exactly. Misses of instructions that have no line in the sample get no history and
    scope."""
    if why.reuses is None or any(not row.place and row.cause != Cause.FIRST_TOUCH for row in why.reuses):
        return why  # some rows have lost their instruction
    known: dict[int, list[Reuse]] = {}
    for row in why.reuses:
        if row.cause != Cause.FIRST_TOUCH and row.misses:
            known.setdefault(row.place, []).append(row)
    found = [row for row in why.reuses if row.cause == Cause.FIRST_TOUCH]
    for place, distances in by_place(why.distances).items():
        rows = [row for row in distances if row.bucket]
        exact = sum(row.misses for row in rows)
        exact_last = sum(row.last_level for row in rows)
        if place in known:
            found += _scaled(known[place], exact, exact_last)
        else:
            found += (_unknown_reuse(row, why.d1_lines) for row in rows)
    return replace(why, reuses=tuple(sorted(found)))


def _scaled(rows: Sequence[Reuse], exact: int, exact_last: int) -> Iterator[Reuse]:
    """The rows scaled to exact sums. They are rounded so that nothing is lost."""
    total = sum(row.misses for row in rows)
    total_last = sum(row.last_level for row in rows)
    before = before_last = 0
    for row in rows:
        after, after_last = before + row.misses, before_last + row.last_level
        misses = after * exact // total - before * exact // total
        last = after_last * exact_last // total_last - before_last * exact_last // total_last if total_last else 0
        before, before_last = after, after_last
        if misses:
            yield row._replace(
                misses=misses, last_level=min(last, misses), distance=row.distance * misses // row.misses
            )


def _unknown_reuse(row: Distance, d1_lines: int) -> Reuse:
    start = bucket_start(row.bucket)
    cause = Cause.CONFLICT if start < d1_lines else Cause.CAPACITY
    return Reuse(row.place, 0, 0, 0, cause, row.misses, row.last_level, start * row.misses)


def bucket_start(bucket: int) -> int:
    """The smallest distance of a bucket, in lines; 0 for bucket 0."""
    return math.ceil(2 ** ((bucket - 1) / STEPS) - 1e-9) if bucket else 0


NO_SCOPE = Scope(ScopeKind.RUN, Instruction(Function("", "", ""), "", 0, 0))


def run_violation(found: Sequence[Why], profile: Profile) -> str | None:
    """The first fact that shows that the files are not from the profile's run, as a sentence; None if there is none."""
    parts = [part for one in found for part in one.parts]
    mine, theirs = Counter(map(_run, parts)), Counter(map(_run, profile.parts))
    source, whole = parts[0].source, profile.parts[0].source
    if mine != theirs:
        return f"{source} is from another run than {whole}"
    return _sums_violation(sum(one.misses() for one in found), profile, source)


def _sums_violation(lines: int, profile: Profile, source: str) -> str | None:
    """Too few lines for the profile's misses, as a sentence; None if there are enough. A miss is of one line or, if an
    access straddles lines, of several."""
    misses = _misses(profile.totals(), profile.events)
    if misses is not None and lines < misses:
        return (
            f"{source} has {lines:,} lines of data that D1 missed, fewer than the {misses:,} misses of "
            f"{profile.parts[0].source}: one of the two files is from another run or damaged"
        )
    return None


def why_violation(why: Why, profile: Profile) -> str | None:
    """The first contradiction between the file and the profile beside it, as a sentence; None if there is none. It
    compares the runs and the misses of D1 by function."""
    if violation := run_violation([why], profile):
        return violation
    source = why.parts[0].source
    lines: Counter[Function | None] = Counter()
    first: Counter[Function | None] = Counter()
    for row in why.distances:
        function = why.function_of(row.place)
        lines[function] += row.misses
        if row.bucket == 0:
            first[function] += row.misses
    # Misses without a place may be of any function.
    spare, spare_first = lines[None], first[None]
    for function, costs in build(profile).functions.items():
        misses = _misses(costs.self_cost, profile.events) or 0
        spare -= max(misses - lines[function], 0)
        if "D1first" in profile.events:
            touched = costs.self_cost[profile.events.index("D1first")]
            spare_first -= max(touched - first[function], 0)
        if min(spare, spare_first) < 0:
            return (
                f"{source}: {function.name} has {lines[function]:,} lines that D1 missed, {first[function]:,} of "
                "them for the first time, but the profile has more"
            )
    return _reuse_violation(why) or _part_violation(why)


def _part_violation(why: Why) -> str | None:
    """A contradiction in the distances by data, which must add up to all misses, or in those by function, none of which
    may have more than all."""
    source = why.parts[0].source
    if why.data is not None and (mine := sum(row.misses for row in why.data)) != why.misses():
        return f"{source}: data objects have {mine:,} lines that D1 missed, but instructions have {why.misses():,}"
    most: Counter[int] = Counter()
    for row in why.distances:
        most[row.bucket] += row.misses
    for part in why.inclusive or ():
        if part.misses > most[part.bucket]:
            return (
                f"{source}: {part.function.name} has {part.misses:,} misses at a distance at which all functions "
                f"have {most[part.bucket]:,}"
            )
    return None


def _reuse_violation(why: Why) -> str | None:
    if why.reuses is None or why.reuse_sample > 1:
        return None
    by_distance, by_reuse = why.misses(), sum(row.misses for row in why.reuses)
    if by_distance == by_reuse:
        return None
    return (
        f"{why.parts[0].source}: the misses by reuse add up to {by_reuse:,}, but those by distance to "
        f"{by_distance:,}"
    )


def _misses(row: Sequence[int], events: Sequence[str]) -> int | None:
    """The data misses of D1 in a row of a profile; None if it does not have these events."""
    if "D1mr" not in events or "D1mw" not in events:
        return None
    return row[events.index("D1mr")] + row[events.index("D1mw")]


def _run(part: Part) -> tuple[str, str, str, str]:
    return part.pid, part.part, part.thread, part.command


def by_place(rows: Rows[Distance]) -> Mapping[int, Rows[Distance]]:
    """The rows by the number of their instruction, whose rows follow each other."""
    lengths = Counter(rows.columns[0])
    return dict(zip(lengths, rows.pieces(lengths.values())))
