# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a page: functions, calls, lines, instructions, contexts. Where two profiles are
compared, each has a second set of columns, `before:...`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from ..analyses.code.instructions import disassemble
from ..model.code import looked_at_once
from ..model.graph import FunctionCosts, build
from ..model.merge import add
from ..model.narrow import Growing
from ..model.profile import Call, Function, Instruction, Intervals, Place, Profile, Row
from . import schema
from .numbers import Numbers
from .subject import PageCode, Side, Subject
from .tables import Form, Table, packed

Key = TypeVar("Key")
Value = TypeVar("Value")

# Members of a sum are shown by function as far as one of them has this share of an event.
_MEMBER_SHARE = 0.005
_MAX_MEMBER_FUNCTIONS = 1000
# Disassembling is slow: only what has this share of an event is worth it.
_CODE_SHARE = 0.002
_MAX_DISASSEMBLED = 200
# So many instructions are made columns at once.
_AT_ONCE = 10_000


def functions_table(subject: Subject, numbers: Numbers) -> Table:
    """Functions that only the context tree knows follow behind, without costs."""
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
    """How far what a sampled run has counted of each function may be off."""
    columns: dict[str, Sequence[int]] = {}
    side = subject.sides[0]
    for kind, widths in (("self:", found.own), ("incl:", found.inclusive)):
        _add_costs(columns, kind, side, [
            known_or_not(widths.get(function), len(side.profile.events)) for function in numbers.functions
        ])
    return Table(len(numbers.functions), columns)


def line_widths(subject: Subject, found: Intervals) -> Table:
    """The same of the rows of `lines_table`."""
    side = subject.sides[0]
    keys, _ = _line_costs(subject)
    columns: dict[str, Sequence[int]] = {}
    _add_costs(columns, "self:", side, [
        known_or_not(found.lines.get(place, {}).get(line), len(side.profile.events)) for place, line in keys
    ])
    return Table(len(keys), columns)


def known_or_not(widths: Row | None, events: int) -> Row:
    """As the page has them: one more, and 0 where nothing is known."""
    return (0,) * events if widths is None else tuple(width + 1 for width in widths)


def cycles_table(subject: Subject) -> Table:
    columns: dict[str, Sequence[int]] = {}
    for side in subject.sides:
        cycles = side.graph.cycles
        columns[f"{side.prefix}calls"] = [cycle.calls for cycle in cycles]
        _add_costs(columns, f"{side.prefix}incl:", side, [cycle.inclusive for cycle in cycles])
    return Table(len(subject.sides[0].graph.cycles), columns)


def arcs_table(subject: Subject, numbers: Numbers) -> Table:
    """Per caller and callee. Costs within recursion are left out: they count once per level."""
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
    """Of each function in each line, those that cost anything."""

    def costs(profile: Profile) -> dict[tuple[Place, int], Row]:
        return {
            (place, line): row
            for place, rows in profile.lines.items() for line, row in rows.items() if any(row)
        }

    return _united(subject, costs)


def sites_table(subject: Subject, numbers: Numbers) -> Table:
    """Per calling line."""
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


def page_code(subject: Subject, numbers: Numbers) -> PageCode:
    """Instructions of the first side, by function and address, and their texts as far as they could be disassembled.
    They are most of what a large page has but for its tree: they are packed before all else is read, and a function's
    are in the columns before the next one's are looked at."""
    side = subject.sides[0]
    instructions = side.profile.instructions
    texts = _disassembled(subject, instructions)
    known: dict[str, int] = {"": 0}
    by_function: dict[int, list[tuple[int, Place]]] = {}
    for place in instructions:
        by_function.setdefault(numbers.function(place.function), []).append((numbers.file(place.file), place))
    names = [*schema.TABLES["code"].own, *(f"self:{event}" for event in side.profile.events)]
    found = {name: Growing() for name in names}
    waiting: list[tuple[int, ...]] = []

    def take() -> None:
        for column, values in zip(found.values(), zip(*waiting)):
            column.extend(values)
        waiting.clear()

    for function, places in sorted(by_function.items()):
        rows = [
            (address, file, instruction)
            for file, place in places for address, instruction in looked_at_once(instructions, place).items()
        ]
        rows.sort(key=itemgetter(0, 1))
        module = places[0][1].function.object
        for address, file, one in rows:
            line_text = known.setdefault(texts.get((module, address), ""), len(known))
            waiting.append((function, file, address, one.line, line_text, *one.cost))
        if len(waiting) >= _AT_ONCE:
            take()
    take()
    columns = {name: column.values for name, column in found.items()}
    table = Table(len(columns["line"]), columns, forms={"address": Form.STEPS, "function": Form.STEPS})
    return PageCode(packed(table), list(known))


def members_table(subject: Subject, numbers: Numbers) -> Table:
    """Per function, in groups of as many rows as there are members: what each of them has."""
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
    """The keys of all sides, and each side's values."""
    found = [part(side.profile) for side in subject.sides]
    keys: Iterable[Key] = (key for values in found for key in values)
    return list(dict.fromkeys(keys)), found


def _disassembled(
    subject: Subject, instructions: Mapping[Place, Mapping[int, Instruction]]
) -> dict[tuple[str, int], str]:
    """The costliest functions' texts, by object and address."""
    totals = subject.report.totals
    functions = subject.sides[0].graph.functions

    def largest_share(function: Function) -> float:
        row = functions[function].self_cost if function in functions else ()
        return max((count / total for count, total in zip(row, totals) if total), default=0.0)

    shares = {function: largest_share(function) for function in {place.function: None for place in instructions}}
    ranked = sorted(shares, key=lambda function: -shares[function])[:_MAX_DISASSEMBLED]
    chosen = {function for function in ranked if shares[function] >= _CODE_SHARE}
    wanted: dict[str, list[int]] = {}
    for place in instructions:
        if place.function in chosen:
            wanted.setdefault(place.function.object, []).extend(instructions[place])
    return {
        (path, address): text
        for path, addresses in wanted.items() for address, text in disassemble(path, addresses).items()
    }
