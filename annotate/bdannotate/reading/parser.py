# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses profiles strictly: a line that is not understood is an error with its number.

Reads the format of Callgrind, which bdgrind and others write, and that of Cachegrind, which is a subset of it.
"""

from __future__ import annotations

import enum

from ..model.code import Instructions, Jumps
from ..model.costs import Costs
from ..model.errors import FormatProblem, ProfileError, shorten
from ..model.profile import Function, Intervals, Part, Profile
from ..model.sample import both, seed_of
from .blocks import display_name, line_blocks
from .body import Body
from .bulk import Bulk
from .cost_lines import STARTS, CostLine, CostLines
from .fields import moved, some_costs
from .headers import CLOSING_KEYS, Headers, is_known, split_header
from .progress import Progress

# A block is taken in bulk again behind a header at most so many times, as each time reads all of its rest.
_MOST_RESTARTS = 8


class Detail(enum.IntEnum):
    """How finely costs are separated. This determines the memory used, not the size of the file."""

    FUNCTIONS = 0
    LINES = 1
    INSTRUCTIONS = 2


def parse(path: str, detail: Detail, progress: Progress) -> Profile:
    parser = _Parser(display_name(path), detail)
    for block in line_blocks(path, progress):
        parser.feed(block)
    return parser.finish()


def parse_text(text: str, detail: Detail = Detail.INSTRUCTIONS, source: str = "test") -> Profile:
    """Parses a text, for tests."""
    parser = _Parser(source, detail)
    parser.feed(text.split("\n"))
    return parser.finish()


class _Parser:
    def __init__(self, source: str, detail: Detail) -> None:
        self._source = source
        self._by_line = detail >= Detail.LINES
        self._by_instruction = detail >= Detail.INSTRUCTIONS
        self._lines_done = 0
        self._number = 0  # the number of the current line, for messages; not updated on the fast path
        self._headers = Headers()
        self._header_seen = False
        self._in_costs = False
        self._parts: list[Part] = []
        self._intervals: Intervals | None = None
        self._events: tuple[str, ...] = ()
        self._all_costs = Costs()
        self._functions: dict[tuple[str, str, str], Function] = {}
        self._cost_lines = CostLines()
        self._body = self._new_body()

    def _new_body(self) -> Body:
        body = Body(self._functions, self._by_line, self._by_instruction)
        body.set_layout(self._headers.positions)
        return body

    def feed(self, lines: list[str]) -> None:
        try:
            # A block may begin with the second line of a call or jump.
            done = int(self._body.is_waiting and bool(lines))
            self._feed_one_by_one(lines, 0, done)
            for _ in range(_MOST_RESTARTS):
                done = self._feed_bulk(lines, done)
                # The next line begins a header: feed up to the first function behind it.
                after = done
                while after < len(lines) and not lines[after].startswith("fn="):
                    after += 1
                self._feed_one_by_one(lines, done, after)
                done = after
            self._feed_one_by_one(lines, done, len(lines))
        except FormatProblem as problem:
            raise ProfileError(self._source, self._number, str(problem)) from None
        self._lines_done += len(lines)

    def _feed_bulk(self, lines: list[str], done: int) -> int:
        """Returns the number of lines done. It stops before the first line that is wrong or not about costs."""
        if not self._in_costs or self._body.is_waiting or done == len(lines):
            return done
        bulk = Bulk(self._body, self._cost_lines, lines[done:] if done else lines, len(self._headers.events))
        if not bulk.is_understood():
            return done
        try:
            return done + bulk.feed()
        finally:
            self._number = self._lines_done + done + bulk.number

    def _feed_one_by_one(self, lines: list[str], start: int, stop: int) -> None:
        """Takes any lines. FormatProblem: a line is wrong."""
        body = self._body
        for number in range(start, stop):
            text = lines[number]
            if text[:1] not in STARTS:
                self._number = self._lines_done + number + 1
                self._other_line(text)
                body = self._body
                continue
            cost = self._cost_lines.remembered.get(text)
            if cost is None or body.open is None or body.is_waiting:
                self._number = self._lines_done + number + 1
                cost = cost or self._take_apart(text)
            if self._by_line:
                body.line, body.address = moved(body.line, cost[1]), moved(body.address, cost[0])
                if body.line < 0 or body.address < 0:
                    self._number = self._lines_done + number + 1
                    raise FormatProblem("the relative position leads below 0")
            if body.open is None or body.is_waiting:
                body.second_line(cost[2])
            else:
                body.open.add((cost,), (body.line if self._by_line else 0,), (body.address,))

    def _take_apart(self, text: str) -> CostLine:
        if not self._headers.events:
            raise FormatProblem("costs come before events:")
        self._in_costs = True
        return self._cost_lines.take_apart(text)

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
            self._cost_lines.set_layout(self._headers.positions, len(self._headers.events))
            self._body.set_layout(self._headers.positions)

    def _finish_part(self) -> None:
        if not self._headers.events:
            raise FormatProblem("events: is missing")
        if self._body.is_waiting:
            raise FormatProblem("the profile ends in the middle of a call or jump")
        self._events = self._headers.events
        costs = self._body.costs
        costs.origins += self._body.origins.finish()
        self._intervals = both(self._intervals, self._body.intervals.finish(seed_of(self._headers.descriptions)))
        self._parts.append(self._headers.part(self._source, costs.sums(len(self._events))))
        if len(self._parts) == 1:
            self._all_costs = costs
        else:
            self._all_costs.merge(costs)
        self._headers.start_part()
        self._in_costs = False
        self._body.close()
        self._body = self._new_body()

    def finish(self) -> Profile:
        try:
            if not self._header_seen:
                self._number = 0
                raise FormatProblem("the file is empty")
            self._finish_part()
        except FormatProblem as problem:
            raise ProfileError(self._source, self._number, str(problem)) from None
        self._body.close()
        self._cost_lines.forget()
        costs = self._all_costs
        return Profile(
            parts=tuple(self._parts),
            events=self._events,
            titles=self._headers.titles,
            formulas=self._headers.formulas,
            lines={place: rows for place, rows in costs.lines.items() if rows},
            calls=costs.calls,
            instructions=Instructions(
                {place: code for place, code in costs.code.items() if code.costs}, self._cost_lines.row, some_costs,
            ),
            instruction_calls=costs.instruction_calls,
            jumps=Jumps(costs.jump_rows),
            beginnings=costs.beginnings,
            origins=tuple(costs.origins),
            hot=costs.hot,
            hot_calls=costs.hot_calls,
            intervals=self._intervals,
        )
