# SPDX-License-Identifier: GPL-2.0-or-later
"""Splits cost lines into positions and costs.

Most lines of a large profile are short and repeat, such as "+4 * 1 0 1". The meanings of such lines are remembered by
their texts, as are those of costs and positions. This is more than twice as fast as splitting each line, and equal rows
share their memory. Long lines hardly ever repeat.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.code import Written
from ..model.errors import FormatProblem
from ..model.profile import Row
from .fields import Step, cost_row, step

STARTS = frozenset("0123456789+-*")
_REMEMBERED = 200_000
LONGEST_REMEMBERED = 32
# In most rows, all events but the first few are 0.
_HEAD = 4

# The costs of a line; the same as instructions keep them; and two rows that sums are made of: the first events, and all
# events if others are not 0 (then the first of the two is 0).
_Costs = tuple[Row, Written, Row, Row | None]
# A cost line: the steps of its address and line, 0 without such a column, and its costs.
CostLine = tuple[Step, Step, Row, Written, Row, Row | None]


class CostLines:
    """The cost lines of one layout of columns."""

    def __init__(self) -> None:
        self.remembered: dict[str, CostLine] = {}
        self._costs: dict[str, _Costs] = {}
        self._columns = 0
        self._line: int | None = None
        self._address: int | None = None
        self._width = 0
        self._no_head: Row = ()

    def set_layout(self, positions: tuple[str, ...], width: int) -> None:
        """width: the number of events."""
        self._columns = len(positions)
        self._line = positions.index("line") if "line" in positions else None
        self._address = positions.index("instr") if "instr" in positions else None
        self._width = width
        self._no_head = (0,) * min(width, _HEAD)
        self.forget()

    def forget(self) -> None:
        """Frees what only further lines would need; `row` still works."""
        step.cache_clear()
        self.remembered.clear()
        self._costs.clear()

    def take_apart(self, text: str) -> CostLine:
        """Splits a line that begins like a cost line. Short lines without absolute positions are remembered.
        FormatProblem: it is none."""
        columns = self._columns
        words = text.split(None, columns)
        if len(words) < columns:
            raise FormatProblem("the position is incomplete")
        behind = words[columns] if len(words) > columns else ""
        if len(behind) > LONGEST_REMEMBERED:
            row = self.row(behind)
            costs: _Costs = row, behind, self._no_head, row
        else:
            costs = self._costs.get(behind) or self._costs_of(behind)
        line = step(words[self._line]) if self._line is not None else 0
        address = step(words[self._address]) if self._address is not None else 0
        cost = address, line, *costs
        if len(text) > LONGEST_REMEMBERED:
            return cost
        if isinstance(address, int) and isinstance(line, int):
            if len(self.remembered) >= _REMEMBERED:
                self.remembered.clear()
            self.remembered[text] = cost
        return cost

    def row(self, text: str) -> Row:
        """The costs of all events, from the text of some. FormatProblem: there are too many, or one is no number."""
        row = cost_row(text)
        missing = self._width - len(row)
        if missing < 0:
            raise FormatProblem(f"{len(row)} costs for {self._width} events")
        return row + (0,) * missing if missing else row

    def _costs_of(self, text: str) -> _Costs:
        row = self.row(text)
        found: _Costs = row, text, self._no_head, row
        if not any(row[_HEAD:]):
            found = row, row, row[:_HEAD], None
        if len(self._costs) >= _REMEMBERED:
            self._costs.clear()
        self._costs[text] = found
        return found


def added_up(costs: Sequence[CostLine]) -> Row:
    """The sum of one or more cost lines."""
    if len(costs) == 1:
        return costs[0][2]
    _, _, rows, _, heads, longer = zip(*costs)
    head = tuple(map(sum, zip(*heads)))
    rest = list(filter(None, longer))
    rest.append(head + (0,) * (len(rows[0]) - len(head)))
    return tuple(map(sum, zip(*rest))) if len(rest) > 1 else rest[0]
