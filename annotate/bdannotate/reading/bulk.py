# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads many cost lines at once: work that is the same for all of them is done column by column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress, islice, pairwise
from typing import cast

from ..model.errors import FormatProblem
from .body import Body
from .cost_lines import LONGEST_REMEMBERED, STARTS, CostLine, CostLines
from .fields import Step, moved
from .place_costs import PlaceCosts


_MOVES = frozenset(("ob", "fl", "fi", "fe", "fn"))
_BEFORE_COSTS = frozenset(("calls", "jump", "jcnd"))
# If the share of absolute positions is larger, it is faster to take steps one by one.
_MANY = 1 / 8


class Bulk:
    """The beginning of a block of lines, up to the first line that is not about costs."""

    def __init__(self, body: Body, cost_lines: CostLines, lines: Sequence[str], events: int) -> None:
        """events: the number of events."""
        self._body = body
        self._cost_lines = cost_lines
        self._lines = lines
        self._events = events
        self._found: list[CostLine | None] = list(map(cost_lines.remembered.get, lines))
        # Lines other than cost lines: index, key and value; the key is empty for comments.
        self._others: list[tuple[int, str, str]] = []
        self.number = 0  # the number of the line that feed() reads, from 1

    def is_understood(self) -> bool:
        """Whether all lines have the right form. If not, the parser feeds them one by one, to find the wrong one."""
        try:
            self._take_apart()
        except FormatProblem:
            return False
        for kind, reader in self._body.jump_readers.items():
            if not reader.understands([value for _, key, value in self._others if key == kind]):
                return False
        self._costs = list(filter(None, self._found))
        steps, line_steps, *_ = zip(*self._costs) if self._costs else ((), ())
        # One before the first cost line, and one after each.
        if not self._body.by_line:
            self._addresses = self._positions = [0] * (len(steps) + 1)
            return True
        self._addresses = _positions(self._body.address, steps)
        self._positions = _positions(self._body.line, line_steps)
        return min(self._addresses) >= 0 and min(self._positions) >= 0

    def _take_apart(self) -> None:
        found, lines, others = self._found, self._lines, self._others
        take_apart, remembered = self._cost_lines.take_apart, self._cost_lines.remembered
        directives = self._body.directives
        for index in [index for index, cost in enumerate(found) if cost is None]:
            text = lines[index]
            if text[:1] in STARTS:
                found[index] = len(text) <= LONGEST_REMEMBERED and remembered.get(text) or take_apart(text)
                continue
            key, equals, value = text.partition("=")
            if equals and key in directives:
                others.append((index, key, value))
            elif not text or text[0] == "#" or text.isspace():
                others.append((index, "", text))
            else:
                del found[index:]
                return

    def feed(self) -> int:
        """Takes the lines, and returns how many it has taken. FormatProblem: line `number` is wrong."""
        body, found, costs = self._body, self._found, self._costs
        addresses, positions = self._addresses, self._positions
        directives = body.directives
        seconds: list[int] = []  # cost lines of calls and jumps, which are no self costs
        # Places, and the numbers of their first cost lines, not counting those.
        begins: list[tuple[PlaceCosts | None, int]] = [(body.open, 0)]
        done = len(found)
        for order, (index, key, value) in enumerate(self._others):
            following = index - order  # the number of the next cost line
            self.number = index + 1
            if begins[-1][0] is None and following - len(seconds) > begins[-1][1]:
                break
            if key in _BEFORE_COSTS:
                if index + 1 == done or found[index + 1] is None:
                    body.line, body.address = positions[following], addresses[following]
                    directives[key](value)
                    done = index + 1  # the parser reads what follows instead of a cost line
                    del costs[following:]
                    break
                seconds.append(following)
                before = positions[following], addresses[following]
                after = positions[following + 1], addresses[following + 1]
                if key == "calls":
                    body.line, body.address = before
                    directives[key](value)
                    body.line, body.address = after
                    self.number = index + 2
                    body.second_line(costs[following][2])
                else:
                    body.add_jump(after, body.jump(key, value, before))
            elif key:
                directives[key](value)
                if key in _MOVES:
                    begins.append((body.open, following - len(seconds)))
            else:
                body.comment(value, self._events)
        body.line, body.address = positions[len(costs)], addresses[len(costs)]
        self._add(begins, seconds)
        return done

    def _add(self, begins: list[tuple[PlaceCosts | None, int]], seconds: list[int]) -> None:
        is_own = bytearray(b"\1") * len(self._costs)
        for number in seconds:
            is_own[number] = 0
        costs = list(compress(self._costs, is_own))
        positions = list(compress(islice(self._positions, 1, None), is_own))
        addresses = list(compress(islice(self._addresses, 1, None), is_own)) if self._body.by_instruction else []
        for (place, start), (_, stop) in pairwise([*begins, (None, len(costs))]):
            if start == stop:
                continue
            if place is None:
                own = compress((index for index, cost in enumerate(self._found) if cost), is_own)
                self.number = next(islice(own, start, None)) + 1
                raise FormatProblem("costs outside of a function")
            place.add(costs[start:stop], positions[start:stop], addresses[start:stop])


def _positions(start: int, steps: Sequence[Step]) -> list[int]:
    try:
        return list(accumulate(cast(Sequence[int], steps), initial=start))
    except TypeError:
        return _from_absolute(start, steps)


def _from_absolute(start: int, steps: Sequence[Step]) -> list[int]:
    absolute = [number for number, step in enumerate(steps) if not isinstance(step, int)]
    if len(absolute) > _MANY * len(steps):
        return list(accumulate(steps, moved, initial=start))
    found: list[int] = []
    done = 0
    for number in absolute:
        found += accumulate(cast(Sequence[int], steps[done:number]), initial=start)
        start = moved(0, steps[number])
        done = number + 1
    found += accumulate(cast(Sequence[int], steps[done:]), initial=start)
    return found
