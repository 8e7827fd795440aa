# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison in five lines: what got better, what got worse, and what only moved.

Costs move with code: a function that is inlined passes its self costs to its callers; one that is split or renamed, to
others. Neither is a change for the better or the worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...model.graph import CallGraph
from ...model.metrics import Metric
from ...model.profile import Function, Row

# A function has come or gone if the other side has at most this share of its self costs.
_NEXT_TO_NOTHING = 0.05
# The smaller of a loss and a gain must be at least this share of the larger one for the costs to have moved.
_MOST_OF_IT = 0.5
# The minimum change, as a share of the larger total, for a function to be named.
_NOTABLE = 0.01


class SelfChange(NamedTuple):
    """A function with its self costs."""

    function: Function
    before: int
    after: int

    @property
    def amount(self) -> int:
        return self.after - self.before


class Move(NamedTuple):
    """Self costs that moved from one function to another."""

    source: Function
    target: Function
    amount: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The changes of self costs. before, after: the totals. better, worse: the notable changes, the largest first,
    without the costs that moved."""

    metric: Metric
    before: int
    after: int
    better: tuple[SelfChange, ...]
    worse: tuple[SelfChange, ...]
    moves: tuple[Move, ...]


def summarize(
    metric: Metric, before: Row, after: Row, changes: Sequence[SelfChange], both: CallGraph
) -> Summary:
    """The summary of the changes of a metric, which must be a count. before, after: the totals. both: the calls of both
    profiles."""
    count = metric.counter()
    old, new = count(before), count(after)
    least = max(_NOTABLE * max(abs(old), abs(new)), 1)
    moves = _moves([change for change in changes if abs(change.amount) >= least], both)
    moved: dict[Function, int] = {}
    for move in moves:
        moved[move.source] = moved.get(move.source, 0) + move.amount
        moved[move.target] = moved.get(move.target, 0) - move.amount
    rest = [
        SelfChange(change.function, change.before, change.after + moved.get(change.function, 0))
        for change in changes
    ]
    notable = [change for change in rest if abs(change.amount) >= least]
    notable.sort(key=lambda change: (-abs(change.amount), change.function))

    def side(is_more: bool) -> tuple[SelfChange, ...]:
        return tuple(change for change in notable if (change.amount > 0) == is_more)

    better, worse = side(metric.more_is_better), side(not metric.more_is_better)
    return Summary(metric, old, new, better, worse, tuple(moves))


def _moves(changes: Sequence[SelfChange], both: CallGraph) -> list[Move]:
    """The moves, the largest first. Each is between two related functions, at least one of which came or went; a
    function takes part in one move only."""
    losers = [change for change in changes if change.amount < 0]
    gainers = [change for change in changes if change.amount > 0]
    candidates = [
        (abs(lost.amount + got.amount), lost, got)
        for lost in losers
        for got in gainers
        if _are_alike(lost, got) and _belong_together(lost, got, both)
    ]
    candidates.sort()
    found: list[Move] = []
    taken: set[Function] = set()
    for _, lost, got in candidates:
        if taken & {lost.function, got.function}:
            continue
        taken |= {lost.function, got.function}
        found.append(Move(lost.function, got.function, min(-lost.amount, got.amount)))
    found.sort(key=lambda move: (-move.amount, move.source))
    return found


def _are_alike(lost: SelfChange, got: SelfChange) -> bool:
    """Whether a loss and a gain are about as large, and one of the functions came or went."""
    has_gone = lost.after <= _NEXT_TO_NOTHING * lost.before
    has_come = got.before <= _NEXT_TO_NOTHING * got.after
    small, large = sorted((-lost.amount, got.amount))
    return (has_gone or has_come) and small >= _MOST_OF_IT * large


def _belong_together(lost: SelfChange, got: SelfChange, both: CallGraph) -> bool:
    """Whether one function calls the other; or one is gone, the other is new, and they have their file and a caller in
    common, as if the function was renamed."""
    one, other = lost.function, got.function
    if other in both.callees.get(one, {}) or one in both.callees.get(other, {}):
        return True
    if lost.after or got.before or one.file != other.file or one.file == "???":
        return False
    return bool(both.callers.get(one, {}).keys() & both.callers.get(other, {}).keys())
