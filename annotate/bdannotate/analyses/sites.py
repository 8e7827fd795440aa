# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions that load lines, with all that is known of each: how often it ran and missed, at which
distances, who brings its lines back, in which order its addresses come, and what is used of its lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from ..model.code import costs_at
from ..model.frames import Chains
from ..model.machine import Machine
from ..model.profile import Function, Profile, Row
from ..model.why import Cause, Depends, Distance, Instruction, Order, Reuse, Why, by_place, bucket_start
from .inlined_lines import Chooser
from .loop_nests import LoopPlace, Loops
from .miss_costs import FORESEEN, MISPREDICTED, OVERLAPPING, WAITING, Access, MissCosts
from .ownership import Folders, is_foreign

# A step that so many of all are is the step of a loop.
_MOST = 0.6
# From this share on, addresses are a chain, or anywhere.
_NOTABLE = 0.3
# A loop that goes through data little by little brings other lines in at least so many of its rounds.
_ROUNDS = 3
# Of a few strides only the three most frequent are known.
_HALF = 0.5
# An element that a loop goes through has less than so many lines. What is seen less often than _FEW times
# tells nothing.
_ELEMENT = 4
_FEW = 8
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Level:
    """A loop as an instruction in it sees it."""

    loop: LoopPlace | None  # None: none of the loops that are known
    step: int | None  # in bytes, from iteration to iteration; None: no constant one
    order: Order

    def lines_per_step(self, line: int) -> float:
        """How many lines are new each time, if nothing of them stays in the cache."""
        return 1.0 if self.step is None else min(abs(self.step) / line, 1.0)


@dataclass(frozen=True)
class Site:
    """where: the file and line of the program's own code that the instruction is of, or that library code
    was inlined into."""

    number: int
    place: Instruction
    where: tuple[str, int]
    accesses: int  # estimated by the sample if the profile does not know instructions
    lines: int  # that D1 missed
    last_level: int  # of these, LL
    conflicts_of_ll: int
    line: int  # bytes
    distances: Sequence[Distance]
    reuses: Sequence[Reuse]
    levels: tuple[Level, ...]  # the innermost first
    used: float  # bytes of a line until it leaves D1, on average
    late: float | None  # bytes of a line that another stay of it uses; None where it is not known
    never: float | None
    costs: MissCosts
    windows: float = 0.0  # so many of its lines, if they could overlap, are waited for one at a time, at most
    hidden: float = 0.0  # nanoseconds of its time in which the instructions of the loop are executed

    @cached_property
    def inner(self) -> Level | None:
        return self.levels[0] if self.levels else None

    @cached_property
    def is_chain(self) -> bool:
        """In an order that is known, as all that is said of it depends on that."""
        return self.waits_for_itself and self.has_order

    @cached_property
    def waits_for_itself(self) -> bool:
        """Whether each of its addresses is in what the one before has loaded."""
        order = self.levels[0].order if self.levels else None
        return (
            order is not None and order.depends is Depends.CHAIN
            and order.weight >= _MOST * order.accesses and self.levels[0].step is None
        )

    @property
    def has_order(self) -> bool:
        """Whether it is known where its addresses lie, seen from the ones before."""
        return self._deciding is not None

    @cached_property
    def is_nearby(self) -> bool:
        """Its steps are not constant, but most are small ones in one direction, as in a list whose elements
        were made one after the other: processors foresee that."""
        level = self._deciding
        return level is not None and level.step is None and _goes_on(level.order)

    @property
    def deciding_loop(self) -> LoopPlace | None:
        """The loop that decides which lines come."""
        return self._deciding.loop if self._deciding else None

    @cached_property
    def _deciding(self) -> Level | None:
        """The loop that decides which lines come: one in it may only go through a few lines of an element, or
        do so once. None where too few steps were seen to tell."""
        level = self._deciding_level()
        return level if level is not None and _steps(level.order) >= _FEW else None

    def _deciding_level(self) -> Level | None:
        for level, around in zip(self.levels, self.levels[1:]):
            trips = level.order.accesses / max(around.order.accesses, 1)
            small = level.step is not None and trips * abs(level.step) < _ELEMENT * self.line
            once = _steps(level.order) < _FEW
            if not (small or once) or around.order.accesses < _FEW:
                return level
            if once and around.order.accesses < _HALF * level.order.accesses:
                return None  # most of its runs are within other loops
        return self.levels[-1] if self.levels else None

    @cached_property
    def is_scattered(self) -> bool:
        """Most of its lines are anywhere, seen from the one before."""
        level = self._deciding
        if level is None or level.step is not None or self.is_nearby:
            return False
        return level.order.far >= _NOTABLE * _steps(level.order) > 0

    @cached_property
    def is_strided(self) -> bool:
        """A constant step of a line or more."""
        step = self.inner.step if self.inner else None
        return step is not None and abs(step) >= self.line

    @cached_property
    def element_step(self) -> int | None:
        """The constant step; or what most steps are multiples of, as in a list whose elements lie in an array:
        a line or more, as all addresses have small divisors in common."""
        level = self.inner
        if level is None or level.step is not None:
            return level.step if level else None
        step = math.gcd(*(step for step, _ in level.order.strides))
        is_most = sum(times for _, times in level.order.strides) >= _MOST * _steps(level.order) > 0
        return step if is_most and step >= self.line else None

    @cached_property
    def elements_per_step(self) -> float:
        """How many elements of that size lie between two visits, on average, or more; 1 where the step is
        constant."""
        inner, element = self.inner, self.element_step
        if inner is None or inner.step is not None or not element:
            return 1.0
        steps = [(abs(step), times) for step, times in inner.order.strides]
        others = _steps(inner.order) - sum(times for _, times in steps)
        # Those that are not known are of more elements.
        steps.append((max(step for step, _ in steps) + element, others))
        return sum(step * times for step, times in steps) / _steps(inner.order) / element

    @cached_property
    def is_used_later(self) -> bool:
        """A loop around goes through the rest of the lines that large steps load."""
        return any(
            level.step is not None and 0 < abs(level.step) < self.line for level in self.levels[1:]
        )

    @cached_property
    def is_in_order(self) -> bool:
        step = self.inner.step if self.inner else None
        return step is not None and 0 < abs(step) < self.line

    @cached_property
    def access(self) -> Access:
        step = self._deciding.step if self._deciding else None
        if step is not None and abs(step) < FORESEEN:
            return Access.IN_ORDER if abs(step) < 2 * self.line else Access.STRIDE
        if step is not None:
            return Access.COLUMN
        if not self.waits_for_itself:
            return Access.INDEPENDENT
        # Where the order is not known, it is the middle of what it may be.
        return Access.CHAIN if self.has_order and not self.is_nearby else Access.NEARBY

    @cached_property
    def time(self) -> float:
        """Estimated nanoseconds until its lines have come, where as many are on their way as can be."""
        return self.costs.time_of(self.distances, self.access, self.line)

    @cached_property
    def first_time(self) -> float:
        """The part of it that first touches cost."""
        first = [row for row in self.distances if row.bucket == 0]
        return self.costs.time_of(first, self.access, self.line)

    @property
    def waiting(self) -> float:
        """Estimated nanoseconds in which the processor has nothing else to do: with as many lines on their way as its
        window of instructions has."""
        return max(self.costs.time_of(self.distances, self.access, self.line, self.windows) - self.hidden, 0.0)

    @property
    def is_foreseen(self) -> bool:
        """Whether the next lines are on their way already."""
        return self.access in (Access.IN_ORDER, Access.STRIDE)

    @cached_property
    def conflicts(self) -> int:
        return sum(row.misses for row in self.reuses if row.cause is Cause.CONFLICT)

    @cached_property
    def first_touches(self) -> int:
        return sum(row.misses for row in self.distances if row.bucket == 0)

    def carried(self, loop: LoopPlace, loops: Loops) -> tuple[int, int]:
        """How many lines, and of LL, the repetition of a loop brings back."""
        rows = [row for row in self.reuses if loops.of(row.scope) == loop]
        return sum(row.misses for row in rows), sum(row.last_level for row in rows)

    def level_of(self, loop: LoopPlace) -> Level | None:
        return next((level for level in self.levels if level.loop == loop), None)

    def trips(self, loop: LoopPlace) -> float:
        """Iterations of a loop each time that it is entered, as the pieces of the run tell; 0 where they do
        not."""
        for level, around in zip(self.levels, self.levels[1:]):
            if level.loop == loop:
                return level.order.accesses / max(around.order.accesses, 1)
        return 0.0

    def shrunk(self, factor: float, d1_lines: int, ll_lines: int) -> tuple[int, int]:
        """Lines, and of LL, if all that is loaded took this share of its lines: fewer come, and some of
        these hit, as fewer others come between."""
        first = last = 0.0
        for row in self.distances:
            distance = bucket_start(row.bucket) * factor
            if row.bucket and distance < d1_lines:
                continue
            first += row.misses * factor
            if not row.bucket or distance >= ll_lines:
                last += row.last_level * factor
        return round(first), round(last)


class SiteRows:
    """What the files say of each instruction, by its number."""

    def __init__(self, why: Why, profile: Profile, machine: Machine) -> None:
        """machine: the one that times are of."""
        self.why = why
        self.costs = MissCosts(machine, why.d1_lines * why.line, why.ll_lines * why.line)
        self._profile = profile
        self._events = {event: number for number, event in enumerate(profile.events)}
        wanted: dict[str, set[int]] = {}
        for place in why.places:
            if place is not None:
                wanted.setdefault(place.function.object, set()).add(place.address)
        self._instructions = profile.instructions
        self._costs = self.costs_at(wanted)
        self.reuses: dict[int, list[Reuse]] = {}
        for row in why.reuses or ():
            self.reuses.setdefault(row.place, []).append(row)
        self.orders: dict[int, list[Order]] = {}
        for order in why.orders or ():
            self.orders.setdefault(order.place, []).append(order)
        self.stays: dict[int, list[int]] = {}
        for stay in why.stays or ():
            sums = self.stays.setdefault(stay.place, [0, 0, 0, 0])
            for index, count in enumerate(stay[2:]):
                sums[index] += count
        self.distances = by_place(why.distances)

    @cached_property
    def instructions(self) -> Mapping[Function, int]:
        """How many each function executed itself."""
        return self._of_functions(lambda row: self.count(row, "Ir"))

    @cached_property
    def mispredictions(self) -> Mapping[Function, float]:
        return self._of_functions(self.mispredicted)

    def mispredicted(self, cost: Row) -> float:
        """Branches that a processor of today does, as far as the run has simulated any."""
        return MISPREDICTED * (self.count(cost, "Bcm") + self.count(cost, "Bim"))

    def _of_functions(self, count: Callable[[Row], _Number]) -> dict[Function, _Number]:
        found: dict[Function, _Number] = {}
        for place, rows in self._profile.lines.items():
            found[place.function] = sum(map(count, rows.values()), found.get(place.function, count(())))
        return found

    def costs_at(self, wanted: Mapping[str, Set[int]]) -> dict[tuple[str, int], Row]:
        return costs_at(self._instructions, wanted)

    def cost(self, module: str, address: int) -> Row:
        """Of one that misses; empty where the profile does not know it."""
        return self._costs.get((module, address), ())

    def count(self, cost: Row, event: str) -> int:
        number = self._events.get(event)
        return cost[number] if cost and number is not None else 0


class Sites:
    """All instructions of a file, the costliest first, with the loops that they are in."""

    def __init__(
        self, rows: SiteRows, loops: Loops, chains: Chains, folders: Folders = Folders(),
        known: Mapping[int, Site] = {},
    ) -> None:
        """known: by number, those of which loops and chains say nothing."""
        self.why = rows.why
        self.loops = loops
        self.costs = rows.costs
        self._rows = rows
        self._chains = chains
        self._chooser = Chooser(chains, folders.is_library, ())
        self._costs: dict[tuple[str, int], Row] | None = None  # of the loops
        found = [
            known.get(number) or self._site(number, place)
            for number, place in enumerate(rows.why.places)
            if place is not None and (number in rows.distances or number in rows.orders)
        ]
        found = self._with_overlap(found, known)
        self.all = sorted(found, key=lambda site: (-site.time, site.number))
        self.by_number = {site.number: site for site in self.all}

    def instructions_of(self, loop: LoopPlace) -> int:
        """How many were executed in a loop itself, without what it calls; 0 if that is not known."""
        return sum(self._rows.count(cost, "Ir") for cost in self._costs_of(loop))

    def _costs_of(self, loop: LoopPlace) -> list[Row]:
        """Of its instructions."""
        if self._costs is None:
            self._costs = self._rows.costs_at(self.loops.all_addresses())
        module = loop.function.object
        return [self._costs.get((module, address), ()) for address in self.loops.addresses(loop)]

    def _with_overlap(self, found: Sequence[Site], known: Mapping[int, Site]) -> list[Site]:
        """What processors do while lines are on their way, loop by loop: of misses that they foresee, or that do not
        wait for each other, all instructions of the loop, until these take longer; of a chain, those that they look
        ahead at each of its steps."""
        groups: dict[LoopPlace | Function, list[Site]] = {}
        done = [site for site in found if site.number in known]
        for site in found:
            if site.number not in known:
                groups.setdefault(site.deciding_loop or site.place.function, []).append(site)
        for where, here in groups.items():
            done += self._overlapped(here, *self._work(where))
        return done

    def _overlapped(self, here: Sequence[Site], instructions: int, mispredicted: float) -> list[Site]:
        """As many lines are on their way at a time as the window of instructions has; and what stands behind a branch
        that is mispredicted is not looked at before the line that it depends on has come."""
        if not instructions:
            return list(here)
        windows = max(instructions / self.costs.window, mispredicted)
        overlapping = [site for site in here if site.access in OVERLAPPING]
        last = sum(site.last_level for site in overlapping)
        near = sum(site.lines for site in overlapping) - last
        for_last, for_near = min(windows, last), min(max(windows - last, 0.0), near)
        here = [
            replace(site, windows=(
                for_last * site.last_level / max(last, 1) + for_near * (site.lines - site.last_level) / max(near, 1)
            )) if site.access in OVERLAPPING else site for site in here
        ]
        waiting = sum(site.lines for site in here if site.access in WAITING)
        ahead = min(instructions / waiting, self.costs.window) if waiting else 0.0
        most = [
            min(site.time, site.lines * ahead * self.costs.instruction_free) if site.access in WAITING
            else site.time for site in here
        ]
        total = sum(most)
        share = min(instructions * self.costs.instruction_free / total, 1.0) if total else 0.0
        return [replace(site, hidden=share * one) for site, one in zip(here, most)]

    def _work(self, where: LoopPlace | Function) -> tuple[int, float]:
        """Instructions and mispredicted branches of a loop; of its function where they are not known."""
        function = where
        if isinstance(where, LoopPlace):
            costs = self._costs_of(where)
            if instructions := sum(self._rows.count(cost, "Ir") for cost in costs):
                return instructions, sum(map(self._rows.mispredicted, costs))
            function = where.function
        assert isinstance(function, Function)
        return self._rows.instructions.get(function, 0), self._rows.mispredictions.get(function, 0.0)

    def _site(self, number: int, place: Instruction) -> Site:
        distances = self._rows.distances.get(number, ())
        reuses = self._rows.reuses.get(number, ())
        orders = self._rows.orders.get(number, ())
        stays = self._rows.stays.get(number)
        cost = self._rows.cost(place.function.object, place.address)
        lines = sum(row.misses for row in distances)
        evicted = self._rows.count(cost, "EvLineD1")
        used = self._rows.count(cost, "UsByteD1") / evicted if evicted else 0.0
        late = never = None
        if stays and stays[0]:
            late, never = stays[2] / stays[0], stays[3] / stays[0]
            used = used or self.why.line - stays[1] / stays[0]
        levels = self._levels(orders)
        if late is not None and never is not None and never < late and 2 * used <= self.why.line:
            levels = self._with_small_steps(number, lines, round(used), levels, reuses)
        return Site(
            number, place, self._where(place), self._accesses(cost, orders), lines,
            sum(row.last_level for row in distances), self._rows.count(cost, "DLconf"), self.why.line,
            distances, reuses, levels, used, late, never, self.costs,
        )

    def _accesses(self, cost: Row, orders: Sequence[Order]) -> int:
        if cost:
            return self._rows.count(cost, "Dr") + self._rows.count(cost, "Dw")
        seen, of = self.why.order_sample
        mine = sum(order.accesses for order in orders if order.inner == 0)
        return round(mine * of / seen) if seen else 0

    def _where(self, place: Instruction) -> tuple[str, int]:
        found = self._chains.get(place.function.object, {}).get(place.address)
        caller = self._chooser.caller(found) if found else None
        if caller is not None and caller.line:
            return caller.file, caller.line
        if place.line and not is_foreign(place.file):
            return place.file, place.line
        chain = self._chains.get(place.function.object, {}).get(place.address, ())
        own = [one for one in chain if one.line and not is_foreign(one.file)]
        return (own[-1].file, own[-1].line) if own else (place.file, place.line)

    def _levels(self, orders: Sequence[Order]) -> tuple[Level, ...]:
        """Those of the loop in which it ran most often, and of the loops around that."""
        innermost = [order for order in orders if order.inner == 0]
        if not innermost:
            return ()
        levels = [max(innermost, key=lambda order: order.accesses)]
        while around := self._around(orders, levels):
            levels.append(around)
        return tuple(
            Level(self.loops.of(order.scope), _step(order), order) for order in levels
        )

    def _with_small_steps(
        self, number: int, lines: int, used: int, levels: tuple[Level, ...], reuses: Sequence[Reuse]
    ) -> tuple[Level, ...]:
        """Loops around of which the pieces of the run tell no step: one that brings back most lines of an
        instruction, which uses other bytes of them each time, goes through them little by little."""
        inner = levels[0].step if levels else None
        if inner is None or abs(inner) < self.why.line or levels[0].loop is None:
            return levels
        carried: Counter[LoopPlace] = Counter()
        for row in reuses:
            loop = self.loops.of(row.scope)
            if loop is not None and row.before == number:
                carried[loop] += row.misses
        outer, back = max(carried.items(), key=lambda one: one[1], default=(None, 0))
        if outer is None or 2 * back < lines or not self._is_around(outer, levels[0].loop):
            return levels
        # If it went through the same bytes in each round, only the first round had other lines.
        if (lines - back) * outer.trips < _ROUNDS * lines:
            return levels
        known = [level for level in levels if level.loop == outer]
        if not known:
            order = levels[0].order._replace(
                inner=len(levels), accesses=0, same=0, near=0, forward=0, backward=0, far=0, strides=()
            )
            return (*levels, Level(outer, used, order))
        if known[0].step is not None:
            return levels
        return tuple(replace(level, step=used) if level.loop == outer else level for level in levels)

    def _around(self, orders: Sequence[Order], levels: Sequence[Order]) -> Order | None:
        last = self.loops.of(levels[-1].scope)
        found = [
            order for order in orders
            if order.inner == len(levels) and self._is_around(self.loops.of(order.scope), last)
        ]
        return max(found, key=lambda order: order.accesses) if found else None

    def _is_around(self, outer: LoopPlace | None, inner: LoopPlace | None) -> bool:
        if outer is None or inner is None or outer == inner:
            return False
        return inner.depth == 1 or outer.function != inner.function or inner.is_within(outer)


def _steps(order: Order) -> int:
    return order.same + order.near + order.forward + order.backward + order.far


def _step(order: Order) -> int | None:
    steps = _steps(order)
    if not steps:
        return None
    if order.same >= _MOST * steps:
        return 0
    if order.strides and order.strides[0][1] >= _MOST * steps:
        return order.strides[0][0]
    return None


def _goes_on(order: Order) -> bool:
    small = [(step, times) for step, times in order.strides if abs(step) < FORESEEN]
    forward = sum(times for step, times in small if step > 0)
    backward = sum(times for step, times in small if step < 0)
    return max(forward, backward) >= _HALF * _steps(order) > 0


def busiest(sites: Sequence[Site]) -> Function:
    times: Counter[Function] = Counter()
    for site in sites:
        times[site.place.function] += round(1000 * site.time)
    return max(sorted(times), key=lambda function: times[function])


def by_loop(sites: Sequence[Site]) -> Mapping[LoopPlace, list[Site]]:
    """By the innermost loop; without those that are in none."""
    found: dict[LoopPlace, list[Site]] = {}
    for site in sites:
        if site.inner is not None and site.inner.loop is not None:
            found.setdefault(site.inner.loop, []).append(site)
    return found
