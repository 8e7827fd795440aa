# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a profile, independent of its file format.

Glossary
  event      something that is counted: Ir, D1mr, SpLoss1, ...
  row        one count per event, in the order of Profile.events
  self cost  what the instructions of a function itself caused
  call       a caller, its source line and a callee, with the number of these calls and their
             inclusive cost: what happened between entering and leaving
  part       one dump; a file may hold several, and several files may make up one profile
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import add, sub
from typing import Any, NamedTuple

from .rows import TableColumns, maker

Row = tuple[int, ...]

# The descriptions of a part that say which caches were simulated.
CACHE_NAMES = ("I1 cache", "D1 cache", "L2 cache", "LL cache")

# The description of a cache in a part: its size, the size of a line, its ways.
CACHE = re.compile(r"(\d+) B, (\d+) B, (.+?)(?:-way)? associative")

# The name of code without a symbol: the address in its object file, and the level of recursion.
_ADDRESS = re.compile(r"0x0*([0-9a-f]+(?:'\d+)?)")


class Function(NamedTuple):
    """The identity of a function. A tuple, because its hash is taken for every call in a file."""

    object: str
    file: str
    name: str

    @property
    def is_nameless(self) -> bool:
        """Whether it is code without a symbol."""
        return _ADDRESS.fullmatch(self.name) is not None

    @property
    def label(self) -> str:
        """The name; for code without a symbol, the base name of the object file and the address in it."""
        address = _ADDRESS.fullmatch(self.name)
        if not address:
            return self.name
        module = os.path.basename(self.object)
        return f"0x{address[1]}" if module in ("", "???") else f"{module}+0x{address[1]}"


class CallSite(NamedTuple):
    """A place that calls: the caller, the callee, and the file and line of the call."""

    caller: Function
    callee: Function
    file: str
    line: int


class InstructionCall(NamedTuple):
    """A call by one instruction, which is known by its address in the caller's object file."""

    caller: Function
    callee: Function
    address: int


class Call(NamedTuple):
    """The number of calls and their inclusive cost."""

    calls: int
    cost: Row

    def plus(self, calls: int, cost: Row) -> Call:
        return _call((self.calls + calls, add_rows(self.cost, cost)))


_call = maker(Call)


class InstructionCost(NamedTuple):
    """The source line of an instruction, 0 if not known, and its costs."""

    line: int
    cost: Row


class Place(NamedTuple):
    """The code of a function from one source file: its own, or one that code was inlined from."""

    function: Function
    file: str


class Jump(NamedTuple):
    """A jump from one position of the code to another. Addresses are 0 in a profile without instructions."""

    source: Place
    source_line: int
    source_address: int
    target: Place
    target_line: int
    target_address: int
    conditional: bool


class JumpCount(NamedTuple):
    """How often a jump was taken, and how often it was executed."""

    followed: int
    executed: int


class ThreadOrigin(NamedTuple):
    """Threads that began in `root` and were created while `creators` were open. Each of these is called by the one
    before it."""

    root: Function
    creators: tuple[Function, ...]
    threads: int


class SeedRuns(NamedTuple):
    """The sampled runs with the same seed."""

    runs: int
    bursts: int


class WidthOf(NamedTuple):
    """What an interval is about. kind: "all", the whole run; "self" or "sum", a function's self or inclusive costs;
    "line", a line of a function."""

    kind: str
    function: Function
    file: str = ""
    line: int = 0


class WidthSums(NamedTuple):
    """The sums, over so many runs, of the half widths of intervals, and of their squares, by event."""

    runs: int
    sums: Row
    squares: Row


@dataclass(frozen=True, slots=True)
class Intervals:
    """How far the counts of sampled runs may be off: half the widths of their 95 % intervals, by event. Entries with
    costs in fewer than two bursts of a run have none.

    bursts: how many were observed.
    seeds: the runs by seed.
    parts: the sums that intervals of several runs are computed from, see sample.py; empty for a single run.
    """

    bursts: int
    total: Row | None  # None: not known
    own: Mapping[Function, Row]  # of self costs
    inclusive: Mapping[Function, Row]
    lines: Mapping[Place, Mapping[int, Row]]
    seeds: Mapping[str, SeedRuns] = field(default_factory=dict)
    parts: Mapping[WidthOf, WidthSums] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatedTotal:
    """A total that the file itself states, in its `summary:` or `totals:` line. Callgrind leaves out trailing counts,
    those of cache use even if they are not 0. given: how many counts are stated."""

    key: str
    line: int
    row: Row
    given: int


@dataclass(frozen=True, slots=True)
class Part:
    """The header of one dump, and the recomputed sums of its self costs."""

    source: str
    creator: str
    pid: str
    command: str
    part: str
    thread: str
    descriptions: tuple[tuple[str, str], ...]
    sums: Row
    stated_totals: tuple[StatedTotal, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything that was read from one or more files. It must not be modified."""

    parts: tuple[Part, ...]
    events: tuple[str, ...]
    titles: Mapping[str, str]
    formulas: Mapping[str, str]
    lines: Mapping[Place, Mapping[int, Row]]
    calls: Mapping[CallSite, Call]
    instructions: Mapping[Place, Mapping[int, InstructionCost]]
    instruction_calls: Mapping[InstructionCall, Call]
    jumps: Mapping[Jump, JumpCount]
    origins: tuple[ThreadOrigin, ...] = ()  # see threads.py, which consumes them
    # The address at which each function was called, in profiles with instructions; the lowest of several.
    beginnings: Mapping[Function, int] = field(default_factory=dict)
    # The few costliest instructions by address, and instructions that call with the inclusive costs of these calls.
    # Profiles by line have them, too.
    hot: Mapping[Place, Mapping[int, InstructionCost]] = field(default_factory=dict)
    hot_calls: Mapping[Place, Mapping[int, InstructionCost]] = field(default_factory=dict)
    # The cold parts that were joined with their functions, with these: see cold_parts.py.
    cold_parts: Mapping[Function, Function] = field(default_factory=dict)
    intervals: Intervals | None = None  # None: the counts are exact, or nothing is known
    _totals: list[Row] = field(default_factory=list, init=False, repr=False, compare=False)  # once they are known

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Profile], tuple[dict[str, Any]]]:
        state = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        state["calls"] = TableColumns(CallSite, Call, self.calls)
        state["instruction_calls"] = TableColumns(InstructionCall, Call, self.instruction_calls)
        return _unpacked, (state,)

    @property
    def zero(self) -> Row:
        return (0,) * len(self.events)

    def totals(self) -> Row:
        """The self costs of everything, added up."""
        if not self._totals:
            rows = (row for lines in self.lines.values() for row in lines.values())
            self._totals.append(sum_rows(rows, len(self.events)))
        return self._totals[0]


def _unpacked(state: dict[str, Any]) -> Profile:
    return Profile(**{
        name: value.table() if isinstance(value, TableColumns) else value for name, value in state.items()
    })


def add_rows(left: Row, right: Row) -> Row:
    return tuple(map(add, left, right))


def subtract_rows(left: Row, right: Row) -> Row:
    return tuple(map(sub, left, right))


def sum_rows(rows: Iterable[Row], width: int) -> Row:
    """The sum of many rows of this width. It is computed in batches: a transposed sum takes a third of the time of
    adding rows one by one, but all rows at once would need memory for each of them."""
    total = (0,) * width
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == 4096:
            total = add_rows(total, tuple(map(sum, zip(*batch))))
            batch.clear()
    return add_rows(total, tuple(map(sum, zip(*batch)))) if batch else total
