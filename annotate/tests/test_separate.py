# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as functions of a profile, in lists and exports."""

import json
import pathlib

import pytest
from hypothesis import given
from annotating import bd_annotate
from test_loops import F, Machine, seeds

from bdannotate.analyses.comparison.loop_match import matching_loops
from bdannotate.cli import main
from bdannotate.model.check import check
from bdannotate.model.frames import Position
from bdannotate.model.graph import build
from bdannotate.model.objects import Identity, ObjectGroup, ObjectKind, ObjectRow, Objects
from bdannotate.model.profile import Call, CallSite, Function
from bdannotate.model.separate import Separation, in_frames, separated
from bdannotate.reading.parser import Detail, parse_text

HERE = pathlib.Path(__file__).resolve().parent
LOOP_PROFILE = HERE / "profiles" / "instructions.out"

# g is inlined into f at line 6, with a loop in it: three instructions, one of which calls h.
INLINED = """positions: instr line
events: Ir
ob=app
fl=a.c
fn=f
0x10 5 2
0x14 30 20
0x18 31 20
cfn=h
calls=20 0x100 1
0x18 31 60
0x1c 30 20
jcnd=18/20 0x14 30
0x1c 30
0x20 7 2
fn=h
0x100 1 60
totals: 124
"""


def chains():
    found = {address: (Position("f", "a.c", 5),) for address in (0x10, 0x20)}
    for address, line in ((0x14, 30), (0x18, 31), (0x1C, 30)):
        found[address] = (Position("f", "a.c", 6), Position("g", "a.h", line))
    return {"app": found}


def separate(loops, inlined):
    profile = parse_text(INLINED, Detail.INSTRUCTIONS)
    found = separated(profile, chains(), Separation(loops, inlined))
    graph = build(found)
    assert found.totals() == profile.totals()
    return {
        (caller.name, callee.name): call
        for caller, callees in graph.callees.items()
        for callee, call in callees.items()
    }, {function.name: costs.self_cost for function, costs in graph.functions.items()}


def test_loops_and_inlined_functions_become_functions():
    calls, self_costs = separate(True, True)
    assert calls == {
        ("f", "f › g"): Call(2, (120,)),
        ("f › g", "f › loop a.h:30"): Call(2, (120,)),
        ("f › loop a.h:30", "h"): Call(20, (60,)),
    }
    assert self_costs == {
        "f": (4,), "f › g": (0,), "f › loop a.h:30": (60,), "h": (60,),
    }


def test_what_is_not_separate_is_part_of_what_is_around():
    calls, self_costs = separate(True, False)
    assert calls == {
        ("f", "f › loop a.h:30"): Call(2, (120,)), ("f › loop a.h:30", "h"): Call(20, (60,)),
    }
    assert self_costs == {"f": (4,), "f › loop a.h:30": (60,), "h": (60,)}
    calls, self_costs = separate(False, True)
    assert calls == {("f", "f › g"): Call(2, (120,)), ("f › g", "h"): Call(20, (60,))}
    assert self_costs == {"f": (4,), "f › g": (60,), "h": (60,)}


def test_calls_that_no_instruction_made_stay_with_the_function():
    """As those of threads, which stand below who created them."""
    profile = parse_text(INLINED, Detail.INSTRUCTIONS)
    worker = Function("app", "a.c", "worker")
    site = CallSite(F, worker, "a.c", 0)
    profile.calls[site] = Call(1, (7,))
    found = separated(profile, chains(), Separation(True, True))
    assert found.calls[site] == Call(1, (7,))
    assert sum(call.calls for at, call in found.calls.items() if at.callee.name == "h") == 20


@given(seeds)
def test_whatever_is_separate_all_costs_add_up(seed):
    machine = Machine(seed)
    calls = sum(walk.count(at) for walk in machine.walks
                for at, kind in enumerate(machine.kinds) if kind == "call")
    text = machine.profile() + (f"fn=g\n1 1 {5 * calls}\n" if calls else "")
    profile = parse_text(text, Detail.INSTRUCTIONS)
    if not profile.jumps:
        return
    found = separated(profile, {}, Separation(True, True))
    assert found.totals() == profile.totals()
    before, after = build(profile), build(found)
    assert after.functions[F].inclusive == before.functions[F].inclusive
    assert check(found).violation is None


def test_the_export_is_a_profile_that_adds_up(tmp_path, capfd):
    target = tmp_path / "separate.out"
    options = ["--export=callgrind", "--separate-loops", "-o", str(target)]
    assert main([*options, str(LOOP_PROFILE)]) == 0
    assert main(["--check", str(target)]) == 0
    assert "main › loop loop.c:4" in target.read_text()
    capfd.readouterr()


def test_loops_are_functions_of_reports_and_of_what_changed(tmp_path):
    slower = tmp_path / "slower.out"
    text = LOOP_PROFILE.read_text()
    # The loop, and f, twenty times.
    for old, new in ((" 10\n", " 20\n"), ("9/10", "19/20"), ("calls=10", "calls=20"),
                     ("* * 30", "* * 60"), (": 62", ": 122")):
        text = text.replace(old, new)
    slower.write_text(text)

    def functions(*arguments):
        result = bd_annotate("--separate-loops", *arguments, "--format=json", check=True)
        return {one["name"]: one for one in json.loads(result.stdout)["functions"]}

    loop = functions(LOOP_PROFILE)["main › loop loop.c:4"]
    assert (loop["self"], loop["inclusive"], loop["calls"]) == ([30], [60], 1)
    change = functions("--diff", LOOP_PROFILE, slower)["main › loop loop.c:4"]
    assert (change["before"]["self"], change["after"]["self"]) == ([30], [60])


@pytest.mark.parametrize("other", ["--check", "--html=x", "--structure", "--instructions"])
def test_what_needs_the_functions_as_they_are_is_refused(other, capfd):
    assert main(["--separate-loops", other, str(LOOP_PROFILE)]) == 2
    assert "--separate-loops cannot be combined with" in capfd.readouterr().err


def loops(*lines, function="main", file="a.c", module="/bin/a", kind="loop"):
    return [
        Function(module, f"/src/{file}", f"{function} › {kind} {file}:{line}") for line in lines
    ]


def test_loops_are_matched_by_their_order_where_lines_moved():
    """Two lines more above: each loop but the last has a name that another one had."""
    old, new = loops(10, 12, 14), loops(12, 14, 16)
    assert matching_loops(old, new) == dict(zip(old, new))
    assert matching_loops(old, loops(10, 12, 14)) == {}


def test_loops_of_another_file_are_matched_as_far_as_there_are_as_many():
    old = loops(10, 12) + loops(5, file="list.h") + loops(3, function="f")
    new = loops(11, 14, file="b.c", module="/bin/b") + loops(5, file="list.h", module="/bin/b")
    assert matching_loops(old, new) == {**dict(zip(old[:2], new[:2])), old[2]: new[2]}


def test_which_loop_is_new_is_not_guessed():
    assert matching_loops(loops(10, 12), loops(11, 13, 15)) == {}
    assert matching_loops(loops(10), loops(10, kind="irreducible region")) == {}


def test_a_difference_of_loops_whose_lines_moved(tmp_path, capsys):
    text = LOOP_PROFILE.read_text()
    moved = text.replace("\n0x10 3 1\n", "\n0x10 8 1\n").replace(" 0x11 4\n", " 0x11 9\n")
    for name, content in (("old", text), ("new", moved)):
        (tmp_path / name).write_text(content)
    main(["--diff", "--separate-loops", "--threshold=0", str(tmp_path / "old"), str(tmp_path / "new")])
    shown = capsys.readouterr().out
    assert "Matched    1 loop by their order: lines or files changed" in shown
    assert "none that changed by this much" in shown


# In line 30 the loop has 95 of 100 misses, in line 31 4 of 10; how often they were executed says nothing of data.
SHARED = """events: Ir DLmr
ob=app
fl=a.c
fn=f
1 5 2
30 900 5
31 9 6
fn=f › loop a.c:30
30 10 95
31 400 4
"""


def test_what_loaded_objects_are_the_frames():
    root, loop = Function("app", "a.c", "f"), Function("app", "a.c", "f › loop a.c:30")
    other = Function("b", "a.c", "f")
    rows = [(root, 1, 2), (root, 30, 100), (root, 31, 10), (other, 30, 7)]
    objects = Objects((), ("Ir", "DLmr"), (ObjectGroup(Identity(ObjectKind.UNKNOWN)),), tuple(
        ObjectRow(0, function, "a.c", line, (0, misses)) for function, line, misses in rows
    ))
    found = in_frames(objects, parse_text(SHARED, Detail.LINES))
    assert [(row.function, row.line) for row in found.rows] == [(root, 1), (loop, 30), (root, 31), (other, 30)]
    assert found.totals() == objects.totals()
