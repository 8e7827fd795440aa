# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions and jumps as columns, which become objects on demand.

They are most of a large profile, and few reports need more than those of some functions. With an object for each,
reading would take twice the time and the memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, compress
from typing import NamedTuple

from .profile import Function, InstructionCost, Jump, JumpCount, Place, Row, add_rows
from .rows import Rows

# The costs of a line, as numbers or as the text in the file.
Written = Row | str


class Code:
    """The instructions of a place as cost lines state them, in the order of the file."""

    __slots__ = ("addresses", "lines", "costs")

    def __init__(self) -> None:
        self.addresses: array[int] | list[int] = array("Q")
        self.lines: array[int] | list[int] = array("Q")
        self.costs: list[Written] = []

    def add(self, addresses: Sequence[int], lines: Sequence[int], costs: Iterable[Written]) -> None:
        self.addresses = _longer(self.addresses, addresses)
        self.lines = _longer(self.lines, lines)
        self.costs += costs


def _longer(known: array[int] | list[int], more: Sequence[int]) -> array[int] | list[int]:
    """Both joined; a list if a number does not fit 64 bits, as may be in a file from elsewhere. `known` may change."""
    if isinstance(known, array):
        try:
            known += array("Q", more)
            return known
        except OverflowError:
            known = list(known)
    known += more
    return known


class Instructions(Mapping[Place, Mapping[int, InstructionCost]]):
    """The instructions of a profile by place and address."""

    def __init__(
        self, code: Mapping[Place, Code], row: Callable[[str], Row], some: Callable[[str, Sequence[int]], Row]
    ) -> None:
        """row: parses costs that were kept as text; some: only those with these numbers."""
        self._code = code
        self._row = row
        self._some = some
        self._made: dict[Place, dict[int, InstructionCost]] = {}

    def __getitem__(self, place: Place) -> Mapping[int, InstructionCost]:
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = self.once(place)
        return made

    def once(self, place: Place) -> dict[int, InstructionCost]:
        """The instructions of a place, without keeping them."""
        made: dict[int, InstructionCost] = {}
        for address, line, cost in self._stated(place):
            known = made.get(address)
            made[address] = InstructionCost(line, add_rows(known.cost, cost) if known else cost)
        return made

    def rows(self, place: Place) -> Iterable[tuple[int, int, Row]]:
        """The address, the line and the costs of each instruction of a place, without keeping them."""
        addresses = self._code[place].addresses
        if len(set(addresses)) == len(addresses):
            return self._stated(place)
        return ((address, one.line, one.cost) for address, one in self.once(place).items())

    def _stated(self, place: Place) -> Iterable[tuple[int, int, Row]]:
        """The same as the file states it: several rows may be of one instruction."""
        code, row = self._code[place], self._row
        return zip(
            code.addresses, code.lines, [row(cost) if isinstance(cost, str) else cost for cost in code.costs]
        )

    def __iter__(self) -> Iterator[Place]:
        return iter(self._code)

    def __len__(self) -> int:
        return len(self._code)

    def costs_at(
        self, wanted: Mapping[str, Set[int]], columns: Sequence[int]
    ) -> dict[str, dict[int, Row]]:
        """The costs by object file and address. wanted: addresses by object file. If several places have an address,
        the last one counts. columns: the numbers of the events that are wanted."""
        some = self._some
        found: dict[str, dict[int, Row]] = {}
        for place, code in self._code.items():
            module = place.function.object
            here = wanted.get(module)
            if not here or here.isdisjoint(code.addresses):
                continue
            rows: dict[int, Row] = {}
            is_wanted = [*map(here.__contains__, code.addresses)]
            for address, cost in zip(compress(code.addresses, is_wanted), compress(code.costs, is_wanted)):
                if isinstance(cost, str):
                    row = some(cost, columns)
                else:
                    row = tuple([cost[column] for column in columns])
                rows[address] = add_rows(rows[address], row) if address in rows else row
            found.setdefault(module, {}).update(rows)
        return found


class JumpRow(NamedTuple):
    """A jump from a place, as a line of the file states it."""

    line: int
    address: int
    target: Place
    read: ReadJump
    text: str
    from_line: int  # the target's position is relative to this one
    from_address: int


# The line and address of a jump's target, whether it is conditional, and how often it was followed and executed.
JumpNumbers = tuple[int, int, bool, int, int]
# Reads these from the text of a JumpRow and the position that the target is relative to.
ReadJump = Callable[[str, int, int], JumpNumbers]
# The values of a JumpRow.
JumpValues = tuple[int, int, Place, ReadJump, str, int, int]


class Jumps(Mapping[Jump, JumpCount]):
    """The jumps of a profile. Counts of equal jumps are added up. Few reports need more than those of some functions,
    so that texts are kept."""

    def __init__(self, rows: Mapping[Place, Sequence[JumpValues]]) -> None:
        lengths = {place: len(here) for place, here in rows.items() if here}
        columns = Rows.of(JumpRow, chain.from_iterable(rows.values()))
        self._rows = dict(zip(lengths, columns.pieces(lengths.values())))
        self._made: dict[Jump, JumpCount] | None = None

    def __getitem__(self, jump: Jump) -> JumpCount:
        return self._all()[jump]

    def __iter__(self) -> Iterator[Jump]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return bool(self._rows)

    def of(self, functions: Container[Function]) -> dict[Jump, JumpCount]:
        """The jumps that begin in these functions."""
        found: dict[Jump, JumpCount] = {}
        for place, rows in self._rows.items():
            if place.function not in functions:
                continue
            for line, address, target, read, text, from_line, from_address in rows:
                target_line, target_address, conditional, followed, executed = read(text, from_line, from_address)
                jump = Jump(place, line, address, target, target_line, target_address, conditional)
                known = found.get(jump)
                if known:
                    followed, executed = followed + known.followed, executed + known.executed
                found[jump] = JumpCount(followed, executed)
        return found

    def _all(self) -> dict[Jump, JumpCount]:
        if self._made is None:
            self._made = self.of({place.function for place in self._rows})
        return self._made


def jumps_of(profile_jumps: Mapping[Jump, JumpCount], functions: Container[Function]) -> Mapping[Jump, JumpCount]:
    """The jumps that begin in these functions, without making objects of the others."""
    if isinstance(profile_jumps, Jumps):
        return profile_jumps.of(functions)
    return {jump: count for jump, count in profile_jumps.items() if jump.source.function in functions}


def costs_at(
    instructions: Mapping[Place, Mapping[int, InstructionCost]], wanted: Mapping[str, Set[int]], columns: Sequence[int]
) -> dict[str, dict[int, Row]]:
    """The costs by object file and address, without making objects of other instructions. wanted: addresses by object
    file. columns: the numbers of the events that are wanted."""
    if isinstance(instructions, Instructions):
        return instructions.costs_at(wanted, columns)
    found: dict[str, dict[int, Row]] = {}
    for place, rows in instructions.items():
        module = place.function.object
        for address in rows.keys() & wanted.get(module, frozenset()):
            found.setdefault(module, {})[address] = tuple([rows[address].cost[column] for column in columns])
    return found


def looked_at_once(
    instructions: Mapping[Place, Mapping[int, InstructionCost]], place: Place
) -> Mapping[int, InstructionCost]:
    """The instructions of a place, for code that goes through all places. They are not kept, as all together would take
    more memory than everything else."""
    return instructions.once(place) if isinstance(instructions, Instructions) else instructions[place]


def instruction_rows(
    instructions: Mapping[Place, Mapping[int, InstructionCost]], place: Place
) -> Iterable[tuple[int, int, Row]]:
    """The same as the address, the line and the costs of each instruction, in any order: without objects, this takes
    half of the time."""
    if isinstance(instructions, Instructions):
        return instructions.rows(place)
    return ((address, one.line, one.cost) for address, one in instructions[place].items())
