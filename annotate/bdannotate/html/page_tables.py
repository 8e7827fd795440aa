# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of functions, calls, lines and members of a page. If two profiles are compared, a second set of columns,
`before:...`, has the costs of the profile before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ..model.graph import FunctionCosts, build
from ..model.merge import add
from ..model.profile import Call, Intervals, Place, Profile, Row
from .numbers import Numbers
from .subject import Side, Subject
from .tables import Table

Key = TypeVar("Key")
Value = TypeVar("Value")

# The table of members has the functions whose inclusive share of an event is this large in at least one member.
_MEMBER_SHARE = 0.005
_MAX_MEMBER_FUNCTIONS = 1000


def functions_table(subject: Subject, numbers: Numbers) -> Table:
    """A row for each numbered function. Those that only the context tree has come last and have no costs."""
    zero = subject.report.profile.zero
    nothing = FunctionCosts(zero, zero, zero, 0, False, 0)
    columns: dict[str, Sequence[int]] = {}
    first = subject.sides[0].graph
    rows = [first.functions.get(function, nothing) for function in numbers.functions]
    columns["cycle"] = [costs.cycle for costs in rows]
    columns["recursive"] = [int(costs.recursive) for costs in rows]
    for side in subject.sides:
        rows = [side.graph.functions.get(function, nothing) for function in numbers.functions]
        columns[f"{side.prefix}calls"] = [costs.calls for costs in rows]
        _add_costs(columns, f"{side.prefix}self:", side, [costs.self_cost for costs in rows])
        _add_costs(columns, f"{side.prefix}incl:", side, [costs.inclusive for costs in rows])
    return Table(len(numbers.functions), columns)


def function_widths(subject: Subject, found: Intervals, numbers: Numbers) -> Table:
    """The error of each function's costs, for a sampled run: half the widths of its intervals, plus 1, or 0."""
    columns: dict[str, Sequence[int]] = {}
    side = subject.sides[0]
    for kind, widths in (("self:", found.own), ("incl:", found.inclusive)):
        _add_costs(columns, kind, side, [
            known_or_not(widths.get(function), len(side.profile.events)) for function in numbers.functions
        ])
    return Table(len(numbers.functions), columns)


def line_widths(subject: Subject, found: Intervals) -> Table:
    """The same for the rows of `lines_table`."""
    side = subject.sides[0]
    keys, _ = _line_costs(subject)
    columns: dict[str, Sequence[int]] = {}
    _add_costs(columns, "self:", side, [
        known_or_not(found.lines.get(place, {}).get(line), len(side.profile.events)) for place, line in keys
    ])
    return Table(len(keys), columns)


def known_or_not(widths: Row | None, events: int) -> Row:
    """Half widths as the page stores them: plus 1, so that 0 can say that nothing is known."""
    return (0,) * events if widths is None else tuple(width + 1 for width in widths)


def cycles_table(subject: Subject) -> Table:
    columns: dict[str, Sequence[int]] = {}
    for side in subject.sides:
        cycles = side.graph.cycles
        columns[f"{side.prefix}calls"] = [cycle.calls for cycle in cycles]
        _add_costs(columns, f"{side.prefix}incl:", side, [cycle.inclusive for cycle in cycles])
    return Table(len(subject.sides[0].graph.cycles), columns)


def arcs_table(subject: Subject, numbers: Numbers) -> Table:
    """A row for each pair of caller and callee, with all calls between them. `recursive` marks calls within a cycle:
    their costs count once per level."""
    graph = subject.sides[0].graph
    none = Call(0, subject.report.profile.zero)
    arcs = {
        (caller, callee): None
        for side in subject.sides
        for caller, out in side.graph.callees.items()
        for callee in out
    }
    columns: dict[str, Sequence[int]] = {
        "caller": [numbers.function(caller) for caller, _ in arcs],
        "callee": [numbers.function(callee) for _, callee in arcs],
        "recursive": [int(graph.within_cycle(*arc)) for arc in arcs],
    }
    for side in subject.sides:
        callees = side.graph.callees
        calls = [callees.get(caller, {}).get(callee, none) for caller, callee in arcs]
        columns[f"{side.prefix}calls"] = [call.calls for call in calls]
        _add_costs(columns, f"{side.prefix}incl:", side, [call.cost for call in calls])
    return Table(len(arcs), columns)


def lines_table(subject: Subject, numbers: Numbers) -> Table:
    zero = subject.report.profile.zero
    keys, found = _line_costs(subject)
    columns: dict[str, Sequence[int]] = {
        "function": [numbers.function(place.function) for place, _ in keys],
        "file": [numbers.file(place.file) for place, _ in keys],
        "line": [line for _, line in keys],
    }
    for side, rows in zip(subject.sides, found):
        _add_costs(columns, f"{side.prefix}self:", side, [rows.get(key, zero) for key in keys])
    return Table(len(keys), columns)


def _line_costs(subject: Subject) -> tuple[list[tuple[Place, int]], list[Mapping[tuple[Place, int], Row]]]:
    """The lines of each function that cost anything, and their costs on each side."""

    def costs(profile: Profile) -> dict[tuple[Place, int], Row]:
        return {
            (place, line): row
            for place, rows in profile.lines.items() for line, row in rows.items() if any(row)
        }

    return _united(subject, costs)


def sites_table(subject: Subject, numbers: Numbers) -> Table:
    """A row for each line that calls and each function that it calls."""
    none = Call(0, subject.report.profile.zero)
    keys, found = _united(subject, lambda profile: profile.calls)
    columns: dict[str, Sequence[int]] = {
        "caller": [numbers.function(site.caller) for site in keys],
        "callee": [numbers.function(site.callee) for site in keys],
        "file": [numbers.file(site.file) for site in keys],
        "line": [site.line for site in keys],
    }
    for side, rows in zip(subject.sides, found):
        calls = [rows.get(site, none) for site in keys]
        columns[f"{side.prefix}calls"] = [call.calls for call in calls]
        _add_costs(columns, f"{side.prefix}incl:", side, [call.cost for call in calls])
    return Table(len(keys), columns)


def members_table(subject: Subject, numbers: Numbers) -> Table:
    """The costs of the costliest functions by member: for each function, as many rows as there are members."""
    union = subject.members[0]
    for profile in subject.members[1:]:
        union = add(union, profile)
    both = build(union)
    graphs = [build(profile, both) for profile in subject.members]
    totals = [profile.totals() for profile in subject.members]
    chosen = [
        function for function in both.functions
        if any(
            count >= _MEMBER_SHARE * total > 0
            for graph, whole in zip(graphs, totals)
            for count, total in zip(graph.functions[function].inclusive, whole)
        )
    ]
    chosen.sort(key=lambda function: both.functions[function].inclusive, reverse=True)
    chosen = chosen[:_MAX_MEMBER_FUNCTIONS]
    rows = [graph.functions[function] for function in chosen for graph in graphs]
    side = subject.sides[0]
    columns: dict[str, Sequence[int]] = {
        "function": [numbers.function(function) for function in chosen for _ in graphs]
    }
    _add_costs(columns, "self:", side, [costs.self_cost for costs in rows])
    _add_costs(columns, "incl:", side, [costs.inclusive for costs in rows])
    return Table(len(rows), columns)


def _add_costs(
    columns: dict[str, Sequence[int]], prefix: str, side: Side, rows: Sequence[Row]
) -> None:
    for event, column in zip(side.profile.events, zip(*rows)):
        columns[prefix + event] = column
    if not rows:
        columns.update({prefix + event: () for event in side.profile.events})


def _united(
    subject: Subject, part: Callable[[Profile], Mapping[Key, Value]]
) -> tuple[list[Key], list[Mapping[Key, Value]]]:
    """The keys of all sides, each once, and the values of each side."""
    found = [part(side.profile) for side in subject.sides]
    keys: Iterable[Key] = (key for values in found for key in values)
    return list(dict.fromkeys(keys)), found
