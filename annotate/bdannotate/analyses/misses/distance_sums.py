# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses by the distance of reuse, summed up for functions, loops and data: those of the code itself, and
those of all that happens in calls from there.

The latter are exact where the run has kept whole paths of calls. Of a loop, they are those of the
function's calls, as far as the profile says that these were made in the loop. Where there are no paths,
what is called by these functions alone counts with them.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...model.graph import CallGraph
from ...model.objects import Objects
from ...model.profile import Call, Function
from ...model.separate import FrameCode
from ...model.why import Why
from .curve import Histogram


class Reach(enum.Enum):
    """What is counted of the functions that are called."""

    ALL = "all"
    BY_THESE_ALONE = "by these alone"


@dataclass(frozen=True, slots=True)
class Distances:
    own: Histogram
    inclusive: Histogram
    reach: Reach
    only_called: int = 0  # by these alone: how many functions


class DistanceSums:
    """code: of frames that are functions of their own, in `graph` as well."""

    def __init__(
        self, why: Why, graph: CallGraph, events: Sequence[str], code: Mapping[Function, FrameCode]
    ) -> None:
        self._why = why
        self._graph = graph
        self._code = code
        self._misses = [number for number, event in enumerate(events) if event in ("D1mr", "D1mw")]
        self._own: dict[Function | None, Counter[int]] = {}
        self._by_address: dict[tuple[Function, int], Counter[int]] = {}
        in_frames = {(one.root, address) for one in code.values() for address in one.own}
        for row in why.distances:
            place = why.places[row.place]
            at = (place.function, place.address) if place else None
            if at in in_frames:
                self._by_address.setdefault(at, Counter())[row.bucket] += row.misses
            else:
                function = place.function if place else None
                self._own.setdefault(function, Counter())[row.bucket] += row.misses
        self._inclusive: dict[tuple[Function, Function | None], Counter[int]] = {}
        for part in why.inclusive or ():
            key = part.function, part.callee
            self._inclusive.setdefault(key, Counter())[part.bucket] += part.misses

    @property
    def has_paths(self) -> bool:
        return bool(self._inclusive)

    def program(self) -> Histogram:
        return total([*self._own.values(), *self._by_address.values()])

    def functions(self) -> list[Function]:
        """That have misses themselves, or in what they call."""
        found = {function for function in self._own if function is not None}
        found.update(function for function, callee in self._inclusive if callee is None)
        return sorted(found)

    def own(self, function: Function) -> Histogram:
        code = self._code.get(function)
        if code is None:
            return self._own.get(function, Counter())
        return self._at(code.root, code.own)

    def of(self, functions: Sequence[Function]) -> Distances:
        own = total(map(self.own, functions))
        if self.has_paths and self._are_apart(functions):
            return Distances(own, total(map(self._with_calls, functions)), Reach.ALL)
        wanted = with_what_only_they_call(self._graph, functions)
        return Distances(
            own, total(map(self.own, wanted)), Reach.BY_THESE_ALONE, len(wanted) - len(functions)
        )

    def of_data(self, objects: Objects, groups: Iterable[int]) -> Histogram:
        """Of those groups, by their numbers in `objects`, which lies beside the same profiles."""
        by_group = self.by_data(objects)
        return total(by_group[number] for number in groups if number in by_group)

    def by_data(self, objects: Objects) -> dict[int, Counter[int]]:
        """The same by each number."""
        found: dict[int, Counter[int]] = {}
        for row in self._why.data or ():
            here = objects.numbers[row.part] if row.part < len(objects.numbers) else ()
            if 0 < row.group <= len(here):
                found.setdefault(here[row.group - 1], Counter())[row.bucket] += row.misses
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
        """Of what a function does in calls of another one, these calls' share."""
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
        """Whether none of them is called by another, at whatever depth."""
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


def total(parts: Iterable[Histogram]) -> Counter[int]:
    found: Counter[int] = Counter()
    for part in parts:
        found.update(part)
    return found


def with_what_only_they_call(graph: CallGraph, functions: Sequence[Function]) -> set[Function]:
    """And with functions that are called by these alone: all that those miss, these have caused."""
    found = set(functions)
    work = list(functions)
    while work:
        for callee in graph.callees.get(work.pop(), {}):
            if callee not in found and found.issuperset(graph.callers.get(callee, {})):
                found.add(callee)
                work.append(callee)
    return found
