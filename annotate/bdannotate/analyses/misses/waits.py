# SPDX-License-Identifier: GPL-2.0-or-later
"""What misses cost in a run with --why=yes, by the order of addresses. The verdict, the order of lists and the repairs
of such a run are all based on this estimate.

Its unit is the time of an instruction whose data hits, a cycle of the estimate CEst. For data, `miss_costs` says what
the misses of each instruction cost; for code, whose order is not known, a miss costs as much as in the other estimate.
The costs of instructions become events of the profile, so that lines, functions and calls have them like counts. Only
the misses in a call are known, not what they cost: each costs as much as an average miss of the called function,
including all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import add
from typing import TypeVar

from ...model.components import strongly_connected
from ...model.metrics import TIME_MEMORY, TIME_WAIT, TIMES
from ...model.profile import Call, Function, InstructionCall, InstructionCost, Place, Profile, Row
from ...model.rows import maker
from .miss_costs import MissCosts
from .site import Site
from .sites import Sites

# First touches, which cannot be avoided; misses in an order that processors foresee; all others.
FIRST_TOUCHES, IN_ORDER, OUT_OF_ORDER = EVENTS = "WaitFirst", "WaitIn", "WaitOut"
WAIT = "Wait"  # the sum of all three
MADE = (*EVENTS, TIME_WAIT, TIME_MEMORY, *TIMES)
_PICOSECONDS = 1000
# The cost of a code miss in I1 and in LL, in instructions.
_CODE = (10, 100)
# The number of iterations that approximate the average costs of functions that call each other.
_ROUNDS = 12

_NONE = (0.0,) * len(MADE)
_WITHOUT_TIMES = _NONE[:-len(TIMES)]
_NO_WAITS = (0,) * len(_WITHOUT_TIMES)
_call, _place = maker(Call), maker(Place)
# Returns the time of a row of the profile without waiting, in picoseconds: the estimate, its lower and upper bounds.
_Plain = Callable[[Row], tuple[float, float, float]]


def estimated_time(sites: Sites, profile: Profile) -> float:
    """The estimated nanoseconds of the whole run."""
    plain = _plain(profile, sites.costs)
    time = plain(profile.totals())[0] + sum(more[0] for _, _, _, more in _more_work(profile, sites, plain))
    return time / _PICOSECONDS + sum([site.waits.value for site in sites.loading])


def _plain(profile: Profile, costs: MissCosts) -> _Plain:
    """The function that estimates the time of instructions, code misses and mispredicted branches from their counts."""
    at = {event: number for number, event in enumerate(profile.events)}
    first, last = (factor * costs.instruction for factor in _CODE)
    rest = [
        (at[event], _PICOSECONDS * each) for event, each in (
            ("I1mr", first), ("ILmr", last), ("Bcm", costs.misprediction), ("Bim", costs.misprediction),
        ) if event in at
    ]
    each = costs.instruction
    free, chained = costs.machine.figure("instruction-free"), costs.machine.figure("instruction-chained")
    value, least, most = (_PICOSECONDS * one for one in (each, min(each, free), max(each, chained)))
    executed = at.get("Ir")

    def plain(row: Row) -> tuple[float, float, float]:
        instructions = row[executed] if executed is not None else 0
        others = 0.0
        for number, one in rest:
            others += one * row[number]
        return value * instructions + others, least * instructions + others, most * instructions + others

    return plain


def _more_work(
    profile: Profile, sites: Sites, plain: _Plain
) -> Iterator[tuple[Place, int, int, tuple[float, float, float]]]:
    """The place, line and address of each instruction whose work is known, and by how many picoseconds that differs
    from what its count suggests: the estimate, its lower and upper bounds."""
    functions = {function for function, _ in sites.work}
    for place in profile.instructions if functions else ():
        if place.function not in functions:
            continue
        for address, one in profile.instructions[place].items():
            if (place.function, address) in sites.work:
                value, least, most = plain(one.cost)
                work = sites.work[place.function, address]
                yield place, one.line, address, (
                    _PICOSECONDS * work.value - value, _PICOSECONDS * work.least - least,
                    max(_PICOSECONDS * work.value - most, 0.0),
                )


def has_waits(events: Iterable[str]) -> bool:
    """Whether the events of a profile include the costs of `with_waits`."""
    return OUT_OF_ORDER in events


def with_waits(profile: Profile, sites: Sites, with_instructions: bool = False) -> Profile:
    """The profile with the costs of data misses as further events (MADE), on which its estimate CEst is based. It keeps
    its instructions and their calls only if `with_instructions`, as they are most of a large profile."""
    plain = _plain(profile, sites.costs)
    tables = [profile.hot, *([profile.instructions] if with_instructions else [])]
    kept = {(place.function.object, address) for table in tables for place, rows in table.items() for address in rows}
    found: dict[tuple[Place, int], Sequence[float]] = {}
    exact: dict[tuple[str, int], Sequence[float]] = {}
    waited: dict[Function, Sequence[float]] = {}
    worked: dict[Function, Sequence[float]] = {}

    def charge(
        place: Place, line: int, address: int, more: Sequence[float], own: dict[Function, Sequence[float]]
    ) -> None:
        _add(found, (place, line), more)
        if (place.function.object, address) in kept:
            _add(exact, (place.function.object, address), more)
        _add(own, place.function, more)

    for site in sites.loading:
        if any(site.waits):
            row = _row(site, sites.costs.instruction)
            function, file, line, address = site.place
            charge(_place((function, file)), line, address, row, waited)
    for place, line, address, times in _more_work(profile, sites, plain):
        charge(place, line, address, (*_WITHOUT_TIMES, *times), worked)

    def whole(row: Row, *more: Sequence[float]) -> Row:
        times = plain(row)
        sums: Sequence[float] | None = None
        for one in more:
            if one is not _NONE:
                sums = [*map(add, sums or (*_WITHOUT_TIMES, *times), one)]
        if sums is None:
            return row + _NO_WAITS + tuple([round(one) if one > 0 else 0 for one in times])
        return row + tuple([round(one) if one > 0 else 0 for one in sums])

    lines = {
        at: {line: whole(row, found.get((at, line), _NONE)) for line, row in rows.items()}
        for at, rows in profile.lines.items()
    }
    for (at, line), more in found.items():
        if line not in profile.lines.get(at, {}):
            lines.setdefault(at, {})[line] = whole(profile.zero, more)

    def instructions(
        table: Mapping[Place, Mapping[int, InstructionCost]]
    ) -> dict[Place, dict[int, InstructionCost]]:
        return {
            place: {
                address: InstructionCost(
                    one.line, whole(one.cost, exact.get((place.function.object, address), _NONE))
                ) for address, one in rows.items()
            } for place, rows in table.items()
        }

    waits_of_call = _of_calls(profile, waited, ("D1mr", "D1mw"))
    work_of_call = _of_calls(profile, worked, ("Ir",)) if worked else None

    def longer(call: Call, callee: Function) -> Call:
        work = work_of_call(callee, call.cost) if work_of_call else _NONE
        return _call((call.calls, whole(call.cost, waits_of_call(callee, call.cost), work)))

    calls = {site: longer(call, site.callee) for site, call in profile.calls.items()}
    instruction_calls: dict[InstructionCall, Call] = {
        site: longer(call, site.callee) for site, call in profile.instruction_calls.items()
    } if with_instructions else {}
    hot_calls = {
        place: {address: InstructionCost(one.line, whole(one.cost, _NONE)) for address, one in rows.items()}
        for place, rows in profile.hot_calls.items()
    }
    first, last = _CODE
    counted = {"Ir": "Ir", "I1mr": f"{first} I1mr", "ILmr": f"{last} ILmr"}
    formula = " + ".join([*(term for event, term in counted.items() if event in profile.events), *EVENTS])
    return replace(
        profile, events=profile.events + MADE, lines=lines, calls=calls,
        instructions=instructions(profile.instructions) if with_instructions else {},
        instruction_calls=instruction_calls,
        hot=instructions(profile.hot), hot_calls=hot_calls,
        titles={**profile.titles, "CEst": f"Estimated cycles: {formula}", **_time_titles(sites.costs)},
        formulas={**profile.formulas, "CEst": formula},
    )


def _time_titles(costs: MissCosts) -> dict[str, str]:
    on = f"on {costs.machine.processor}"
    return {
        "TEst": f"Estimated time {on}",
        "TLeast": f"The same {on} if instructions never wait for each other, in quiet moments",
        "TMost": f"The same {on} if each instruction waits for the one before, and nothing is done while lines come",
    }


def _row(site: Site, instruction: float) -> tuple[float, ...]:
    first = site.waiting * site.first_share
    rest = site.waiting - first
    in_order, out_of_order = (rest, 0.0) if site.is_foreseen else (0.0, rest)
    value, least, most = site.waits
    return (
        first / instruction, in_order / instruction, out_of_order / instruction,
        _PICOSECONDS * value, _PICOSECONDS * (value * site.memory_share),
        _PICOSECONDS * value, _PICOSECONDS * least, _PICOSECONDS * most,
    )


_Key = TypeVar("_Key")


def _add(table: dict[_Key, Sequence[float]], key: _Key, more: Sequence[float]) -> None:
    known = table.get(key)
    table[key] = tuple(map(add, known, more)) if known else more


def _of_calls(
    profile: Profile, own: Mapping[Function, Sequence[float]], events: Iterable[str]
) -> Callable[[Function, Row], Sequence[float]]:
    """A function that returns what calls of a function cost, given their costs in the profile's events. own: the
    further costs of each function itself. Each of the given `events` costs as much as it does on average in the called
    function and all that it calls."""
    wanted = [profile.events.index(event) for event in events if event in profile.events]

    def counted(row: Row) -> int:
        return sum([row[index] for index in wanted])

    own_counts: dict[Function, int] = {}
    for place, rows in profile.lines.items():
        own_counts[place.function] = own_counts.get(place.function, 0) + sum(map(counted, rows.values()))
    callees: dict[Function, dict[Function, int]] = {}
    for site, call in profile.calls.items():
        for function in (site.caller, site.callee):
            own_counts.setdefault(function, 0)
        if site.caller != site.callee:
            out = callees.setdefault(site.caller, {})
            out[site.callee] = out.get(site.callee, 0) + counted(call.cost)
    average: dict[Function, Sequence[float]] = {}
    for group in strongly_connected(own_counts, callees):  # callees come before their callers
        for _ in range(_ROUNDS if len(group) > 1 else 1):
            for function in group:
                known = [
                    (average[callee], count) for callee, count in callees.get(function, {}).items()
                    if count and callee in average
                ]
                average[function] = _average(own.get(function, _NONE), own_counts[function], known)

    def of_call(callee: Function, row: Row) -> Sequence[float]:
        count = counted(row)
        return [count * one for one in average[callee]] if count else _NONE

    return of_call


def _average(
    own: Sequence[float], counted: int, calls: Iterable[tuple[Sequence[float], int]]
) -> Sequence[float]:
    total = list(own)
    for costs, count in calls:
        counted += count
        if costs is not _NONE:
            total = [one + count * other for one, other in zip(total, costs)]
    return [one / counted for one in total] if counted > 0 and any(total) else _NONE
