# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences of functions between many profiles, such as the ranks of a job or the runs of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.graph import build
from ..model.merge import add
from ..model.metrics import Metric, Number, metrics_of
from ..model.profile import Profile
from .code.columns import Column
from .code.report import FunctionRow, Selection, entries_of, key_limits


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of a column in all profiles. spread: (maximum - minimum) / mean; 0 if the mean is."""

    values: tuple[Number | None, ...]  # None: the profile has none; it does not count
    minimum: Number
    mean: float
    maximum: Number
    spread: float
    at_maximum: int  # the index of the profile


@dataclass(frozen=True, slots=True)
class PerFile:
    """The functions that reach the threshold, those with the highest mean first."""

    sources: tuple[str, ...]
    profiles: tuple[Profile, ...]
    metrics: Mapping[str, Metric]
    selection: Selection
    total: tuple[Spread | None, ...]  # one per sort column
    functions: tuple[tuple[FunctionRow, tuple[Spread | None, ...]], ...]  # with one spread per sort column


def make_per_file(profiles: Sequence[Profile], selection: Selection) -> PerFile:
    """The comparison of profiles, which must have the same events. Functions count as recursive if they are so in any
    one."""
    union = profiles[0]
    for profile in profiles[1:]:
        union = add(union, profile)
    both = build(union)
    columns = [key.column for key in selection.keys]
    lists = [entries_of(build(profile, both)) for profile in profiles]
    pattern = selection.function
    functions = [
        (entries[0], tuple(spread(column, entries) for column in columns))
        for entries in zip(*lists)
        if not pattern or pattern.matches(entries[0].function)
    ]
    totals = [profile.totals() for profile in profiles]
    mean_totals = tuple(sum(column) // len(profiles) for column in zip(*totals))
    limits = [smallest for _, smallest in key_limits(selection, mean_totals)]
    chosen = [
        (entry, spreads)
        for entry, spreads in functions
        if any(
            found and max(abs(found.maximum), abs(found.minimum)) >= smallest
            for found, smallest in zip(spreads, limits)
        )
    ]
    chosen.sort(key=lambda item: (item[0].function.name, item[0].function, not item[0].is_cycle))
    chosen.sort(
        key=lambda item: tuple(
            found.mean if found else float("-inf") for found in item[1]
        ),
        reverse=True,
    )
    total = tuple(
        _spread([column.metric.value(row) for row in totals]) for column in columns
    )
    sources = tuple(profile.parts[0].source for profile in profiles)
    return PerFile(
        sources, tuple(profiles), metrics_of(profiles[0]), selection, total, tuple(chosen)
    )


def spread(column: Column, entries: Sequence[FunctionRow]) -> Spread | None:
    """The spread of a column over the entries of a function in all profiles; None if no profile has a value."""
    return _spread([entry.value(column) for entry in entries])


def _spread(values: Sequence[Number | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    mean = sum(known) / len(known)
    return Spread(
        tuple(values), low, mean, high, (high - low) / mean if mean else 0.0, values.index(high)
    )
