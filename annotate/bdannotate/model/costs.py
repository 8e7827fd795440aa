# SPDX-License-Identifier: GPL-2.0-or-later
"""The sums of cost lines while they are read, from which a Profile is made."""

from __future__ import annotations

from collections.abc import Mapping

from .code import Code, JumpValues
from .profile import (
    Call, CallSite, Function, InstructionCall, InstructionCost, Jump, JumpCount, Place, Row, ThreadOrigin,
    add_rows, sum_rows,
)
from .rows import maker

_call = maker(Call)


class Costs:
    """The costs of one part, or of all parts so far."""

    def __init__(self) -> None:
        self.lines: dict[Place, dict[int, Row]] = {}
        self.calls: dict[CallSite, Call] = {}
        self.instructions: dict[Place, dict[int, InstructionCost]] = {}
        self.instruction_calls: dict[InstructionCall, Call] = {}
        self.jumps: dict[Jump, JumpCount] = {}
        # Instructions and jumps as they are read, in columns.
        self.code: dict[Place, Code] = {}
        self.jump_rows: dict[Place, list[JumpValues]] = {}
        self.beginnings: dict[Function, int] = {}
        self.origins: list[ThreadOrigin] = []
        self.hot: dict[Place, dict[int, InstructionCost]] = {}
        self.hot_calls: dict[Place, dict[int, InstructionCost]] = {}

    def sums(self, width: int) -> Row:
        """The sum of all self costs. width: the number of events."""
        rows = (row for lines in self.lines.values() for row in lines.values())
        return sum_rows(rows, width)

    def add_call(self, site: CallSite, calls: int, cost: Row) -> None:
        known = self.calls.get(site)
        self.calls[site] = known.plus(calls, cost) if known else _call((calls, cost))

    def add_instruction_call(self, key: InstructionCall, calls: int, cost: Row) -> None:
        known = self.instruction_calls.get(key)
        self.instruction_calls[key] = known.plus(calls, cost) if known else _call((calls, cost))

    def add_jump(self, jump: Jump, count: JumpCount) -> None:
        known = self.jumps.get(jump)
        self.jumps[jump] = (
            JumpCount(known.followed + count.followed, known.executed + count.executed)
            if known else count
        )

    def add_beginning(self, function: Function, address: int) -> None:
        known = self.beginnings.get(function)
        if known is None or address < known:
            self.beginnings[function] = address

    def add_lines(self, place: Place, rows: Mapping[int, Row]) -> None:
        mine = self.lines.setdefault(place, {})
        for line, row in rows.items():
            mine[line] = add_rows(mine[line], row) if line in mine else row

    def add_instructions(self, place: Place, instructions: Mapping[int, InstructionCost]) -> None:
        mine = self.instructions.setdefault(place, {})
        for address, new in instructions.items():
            add_instruction(mine, address, new.line, new.cost)

    def add_hot(self, place: Place, address: int, line: int, cost: Row) -> None:
        add_instruction(self.hot.setdefault(place, {}), address, line, cost)

    def add_hot_call(self, place: Place, address: int, line: int, cost: Row) -> None:
        add_instruction(self.hot_calls.setdefault(place, {}), address, line, cost)

    def add_hot_code(
        self, place: Place, hot: Mapping[int, InstructionCost], calls: Mapping[int, InstructionCost]
    ) -> None:
        for address, new in hot.items():
            self.add_hot(place, address, new.line, new.cost)
        for address, new in calls.items():
            self.add_hot_call(place, address, new.line, new.cost)

    def merge(self, other: Costs) -> None:
        """Add all costs of `other`."""
        for place, rows in other.lines.items():
            self.add_lines(place, rows)
        for place, instructions in other.instructions.items():
            self.add_instructions(place, instructions)
        for site, call in other.calls.items():
            self.add_call(site, call.calls, call.cost)
        for key, call in other.instruction_calls.items():
            self.add_instruction_call(key, call.calls, call.cost)
        for jump, count in other.jumps.items():
            self.add_jump(jump, count)
        for function, address in other.beginnings.items():
            self.add_beginning(function, address)
        for place in {**other.hot, **other.hot_calls}:
            self.add_hot_code(place, other.hot.get(place, {}), other.hot_calls.get(place, {}))
        for place, code in other.code.items():
            self.code.setdefault(place, Code()).add(code.addresses, code.lines, code.costs)
        for place, jump_rows in other.jump_rows.items():
            self.jump_rows.setdefault(place, []).extend(jump_rows)
        self.origins += other.origins


def add_instruction(known: dict[int, InstructionCost], address: int, line: int, cost: Row) -> None:
    """Add the costs of an instruction to those known by address."""
    old = known.get(address)
    known[address] = InstructionCost(line, add_rows(old.cost, cost) if old else cost)
