# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, on a page: repairs, and curves of the misses in caches of other sizes, for the program and for
the functions, loops and data that miss most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..analyses.data.object_labels import label
from ..analyses.misses.curve import Curve, curve_of
from ..analyses.misses.distance_sums import DistanceSums
from ..analyses.repairs.choice import Repairs
from ..analyses.repairs.repair import Remedy, Repair
from ..model.graph import CallGraph
from ..model.objects import Objects
from ..model.profile import Function, Profile
from ..model.separate import SEPARATOR, FrameCode
from ..model.why import Why
from ..views.curve import sentence
from ..views.json_values import text
from ..views.names import Names
from ..views.repairs import headline, variables, what_to_do
from ..views.text import UNLIMITED, Page
from . import schema
from .numbers import Numbers

# Code and data with a smaller share of all misses have no curve, and at most so many functions, loops and data do.
_LEAST_SHARE = 0.002
_MOST_FUNCTIONS = 200
_MOST_LOOPS = 60
_MOST_DATA = 60
_MOST_ALTERNATIVES = 2
_MOST_PLACES = 4


@dataclass(frozen=True, slots=True)
class PageWhy:
    """repairs: None if the file does not tell enough to find any. loops: the code of the loops that may have curves.
    include: folders with sources."""

    why: Why
    repairs: Repairs | None
    told: frozenset[Function]  # functions that repairs are about, and their callers
    loops: Mapping[Function, FrameCode]
    objects: Objects | None
    events: tuple[str, ...]  # of the profile
    include: tuple[str, ...]
    costs: Profile | None = None  # the profile with the cost of misses, from which repairs are found


def why_for_page(found: PageWhy, graph: CallGraph, numbers: Numbers) -> schema.Why:
    why = found.why
    sums = DistanceSums(why, graph, found.events, {})
    hits = None if why.hits is None else DistanceSums(why.hits, graph, found.events, {})
    sizes = [point.size for point in curve_of({}, why, None if hits is None else {}).steps]
    return {
        "line": why.line,
        "d1": why.d1_lines * why.line,
        "ll": why.ll_lines * why.line,
        "repairs": None if found.repairs is None else _repairs(found, graph.functions, numbers),
        "sizes": list(sizes),
        "program": _curve(curve_of(sums.program(), why, None if hits is None else hits.program())),
        "functions": _function_curves(sums, hits, why, numbers),
        "loops": _loop_curves(found, graph, numbers),
        "data": [] if found.objects is None else _data_curves(sums, hits, why, found.objects),
    }


def _function_curves(
    sums: DistanceSums, hits: DistanceSums | None, why: Why, numbers: Numbers
) -> list[schema.CodeCurves]:
    """The curves of the functions with most misses, those with most of their own first."""
    least = _LEAST_SHARE * why.misses()
    found = {function: sums.of([function]) for function in sums.functions()}
    misses = {function: sum(one.inclusive.values()) for function, one in found.items()}
    ranked = sorted(
        misses, key=lambda function: (-sum(found[function].own.values()), -misses[function], function)
    )
    return [
        {"function": numbers.function(function), "self": own, "incl": inclusive}
        for function in ranked[:_MOST_FUNCTIONS] if misses[function] >= max(least, 1)
        for own, inclusive in [_own_and_inclusive(sums, hits, function, why)]
    ]


def _own_and_inclusive(
    sums: DistanceSums, hits: DistanceSums | None, function: Function, why: Why
) -> tuple[schema.Curve, schema.Curve | None]:
    """The curves of a function or loop; None if the run did not keep whole call paths."""
    found = sums.of([function])
    hit = None if hits is None else hits.of([function])
    own = curve_of(found.own, why, None if hit is None else hit.own)
    inclusive = curve_of(found.inclusive, why, None if hit is None else hit.inclusive)
    return _curve(own), _curve(inclusive) if sums.has_paths else None


def _loop_curves(found: PageWhy, graph: CallGraph, numbers: Numbers) -> list[schema.LoopCurves]:
    """The curves of the loops with most misses, those with most first."""
    why = found.why
    sums = DistanceSums(why, graph, found.events, found.loops)
    hits = None if why.hits is None else DistanceSums(why.hits, graph, found.events, found.loops)
    least = max(_LEAST_SHARE * why.misses(), 1)
    ranked: list[tuple[int, Function]] = []
    for loop in found.loops:
        misses = sum(sums.of([loop]).inclusive.values())
        if misses >= least:
            ranked.append((-misses, loop))
    ranked.sort()
    return [
        {
            "function": numbers.function(found.loops[loop].root),
            "name": text(loop.name.rpartition(SEPARATOR)[2]),
            "self": own,
            "incl": inclusive,
        }
        for _, loop in ranked[:_MOST_LOOPS]
        for own, inclusive in [_own_and_inclusive(sums, hits, loop, why)]
    ]


def _data_curves(
    sums: DistanceSums, hits: DistanceSums | None, why: Why, objects: Objects
) -> list[schema.DataCurve]:
    """The curves of the groups of data with most misses, by their numbers on the page."""
    if why.data is None:
        return []
    least = max(_LEAST_SHARE * why.misses(), 1)
    found = sums.by_data(objects)
    hit = {} if hits is None else hits.by_data(objects)
    misses = {number: sum(histogram.values()) for number, histogram in found.items()}
    ranked = sorted(misses, key=lambda number: (-misses[number], number))[:_MOST_DATA]
    return [
        {"group": number, "curve": _curve(curve_of(found[number], why, None if hits is None else hit.get(number, {})))}
        for number in ranked if misses[number] >= least
    ]


def _curve(found: Curve) -> schema.Curve:
    """The misses at the sizes that all curves share, up to the last size at which they change."""
    misses = [point.misses for point in found.steps]
    while len(misses) > 1 and misses[-1] == misses[-2]:
        misses.pop()
    at = {point.size: number for number, point in enumerate(found.steps)}
    return {
        "misses": list(misses),
        "firstTouches": found.first_touches,
        "knees": [(at[knee.before.size], at[knee.after.size]) for knee in found.knees],
        "fits": None if found.fits is None else at[found.fits.size],
        "says": text(sentence(found)) if found.points[0].misses else "",
    }


def _repairs(found: PageWhy, functions: Iterable[Function], numbers: Numbers) -> list[schema.Repair] | None:
    if found.repairs is None:
        return None
    page = Page(width=UNLIMITED, names=Names(functions))
    variable = variables(found.include)
    listed = found.objects.groups if found.objects else ()
    groups = {group.identity: number for number, group in enumerate(listed)}

    def made(repair: Repair, others: Sequence[Repair]) -> schema.Repair:
        what = headline if repair.remedy is Remedy.NONE else what_to_do
        return {
            "remedy": repair.remedy.value,
            "function": numbers.function(repair.function),
            "places": [(numbers.file(repair.file), line) for line in repair.lines[:_MOST_PLACES]],
            "data": text(label(repair.group)) if repair.group else "",
            "l1": (repair.before.lines, repair.after.lines),
            "ll": (repair.before.last_level, repair.after.last_level),
            "walks": repair.walks,
            "transfers": repair.transfers,
            "share": repair.share,
            "evidence": [text(one) for one in repair.evidence],
            "code": [text(one) for one in repair.code],
            "unknown": text(repair.unknown),
            "group": groups.get(repair.group.identity) if repair.group else None,
            "what": text(what(repair, page, variable)),
            "alternatives": [text(headline(other, page, variable)) for other in others[:_MOST_ALTERNATIVES]],
        }

    alternatives = found.repairs.alternatives
    return [made(repair, alternatives.get(number, ())) for number, repair in enumerate(found.repairs.list)]
