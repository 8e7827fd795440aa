# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs that load as many lines as before, but wait less for them: prefetches, and larger pages, which need fewer
page walks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...model.objects import ObjectGroup
from ...model.why import Depends
from ...model.work import Estimate
from ..misses.site import PAGE, Change, Site, Walks
from ..misses.sites import Sites, busiest, by_loop
from .repair import Remedy, Repair, amount, code_lines

HUGE_PAGE = 2 << 20


def prefetch_repairs(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """The prefetches of scattered addresses that are known before the line is needed. groups: the data that a site
    loads, by the number of the site."""
    for _, here in by_loop(notable).items():
        guilty = [site for site in here if site.is_scattered and not site.is_chain]
        if guilty:
            yield _prefetched(sites, guilty, groups)


def _prefetched(sites: Sites, guilty: Sequence[Site], groups: Mapping[int, ObjectGroup]) -> Repair:
    file, lines = code_lines(guilty, in_loop=True)
    now = amount(guilty)
    order = guilty[0].inner.order if guilty[0].inner else None
    evidence = ["most addresses are unrelated to the previous one, so no hardware prefetcher predicts them"]
    if order is not None and order.depends in (Depends.INDEX, Depends.POINTER):
        evidence.append(
            "each address depends on a value that another instruction loads, and that instruction can run ahead"
        )
    elif order is not None and order.depends is Depends.ARITHMETIC:
        evidence.append("each address is computed, and does not depend on what is loaded here")
    work = _work(sites, guilty)
    window, in_flight = sites.costs.window, sites.costs.in_flight
    if work:
        in_flight = max(min(window / work, sites.costs.in_flight), 1.0)
        evidence.append(
            f"{work:,.0f} instructions per line: a processor that looks about {window:.0f} instructions ahead has "
            f"{in_flight:.0f} of these lines in flight at once"
        )
    changes = {
        site.number: Change(site.lines, site.last_level, site.access, is_asked_ahead=True) for site in guilty
    }
    added = _computed_again(sites, guilty)
    return Repair(
        Remedy.PREFETCH, busiest(guilty), file, lines, (), groups.get(guilty[0].number), now, now, None,
        Estimate(*(one - added for one in sites.saved(changes))), tuple(evidence),
        ("__builtin_prefetch(&table[index(i + 16)]);    // a few iterations ahead", "use(table[index(i)]);"),
        "how many lines the processor already has in flight: with little work between two look-ups, it may have "
        "reached its limit",
        frozenset(site.number for site in guilty), sites.why.line,
    )


def _computed_again(sites: Sites, guilty: Sequence[Site]) -> float:
    """The nanoseconds for computing addresses a second time, some iterations ahead: half of the loop's instructions, as
    the rest uses what is loaded. 0 if addresses are loaded, not computed."""
    level = guilty[0].inner
    if level is None or level.loop is None or level.order.depends is not Depends.ARITHMETIC:
        return 0.0
    return sites.instructions_of(level.loop) * sites.costs.instruction / 2


def _work(sites: Sites, guilty: Sequence[Site]) -> float:
    """The instructions per line; 0 if not known."""
    loop = guilty[0].inner.loop if guilty[0].inner else None
    lines = amount(guilty).lines
    return sites.instructions_of(loop) / lines if loop is not None and lines else 0.0


def huge_page_repairs(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """The use of huge pages for sites that need page walks: as simulated, if the run simulated TLBs; else for those
    that touch another page with each access, and more pages than the processor has translations at hand."""
    for _, here in by_loop(notable).items():
        walks = {site.number: site.walks or _estimated_walks(site, groups.get(site.number)) for site in here}
        guilty = [site for site in here if walks[site.number].base > walks[site.number].huge and not site.is_foreseen]
        if not guilty:
            continue
        file, lines = code_lines(guilty)
        before, after = (sum(walks[site.number][size] for site in guilty) for size in (0, 1))
        now = amount(guilty)
        yield Repair(
            Remedy.HUGE_PAGES, busiest(guilty), file, lines, (), groups.get(guilty[0].number), now, now,
            (before, after), _saved_walks(sites, guilty, walks), _walk_evidence(sites, guilty, walks),
            (
                "memory = aligned_alloc(2 << 20, size);",
                "madvise(memory, size, MADV_HUGEPAGE);    // 512 times as large",
            ),
            "how large the machine's TLB is, and whether huge pages are available" if guilty[0].walks is None else
            "whether huge pages are available",
            frozenset(site.number for site in guilty), sites.why.line,
        )


def _walk_evidence(sites: Sites, guilty: Sequence[Site], walks: Mapping[int, Walks]) -> tuple[str, ...]:
    step = guilty[0].inner.step if guilty[0].inner else None
    how = f"each access is {abs(step):,} bytes from the previous one" if step else "accesses are scattered"
    if guilty[0].walks is None:
        return (
            f"{how}, nearly always in another page of 4 KiB",
            f"these are more pages than a TLB of {sites.costs.translations:,} entries covers",
        )
    before, after = (sum(walks[site.number][size] for site in guilty) for size in (0, 1))
    accesses = sum(site.accesses for site in guilty)
    share = f"{100 * before / accesses:.0f}% of them" if accesses else "they"
    return (
        f"{how}, and {share} need page walks",
        f"the simulated TLBs miss {before:,} times, or {after:,} times with huge pages",
    )


def _saved_walks(sites: Sites, guilty: Sequence[Site], walks: Mapping[int, Walks]) -> Estimate:
    """The nanoseconds that huge pages save: those of the page walks that they avoid, but of what is waited for, no more
    than the avoided share of the walks."""
    waits = [sum(one) for one in zip(*(site.waits for site in guilty))]
    before = sum(walks[site.number].base for site in guilty)
    after = sum(walks[site.number].huge for site in guilty)
    time = sum(sites.costs.walk_cost(site.access) * walks[site.number].base for site in guilty)
    return Estimate(*(min(time, one) * (1 - after / before) for one in waits))


def _estimated_walks(site: Site, group: ObjectGroup | None) -> Walks:
    base = page_walks(site, group)
    return Walks(base, -(-base * PAGE // HUGE_PAGE))


def page_walks(site: Site, group: ObjectGroup | None = None) -> int:
    """The number of page walks of a site. group: the data that it loads; without it, those of scattered accesses are
    not known and count as 0."""
    if site.page_walks:
        return site.page_walks
    pages, translations = _bytes_of(group) // PAGE if group else 0, site.costs.translations
    if site.is_scattered and pages > translations:
        return round(site.lines * (1 - translations / pages))
    return 0


def _bytes_of(group: ObjectGroup) -> int:
    """The bytes of a group; of heap blocks, the most that were allocated at a time."""
    return group.blocks.most_alive if group.blocks else group.identity.size
