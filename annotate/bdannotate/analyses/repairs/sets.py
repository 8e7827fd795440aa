# SPDX-License-Identifier: GPL-2.0-or-later
"""Padding of data whose lines lie a power of two apart, so that they share few sets of the cache.

The evidence: conflict misses by instructions that take constant steps, and whose lines are evicted by others like
them. At other distances, the same lines use all sets, and these misses go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from ...model.why import Cause
from ..misses.site import Change, Site
from ..misses.sites import Sites, busiest, by_loop
from .repair import Amount, Remedy, Repair, amount, code_lines

# The minimum share of conflicts among the misses.
_LEAST_SHARE = 0.25
# A step is at fault by itself if it reaches at most this share of the sets.
_FEW_SETS = 0.5


def pad_repairs(sites: Sites, notable: Sequence[Site]) -> Iterator[Repair]:
    """The paddings of what the notable sites load."""
    for _, here in by_loop(notable).items():
        guilty = [site for site in here if _is_at_fault(sites, site)]
        conflicts = sum(site.conflicts for site in guilty)
        if guilty and conflicts >= _LEAST_SHARE * amount(here).lines:
            yield _made(sites, guilty)


def _is_at_fault(sites: Sites, site: Site) -> bool:
    """Whether a site with a constant step has many conflicts, due to its step or to others in the same loop."""
    step = site.inner.step if site.inner else None
    if step is None or site.conflicts < _LEAST_SHARE * site.lines:
        return False
    if site.is_strided and _sets_used(sites, step) <= _FEW_SETS * sites.why.sets:
        return True
    # Its lines may be evicted by others that walk along with it.
    loop = site.inner.loop if site.inner else None
    alongside = 0
    for row in site.reuses:
        other = sites.at(row.evictor)
        if row.cause is Cause.CONFLICT and other and other.inner and other.inner.loop == loop:
            alongside += row.misses if other.inner.step is not None else 0
    return 2 * alongside >= site.conflicts


def _sets_used(sites: Sites, step: int) -> float:
    """How many sets of D1 a step of that many bytes reaches."""
    lines, rest = divmod(abs(step), sites.why.line)
    return sites.why.sets if rest else sites.why.sets / gcd(lines, sites.why.sets)


def _made(sites: Sites, guilty: Sequence[Site]) -> Repair:
    file, lines = code_lines(guilty)
    after = Amount(0, 0)
    changes: dict[int, Change] = {}
    for site in guilty:
        left = Amount(
            site.lines - site.conflicts, max(site.last_level - site.conflicts_of_ll, 0)
        ).at_most(Amount(site.lines, site.lines - site.conflicts))
        changes[site.number] = Change(left.lines, left.last_level, site.access)
        after = after.plus(left)
    before = amount(guilty)
    span = sites.why.sets * sites.why.line
    evidence = [
        f"{100 * sum(site.conflicts for site in guilty) / max(before.lines, 1):.0f}% of the misses are conflicts: "
        "the cache has room for these lines, but not in the sets that they share",
    ]
    strided = [site for site in guilty if site.is_strided]
    if strided and strided[0].inner and strided[0].inner.step:
        step = strided[0].inner.step
        evidence.append(
            f"steps of {step:,} bytes reach only {_sets_used(sites, step):.0f} of {sites.why.sets} sets"
        )
    else:
        evidence.append(f"lines a multiple of {span:,} bytes apart share a set")
    return Repair(
        Remedy.PAD, busiest(guilty), file, lines, (), None, before, after, None, sites.saved(changes),
        tuple(evidence),
        (
            f"double column[COLUMNS][ROWS + {max(sites.why.line // 8, 1)}];    "
            f"// each begins {sites.why.line} bytes later",
        ),
        "which of several arrays to pad, and whether other code relies on their layout",
        frozenset(site.number for site in guilty), sites.why.line,
    )
