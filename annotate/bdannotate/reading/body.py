# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the lines of a part other than cost lines: names, calls and jumps."""

from __future__ import annotations

import re

from ..model.code import ReadJump
from ..model.costs import Costs
from ..model.errors import FormatProblem, shorten
from ..model.profile import (
    CallSite, Function, InstructionCall, Place, Row,
)
from ..model.rows import maker
from .comment_place import CommentPlace
from .fields import Step, count, moved, step
from .hot_code import HotCode
from .intervals import IntervalComments
from .jumps import JumpReader
from .names import NameTable
from .origins import Origins
from .place_costs import PlaceCosts

_REMEMBERED = 1 << 16  # values of calls=, most of which occur again
_CALLS = re.compile(r"(\d+)(?:\s+(?:\*|[+-]?(?:0x[0-9a-fA-F]+|\d+)))*\s*", re.ASCII)

# A line and an address; 0 if the file has no such column.
_Position = tuple[int, int]
# A jump as a line describes it: the values of a JumpRow behind its position.
_JumpTo = tuple[Place, ReadJump, str, int, int]


_call_site, _instruction_call = maker(CallSite), maker(InstructionCall)


class _Identities:
    """Makes functions, so that equal ones are one object."""

    def __init__(self, functions: dict[tuple[str, str, str], Function]) -> None:
        self._functions = functions

    def __call__(self, object_name: str, file: str, name: str) -> Function:
        function = self._functions.get((object_name, file, name))
        if function is None:
            function = Function(object_name, file, name)
            self._functions[function] = function
        return function


class Body:
    """The state of one part. Names, positions and the current function start anew in each part.

    The parser reads and writes `line` and `address`; this class does everything else.
    """

    def __init__(self, functions: dict[tuple[str, str, str], Function], by_line: bool, by_instruction: bool):
        self.costs = Costs()
        self.line = 0
        self.address = 0
        self.open: PlaceCosts | None = None  # those of the current function and file; None outside of functions
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
        self._identity = _Identities(functions)
        self.by_line = by_line
        self._wants_instructions = by_instruction
        self.by_instruction = False
        self._object_names = NameTable()
        self._file_names = NameTable()
        self._function_names = NameTable()
        self.origins = Origins(
            self._object_names, self._file_names, self._function_names, self._identity
        )
        names = self._object_names, self._file_names, self._function_names
        self._hot_code = HotCode(CommentPlace(*names, self._identity), self.costs)
        self.intervals = IntervalComments(CommentPlace(*names, self._identity))
        self._object = ""
        self._function_file = ""
        self._file = ""
        self._function: Function | None = None
        self._place = Place(Function("", "", ""), "")  # that of the current function, once there is one
        self._callee_object = ""
        self._callee_file = ""
        self._callee = ""
        self._calls: dict[str, tuple[int, Step | None]] = {}
        # Whether the next line must be the second one of a call or jump.
        self.is_waiting = False
        self._pending_calls: int | None = None
        self._callee_address = 0
        self._jump_file = ""
        self._jump_function = ""
        self._pending_jump: _JumpTo | None = None
        self.jump_readers: dict[str, JumpReader] = {}

    def set_layout(self, positions: tuple[str, ...]) -> None:
        self.columns = len(positions)
        self.line_column = positions.index("line") if "line" in positions else None
        self.address_column = positions.index("instr") if "instr" in positions else None
        self._calls.clear()
        self.jump_readers = {key: JumpReader(positions, key == "jcnd") for key in ("jump", "jcnd")}
        self.by_instruction = self._wants_instructions and self.address_column is not None

    def comment(self, text: str, events: int) -> None:
        """Takes any line that is empty or a comment. events: the number of events."""
        self.origins.comment(text)
        if self.by_line:
            self._hot_code.comment(text, events)
        self.intervals.comment(text, events)

    def second_line(self, row: Row) -> None:
        """Takes the line after calls=, jump= or jcnd=, whose position is read already. row: the cost of the calls."""
        if self._function is None:
            raise FormatProblem("costs outside of a function")
        if self._pending_calls is not None:
            callee = self._identity(
                self._callee_object or self._object, self._callee_file or self._file, self._callee
            )
            line = self.line if self.by_line else 0
            site = _call_site((self._function, callee, self._file, line))
            self.costs.add_call(site, self._pending_calls, row)
            if self.by_instruction:
                key = _instruction_call((self._function, callee, self.address))
                self.costs.add_instruction_call(key, self._pending_calls, row)
                if self._callee_address:
                    self.costs.add_beginning(callee, self._callee_address)
            self._pending_calls = None
            self._callee_object = self._callee_file = self._callee = ""
        elif self._pending_jump is not None:
            self.add_jump((self.line, self.address), self._pending_jump)
            self._pending_jump = None
        self.is_waiting = False

    def close(self) -> None:
        """Ends the part. This also removes the references to itself: bd_annotate collects no garbage, and a merge reads
        many profiles."""
        self.directives.clear()

    def _enter(self, place: Place) -> None:
        self._place = place
        self.open = PlaceCosts(place, self.costs, self.by_instruction)

    def _set_object(self, value: str) -> None:
        self._object = self._object_names.resolve(value)
        self._function = self.open = None

    def _set_function_file(self, value: str) -> None:
        self._function_file = self._file = self._file_names.resolve(value)
        self._function = self.open = None

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
        known = self._calls.get(value) or self._new_calls(value)
        self._pending_calls, to_callee = known
        self._callee_address = 0 if to_callee is None else moved(self.address, to_callee)
        self.is_waiting = True

    def _new_calls(self, value: str) -> tuple[int, Step | None]:
        """The number of calls, and the distance to the address of the callee; None if it is unknown or not needed."""
        match = _CALLS.fullmatch(value)
        if match is None:
            raise FormatProblem(f"calls= needs a count and a position, not '{shorten(value)}'")
        if len(self._calls) >= _REMEMBERED:
            self._calls.clear()
        number, to_callee = count(match[1]), None
        target = value.split()[1:]
        if self.by_instruction and self.address_column is not None and len(target) == self.columns:
            to_callee = step(target[self.address_column])
        self._calls[value] = number, to_callee
        return number, to_callee

    def _set_jump_file(self, value: str) -> None:
        self._jump_file = self._file_names.resolve(value)

    def _set_jump_function(self, value: str) -> None:
        self._jump_function = self._function_names.resolve(value)

    def _start_jump(self, value: str) -> None:
        self._await_jump(value, "jump")

    def _start_conditional_jump(self, value: str) -> None:
        self._await_jump(value, "jcnd")

    def _await_jump(self, value: str, key: str) -> None:
        self.jump_readers[key].read(value, self.line, self.address)
        self._pending_jump = self.jump(key, value, (self.line, self.address))
        self.is_waiting = True

    def jump(self, key: str, value: str, before: _Position) -> _JumpTo:
        """Takes jump= or jcnd=, whose value can be read. before: the position that the target is relative to."""
        function = self._function
        if function is None:
            raise FormatProblem("a jump outside of a function")
        place = self._place
        if self._jump_file or self._jump_function:
            file = self._jump_file or self._file
            if self._jump_function:
                function = self._identity(self._object, file, self._jump_function)
            place = Place(function, file)
            self._jump_file = self._jump_function = ""
        return place, self.jump_readers[key].read_one, value, *before

    def add_jump(self, position: _Position, jump: _JumpTo) -> None:
        """Adds a jump. position: its own line and address."""
        if self.open is not None and self.by_instruction:
            self.open.jumps.append((*position, *jump))
