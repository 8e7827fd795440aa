# SPDX-License-Identifier: GPL-2.0-or-later
"""What misses cost of a run with --why=yes, by the order of addresses: the one estimate that the verdict,
the order of lists and the repairs of such a run are made of.

Its unit is the time of an instruction whose data hits, a cycle of the estimate CEst. Of data it is what
`miss_costs` says of each instruction's misses; of code, whose order is not known, it is as much for a miss as
the other estimate has. Costs of instructions become events of the profile, so that lines, functions and
calls have them as they have counts. What a call costs is known of the misses in it alone: each counts as much
as one of the function that is called does on average, with all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from ..model.components import strongly_connected
from ..model.metrics import TIMES
from ..model.profile import (
    Call, Function, Instruction, InstructionCall, Place, Profile, Row, add_rows,
)
from .miss_costs import MissCosts
from .sites import Site, Sites

# First touches, which are needed; misses in an order that processors foresee; all others.
FIRST_TOUCHES, IN_ORDER, OUT_OF_ORDER = EVENTS = "WaitFirst", "WaitIn", "WaitOut"
WAIT = "Wait"  # all of them
# Picoseconds of that in which the processor has nothing else to do.
TIME_WAIT = "TimeWait"
_PICOSECONDS = 1000
# Of a miss of code, in I1 and in LL.
_CODE = (10, 100)
# How often the average costs of functions that call each other are looked at.
_ROUNDS = 12

_Waits = tuple[float, float, float, float]  # in the order of the events, TIME_WAIT last
_NONE: _Waits = (0.0, 0.0, 0.0, 0.0)


def estimated_time(sites: Sites, profile: Profile) -> float:
    """Nanoseconds."""
    count = dict(zip(profile.events, profile.totals()))
    first, last = _CODE
    work = count.get("Ir", 0) + first * count.get("I1mr", 0) + last * count.get("ILmr", 0)
    return work * sites.costs.instruction + sum(site.time for site in sites.all)


def has_waits(events: Iterable[str]) -> bool:
    return OUT_OF_ORDER in events


def with_waits(profile: Profile, sites: Sites, with_instructions: bool = False) -> Profile:
    """The profile with what misses of data cost as further events, of which the estimate CEst is made. It has
    its instructions and their calls only if these are wanted: they are most of a large profile."""
    found: dict[tuple[Place, int], Row] = {}
    exact: dict[tuple[str, int], Row] = {}
    own: dict[Function, Row] = {}
    for site in sites.all:
        row = _row(site, sites.costs.instruction)
        if any(row):
            place = site.place
            _add(found, (Place(place.function, place.file), place.line), row)
            _add(exact, (place.function.object, place.address), row)
            _add(own, place.function, row)
    none = (0,) * (len(EVENTS) + 1)
    lines = {
        at: {line: row + found.get((at, line), none) for line, row in rows.items()}
        for at, rows in profile.lines.items()
    }
    for (at, line), row in found.items():
        if line not in profile.lines.get(at, {}):
            lines.setdefault(at, {})[line] = profile.zero + row

    def instructions(
        table: Mapping[Place, Mapping[int, Instruction]]
    ) -> dict[Place, dict[int, Instruction]]:
        return {
            place: {
                address: Instruction(
                    one.line, one.cost + exact.get((place.function.object, address), none)
                ) for address, one in rows.items()
            } for place, rows in table.items()
        }

    of_call = _of_calls(profile, own)
    calls = {site: _longer(call, of_call(site.callee, call.cost)) for site, call in profile.calls.items()}
    instruction_calls: dict[InstructionCall, Call] = {
        site: _longer(call, of_call(site.callee, call.cost))
        for site, call in profile.instruction_calls.items()
    } if with_instructions else {}
    hot_calls = {
        place: {address: Instruction(one.line, one.cost + none) for address, one in rows.items()}
        for place, rows in profile.hot_calls.items()
    }
    first, last = _CODE
    formula = " + ".join(["Ir", f"{first} I1mr", f"{last} ILmr", *EVENTS])
    return replace(
        profile, events=profile.events + EVENTS + (TIME_WAIT,), lines=lines, calls=calls,
        instructions=instructions(profile.instructions) if with_instructions else {},
        instruction_calls=instruction_calls,
        hot=instructions(profile.hot), hot_calls=hot_calls,
        titles={**profile.titles, "CEst": f"Estimated cycles: {formula}", **_time_titles(sites.costs)},
        formulas={**profile.formulas, "CEst": formula, **_time_formulas(profile, sites.costs)},
    )


def _time_titles(costs: MissCosts) -> dict[str, str]:
    on = f"on {costs.machine.processor}"
    return {
        "TEst": f"Estimated time {on}", "TLeast": f"The same {on} if instructions never wait for each other",
        "TMost": f"The same {on} if each instruction waits for the one before",
    }


def _time_formulas(profile: Profile, costs: MissCosts) -> dict[str, str]:
    """In picoseconds. Misses of code cost what they do in CEst."""
    first, last = (round(_PICOSECONDS * factor * costs.instruction) for factor in _CODE)
    branch = round(_PICOSECONDS * costs.misprediction)
    branches = [f"{branch} {event}" for event in ("Bcm", "Bim") if event in profile.events]
    rest = [f"{first} I1mr", f"{last} ILmr", *branches, TIME_WAIT]
    return {
        name: " + ".join([f"{max(round(_PICOSECONDS * costs.machine.figure(figure)), 1)} Ir", *rest])
        for name, figure in zip(TIMES, ("instruction", "instruction-free", "instruction-chained"))
    }


def _row(site: Site, instruction: float) -> Row:
    first, rest = site.first_time, site.time - site.first_time
    waits = (first, rest, 0.0) if site.is_foreseen else (first, 0.0, rest)
    return (*(round(one / instruction) for one in waits), round(_PICOSECONDS * site.waiting))


_Key = TypeVar("_Key")


def _add(table: dict[_Key, Row], key: _Key, row: Row) -> None:
    known = table.get(key)
    table[key] = add_rows(known, row) if known else row


def _longer(call: Call, row: Row) -> Call:
    return Call(call.calls, call.cost + row)


def _of_calls(profile: Profile, own: Mapping[Function, Row]) -> Callable[[Function, Row], Row]:
    """What calls of a function cost, given the costs of these calls in the profile's events."""
    wanted = [profile.events.index(event) for event in ("D1mr", "D1mw") if event in profile.events]

    def misses(row: Row) -> int:
        return sum(row[index] for index in wanted)

    own_misses: dict[Function, int] = {}
    for place, rows in profile.lines.items():
        own_misses[place.function] = own_misses.get(place.function, 0) + sum(map(misses, rows.values()))
    callees: dict[Function, dict[Function, int]] = {}
    for site, call in profile.calls.items():
        for function in (site.caller, site.callee):
            own_misses.setdefault(function, 0)
        if site.caller != site.callee:
            out = callees.setdefault(site.caller, {})
            out[site.callee] = out.get(site.callee, 0) + misses(call.cost)
    average: dict[Function, _Waits] = {}
    for group in strongly_connected(own_misses, callees):  # what is called comes first
        for _ in range(_ROUNDS if len(group) > 1 else 1):
            for function in group:
                known = [
                    (average[callee], count) for callee, count in callees.get(function, {}).items()
                    if callee in average
                ]
                average[function] = _average(own.get(function, (0, 0, 0, 0)), own_misses[function], known)

    def of_call(callee: Function, row: Row) -> Row:
        count = misses(row)
        return tuple(round(count * one) for one in average[callee])

    return of_call


def _average(own: Row, misses: int, calls: Iterable[tuple[_Waits, int]]) -> _Waits:
    first, in_order, out, time = map(float, own)
    for waits, count in calls:
        misses += count
        first += count * waits[0]
        in_order += count * waits[1]
        out += count * waits[2]
        time += count * waits[3]
    return (first / misses, in_order / misses, out / misses, time / misses) if misses > 0 else _NONE
