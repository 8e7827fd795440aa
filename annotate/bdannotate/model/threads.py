# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads below who created them.

A thread has a call stack of its own, so that what it costs is no cost of the call that created it:
of a parallel loop, main would have what the first thread does of it. Here a thread's root becomes a
callee of the function that created the thread, and what it costs a cost of all calls that were open
then. The sums stay what they are.

Costs are those of functions, not of threads. So where threads with the same root were created in
several ways, they are all below the function in which these ways part. A pool's threads are below
who created the pool, and not below whom they work for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .profile import (
    Call, CallSite, Function, Profile, Row, ThreadOrigin, add_rows, subtract_rows, sum_rows,
)

# The way from the program's start to where threads are created, and how many.
_Way = tuple[tuple[Function, ...], int]


def below_creators(profile: Profile) -> Profile:
    ways = _ways(profile.origins)
    calls = dict(profile.calls)
    sites: dict[tuple[Function, Function], list[CallSite]] = {}
    for site in calls if ways else ():
        sites.setdefault((site.caller, site.callee), []).append(site)

    def add(caller: Function, callee: Function, count: int, cost: Row) -> None:
        known = sites.get((caller, callee), [])
        # Of several, it is not known which it was.
        site = known[0] if len(known) == 1 else CallSite(caller, callee, caller.file, 0)
        calls[site] = calls.get(site, Call(0, profile.zero)).plus(count, cost)
        if site not in known:
            sites.setdefault((caller, callee), []).append(site)

    for root in _inner_first(ways):
        way, count = ways[root]
        cost = _root_cost(profile, calls, root)
        if min(cost, default=0) < 0 or not any(cost):
            continue  # no root, in this profile
        for caller, callee in zip(way, way[1:]):
            add(caller, callee, 0, cost)
        add(way[-1], root, count, cost)
    return replace(profile, calls=calls, origins=())


def _ways(origins: Iterable[ThreadOrigin]) -> dict[Function, _Way]:
    """For each root what its ways have in common. What a thread creates that has the same root is
    below that already."""
    ways: dict[Function, _Way] = {}
    for origin in origins:
        creators = origin.creators
        if origin.root in creators:
            creators = creators[: creators.index(origin.root)]
        if not creators:
            continue
        known, count = ways.get(origin.root, (creators, 0))
        ways[origin.root] = known[: _equal(known, creators)], count + origin.threads
    return {root: (way, count) for root, (way, count) in ways.items() if way}


def _equal(left: tuple[Function, ...], right: tuple[Function, ...]) -> int:
    """How many are the same at the beginning of both."""
    pairs = zip(left, right)
    return next(
        (index for index, (mine, other) in enumerate(pairs) if mine != other),
        min(len(left), len(right)),
    )


def _inner_first(ways: dict[Function, _Way]) -> list[Function]:
    """Threads that threads have created before these."""
    found: list[Function] = []
    seen: set[Function] = set()

    def visit(root: Function) -> None:
        if root in seen:
            return
        seen.add(root)
        for inner, (way, _) in ways.items():
            if root in way:
                visit(inner)
        found.append(root)

    for root in ways:
        visit(root)
    return found


def _root_cost(profile: Profile, calls: dict[CallSite, Call], root: Function) -> Row:
    """What happened in `root` and below, but in no call of it."""
    width = len(profile.events)
    own = (
        row
        for place, rows in profile.lines.items() if place.function == root
        for row in rows.values()
    )
    out = (call.cost for site, call in calls.items() if site.caller == root != site.callee)
    into = (call.cost for site, call in calls.items() if site.callee == root != site.caller)
    passed = add_rows(sum_rows(own, width), sum_rows(out, width))
    return subtract_rows(passed, sum_rows(into, width))
