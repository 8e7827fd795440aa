# SPDX-License-Identifier: GPL-2.0-or-later
"""Fusion of loops that go through the same data one after the other.

The evidence: the lines that a loop misses were loaded by an earlier loop beside it, in the same outer loop or function,
with the same direction and about as much data. In one pass, the line would still be cached, and the later loop's misses
would go. If an outer loop runs the loops in turn, the way back from the last to the first does not count. Loops are not
fused if a later one needs what an earlier one accumulates; if that is not known, the repair states the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...model.profile import Function, Profile
from ..misses.loop_needs import Needs
from ..misses.loop_nests import LoopPlace, loop_places
from ..misses.site import Change, Site
from ..misses.sites import Sites, busiest, by_loop
from .repair import Amount, Remedy, Repair, amount

# A repair must save at least this share of the lines that its loops load.
_LEAST_SAVING = 0.15
_ALIKE = 2.0  # the maximum ratio of the bytes that two loops walk through

def not_known(first: LoopPlace, second: LoopPlace) -> bool | None:
    """A `Needs` that knows nothing."""
    return None


_Calls = Mapping[Function, Mapping[Function, int]]  # the first line of a call, by callee and caller


def fuse_repairs(
    sites: Sites, notable: Sequence[Site], profile: Profile, needs: Needs = not_known
) -> Iterator[Repair]:
    """The fusions of the notable sites' loops. needs: returns whether the second of two loops needs what the first one
    accumulates; None if not known."""
    calls: _Calls | None = None
    saved: dict[tuple[LoopPlace, LoopPlace], dict[int, Amount]] = {}
    for site in notable:
        here = _loop_of(site)
        if here is None:
            continue
        for row in site.reuses:
            before = sites.at(row.before)
            there = _loop_of(before) if before else None
            if before is None or there is None or there == here or not _alike(before, site):
                continue
            calls = _first_calls(profile) if calls is None else calls
            if _is_beside(there, here, calls) and needs(there, here) is not True:
                mine = saved.setdefault((there, here), {})
                known = mine.get(site.number, Amount(0, 0))
                mine[site.number] = known.plus(Amount(row.misses, row.last_level))
    members = by_loop(sites.loading)
    for loops in (part for group in _joined(saved) for part in _without_needs(group, needs)):
        here_all = [site for loop in loops for site in members.get(loop, ()) if site.lines]
        gone: dict[int, Amount] = {}
        for (one, other), parts in saved.items():
            if one in loops and other in loops:
                for number, part in parts.items():
                    gone[number] = gone.get(number, Amount(0, 0)).plus(part)
        if sum(part.lines for part in gone.values()) >= _LEAST_SAVING * amount(here_all).lines > 0:
            pairs = [(one, other) for at, one in enumerate(loops) for other in loops[at + 1:]]
            yield _made(sites, loops, here_all, gone, any(needs(*pair) is None for pair in pairs))


def _without_needs(loops: Sequence[LoopPlace], needs: Needs) -> list[list[LoopPlace]]:
    """The groups of consecutive loops that can be fused: a new group begins with each loop that needs what one in its
    group accumulates. Groups of one loop are left out."""
    parts: list[list[LoopPlace]] = [[]]
    for loop in loops:
        if any(needs(one, loop) for one in parts[-1]):
            parts.append([])
        parts[-1].append(loop)
    return [part for part in parts if len(part) > 1]


def _loop_of(site: Site) -> LoopPlace | None:
    """The innermost loop of a site, if it has a constant step there, not 0."""
    return site.inner.loop if site.inner and (site.is_in_order or site.is_strided) else None


def _alike(one: Site, other: Site) -> bool:
    """Whether two sites walk through about as many bytes in the same direction. Their steps may differ, as those of
    vectorised loops are larger."""
    if one.inner is None or other.inner is None or not one.inner.step or not other.inner.step:
        return False
    if (one.inner.step > 0) != (other.inner.step > 0):
        return False
    mine, theirs = one.accesses * abs(one.inner.step), other.accesses * abs(other.inner.step)
    return not mine or not theirs or 1 / _ALIKE <= mine / theirs <= _ALIKE


def _is_beside(first: LoopPlace, second: LoopPlace, calls: _Calls) -> bool:
    """Whether `second` follows `first`, within the same outer loops of a function, or in functions that another one
    calls in that order."""
    if first.function == second.function:
        return first.key[1][:-1] == second.key[1][:-1] and _in_front(first) < _in_front(second)
    if first.depth > 1 or second.depth > 1:
        return False
    mine, theirs = calls.get(first.function, {}), calls.get(second.function, {})
    return any(0 < line < theirs.get(caller, 0) for caller, line in mine.items())


def _in_front(loop: LoopPlace) -> tuple[tuple[int, ...], int]:
    """The sort key of a function's loops: their order in the source, as compilers move code."""
    return tuple(line for _, line in loop.positions), loop.address


def _first_calls(profile: Profile) -> _Calls:
    """The first source line of the calls of each function, by caller."""
    found: dict[Function, dict[Function, int]] = {}
    for site in profile.calls:
        lines = found.setdefault(site.callee, {})
        lines[site.caller] = min(lines.get(site.caller, site.line), site.line)
    return found


def _joined(
    pairs: Mapping[tuple[LoopPlace, LoopPlace], object]
) -> list[list[LoopPlace]]:
    """The groups of loops that pairs connect, directly or not, each in the order in which its loops run."""
    groups: list[set[LoopPlace]] = []
    for one, other in pairs:
        touched = [group for group in groups if one in group or other in group]
        groups = [group for group in groups if group not in touched]
        groups.append({one, other}.union(*touched))
    return [
        sorted(group, key=_in_front if is_one else lambda loop: ((loop.line,), loop.address)) for group in groups
        for is_one in (len({loop.function for loop in group}) == 1,)
    ]


def _made(
    sites: Sites, loops: Sequence[LoopPlace], members: Sequence[Site], gone: Mapping[int, Amount], is_open: bool
) -> Repair:
    """The repair of fusing loops. gone: what is no longer loaded, by the number of the site. is_open: whether it is not
    known if one of the loops needs what an earlier one accumulates."""
    after = Amount(0, 0)
    changes: dict[int, Change] = {}
    for site in members:
        lost = gone.get(site.number, Amount(0, 0))
        left = Amount(site.lines - lost.lines, site.last_level - lost.last_level)
        changes[site.number] = Change(left.lines, left.last_level, site.access)
        after = after.plus(left)
    before = amount(members)
    places = loop_places(loops)
    share = 100 * (before.lines - after.lines) / max(before.lines, 1)
    saved = sites.saved(changes, sites.saved_by_fusing(loops), loops)
    return Repair(
        Remedy.FUSE, busiest(members), places[0][0],
        tuple(dict.fromkeys(line for _, line in places if line)), tuple(loops), None,
        before, after, None, saved,
        (
            f"an earlier loop had already loaded {share:.0f}% of the lines that these loops load, but more data than "
            "the cache holds came between",
        ),
        (
            "for (i ...) {",
            "    first(i); second(i);    // one pass: each line is loaded once",
            "}",
        ),
        "whether a later loop needs what an earlier one computes for later elements",
        frozenset(gone), sites.why.line,
        condition="unless a later one needs the result of an earlier one" if is_open else "",
        saved_by_misses=sites.saved(changes, 0.0, loops).value,
    )
