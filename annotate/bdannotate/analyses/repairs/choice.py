# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of repairs: those of all kinds, the one that saves most time first.

Of repairs for the same instructions, the one that saves most time is chosen; the others are its alternatives. If no
repair saves enough, the answer is Remedy.NONE.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from ...model.frames import Chains, Nest
from ...model.graph import CallGraph
from ...model.objects import ObjectGroup
from ...model.profile import Function, Profile
from ...model.why import Depends
from ...model.work import Estimate
from ..code.ownership import Folders, is_runtime
from ..misses.loop_needs import Needs
from ..misses.loop_nests import Loops
from ..misses.site import Site
from ..misses.site_rows import SiteRows
from ..misses.sites import Known, Sites
from ..misses.waits import estimated_time
from ..types.object_details import Details
from .fuse import fuse_repairs, not_known
from .latency import huge_page_repairs, prefetch_repairs
from .layouts import colocate_repairs, layout_repairs, repeats
from .loops import loop_repairs
from .repair import Remedy, Repair, amount
from .sets import pad_repairs
from .working_set import working_set_repairs

# The minimum share of the estimated time that a repair must save, at most, to be reported.
_LEAST_SHARE = 0.02
# The maximum number of open places, at which misses cost much, but no repair is known.
_MOST_PLACES = 3
# The minimum share of the time that an open place costs.
_OPEN_PLACE = 0.03
# The minimum share that an open place costs at most, if instructions hide its misses by the estimate. At most the share
# _LITTLE of each line is used there.
_OPEN_AT_MOST = 0.1
_LITTLE = 0.25
# Sites with a smaller share of the time do not lead to repairs, but may take part in those of others.
_NOTABLE = 0.002
_MOST_SITES = 400
# Remedies that leave as many misses as there were.
_HIDING = (Remedy.PREFETCH, Remedy.HUGE_PAGES)
# A repair covers another one if its instructions have at least this share of the other one's time. It leaves most
# misses if more than this share of its lines remains.
_COVERED = 0.5


@dataclass(frozen=True, slots=True)
class Repairs:
    """The chosen repairs, the best first. alternatives: by the index in `list`. If no repair saves enough by the
    estimate, but some may save more, the first one is a doubtful Remedy.NONE."""

    list: tuple[Repair, ...]
    alternatives: Mapping[int, tuple[Repair, ...]]
    time: float  # estimated nanoseconds of the run

    @property
    def is_none(self) -> bool:
        """Whether no repair is known."""
        return all(repair.remedy is Remedy.NONE for repair in self.list)


def functions_with_callers(repairs: Repairs, graph: CallGraph) -> set[Function]:
    """The functions that repairs are about, and all that call them, directly or not."""
    found = {
        function for repair in repairs.list if repair.remedy is not Remedy.NONE
        for function in (repair.function, *(loop.function for loop in repair.loops))
    }
    work = list(found)
    while work:
        for caller in graph.callers.get(work.pop(), {}):
            if caller not in found:
                found.add(caller)
                work.append(caller)
    return found


def notable_sites(sites: Sites, time: float) -> list[Site]:
    """The sites with a notable share of `time`, the costliest first, without those of the C library and other runtimes,
    which are not to be changed. time: estimated nanoseconds of the run."""
    return [
        site for site in sites.loading
        if site.time >= _NOTABLE * time and not is_runtime(site.place.function.object)
    ][:_MOST_SITES]


def sites_of(
    rows: SiteRows, nests: Mapping[Function, Nest], chains: Chains, folders: Folders = Folders(),
    known: Known | None = None, work: Mapping[tuple[Function, int], Estimate] = {},
) -> Sites:
    """The sites of a run; see Sites for `known` and `work`."""
    return Sites(rows, Loops(rows.why, nests, chains), chains, folders, known, work)


def find_repairs(
    sites: Sites, profile: Profile, details: Sequence[Details], groups: Mapping[int, ObjectGroup],
    needs: Needs = not_known,
) -> Repairs:
    """The repairs of a run. details: those of the object groups that notable sites load. groups: these groups, by the
    number of the site. needs: returns whether the second of two loops needs what the first one accumulates."""
    time = estimated_time(sites, profile)
    notable = notable_sites(sites, time)
    candidates = list(chain(
        loop_repairs(sites, notable), fuse_repairs(sites, notable, profile, needs),
        pad_repairs(sites, notable), layout_repairs(sites, notable, details, groups),
        colocate_repairs(sites, notable, groups, details), prefetch_repairs(sites, notable, groups),
        huge_page_repairs(sites, notable, groups),
    ))
    found = _worth_it(candidates, time)
    found += _smaller_working_sets(sites, notable, groups, found, time)
    found.sort(key=_order, reverse=True)
    found = _after_those_that_save_misses(found, sites, time)
    chosen: list[Repair] = []
    alternatives: dict[int, list[Repair]] = {}
    for repair in found:
        better = next(
            (number for number, one in enumerate(chosen) if _covers(one, repair, sites)), None
        )
        if better is None:
            chosen.append(repair)
        else:
            alternatives.setdefault(better, []).append(repair)
    loading = sites.loading or sites.all
    if loading and not any(_is_sure(repair, time) for repair in chosen):
        none = _none(sites, loading, notable or loading, time)
        chosen.insert(0, replace(none, is_doubtful=bool(chosen)))
        alternatives = {number + 1: others for number, others in alternatives.items()}
    elif rest := _without_repair(notable, chosen, time):
        chosen.append(replace(
            _none(sites, rest, rest, time), sites=frozenset(site.number for site in rest)
        ))
    return Repairs(
        tuple(chosen), {number: tuple(others) for number, others in alternatives.items()}, time
    )


def _order(repair: Repair) -> tuple[float, float, int, float]:
    """The sort key of a repair; larger is better."""
    value, least, most = repair.saved
    return value, least, repair.before.lines - repair.after.lines, most


def _is_sure(repair: Repair, time: float) -> bool:
    """Whether it saves enough by the estimate, and not only at most."""
    return repair.saved.value >= _LEAST_SHARE * time


def _after_those_that_save_misses(found: Sequence[Repair], sites: Sites, time: float) -> list[Repair]:
    """The repairs, with those that only hide misses last if another one surely saves the misses of the same
    instructions. They become its alternatives, as it is not known how many lines a processor has in flight already."""
    saving = [repair for repair in found if repair.remedy not in _HIDING and _is_sure(repair, time)]
    late = [
        repair for repair in found
        if repair.remedy in _HIDING and any(_covers(one, repair, sites) for one in saving)
    ]
    return [repair for repair in found if repair not in late] + late


def _worth_it(candidates: Iterable[Repair], time: float) -> list[Repair]:
    """The repairs that may save enough, with `time` set."""
    return [
        replace(repair, time=time) for repair in candidates if time and repair.saved.most >= _LEAST_SHARE * time
    ]


def _smaller_working_sets(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup], found: Sequence[Repair], time: float
) -> list[Repair]:
    """The repairs by smaller working sets, without those that another repair covers, which says better how. Repairs
    that only hide misses do not count."""
    better = [repair for repair in found if repair.remedy not in _HIDING]
    return [
        repair for repair in _worth_it(working_set_repairs(sites, notable, groups), time)
        if not any(_covers(one, repair, sites) for one in better)
    ]


def _covers(one: Repair, other: Repair, sites: Sites) -> bool:
    """Whether `one` is about most of the time that `other` is about."""
    times = {number: site.time for number in other.sites if (site := sites.at(number))}
    shared = sum(time for number, time in times.items() if number in one.sites)
    return shared >= _COVERED * sum(times.values())


def _without_repair(notable: Sequence[Site], chosen: Sequence[Repair], time: float) -> list[Site]:
    """The sites that no chosen repair is about, if there is an open place among them. A repair that leaves most misses
    does not count where another change would save them."""
    covered, left = (
        frozenset[int]().union(*(repair.sites for repair in chosen if _leaves_most(repair) == leaves))
        for leaves in (False, True)
    )
    rest = [
        site for site in notable
        if site.number not in covered and (site.number not in left or _detour(site))
    ]
    return rest if _open_places(rest, time) else []


def _leaves_most(repair: Repair) -> bool:
    return repair.after.lines > _COVERED * repair.before.lines


def _none(sites: Sites, meant: Sequence[Site], notable: Sequence[Site], time: float) -> Repair:
    """The answer that no repair is known for the sites `meant`. Its cost is that of the misses that could be saved:
    neither those in order, nor first touches. notable: the sites whose places may be named."""
    now = amount(meant)
    total = max(now.lines, 1)
    first = sum(site.first_touches for site in meant)
    in_order = sum(site.lines for site in meant if site.is_in_order)
    used = sum(site.lines * site.used for site in meant) / total
    worst = max(notable, key=lambda site: (site.open_waiting, site.time))
    places = _open_places(notable, time)
    at_most = sum(site.open_at_most for site in meant) if any(place.is_at_most for place in places) else 0.0
    return Repair(
        Remedy.NONE, worst.place.function, worst.where[0],
        (worst.where[1],) if worst.where[1] else (), (), None, now, now, None,
        Estimate(),
        (
            f"{100 * in_order / total:.0f}% of the lines are loaded in order, {100 * first / total:.0f}% for the "
            f"first time, and {used:.0f} of the {sites.why.line} bytes of each are used",
            *(place.text for place in places),
        ),
        (), "", frozenset(), sites.why.line, time=time, cost=sum(site.open_waiting for site in meant),
        cost_at_most=at_most,
    )


class _OpenPlace(NamedTuple):
    text: str
    is_at_most: bool  # whether the cost is an upper bound, as instructions may hide it


def _open_places(notable: Sequence[Site], time: float) -> list[_OpenPlace]:
    """The places with costly misses for which no repair is known, and what these depend on; the costliest first. If
    instructions may hide the misses, but _detour knows what helps, the cost is an upper bound."""
    places: dict[tuple[str, int, str], list[Site]] = {}
    for site in notable:
        places.setdefault(_where(site), []).append(site)
    costs = {where: sum(site.open_waiting for site in here) for where, here in places.items()}
    most = {
        where: sum(site.open_at_most for site in here if _detour(site)) for where, here in places.items()
    }
    ranked = sorted(places, key=lambda where: (-costs[where], -most[where], where))
    found = [
        _OpenPlace(
            f"{_place(*where)} costs {100 * costs[where] / time:.0f}%: "
            + _nature(max(places[where], key=lambda site: site.open_waiting)), False,
        )
        if costs[where] >= _OPEN_PLACE * time else
        _OpenPlace(
            f"{_place(*where)} costs at most {100 * min(most[where] / time, 1.0):.0f}%: "
            + _detour(max(places[where], key=lambda site: site.open_at_most if _detour(site) else 0.0)), True,
        )
        for where in ranked if costs[where] >= _OPEN_PLACE * time > 0 or most[where] >= _OPEN_AT_MOST * time > 0
    ]
    return found[:_MOST_PLACES]


def _where(site: Site) -> tuple[str, int, str]:
    """The file, the line and the function of a site. The function is empty if the file is known."""
    file, line = site.where
    return file, line, site.place.function.label if file == "???" else ""


def _place(file: str, line: int, function: str) -> str:
    if function:
        return function
    name = os.path.basename(file)
    return f"{name}:{line}" if line else f"code of {name} without line numbers"


def _detour(site: Site) -> str:
    """What helps if scattered addresses were loaded just before and little of each line is used, as a clause; empty for
    other sites."""
    if site.inner is None or not site.is_scattered or not 0 < site.used <= _LITTLE * site.line:
        return ""
    used = f"{site.used:.0f} bytes of each line are used"
    if site.inner.order.depends is Depends.POINTER:
        return f"each address is a pointer that was loaded just before, and {used}: keep a copy of them beside it"
    if site.inner.order.depends is Depends.INDEX:
        return (
            f"each address comes from an index that was loaded just before, and {used}: number the elements in the "
            "order of the visits, or sort the indices"
        )
    return ""


def _nature(site: Site) -> str:
    """What the misses of a site depend on, and what may help, as a clause."""
    if site.has_numbers_as_links:
        return "each index into the table is read from the previous entry; a smaller table helps"
    if site.waits_for_itself:
        order = ", in an order that never repeats" if site.has_order and not repeats([site]) else ""
        return f"each address is read from the previous line{order}; fewer, fuller nodes help"
    if detour := _detour(site):
        return detour
    if not site.has_order:
        return "the order of the addresses is not known; less data between two visits helps"
    if site.is_strided and site.inner is not None and site.inner.step and site.late and site.late > (site.never or 0.0):
        return (
            f"steps of {abs(site.inner.step):,} bytes use {site.used:.0f} bytes of a line at a time, "
            f"{site.late:.0f} at other times; another loop order, or a transposed copy, walks along memory"
        )
    if site.is_scattered:
        return (
            "addresses are scattered, but not read from the previous line: prefetching may help, or smaller elements, "
            "or visits in memory order"
        )
    return "lines are needed again only after more data than the cache holds; less data between two visits helps"
