# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what jump= and jcnd= state: how often a jump was followed and executed, and where to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model.code import JumpNumbers, ReadJump
from ..model.errors import FormatProblem
from .fields import absolute, count

_POSITION = r"(?:\*|[+-]?[0-9]{1,18}+(?!x)|0x[0-9a-fA-F]{1,16}+)"


class JumpReader:
    """Reads the values of one of the two, in one layout of columns."""

    def __init__(self, positions: tuple[str, ...], conditional: bool) -> None:
        self._columns = len(positions)
        self._line = positions.index("line") if "line" in positions else None
        self._address = positions.index("instr") if "instr" in positions else None
        self._conditional = conditional
        counts = "[0-9]{1,18}+/[0-9]{1,18}+" if conditional else "[0-9]{1,18}+"
        self.read_one: ReadJump = self.read  # one object for all jumps that keep it
        self._plain = re.compile(f"(?:{counts}(?: {_POSITION}){{{self._columns}}}\n)*+")

    def understands(self, values: Sequence[str]) -> bool:
        """Whether all values have the form that programs write, so that `read` takes them."""
        return self._plain.fullmatch("\n".join([*values, ""])) is not None

    def read(self, value: str, line: int, address: int) -> JumpNumbers:
        """What a value states. line, address: the position that the target is relative to. FormatProblem: it is
        wrong."""
        counts, *target = value.split() or [""]
        followed, slash, executed = counts.partition("/")
        if self._conditional and not slash:
            raise FormatProblem("jcnd= needs followed/executed counts")
        if not self._conditional:
            if not counts:
                raise FormatProblem("jump= without a count")
            followed = executed = counts
        times = count(followed), count(executed)
        if len(target) != self._columns:
            raise FormatProblem("the target of the jump is incomplete")
        return (
            absolute(target, self._line, line), absolute(target, self._address, address), self._conditional, *times
        )
