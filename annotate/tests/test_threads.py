# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads below who created them: how bdgrind's comments are read, and what becomes of the calls."""

from __future__ import annotations

import pytest
from bdannotate.analyses.code.report import entries_of, with_startup_folded
from bdannotate.model.check import check
from bdannotate.model.graph import build
from bdannotate.model.profile import Function, Profile, ThreadOrigin
from bdannotate.model.threads import below_creators
from bdannotate.reading.parser import Detail, parse_text

HEAD = "version: 1\nevents: Ir Dr\n"

# main calls make, which creates two threads that begin in start; these call work.
COSTS = """ob=app
fl=a.c
fn=main
1 10
cfn=make
calls=1 2
1 5 1
fn=make
2 5 1
fn=start
3 4
cfn=work
calls=2 4
3 80 20
fn=work
4 80 20
"""


def origin(threads: int, *names: str) -> str:
    lines = [f"# threads: {threads}", "# ob=app", "# fl=a.c", *(f"# fn={name}" for name in names)]
    return "\n" + "\n".join(lines) + "\n"


def function(name: str) -> Function:
    return Function("app", "a.c", name)


def read(*origins: str, costs: str = COSTS) -> Profile:
    return parse_text(HEAD + costs + "".join(origins) + "\ntotals: 99 21\n", Detail.FUNCTIONS)


def inclusive(profile: Profile) -> dict[str, int]:
    graph = build(profile)
    return {function.name: costs.inclusive[0] for function, costs in graph.functions.items()}


def test_comments_about_threads_are_read() -> None:
    profile = read(origin(2, "start", "main", "make"), "# threads: of a comment\n# fn=other\n")
    way = (function("main"), function("make"))
    assert profile.origins == (ThreadOrigin(function("start"), way, 2),)


def test_compressed_names_in_comments() -> None:
    costs = "ob=(1) app\nfl=(1) a.c\nfn=(1) main\n1 99 21\n"
    text = "\n# threads: 1\n# ob=(1)\n# fl=(1)\n# fn=(2) start\n# fl=(2) b.c\n# fn=(1)\n"
    (found,) = read(text, costs=costs).origins
    assert found.root == function("start")
    assert found.creators == (Function("app", "b.c", "main"),)


@pytest.mark.parametrize("text", ["# threads: 1\n", origin(1, "start"), "# threads: -1\n# fn=f\n"])
def test_comments_that_say_too_little_are_comments(text: str) -> None:
    assert read(text).origins == ()


def test_a_thread_is_a_callee_of_who_created_it() -> None:
    apart = read(origin(2, "start", "main", "make"))
    assert inclusive(apart) == {"main": 15, "make": 5, "start": 84, "work": 80}
    below = below_creators(apart)
    assert inclusive(below) == {"main": 99, "make": 89, "start": 84, "work": 80}
    graph = build(below)
    assert graph.callers[function("start")][function("make")] == (2, (84, 20))
    assert graph.callers[function("make")][function("main")] == (1, (89, 21))
    assert below.totals() == apart.totals() and below.lines == apart.lines
    assert check(below).violation is None and check(below).roots == (function("main"),)


def test_what_is_folded_above_main_is_not_counted_twice() -> None:
    apart = read(origin(2, "start", "main", "make"))
    for profile, cost in ((apart, (84, 20)), (below_creators(apart), (0, 0))):
        graph = build(profile)
        folded, *_ = with_startup_folded(entries_of(graph), graph, frozenset({function("start")}))
        assert folded.inclusive == cost


def test_threads_that_were_created_in_several_ways() -> None:
    """They are below what the ways have in common."""
    below = below_creators(read(origin(1, "start", "main", "make"), origin(1, "start", "main", "f")))
    assert inclusive(below) == {"main": 99, "make": 5, "start": 84, "work": 80}
    apart = read(origin(1, "start", "main"), origin(1, "start", "other"))
    assert below_creators(apart).calls == apart.calls


def test_threads_that_threads_create() -> None:
    """Where the root is the same, they are below it already."""
    costs = COSTS + "fn=inner\n5 7 7\n"
    outer = origin(1, "start", "main", "make")
    expected = {"main": 106, "make": 96, "start": 91, "work": 87, "inner": 7}
    for origins in ([outer, origin(1, "inner", "start", "work")],
                    [origin(1, "inner", "start", "work"), outer]):
        assert inclusive(below_creators(read(*origins, costs=costs))) == expected
    same = [outer, origin(3, "start", "start", "work"), origin(3, "start", "start")]
    assert inclusive(below_creators(read(*same)))["main"] == 99


def test_a_root_among_its_creators() -> None:
    """As clone is: the creator's call of it returns, the thread begins behind it."""
    below = below_creators(read(origin(2, "start", "main", "make", "start")))
    assert inclusive(below)["make"] == 89


def test_roots_without_costs_and_circles_are_left_alone() -> None:
    lost = read(origin(1, "lost", "main"), origin(1, "main", "start"), origin(1, "start", "main"))
    assert below_creators(lost).totals() == lost.totals()
