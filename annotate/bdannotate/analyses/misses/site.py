# SPDX-License-Identifier: GPL-2.0-or-later
"""A site: an instruction that loads lines, and what is known about it. That is how often it ran and missed, its
distances of reuse, the loops and instructions that bring its lines back, the order of its addresses, the bytes that are
used of its lines, and the time that is spent waiting for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import NamedTuple

from ...model.why import Cause, Depends, Distance, Instruction, Order, Reuse, bucket_start
from ...model.work import Estimate
from .loop_nests import LoopPlace, Loops
from .miss_costs import FORESEEN, FORESEEN_ORDERS, WAITING, Access, Loads, Missed, MissCosts, missed

# The minimum share of an instruction's steps, or of the lines that they bring, that must agree to count as the loop's.
_MOST = 0.6
# The minimum share of steps that must be far for accesses to count as scattered, or known to be multiples of a step.
_NOTABLE = 0.3
# A weaker majority, for sums over strides: only the three most frequent ones are known.
_HALF = 0.5
# A loop that covers fewer lines than this only goes through one element.
_ELEMENT = 4
# Fewer observations than this prove nothing.
_FEW = 8
# A loop nearly always ends in its first iteration if the share of accesses that follow another one is below this.
_SELDOM = 0.2
# Bytes of a 64-bit pointer. A list node of a 32-bit program has at least as many.
_POINTER = 8
PAGE = 4096


@dataclass(frozen=True, slots=True)
class Level:
    """One loop around an instruction, and how the instruction's address changes in it."""

    loop: LoopPlace | None  # None: the loop is not known
    step: int | None  # bytes from iteration to iteration; None: not constant
    order: Order

    def lines_per_step(self, line: int) -> float:
        """The new lines per iteration, from 0 to 1, if nothing stays in the cache. line: bytes of a line."""
        return 1.0 if self.step is None else min(abs(self.step) / line, 1.0)


class Walks(NamedTuple):
    """Simulated page walks: with the pages of the program, and if all memory had huge pages."""

    base: int
    huge: int


class Change(NamedTuple):
    """What an instruction would load after a repair."""

    lines: int  # that D1 would miss
    last_level: int  # of these, LL
    access: Access
    is_asked_ahead: bool = False  # whether the program would prefetch them


@dataclass(eq=False, slots=True)
class Site:
    """An instruction and its misses. Sites are compared by identity.

    where: the file and line of the instruction in the program's own code; for inlined library code, those of the call.
    in_loop: the file and line in the function of the innermost loop, if the instruction is from a helper that was
    inlined there.
    access: the order of the addresses, which decides what a miss costs.
    loads: the lines that are loaded, as the estimate of their time needs them.
    time: the estimated nanoseconds until all lines have come, if as many as possible are in flight at a time and the
    processor does nothing else meanwhile.
    first_share: the share of it that is due to first touches.
    """

    number: int
    place: Instruction
    where: tuple[str, int]
    accesses: int  # estimated from the sample if the profile has no costs of instructions
    lines: int  # that D1 missed
    last_level: int  # of these, LL
    conflicts_of_ll: int  # conflict misses in LL
    line: int  # bytes
    distances: Sequence[Distance]
    reuses: Sequence[Reuse]
    levels: tuple[Level, ...]  # the innermost first
    used: float  # average bytes of a line that are used until it leaves D1
    late: float | None  # average bytes of a line that are used in another stay only; None: not known
    never: float | None  # average bytes of a line that are never used; None: not known
    costs: MissCosts
    reads: bool = False
    writes: bool = False
    in_loop: tuple[str, int] = ("", 0)  # if the line is 0, `where` applies
    walks: Walks | None = None  # for its data; None: the run did not simulate TLBs
    misses: InitVar[Missed | None] = None  # what `distances` add up to, if it is known already
    # Nanoseconds for which the processor has nothing else to do. Sites sets this, as it depends on the other sites.
    waits: Estimate = Estimate()
    access: Access = field(init=False)
    loads: Loads = field(init=False)
    time: float = field(init=False)
    first_share: float = field(init=False)
    first_touches: int = field(init=False)  # how many lines were first touches
    # The level of the loop that decides which lines are loaded; None if too few steps were seen.
    _deciding: Level | None = field(init=False)

    def __post_init__(self, misses: Missed | None) -> None:
        level = self._deciding_level()
        self._deciding = level if level is not None and steps_seen(level.order) >= _FEW else None
        self.access = self._access()
        known = misses or missed(self.distances)
        self.first_touches = known.first
        self.loads = self._loads(known)
        self.time = self.costs.time_of(self.loads)
        self.first_share = self._first_share(known) if known.first and self.time else 0.0

    @property
    def loop_line(self) -> tuple[str, int]:
        """The file and line in the innermost loop, even if the instruction is from a helper that is called there."""
        return self.in_loop if self.in_loop[1] else self.where

    @property
    def inner(self) -> Level | None:
        return self.levels[0] if self.levels else None

    @property
    def is_chain(self) -> bool:
        """Whether the site follows a chain whose order is known. Advice on chains depends on their order."""
        return self.waits_for_itself and self.has_order

    @property
    def waits_for_itself(self) -> bool:
        """Whether each address is read from what the previous access loaded."""
        order = self.levels[0].order if self.levels else None
        return (
            order is not None and order.depends is Depends.CHAIN
            and order.weight >= _MOST * order.accesses and self.levels[0].step is None
        )

    @property
    def has_numbers_as_links(self) -> bool:
        """Whether the links of the chain are smaller than a pointer, and so are indices into a table."""
        return self.waits_for_itself and 0 < self.used < _POINTER

    @property
    def has_order(self) -> bool:
        """Whether enough steps were seen to know where addresses lie relative to the previous ones."""
        return self._deciding is not None

    @property
    def is_nearby(self) -> bool:
        """Whether steps are not constant, but mostly small and in one direction, as in a list whose elements were
        allocated one after the other. Processors foresee such addresses."""
        level = self._deciding
        return level is not None and level.step is None and _goes_on(level.order)

    @property
    def deciding_loop(self) -> LoopPlace | None:
        """The loop that decides which lines are loaded; None if it is not known."""
        return self._deciding.loop if self._deciding else None

    def _deciding_level(self) -> Level | None:
        """The level of the loop that decides which lines are loaded. Loops within it may only go through the few lines
        of an element, or run for one iteration."""
        for level, around in zip(self.levels, self.levels[1:]):
            trips = level.order.accesses / max(around.order.accesses, 1)
            small = level.step is not None and trips * abs(level.step) < _ELEMENT * self.line
            once = steps_seen(level.order) < max(_FEW, _SELDOM * level.order.accesses)
            if not (small or once) or around.order.accesses < _FEW:
                return level
            if once and around.order.accesses < _HALF * level.order.accesses:
                return None  # most runs of this loop are within other loops
        return self.levels[-1] if self.levels else None

    @property
    def is_scattered(self) -> bool:
        """Whether a notable share of the addresses is far from the previous one, and steps are neither constant nor
        near."""
        level = self._deciding
        if level is None or level.step is not None or self.is_nearby:
            return False
        return level.order.far >= _NOTABLE * steps_seen(level.order) > 0

    @property
    def is_strided(self) -> bool:
        """Whether the innermost loop has a constant step of a line or more."""
        step = self.inner.step if self.inner else None
        return step is not None and abs(step) >= self.line

    @property
    def element_step(self) -> int | None:
        """The size of the elements that are visited, in bytes: the constant step, which may be negative, or what most
        steps are multiples of, as in a list whose elements lie in an array. The latter must be a line or more, as all
        addresses have small divisors in common. None if there is neither."""
        level = self.inner
        if level is None or level.step is not None:
            return level.step if level else None
        step = math.gcd(*(step for step, _ in level.order.strides))
        is_most = sum(times for _, times in level.order.strides) >= _MOST * steps_seen(level.order) > 0
        return step if is_most and step >= self.line else None

    @property
    def elements_per_step(self) -> float:
        """The average distance of two visits in elements of size `element_step`, or a lower bound of it; 1 if the step
        is constant or there is no such size."""
        inner, element = self.inner, self.element_step
        if inner is None or inner.step is not None or not element:
            return 1.0
        steps = [(abs(step), times) for step, times in inner.order.strides]
        others = steps_seen(inner.order) - sum(times for _, times in steps)
        # Steps that are not recorded are taken to be larger than the recorded ones.
        steps.append((max(step for step, _ in steps) + element, others))
        return sum(step * times for step, times in steps) / steps_seen(inner.order) / element

    @property
    def is_used_later(self) -> bool:
        """Whether an outer loop has small steps, and so goes through the rest of the lines that large steps load."""
        return any(
            level.step is not None and 0 < abs(level.step) < self.line for level in self.levels[1:]
        )

    @property
    def is_in_order(self) -> bool:
        """Whether the innermost loop has a constant step that is shorter than a line."""
        step = self.inner.step if self.inner else None
        return step is not None and 0 < abs(step) < self.line

    def _access(self) -> Access:
        step = self._deciding.step if self._deciding else None
        if step is not None and abs(step) < FORESEEN:
            return Access.IN_ORDER if abs(step) <= self.line else Access.STRIDE
        if step is not None:
            return Access.COLUMN
        if not self.waits_for_itself:
            return Access.INDEPENDENT
        # A chain whose order is not known is taken to be NEARBY, which lies between the other possibilities.
        return Access.CHAIN if self.has_order and not self.is_nearby else Access.NEARBY

    def access_with_steps(self, factor: float, in_order: bool) -> Access:
        """The order of addresses if the size of all elements were multiplied by `factor`. in_order: whether elements
        would also lie in the order of their visits."""
        if in_order and self.access is Access.CHAIN:
            return Access.NEARBY
        step = self._deciding.step if self._deciding else None
        if step is None or self.access not in (Access.STRIDE, Access.COLUMN):
            return self.access
        if abs(step) * factor <= self.line:
            return Access.IN_ORDER
        return Access.STRIDE if abs(step) * factor < FORESEEN else self.access

    def _loads(self, known: Missed) -> Loads:
        access, link, steps, step = self.access, 0, 0, 0.0
        if access in WAITING:
            link, steps = self.levels[0].order.on, self.accesses
        if access is Access.STRIDE and self._deciding and self._deciding.step:
            step = abs(self._deciding.step) / self.line
        walks = self._walks if self._deciding and known.lines else 0.0
        return known.loads(access, self.line, walks, self.reads or not self.writes, link, steps, step)

    def changed(self, change: Change) -> Loads:
        """The lines that would be loaded after `change`."""
        loads = self.loads.changed(change.lines, change.last_level, change.access)
        return replace(loads, blocks=loads.blocks and not change.is_asked_ahead)

    def _first_share(self, known: Missed) -> float:
        """The share of `time` that is due to first touches."""
        if known.first == known.lines and not self.loads.walks:
            return 1.0
        return self.costs.time_of(known.first_touches().loads(self.access, self.line)) / self.time

    @property
    def memory_share(self) -> float:
        """The share of `time` that is due to lines from memory."""
        if not self.loads.far or not self.time:
            return 0.0
        return self.costs.time_from_memory(self.loads) / self.time

    @property
    def waiting(self) -> float:
        """The estimated nanoseconds of waiting: `time` without what instructions hide, and with the delay where the
        instruction window has room for fewer lines."""
        return self.waits.value

    @property
    def open_waiting(self) -> float:
        """The part of `waiting` that a change may save: not first touches, nor any lines in a foreseen order."""
        return 0.0 if self.is_foreseen else self.waiting * (1 - self.first_share)

    @property
    def open_at_most(self) -> float:
        """`open_waiting` if instructions hide nothing."""
        return 0.0 if self.is_foreseen else self.waits.most * (1 - self.first_share)

    @property
    def page_walks(self) -> int:
        """The number of page walks, if the deciding loop steps by a page or more: prefetchers and line buffers do not
        avoid these. 0 if steps are shorter or not constant, or if the translations at hand suffice."""
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
        """The page walks that the machine's time per line leaves out: it was measured with as many bytes of lines,
        which lie in fewer pages."""
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
        """Whether the processor fetches the next lines before they are needed."""
        return self.access in FORESEEN_ORDERS

    @property
    def conflicts(self) -> int:
        """How many lines were conflict misses."""
        return sum(row.misses for row in self.reuses if row.cause is Cause.CONFLICT)

    def carried(self, loop: LoopPlace, loops: Loops) -> tuple[int, int]:
        """The lines that the repetition of a loop brings back, and how many of these LL missed."""
        rows = [row for row in self.reuses if loops.of(row.scope) == loop]
        return sum(row.misses for row in rows), sum(row.last_level for row in rows)

    def level_of(self, loop: LoopPlace) -> Level | None:
        return next((level for level in self.levels if level.loop == loop), None)

    def trips(self, loop: LoopPlace) -> float:
        """The average iterations of a loop per entry, from the observed pieces of the run; 0 if not known."""
        for level, around in zip(self.levels, self.levels[1:]):
            if level.loop == loop:
                return level.order.accesses / max(around.order.accesses, 1)
        return 0.0

    def shrunk(self, factor: float, between: float, d1_lines: int, ll_lines: int) -> tuple[int, int]:
        """The lines that D1 and LL would miss if the site loaded the share `factor` of its lines, and the data that
        comes between two uses of a line shrank to the share `between`, so that some of the lines hit. d1_lines,
        ll_lines: the capacities of the caches in lines."""
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
    """How many accesses were compared with the previous one."""
    return order.same + order.near + order.forward + order.backward + order.far


def constant_step(order: Order, line: int) -> int | None:
    """The step in bytes that most accesses take; or the one that brings most lines of `line` bytes, as a function may
    be called with other steps, too. None if no step has the majority."""
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
    """The step in bytes of a loop that skips the access in some iterations: the shortest of the most frequent steps, if
    it is a line or more and all of these are multiples of it. Addresses that are computed in another way, or loaded,
    hardly ever have such steps. None if there is no such step."""
    least = min((step for step, _ in order.strides), key=abs, default=0)
    known = sum(times for _, times in order.strides)
    is_multiple = all(step % least == 0 and step * least > 0 for step, _ in order.strides) if least else False
    is_known = order.depends is Depends.ARITHMETIC and known >= _NOTABLE * steps_seen(order) > 0
    return least if abs(least) >= line and is_multiple and is_known else None


def _goes_on(order: Order) -> bool:
    """Whether most steps are small and in one direction."""
    small = [(step, times) for step, times in order.strides if abs(step) < FORESEEN]
    forward = sum(times for step, times in small if step > 0)
    backward = sum(times for step, times in small if step < 0)
    return max(forward, backward) >= _HALF * steps_seen(order) > 0
