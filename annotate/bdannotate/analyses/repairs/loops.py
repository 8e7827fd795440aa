# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs of loop nests that load lines for a few of their bytes: interchange two loops, or tile both.

The evidence: an instruction takes constant steps of a line or more in the innermost loop, but stays in its line in an
outer loop, and that loop brings its lines back. If the outer loop were the innermost one, the lines that it brings back
would still be cached: these are saved. Instructions with small steps in the innermost loop and large ones in the outer
loop would load more. If that is much, an interchange only moves the problem, and tiles serve both.

An outer loop is also tiled if it brings back what the inner one goes through in order, while other instructions move on
with it: a tile of the inner loop's data stays cached for all that the outer one does with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..misses.loop_nests import LoopPlace
from ..misses.miss_costs import Access
from ..misses.site import Change, Site, steps_seen
from ..misses.sites import Sites, busiest, by_loop
from .repair import Amount, Remedy, Repair, amount

# The minimum share of the nest's lines that a repair must save.
_LEAST_SAVING = 0.2
# Interchange is simpler than tiles, so it is preferred if it saves at least this share of what tiles save.
_NEARLY = 0.8
# How many steps must be seen to know an instruction's step in a loop.
_FEW = 3
# A loop visits the same lines in each iteration if it brings back at least this share of an instruction's lines.
_MOSTLY = 0.5
# The share of the cache that the data of a tile fills; the rest is for other data.
_TILE = 0.5


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What sites would load after a repair, by their numbers."""

    after: dict[int, Amount]
    accesses: dict[int, Access]  # only of sites whose order changes


def loop_repairs(sites: Sites, notable: Sequence[Site]) -> Iterator[Repair]:
    """The interchanges and tilings of the notable sites' loops."""
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
    """The outer loop in which strided sites take small steps, and that brings most of their lines back; None: none
    does."""
    found: dict[LoopPlace, int] = {}
    for site in strided:
        for level in site.levels[1:]:
            if level.loop is not None and level.step and level.lines_per_step(site.line) < 1:
                lines, _ = site.carried(level.loop, sites.loops)
                found[level.loop] = found.get(level.loop, 0) + lines
    best = max(found, key=lambda loop: found[loop], default=None)
    return best if best is not None and found[best] else None


def _members(sites: Sites, inner: LoopPlace, outer: LoopPlace) -> list[Site]:
    """The sites in the inner loop, and those directly in the outer one."""
    return [
        site for site in sites.all
        if site.levels and (site.level_of(inner) or site.level_of(outer) is site.levels[0])
    ]


def _exchanged(
    sites: Sites, members: Sequence[Site], inner: LoopPlace, outer: LoopPlace
) -> _Outcome:
    """What the sites would load if the two loops were interchanged."""
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
    """The new lines that a site loads per iteration of a loop, from 0 to 1. If iterations are longer than the observed
    pieces of the run, so that no steps were seen, these are the lines that miss: what else an iteration loads leaves
    none in the cache."""
    level = site.level_of(loop)
    if level is None:
        return 0.0
    if level.step is None and steps_seen(level.order) < _FEW and loop.iterations:
        return min(site.lines / loop.iterations, 1.0)
    return level.lines_per_step(site.line)


def _comes_back(sites: Sites, site: Site, inner: LoopPlace, outer: LoopPlace) -> bool:
    """Whether an iteration of the outer loop visits the same lines as the one before, if its steps were not seen
    because iterations are longer than the observed pieces of the run. As the inner loop has large constant steps, it
    visits each line in the same one of its iterations."""
    at_inner, at_outer = site.level_of(inner), site.level_of(outer)
    if at_inner is None or at_outer is None or at_outer.step is not None or steps_seen(at_outer.order) >= _FEW:
        return False
    lines, _ = site.carried(outer, sites.loops)
    return at_inner.step is not None and abs(at_inner.step) >= site.line and lines >= _MOSTLY * site.lines > 0


def _scaled(mine: Amount, lines: int) -> int:
    """The lines of LL in proportion, if `lines` are loaded."""
    return round(mine.last_level * lines / mine.lines) if mine.lines else 0


def _fits(sites: Sites, site: Site, loop: LoopPlace) -> bool:
    """Whether what a site loads in one run of a loop stays in D1; False if not known."""
    level = site.level_of(loop)
    trips = loop.trips or site.trips(loop)
    if level is None or not trips:
        return False
    return trips * level.lines_per_step(site.line) <= _TILE * sites.why.d1_lines


def _tiled(sites: Sites, members: Sequence[Site], inner: LoopPlace, outer: LoopPlace) -> _Outcome:
    """What the sites would load if both loops were tiled."""
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
    """The tilings of data that outer loops go through again and again."""
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
        # A tile of the data that is visited again stays cached; the data that moves on is loaded once per tile.
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
    """How many lines a repair saves; negative if more are loaded."""
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
    """The numbers of the sites that a repair is about: those to blame, and others that save most of their lines."""
    freed = (site for site in members if outcome.after[site.number].lines < _MOSTLY * site.lines)
    return frozenset(site.number for site in (*guilty, *freed))


def _is_stored(members: Sequence[Site], outer: LoopPlace) -> bool:
    """Whether each iteration of the outer loop stores what the inner loop computes, such as a sum of products. After an
    interchange, no iteration of the innermost loop waits for the one before."""
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
