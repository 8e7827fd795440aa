# SPDX-License-Identifier: GPL-2.0-or-later
"""An instruction that loads lines, with all that is known of it: how often it ran and missed, at which distances, who
brings its lines back, in which order its addresses come, what is used of its lines, and what they are waited for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ...model.why import Cause, Depends, Distance, Instruction, Order, Reuse, bucket_start
from ...model.work import Estimate
from .loop_nests import LoopPlace, Loops
from .miss_costs import FORESEEN, FORESEEN_ORDERS, WAITING, Access, Loads, MissCosts, loads_of

# A step that so many of all are is the step of a loop.
_MOST = 0.6
# From this share on, addresses are a chain, or anywhere.
_NOTABLE = 0.3
# Of a few strides only the three most frequent are known.
_HALF = 0.5
# An element that a loop goes through has less than so many lines. What is seen less often than _FEW times
# tells nothing.
_ELEMENT = 4
_FEW = 8
# A loop in which fewer of the accesses follow another one than that ends in its first round nearly always.
_SELDOM = 0.2
# Bytes of a pointer, or of what a node of 32-bit programs has at least.
_POINTER = 8
PAGE = 4096


@dataclass(frozen=True, slots=True)
class Level:
    """A loop as an instruction in it sees it."""

    loop: LoopPlace | None  # None: none of the loops that are known
    step: int | None  # in bytes, from iteration to iteration; None: no constant one
    order: Order

    def lines_per_step(self, line: int) -> float:
        """How many lines are new each time, if nothing of them stays in the cache."""
        return 1.0 if self.step is None else min(abs(self.step) / line, 1.0)


class Change(NamedTuple):
    """What an instruction would load after a repair."""

    lines: int
    last_level: int
    access: Access
    is_asked_ahead: bool = False


@dataclass(eq=False)
class Site:
    """where: the file and line of the program's own code that the instruction is of, or that library code
    was inlined into; in_loop: of the function that its innermost loop is in, where a helper was inlined there."""

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
    reads: bool = False
    writes: bool = False
    in_loop: tuple[str, int] = ("", 0)  # without a line, it is `where`
    # Nanoseconds in which the processor has nothing else to do: Sites sets it, who knows what else it does.
    waits: Estimate = Estimate()

    @property
    def loop_line(self) -> tuple[str, int]:
        """The line in its innermost loop, even if a helper that is called there has the instruction."""
        return self.in_loop if self.in_loop[1] else self.where

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

    @cached_property
    def has_numbers_as_links(self) -> bool:
        """Whether what each of its addresses comes from is smaller than a pointer: a place in a table."""
        return self.waits_for_itself and 0 < self.used < _POINTER

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
        return level if level is not None and steps_seen(level.order) >= _FEW else None

    def _deciding_level(self) -> Level | None:
        for level, around in zip(self.levels, self.levels[1:]):
            trips = level.order.accesses / max(around.order.accesses, 1)
            small = level.step is not None and trips * abs(level.step) < _ELEMENT * self.line
            once = steps_seen(level.order) < max(_FEW, _SELDOM * level.order.accesses)
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
        return level.order.far >= _NOTABLE * steps_seen(level.order) > 0

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
        is_most = sum(times for _, times in level.order.strides) >= _MOST * steps_seen(level.order) > 0
        return step if is_most and step >= self.line else None

    @cached_property
    def elements_per_step(self) -> float:
        """How many elements of that size lie between two visits, on average, or more; 1 where the step is
        constant."""
        inner, element = self.inner, self.element_step
        if inner is None or inner.step is not None or not element:
            return 1.0
        steps = [(abs(step), times) for step, times in inner.order.strides]
        others = steps_seen(inner.order) - sum(times for _, times in steps)
        # Those that are not known are of more elements.
        steps.append((max(step for step, _ in steps) + element, others))
        return sum(step * times for step, times in steps) / steps_seen(inner.order) / element

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
            return Access.IN_ORDER if abs(step) <= self.line else Access.STRIDE
        if step is not None:
            return Access.COLUMN
        if not self.waits_for_itself:
            return Access.INDEPENDENT
        # Where the order is not known, it is the middle of what it may be.
        return Access.CHAIN if self.has_order and not self.is_nearby else Access.NEARBY

    def access_with_steps(self, factor: float, in_order: bool) -> Access:
        """If all elements were so much smaller, and, if that is said, lay in the order of their visits."""
        if in_order and self.access is Access.CHAIN:
            return Access.NEARBY
        step = self._deciding.step if self._deciding else None
        if step is None or self.access not in (Access.STRIDE, Access.COLUMN):
            return self.access
        if abs(step) * factor <= self.line:
            return Access.IN_ORDER
        return Access.STRIDE if abs(step) * factor < FORESEEN else self.access

    @cached_property
    def loads(self) -> Loads:
        found = loads_of(self.distances, self.access, self.line, self._walks, self.reads or not self.writes)
        if self.access in WAITING:
            found = replace(found, link=self.levels[0].order.on, steps=self.accesses)
        if self.access is Access.STRIDE and self._deciding and self._deciding.step:
            found = replace(found, step=abs(self._deciding.step) / self.line)
        return found

    def changed(self, change: Change) -> Loads:
        loads = self.loads.changed(change.lines, change.last_level, change.access)
        return replace(loads, blocks=loads.blocks and not change.is_asked_ahead)

    @cached_property
    def time(self) -> float:
        """Estimated nanoseconds until its lines have come, where as many are on their way as can be, and nothing is
        done meanwhile."""
        return self.costs.time_of(self.loads)

    @cached_property
    def first_share(self) -> float:
        """The part of it that first touches have."""
        first = [row for row in self.distances if row.bucket == 0]
        return self.costs.time_of(loads_of(first, self.access, self.line)) / self.time if self.time else 0.0

    @cached_property
    def memory_share(self) -> float:
        """The part of it that lines from memory have."""
        far = replace(self.loads, near=(), walks=0.0)
        return self.costs.time_of(far) / self.time if self.time else 0.0

    @property
    def waiting(self) -> float:
        """Of that, what instructions do not hide, and what is longer as the window has room for fewer lines."""
        return self.waits.value

    @property
    def open_waiting(self) -> float:
        """What other lines than first touches are waited for, unless they come in order."""
        return 0.0 if self.is_foreseen else self.waiting * (1 - self.first_share)

    @property
    def open_at_most(self) -> float:
        """The same, if instructions hide nothing."""
        return 0.0 if self.is_foreseen else self.waits.most * (1 - self.first_share)

    @cached_property
    def page_walks(self) -> int:
        """How often the address of a page must be looked up, where each line is in another one: prefetchers and
        buffers of lines do not know of that."""
        step = self._deciding.step if self._deciding else None
        if step is None or abs(step) < PAGE:
            return 0
        late = [
            row for row in self.distances if row.bucket and bucket_start(row.bucket + 1) > self.costs.translations
        ]
        again = sum(row.misses for row in late)
        if again + self.first_touches < self.lines / 2 or self.lines <= self.costs.translations:
            return 0
        return again + self.first_touches

    @property
    def _walks(self) -> float:
        """Those that the time of a line in this order does not have: it is of as many bytes of lines."""
        if not self.page_walks:
            return 0.0
        reach = self.costs.translations * PAGE // self.line
        return float(sum(
            row.misses for row in self.distances
            if row.bucket and bucket_start(row.bucket) < reach
            and bucket_start(row.bucket + 1) > self.costs.translations
        ))

    @property
    def is_foreseen(self) -> bool:
        """Whether the next lines are on their way already."""
        return self.access in FORESEEN_ORDERS

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

    def shrunk(self, factor: float, between: float, d1_lines: int, ll_lines: int) -> tuple[int, int]:
        """Lines, and of LL, if it loaded this share of its lines, and what comes between took that share of its own:
        fewer come, and some of these hit."""
        first = last = 0.0
        for row in self.distances:
            distance = bucket_start(row.bucket) * between
            if row.bucket and distance < d1_lines:
                continue
            first += row.misses * factor
            if not row.bucket or distance >= ll_lines:
                last += row.last_level * factor
        return round(first), round(last)


def steps_seen(order: Order) -> int:
    return order.same + order.near + order.forward + order.backward + order.far


def constant_step(order: Order, line: int) -> int | None:
    """The step that most accesses take; or, as a function may be called with others, the one that brings most lines of
    `line` bytes."""
    steps = steps_seen(order)
    if not steps:
        return None
    if order.same >= _MOST * steps:
        return 0
    brought = {step: times * min(abs(step) / line, 1.0) for step, times in order.strides}
    lines = sum(brought.values()) + steps - order.same - sum(times for _, times in order.strides)
    step, most = max(brought.items(), key=lambda one: one[1], default=(0, 0.0))
    if most >= _MOST * lines > 0:
        return step
    if order.strides and order.strides[0][1] >= _MOST * steps:
        return order.strides[0][0]
    return None


def step_of_some(order: Order, line: int) -> int | None:
    """The step of a loop some of whose iterations leave the access out: a line or more, which the most frequent steps
    are multiples of. Addresses that are computed otherwise, or loaded, hardly have such steps."""
    least = min((step for step, _ in order.strides), key=abs, default=0)
    known = sum(times for _, times in order.strides)
    is_multiple = all(step % least == 0 and step * least > 0 for step, _ in order.strides) if least else False
    is_known = order.depends is Depends.ARITHMETIC and known >= _NOTABLE * steps_seen(order) > 0
    return least if abs(least) >= line and is_multiple and is_known else None


def _goes_on(order: Order) -> bool:
    small = [(step, times) for step, times in order.strides if abs(step) < FORESEEN]
    forward = sum(times for step, times in small if step > 0)
    backward = sum(times for step, times in small if step < 0)
    return max(forward, backward) >= _HALF * steps_seen(order) > 0
