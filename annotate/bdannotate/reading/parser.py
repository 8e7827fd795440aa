# SPDX-License-Identifier: GPL-2.0-or-later
"""From lines to a Profile, strictly: whatever is not understood is an error with its line.

Reads callgrind format (bdgrind, Callgrind, and others that write it) and Cachegrind's, which is
a subset of it.

Most lines of a large profile are short and repeat: "+4 1 1 1". The meaning of a line with relative
positions is therefore remembered by its text, and that of costs by theirs. That is more than twice
as fast as taking each line apart, and equal rows share their memory.
"""

from __future__ import annotations

import enum

from ..model.costs import Costs, add_instruction
from ..model.errors import FormatProblem, ProfileError, shorten
from ..model.profile import Function, Part, Profile, Row
from .blocks import display_name, line_blocks
from .body import Body
from .fields import cost_row, position
from .headers import CLOSING_KEYS, Headers, is_known, split_header
from .progress import Progress

_REMEMBERED = 200_000
_COST_STARTS = frozenset("0123456789+-*")
_RELATIVE_STARTS = frozenset("+-*")

# A cost line taken apart: (line is relative, line, address is relative, address, costs).
_CostLine = tuple[bool, int, bool, int, Row]


class Detail(enum.IntEnum):
    """How finely costs are kept apart. Memory grows with it, not with the size of the file."""

    FUNCTIONS = 0
    LINES = 1
    INSTRUCTIONS = 2


def parse(path: str, detail: Detail, progress: Progress) -> Profile:
    parser = _Parser(display_name(path), detail)
    for block in line_blocks(path, progress):
        parser.feed(block)
    return parser.finish()


def parse_text(text: str, detail: Detail = Detail.INSTRUCTIONS, source: str = "test") -> Profile:
    """A profile that is in memory already, for tests."""
    parser = _Parser(source, detail)
    parser.feed(text.split("\n"))
    return parser.finish()


class _Parser:
    def __init__(self, source: str, detail: Detail) -> None:
        self._source = source
        self._by_line = detail >= Detail.LINES
        self._by_instruction = detail >= Detail.INSTRUCTIONS
        self._lines_done = 0
        self._number = 0  # of the line looked at, for messages; kept only off the fast path
        self._headers = Headers()
        self._header_seen = False
        self._in_costs = False
        self._parts: list[Part] = []
        self._events: tuple[str, ...] = ()
        self._all_costs = Costs()
        self._functions: dict[Function, Function] = {}
        self._remembered: dict[str, _CostLine] = {}
        self._rows: dict[str, Row] = {}
        self._body = self._new_body()

    def _new_body(self) -> Body:
        body = Body(self._functions, self._by_line, self._by_instruction)
        body.set_layout(self._headers.positions)
        return body

    def feed(self, lines: list[str]) -> None:
        try:
            if self._by_line:
                self._feed_lines(lines)
            else:
                self._feed_functions(lines)
        except FormatProblem as problem:
            raise ProfileError(self._source, self._number, str(problem)) from None
        self._lines_done += len(lines)

    def _feed_lines(self, lines: list[str]) -> None:
        remembered = self._remembered
        body = self._body
        by_instruction = body.by_instruction
        slot, line, address = body.slot, body.line, body.address
        gathered, instructions = body.gathered, body.instruction_slot
        for number, text in enumerate(lines, self._lines_done + 1):
            cost = remembered.get(text)
            if cost is None:
                self._number = number
                if text[:1] not in _COST_STARTS:
                    body.line, body.address = line, address
                    self._other_line(text)
                    body = self._body
                    slot, line, address = body.slot, body.line, body.address
                    by_instruction = body.by_instruction
                    gathered, instructions = body.gathered, body.instruction_slot
                    continue
                cost = self._take_apart(text)
            line_is_relative, new_line, address_is_relative, new_address, row = cost
            line = line + new_line if line_is_relative else new_line
            address = address + new_address if address_is_relative else new_address
            if line < 0 or address < 0:
                self._number = number
                raise FormatProblem("the relative position leads below 0")
            if slot is None:
                self._number = number
                body.line, body.address = line, address
                body.second_line(row)
                slot = body.slot
                continue
            rows = gathered.get(line)
            if rows is None:
                gathered[line] = [row]
            else:
                rows.append(row)
            if by_instruction:
                add_instruction(instructions, address, line, row)
        body.line, body.address = line, address
        body.add_up()

    def _feed_functions(self, lines: list[str]) -> None:
        """The same without positions."""
        remembered = self._remembered
        body = self._body
        rows = body.gathered.setdefault(0, [])
        for number, text in enumerate(lines, self._lines_done + 1):
            cost = remembered.get(text)
            if cost is None:
                self._number = number
                if text[:1] not in _COST_STARTS:
                    self._other_line(text)
                    body = self._body
                    rows = body.gathered.setdefault(0, [])
                    continue
                cost = self._take_apart(text)
            if body.slot is None:
                self._number = number
                body.second_line(cost[4])
                continue
            rows.append(cost[4])
        body.add_up()

    def _take_apart(self, text: str) -> _CostLine:
        body = self._body
        if not self._headers.events:
            raise FormatProblem("costs come before events:")
        self._in_costs = True
        words = text.split(None, body.columns)
        if len(words) < body.columns:
            raise FormatProblem("the position is incomplete")
        behind = words[body.columns] if len(words) > body.columns else ""
        row = self._rows.get(behind)
        if row is None:
            row = self._row(behind)
        line, address = body.line_column, body.address_column
        line_is_relative, new_line = position(words[line]) if line is not None else (False, 0)
        address_is_relative, new_address = (
            position(words[address]) if address is not None else (False, 0)
        )
        cost = line_is_relative, new_line, address_is_relative, new_address, row
        if text[0] in _RELATIVE_STARTS:  # others hardly ever come again
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[text] = cost
        return cost

    def _row(self, text: str) -> Row:
        width = len(self._headers.events)
        row = cost_row(text)
        if len(row) > width:
            raise FormatProblem(f"{len(row)} costs for {width} events")
        row += (0,) * (width - len(row))
        if len(self._rows) >= _REMEMBERED:
            self._rows.clear()
        self._rows[text] = row
        return row

    def _other_line(self, text: str) -> None:
        body = self._body
        key, equals, value = text.partition("=")
        directive = body.directives.get(key) if equals else None
        if directive is not None and self._in_costs and not body.is_waiting:
            directive(value)  # nearly always
            return
        if directive is None and (not text or text.isspace() or text.startswith("#")):
            body.comment(text, len(self._headers.events))
            return
        if body.is_waiting:
            raise FormatProblem("the costs of a call, or the position of a jump, are missing here")
        if directive is None:
            self._header(text)
            return
        if not self._headers.events:
            raise FormatProblem("costs come before events:")
        self._in_costs = True
        directive(value)

    def _header(self, text: str) -> None:
        header = split_header(text)
        if not self._header_seen and (header is None or not is_known(header[0])):
            raise FormatProblem("this is not a profile in callgrind or Cachegrind format")
        if header is None:
            raise FormatProblem(f"this line is not understood: {shorten(text)}")
        key, value = header
        if self._in_costs and key not in CLOSING_KEYS:
            self._finish_part()
        self._header_seen = True
        self._headers.read(key, value, self._number)
        if key in ("events", "positions"):
            if self._parts and self._headers.events != self._events:
                raise FormatProblem("this part counts other events than those before it")
            self._remembered.clear()
            self._rows.clear()
            self._body.set_layout(self._headers.positions)

    def _finish_part(self) -> None:
        if not self._headers.events:
            raise FormatProblem("events: is missing")
        if self._body.is_waiting:
            raise FormatProblem("the profile ends in the middle of a call or jump")
        self._events = self._headers.events
        self._body.add_up()
        costs = self._body.costs
        costs.origins += self._body.origins.finish()
        self._parts.append(self._headers.part(self._source, costs.sums(len(self._events))))
        if len(self._parts) == 1:
            self._all_costs = costs
        else:
            self._all_costs.merge(costs)
        self._headers.start_part()
        self._in_costs = False
        self._body = self._new_body()

    def finish(self) -> Profile:
        try:
            if not self._header_seen:
                self._number = 0
                raise FormatProblem("the file is empty")
            self._finish_part()
        except FormatProblem as problem:
            raise ProfileError(self._source, self._number, str(problem)) from None
        costs = self._all_costs
        return Profile(
            parts=tuple(self._parts),
            events=self._events,
            titles=self._headers.titles,
            formulas=self._headers.formulas,
            lines={place: rows for place, rows in costs.lines.items() if rows},
            calls=costs.calls,
            instructions={place: rows for place, rows in costs.instructions.items() if rows},
            instruction_calls=costs.instruction_calls,
            jumps=costs.jumps,
            beginnings=costs.beginnings,
            origins=tuple(costs.origins),
            hot=costs.hot,
            hot_calls=costs.hot_calls,
        )
