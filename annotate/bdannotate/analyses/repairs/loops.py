# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs of loops around a line that is loaded for a few of its bytes: exchange two of them, or go
through both in tiles.

The evidence: in the innermost loop an instruction takes constant steps of a line or more; in a loop
around it the same instruction stays in its line; and that loop brings its lines back. If the loop around
were the innermost one, what its repetition brings back would be there still: so much is saved. What
takes small steps in the innermost loop now and large ones in the other would be loaded more often then.
If that is much, exchanging only moves the trouble, and tiles serve both.

A loop that brings back what an inner one goes through in order, while others move on with it, is tiled,
too: a tile of the inner one's data stays for all that the outer one does with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..misses.loop_nests import LoopPlace
from ..misses.miss_costs import Access
from ..misses.site import Change, Site, steps_seen
from ..misses.sites import Sites, busiest, by_loop
from .repair import Amount, Remedy, Repair, amount

# What saves less of the lines that the nest loads is no repair of it.
_LEAST_SAVING = 0.2
# Exchanging is simpler than tiles, and preferred if it saves nearly as much.
_NEARLY = 0.8
# How often an instruction must be seen to stay where it is while a loop goes on.
_FEW = 3
# A loop that brings back so many of the lines of an instruction visits the same ones again in each iteration.
_MOSTLY = 0.5
# Data of a tile fill so much of the cache, as others come between.
_TILE = 0.5


@dataclass(frozen=True, slots=True)
class _Outcome:
    after: dict[int, Amount]  # by the number of the site
    accesses: dict[int, Access]


def loop_repairs(sites: Sites, notable: Sequence[Site]) -> Iterator[Repair]:
    for inner, here in by_loop(notable).items():
        yield from _of_loop(sites, inner, here)


def _of_loop(sites: Sites, inner: LoopPlace, here: Sequence[Site]) -> Iterator[Repair]:
    strided = [site for site in here if site.is_strided]
    outer = _best_outer(sites, inner, strided)
    if outer is not None:
        members = _members(sites, inner, outer)
        exchanged = _exchanged(sites, members, inner, outer)
        tiled = _tiled(sites, members, inner, outer)
        saved_by_exchange, saved_by_tiles = (
            _saved_lines(members, outcome) for outcome in (exchanged, tiled)
        )
        least = _LEAST_SAVING * amount(members).lines
        if saved_by_exchange >= max(least, _NEARLY * saved_by_tiles):
            yield _made(Remedy.INTERCHANGE, sites, members, inner, outer, exchanged, strided)
        elif saved_by_tiles >= least:
            yield _made(Remedy.TILE, sites, members, inner, outer, tiled, strided)
    yield from _temporal(sites, inner, here)


def _best_outer(sites: Sites, inner: LoopPlace, strided: Sequence[Site]) -> LoopPlace | None:
    """The loop around in which those with large steps have small ones, and that brings most back."""
    found: dict[LoopPlace, int] = {}
    for site in strided:
        for level in site.levels[1:]:
            if level.loop is not None and level.step and level.lines_per_step(site.line) < 1:
                lines, _ = site.carried(level.loop, sites.loops)
                found[level.loop] = found.get(level.loop, 0) + lines
    best = max(found, key=lambda loop: found[loop], default=None)
    return best if best is not None and found[best] else None


def _members(sites: Sites, inner: LoopPlace, outer: LoopPlace) -> list[Site]:
    """All in the innermost loop, and what stands in the other one around it."""
    return [
        site for site in sites.all
        if site.levels and (site.level_of(inner) or site.level_of(outer) is site.levels[0])
    ]


def _exchanged(
    sites: Sites, members: Sequence[Site], inner: LoopPlace, outer: LoopPlace
) -> _Outcome:
    after: dict[int, Amount] = {}
    accesses: dict[int, Access] = {}
    rounds = inner.iterations or max((site.accesses for site in members if site.level_of(inner)), default=0)
    for site in members:
        now, then = _lines_per_iteration(site, inner), _lines_per_iteration(site, outer)
        mine = Amount(site.lines, site.last_level)
        if then < now or _comes_back(sites, site, inner, outer):
            lines, last = site.carried(outer, sites.loops)
            after[site.number] = Amount(mine.lines - lines, mine.last_level - last)
            accesses[site.number] = Access.IN_ORDER
        elif then > now and not _fits(sites, site, outer):
            lines = max(round(rounds * then), mine.lines)
            after[site.number] = Amount(lines, max(mine.last_level, _scaled(mine, lines)))
        else:
            after[site.number] = mine
    return _Outcome(after, accesses)


def _lines_per_iteration(site: Site, loop: LoopPlace) -> float:
    """How many other lines than those of the iteration before. Where its steps were not seen, as an iteration is longer
    than the pieces whose order is known, as many as miss: what is loaded meanwhile leaves none in the cache."""
    level = site.level_of(loop)
    if level is None:
        return 0.0
    if level.step is None and steps_seen(level.order) < _FEW and loop.iterations:
        return min(site.lines / loop.iterations, 1.0)
    return level.lines_per_step(site.line)


def _comes_back(sites: Sites, site: Site, inner: LoopPlace, outer: LoopPlace) -> bool:
    """Whether an iteration of the outer loop visits the lines of the one before, where its steps were not seen, as
    an iteration is longer than the pieces whose order is known. Large constant steps in the inner loop visit them in
    the same iterations of that."""
    at_inner, at_outer = site.level_of(inner), site.level_of(outer)
    if at_inner is None or at_outer is None or at_outer.step is not None or steps_seen(at_outer.order) >= _FEW:
        return False
    lines, _ = site.carried(outer, sites.loops)
    return at_inner.step is not None and abs(at_inner.step) >= site.line and lines >= _MOSTLY * site.lines > 0


def _scaled(mine: Amount, lines: int) -> int:
    return round(mine.last_level * lines / mine.lines) if mine.lines else 0


def _fits(sites: Sites, site: Site, loop: LoopPlace) -> bool:
    """Whether what a site needs for all of a loop stays in D1."""
    level = site.level_of(loop)
    trips = loop.trips or site.trips(loop)
    if level is None or not trips:
        return False
    return trips * level.lines_per_step(site.line) <= _TILE * sites.why.d1_lines


def _tiled(sites: Sites, members: Sequence[Site], inner: LoopPlace, outer: LoopPlace) -> _Outcome:
    after: dict[int, Amount] = {}
    accesses: dict[int, Access] = {}
    for site in members:
        mine = Amount(site.lines, site.last_level)
        if site.is_strided and site.level_of(inner) is not None:
            lines, last = site.carried(outer, sites.loops)
            mine = Amount(mine.lines - lines, mine.last_level - last)
        after[site.number] = mine
    return _Outcome(after, accesses)


def _temporal(sites: Sites, inner: LoopPlace, here: Sequence[Site]) -> Iterator[Repair]:
    """Tiles of what an outer loop goes through again and again."""
    in_order = [site for site in here if site.is_in_order or site.is_strided]
    found: dict[LoopPlace, list[Site]] = {}
    for site in in_order:
        for level in site.levels[1:]:
            if level.loop is not None and level.step == 0 and level.order.same >= _FEW:
                found.setdefault(level.loop, []).append(site)
    for outer, again in found.items():
        moving = [
            site for site in sites.all
            if (seen := site.level_of(outer)) is not None and seen.step != 0
        ]
        carried = {site.number: site.carried(outer, sites.loops) for site in again}
        total = sum(lines for lines, _ in carried.values())
        if not moving or total < _LEAST_SAVING * amount(here).lines:
            continue
        # Tiles so large that what is loaded again stays; what moves on is loaded once for each.
        reuses = [
            row for site in again for row in site.reuses if sites.loops.of(row.scope) == outer
        ]
        distance = sum(row.distance for row in reuses) / max(total, 1)
        tiles = max(round(distance / (_TILE * sites.why.d1_lines)), 1) + 1
        after: dict[int, Amount] = {}
        members = list({site.number: site for site in (*again, *moving)}.values())
        for site in members:
            lines, last = carried.get(site.number, (0, 0))
            mine = Amount(site.lines - lines, site.last_level - last)
            if site.number not in carried:
                mine = Amount(site.lines * tiles, site.last_level)
            after[site.number] = mine
        outcome = _Outcome(after, {})
        if _saved_lines(members, outcome) >= _LEAST_SAVING * amount(members).lines:
            yield _made(Remedy.TILE, sites, members, inner, outer, outcome, again)


def _saved_lines(members: Sequence[Site], outcome: _Outcome) -> int:
    return sum(site.lines - outcome.after[site.number].lines for site in members)


def _made(
    remedy: Remedy, sites: Sites, members: Sequence[Site], inner: LoopPlace, outer: LoopPlace,
    outcome: _Outcome, guilty: Sequence[Site],
) -> Repair:
    changes = {
        site.number: Change(
            outcome.after[site.number].lines, outcome.after[site.number].last_level,
            outcome.accesses.get(site.number, site.access),
        ) for site in members
    }
    is_freed = remedy is Remedy.INTERCHANGE and _is_stored(members, outer)
    freed = sites.saved_by_order(inner) if is_freed else 0.0
    affected = [site for site in members if site.lines]
    after = Amount(0, 0)
    for site in affected:
        after = after.plus(outcome.after[site.number])
    first, second = sorted((outer, inner), key=lambda loop: (loop.depth, loop.line))
    file = second.file or guilty[0].where[0]
    return Repair(
        remedy, busiest(guilty), file,
        tuple(dict.fromkeys(loop.line for loop in (first, second) if loop.line)),
        (first, second), None, amount(affected), after, None,
        sites.saved(changes, freed, (inner,)),
        _evidence(sites, guilty, inner, outer, freed), _CODE[remedy],
        _UNKNOWN[remedy], _meant(members, outcome, guilty), sites.why.line,
        saved_by_misses=sites.saved(changes).value,
    )


def _meant(members: Sequence[Site], outcome: _Outcome, guilty: Sequence[Site]) -> frozenset[int]:
    """What a repair is about: large steps, and what else is loaded once where it was loaded often."""
    freed = (site for site in members if outcome.after[site.number].lines < _MOSTLY * site.lines)
    return frozenset(site.number for site in (*guilty, *freed))


def _is_stored(members: Sequence[Site], outer: LoopPlace) -> bool:
    """Whether what the inner loop computes is stored by each iteration of the outer one, as a sum of products: once the
    loops are exchanged, no iteration of the innermost one waits for the one before."""
    return any(site.writes and site.inner and site.inner.loop == outer and site.inner.step for site in members)


def _evidence(
    sites: Sites, guilty: Sequence[Site], inner: LoopPlace, outer: LoopPlace, freed: float
) -> tuple[str, ...]:
    site = max(guilty, key=lambda one: one.lines)
    lines, _ = site.carried(outer, sites.loops)
    at_inner, at_outer = site.level_of(inner), site.level_of(outer)
    found: list[str] = []
    if at_inner is not None and at_outer is not None and at_inner.step and at_outer.step is not None:
        there = f"by {at_outer.step:,}" if at_outer.step else "not at all"
        found.append(
            f"line {site.where[1]} steps by {at_inner.step:,} bytes in the inner loop, and {there} in the outer one"
        )
    found.append(
        f"the outer loop brings back {100 * lines / max(site.lines, 1):.0f}% of the lines loaded here"
    )
    if site.late is not None and site.late + (site.never or 0.0) >= 1:
        found.append(
            f"of each line, {site.used:.0f} bytes are used while it is cached, {site.late:.0f} at other times, "
            f"{site.never or 0.0:.0f} never"
        )
    if freed > 0:
        found.append(
            "each iteration of the inner loop waits for the result of the previous one; after the exchange, none does"
        )
    return tuple(found)


_CODE = {
    Remedy.INTERCHANGE: (
        "for (inner ...)        // was outside",
        "    for (outer ...)    // was inside: now along memory",
    ),
    Remedy.TILE: (
        "for (outer in tiles) for (inner in tiles)",
        "    for (outer in this tile) for (inner in this tile)",
    ),
}
_UNKNOWN = {
    Remedy.INTERCHANGE: "whether iterations depend on results of earlier ones",
    Remedy.TILE: "whether iterations depend on results of earlier ones",
}
