# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads below the functions that created them.

A thread has its own call stack, so its costs are not those of the call that created it: main would only have the first
thread's part of a parallel loop. Here the root of a thread becomes a callee of the function that created the thread,
and its costs become costs of all calls that were open then. The totals do not change.

Costs are those of functions, not of threads. Therefore, if threads with the same root were created in several ways, all
are below the function in which these ways part. The threads of a pool are below the function that created the pool, not
below those that they work for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .profile import (
    Call, CallSite, Function, Profile, Row, ThreadOrigin, add_rows, subtract_rows, sum_rows,
)

# The calls from the program's start to the creation of threads, the outermost first, and the number of threads.
_Way = tuple[tuple[Function, ...], int]


def below_creators(profile: Profile) -> Profile:
    """The profile with the roots of threads below the functions that created them. It has no origins any more."""
    ways = _ways(profile.origins)
    calls = dict(profile.calls)
    sites: dict[tuple[Function, Function], list[CallSite]] = {}
    for site in calls if ways else ():
        sites.setdefault((site.caller, site.callee), []).append(site)

    def add(caller: Function, callee: Function, count: int, cost: Row) -> None:
        known = sites.get((caller, callee), [])
        # If there are several call sites, it is not known which one it was.
        site = known[0] if len(known) == 1 else CallSite(caller, callee, caller.file, 0)
        calls[site] = calls.get(site, Call(0, profile.zero)).plus(count, cost)
        if site not in known:
            sites.setdefault((caller, callee), []).append(site)

    for root in _inner_first(ways):
        way, count = ways[root]
        cost = _root_cost(profile, calls, root)
        if min(cost, default=0) < 0 or not any(cost):
            continue  # not a root in this profile
        for caller, callee in zip(way, way[1:]):
            add(caller, callee, 0, cost)
        add(way[-1], root, count, cost)
    return replace(profile, calls=calls, origins=())


def _ways(origins: Iterable[ThreadOrigin]) -> dict[Function, _Way]:
    """The common beginning of each root's ways, with the number of threads. A thread that a thread with the same root
    created is below that one already."""
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
    """How many functions at the beginning of both are the same."""
    pairs = zip(left, right)
    return next(
        (index for index, (mine, other) in enumerate(pairs) if mine != other),
        min(len(left), len(right)),
    )


def _inner_first(ways: dict[Function, _Way]) -> list[Function]:
    """The roots, such that those of threads that other threads created precede the roots of these."""
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
    """The costs of `root` and of all that it calls, without those of calls of it."""
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
