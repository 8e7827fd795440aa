# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the costs of a place: a function's code from one file."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.code import Code
from ..model.costs import Costs
from ..model.profile import Place, Row, add_rows
from .cost_lines import CostLine, added_up


class PlaceCosts:
    """The costs of a place, which grow with each line read. jumps: those that begin there, only by instruction."""

    __slots__ = ("_rows", "_code", "jumps", "_by_instruction")

    def __init__(self, place: Place, costs: Costs, by_instruction: bool) -> None:
        self._rows = costs.lines.setdefault(place, {})
        self._by_instruction = by_instruction
        if by_instruction:
            self._code = costs.code.setdefault(place, Code())
            self.jumps = costs.jump_rows.setdefault(place, [])

    def add(self, costs: Sequence[CostLine], lines: Sequence[int], addresses: Sequence[int]) -> None:
        """Adds one or more cost lines, with their lines and addresses (addresses only by instruction)."""
        if lines[0] == lines[-1] and lines.count(lines[0]) == len(lines):
            self._add_row(lines[0], added_up(costs))
        else:
            gathered: dict[int, list[CostLine]] = {}
            for line, cost in zip(lines, costs):
                known = gathered.get(line)
                if known is None:
                    gathered[line] = [cost]
                else:
                    known.append(cost)
            for line, here in gathered.items():
                self._add_row(line, here[0][2] if len(here) == 1 else added_up(here))
        if self._by_instruction:
            self._code.add(addresses, lines, [cost[3] for cost in costs])

    def _add_row(self, line: int, row: Row) -> None:
        known = self._rows.get(line)
        self._rows[line] = add_rows(known, row) if known else row
