# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold for every profile, tried on random ones whose truth is known (traces.py)."""

from dataclasses import replace

from hypothesis import given, strategies as st

from bdannotate.analyses.comparison.diff import match_by_name
from bdannotate.model.check import check
from bdannotate.model.graph import build
from bdannotate.model.merge import add, map_functions, project, reorder, subtract
from bdannotate.model.profile import Function, sum_rows
from bdannotate.reading.parser import Detail, parse_text

from traces import Trace

seeds = st.integers(0, 2**32)


def normal(profile):
    """What a profile says, without what costs nothing and without who said it."""
    def rows(lines):
        return {line: row for line, row in lines.items() if any(row)}

    lines = {place: rows(lines) for place, lines in profile.lines.items() if rows(lines)}
    calls = {site: call for site, call in profile.calls.items() if call.calls or any(call.cost)}
    return profile.events, lines, calls


def parsed(trace, seed=0, parts=1):
    return parse_text(trace.text(seed, parts))


@given(seeds, seeds)
def test_what_is_written_is_read(seed, spelling):
    trace = Trace(seed)
    profile = parsed(trace, spelling)
    costs = {
        (tuple(place.function), place.file, line): list(row)
        for place, rows in profile.lines.items() for line, row in rows.items()
    }
    assert costs == trace.self_costs
    arcs = {
        (tuple(site.caller), tuple(site.callee), site.file, site.line): [call.calls, [*call.cost]]
        for site, call in profile.calls.items()
    }
    assert arcs == trace.arcs


@given(seeds, seeds, st.integers(1, 4))
def test_parts_add_up_to_the_whole(seed, spelling, parts):
    trace = Trace(seed)
    assert normal(parsed(trace, spelling, parts)) == normal(parsed(trace))


@given(seeds, seeds)
def test_less_detail_has_the_same_sums(seed, spelling):
    text = Trace(seed).text(spelling)
    fine, coarse = (parse_text(text, detail) for detail in (Detail.LINES, Detail.FUNCTIONS))
    assert fine.totals() == coarse.totals()
    for place, rows in fine.lines.items():
        assert coarse.lines[place] == {0: sum_rows(rows.values(), 2)}


@given(seeds)
def test_inclusive_costs_are_what_happened_meanwhile(seed):
    """Exactly so outside of cycles, and for a cycle as a whole; of a member, it is between its own
    part and what the report says, which is no more than the cycle's."""
    trace = Trace(seed)
    profile = parsed(trace)
    graph = build(profile)
    for function, costs in graph.functions.items():
        truth = tuple(trace.inclusive.get(tuple(function), (0, 0)))
        if not costs.cycle:
            assert costs.inclusive == truth
        for own, true, said in zip(costs.own_part, truth, costs.inclusive):
            assert own <= true <= said
    for cycle in graph.cycles:
        for member in cycle.members:
            said = graph.functions[member].inclusive
            assert all(count <= most for count, most in zip(said, cycle.inclusive))
        assert cycle.inclusive == trace.inclusive_of_group(frozenset(map(tuple, cycle.members)))
    for costs in (*graph.functions.values(), *graph.cycles):
        assert all(count <= total for count, total in zip(costs.inclusive, trace.totals))


@given(seeds)
def test_a_profile_of_what_happened_passes_the_check(seed):
    result = check(parsed(Trace(seed)))
    assert result.violation is None


@given(seeds, seeds, st.sampled_from(["Ir", "X"]), st.integers(1, 100))
def test_a_changed_call_does_not(seed, choice, event, change):
    profile = parsed(Trace(seed))
    graph = build(profile)
    sites = sorted(
        site for site in profile.calls if not graph.within_cycle(site.caller, site.callee)
    )
    if not sites:
        return
    site = sites[choice % len(sites)]
    call = profile.calls[site]
    more = (change, 0) if event == "Ir" else (0, change)
    cost = tuple(map(sum, zip(call.cost, more)))
    calls = {**profile.calls, site: call._replace(cost=cost)}
    assert check(replace(profile, calls=calls)).violation is not None


@given(seeds, seeds)
def test_sums_and_differences(seed, other):
    a, b = parsed(Trace(seed)), parsed(Trace(other))
    assert normal(subtract(add(a, b), b)) == normal(a)
    assert normal(add(subtract(a, b), b)) == normal(a)
    assert normal(add(a, b)) == normal(add(b, a))
    assert normal(subtract(a, a)) == (a.events, {}, {})


@given(seeds, seeds, seeds)
def test_sums_do_not_depend_on_their_order(one, two, three):
    a, b, c = (parsed(Trace(seed)) for seed in (one, two, three))
    assert normal(add(add(a, b), c)) == normal(add(a, add(b, c)))


@given(seeds)
def test_other_orders_of_events_are_the_same_profile(seed):
    a = parsed(Trace(seed))
    turned = project(a, ("X", "Ir"))
    assert turned.totals() == a.totals()[::-1]
    assert normal(reorder(turned, a.events)) == normal(a)
    assert normal(add(a, turned)) == normal(add(a, a))


@given(seeds)
def test_another_folder_makes_no_difference(seed):
    a = parsed(Trace(seed))
    moved = map_functions(a, lambda f: Function(f"new/{f.object}", f.file, f.name))
    matched, count, _ = match_by_name(moved, a)
    assert normal(matched) == normal(a)
    assert count == len(build(a).functions)
