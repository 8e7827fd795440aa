# SPDX-License-Identifier: GPL-2.0-or-later
"""Reduction of data that loops go over again and again, in passes, and that nearly fits a cache.

The evidence: accesses are in order, and an outer loop brings their lines back; and the curve of their misses has a knee
not far above the size of a cache, behind which at least half of them are gone. Half the data in this cache behaves like
all of it in a cache of twice the size, so what that one would miss is left. Accesses a line or more apart are excluded,
as smaller elements do not make fewer lines. So are random look-ups in a table that is too large: they are not passes,
and no part of the work needs only a part of the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...model.numbers import size_text
from ...model.objects import ObjectGroup
from ...model.profile import Function
from ...model.why import Distance, bucket_start
from ..misses.curve import Knee, curve_of
from ..misses.miss_costs import Access
from ..misses.site import Change, Site
from ..misses.sites import Sites, busiest
from .repair import Amount, Remedy, Repair, amount, code_lines

# A knee is in reach up to this many times a cache's size. The data is assumed to become smaller by the same factor.
_REACH = 2
# The minimum share of the nest's misses that must go.
_LEAST_SAVING = 0.5
# The minimum share of a site's repeated misses that outer loops must bring back.
_MOSTLY = 0.5

_Nest = tuple[Function, object]  # an outermost loop of a function; None: no loop


def working_set_repairs(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """The reductions of data for the loop nests of the notable sites. groups: the data that a site loads most of, by
    the number of the site."""
    why = sites.why
    members: dict[_Nest, list[Site]] = {}
    for site in sites.loading:
        if site.levels:  # else it is no pass
            members.setdefault(_nest(site), []).append(site)
    for nest in dict.fromkeys(map(_nest, notable)):
        here = [site for site in members.get(nest, ()) if _is_pass(sites, site)]
        for of_ll, lines in ((False, why.d1_lines), (True, why.ll_lines)):
            knee = _knee(sites, here, of_ll, lines * why.line)
            if knee is not None and _saves(sites, here, of_ll, _REACH * lines):
                made = _made(sites, here, groups, of_ll, lines * why.line, knee)
                # The repair also covers the other passes of the nest, so that repairs of these compete with it.
                yield replace(made, sites=frozenset(site.number for site in here))


def _is_pass(sites: Sites, site: Site) -> bool:
    """Whether a site goes through data in order, and an outer loop repeats that."""
    if not site.lines or site.is_strided or not (site.access is Access.IN_ORDER or site.is_nearby):
        return False
    return _again(sites, site).lines >= _MOSTLY * (site.lines - site.first_touches) > 0


def _saves(sites: Sites, here: Sequence[Site], of_ll: bool, lines: int) -> bool:
    """Whether a cache of that many lines would save enough misses that outer loops bring back. of_ll: whether the cache
    is LL, not D1."""
    left = [_left(sites, site, of_ll, lines) for site in here]
    if of_ll:
        now, then = sum(site.last_level for site in here), sum(one.last_level for one in left)
    else:
        now, then = sum(site.lines for site in here), sum(one.lines for one in left)
    return now - then >= _LEAST_SAVING * now > 0


def _again(sites: Sites, site: Site) -> Amount:
    """What outer loops bring back of a site's lines."""
    innermost = site.inner.loop if site.inner else None
    rows = [
        row for row in site.reuses
        if (loop := sites.loops.of(row.scope)) is not None and loop != innermost
    ]
    return Amount(sum(row.misses for row in rows), sum(row.last_level for row in rows))


def _nest(site: Site) -> _Nest:
    """The outermost loop around a site in its function; the function alone if there is none."""
    loop = site.inner.loop if site.inner else None
    return (loop.function, loop.key[1][0]) if loop else (site.place.function, None)


def _misses(row: Distance, of_ll: bool) -> int:
    return row.last_level if of_ll else row.misses


def _knee(sites: Sites, here: Sequence[Site], of_ll: bool, cache: int) -> Knee | None:
    """A knee in the curve of the sites' misses that is in reach of a cache of that many bytes; None: there is none."""
    found: Counter[int] = Counter()
    for site in here:
        for row in site.distances:
            found[row.bucket] += _misses(row, of_ll)
    everything = sum(found.values())
    for knee in curve_of(found, sites.why).knees:
        is_in_reach = knee.after.size <= _REACH * cache and knee.after.size > cache
        if is_in_reach and everything - knee.after.misses >= _LEAST_SAVING * everything:
            return knee
    return None


def _made(
    sites: Sites, here: Sequence[Site], groups: Mapping[int, ObjectGroup], of_ll: bool, cache: int, knee: Knee
) -> Repair:
    line = sites.why.line
    lines = _REACH * cache // line
    after = Amount(0, 0)
    changes: dict[int, Change] = {}
    for site in here:
        left = _left(sites, site, of_ll, lines)
        changes[site.number] = Change(left.lines, left.last_level, site.access)
        after = after.plus(left)
    guilty = [site for site in here if _left(sites, site, of_ll, lines) != _now(site)]
    file, numbers = code_lines(guilty, in_loop=True)
    level = "LL" if of_ll else "D1"
    share = 1 - knee.after.misses / knee.before.misses
    most = max(guilty, key=lambda site: site.lines)
    return Repair(
        Remedy.SMALLER_WORKING_SET, busiest(guilty), file, numbers, (), groups.get(most.number),
        amount(here), after, None, sites.saved(changes),
        (
            "lines are loaded in order, and enclosing loops bring them back",
            f"a cache of {size_text(knee.after.size)} would miss {100 * share:.0f}% fewer of the lines loaded here "
            f"than one of {size_text(knee.before.size)}: that much data is visited again and again",
            f"{level} has {size_text(cache)}: {knee.after.size / cache:.1f} times as much would suffice",
        ),
        (
            "for (part ...)            // all rounds on one part of the data",
            "    for (round ...) ...   // before the next one",
            "uint16_t table[N];        // or narrower types, or fewer elements",
        ),
        "whether the work can be done part by part, or the values fit a narrower type",
        frozenset(site.number for site in guilty), line,
    )


def _now(site: Site) -> Amount:
    """What a site loads now."""
    return Amount(site.lines, site.last_level)


def _left(sites: Sites, site: Site, of_ll: bool, lines: int) -> Amount:
    """What a site would still load if the cache had that many lines: what comes back at larger distances, and what no
    outer loop brings back, such as the first pass. of_ll: whether the cache is LL, not D1."""
    far = [row for row in site.distances if row.bucket == 0 or bucket_start(row.bucket) >= lines]
    again = _again(sites, site)
    return Amount(
        site.lines if of_ll else max(sum(row.misses for row in far), site.lines - again.lines),
        max(sum(row.last_level for row in far), site.last_level - again.last_level),
    )
