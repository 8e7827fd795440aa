# SPDX-License-Identifier: GPL-2.0-or-later
"""Inclusive costs and cycles, on graphs small enough to work out by hand."""

from hypothesis import given, strategies as st

from bdannotate.model.components import strongly_connected
from bdannotate.model.graph import build
from bdannotate.model.profile import Call, Function
from bdannotate.reading.parser import parse_text

HEAD = "events: Ir\nfl=a.c\n"


def function(name):
    return Function("", "a.c", name)


def graph_of(body):
    return build(parse_text(HEAD + body))


def calls(name, count, cost):
    return f"cfn={name}\ncalls={count} 1\n1 {cost}\n"


def test_inclusive_is_self_and_calls():
    graph = graph_of(
        "fn=main\n1 10\n" + calls("f", 2, 30)
        + "fn=f\n1 20\n" + calls("g", 1, 10)
        + "fn=g\n1 10\n"
    )
    costs = {f.name: (c.self_cost, c.inclusive, c.calls) for f, c in graph.functions.items()}
    assert costs == {"main": ((10,), (40,), 0), "f": ((20,), (30,), 2), "g": ((10,), (10,), 1)}
    assert graph.cycles == ()


def test_a_member_that_is_never_open_twice_has_its_exact_cost():
    # main calls resolve, that allocate, that hook, and that resolve once more, which then costs 6.
    # Only resolve is open twice: its calls cost 46 of the 40 that there are.
    graph = graph_of(
        "fn=main\n1 1\n" + calls("resolve", 1, 40)
        + "fn=resolve\n1 16\n" + calls("allocate", 1, 30)
        + "fn=allocate\n1 20\n" + calls("hook", 1, 10)
        + "fn=hook\n1 4\n" + calls("resolve", 1, 6)
    )
    assert [len(cycle.members) for cycle in graph.cycles] == [3]
    costs = {f.name: (c.inclusive, c.own_part) for f, c in graph.functions.items()}
    assert costs == {
        "main": ((41,), (41,)), "resolve": ((40,), (16,)), "allocate": ((30,), (20,)),
        "hook": ((10,), (4,)),
    }


def test_direct_recursion_is_counted_once():
    # main calls f, which calls itself 9 times: the arc f -> f costs 9 + 8 + ... + 1.
    graph = graph_of("fn=main\n1 5\n" + calls("f", 1, 10) + "fn=f\n1 10\n" + calls("f", 9, 45))
    costs = graph.functions[function("f")]
    assert (costs.inclusive, costs.recursive, costs.cycle, costs.calls) == ((10,), True, 0, 10)
    assert graph.functions[function("main")].inclusive == (15,)


def test_mutual_recursion_is_a_cycle_that_never_exceeds_the_total():
    # even and odd call each other 50 deep; odd also calls a leaf.
    graph = graph_of(
        "fn=main\n1 1\n" + calls("even", 1, 150)
        + "fn=even\n1 50\n" + calls("odd", 25, 1800)
        + "fn=odd\n1 50\n" + calls("even", 25, 1700) + calls("leaf", 25, 50)
        + "fn=leaf\n1 50\n"
    )
    (cycle,) = graph.cycles
    assert [member.name for member in cycle.members] == ["odd", "even"]
    assert (cycle.self_cost, cycle.inclusive, cycle.calls) == ((100,), (150,), 1)
    # All their calls cost more than the cycle, since each level counts the cost of those below.
    assert graph.functions[function("odd")].inclusive == (150,)
    assert graph.functions[function("even")].inclusive == (150,)
    assert graph.functions[function("odd")].own_part == (100,)
    assert graph.functions[function("even")].own_part == (50,)
    assert graph.functions[function("main")].inclusive == (151,)
    assert graph.within_cycle(function("odd"), function("even"))
    assert not graph.within_cycle(function("main"), function("even"))


def test_cycles_are_numbered_by_cost_whatever_their_order():
    small = "fn=a\n1 1\n" + calls("b", 1, 1) + "fn=b\n1 1\n" + calls("a", 1, 1)
    large = "fn=x\n1 9\n" + calls("y", 1, 1) + "fn=y\n1 9\n" + calls("x", 1, 1)
    for body in (small + large, large + small):
        assert [cycle.members[0].name for cycle in graph_of(body).cycles] == ["x", "a"]


def test_a_chain_deeper_than_pythons_stack():
    depth = 20_000
    body = "".join(f"fn=f{i}\n1 1\n" + calls(f"f{i + 1}", 1, depth - i) for i in range(depth))
    graph = graph_of(body + f"fn=f{depth}\n1 1\n")
    assert graph.functions[function("f0")].inclusive == (depth + 1,)


edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@given(edges)
def test_groups_are_what_reaches_each_other(pairs):
    nodes = [function(str(n)) for n in range(8)]
    callees = {}
    for caller, callee in pairs:
        callees.setdefault(nodes[caller], {})[nodes[callee]] = Call(1, (1,))
    reach = {n: {n} for n in nodes}
    for _ in nodes:
        for n in nodes:
            reach[n] |= {c for m in reach[n] for c in callees.get(m, ())}
    expected = {frozenset(m for m in nodes if m in reach[n] and n in reach[m]) for n in nodes}
    assert {frozenset(group) for group in strongly_connected(nodes, callees)} == expected
