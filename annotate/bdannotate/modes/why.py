# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded: the files beside the profiles, and what reports need of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..analyses.code.report import Report
from ..analyses.data.object_labels import label
from ..analyses.data.objects import GroupRow, list_objects
from ..analyses.misses.loop_needs import needs_of
from ..analyses.misses.loop_nests import nests_of
from ..analyses.misses.loop_work import loop_bodies, work_of
from ..analyses.misses.site import Site
from ..analyses.misses.site_rows import SiteRows
from ..analyses.misses.sites import Known, Sites
from ..analyses.misses.waits import estimated_time, with_waits
from ..analyses.repairs.choice import Repairs, find_repairs, functions_with_callers, notable_sites, sites_of
from ..html.page_why import PageWhy
from ..model.errors import UserError
from ..model.frames import Nest, frames_by_function
from ..model.machine import Machine
from ..model.objects import ObjectGroup, Objects
from ..model.profile import Function, Profile
from ..model.separate import FrameCode, Separation, code_of_frames
from ..model.why import Scope, ScopeKind, Why
from ..model.work import Estimate
from ..reading.load import load_why
from ..reading.loop_cycles import read_loop_cycles
from ..reading.machine import reference_machine
from ..reading.why import why_path
from .inputs import Inputs
from .objects import with_types


def why_beside(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Why:
    return load_why(paths, profile, inputs.renaming)


def why_if_readable(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Why | None:
    """The why files beside the profiles as one; None unless all profiles have one. If one cannot be read, or is from
    another run, it is None with a note."""
    if any(why_path(path) is None for path in paths):
        return None
    try:
        return why_beside(paths, profile, inputs)
    except UserError as error:
        inputs.say_notes([f"reasons for loads are left out: {error}"])
        return None


def why_of_page(
    paths: Sequence[str], made: Report, objects: Objects | None, inputs: Inputs
) -> PageWhy | None:
    """What a page shows about why lines were loaded; None if it is not known. made: the report on the sum of the
    profiles."""
    why = why_if_readable(paths, made.profile, inputs)
    if why is None:
        return None
    sites = sites_of_run(why, made.profile, inputs)
    repairs = repairs_of(sites, made.profile, objects, inputs) if sites else None
    costs = with_what_misses_cost(made.profile, sites, inputs)
    functions = functions_with_callers(repairs, made.graph) if repairs else set()
    # Sites are made of the rest.
    why = replace(why, reuses=None, orders=None, stays=None)
    return PageWhy(
        why, repairs, frozenset(functions), _loops(why, made.profile, inputs), objects, made.profile.events,
        tuple(inputs.options.include), costs if sites else None,
    )


# The functions whose loops have curves on a page: those that miss most, and their minimum share of all misses.
_MOST_WITH_LOOPS = 25
_LEAST_WITH_LOOPS = 0.005


def _loops(why: Why, profile: Profile, inputs: Inputs) -> Mapping[Function, FrameCode]:
    if not profile.instructions or not profile.jumps:
        return {}
    misses: Counter[Function] = Counter()
    for row in why.distances:
        function = why.function_of(row.place)
        if function is not None:
            misses[function] += row.misses
    least = _LEAST_WITH_LOOPS * why.misses()
    functions = [
        function for function, count in misses.most_common(_MOST_WITH_LOOPS) if count >= least
    ]
    chains = inputs.inlined_chains(profile, functions)
    return code_of_frames(frames_by_function(profile, functions, chains), Separation(True, False))


# The maximum number of groups of which types are looked for, which takes time: those of the costliest instructions.
_MOST_GROUPS = 12


def sites_of_run(why: Why, profile: Profile, inputs: Inputs) -> Sites | None:
    """The sites of a run; None if the file lacks sections. Then a note says which run would have them, unless the user
    only asked for curves."""
    if why.orders is None or why.reuses is None:
        if inputs.options.curve is None:
            inputs.say_notes([
                f"{why.parts[0].source} has only causes and distances of misses; a run with --why=yes records what "
                "to change"
            ])
        return None
    machine = inputs.machine or reference_machine()
    rows = SiteRows(why, profile, machine)
    first = sites_of(rows, {}, {})
    costly = notable_sites(first, estimated_time(first, profile))
    loops = [scope.place for scope in _scopes_of(why, costly) if scope.kind is ScopeKind.LOOP]
    places = [*loops, *(site.place for site in costly)]
    functions = frozenset(place.function for place in places)
    if profile.instructions:
        chains = inputs.inlined_chains(profile, functions, with_starts=True)
    else:
        chains = inputs.chains_of(places)
    nests = nests_of(profile, functions, chains)
    known = Known(first, _of_others(first, functions))
    return sites_of(rows, nests, chains, inputs.folders, known, _work(profile, rows, nests, machine))


# The minimum share of the program's instructions of functions that are searched for loops.
_BUSY = 0.01


def _work(
    profile: Profile, rows: SiteRows, nests: Mapping[Function, Nest], machine: Machine
) -> dict[tuple[Function, int], Estimate]:
    """The times of instructions in loops, for those loops for which they are known."""
    least = _BUSY * sum(rows.instructions.values())
    others = frozenset(
        function for function, count in rows.instructions.items() if count >= least and function not in nests
    )
    bodies = loop_bodies(profile, {**nests_of(profile, others, {}), **nests})
    return work_of(bodies, read_loop_cycles([one.body for one in bodies], machine), machine)


def with_what_misses_cost(profile: Profile, sites: Sites | None, inputs: Inputs) -> Profile:
    """The profile with what misses cost as further events; unchanged if the options set the costs of misses, or if its
    functions are not those of the sites."""
    is_other = inputs.options.cycle_costs or inputs.separation
    if sites is None or is_other:
        return profile
    return with_waits(profile, sites, inputs.options.instructions or inputs.options.structure)


def with_times(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Profile:
    """The profile with estimated times as further events."""
    sites = sites_of_run(why_beside(paths, profile, inputs), profile, inputs)
    return with_what_misses_cost(profile, sites, inputs)


def repairs_of(sites: Sites, profile: Profile, objects: Objects | None, inputs: Inputs) -> Repairs:
    """The repairs of a run. objects: the data beside the profile; None: not known."""
    costly = notable_sites(sites, estimated_time(sites, profile))
    groups = _groups(costly, objects) if objects else {}
    entries = _entries(costly, groups, objects) if objects else []
    details = with_types(objects, entries, profile, inputs) if objects and entries else []
    needs = needs_of(sites, profile, inputs.options.include)
    return find_repairs(sites, profile, details, groups, needs)


def _of_others(sites: Sites, functions: frozenset[Function]) -> dict[int, Site]:
    """The sites that are neither in these functions nor in loops of theirs, by number."""
    scopes = {number for number, scope in enumerate(sites.why.scopes) if scope.place.function in functions}
    places, within_scopes = sites.why.orders.columns[:2] if sites.why.orders else ((), ())
    within = {place for place, scope in zip(places, within_scopes) if scope in scopes}
    within.update(reuse.place for reuse in sites.why.reuses or () if reuse.scope in scopes)
    return {
        site.number: site for site in sites.loading
        if site.number not in within and site.place.function not in functions
    }


def _scopes_of(why: Why, sites: Sequence[Site]) -> list[Scope]:
    numbers = {level.order.scope for site in sites for level in site.levels}
    numbers.update(row.scope for site in sites for row in site.reuses)
    return [why.scopes[number] for number in sorted(numbers)]


def _groups(sites: Sequence[Site], objects: Objects) -> dict[int, ObjectGroup]:
    """The data that a site's source line loads most of, by the number of the site."""
    event = next((name for name in ("EvLineD1", "EvLine1") if name in objects.events), None)
    if event is None:
        return {}
    number = objects.events.index(event)
    most: dict[tuple[Function, str, int], tuple[int, int]] = {}
    for row in objects.rows:
        place = row.function, row.file, row.line
        most[place] = max(most.get(place, (0, 0)), (row.cost[number], row.group))
    found: dict[int, ObjectGroup] = {}
    for site in sites:
        lines, group = most.get((site.place.function, site.place.file, site.place.line), (0, 0))
        if lines:
            found[site.number] = objects.groups[group]
    return found


def _entries(sites: Sequence[Site], groups: dict[int, ObjectGroup], objects: Objects) -> list[GroupRow]:
    wanted: dict[str, None] = {}
    for site in sites:
        if site.number in groups:
            wanted.setdefault(label(groups[site.number]))
    by_label = {label(entry.group): entry for entry in list_objects(objects, 0, None).entries}
    return [by_label[name] for name in list(wanted)[:_MOST_GROUPS] if name in by_label]
