# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, as a page has it: what to change, and the misses that caches of other sizes would
have, of the program and of the functions that miss most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..analyses.curve import Curve, Histogram, curve_of
from ..analyses.object_labels import label
from ..analyses.repair import Repair
from ..analyses.repairs import Repairs
from ..model.profile import Function
from ..model.why import Why
from ..views.curve import sentence
from ..views.json_values import Json, text
from ..views.names import Names
from ..views.repairs import headline, variables, what_to_do
from ..views.text import Page
from .numbers import Numbers

# Functions with less of all misses have no curve, and not more than so many have one.
_LEAST_SHARE = 0.002
_MOST_FUNCTIONS = 200
_MOST_ALTERNATIVES = 2
_MOST_PLACES = 4


@dataclass(frozen=True, slots=True)
class PageWhy:
    """repairs is None where the file does not tell enough for them. include: folders of sources."""

    why: Why
    repairs: Repairs | None
    told: frozenset[Function]  # those that repairs are about, and that call these
    include: tuple[str, ...]


def why_for_page(found: PageWhy, functions: Iterable[Function], numbers: Numbers) -> Json:
    why = found.why
    sizes = [point.size for point in curve_of({}, why).steps]
    return {
        "line": why.line,
        "d1": why.d1_lines * why.line,
        "ll": why.ll_lines * why.line,
        "repairs": None if found.repairs is None else _repairs(found, functions, numbers),
        "sizes": list(sizes),
        "program": _curve(curve_of(_sum(by_function(why).values()), why)),
        "functions": _function_curves(why, numbers),
    }


def by_function(why: Why) -> dict[Function | None, Counter[int]]:
    """Misses by the bucket of their distance; None: of code that has no place."""
    found: dict[Function | None, Counter[int]] = {}
    for row in why.distances:
        found.setdefault(why.function_of(row.place), Counter())[row.bucket] += row.misses
    return found


def _sum(parts: Iterable[Histogram]) -> Histogram:
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part)
    return total


def _function_curves(why: Why, numbers: Numbers) -> Json:
    """Of those with most misses, the first one first."""
    own = by_function(why)
    least = _LEAST_SHARE * why.misses()
    misses = {
        function: sum(histogram.values()) for function, histogram in own.items() if function is not None
    }
    ranked = sorted(misses, key=lambda function: (-misses[function], function))
    return [
        {"function": numbers.function(function), "self": _curve(curve_of(own[function], why))}
        for function in ranked[:_MOST_FUNCTIONS] if misses[function] >= max(least, 1)
    ]


def _curve(found: Curve) -> Json:
    """Misses at the sizes that all curves have; without those at the end at which nothing changes."""
    misses = [point.misses for point in found.steps]
    while len(misses) > 1 and misses[-1] == misses[-2]:
        misses.pop()
    at = {point.size: number for number, point in enumerate(found.steps)}
    return {
        "misses": list(misses),
        "firstTouches": found.first_touches,
        "knees": [[at[knee.before.size], at[knee.after.size]] for knee in found.knees],
        "fits": None if found.fits is None else at[found.fits.size],
        "says": text(sentence(found)) if found.points[0].misses else "",
    }


def _repairs(found: PageWhy, functions: Iterable[Function], numbers: Numbers) -> Json:
    if found.repairs is None:
        return None
    # Nothing is to be cut or wrapped: the page does that.
    page = Page(width=1 << 20, names=Names(functions))
    variable = variables(found.include)
    alternatives = found.repairs.alternatives
    return [
        {
            **_repair(repair, numbers),
            "what": text(what_to_do(repair, page, variable)),
            "alternatives": [
                text(headline(other, page, variable))
                for other in alternatives.get(number, ())[:_MOST_ALTERNATIVES]
            ],
        }
        for number, repair in enumerate(found.repairs.list)
    ]


def _repair(repair: Repair, numbers: Numbers) -> dict[str, Json]:
    return {
        "remedy": repair.remedy.value,
        "function": numbers.function(repair.function),
        "places": [[numbers.file(repair.file), line] for line in repair.lines[:_MOST_PLACES]],
        "data": text(label(repair.group)) if repair.group else "",
        "l1": [repair.before.lines, repair.after.lines],
        "ll": [repair.before.last_level, repair.after.last_level],
        "walks": None if repair.walks is None else list(repair.walks),
        "share": repair.share,
        "evidence": [text(one) for one in repair.evidence],
        "code": [text(one) for one in repair.code],
        "unknown": text(repair.unknown),
    }
