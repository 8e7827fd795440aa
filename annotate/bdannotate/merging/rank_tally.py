# SPDX-License-Identifier: GPL-2.0-or-later
"""The sums over profiles of consecutive ranks, in memory that does not grow with the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import add
from typing import Any, NamedTuple

from ..model.errors import UserError
from ..model.merge import reorder
from ..model.metrics import metrics_for
from ..model.profile import (
    CallSite, Function, InstructionCost, Place, Profile, Row, ThreadOrigin, add_rows, sum_rows,
)
from ..model.sample import IntervalTally
from .rank_rows import RankRows

# Sums of events that ranks are compared by, which their statistics cannot be made of later.
_SUMS = ("D1m", "L1m", "DLm", "LLm", "CEst")
# So many things are handed to another process at once.
_PIECE = 8192
_FUNCTIONS, _INCLUSIVE, _LINES, _CALLS, _ORIGINS, _HOT, _HOT_CALLS, _SEEDS, _WIDTHS = range(9)


class LineOf(NamedTuple):
    place: Place
    line: int


class Piece(NamedTuple):
    """A part of a tally, for another process."""

    kind: int
    things: list[tuple[Any, Any]]


class Head(NamedTuple):
    """What the first profile says about itself."""

    source: str
    command: str
    descriptions: tuple[tuple[str, str], ...]
    events: tuple[str, ...]
    titles: Mapping[str, str]
    formulas: Mapping[str, str]


class RankTally:
    """The sums over ranks. counts: the columns in rows of functions and calls, which are the number of calls, sums of
    events, and the events. Rows of lines have only the events."""

    def __init__(self, head: Head) -> None:
        self.head = head
        metrics = metrics_for(head.events, head.titles, head.formulas)
        sums = [metrics[name] for name in _SUMS if name in metrics]
        self.counts = ("calls", *(metric.name for metric in sums), *head.events)
        self.before_events = len(self.counts) - len(head.events)
        self._counters = [metric.counter() for metric in sums]
        self.functions: dict[Function, RankRows] = {}
        self.inclusive: dict[Function, RankRows] = {}
        self.lines: dict[LineOf, RankRows] = {}
        self.calls: dict[CallSite, RankRows] = {}
        self._origins: dict[tuple[Function, tuple[Function, ...]], int] = {}
        self.hot: dict[tuple[Place, int], InstructionCost] = {}
        self.hot_calls: dict[tuple[Place, int], InstructionCost] = {}
        self.widths = IntervalTally()  # of ranks that were sampled

    def row(self, calls: int, cost: Row) -> Row:
        return (calls, *(counter(cost) for counter in self._counters), *cost)

    def ordered(self, profile: Profile) -> Profile:
        """The profile with its events in the order of the first one's. Raises UserError if it has other events."""
        if set(profile.events) != set(self.head.events):
            raise UserError(
                f"{profile.parts[0].source} has {' '.join(profile.events)}, but {self.head.source} "
                f"{' '.join(self.head.events)}"
            )
        return reorder(profile, self.head.events)

    def add(self, profile: Profile, rank: int) -> dict[Function, Row]:
        """Add an ordered profile, which follows all ranks so far. Returns the self costs of its functions."""
        width = len(self.head.events)
        for source, rows in profile.lines.items():
            for line, row in rows.items():
                _add(self.lines, LineOf(source, line), row, rank)
        own: dict[Function, list[Row]] = {}
        for place, rows in profile.lines.items():
            own.setdefault(place.function, []).extend(rows.values())
        costs = {function: sum_rows(rows, width) for function, rows in own.items()}
        called = self._add_calls(profile, costs, rank)
        found = {function: self.row(called.get(function, 0), cost) for function, cost in costs.items()}
        for function, row in found.items():
            _add(self.functions, function, row, rank)
        for origin in profile.origins:
            self._add_origin((origin.root, origin.creators), origin.threads)
        _add_hot(self.hot, _flat(profile.hot))
        _add_hot(self.hot_calls, _flat(profile.hot_calls))
        if profile.intervals is not None:
            self.widths.add(profile.intervals)
        return found

    def _add_calls(self, profile: Profile, own: Mapping[Function, Row], rank: int) -> dict[Function, int]:
        """Add the calls, and the inclusive costs of functions. Returns how often functions were called."""
        out: dict[Function, list[Row]] = {}
        into: dict[Function, list[Row]] = {}
        called: dict[Function, int] = {}
        for site, call in profile.calls.items():
            _add(self.calls, site, self.row(call.calls, call.cost), rank)
            called[site.callee] = called.get(site.callee, 0) + call.calls
            if site.caller != site.callee:
                out.setdefault(site.caller, []).append(call.cost)
                into.setdefault(site.callee, []).append(call.cost)
        zero = profile.zero
        for function in dict.fromkeys((*own, *out, *into)):
            cost = own.get(function, zero)
            if function in out:
                cost = tuple(map(add, cost, sum_rows(out[function], len(zero))))
            if function in into and function in out:
                # In recursion, calls cost what those below them do once more.
                cost = tuple(map(min, cost, sum_rows(into[function], len(zero))))
            _add(self.inclusive, function, self.row(called.get(function, 0), cost), rank)
        return called

    def shift(self, by: int) -> None:
        """Increase the numbers of all ranks."""
        if not by:
            return
        kinds: tuple[dict[Any, RankRows], ...] = self.functions, self.inclusive, self.lines, self.calls
        for kind in kinds:
            for rows in kind.values():
                rows.shift(by)

    @property
    def origins(self) -> tuple[ThreadOrigin, ...]:
        return tuple(ThreadOrigin(*way, threads) for way, threads in sorted(self._origins.items()))

    def pieces(self) -> Iterator[Piece]:
        """Hand out everything but the head; the tally is empty afterwards."""
        kinds: tuple[dict[Any, Any], ...] = self._kinds
        for kind, things in enumerate(kinds):
            while things:
                yield Piece(kind, [things.popitem() for _ in range(min(_PIECE, len(things)))])

    def take(self, piece: Piece) -> None:
        """Add a piece of the tally of later ranks."""
        if piece.kind == _ORIGINS:
            for way, threads in piece.things:
                self._add_origin(way, threads)
        elif piece.kind in (_HOT, _HOT_CALLS):
            _add_hot(self._kinds[piece.kind], dict(piece.things))
        elif piece.kind in (_SEEDS, _WIDTHS):
            for key, found in piece.things:
                if piece.kind == _SEEDS:
                    self.widths.add_runs(key, found)
                else:
                    self.widths.add_widths(key, found)
        else:
            known: dict[Any, RankRows] = self._kinds[piece.kind]
            for key, rows in piece.things:
                mine = known.get(key)
                if mine is None:
                    known[key] = rows
                else:
                    mine.append(rows)

    @property
    def _kinds(self) -> tuple[dict[Any, Any], ...]:
        return (
            self.functions, self.inclusive, self.lines, self.calls, self._origins, self.hot, self.hot_calls,
            self.widths.seeds, self.widths.parts,
        )

    def _add_origin(self, way: tuple[Function, tuple[Function, ...]], threads: int) -> None:
        self._origins[way] = self._origins.get(way, 0) + threads


def _add(known: dict[Any, RankRows], key: Any, row: Row, rank: int) -> None:
    rows = known.get(key)
    if rows is None:
        known[key] = RankRows(row, rank, rank + 1)
    else:
        rows.add(row, rank, rank + 1)


def _flat(hot: Mapping[Place, Mapping[int, InstructionCost]]) -> dict[tuple[Place, int], InstructionCost]:
    return {(place, address): found for place, rows in hot.items() for address, found in rows.items()}


def _add_hot(
    known: dict[tuple[Place, int], InstructionCost], more: Mapping[tuple[Place, int], InstructionCost]
) -> None:
    for key, found in more.items():
        old = known.get(key)
        known[key] = InstructionCost(min(old.line, found.line), add_rows(old.cost, found.cost)) if old else found


