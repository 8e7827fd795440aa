# SPDX-License-Identifier: GPL-2.0-or-later
"""The instructions of a page. After the context tree, they are the largest part of a large page. To save memory, they
are packed before anything else is read, and become columns a few thousand at a time."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import itemgetter

from ..analyses.code.instructions import disassemble
from ..model.code import instruction_rows
from ..model.narrow import Growing, zeros
from ..model.profile import Function, InstructionCost, Place, Row
from . import schema
from .numbers import Numbers
from .subject import PageCode, Subject
from .tables import Form, Table, packed

# Disassembling is slow: only functions with at least this share of some event are worth it.
_LEAST_SHARE = 0.002
_MOST_DISASSEMBLED = 200
# Rows become columns when so many of them wait.
_AT_ONCE = 10_000
# Most instructions count only these events (executions, loads, stores); few have costs of any other.
_FIRST_EVENTS = 3


def page_code(subject: Subject, numbers: Numbers) -> PageCode:
    """The instructions of the first side, by function and address, with the texts of those that are disassembled."""
    side = subject.sides[0]
    instructions = side.profile.instructions
    texts = _disassembled(subject, instructions)
    known: dict[str, int] = {"": 0}
    by_function: dict[int, list[tuple[int, Place]]] = {}
    for place in instructions:
        by_function.setdefault(numbers.function(place.function), []).append((numbers.file(place.file), place))
    columns = _Columns(side.profile.events)
    for function, places in sorted(by_function.items()):
        rows = [
            (address, file, line, cost)
            for file, place in places for address, line, cost in instruction_rows(instructions, place)
        ]
        rows.sort(key=itemgetter(0, 1))
        addresses, files, lines, costs = zip(*rows)
        text_of = texts.get(places[0][1].function.object, {})
        if text_of.keys().isdisjoint(addresses):
            shown = [0] * len(rows)
        else:
            shown = [known.setdefault(text_of.get(address, ""), len(known)) for address in addresses]
        columns.add([[function] * len(rows), files, addresses, lines, shown], costs)
    return PageCode(packed(columns.table()), list(known))


class _Columns:
    """Builds the columns from rows, which wait until there are enough of them. Most counts of all but the first events
    are 0: of those events, only the other counts are stored."""

    def __init__(self, events: Sequence[str]) -> None:
        own = schema.TABLES["code"].own
        costs = [f"self:{event}" for event in events]
        self._full = {name: Growing() for name in (*own, *costs[:_FIRST_EVENTS])}
        self._sparse = {name: _Sparse() for name in costs[_FIRST_EVENTS:]}
        self._own: list[list[int]] = [[] for _ in own]
        self._costs: list[Row] = []
        self._done = 0  # instructions

    def add(self, own: Sequence[Sequence[int]], costs: Sequence[Row]) -> None:
        """own: the values of the columns other than costs."""
        for waiting, values in zip(self._own, own):
            waiting += values
        self._costs += costs
        if len(self._costs) >= _AT_ONCE:
            self._take()

    def table(self) -> Table:
        self._take()
        columns: dict[str, Sequence[int]] = {name: column.values for name, column in self._full.items()}
        columns |= {name: column.values(self._done) for name, column in self._sparse.items()}
        return Table(self._done, columns, forms={"address": Form.STEPS, "function": Form.STEPS})

    def _take(self) -> None:
        first = zip(*(row[:_FIRST_EVENTS] for row in self._costs))
        for column, values in zip(self._full.values(), (*self._own, *first)):
            column.extend(values)
        nothing = (0,) * len(self._sparse)
        others = [
            (place, rest) for place, row in enumerate(self._costs, self._done)
            if (rest := row[_FIRST_EVENTS:]) != nothing
        ]
        if others:
            places, rows = zip(*others)
            for sparse, values in zip(self._sparse.values(), zip(*rows)):
                sparse.add(places, values)
        self._done += len(self._costs)
        for waiting in self._own:
            waiting.clear()
        self._costs.clear()


class _Sparse:
    """A column that stores only the values other than 0, with the numbers of their rows."""

    def __init__(self) -> None:
        self._places = array("I")
        self._values = Growing()

    def add(self, places: Sequence[int], values: Sequence[int]) -> None:
        """places: the numbers of the rows that have these values. Values may be 0."""
        self._places.extend(compress(places, values))
        self._values.extend(list(filter(None, values)))

    def values(self, rows: int) -> Sequence[int]:
        """The whole column, with its zeros. rows: how many it has."""
        kept = self._values.values
        found = [0] * rows if isinstance(kept, list) else zeros(rows, kept.itemsize)
        for place, value in zip(self._places, kept):
            found[place] = value
        return found


def _disassembled(
    subject: Subject, instructions: Mapping[Place, Mapping[int, InstructionCost]]
) -> dict[str, dict[int, str]]:
    """The texts of the costliest functions' instructions, by object and address."""
    totals = subject.report.totals
    functions = subject.sides[0].graph.functions

    def largest_share(function: Function) -> float:
        row = functions[function].self_cost if function in functions else ()
        return max((count / total for count, total in zip(row, totals) if total), default=0.0)

    shares = {function: largest_share(function) for function in {place.function: None for place in instructions}}
    ranked = sorted(shares, key=lambda function: -shares[function])[:_MOST_DISASSEMBLED]
    chosen = {function for function in ranked if shares[function] >= _LEAST_SHARE}
    wanted: dict[str, list[int]] = {}
    for place in instructions:
        if place.function in chosen:
            addresses = (address for address, _, _ in instruction_rows(instructions, place))
            wanted.setdefault(place.function.object, []).extend(addresses)
    return {path: disassemble(path, addresses) for path, addresses in wanted.items()}
