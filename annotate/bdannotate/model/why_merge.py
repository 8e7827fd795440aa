# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up why lines were loaded: in several parts, threads or runs, or under other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import add
from typing import NamedTuple, TypeVar

from .errors import UserError
from .profile import Function
from .rows import Rows
from .why import (
    NO_SCOPE, Cause, DataDistance, Depends, Distance, Inclusive, Instruction, Order, Reuse, Sampled, Scope, Stay, Why,
)

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
        self._hits: WhySum | None = None  # None: nothing was added, or something without hits

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
        if one.hits is not None and (self._hits or not self._found):
            self._hits = self._hits or WhySum()
            self._hits.add(one.hits, groups, rename, adds_data)
        else:
            self._hits = None
        self._parts += len(one.parts)
        self._found.append(replace(one.without_rows(), places=(), scopes=(), hits=None))

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
            Rows.of(Distance, ((*key, *misses) for key, misses in sorted(self._distances.items()))),
            _if_all(found, lambda one: one.reuses, (
                Reuse(*key, *sums) for key, sums in sorted(self._reuses.items())
            )),
            None if any(one.orders is None for one in found) else Rows.of(Order, (
                sums.order(*key) for key, sums in self._orders.items()
            )),
            _if_all(found, lambda one: one.stays, (
                Stay(*key, *sums) for key, sums in sorted(self._stays.items())
            )),
            None if any(one.data is None for one in found) else Rows.of(DataDistance, (
                *self._data, *((0, *key, *sums) for key, sums in sorted(self._by_group.items()))
            )),
            None if any(one.inclusive is None for one in found) else Rows.of(Inclusive, (
                (*key, *sums) for key, sums in self._inclusive.items()
            )),
            None if self._hits is None else self._hits.why(),
            0 if self._hits is None else max(one.least_distance for one in found),
        )


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
        inclusive = inclusive and Rows.of(Inclusive, (
            (names(row.function), row.callee and names(row.callee), *row[2:]) for row in inclusive
        ))
    if len(set(places)) < len(places) or len(set(scopes)) < len(scopes):
        return None
    if inclusive and len(set(zip(*inclusive.columns[:3]))) < len(inclusive):
        return None
    hits = why.hits and _renamed_whole(why.hits, rename)
    if why.hits and hits is None:
        return None
    return replace(why, places=places, scopes=scopes, inclusive=inclusive, hits=hits)


def _functions(why: Why) -> Iterable[Function]:
    """All functions. One appears several times only if it is several equal objects."""
    found = {id(place.function): place.function for place in why.places if place}
    found.update((id(scope.place.function), scope.place.function) for scope in why.scopes)
    for column in why.inclusive.columns[:2] if why.inclusive else ():
        found.update((id(function), function) for function in column if function is not None)
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
