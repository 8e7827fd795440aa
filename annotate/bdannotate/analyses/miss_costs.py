# SPDX-License-Identifier: GPL-2.0-or-later
"""What a miss costs in time: one number cannot say, as it depends on the order of addresses, and on the machine.

A machine file has nanoseconds for each line of a buffer of a size, visited in several orders. A line that comes back
after so many bytes of others is one of a buffer of that size; between the sizes it is interpolated. Where the
simulated caches are not those of the machine, sizes are stretched so that the first and the last level lie where the
machine's do: what just misses the simulated D1 costs what just misses the machine's.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable

from ..model.machine import Machine, Order
from ..model.why import Distance, bucket_start


class Access(enum.Enum):
    """What the processor can do before a line has come."""

    IN_ORDER = "in order"  # the next lines are on their way already: bandwidth counts
    STRIDE = "stride"  # the same, but lines are left out
    COLUMN = "column"  # constant steps which prefetchers do not follow; others can be asked for
    INDEPENDENT = "independent"  # others can be asked for: latency over overlap
    NEARBY = "nearby"  # the next address is in it, but the processor foresees it: of these, one at a time
    CHAIN = "chain"  # nothing, as the next address is in it: latency


_ORDERS = {
    Access.IN_ORDER: Order.IN_ORDER, Access.STRIDE: Order.STRIDE, Access.COLUMN: Order.COLUMN,
    Access.INDEPENDENT: Order.INDEPENDENT, Access.NEARBY: Order.NEARBY, Access.CHAIN: Order.CHAIN,
}
# Of these, several are asked for at a time, as many as the window of instructions has.
OVERLAPPING = (Access.COLUMN, Access.INDEPENDENT)
# Of these, one.
WAITING = (Access.NEARBY, Access.CHAIN)
# The simulated branch predictor knows the latest seven branches, as processors did thirty years ago: those of today,
# which know hundreds, mispredict about half as many.
MISPREDICTED = 0.5
# Constant steps below this are foreseen by processors: these do not go far beyond a page.
FORESEEN = 2048


class MissCosts:
    """Of a machine, for a run with such caches. All times are nanoseconds."""

    def __init__(self, machine: Machine, d1_bytes: int = 0, ll_bytes: int = 0) -> None:
        """Without sizes, the caches are the machine's."""
        self.machine = machine
        self.instruction = machine.figure("instruction")
        self.instruction_free = machine.figure("instruction-free")
        self.page_walk = machine.figure("page-walk")
        self.translations = round(machine.figure("translations"))
        self.window = machine.figure("window")
        self.misprediction = MISPREDICTED * machine.figure("misprediction")  # for each simulated one
        first, last = machine.caches[0], machine.caches[-1]
        self._simulated = d1_bytes or first, max(ll_bytes or last, d1_bytes or first)
        self._known: dict[tuple[Access, int, int], float] = {}

    def miss_cost(self, access: Access, size: float) -> float:
        """Of a line that is loaded again after `size` bytes of others."""
        return self._at(_ORDERS[access], self._stretched(max(size, self._simulated[0])))

    def walk_cost(self, access: Access) -> float:
        """Of an address of a page that has to be looked up: several at a time, where lines are."""
        return self.page_walk / self.in_flight if access in OVERLAPPING else self.page_walk

    @property
    def in_flight(self) -> float:
        """How many lines from memory are on their way at a time, at most."""
        return max(self.memory_cost(Access.CHAIN) / max(self.memory_cost(Access.INDEPENDENT), 1e-9), 1.0)

    def memory_cost(self, access: Access) -> float:
        return self.machine.lines[_ORDERS[access]][-1][1].value

    def time_of(
        self, rows: Iterable[Distance], access: Access, line: int, windows: float = 0.0
    ) -> float:
        """For misses at these distances. What missed LL comes from memory. windows: so many lines that could overlap
        have to be waited for one at a time, at most; those from memory first."""
        rows = list(rows)
        last = sum(row.last_level for row in rows)
        near = sum(row.misses for row in rows) - last
        if access not in OVERLAPPING:
            windows = 0.0
        far_alone = min(windows / last, 1.0) if last else 0.0
        near_alone = min(max(windows - last, 0.0) / near, 1.0) if near else 0.0
        total = last * max(self.memory_cost(access), far_alone * self.memory_cost(Access.CHAIN))
        for row in rows:
            if row.misses > row.last_level:
                one = self._bucket_cost(access, row.bucket, line)
                if near_alone:
                    one = max(one, near_alone * self._bucket_cost(Access.CHAIN, row.bucket, line))
                total += (row.misses - row.last_level) * one
        return total

    def _bucket_cost(self, access: Access, bucket: int, line: int) -> float:
        key = access, bucket, line
        if key not in self._known:  # there are few buckets
            self._known[key] = self.miss_cost(access, bucket_start(bucket) * line)
        return self._known[key]

    def _stretched(self, size: float) -> float:
        """The size in the machine's caches."""
        first, last = self.machine.caches[0], self.machine.caches[-1]
        simulated_first, simulated_last = self._simulated
        if (first, last) == self._simulated or simulated_first >= simulated_last or first >= last:
            return size
        if size >= simulated_last:
            return size * last / simulated_last
        share = math.log(size / simulated_first) / math.log(simulated_last / simulated_first)
        return first * math.exp(share * math.log(last / first))

    def _at(self, order: Order, size: float) -> float:
        points = self.machine.lines[order]
        if size <= points[0][0]:
            return points[0][1].value
        for (one, low), (other, high) in zip(points, points[1:]):
            if size <= other:
                share = math.log(size / one) / math.log(other / one)
                return low.value + share * (high.value - low.value)
        return points[-1][1].value
