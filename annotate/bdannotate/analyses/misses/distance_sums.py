# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses by the distance of reuse, summed up for functions, loops and data: those of the code itself, and those of
everything that it calls.

Inclusive sums are exact if the run kept whole call paths. For a loop, they are the share of its function's calls that
the profile says were made in the loop. If there are no paths, functions that only the given ones call are counted with
them.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...model.graph import CallGraph
from ...model.objects import Objects
from ...model.profile import Call, Function
from ...model.separate import FrameCode
from ...model.why import Why
from .curve import Histogram


_Key = TypeVar("_Key")


class Reach(enum.Enum):
    """Which called functions an inclusive sum counts."""

    ALL = "all"
    BY_THESE_ALONE = "by these alone"  # functions that no others call


@dataclass(frozen=True, slots=True)
class Distances:
    own: Histogram
    inclusive: Histogram
    reach: Reach
    only_called: int = 0  # how many functions were added to the given ones, if reach is BY_THESE_ALONE


class DistanceSums:
    """Sums of misses by distance. code: the code of the frames that count as functions of their own, as in `graph`."""

    def __init__(
        self, why: Why, graph: CallGraph, events: Sequence[str], code: Mapping[Function, FrameCode]
    ) -> None:
        self._why = why
        self._graph = graph
        self._code = code
        self._misses = [number for number, event in enumerate(events) if event in ("D1mr", "D1mw")]
        self._own: dict[Function | None, Counter[int]] = {}
        self._by_address: dict[tuple[Function, int], Counter[int]] = {}
        self._inclusive: dict[tuple[Function, Function | None], Counter[int]] = {}
        # Looking names up takes long, so that it is done once for rows that follow each other.
        self._add_distances()
        self._add_inclusive()

    def _add_distances(self) -> None:
        in_frames = {(one.root, address) for one in self._code.values() for address in one.own}
        before = -1
        counter: Counter[int] = Counter()
        for number, bucket, misses, _ in zip(*self._why.distances.columns):
            if number != before:
                before = number
                place = self._why.places[number]
                at = (place.function, place.address) if place else None
                if at is not None and at in in_frames:
                    counter = _counter(self._by_address, at)
                else:
                    counter = _counter(self._own, place.function if place else None)
            counter[bucket] += misses

    def _add_inclusive(self) -> None:
        before: tuple[object, object] = (None, None)
        counter: Counter[int] = Counter()
        for function, callee, bucket, misses, _ in zip(*self._why.inclusive.columns) if self._why.inclusive else ():
            if function is not before[0] or callee is not before[1]:
                before = function, callee
                counter = _counter(self._inclusive, (function, callee))
            counter[bucket] += misses

    @property
    def has_paths(self) -> bool:
        """Whether the run kept whole call paths."""
        return bool(self._inclusive)

    def program(self) -> Histogram:
        """All misses of the program."""
        return total([*self._own.values(), *self._by_address.values()])

    def functions(self) -> list[Function]:
        """The functions that have misses, themselves or in what they call, sorted."""
        found = {function for function in self._own if function is not None}
        found.update(function for function, callee in self._inclusive if callee is None)
        return sorted(found)

    def own(self, function: Function) -> Histogram:
        """The misses of a function's own code, without those of what it calls."""
        code = self._code.get(function)
        if code is None:
            return self._own.get(function, Counter())
        return self._at(code.root, code.own)

    def of(self, functions: Sequence[Function]) -> Distances:
        """The self and inclusive misses of several functions. No miss is counted twice."""
        own = total(map(self.own, functions))
        if self.has_paths and self._are_apart(functions):
            return Distances(own, total(map(self._with_calls, functions)), Reach.ALL)
        wanted = with_what_only_they_call(self._graph, functions)
        return Distances(
            own, total(map(self.own, wanted)), Reach.BY_THESE_ALONE, len(wanted) - len(functions)
        )

    def of_data(self, objects: Objects, groups: Iterable[int]) -> Histogram:
        """The misses of object groups. groups: their numbers in `objects`, which must be of the same profiles."""
        by_group = self.by_data(objects)
        return total(by_group[number] for number in groups if number in by_group)

    def by_data(self, objects: Objects) -> dict[int, Counter[int]]:
        """The misses of all object groups, by their numbers in `objects`, which must be of the same profiles."""
        found: dict[int, Counter[int]] = {}
        for row in self._why.data or ():
            here = objects.numbers[row.part] if row.part < len(objects.numbers) else ()
            if 0 < row.group <= len(here):
                _counter(found, here[row.group - 1])[row.bucket] += row.misses
        return found

    def _at(self, root: Function, addresses: Iterable[int]) -> Counter[int]:
        return total(self._by_address.get((root, address), {}) for address in addresses)

    def _with_calls(self, function: Function) -> Histogram:
        code = self._code.get(function)
        if code is None:
            return self._inclusive.get((function, None), Counter())
        sums = self._at(code.root, code.addresses)
        made: dict[Function, Call] = {}
        for callee, _, _, call in code.calls:
            made[callee] = made[callee].plus(*call) if callee in made else call
        for callee, call in made.items():
            share = self._share(code.root, callee, call)
            for bucket, misses in self._inclusive.get((code.root, callee), Counter()).items():
                sums[bucket] += round(share * misses)
        return sums

    def _share(self, root: Function, callee: Function, call: Call) -> float:
        """The share of the costs of all calls from `root` to `callee` that `call` has, from 0 to 1: by misses or, if
        there are none, by the number of calls."""
        everything = [
            one for frame, code in [(root, None), *self._code.items()]
            if (code is None or code.root == root)
            and (one := self._graph.callees.get(frame, {}).get(callee)) is not None
        ]
        misses = sum(self._misses_of(one) for one in everything)
        if misses:
            return min(self._misses_of(call) / misses, 1.0)
        calls = sum(one.calls for one in everything)
        return min(call.calls / calls, 1.0) if calls else 0.0

    def _misses_of(self, call: Call) -> int:
        return sum(call.cost[number] for number in self._misses)

    def _are_apart(self, functions: Sequence[Function]) -> bool:
        """Whether none of the functions calls another one of them, directly or not."""
        wanted = set(functions)
        if len(wanted) < 2:
            return True
        seen: set[Function] = set()
        work = [callee for function in wanted for callee in self._graph.callees.get(function, {})]
        while work:
            function = work.pop()
            if function in seen:
                continue
            if function in wanted:
                return False
            seen.add(function)
            work += self._graph.callees.get(function, {})
        return True


def _counter(counters: dict[_Key, Counter[int]], key: _Key) -> Counter[int]:
    """That of the key, which is made when it is first asked for: there are many rows of few keys."""
    found = counters.get(key)
    if found is None:
        found = counters[key] = Counter()
    return found


def total(parts: Iterable[Histogram]) -> Counter[int]:
    """The sum of several histograms."""
    found: Counter[int] = Counter()
    for part in parts:
        found.update(part)
    return found


def with_what_only_they_call(graph: CallGraph, functions: Sequence[Function]) -> set[Function]:
    """The given functions, and those that are called by members of the result only, so that all of their misses are due
    to the given ones."""
    found = set(functions)
    work = list(functions)
    while work:
        for callee in graph.callees.get(work.pop(), {}):
            if callee not in found and found.issuperset(graph.callers.get(callee, {})):
                found.add(callee)
                work.append(callee)
    return found
