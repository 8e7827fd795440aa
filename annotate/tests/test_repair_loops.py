# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops that are exchanged, where a round of the outer one is longer than the pieces whose order is known."""

from collections import Counter
from types import SimpleNamespace

import pytest
import why_kernels
from bdannotate.analyses.misses.loop_nests import LoopPlace
from bdannotate.analyses.misses.miss_costs import MissCosts
from bdannotate.analyses.misses.site import Level, Site, constant_step, step_of_some
from bdannotate.analyses.misses.sites import _common_remaining_step, _remaining_step, _without_step
from bdannotate.analyses.repairs.loops import _exchanged
from bdannotate.model.why import Depends, Order
from bdannotate.reading.machine import reference_machine
from why_machine import Machine

COLUMNS, ROWS = 40, 60
COSTS = MissCosts(reference_machine())
OUTER = LoopPlace(("work", ("columns",)), 1, COLUMNS, 1)
INNER = LoopPlace(("work", ("columns", "rows")), 2, COLUMNS * ROWS, COLUMNS)
NEIGHBOURS = LoopPlace(("work", ("columns", "rows", "neighbours")), 3, 3 * COLUMNS * ROWS, COLUMNS * ROWS)


def counted(repaired):
    """What each line of the source misses, and what of that the outer loop brings back."""
    machine = Machine(sets=8, ways=4, ll_lines=1024)
    why_kernels.window(machine, repaired, COLUMNS, ROWS)
    missed, back = Counter(), Counter()
    for ((_, line), _, what), count in machine.distances.items():
        missed[line] += count * (what == "misses")
    for ((_, line), _, _, scope, _), (count, *_) in machine.reuses.items():
        back[line] += count * (scope is not None and scope[0] == "loop" and scope[2] == 31)
    return missed, back


def level(loop, step, seen=100):
    return Level(loop, step, order(seen, same=seen))


def unseen(loop):
    return level(loop, None, seen=0)


def site(number, lines, back, *levels):
    reuses = [SimpleNamespace(scope=1, misses=back, last_level=0)]
    return Site(
        number, None, ("/src/prog.c", number), 3 * COLUMNS * ROWS, lines, 0, 0, 64, (), reuses, levels, 8.0, 8.0, 0.0,
        COSTS,
    )


def order(accesses, same=0, far=0, strides=()):
    """near: steps of less than a line; each stride is one of these or a forward one."""
    near = sum(times for step, times in strides if abs(step) < 64)
    forward = sum(times for step, times in strides if abs(step) >= 64)
    return SimpleNamespace(
        accesses=accesses, same=same, near=near, forward=forward, backward=0, far=far, strides=strides,
        depends=Depends.UNKNOWN,
    )


@pytest.mark.parametrize(("seen", "step"), [
    (order(100, strides=((8, 99),)), 8),
    (order(100, same=90, far=9), 0),
    (order(100, far=99), None),
    # 56 small steps bring 7 lines, the others 40 or 4.
    (order(97, strides=((8, 56), (1600, 40))), 1600),
    (order(61, strides=((8, 56), (1600, 4))), 8),
    # Anywhere else is a line, too: 40 of 60 lines are no step's.
    (order(101, strides=((1600, 20), (8, 40)), far=40), None),
])
def test_the_step_is_the_one_that_most_lines_come_by(seen, step):
    assert constant_step(seen, 64) == step


# A loop with steps of 1,600 bytes, in which a branch leads to the access in some of the rounds.
@pytest.mark.parametrize(("strides", "far", "depends", "step"), [
    (((1600, 20), (3200, 16), (4800, 13)), 49, Depends.ARITHMETIC, 1600),
    (((-3200, 16), (-1600, 20)), 49, Depends.ARITHMETIC, -1600),
    (((1600, 10), (3200, 8)), 70, Depends.ARITHMETIC, None),  # too few
    (((1600, 20), (-3200, 20)), 40, Depends.ARITHMETIC, None),  # to and fro
    (((1600, 20), (2400, 20)), 40, Depends.ARITHMETIC, None),
    (((8, 20), (16, 20)), 40, Depends.ARITHMETIC, None),  # so are most steps
    (((1600, 20), (3200, 16)), 49, Depends.CHAIN, None),  # elements of a pool
    ((), 49, Depends.ARITHMETIC, None),
])
def test_a_step_that_a_branch_leaves_out_is_still_that_of_the_loop(strides, far, depends, step):
    seen = order(100, far=far, strides=strides)
    seen.depends = depends
    assert step_of_some(seen, 64) == step


@pytest.mark.parametrize(("strides", "step"), [
    (((-600, 4), (1224, 3), (-3032, 1)), 8),
    (((-608, 4), (1216, 3)), 0),
    (((8, 4),), None),  # one alone
    (((-600, 4), (1232, 3)), None),
    (((300, 4), (908, 3)), None),  # half a step
])
def test_the_step_around_what_a_branch_leaves_out_is_besides_multiples_of_the_one_within(strides, step):
    assert _common_remaining_step(order(300, far=280, strides=strides), 608) == step
    assert _common_remaining_step(order(300, far=280, strides=strides), -608) == step


# Rows of 900 columns, at which a branch is taken in two parts of the run: the inner loop's runs begin in either.
@pytest.mark.parametrize(("strides", "far", "step"), [
    (((3225600, 17), (-3225592, 13), (3218400, 11)), 8, 8),
    (((3225600, 17), (7200, 13)), 0, 0),
    (((-3225608, 17), (-7208, 13)), 0, -8),
    (((3225600, 17), (-3225592, 13)), 40, None),  # most are not known
    (((3225600, 17), (-3222000, 13)), 0, None),  # half a row
    ((), 30, None),
])
def test_steps_around_differ_by_little_from_multiples_of_the_inner_one(strides, far, step):
    assert _remaining_step(order(60, far=far, strides=strides), 7200, 64) == step


@pytest.mark.parametrize("step", [7200, -7200, 8])
def test_steps_of_the_loop_within_are_none_of_the_one_around(step):
    times = {"near": 0, "forward": 0, "backward": 0}
    times["near" if step == 8 else "forward" if step > 0 else "backward"] = 9890
    seen = Order(1, 2, 1, 9979, 0, 0, 3, far=66, runs=93, strides=((step, 9890), (16, 40)), depends=Depends.UNKNOWN,
                 on=0, weight=0, **times | {"near": times["near"] + 17})
    left = _without_step(seen, step)
    assert left.accesses == 89 and left.strides == ((16, 40),)
    assert (left.same, left.near, left.forward, left.backward, left.far) == (3, 17, 0, 0, 66)


@pytest.mark.parametrize(("rounds", "decides"), [(1.02, OUTER), (1.5, INNER), (60, INNER)])
def test_a_loop_that_ends_in_its_first_round_decides_nothing(rounds, decides):
    entries = 5000
    accesses = round(rounds * entries)
    site = Site(
        1, None, ("/src/prog.c", 1), accesses, accesses, 0, 0, 64, (), (), (
            Level(INNER, None, order(accesses, far=accesses - entries)),
            Level(OUTER, None, order(entries, far=entries - 1)),
        ), 8.0, 8.0, 0.0, COSTS,
    )
    assert site.deciding_loop == decides


def test_what_is_not_seen_of_an_outer_loop_is_told_by_what_it_brings_back():
    missed, back = counted(repaired=False)
    sites = [
        site(33, missed[33], back[33], level(INNER, 0), unseen(OUTER)),
        site(35, missed[35], back[35], level(NEIGHBOURS, 16), level(INNER, 960), unseen(OUTER)),
        site(36, missed[36], back[36], level(INNER, 320), level(OUTER, 8)),
    ]
    known = SimpleNamespace(
        loops=SimpleNamespace(of={1: OUTER}.get), why=SimpleNamespace(d1_lines=32)
    )
    after = _exchanged(known, sites, INNER, OUTER).after
    assert missed[35] > 4 * after[35].lines  # or there would be nothing to see
    repaired, _ = counted(repaired=True)
    assert after[35].lines == repaired[35]
    assert after[36].lines == repaired[36]
    # One value is loaded once for each column at most, so not for each result.
    assert after[33].lines <= COLUMNS * ROWS * missed[33] / COLUMNS < COLUMNS * ROWS / 2


def test_other_data_of_each_column_are_loaded_for_each_result():
    sites = [
        site(35, 3 * COLUMNS * ROWS, 3 * COLUMNS * ROWS, level(INNER, 960), unseen(OUTER)),
        site(37, COLUMNS, 0, unseen(OUTER)),
    ]
    known = SimpleNamespace(loops=SimpleNamespace(of={1: OUTER}.get), why=SimpleNamespace(d1_lines=32))
    assert _exchanged(known, sites, INNER, OUTER).after[37].lines == COLUMNS * ROWS


def test_steps_that_are_anywhere_are_not_brought_back_in_order():
    scattered = site(35, 3 * COLUMNS * ROWS, 3 * COLUMNS * ROWS, level(INNER, None), unseen(OUTER))
    known = SimpleNamespace(loops=SimpleNamespace(of={1: OUTER}.get), why=SimpleNamespace(d1_lines=32))
    assert _exchanged(known, [scattered], INNER, OUTER).after[35].lines == scattered.lines
