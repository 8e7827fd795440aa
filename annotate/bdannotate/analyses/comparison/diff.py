# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes from one profile to another, by function and by call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.graph import CallGraph, build
from ...model.merge import add, functions_of, map_functions
from ...model.metrics import Metric, Number, metrics_of
from ...model.profile import Call, Function, Profile, Row
from ...model.separate import loop_name
from ..code.columns import Column
from ..code.report import FunctionRow, Selection, entries_of, key_limits
from ..code.startup import above_main
from ..data.data_use import data_loss
from .diff_summary import SelfChange, Summary, summarize
from .loop_match import matching_loops

# A smaller change counts as none.
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function, or a cycle, in both profiles."""

    before: FunctionRow
    after: FunctionRow

    def change(self, column: Column) -> Number | None:
        return difference(self.before.value(column), self.after.value(column), column.metric)


@dataclass(frozen=True, slots=True)
class CallChange:
    """The calls from one function to another, outside of recursion."""

    caller: Function
    callee: Function
    before: Call
    after: Call

    def change(self, metric: Metric) -> Number | None:
        return difference(
            metric.value(self.before.cost), metric.value(self.after.cost), metric
        )


@dataclass(frozen=True, slots=True)
class Diff:
    """The comparison of two profiles."""

    before: Profile
    after: Profile
    before_totals: Row
    after_totals: Row
    metrics: Mapping[str, Metric]
    selection: Selection
    matched: int  # how many functions with another file or object file were matched by their unique name
    moved_loops: int  # how many loops that are functions were matched by their order
    functions: tuple[FunctionChange, ...]  # the largest changes first; those that only moved come last
    calls: tuple[CallChange, ...]
    summary: Summary | None  # None: the sort key is a ratio, and bytes never used are not known


def matching_functions(before: Profile, after: Profile) -> dict[Function, Function]:
    """The functions before that are others after, with these. Another build is often in another folder: functions that
    only one side has are matched if their names are unique among these on both sides. Loops that are functions are
    matched by their order."""
    old, new = functions_of(before), functions_of(after)
    loops = matching_loops(old, new)
    # A loop may have the name that another one had before: neither is matched by name.
    candidates = _unique_names(old - new - loops.keys())
    return loops | {
        candidates[name]: function
        for name, function in _unique_names(new - old - set(loops.values())).items()
        if name in candidates
    }


def match_by_name(before: Profile, after: Profile) -> tuple[Profile, int, int]:
    """The profile before with the functions of the one after; how many functions changed by that; and how many loops
    that are functions did."""
    pairs = matching_functions(before, after)
    if not pairs:
        return before, 0, 0
    loops = sum(1 for function in pairs if loop_name(function))
    matched = map_functions(before, lambda function: pairs.get(function, function))
    return matched, len(pairs) - loops, loops


def _unique_names(functions: set[Function]) -> dict[str, Function]:
    counts = Counter(function.name for function in functions)
    return {function.name: function for function in functions if counts[function.name] == 1}


def difference(before: Number | None, after: Number | None, metric: Metric) -> Number | None:
    """The change of a value. A missing count is 0; if a ratio is missing on one side, the change is None."""
    if before is None or after is None:
        return None if metric.is_ratio else (after or 0) - (before or 0)
    return after - before


def make_diff(before: Profile, after: Profile, selection: Selection) -> Diff:
    """The comparison of two profiles, which must have the same events. Functions count as recursive if they are so in
    either."""
    before, matched, moved_loops = match_by_name(before, after)
    both = build(add(before, after))
    graphs = build(before, both), build(after, both)
    before_totals, after_totals = before.totals(), after.totals()
    totals = tuple(max(old, new) for old, new in zip(before_totals, after_totals))
    startup = frozenset() if selection.full_stacks else above_main(both)
    changes = [
        FunctionChange(old, new)
        for old, new in zip(entries_of(graphs[0]), entries_of(graphs[1]))
        if new.is_cycle or new.function not in startup
    ]
    calls = [
        change for change in _call_changes(both, *graphs, before.zero)
        if change.caller not in startup
    ]
    metrics = metrics_of(before)
    summary = _summary(changes, selection, metrics, (before_totals, after_totals), both)
    chosen = _select_functions(changes, selection, totals)
    if summary:
        moved = {function for move in summary.moves for function in move[:2]}
        chosen.sort(key=lambda change: change.after.function in moved)
    return Diff(
        before, after, before_totals, after_totals, metrics, selection, matched, moved_loops,
        tuple(chosen), tuple(_select_calls(calls, selection, totals)), summary,
    )


def _summary(
    changes: Sequence[FunctionChange], selection: Selection, metrics: Mapping[str, Metric],
    totals: tuple[Row, Row], both: CallGraph,
) -> Summary | None:
    metric: Metric | None = selection.keys[0].column.metric
    if metric and metric.is_ratio:
        metric = data_loss(metrics)
    if metric is None:
        return None
    count = metric.counter()
    of_functions = [
        SelfChange(change.after.function, count(change.before.self_cost), count(change.after.self_cost))
        for change in changes if not change.after.is_group
    ]
    return summarize(metric, *totals, of_functions, both)


def _select_functions(
    changes: list[FunctionChange], selection: Selection, totals: Row
) -> list[FunctionChange]:
    """The functions whose change reaches the threshold, a share of the larger total; the largest changes first."""
    limits = key_limits(selection, totals)
    pattern = selection.function
    chosen = [
        change
        for change in changes
        if (not pattern or pattern.matches(change.after.function))
        and any(abs(change.change(column) or 0) >= max(least, _LEAST) for column, least in limits)
    ]
    chosen.sort(key=lambda change: (change.after.function.name, change.after.function))
    chosen.sort(
        key=lambda change: (
            tuple(abs(change.change(key.column) or 0) for key in selection.keys),
            change.after.inclusive,
        ),
        reverse=True,
    )
    return chosen


def _call_changes(
    both: CallGraph, before: CallGraph, after: CallGraph, zero: Row
) -> list[CallChange]:
    none = Call(0, zero)
    return [
        CallChange(
            caller, callee,
            before.callees.get(caller, {}).get(callee, none),
            after.callees.get(caller, {}).get(callee, none),
        )
        for caller, out in both.callees.items()
        for callee in out
        if not both.within_cycle(caller, callee)
    ]


def _select_calls(
    changes: list[CallChange], selection: Selection, totals: Row
) -> list[CallChange]:
    metric = selection.keys[0].column.metric
    least = max(key_limits(selection, totals)[0][1], _LEAST)
    pattern = selection.function
    chosen = [
        change
        for change in changes
        if (
            not pattern
            or pattern.matches(change.caller)
            or pattern.matches(change.callee)
        )
        and abs(change.change(metric) or 0) >= least
    ]
    chosen.sort(key=lambda change: (change.caller, change.callee))
    chosen.sort(key=lambda change: abs(change.change(metric) or 0), reverse=True)
    return chosen
