# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands between the cost lines of a part: names, calls and jumps."""

from __future__ import annotations

import re

from ..model.costs import Costs
from ..model.errors import FormatProblem, shorten
from ..model.profile import (
    CallSite, Function, Instruction, InstructionCall, Jump, JumpCount, Place, Row,
)
from .fields import absolute, count
from .hot_code import HotCode
from .names import NameTable
from .origins import Origins

_REMEMBERED = 1 << 16  # values of calls=, most of which come again
_CALLS = re.compile(r"(\d+)(?:\s+(?:\*|[+-]?(?:0x[0-9a-fA-F]+|\d+)))*\s*", re.ASCII)

# A jump whose own position is on the next line: (count, target, its line and address, conditional).
_PendingJump = tuple[JumpCount, Place, int, int, bool]


class Body:
    """The state of one part: names, positions and the current function start anew in each.

    The parser's loop reads and writes `slot`, `line` and `address`; all else happens here.
    """

    def __init__(self, functions: dict[Function, Function], by_line: bool, by_instruction: bool):
        self.costs = Costs()
        self.line = 0
        self.address = 0
        # The costs by line of the current function and file; None where a cost line means
        # something else: the second line of a call or jump, or an error.
        self.slot: dict[int, Row] | None = None
        self.instruction_slot: dict[int, Instruction] = {}
        self.line_column: int | None = None
        self.address_column: int | None = None
        self.columns = 0
        self.directives = {
            "ob": self._set_object,
            "fl": self._set_function_file,
            "fi": self._set_file,
            "fe": self._set_file,
            "fn": self._set_function,
            "cob": self._set_callee_object,
            "cfi": self._set_callee_file,
            "cfl": self._set_callee_file,
            "cfn": self._set_callee,
            "calls": self._start_calls,
            "jfi": self._set_jump_file,
            "jfn": self._set_jump_function,
            "jump": self._start_jump,
            "jcnd": self._start_conditional_jump,
        }
        self._functions = functions
        self._by_line = by_line
        self._wants_instructions = by_instruction
        self.by_instruction = False
        self._object_names = NameTable()
        self._file_names = NameTable()
        self._function_names = NameTable()
        self.origins = Origins(
            self._object_names, self._file_names, self._function_names, self._identity
        )
        self._hot_code = HotCode(
            self._object_names, self._file_names, self._function_names, self._identity, self.costs
        )
        self._object = ""
        self._function_file = ""
        self._file = ""
        self._function: Function | None = None
        self._callee_object = ""
        self._callee_file = ""
        self._callee = ""
        self._here: dict[int, Row] = {}  # `slot`, also while a call or jump waits for its costs
        # Rows by line that are yet to be added to `slot`: at once, they take half the time.
        self.gathered: dict[int, list[Row]] = {}
        self._call_counts: dict[str, int] = {}
        # Whether the second line of a call or jump must come now.
        self.is_waiting = False
        self._pending_calls: int | None = None
        self._callee_address = 0
        self._jump_file = ""
        self._jump_function = ""
        self._pending_jump: _PendingJump | None = None

    def set_layout(self, positions: tuple[str, ...]) -> None:
        self.columns = len(positions)
        self.line_column = positions.index("line") if "line" in positions else None
        self.address_column = positions.index("instr") if "instr" in positions else None
        self.by_instruction = self._wants_instructions and self.address_column is not None

    def comment(self, text: str, events: int) -> None:
        """Any line that is empty or a comment; events: how many there are."""
        self.origins.comment(text)
        if self._by_line:
            self._hot_code.comment(text, events)

    def second_line(self, row: Row) -> None:
        """The line after calls=, jump= or jcnd=: where it is, and what the calls cost."""
        if self._function is None:
            raise FormatProblem("costs outside of a function")
        if self._pending_calls is not None:
            callee = self._identity(
                self._callee_object or self._object, self._callee_file or self._file, self._callee
            )
            line = self.line if self._by_line else 0
            site = CallSite(self._function, callee, self._file, line)
            self.costs.add_call(site, self._pending_calls, row)
            if self.by_instruction:
                key = InstructionCall(self._function, callee, self.address)
                self.costs.add_instruction_call(key, self._pending_calls, row)
                if self._callee_address:
                    self.costs.add_beginning(callee, self._callee_address)
            self._pending_calls = None
            self._callee_object = self._callee_file = self._callee = ""
        elif self._pending_jump is not None:
            number, target, line, address, conditional = self._pending_jump
            if self.by_instruction:
                here = Place(self._function, self._file)
                jump = Jump(here, self.line, self.address, target, line, address, conditional)
                self.costs.add_jump(jump, number)
            self._pending_jump = None
        self.is_waiting = False
        self.slot = self._here

    def _identity(self, object_name: str, file: str, name: str) -> Function:
        function = Function(object_name, file, name)
        return self._functions.setdefault(function, function)

    def add_up(self) -> None:
        """What was gathered. It grows with each row, so this is to be called for each block of lines."""
        for line, rows in self.gathered.items():
            if line in self._here:
                rows.append(self._here[line])
            if rows:
                self._here[line] = rows[0] if len(rows) == 1 else tuple(map(sum, zip(*rows)))
        self.gathered.clear()

    def _enter(self, place: Place) -> None:
        self.add_up()
        self.slot = self._here = self.costs.lines.setdefault(place, {})
        if self.by_instruction:
            self.instruction_slot = self.costs.instructions.setdefault(place, {})

    def _set_object(self, value: str) -> None:
        self._object = self._object_names.resolve(value)
        self._function = self.slot = None

    def _set_function_file(self, value: str) -> None:
        self._function_file = self._file = self._file_names.resolve(value)
        self._function = self.slot = None

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

    def _start_calls(self, value: str) -> None:
        if not self._callee:
            raise FormatProblem("calls= without cfn=")
        number = self._call_counts.get(value)
        if number is None:
            match = _CALLS.fullmatch(value)
            if match is None:
                raise FormatProblem(f"calls= needs a count and a position, not '{shorten(value)}'")
            if len(self._call_counts) >= _REMEMBERED:
                self._call_counts.clear()
            number = self._call_counts[value] = count(match[1])
        self._pending_calls = number
        if self.by_instruction:
            target = value.split()[1:]
            is_whole = len(target) == self.columns
            column = self.address_column if is_whole else None
            self._callee_address = absolute(target, column, self.address)
        self.is_waiting = True
        self.slot = None

    def _set_jump_file(self, value: str) -> None:
        self._jump_file = self._file_names.resolve(value)

    def _set_jump_function(self, value: str) -> None:
        self._jump_function = self._function_names.resolve(value)

    def _start_jump(self, value: str) -> None:
        words = value.split()
        if not words:
            raise FormatProblem("jump= without a count")
        number = count(words[0])
        self._await_jump(JumpCount(number, number), words[1:], False)

    def _start_conditional_jump(self, value: str) -> None:
        words = value.split()
        followed, slash, executed = words[0].partition("/") if words else ("", "", "")
        if not slash:
            raise FormatProblem("jcnd= needs followed/executed counts")
        self._await_jump(JumpCount(count(followed), count(executed)), words[1:], True)

    def _await_jump(self, number: JumpCount, target: list[str], conditional: bool) -> None:
        if self._function is None:
            raise FormatProblem("a jump outside of a function")
        if len(target) != self.columns:
            raise FormatProblem("the target of the jump is incomplete")
        file = self._jump_file or self._file
        function = self._function
        if self._jump_function:
            function = self._identity(self._object, file, self._jump_function)
        self._pending_jump = (
            number,
            Place(function, file),
            absolute(target, self.line_column, self.line),
            absolute(target, self.address_column, self.address),
            conditional,
        )
        self._jump_file = self._jump_function = ""
        self.is_waiting = True
        self.slot = None
