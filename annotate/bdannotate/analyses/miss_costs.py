# SPDX-License-Identifier: GPL-2.0-or-later
"""What a miss costs in time: one number cannot say, as it depends on the order of addresses.

Measured natively on one thread of an AMD EPYC (L1 48 KiB, L2 1 MiB, L3 32 MiB), in nanoseconds for each
line of a buffer of a size, visited in four orders: each address loaded from the line before it, at random
and a few lines further on each time; at random, but all addresses known at once; and in order. Between
these sizes it is interpolated. A program on another machine has other numbers, in a similar ratio.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from functools import cache

from ..model.why import Distance, bucket_start


class Access(enum.Enum):
    """What the processor can do before a line has come."""

    IN_ORDER = "in order"  # the next lines are on their way already: bandwidth counts
    INDEPENDENT = "independent"  # others can be asked for: latency over overlap
    NEARBY = "nearby"  # the next address is in it, but the processor foresees it: of these, one at a time
    CHAIN = "chain"  # nothing, as the next address is in it: latency


# Bytes of the buffer, and nanoseconds for a line.
_SIZES = (512 << 10, 2 << 20, 8 << 20, 32 << 20, 256 << 20)
_COSTS = {
    Access.CHAIN: (3.9, 12.0, 79.0, 156.0, 201.0),
    Access.NEARBY: (3.1, 3.4, 3.4, 4.4, 5.9),
    Access.INDEPENDENT: (0.5, 0.7, 1.2, 3.0, 5.0),
    Access.IN_ORDER: (0.4, 0.6, 1.0, 1.5, 1.8),
}
# An instruction of a loop whose data hits L1: three to five are done in a cycle.
INSTRUCTION = 0.1
# So many lines are on their way at a time in the table above, and so many instructions does a processor
# look ahead: with more work on each line, fewer are on their way, unless they are asked for before.
IN_FLIGHT = 14
WINDOW = 450
# What is left of the time for lines that are asked for before, where as many were on their way.
PREFETCHED = 0.9
# The address of a page that is in no buffer for them is looked up in tables that are in the cache.
PAGE_WALK = 6.0
# So many pages have their addresses in such a buffer, that of the second level.
TRANSLATIONS = 1536
# Constant steps below this are foreseen by processors: these do not go far beyond a page.
FORESEEN = 2048


def miss_cost(access: Access, size: float) -> float:
    """Nanoseconds for a line that is loaded again after `size` bytes of others."""
    costs = _COSTS[access]
    if size <= _SIZES[0]:
        return costs[0]
    for (one, other), (low, high) in zip(zip(_SIZES, _SIZES[1:]), zip(costs, costs[1:])):
        if size <= other:
            share = math.log(size / one) / math.log(other / one)
            return low + share * (high - low)
    return costs[-1]


def memory_cost(access: Access) -> float:
    return _COSTS[access][-1]


def time_of(rows: Iterable[Distance], access: Access, line: int) -> float:
    """Nanoseconds for misses at these distances. What missed LL comes from memory."""
    memory = memory_cost(access)
    return sum(
        row.last_level * memory + (row.misses - row.last_level) * _bucket_cost(access, row.bucket, line)
        for row in rows
    )


@cache  # there are few buckets
def _bucket_cost(access: Access, bucket: int, line: int) -> float:
    return miss_cost(access, bucket_start(bucket) * line)
