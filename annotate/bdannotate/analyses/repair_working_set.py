# SPDX-License-Identifier: GPL-2.0-or-later
"""Data that a loop nest goes over again and again and that a cache has nearly room for.

The evidence: the curve of the nest's misses has a knee not far above the size of a cache, behind which
half of them are gone at least. Data of half the size in this cache are as these data in one of twice the
size, so what that one would miss is what is left. Where each access is a line or more from the one before,
smaller elements make no fewer lines, and nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..model.numbers import size_text
from ..model.objects import ObjectGroup
from ..model.profile import Function
from ..model.why import Distance, bucket_start
from .curve import Knee, curve_of
from .repair import Amount, Remedy, Repair, amount, code_lines
from .site import Change, Site
from .sites import Sites, busiest

# So many times a cache's size is within reach; and so much smaller are the data then.
_REACH = 2
# Of the misses of the nest, so many must go.
_LEAST_SAVING = 0.5

_Nest = tuple[Function, object]


def working_set_repairs(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """groups: by the number of the site, what it loads most of."""
    why = sites.why
    members: dict[_Nest, list[Site]] = {}
    for site in sites.all:
        members.setdefault(_nest(site), []).append(site)
    for nest in dict.fromkeys(map(_nest, notable)):
        whole = frozenset(site.number for site in members[nest] if site.lines)
        here = [site for site in members[nest] if site.lines and not site.is_strided]
        for of_ll, lines in ((False, why.d1_lines), (True, why.ll_lines)):
            knee = _knee(sites, here, of_ll, lines * why.line)
            if knee is not None:
                made = _made(sites, here, groups, of_ll, lines * why.line, knee)
                # What is said of the rest of the nest changes this, too.
                yield replace(made, sites=whole)


def _nest(site: Site) -> _Nest:
    """The outermost loop, in its function, of the one that it is in; without one, its function."""
    loop = site.inner.loop if site.inner else None
    return (loop.function, loop.key[1][0]) if loop else (site.place.function, None)


def _misses(row: Distance, of_ll: bool) -> int:
    return row.last_level if of_ll else row.misses


def _knee(sites: Sites, here: Sequence[Site], of_ll: bool, cache: int) -> Knee | None:
    """Of what misses that cache, by its size in bytes."""
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
        left = _left(site, of_ll, lines)
        changes[site.number] = Change(left.lines, left.last_level, site.access)
        after = after.plus(left)
    guilty = [site for site in here if _left(site, of_ll, lines) != _now(site)]
    file, numbers = code_lines(guilty)
    level = "LL" if of_ll else "D1"
    share = 1 - knee.after.misses / knee.before.misses
    most = max(guilty, key=lambda site: site.lines)
    return Repair(
        Remedy.SMALLER_WORKING_SET, busiest(guilty), file, numbers, (), groups.get(most.number),
        amount(here), after, None, sites.saved(changes),
        (
            f"a cache of {size_text(knee.after.size)} would miss {100 * share:.0f}% fewer of the lines loaded there "
            f"than one of {size_text(knee.before.size)}: that much data is visited again and again",
            f"{level} has {size_text(cache)}: {knee.after.size / cache:.1f} times as much would suffice",
        ),
        (
            "uint16_t table[N];        // narrower types, or fewer elements",
            "for (part ...)            // or all work on one part of the data",
            "    for (again ...) ...   // before the next one",
        ),
        "whether the values need all of their bits, and whether the work can be done part by part",
        frozenset(site.number for site in guilty), line,
    )


def _now(site: Site) -> Amount:
    return Amount(site.lines, site.last_level)


def _left(site: Site, of_ll: bool, lines: int) -> Amount:
    """What would still be missed, if that cache had so many lines."""
    far = [row for row in site.distances if row.bucket == 0 or bucket_start(row.bucket) >= lines]
    return Amount(site.lines if of_ll else sum(row.misses for row in far), sum(row.last_level for row in far))
