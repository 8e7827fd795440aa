# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands between the cost lines of a part: names, calls and jumps."""

from __future__ import annotations

import re

from ..model.code import JumpRow
from ..model.costs import Costs
from ..model.errors import FormatProblem, shorten
from ..model.profile import (
    CallSite, Function, InstructionCall, Place, Row,
)
from .comment_place import CommentPlace
from .fields import absolute, count
from .hot_code import HotCode
from .intervals import IntervalComments
from .names import NameTable
from .origins import Origins
from .place_costs import PlaceCosts

_REMEMBERED = 1 << 16  # values of calls=, most of which come again
_CALLS = re.compile(r"(\d+)(?:\s+(?:\*|[+-]?(?:0x[0-9a-fA-F]+|\d+)))*\s*", re.ASCII)

# The line and the address of something; 0 where the file has no such column.
_Position = tuple[int, int]
# What a line says of a jump from the place: its target, line and address there; whether it is conditional; how
# often it was followed and executed.
_JumpTo = tuple[Place, int, int, bool, int, int]


class _Identities:
    """Functions that are the same are one object."""

    def __init__(self, functions: dict[Function, Function]) -> None:
        self._functions = functions

    def __call__(self, object_name: str, file: str, name: str) -> Function:
        function = Function(object_name, file, name)
        return self._functions.setdefault(function, function)


class Body:
    """The state of one part: names, positions and the current function start anew in each.

    The parser reads and writes `line` and `address`; all else happens here.
    """

    def __init__(self, functions: dict[Function, Function], by_line: bool, by_instruction: bool):
        self.costs = Costs()
        self.line = 0
        self.address = 0
        self.open: PlaceCosts | None = None  # of the current function and file; None outside of functions
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
        self._place = Place(Function("", "", ""), "")  # of the current function, once there is one
        self._callee_object = ""
        self._callee_file = ""
        self._callee = ""
        self._call_counts: dict[str, int] = {}
        # Whether the second line of a call or jump must come now.
        self.is_waiting = False
        self._pending_calls: int | None = None
        self._callee_address = 0
        self._jump_file = ""
        self._jump_function = ""
        self._pending_jump: _JumpTo | None = None
        self._jump_counts: dict[str, tuple[bool, int, int]] = {}

    def set_layout(self, positions: tuple[str, ...]) -> None:
        self.columns = len(positions)
        self.line_column = positions.index("line") if "line" in positions else None
        self.address_column = positions.index("instr") if "instr" in positions else None
        self.by_instruction = self._wants_instructions and self.address_column is not None

    def comment(self, text: str, events: int) -> None:
        """Any line that is empty or a comment; events: how many there are."""
        self.origins.comment(text)
        if self.by_line:
            self._hot_code.comment(text, events)
        self.intervals.comment(text, events)

    def second_line(self, row: Row) -> None:
        """The line after calls=, jump= or jcnd=: where it is, and what the calls cost."""
        if self._function is None:
            raise FormatProblem("costs outside of a function")
        if self._pending_calls is not None:
            callee = self._identity(
                self._callee_object or self._object, self._callee_file or self._file, self._callee
            )
            line = self.line if self.by_line else 0
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
            self.add_jump((self.line, self.address), self._pending_jump)
            self._pending_jump = None
        self.is_waiting = False

    def close(self) -> None:
        """Nothing more is read. It does not refer to itself any more: bd_annotate looks for no garbage, and a merge
        reads many profiles."""
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

    def _set_jump_file(self, value: str) -> None:
        self._jump_file = self._file_names.resolve(value)

    def _set_jump_function(self, value: str) -> None:
        self._jump_function = self._function_names.resolve(value)

    def _start_jump(self, value: str) -> None:
        self._await_jump(value, False)

    def _start_conditional_jump(self, value: str) -> None:
        self._await_jump(value, True)

    def _await_jump(self, value: str, conditional: bool) -> None:
        self._pending_jump = self.jump(value, conditional, (self.line, self.address))
        self.is_waiting = True

    def jump(self, value: str, conditional: bool, before: _Position) -> _JumpTo:
        """before: the position that the target is relative to."""
        counts, *target = value.split() or [""]
        known = self._jump_counts.get(counts)
        if known is None or conditional is not known[0]:
            known = self._counts_of_jump(counts, conditional)
        _, followed, executed = known
        function = self._function
        if function is None:
            raise FormatProblem("a jump outside of a function")
        if len(target) != self.columns:
            raise FormatProblem("the target of the jump is incomplete")
        place = self._place
        if self._jump_file or self._jump_function:
            file = self._jump_file or self._file
            if self._jump_function:
                function = self._identity(self._object, file, self._jump_function)
            place = Place(function, file)
            self._jump_file = self._jump_function = ""
        line, address = before
        return (
            place, absolute(target, self.line_column, line),
            absolute(target, self.address_column, address), conditional, followed, executed,
        )

    def _counts_of_jump(self, text: str, conditional: bool) -> tuple[bool, int, int]:
        followed, slash, executed = text.partition("/")
        if conditional and not slash:
            raise FormatProblem("jcnd= needs followed/executed counts")
        if not conditional:
            if not text:
                raise FormatProblem("jump= without a count")
            followed = executed = text
        if len(self._jump_counts) >= _REMEMBERED:
            self._jump_counts.clear()
        found = self._jump_counts[text] = conditional, count(followed), count(executed)
        return found

    def add_jump(self, position: _Position, jump: _JumpTo) -> None:
        """position: its own."""
        if self.open is not None and self.by_instruction:
            line, address = position
            target, target_line, target_address, conditional, followed, executed = jump
            self.open.add_jump(JumpRow(
                line, address, target, target_line, target_address, conditional, followed, executed
            ))
