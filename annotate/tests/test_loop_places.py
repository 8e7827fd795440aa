# SPDX-License-Identifier: GPL-2.0-or-later
"""Where loops are: which one a scope is, and the line of an instruction in its loop, worked out by hand."""

from dataclasses import replace

import pytest
from bdannotate.analyses.misses.loop_nests import Loops, nests_of
from bdannotate.analyses.misses.miss_costs import Access
from bdannotate.analyses.misses.site import Change
from bdannotate.analyses.misses.site_rows import SiteRows
from bdannotate.analyses.repairs.choice import sites_of
from bdannotate.analyses.repairs.repair import code_lines
from bdannotate.model.frames import Loop, Nest, Position
from bdannotate.model.profile import Function
from bdannotate.model.rows import Rows
from bdannotate.model.why import NO_SCOPE, Depends, Distance, Instruction, Order, Scope, ScopeKind, Why
from bdannotate.reading.machine import reference_machine
from bdannotate.reading.parser import Detail, parse_text

WORK = Function("/bin/p", "/src/work.c", "work")
OTHER = Function("/bin/p", "/src/work.c", "other")
OWN, LIBRARY = "/src/help.h", "/usr/include/c++/12/bits/stl_vector.h"
WORK_AT, HELP_AT = Position("work", "/src/work.c", 31), Position("help", OWN, 71)
DEEP_AT = Position("deep", OWN, 92)

# Two loops, one after the other, and an instruction that repeats itself. The code that leads to them lies behind them,
# and jumps back to them.
ASIDE = """version: 1
creator: bdgrind
positions: instr line
events: Ir
ob=/bin/p
fl=/src/work.c
fn=work
0x10 5 1
jump=1 0x80 19
0x10 5
0x20 6 1
0x30 7 10
0x34 7 10
jcnd=9/10 0x30 7
0x34 7
0x40 8 8
jump=7 0x40 8
0x40 8
0x50 9 10
0x54 9 10
jcnd=9/10 0x50 9
0x54 9
0x60 10 1
0x80 19 1
jump=1 0x20 6
0x80 19
"""


def why(places=(), scopes=(), orders=()):
    distances = Rows.of(Distance, ((number, 1, 10 * number, 0) for number in range(1, len(places) + 1)))
    return Why(
        (), 64, 64, 1024, 16, 1, 1, (100, 100), (None, *places), (NO_SCOPE, *scopes), distances, (),
        Rows.of(Order, orders), (),
    )


def loop_at(address, function=WORK, kind=ScopeKind.LOOP):
    return Scope(kind, Instruction(function, "/src/work.c", address // 16, address))


@pytest.mark.parametrize(("scope", "line"), [
    (loop_at(0x20), None),  # no loop, though control jumps back there
    (loop_at(0x30), 7),
    (loop_at(0x54), 9),
    (loop_at(0x40), 4),  # known by its own line, which loop_at makes up
    (loop_at(0x30, kind=ScopeKind.CALL), None),
    (loop_at(0x90), 9),  # not executed as far as is known: by its own line
    (loop_at(0x30, OTHER), 3),  # a function without a flow
])
def test_a_scope_is_the_loop_that_its_address_is_in(scope, line):
    nests = nests_of(parse_text(ASIDE, Detail.INSTRUCTIONS), frozenset({WORK}), {})
    found = Loops(why(scopes=[scope]), nests, {}).of(1)
    assert (found.line if found else None) == line


def site(chain, loop, function=WORK):
    """The site of an instruction with this inlining chain, whose accesses are in a loop of `work`."""
    at = chain[-1]
    place = Instruction(function, at.file, at.line, 0x30)
    order = Order(1, 1, 0, 100, 0, 0, 0, 99, 0, 0, 0, 1, ((8, 99),), Depends.ARITHMETIC, 0, 100)
    found = why([place], [loop_at(0x20)], [order] if loop else [])
    nests = {WORK: Nest((loop,), {0x20: 0, 0x30: 0})} if loop else {}
    chains = {WORK.object: {0x30: tuple(chain)}}
    profile = parse_text(ASIDE, Detail.INSTRUCTIONS)
    (made,) = sites_of(SiteRows(found, profile, reference_machine()), nests, chains).all
    return made


def loop(file, line, *calls):
    return Loop(file, line, tuple((call.file, call.line) for call in calls), 0x20, 1, 10, None)


OF_WORK, OF_HELP = loop("/src/work.c", 30), loop(OWN, 70, WORK_AT)


@pytest.mark.parametrize(("chain", "around", "line"), [
    ([WORK_AT], OF_WORK, ("/src/work.c", 31)),
    ([WORK_AT, HELP_AT], OF_WORK, ("/src/work.c", 31)),  # where the loop calls the helper
    ([WORK_AT, HELP_AT, DEEP_AT], OF_WORK, ("/src/work.c", 31)),
    ([WORK_AT, HELP_AT], OF_HELP, (OWN, 71)),
    ([WORK_AT, HELP_AT, DEEP_AT], OF_HELP, (OWN, 71)),
    ([WORK_AT._replace(line=35), HELP_AT, DEEP_AT], OF_HELP, (OWN, 92)),  # from another call of the helper
    ([WORK_AT], OF_HELP, ("/src/work.c", 31)),  # the compiler has moved it into the helper's loop
    ([WORK_AT, HELP_AT], None, (OWN, 71)),
    # A library's loop runs its own helper: the place is where the program calls the library.
    ([WORK_AT, HELP_AT._replace(file=LIBRARY), DEEP_AT._replace(file=LIBRARY)], loop(LIBRARY, 70, WORK_AT),
     ("/src/work.c", 31)),
])
def test_the_line_in_the_loop_is_that_of_the_helper_s_call(chain, around, line):
    found = site(chain, around)
    assert found.loop_line == line
    assert code_lines([found], in_loop=True) == (line[0], (line[1],))


def test_the_loop_of_a_caller_has_no_line_in_the_callee():
    assert site([WORK_AT._replace(function="other"), HELP_AT], OF_WORK, OTHER).loop_line == (OWN, 71)


def test_lines_in_loops_are_of_the_file_that_takes_most_time_the_costliest_first():
    """The helper's lines are one line of the loop. Ten lines are missed for each number of a place."""
    places = [Instruction(WORK, *one) for one in (
        ("/src/work.c", 33, 0x10), (OWN, 71, 0x30), ("/src/work.c", 34, 0x40), (OWN, 72, 0x50),
    )]
    chains = {WORK.object: {0x30: (WORK_AT, HELP_AT), 0x50: (WORK_AT, HELP_AT._replace(line=72))}}
    orders = [
        Order(number, 1, 0, 100, 0, 0, 0, 0, 0, 0, 99, 1, (), Depends.ARITHMETIC, 0, 100) for number in range(1, 5)
    ]
    found = why(places, [loop_at(0x20)], orders)
    nests = {WORK: Nest((OF_WORK,), dict.fromkeys((0x10, 0x20, 0x30, 0x40, 0x50), 0))}
    rows = SiteRows(found, parse_text(ASIDE, Detail.INSTRUCTIONS), reference_machine())
    sites = sites_of(rows, nests, chains).all
    assert code_lines(sites, in_loop=True) == ("/src/work.c", (31, 34, 33))
    assert code_lines(sites) == (OWN, (72, 71))


def test_what_loads_nothing_is_a_site_when_it_is_asked_for():
    """The instruction at 0x54 is in a chain, and others may wait for it."""
    places = [Instruction(WORK, "/src/work.c", 33, address) for address in (0x30, 0x40, 0x54, 0x60)]
    orders = [
        Order(number, 1, 0, 100, 0, 0, 0, 99, 0, 0, 0, 1, ((8, 99),), depends, 0, 100)
        for number, depends in ((1, Depends.ARITHMETIC), (2, Depends.ARITHMETIC), (3, Depends.CHAIN))
    ]
    found = replace(why(places, [loop_at(0x20)], orders), distances=Rows.of(Distance, [(2, 1, 10, 0)]))
    rows = SiteRows(found, parse_text(ASIDE, Detail.INSTRUCTIONS), reference_machine())
    sites = sites_of(rows, {WORK: Nest((OF_WORK,), dict.fromkeys((0x20, 0x30, 0x40, 0x54), 0))}, {})
    assert [one.number for one in sites.loading] == [2, 3]
    assert sites.at(4) is None and sites.at(2) is sites.loading[0]
    assert [(one.number, one.lines) for one in sites.all] == [(2, 10), (1, 0), (3, 0)]
    assert sites.at(1) is sites.all[1] and sites.at(1).inner.step == 8


def test_a_repair_may_be_about_what_loads_nothing_now():
    """If it loads lines then, that takes time, whether its site was made before or not."""
    places = [Instruction(WORK, "/src/work.c", 33, address) for address in (0x30, 0x40)]
    orders = [
        Order(number, 1, 0, 100, 0, 0, 0, 99, 0, 0, 0, 1, ((8, 99),), Depends.ARITHMETIC, 0, 100) for number in (1, 2)
    ]
    found = replace(why(places, [loop_at(0x20)], orders), distances=Rows.of(Distance, [(2, 1, 10_000, 0)]))
    rows = SiteRows(found, parse_text(ASIDE, Detail.INSTRUCTIONS), reference_machine())
    nests = {WORK: Nest((OF_WORK,), dict.fromkeys((0x20, 0x30, 0x40), 0))}
    gone = {2: Change(0, 0, Access.IN_ORDER)}
    changes = {**gone, 1: Change(5_000, 0, Access.IN_ORDER)}
    sites, others = sites_of(rows, nests, {}), sites_of(rows, nests, {})
    assert 0 < sites.saved(changes).most < sites.saved(gone).most
    assert len(others.all) == 2 and others.saved(changes) == sites.saved(changes)
