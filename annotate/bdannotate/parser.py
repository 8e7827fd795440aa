# SPDX-License-Identifier: GPL-2.0-or-later
"""From lines to a Profile, strictly: whatever is not understood is an error with its line.

Reads callgrind format (bdgrind, Callgrind, and others that write it) and Cachegrind's, which is
a subset of it.

Most lines of a large profile are short and repeat: "+4 1 1 1". The meaning of a cost line is
therefore remembered by its text. That is twice as fast as taking each line apart, and equal rows
share their memory.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from operator import add
from typing import NoReturn

from .costs import Costs, add_instruction
from .errors import ProfileError, shorten
from .headers import CLOSING_KEYS, HeaderProblem, Headers, is_known, split_header
from .model import (
    CallSite, Function, Instruction, InstructionCall, Jump, JumpCount, Part, Place, Profile, Row,
)
from .names import NameProblem, NameTable
from .progress import Progress
from .reading import display_name, line_blocks

_REMEMBERED_LINES = 200_000
_COST_STARTS = frozenset("0123456789+-*")
_HEXADECIMAL = re.compile("0x[0-9a-fA-F]{1,16}")

# A cost line taken apart: (line is relative, line, address is relative, address, costs).
_CostLine = tuple[bool, int, bool, int, Row]

# A jump whose own position is on the next line: (count, target, its line and address, conditional).
_PendingJump = tuple[JumpCount, Place, int, int, bool]


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
        self._number = 0  # of the line looked at, for messages; the fast path leaves it alone
        self._headers = Headers()
        self._header_seen = False
        self._parts: list[Part] = []
        self._events: tuple[str, ...] = ()
        self._all_costs = Costs()
        self._functions: dict[Function, Function] = {}
        self._remembered: dict[str, _CostLine] = {}
        self._directives: dict[str, Callable[[str], None]] = {
            "ob": self._set_object,
            "fl": self._set_function_file,
            "fi": self._set_file,
            "fe": self._set_file,
            "fn": self._set_function,
            "cob": self._set_callee_object,
            "cfi": self._set_callee_file,
            "cfl": self._set_callee_file,
            "cfn": self._set_callee,
            "calls": self._start_call,
            "jfi": self._set_jump_file,
            "jfn": self._set_jump_function,
            "jump": self._start_jump,
            "jcnd": self._start_conditional_jump,
        }
        self._start_part()

    def _start_part(self) -> None:
        """Names, positions and the current function are forgotten from one part to the next."""
        self._in_costs = False
        self._costs = Costs()
        self._object_names = NameTable()
        self._file_names = NameTable()
        self._function_names = NameTable()
        self._line = 0
        self._address = 0
        self._object = ""
        self._function_file = ""
        self._file = ""
        self._function: Function | None = None
        # The costs by line of the current function and file; None where a cost line means
        # something else: the second line of a call or jump, or an error.
        self._slot: dict[int, Row] | None = None
        self._instruction_slot: dict[int, Instruction] = {}
        self._callee_object = ""
        self._callee_file = ""
        self._callee = ""
        self._pending_calls: int | None = None
        self._jump_file = ""
        self._jump_function = ""
        self._pending_jump: _PendingJump | None = None
        self._set_layout()

    def _set_layout(self) -> None:
        """Takes over what positions: and events: say about the columns of a cost line."""
        self._remembered.clear()
        positions = self._headers.positions
        self._columns = len(positions)
        self._line_column = positions.index("line") if "line" in positions else None
        self._address_column = positions.index("instr") if "instr" in positions else None
        self._width = len(self._headers.events)

    # Cost lines

    def feed(self, lines: list[str]) -> None:
        remembered = self._remembered
        by_line = self._by_line
        by_instruction = self._by_instruction
        slot, line, address = self._slot, self._line, self._address
        for number, text in enumerate(lines, self._lines_done + 1):
            cost = remembered.get(text)
            if cost is None:
                self._number = number
                if text[:1] not in _COST_STARTS:
                    self._line, self._address = line, address
                    self._other_line(text)
                    slot, line, address = self._slot, self._line, self._address
                    continue
                cost = self._take_apart(text)
            line_is_relative, new_line, address_is_relative, new_address, row = cost
            line = line + new_line if line_is_relative else new_line
            address = address + new_address if address_is_relative else new_address
            if line < 0 or address < 0:
                self._number = number
                self._fail("the relative position leads below 0")
            if slot is None:
                self._number = number
                self._line, self._address = line, address
                self._second_line(row)
                slot = self._slot
                continue
            key = line if by_line else 0
            old = slot.get(key)
            slot[key] = row if old is None else tuple(map(add, old, row))
            if by_instruction:
                add_instruction(self._instruction_slot, address, line, row)
        self._slot, self._line, self._address = slot, line, address
        self._lines_done += len(lines)

    def _take_apart(self, text: str) -> _CostLine:
        if not self._width:
            self._fail("costs come before events:")
        self._in_costs = True
        words = text.split()
        costs = words[self._columns :]
        if len(words) < self._columns:
            self._fail("the position is incomplete")
        if len(costs) > self._width:
            self._fail(f"{len(costs)} costs for {self._width} events")
        line, address = self._line_column, self._address_column
        row = tuple(map(self._count, costs)) + (0,) * (self._width - len(costs))
        cost = (
            *(self._position(words[line]) if line is not None else (False, 0)),
            *(self._position(words[address]) if address is not None else (False, 0)),
            row,
        )
        if len(self._remembered) >= _REMEMBERED_LINES:
            self._remembered.clear()
        self._remembered[text] = cost
        return cost

    def _second_line(self, row: Row) -> None:
        """The line after calls=, jump= or jcnd=: where it is, and what the calls cost."""
        if self._function is None:
            self._fail("costs outside of a function")
        here = Place(self._function, self._file)
        if self._pending_calls is not None:
            callee = self._identity(
                self._callee_object or self._object, self._callee_file or self._file, self._callee
            )
            line = self._line if self._by_line else 0
            site = CallSite(self._function, callee, self._file, line)
            self._costs.add_call(site, self._pending_calls, row)
            if self._by_instruction:
                key = InstructionCall(self._function, callee, self._address)
                self._costs.add_instruction_call(key, self._pending_calls, row)
            self._pending_calls = None
            self._callee_object = self._callee_file = self._callee = ""
        elif self._pending_jump is not None:
            count, target, target_line, target_address, conditional = self._pending_jump
            if self._by_instruction:
                jump = Jump(
                    here, self._line, self._address, target, target_line, target_address,
                    conditional,
                )
                self._costs.add_jump(jump, count)
            self._pending_jump = None
        self._enter(here)

    # Names, calls, jumps

    def _other_line(self, text: str) -> None:
        if not text or text.isspace() or text.startswith("#"):
            return
        if self._pending_calls is not None or self._pending_jump is not None:
            self._fail("the costs of a call, or the position of a jump, are missing here")
        key, equals, value = text.partition("=")
        directive = self._directives.get(key) if equals else None
        try:
            if directive:
                if not self._width:
                    self._fail("costs come before events:")
                self._in_costs = True
                directive(value)
            else:
                self._header(text)
        except (NameProblem, HeaderProblem) as problem:
            self._fail(str(problem))

    def _identity(self, object_name: str, file: str, name: str) -> Function:
        function = Function(object_name, file, name)
        return self._functions.setdefault(function, function)

    def _enter(self, place: Place) -> None:
        self._slot = self._costs.lines.setdefault(place, {})
        if self._by_instruction:
            self._instruction_slot = self._costs.instructions.setdefault(place, {})

    def _set_object(self, value: str) -> None:
        self._object = self._object_names.resolve(value)
        self._function = self._slot = None

    def _set_function_file(self, value: str) -> None:
        self._function_file = self._file = self._file_names.resolve(value)
        self._function = self._slot = None

    def _set_file(self, value: str) -> None:
        self._file = self._file_names.resolve(value)
        if self._function is not None:
            self._enter(Place(self._function, self._file))

    def _set_function(self, value: str) -> None:
        self._file = self._function_file
        name = self._function_names.resolve(value)
        self._function = self._identity(self._object, self._file, name)
        self._enter(Place(self._function, self._file))

    def _set_callee_object(self, value: str) -> None:
        self._callee_object = self._object_names.resolve(value)

    def _set_callee_file(self, value: str) -> None:
        self._callee_file = self._file_names.resolve(value)

    def _set_callee(self, value: str) -> None:
        self._callee = self._function_names.resolve(value)

    def _start_call(self, value: str) -> None:
        if not self._callee:
            self._fail("calls= without cfn=")
        words = value.split()
        if not words:
            self._fail("calls= without a count")
        for target in words[1:]:
            self._position(target)
        self._pending_calls = self._count(words[0])
        self._slot = None

    def _set_jump_file(self, value: str) -> None:
        self._jump_file = self._file_names.resolve(value)

    def _set_jump_function(self, value: str) -> None:
        self._jump_function = self._function_names.resolve(value)

    def _start_jump(self, value: str) -> None:
        words = value.split()
        if not words:
            self._fail("jump= without a count")
        count = self._count(words[0])
        self._await_jump(JumpCount(count, count), words[1:], False)

    def _start_conditional_jump(self, value: str) -> None:
        words = value.split()
        followed, slash, executed = words[0].partition("/") if words else ("", "", "")
        if not slash:
            self._fail("jcnd= needs followed/executed counts")
        count = JumpCount(self._count(followed), self._count(executed))
        self._await_jump(count, words[1:], True)

    def _await_jump(self, count: JumpCount, target: list[str], conditional: bool) -> None:
        if self._function is None:
            self._fail("a jump outside of a function")
        if len(target) != self._columns:
            self._fail("the target of the jump is incomplete")
        file = self._jump_file or self._file
        function = self._function
        if self._jump_function:
            function = self._identity(self._object, file, self._jump_function)
        self._pending_jump = (
            count,
            Place(function, file),
            self._absolute(target, self._line_column, self._line),
            self._absolute(target, self._address_column, self._address),
            conditional,
        )
        self._jump_file = self._jump_function = ""
        self._slot = None

    # Numbers

    def _absolute(self, words: list[str], column: int | None, base: int) -> int:
        if column is None:
            return 0
        relative, value = self._position(words[column])
        return base + value if relative else value

    def _position(self, word: str) -> tuple[bool, int]:
        if word == "*":
            return True, 0
        if word[0] == "+":
            return True, self._count(word[1:])
        if word[0] == "-":
            return True, -self._count(word[1:])
        return False, self._count(word)

    def _count(self, word: str) -> int:
        if word.isascii() and word.isdigit():
            try:
                return int(word)
            except ValueError:
                self._fail("a number is too long")
        if word[:2] == "0x" and _HEXADECIMAL.fullmatch(word):
            return int(word, 16)
        if word == ".":  # Cachegrind's way to write that a line cannot have an event
            return 0
        self._fail(f"'{shorten(word)}' is not a number")

    # Headers and parts

    def _header(self, text: str) -> None:
        header = split_header(text)
        if header is None:
            if not self._header_seen:
                self._fail("this is not a profile in callgrind or Cachegrind format")
            self._fail(f"this line is not understood: {shorten(text)}")
        key, value = header
        if self._in_costs and key not in CLOSING_KEYS:
            self._finish_part()
        if not self._header_seen and not is_known(key):
            self._fail("this is not a profile in callgrind or Cachegrind format")
        self._header_seen = True
        self._headers.read(key, value, self._number)
        if key in ("events", "positions"):
            if self._parts and self._headers.events != self._events:
                self._fail("this part counts other events than those before it")
            self._set_layout()

    def _finish_part(self) -> None:
        if not self._width:
            self._fail("events: is missing")
        if self._pending_calls is not None or self._pending_jump is not None:
            self._fail("the profile ends in the middle of a call or jump")
        self._events = self._headers.events
        self._parts.append(self._headers.part(self._source, self._costs.sums(self._width)))
        if len(self._parts) == 1:
            self._all_costs = self._costs
        else:
            self._all_costs.merge(self._costs)
        self._headers.start_part()
        self._start_part()

    def finish(self) -> Profile:
        if not self._header_seen:
            self._number = 0
            self._fail("the file is empty")
        self._finish_part()
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
        )

    def _fail(self, problem: str) -> NoReturn:
        raise ProfileError(self._source, self._number, problem)
