# SPDX-License-Identifier: GPL-2.0-or-later
"""The time that a miss costs, which depends on the order of addresses and on the machine.

A machine file has the nanoseconds per line of buffers of several sizes, visited in several orders. A line that comes
back after N bytes of other lines costs as much as a line of a buffer of N bytes; costs between the measured sizes are
interpolated. If the simulated caches are not those of the machine, sizes are stretched so that the first and the last
level have the machine's sizes: what just misses the simulated D1 costs what just misses the machine's.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from ...model.machine import Figure, Machine, Order
from ...model.rows import Rows, maker
from ...model.why import Distance, bucket_start


class Access(enum.Enum):
    """The order of an instruction's addresses, by what the processor can do before a line has come."""

    IN_ORDER = "in order"  # the next lines are in flight already: bandwidth counts
    STRIDE = "stride"  # the same, but lines are skipped
    COLUMN = "column"  # constant steps that prefetchers do not follow; other lines can be requested
    INDEPENDENT = "independent"  # other lines can be requested: latency divided by overlap counts
    NEARBY = "nearby"  # the next address is in the line, but the processor foresees it, one line at a time
    CHAIN = "chain"  # nothing, as the next address is in the line: latency counts

    # Enum's own __hash__ is written in Python and slow, and most tables of costs have such keys.
    __hash__ = object.__hash__


_ORDERS = {
    Access.IN_ORDER: Order.IN_ORDER, Access.STRIDE: Order.STRIDE, Access.COLUMN: Order.COLUMN,
    Access.INDEPENDENT: Order.INDEPENDENT, Access.NEARBY: Order.NEARBY, Access.CHAIN: Order.CHAIN,
}
# Orders in which all lines in the instruction window are requested at once.
OVERLAPPING = (Access.COLUMN, Access.INDEPENDENT)
# Orders in which the next lines are in flight already.
FORESEEN_ORDERS = (Access.IN_ORDER, Access.STRIDE)
# Orders in which one line is requested at a time.
WAITING = (Access.NEARBY, Access.CHAIN)
# Mispredictions of a current processor per simulated one: the simulated branch predictor knows the latest seven
# branches, as processors did thirty years ago; current ones know hundreds and mispredict about half as many.
MISPREDICTED = 0.5
# Processors foresee constant steps of fewer bytes than this: prefetchers do not go far beyond a page.
FORESEEN = 2048


class Rounds(enum.Enum):
    """Which of the measured rounds of a figure count."""

    ESTIMATE = "value"
    LEAST = "least"
    MEDIAN = "median"

    def of(self, figure: Figure) -> float:
        return {Rounds.ESTIMATE: figure.value, Rounds.LEAST: figure.least, Rounds.MEDIAN: figure.median}[self]


@dataclass(slots=True)
class Loads:
    """The lines that a site loads. It must not be modified.

    near: how many lines come from some cache, by the bucket of their distance.
    walks: additional page walks.
    blocks: whether later instructions pile up in the window until a line has come. They do not behind a store, which
    leaves the window at once, nor if the line is prefetched.
    link: the number of the instruction that loads what the addresses of a chain are made of; 0 if not known.
    steps: how many such addresses there were.
    step: lines from one address of a stride to the next; 0 if not known.
    """

    access: Access
    near: tuple[tuple[int, float], ...]
    far: float  # lines from memory
    line: int  # bytes
    walks: float = 0.0
    blocks: bool = True
    link: int = 0
    steps: int = 0
    step: float = 0.0
    near_lines: float = field(init=False)  # from all caches

    def __post_init__(self) -> None:
        self.near_lines = sum([count for _, count in self.near])

    @property
    def lines(self) -> float:
        return self.near_lines + self.far

    @property
    def matter(self) -> bool:
        """Whether estimates need them: there are lines to wait for, or steps of a chain that others may be in."""
        return bool(self.far or self.near or self.walks or (self.link and self.steps))

    def changed(self, lines: float, far: float, access: Access) -> Loads:
        """The loads of `lines` lines, `far` of them from memory, in another order. Their distances are not known; the
        present ones are used, in proportion. If no line comes from a cache now, new ones are taken to just miss D1."""
        near = max(lines - far, 0.0)
        now = self.near_lines
        rows = tuple((bucket, count * near / now) for bucket, count in self.near) if now else ((0, near),)
        # In foreseen orders, a page has many lines, and their measured times include its page walk.
        walks = 0.0 if access in FORESEEN_ORDERS else self.walks * min(lines / max(self.lines, 1.0), 1.0)
        return replace(self, access=access, near=rows, far=max(far, 0.0), walks=walks)


class Missed(NamedTuple):
    """The lines that an instruction misses. near: as in Loads."""

    lines: int
    far: int  # of these, from memory
    first: int  # of these, first touches
    first_far: int  # of the first touches, from memory
    near: tuple[tuple[int, float], ...]

    def loads(
        self, access: Access, line: int, walks: float = 0.0, blocks: bool = True, link: int = 0, steps: int = 0,
        step: float = 0.0,
    ) -> Loads:
        """See Loads for the arguments."""
        return Loads(access, self.near, float(self.far), line, walks, blocks, link, steps, step)

    def first_touches(self) -> Missed:
        """The first touches alone."""
        first, far = self.first, self.first_far
        return Missed(first, far, first, far, (_near(0, first - far),) if first > far else ())


_missed = maker(Missed)
NOTHING_MISSED = Missed(0, 0, 0, 0, ())


def missed(rows: Iterable[Distance]) -> Missed:
    """What the distances of an instruction, in any order, add up to."""
    return next(iter(missed_by_place(rows).values()), NOTHING_MISSED)


def missed_by_place(rows: Iterable[Distance]) -> dict[int, Missed]:
    """The same by the number of the instruction, whose rows follow each other."""
    found: dict[int, Missed] = {}
    columns = rows.columns if isinstance(rows, Rows) else [*zip(*rows)]
    before, lines, far, first, first_far = -1, 0, 0, 0, 0
    near: list[tuple[int, float]] = []
    for place, bucket, misses, last in zip(*columns):
        if place != before:
            if before >= 0:
                found[before] = _missed((lines, far, first, first_far, tuple(near)))
            before, lines, far, first, first_far = place, 0, 0, 0, 0
            near.clear()
        lines += misses
        far += last
        if not bucket:
            first += misses
            first_far += last
        if misses > last:
            near.append(_near(bucket, misses - last))
    if before >= 0:
        found[before] = _missed((lines, far, first, first_far, tuple(near)))
    return found


@lru_cache(1 << 14)
def _near(bucket: int, lines: int) -> tuple[int, float]:
    """An element of Loads.near. Most counts are small, so that a few are shared by hundreds of thousands of loads."""
    return bucket, float(lines)


class _BucketCosts(dict[int, float]):
    """A cache of the nanoseconds of a line, by the bucket of its distance: there are few buckets, often used."""

    def __init__(self, costs: MissCosts, access: Access, line: int) -> None:
        super().__init__()
        self._costs = costs
        self._access = access
        self._line = line

    def __missing__(self, bucket: int) -> float:
        cost = self[bucket] = self._costs.miss_cost(self._access, bucket_start(bucket) * self._line)
        return cost


# The nanoseconds of a line from memory, of a page walk, of lines by bucket, and of lines that are waited for one at a
# time, by bucket.
_OrderCosts = tuple[float, float, _BucketCosts, _BucketCosts]


class MissCosts:
    """The costs of misses on a machine, for simulated caches of the given sizes. All times are nanoseconds."""

    def __init__(
        self, machine: Machine, d1_bytes: int = 0, ll_bytes: int = 0, rounds: Rounds = Rounds.ESTIMATE
    ) -> None:
        """d1_bytes, ll_bytes: sizes of the simulated caches; 0: the machine's."""
        self.machine = machine
        self._rounds = rounds
        self.instruction = machine.figure("instruction")
        self.instruction_free = machine.figure("instruction-free")
        self.page_walk = machine.figure("page-walk")
        self.translations = round(machine.figure("translations"))
        self.window = machine.figure("window")
        self.misprediction = MISPREDICTED * machine.figure("misprediction")  # for each simulated one
        first, last = machine.caches[0], machine.caches[-1]
        self._simulated = d1_bytes or first, max(ll_bytes or last, d1_bytes or first)
        self._memory = {access: self._rounds.of(machine.lines[_ORDERS[access]][-1][1]) for access in Access}
        # The maximum number of lines from memory that are in flight at a time.
        self.in_flight = max(self._memory[Access.CHAIN] / max(self._memory[Access.INDEPENDENT], 1e-9), 1.0)
        self._of_orders: dict[tuple[Access, int], _OrderCosts] = {}

    def miss_cost(self, access: Access, size: float) -> float:
        """The cost of a line that is loaded again after `size` bytes of other lines."""
        return self._at(_ORDERS[access], self._stretched(max(size, self._simulated[0])))

    def walk_cost(self, access: Access) -> float:
        """The cost of a page walk. Walks overlap in the orders in which lines do."""
        return self.page_walk / self.in_flight if access in OVERLAPPING else self.page_walk

    def time_of(self, loads: Loads) -> float:
        """The time until the lines have come, if as many as possible are in flight at a time."""
        memory, walk, costs, _ = self._of_order(loads.access, loads.line)
        total = loads.far * memory
        for bucket, count in loads.near:
            total += count * costs[bucket]
        return total + loads.walks * walk

    def times_of(self, loads: Loads, alone: tuple[float, float]) -> tuple[float, float]:
        """The time until the lines have come, and their `time_of`. alone: how many lines from memory and from caches,
        at most, are waited for one at a time although their order allows overlap."""
        if alone == (0.0, 0.0) or loads.access not in OVERLAPPING:
            together = self.time_of(loads)
            return together, together
        far = loads.far
        memory, walk, costs, chain = self._of_order(loads.access, loads.line)
        far_most, near_most = alone
        far_alone = min(far_most / far, 1.0) if far else 0.0
        near_alone = min(near_most / loads.near_lines, 1.0) if loads.near_lines else 0.0
        together = far * memory
        total = max(together, far * far_alone * self._memory[Access.CHAIN])
        for bucket, count in loads.near:
            one, other = costs[bucket], near_alone * chain[bucket]
            together += count * one
            total += count * (one if one >= other else other)
        walks = loads.walks * walk
        return total + walks, together + walks

    def time_from_memory(self, loads: Loads) -> float:
        """The part of `time_of` that is due to lines from memory."""
        return loads.far * self._memory[loads.access]

    def _of_order(self, access: Access, line: int) -> _OrderCosts:
        key = access, line
        found = self._of_orders.get(key)
        if found is None:
            found = self._of_orders[key] = (
                self._memory[access], self.walk_cost(access), _BucketCosts(self, access, line),
                _BucketCosts(self, Access.CHAIN, line),
            )
        return found

    def _stretched(self, size: float) -> float:
        """The size that corresponds to a size in the simulated caches, in the machine's."""
        first, last = self.machine.caches[0], self.machine.caches[-1]
        simulated_first, simulated_last = self._simulated
        if (first, last) == self._simulated or simulated_first >= simulated_last or first >= last:
            return size
        if size >= simulated_last:
            return size * last / simulated_last
        share = math.log(size / simulated_first) / math.log(simulated_last / simulated_first)
        return first * math.exp(share * math.log(last / first))

    def _at(self, order: Order, size: float) -> float:
        """The measured time of a line of a buffer of `size` bytes, interpolated by the logarithm of the size."""
        points = self.machine.lines[order]
        if size <= points[0][0]:
            return self._rounds.of(points[0][1])
        for (one, low), (other, high) in zip(points, points[1:]):
            if size <= other:
                share = math.log(size / one) / math.log(other / one)
                return self._rounds.of(low) + share * (self._rounds.of(high) - self._rounds.of(low))
        return self._rounds.of(points[-1][1])
