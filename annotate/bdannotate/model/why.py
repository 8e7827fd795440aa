# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines of data were loaded: the distances of reuse, the instructions that had loaded and evicted a line before,
the order of addresses, and the bytes that were used in other stays of a line, or never.

Instructions and scopes are known by their numbers in `places` and `scopes`; number 0 is none.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import add
from typing import NamedTuple, TypeVar

from .errors import UserError
from .graph import build
from .profile import Function, Part, Profile

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
    distances: tuple[Distance, ...]
    reuses: tuple[Reuse, ...] | None
    orders: tuple[Order, ...] | None
    stays: tuple[Stay, ...] | None
    data: tuple[DataDistance, ...] | None = None
    inclusive: tuple[Inclusive, ...] | None = None

    def misses(self) -> int:
        """The number of lines of data that D1 missed."""
        return sum(row.misses for row in self.distances)

    def function_of(self, place: int) -> Function | None:
        """The function of an instruction; None for number 0."""
        found = self.places[place]
        return found.function if found else None


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
    for place, rows in by_place(row for row in why.distances if row.bucket).items():
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
_Key = TypeVar("_Key")


def merge(
    found: Sequence[Why], rename: Callable[[Function], Function] = lambda same: same,
    groups: Sequence[Sequence[int]] | None = None,
) -> Why:
    """The contents of several parts, threads or runs as one. Lines and caches must be the same in all; otherwise, it
    raises UserError. rename: returns the new name of a function. groups: for each of `found`, which must be of one part
    then, the numbers of its groups in all of them. Without it, numbers of groups are meaningless in a sum of several,
    as each has its own."""
    first = found[0]
    if len(found) == 1 and groups is None and (renamed := _renamed_whole(first, rename)):
        return renamed
    sums = WhySum()
    for number, one in enumerate(found):
        own = [0] if groups is None and len(found) > 1 else None
        sums.add(one, own if groups is None else groups[number], rename, groups is not None)
    return sums.why()


class WhySum:
    """Adds up the contents of several parts, one after the other."""

    def __init__(self) -> None:
        self._found: list[Why] = []  # without rows
        self._places: dict[Instruction | None, int] = {None: 0}
        self._scopes: dict[Scope, int] = {NO_SCOPE: 0}
        self._distances: dict[tuple[int, int], tuple[int, ...]] = {}
        self._reuses: dict[tuple[int, int, int, int, Cause], tuple[int, ...]] = {}
        self._orders: dict[tuple[int, int, int, int], _OrderSum] = {}
        self._stays: dict[tuple[int, int], tuple[int, ...]] = {}
        self._data: list[DataDistance] = []
        self._by_group: dict[tuple[int, int], tuple[int, ...]] = {}
        self._inclusive: dict[tuple[Function, Function | None, int], tuple[int, ...]] = {}
        self._parts = 0

    def add(
        self, one: Why, groups: Sequence[int] | None, rename: Callable[[Function], Function] = lambda same: same,
        adds_data: bool = True,
    ) -> None:
        """Add `one`. groups: the numbers here of its groups of data, 0 for none; None: they keep their numbers.
        adds_data: whether distances by data are added up by these; otherwise they keep their parts and numbers. Raises
        UserError if the caches are not those of the others."""
        self._check_caches(one)
        places, scopes = self._places, self._scopes
        here = [places.setdefault(_renamed(place, rename), len(places)) for place in one.places]
        known = [
            scopes.setdefault(
                scope._replace(place=_renamed(scope.place, rename) or scope.place), len(scopes)
            ) if number else 0
            for number, scope in enumerate(one.scopes)
        ]
        for missed in one.distances:
            _add(self._distances, (here[missed.place], missed.bucket), missed[2:])
        for reuse in one.reuses or ():
            who = here[reuse.place], here[reuse.before], here[reuse.evictor], known[reuse.scope], reuse.cause
            _add(self._reuses, who, reuse[5:])
        for order in one.orders or ():
            _add_order(
                self._orders, (here[order.place], known[order.scope], order.inner, order.access),
                _OrderSum(order[3:12], order.strides, ((order.depends, here[order.on], order.weight),)),
            )
        for stay in one.stays or ():
            _add(self._stays, (here[stay.place], _number_in(groups, stay.group)), stay[2:])
        for row in one.data or ():
            if adds_data:
                _add(self._by_group, (_number_in(groups, row.group), row.bucket), row[3:])
            else:
                self._data.append(row._replace(part=self._parts + row.part))
        for part in one.inclusive or ():
            callee = None if part.callee is None else rename(part.callee)
            _add(self._inclusive, (rename(part.function), callee, part.bucket), part[3:])
        self._parts += len(one.parts)
        self._found.append(replace(one, places=(), scopes=(), distances=(), **{
            name: None if getattr(one, name) is None else () for name in _SECTIONS
        }))

    def _check_caches(self, one: Why) -> None:
        first = self._found[0] if self._found else one
        if (one.line, one.d1_lines, one.ll_lines, one.sets) != (
            first.line, first.d1_lines, first.ll_lines, first.sets
        ):
            raise UserError(
                f"{one.parts[0].source} was written with other caches than {first.parts[0].source}"
            )

    def why(self) -> Why:
        """The sum of what was added. A section is None if one of the parts does not have it."""
        found = self._found
        first = found[0]
        return Why(
            tuple(part for one in found for part in one.parts),
            first.line, first.d1_lines, first.ll_lines, first.sets,
            max(one.history_sample for one in found), max(one.reuse_sample for one in found),
            Sampled(sum(one.order_sample.seen for one in found), sum(one.order_sample.of for one in found)),
            tuple(self._places), tuple(self._scopes),
            tuple(Distance(*key, *misses) for key, misses in sorted(self._distances.items())),
            _if_all(found, lambda one: one.reuses, (
                Reuse(*key, *sums) for key, sums in sorted(self._reuses.items())
            )),
            _if_all(found, lambda one: one.orders, (
                sums.order(*key) for key, sums in self._orders.items()
            )),
            _if_all(found, lambda one: one.stays, (
                Stay(*key, *sums) for key, sums in sorted(self._stays.items())
            )),
            _if_all(found, lambda one: one.data, (
                *self._data, *(DataDistance(0, *key, *sums) for key, sums in sorted(self._by_group.items()))
            )),
            _if_all(found, lambda one: one.inclusive, (
                Inclusive(*key, *sums) for key, sums in self._inclusive.items()
            )),
        )


_SECTIONS = ("reuses", "orders", "stays", "data", "inclusive")


def _number_in(numbers: Sequence[int] | None, group: int) -> int:
    if numbers is None:
        return group
    return numbers[group] if group < len(numbers) else 0


_MOST_STRIDES = 3
# From harmless to bad. If two dependences are true for as many accesses, the worse one is chosen.
_WORSE = (Depends.UNKNOWN, Depends.ARITHMETIC, Depends.INDEX, Depends.POINTER, Depends.CHAIN)


class _OrderSum(NamedTuple):
    """The sum of rows for the same access in the same loop. As rows only have their most frequent strides, the sum of a
    stride is a lower bound."""

    counts: tuple[int, ...]  # the fields of Order from accesses to runs
    strides: tuple[tuple[int, int], ...]
    depends: tuple[tuple[Depends, int, int], ...]  # with the place that it depends on, and the number of accesses

    def order(self, place: int, scope: int, inner: int, access: int) -> Order:
        kind, on, weight = max(self.depends, key=lambda one: (one[2], _WORSE.index(one[0]), -one[1]))
        strides = tuple(sorted(self.strides, key=lambda one: (-one[1], one[0]))[:_MOST_STRIDES])
        return Order._make((place, scope, inner, *self.counts, strides, kind, on, weight, access))


def _add_order(
    sums: dict[tuple[int, int, int, int], _OrderSum], key: tuple[int, int, int, int], more: _OrderSum
) -> None:
    known = sums.get(key)
    if known is None:
        sums[key] = more
        return
    sums[key] = _OrderSum(
        tuple(map(add, known.counts, more.counts)), _both_strides(known.strides, more.strides),
        _both_depends(known.depends, more.depends),
    )


def _both_strides(
    mine: tuple[tuple[int, int], ...], more: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    if not mine or not more:
        return mine or more
    steps = dict(mine)
    for step, times in more:
        steps[step] = steps.get(step, 0) + times
    return tuple(steps.items())


def _both_depends(
    mine: tuple[tuple[Depends, int, int], ...], more: tuple[tuple[Depends, int, int], ...]
) -> tuple[tuple[Depends, int, int], ...]:
    found = {(kind, on): weight for kind, on, weight in mine}
    for kind, on, weight in more:
        found[kind, on] = found.get((kind, on), 0) + weight
    return tuple((kind, on, weight) for (kind, on), weight in found.items())


def with_fewer_reuses(why: Why, most: int) -> Why:
    """The contents with at most `most` reuses. While there are more, the rarer half loses the evictor, then the
    instruction that had loaded the line before, and finally place and scope, as in a run."""
    reuses = why.reuses
    if reuses is None or len(reuses) <= most:
        return why
    while len(reuses) > most:
        for forget in _FORGETS:
            if len(reuses) > most:
                reuses = _forgotten(reuses, forget)
    return replace(why, reuses=reuses)


_FORGETS: tuple[Callable[[Reuse], Reuse], ...] = (
    lambda row: row._replace(evictor=0),
    lambda row: row._replace(evictor=0, before=0),
    lambda row: row._replace(evictor=0, before=0, place=0, scope=0),
)


def _forgotten(reuses: Sequence[Reuse], forget: Callable[[Reuse], Reuse]) -> tuple[Reuse, ...]:
    middle = sorted(row.misses for row in reuses)[(len(reuses) - 1) // 2]
    sums: dict[tuple[int, ...], tuple[int, ...]] = {}
    for row in reuses:
        kept = row if row.misses > middle else forget(row)
        _add(sums, kept[:5], kept[5:])
    return tuple(
        Reuse(place, before, evictor, scope, Cause(cause), *counts)
        for (place, before, evictor, scope, cause), counts in sorted(sums.items())
    )


def _renamed_whole(why: Why, rename: Callable[[Function], Function]) -> Why | None:
    """The contents with other names; None if different entries get the same name, so that rows must be added up."""
    names = cache(rename)
    places, scopes, inclusive = why.places, why.scopes, why.inclusive
    # Nearly always all names stay the same, and making hundreds of thousands of rows anew takes a second.
    if any(names(function) != function for function in _functions(why)):
        places = tuple(_renamed(place, names) for place in places)
        scopes = tuple(scope._replace(place=_renamed(scope.place, names) or scope.place) for scope in scopes)
        inclusive = inclusive and tuple(
            row._replace(function=names(row.function), callee=row.callee and names(row.callee)) for row in inclusive
        )
    if len(set(places)) < len(places) or len(set(scopes)) < len(scopes):
        return None
    if inclusive and len({row[:3] for row in inclusive}) < len(inclusive):
        return None
    return replace(why, places=places, scopes=scopes, inclusive=inclusive)


def _functions(why: Why) -> Iterable[Function]:
    """All functions. One appears several times only if it is several equal objects."""
    found = {id(place.function): place.function for place in why.places if place}
    found.update((id(scope.place.function), scope.place.function) for scope in why.scopes)
    for row in why.inclusive or ():
        found[id(row.function)] = row.function
        if row.callee is not None:
            found[id(row.callee)] = row.callee
    return found.values()


def _renamed(
    place: Instruction | None, rename: Callable[[Function], Function]
) -> Instruction | None:
    return place._replace(function=rename(place.function)) if place else None


def _add(sums: dict[_Key, tuple[int, ...]], key: _Key, more: tuple[int, ...]) -> None:
    known = sums.get(key)
    sums[key] = tuple(map(add, known, more)) if known else more


_Row = TypeVar("_Row")


def _if_all(
    found: Iterable[Why], section: Callable[[Why], object], rows: Iterable[_Row]
) -> tuple[_Row, ...] | None:
    return None if any(section(one) is None for one in found) else tuple(rows)


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


def by_place(rows: Iterable[Distance]) -> Mapping[int, list[Distance]]:
    """The rows by the number of their instruction."""
    found: dict[int, list[Distance]] = {}
    for row in rows:
        found.setdefault(row.place, []).append(row)
    return found
