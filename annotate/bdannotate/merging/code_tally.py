# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of single instructions, added up over ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from ..model.code import looked_at_once
from ..model.profile import Function, InstructionCall, Jump, JumpCount, Place, Profile, Row

# So many places, calls or jumps are handed to another process at once.
_PIECE = 1024

# By address and line.
CodeRows = dict[tuple[int, int], Row]


class CallSum(NamedTuple):
    calls: int
    cost: Row


class CodePiece(NamedTuple):
    kind: int
    things: list[tuple[Any, Any]]


class CodeTally:
    """Sums by instruction. Rows have no zeros at their ends, as most of their numbers are zeros."""

    def __init__(self) -> None:
        self.rows: dict[Place, CodeRows] = {}
        self.calls: dict[InstructionCall, CallSum] = {}
        self.jumps: dict[Jump, JumpCount] = {}
        self.beginnings: dict[Function, int] = {}

    def add(self, profile: Profile) -> None:
        """Add a profile whose events are those of all, in the same order."""
        for place in profile.instructions:
            self._add_rows(place, {
                (address, found.line): _trimmed(found.cost)
                for address, found in looked_at_once(profile.instructions, place).items()
            })
        for key, call in profile.instruction_calls.items():
            self._add_call(key, call.calls, _trimmed(call.cost))
        for jump, count in profile.jumps.items():
            self._add_jump(jump, count)
        self._add_beginnings(profile.beginnings)

    def pieces(self) -> Iterator[CodePiece]:
        """Hand out everything; the tally is empty afterwards."""
        kinds: tuple[dict[Any, Any], ...] = self.rows, self.calls, self.jumps, self.beginnings
        for kind, things in enumerate(kinds):
            while things:
                yield CodePiece(kind, [things.popitem() for _ in islice(range(len(things)), _PIECE)])

    def take(self, piece: CodePiece) -> None:
        for key, found in piece.things:
            if piece.kind == 0:
                self._add_rows(key, found)
            elif piece.kind == 1:
                self._add_call(key, *found)
            elif piece.kind == 2:
                self._add_jump(key, found)
            else:
                self._add_beginnings({key: found})

    def _add_rows(self, place: Place, rows: CodeRows) -> None:
        known = self.rows.get(place)
        if known is None:
            self.rows[place] = rows
            return
        for key, row in rows.items():
            before = known.get(key)
            known[key] = row if before is None else _sum(before, row)

    def _add_call(self, key: InstructionCall, calls: int, cost: Row) -> None:
        known = self.calls.get(key)
        self.calls[key] = CallSum(calls, cost) if known is None else CallSum(known[0] + calls, _sum(known[1], cost))

    def _add_jump(self, jump: Jump, count: JumpCount) -> None:
        known = self.jumps.get(jump)
        if known is not None:
            count = JumpCount(known.followed + count.followed, known.executed + count.executed)
        self.jumps[jump] = count

    def _add_beginnings(self, beginnings: Mapping[Function, int]) -> None:
        for function, address in beginnings.items():
            self.beginnings[function] = min(address, self.beginnings.get(function, address))


def _trimmed(row: Row) -> Row:
    width = len(row)
    while width and not row[width - 1]:
        width -= 1
    return row[:width]


def _sum(one: Row, other: Row) -> Row:
    return tuple(map(sum, zip_longest(one, other, fillvalue=0)))
