#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An independent, naive simulator: the oracle for bdgrind's totals.

It is fed by another tool's address trace (valgrind --tool=lackey --trace-mem=yes) and knows
nothing of bdgrind's engine: both are written from the same rules (docs/simulation.md). It has no
call stack and no tree, for totals do not depend on them. Clearness goes before speed; it manages
about half a million trace lines a second.

    cache_oracle.py --D1=1024,2,64 -- PROGRAM ARGS...     trace a program and print the totals
    cache_oracle.py --D1=1024,2,64 < TRACE                the same for a recorded trace
"""

from __future__ import annotations

import argparse
import operator
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

EVENTS = (
    "Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw",
    "AcCost1", "SpLoss1", "EvLine1", "UsByte1", "Access1",
    "AcCostD1", "SpLossD1", "EvLineD1", "UsByteD1", "AccessD1",
    "AcCost2", "SpLoss2", "EvLine2", "UsByte2", "Access2",
    "AcCostDL", "SpLossDL", "EvLineDL", "UsByteDL", "AccessDL",
)  # fmt: skip
# For Valgrind on arm64: exclusive stores compare values instead of keeping a reservation.
FALLBACK_LLSC = "--sim-hints=fallback-llsc"


@dataclass(frozen=True, slots=True)
class Geometry:
    """Size of a cache in bytes, ways of each set, bytes of each line."""

    size: int
    ways: int
    line_size: int

    @classmethod
    def parse(cls, text: str) -> Geometry:
        size, ways, line_size = (int(number, 0) for number in text.split(","))
        return cls(size, ways, line_size)

    @property
    def sets(self) -> int:
        return self.size // (self.ways * self.line_size)


class Line:
    """What happened to a cache line since it was loaded: accesses, and a bit per byte touched."""

    __slots__ = ("accesses", "is_data", "used")

    def __init__(self, is_data: bool) -> None:
        self.is_data = is_data
        self.accesses = 0
        self.used = 0


class Cache:
    """Sets of lines. A dict keeps the order of insertion: least recently used first."""

    def __init__(self, geometry: Geometry) -> None:
        self.line_size = geometry.line_size
        self.ways = geometry.ways
        self.set_count = geometry.sets
        self.sets: list[dict[int, Line]] = [{} for _ in range(geometry.sets)]
        # Costs of rare use, bytes never used, lines, bytes used, accesses: of all lines, and of those with data.
        self.of_all = [0] * 5
        self.of_data = [0] * 5

    def use(self, number: int) -> Line | None:
        """The line of this number, now the most recently used one; None if it is not here."""
        ways = self.sets[number % self.set_count]
        line = ways.pop(number, None)
        if line is not None:
            ways[number] = line
        return line

    def victim(self, number: int) -> int | None:
        """The number of the line that has to leave before line `number` can come in."""
        ways = self.sets[number % self.set_count]
        return next(iter(ways)) if len(ways) == self.ways else None

    def load(self, number: int, is_data: bool) -> Line:
        line = self.sets[number % self.set_count][number] = Line(is_data)
        return line

    def peek(self, number: int) -> Line | None:
        return self.sets[number % self.set_count].get(number)

    def remove(self, number: int) -> Line:
        line = self.sets[number % self.set_count].pop(number)
        used = line.used.bit_count()
        costs = (1000 // line.accesses, self.line_size - used, 1, used, line.accesses)
        for sums in (self.of_all, self.of_data) if line.is_data else (self.of_all,):
            sums[:] = map(operator.add, sums, costs)
        return line

    def resident(self) -> list[int]:
        return [number for ways in self.sets for number in ways]


class Hierarchy:
    """I1 and D1 in front of one LL."""

    def __init__(self, i1: Geometry, d1: Geometry, ll: Geometry) -> None:
        self.i1 = Cache(i1)
        self.d1 = Cache(d1)
        self.ll = Cache(ll)

    def access(self, l1: Cache, address: int, size: int) -> tuple[bool, bool]:
        """One access of `size` bytes. Did it miss the first level, and the last?"""
        missed_l1 = missed_ll = False
        end = address + size
        for number in range(address // l1.line_size, (end - 1) // l1.line_size + 1):
            line_start = number * l1.line_size
            first, last = max(address, line_start), min(end, line_start + l1.line_size)
            line = l1.use(number)
            if line is None:
                missed_l1 = True
                victim = l1.victim(number)
                if victim is not None:
                    self.evict_l1(l1, victim)
                line = l1.load(number, l1 is self.d1)
            missed_here = line.accesses == 0
            line.accesses += 1
            line.used |= ((1 << (last - first)) - 1) << (first - line_start)
            # Counted first: where the lines of LL are shorter, loading the second of them there may
            # evict the first one, which this access has used.
            if missed_here:
                missed_ll |= self.look_in_ll(first, last, line.is_data)
        return missed_l1, missed_ll

    def look_in_ll(self, first: int, last: int, is_data: bool) -> bool:
        missed = False
        for number in range(first // self.ll.line_size, (last - 1) // self.ll.line_size + 1):
            if self.ll.use(number) is None:
                missed = True
                victim = self.ll.victim(number)
                if victim is not None:
                    self.evict_ll(victim)
                self.ll.load(number, is_data)
        return missed

    def evict_l1(self, l1: Cache, number: int) -> None:
        start = number * l1.line_size
        line = l1.remove(number)
        step = min(l1.line_size, self.ll.line_size)
        for piece in range(start, start + l1.line_size, step):
            below = self.ll.peek(piece // self.ll.line_size)
            if below is not None:
                self.merge(line, start, below, piece // self.ll.line_size * self.ll.line_size)

    def evict_ll(self, number: int) -> None:
        """Takes over what the copies in the first level have gathered so far, then evicts."""
        start = number * self.ll.line_size
        line = self.ll.peek(number)
        assert line is not None
        for l1 in (self.i1, self.d1):
            step = min(l1.line_size, self.ll.line_size)
            for piece in range(start, start + self.ll.line_size, step):
                above = l1.peek(piece // l1.line_size)
                if above is not None:
                    self.merge(above, piece // l1.line_size * l1.line_size, line, start)
        self.ll.remove(number)

    def merge(self, above: Line, above_start: int, below: Line, below_start: int) -> None:
        """Where lines of LL are the shorter ones, each hears of those that touched its bytes."""
        shift = above_start - below_start
        used = above.used << shift if shift >= 0 else above.used >> -shift
        used &= (1 << self.ll.line_size) - 1
        if used:
            below.used |= used
            below.accesses += above.accesses

    def flush(self) -> None:
        for l1 in (self.i1, self.d1):
            for number in l1.resident():
                self.evict_l1(l1, number)
        for number in self.ll.resident():
            self.evict_ll(number)


class CallgrindHierarchy(Hierarchy):
    """Where one of two lines misses the first level, looks both up in LL, as Callgrind does. Its lines are of one
    size, and what they are used for is not kept."""

    def access(self, l1: Cache, address: int, size: int) -> tuple[bool, bool]:
        missed = False
        for number in range(address // l1.line_size, (address + size - 1) // l1.line_size + 1):
            if l1.use(number) is None:
                missed = True
                victim = l1.victim(number)
                if victim is not None:
                    l1.sets[victim % l1.set_count].pop(victim)
                l1.load(number, l1 is self.d1)
        return missed, missed and self.look_in_ll(address, address + size, l1 is self.d1)

    def evict_ll(self, number: int) -> None:
        self.ll.sets[number % self.ll.set_count].pop(number)

    def flush(self) -> None:
        pass


def simulate(
    trace: Iterable[bytes], i1: Geometry, d1: Geometry, ll: Geometry, hierarchy: type[Hierarchy] = Hierarchy
) -> dict[str, int]:
    """The totals of a lackey trace.

    A line of it is `I  address,size` for an instruction, followed by its data accesses: ` L `
    loads, ` S ` stores, ` M ` modifies. A modify is one access, and counted as a write.
    """
    caches = hierarchy(i1, d1, ll)
    access, i1_cache, d1_cache = caches.access, caches.i1, caches.d1
    instructions = reads = writes = 0
    i1_misses = d1_read_misses = d1_write_misses = 0
    ll_fetch_misses = ll_read_misses = ll_write_misses = 0
    for record in trace:
        kind = record[:3]
        if kind == b"I  ":
            address, _, size = record[3:].partition(b",")
            missed_l1, missed_ll = access(i1_cache, int(address, 16), int(size))
            instructions += 1
            i1_misses += missed_l1
            ll_fetch_misses += missed_ll
        elif kind == b" L ":
            address, _, size = record[3:].partition(b",")
            missed_l1, missed_ll = access(d1_cache, int(address, 16), int(size))
            reads += 1
            d1_read_misses += missed_l1
            ll_read_misses += missed_ll
        elif kind in (b" S ", b" M "):
            address, _, size = record[3:].partition(b",")
            missed_l1, missed_ll = access(d1_cache, int(address, 16), int(size))
            writes += 1
            d1_write_misses += missed_l1
            ll_write_misses += missed_ll
    caches.flush()

    values = [instructions, reads, writes, i1_misses, d1_read_misses, d1_write_misses]
    values += [ll_fetch_misses, ll_read_misses, ll_write_misses]
    for caches_of_level in ((caches.i1, caches.d1), (caches.ll,)):
        values += map(sum, zip(*(cache.of_all for cache in caches_of_level)))
        values += map(sum, zip(*(cache.of_data for cache in caches_of_level)))
    return dict(zip(EVENTS, values, strict=True))


def trace_program(
    command: Sequence[str],
    valgrind: Sequence[str] = ("valgrind",),
    *,
    environment: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdout: int | BinaryIO = subprocess.DEVNULL,
) -> Iterator[bytes]:
    """The lines of a program's address trace, as they come.

    Command, environment, folder and the kind of standard output decide what a program does and
    where things lie on its stack: they must be those of the run compared with.
    """
    read_end, write_end = os.pipe()
    options = ["--tool=lackey", "--basic-counts=no", "--trace-mem=yes", f"--log-fd={write_end}"]
    # Without this option VEX evaluates both sides of an `a && b` at once where it can, and lackey
    # counts the instructions of `b` even where `a` is false.
    options += ["--vex-guest-chase=no"]
    if platform.machine() == "aarch64":
        # Lackey writes each access with a system call, which ends a reservation: the store would fail for ever.
        options += [FALLBACK_LLSC]
    with subprocess.Popen(
        [*valgrind, *options, *command],
        pass_fds=[write_end],
        stdout=stdout,
        env=environment,
        cwd=cwd,
    ) as process:
        os.close(write_end)
        with os.fdopen(read_end, "rb", buffering=1 << 20) as lines:
            yield from lines
        process.wait()


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for level, default in (("I1", "32768,8,64"), ("D1", "32768,8,64"), ("LL", "8388608,16,64")):
        parser.add_argument(f"--{level}", type=Geometry.parse, default=Geometry.parse(default))
    parser.add_argument("command", nargs="*")
    options = parser.parse_args(argv)
    trace = trace_program(options.command) if options.command else sys.stdin.buffer
    for event, value in simulate(trace, options.I1, options.D1, options.LL).items():
        print(f"{event:8} {value:>16,}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
