# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that are estimates from bursts, see docs/sampling.md.

When estimates of one run are added up, so are the widths of their intervals, as they are not independent. An entry
without an interval may be off by its whole cost there.

Estimates of several runs are independent if their seeds differ; then the squares of widths add up. Runs with the same
seed are observed at the same places and may all miss the same; their widths add up. If at most g runs share a seed, the
width of the sum lies between: the root of g times the sum of all w^2 is at least the root of the sum, over the seeds,
of the squared sums of widths within a seed (by Cauchy and Schwarz). This bound only needs sums over all runs, in any
order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isqrt
from typing import TypeVar

from .profile import (
    Function, Intervals, Part, Place, Row, SeedRuns, WidthOf, WidthSums, add_rows, sum_rows,
)

SAMPLE = "Sample"
# The key of the whole run's width.
_ALL = WidthOf("all", Function("", "", ""))
_SEED = re.compile(r", seed (\d{1,20})\b", re.ASCII)

Key = TypeVar("Key")


def is_estimate(parts: Sequence[Part]) -> bool:
    """Whether any of the parts is an estimate."""
    return any(name == SAMPLE for part in parts for name, _ in part.descriptions)


def seed_of(descriptions: Sequence[tuple[str, str]]) -> str:
    """The seed of a sampled run, by the descriptions in its header; of merged runs, that of the first one. Empty if
    they do not state it."""
    found = _SEED.search(dict(descriptions).get(SAMPLE, ""))
    return found[1] if found else ""


class IntervalTally:
    """Adds up the intervals of several runs. Exact runs need not be added."""

    def __init__(self) -> None:
        self.seeds: dict[str, SeedRuns] = {}
        self.parts: dict[WidthOf, WidthSums] = {}

    def add(self, found: Intervals) -> None:
        for seed, more in found.seeds.items():
            self.add_runs(seed, more)
        if found.parts:
            for key, sums in found.parts.items():
                self.add_widths(key, sums)
            return
        # If these intervals were made from several runs, each run counts.
        runs = sum(one.runs for one in found.seeds.values())
        for key, widths in _flat(found):
            self.add_widths(key, WidthSums(runs, widths, tuple(width * width for width in widths)))

    def add_runs(self, seed: str, more: SeedRuns) -> None:
        known = self.seeds.get(seed)
        self.seeds[seed] = SeedRuns(known.runs + more.runs, known.bursts + more.bursts) if known else more

    def add_widths(self, key: WidthOf, more: WidthSums) -> None:
        known = self.parts.get(key)
        self.parts[key] = more if known is None else WidthSums(
            known.runs + more.runs, add_rows(known.sums, more.sums), add_rows(known.squares, more.squares)
        )

    def intervals(self) -> Intervals | None:
        """The intervals of the sum; None if all runs are exact. An entry has an interval only if it has one in each
        sampled run."""
        if not self.seeds:
            return None
        runs = sum(one.runs for one in self.seeds.values())
        sharing = max(one.runs for one in self.seeds.values())
        total: Row | None = None
        own: dict[Function, Row] = {}
        inclusive: dict[Function, Row] = {}
        lines: dict[Place, dict[int, Row]] = {}
        for key, (known_by, sums, squares) in self.parts.items():
            if known_by < runs:
                continue
            widths = sums if sharing == runs else tuple(map(_width_of_sum, sums, squares, (sharing,) * len(sums)))
            if key.kind == "all":
                total = widths
            elif key.kind == "self":
                own[key.function] = widths
            elif key.kind == "sum":
                inclusive[key.function] = widths
            else:
                lines.setdefault(Place(key.function, key.file), {})[key.line] = widths
        bursts = sum(one.bursts for one in self.seeds.values())
        return Intervals(bursts, total, own, inclusive, lines, self.seeds, self.parts)


def _width_of_sum(width: int, squares: int, sharing: int) -> int:
    """The width for a sum of runs, rounded up. width, squares: the sums of the runs' widths and of their squares.
    sharing: how many runs share a seed, at most."""
    root = isqrt(sharing * squares)
    return min(width, root + (root * root < sharing * squares))


def _flat(found: Intervals) -> Iterator[tuple[WidthOf, Row]]:
    """All widths with their keys."""
    if found.total is not None:
        yield _ALL, found.total
    for function, widths in found.own.items():
        yield WidthOf("self", function), widths
    for function, widths in found.inclusive.items():
        yield WidthOf("sum", function), widths
    for place, rows in found.lines.items():
        for line, widths in rows.items():
            yield WidthOf("line", place.function, place.file, line), widths


def both(left: Intervals | None, right: Intervals | None) -> Intervals | None:
    """The intervals of the sum of two profiles, or of their difference; None if both are exact."""
    if left is None or right is None:
        return left or right
    tally = IntervalTally()
    tally.add(left)
    tally.add(right)
    return tally.intervals()


def mapped(
    found: Intervals, costs: Mapping[Place, Mapping[int, Row]], function: Callable[[Function], Function],
    file: Callable[[str], str],
) -> Intervals:
    """The intervals with other functions and files, which `function` and `file` return. costs: those of all lines, with
    the old functions and files."""
    own: dict[Function, Row] = {}
    inclusive: dict[Function, Row] = {}
    lines: dict[Place, dict[int, Row]] = {}
    known = {function(old) for old in found.own}
    width = len(found.total or ())
    self_costs: dict[Function, list[Row]] = {}
    for place, rows in costs.items():
        self_costs.setdefault(place.function, []).extend(rows.values())
        new_place = Place(function(place.function), file(place.file))
        new = lines.setdefault(new_place, {})
        known_lines = found.lines.get(place, {})
        for line, row in rows.items():
            # Without an interval, a line may be off by its whole cost. A line made only of such ones is removed below.
            _add(new, line, known_lines.get(line, row))
    has_any = {
        (function(place.function), file(place.file), line)
        for place, rows in found.lines.items() for line in rows
    }
    lines = {
        place: {line: row for line, row in rows.items() if (place.function, place.file, line) in has_any}
        for place, rows in lines.items()
    }
    for old, all_rows in self_costs.items():
        if function(old) in known:
            _add(own, function(old), found.own.get(old) or sum_rows(all_rows, width))
    for old, widths in found.inclusive.items():
        _add(inclusive, function(old), widths)
    return Intervals(found.bursts, found.total, own, inclusive, lines, found.seeds)


def _add(known: dict[Key, Row], key: Key, row: Row) -> None:
    known[key] = add_rows(known[key], row) if key in known else row


def chosen(found: Intervals, row: Callable[[Row], Row]) -> Intervals:
    """The intervals with the events that `row` takes from a row."""
    return Intervals(
        found.bursts, row(found.total) if found.total is not None else None,
        {key: row(widths) for key, widths in found.own.items()},
        {key: row(widths) for key, widths in found.inclusive.items()},
        {place: {line: row(widths) for line, widths in rows.items()} for place, rows in found.lines.items()},
        found.seeds,
        {key: WidthSums(runs, row(sums), row(squares)) for key, (runs, sums, squares) in found.parts.items()},
    )
