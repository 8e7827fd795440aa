# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a report: the functions, their order and the columns. It prints nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...model.errors import UserError
from ...model.graph import CallGraph, build
from ...model.merge import functions_of
from ...model.metrics import SECOND, Metric, Number, metrics_of
from ...model.profile import Function, Place, Profile, Row, subtract_rows, sum_rows
from .accessors import accessors
from .columns import Column, CostKind, SortKey, choose_columns, choose_keys, with_keys_first
from .inlined_lines import InlinedLines
from .ownership import Folders, Ownership
from .startup import above_main


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A row of the list of functions: a function or a group of functions, which is a cycle or what is above main."""

    function: Function  # for a group, its costliest member
    self_cost: Row
    inclusive: Row
    calls: int
    cycle: int = 0  # the number of the cycle that it belongs to or is; 0: none
    recursive: bool = False
    members: tuple[Function, ...] = ()  # of a group; empty for a function

    @property
    def is_cycle(self) -> bool:
        return bool(self.members) and self.cycle != 0

    @property
    def is_startup(self) -> bool:
        """Whether this is the group of what is above main."""
        return bool(self.members) and self.cycle == 0

    @property
    def is_group(self) -> bool:
        return bool(self.members)

    def value(self, column: Column) -> Number | None:
        return column.value(self.self_cost, self.inclusive)


# A number with more digits is taken for a name.
_MOST_DIGITS = 7


@dataclass(frozen=True, slots=True)
class FunctionPattern:
    """The functions that the user asked for: by their names in the profile, by the labels of those without names, by
    the names that reports show if no others match, or by the number of a row."""

    expression: re.Pattern[str]
    shown: Callable[[Function], Sequence[str]] | None = None  # the names that reports show, if these are searched
    called: str = ""  # if not empty, one of the shown names must equal this
    only: Function | None = None  # if set, only this function matches

    @property
    def number(self) -> int | None:
        """The number of a row in the list of functions; None if no number was asked for."""
        text = self.expression.pattern
        is_number = self.only is None and text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS
        return int(text) if is_number else None

    def matches(self, function: Function) -> bool:
        if self.only is not None:
            return function == self.only
        search = self.expression.search
        shown = self.shown(function) if self.shown is not None else ()
        if self.called:
            return self.called in shown
        return any(map(search, (function.name, function.label, *shown)))


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user wants to see, in terms of one profile."""

    columns: tuple[Column, ...]
    keys: tuple[SortKey, ...]
    threshold: float | None  # in percent, for the first key if it has none itself; None: list everything
    function: FunctionPattern | None  # None: all functions
    full_stacks: bool = True  # whether functions above main have rows of their own
    has_numbers: bool = False  # whether a row has the same number without other options
    is_sorted: bool = True  # whether the user chose what to sort by


@dataclass(frozen=True, slots=True)
class Report:
    """A profile with what is shown of it."""

    profile: Profile
    graph: CallGraph
    metrics: Mapping[str, Metric]
    totals: Row
    selection: Selection
    entries: tuple[FunctionRow, ...]
    startup: frozenset[Function]  # the functions above main
    places: Mapping[Function, Sequence[Place]]  # the places of each function's code
    ownership: Ownership
    accessors: frozenset[Function]  # functions whose costs count for their callers
    inlined: InlinedLines  # the costs of lines, including what is inlined there of accessors and libraries


def make_selection(
    profile: Profile,
    show: Sequence[str],
    sort: Sequence[str],
    threshold: float | None,
    inclusive: bool | None,
    function: str | None,
    full_stacks: bool = True,
    shown: Callable[[Function], Sequence[str]] | None = None,
) -> Selection:
    """The selection by the user's options. show, sort: the names of columns and sort keys; empty: the defaults.
    inclusive: whether inclusive costs are shown; None: if there are calls. function: see chosen_functions(). shown:
    returns the names that a function may have in reports."""
    metrics = metrics_of(profile)
    has_calls = bool(profile.calls)
    side = CostKind.INCLUSIVE if (has_calls if inclusive is None else inclusive) else CostKind.SELF
    columns = choose_columns(show, metrics, side, has_calls)
    keys = choose_keys(sort, columns, metrics, side)
    if sort and not show:
        columns = with_keys_first(columns, keys)
    return Selection(
        columns=tuple(columns),
        keys=tuple(keys),
        threshold=threshold,
        function=chosen_functions(function, profile, shown) if function is not None else None,
        full_stacks=full_stacks or function is not None,
        is_sorted=bool(sort or show),
    )


def chosen_functions(
    text: str, profile: Profile, shown: Callable[[Function], Sequence[str]] | None
) -> FunctionPattern:
    """The pattern for a regular expression. Names that reports show are searched only if no other name matches."""
    functions = functions_of(profile)

    def is_shown() -> bool:
        return shown is not None and any(text in shown(function) for function in functions)

    try:
        pattern = FunctionPattern(function_pattern(text))
    except UserError:
        if not is_shown():
            raise
        return FunctionPattern(re.compile(re.escape(text)), shown, text)
    if shown is None or pattern.number is not None or any(map(pattern.matches, functions)):
        return pattern
    return FunctionPattern(pattern.expression, shown, text if is_shown() else "")


def function_pattern(text: str) -> re.Pattern[str]:
    """The compiled expression. Raises UserError if it is not valid."""
    try:
        return re.compile(text)
    except re.error as error:
        raise UserError(f"'{text}' is not a regular expression: {error}") from None


def make_report(
    profile: Profile, selection: Selection, folders: Folders = Folders(), graph: CallGraph | None = None
) -> Report:
    """graph: that of the profile, if it is known already."""
    graph = graph or build(profile)
    totals = profile.totals()
    startup = above_main(graph)
    entries = entries_of(graph)
    if selection.function and selection.function.number is not None:
        selection = _of_row(selection.function.number, entries, graph, startup, selection, totals)
    if startup and not selection.full_stacks:
        entries = with_startup_folded(entries, graph, startup)
    chosen = select(entries, selection, totals)
    places: dict[Function, list[Place]] = {function: [] for function in graph.functions}
    for place in profile.lines:
        places[place.function].append(place)
    return Report(
        profile, graph, metrics_of(profile), totals, selection, tuple(chosen), startup, places,
        Ownership(places, folders), accessors(profile, graph), InlinedLines(profile.lines),
    )


def _of_row(
    number: int, entries: Sequence[FunctionRow], graph: CallGraph, startup: frozenset[Function],
    selection: Selection, totals: Row,
) -> Selection:
    """The selection of the function with this number in the list of functions. Raises UserError if there is none."""
    if startup:
        entries = with_startup_folded(entries, graph, startup)
    rows = numbered(select(entries, replace(selection, function=None), totals))
    if not 0 < number <= len(rows):
        raise UserError(
            f"--function={number}: the list of functions has rows 1 to {len(rows)}"
        )
    chosen = FunctionPattern(re.compile(str(number)), only=rows[number - 1].function)
    return replace(selection, function=chosen)


def numbered(entries: Iterable[FunctionRow]) -> list[FunctionRow]:
    """The rows that have numbers in the list of functions, in the order of their numbers, from 1 on."""
    return [entry for entry in entries if not entry.is_group]


def entries_of(graph: CallGraph) -> list[FunctionRow]:
    """The rows of all functions, then those of all cycles."""
    found = [
        FunctionRow(
            function, costs.self_cost, costs.inclusive, costs.calls, costs.cycle,
            recursive=costs.recursive,
        )
        for function, costs in graph.functions.items()
    ]
    found += [
        FunctionRow(
            cycle.members[0], cycle.self_cost, cycle.inclusive, cycle.calls, cycle.number,
            members=cycle.members,
        )
        for cycle in graph.cycles
    ]
    return found


def with_startup_folded(
    entries: Sequence[FunctionRow], graph: CallGraph, folded: frozenset[Function]
) -> list[FunctionRow]:
    """The entries, with a single one for the functions `folded`, which comes first."""
    members = sorted(folded, key=lambda function: (graph.functions[function].inclusive, function))
    members.reverse()
    costs = [graph.functions[function].self_cost for function in members]
    costs += [
        call.cost
        for function in members
        for callee, call in graph.callees.get(function, {}).items()
        if callee not in folded
    ]
    # Threads begin below the function that created them. These costs must not count above main once more.
    entered = (
        call.cost
        for function in members
        for caller, call in graph.callers.get(function, {}).items()
        if caller not in folded
    )
    width = len(graph.functions[members[0]].self_cost)
    own = sum_rows(costs[: len(members)], width)
    inclusive = subtract_rows(sum_rows(costs, width), sum_rows(entered, width))
    startup = FunctionRow(members[0], own, inclusive, 0, members=tuple(members))
    others = [entry for entry in entries if entry.is_cycle or entry.function not in folded]
    return [startup, *others]


def select(candidates: Iterable[FunctionRow], selection: Selection, totals: Row) -> list[FunctionRow]:
    """The rows that reach the threshold of any key, sorted by all keys, then by inclusive costs (so that callers
    precede callees) and by name. Functions that the user asked for need not reach a threshold."""
    pattern = selection.function
    if pattern:
        chosen = [
            entry
            for entry in candidates
            if not entry.is_group and pattern.matches(entry.function)
        ]
    else:
        limits = key_limits(selection, totals)
        chosen = [
            entry
            for entry in candidates
            if any(abs(entry.value(column) or 0) >= limit for column, limit in limits)
        ]
    if selection.keys[0].column.side is CostKind.SELF:
        # The self costs of a cycle only repeat those of its members.
        chosen = [entry for entry in chosen if not entry.is_cycle]
    chosen.sort(key=lambda entry: (entry.function.name, entry.function, not entry.is_group))
    chosen.sort(
        key=lambda entry: (
            tuple(rank(entry.value(key.column)) for key in selection.keys), entry.inclusive
        ),
        reverse=True,
    )
    return chosen


def key_limits(selection: Selection, totals: Row) -> list[tuple[Column, Number]]:
    """The sort columns that have thresholds, with the value from which on an entry is listed."""
    if selection.threshold is None:
        return [(selection.keys[0].column, 0)]
    limits: list[tuple[Column, Number]] = []
    for index, key in enumerate(selection.keys):
        default = selection.threshold if index == 0 else None
        percent = default if key.threshold is None else key.threshold
        if percent is not None:
            limits.append((key.column, limit(key.column.metric, percent, key.threshold, totals)))
    return limits


def limit(metric: Metric, percent: float, given: float | None, totals: Row) -> Number:
    """The value from which on an entry is listed: a percentage of the total or, for a ratio, the threshold `given` for
    it."""
    if metric.is_ratio:
        return (given or 0.0) / (100 if metric.is_share else 1)
    # An entry without any cost is not listed, however low the threshold.
    return max(abs(metric.value(totals) or 0) * percent / 100, SECOND if metric.is_time else 1)


def rank(value: Number | None) -> Number:
    """A sort key for a value; None, which could not be computed, is the smallest."""
    return float("-inf") if value is None else value
