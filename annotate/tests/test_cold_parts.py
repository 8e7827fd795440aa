# SPDX-License-Identifier: GPL-2.0-or-later
"""Cold parts of functions, which profiles have as functions of their own."""

import json

import pytest

from bdannotate.cli import main
from bdannotate.model.cold_parts import with_cold_parts
from bdannotate.model.flow import flows
from bdannotate.model.frames import frames_by_function
from bdannotate.model.graph import build
from bdannotate.model.profile import Function
from bdannotate.reading.parser import Detail, parse_text
from object_files import ObjectFile

# What each profile here begins with: all is in one file, and f comes first.
HEAD = """positions: instr line
events: Ir
ob=app
fl=a.c
fn=f
"""
# A loop of f, line 4, whose body is at line 5 or, cold, at line 9: cold in the third of ten
# iterations. From then on all is the cold part's.
SPLIT = f"""{HEAD}0x20 3 1
0x24 4 3
cfn=f.cold
calls=1 0x10 9
0x24 4 33
0x28 5 2
0x2c 4 2
jump=2 0x24 4
0x2c 4
fn=f.cold
0x10 9 1
cfn=g
calls=1 0x100 1
0x10 9 7
0x14 9 1
jump=1 0x28 5
0x14 9
0x28 5 8
0x2c 4 8
jcnd=7/8 0x24 4
0x2c 4
0x24 4 7
0x30 7 1
fn=g
0x100 1 7
fn=main
0x40 20 1
cfn=f
calls=1 0x20 3
0x40 20 41
totals: 42
"""


def function(name):
    return Function("app", "a.c", name)


def frame_of_f(profile):
    return frames_by_function(profile, [function("f")], {})[function("f")]


def flow_of_f(text):
    return flows(parse_text(text, Detail.INSTRUCTIONS), [function("f")])[function("f")]


def joined(text):
    return with_cold_parts(parse_text(text, Detail.INSTRUCTIONS))


def test_a_loop_that_runs_on_in_the_cold_part_is_one():
    root = frame_of_f(joined(SPLIT))
    assert (root.self_cost, root.inclusive, root.entries) == ((2,), (41,), 1)
    (loop,) = root.frames
    assert (loop.line, loop.entries, loop.parts[0].iterations) == (4, 1, 10)
    assert (loop.self_cost, loop.inclusive) == ((32,), (39,))


def test_no_cost_and_no_other_call_changes():
    before, after = parse_text(SPLIT, Detail.INSTRUCTIONS), joined(SPLIT)
    assert after.totals() == before.totals()
    old, new = build(before).functions, build(after).functions
    assert function("f.cold") not in new
    for name in ("f", "g", "main"):
        assert new[function(name)].inclusive == old[function(name)].inclusive, name
    assert sum(call.calls for call in after.calls.values()) == 2


@pytest.mark.parametrize("detail", [Detail.FUNCTIONS, Detail.LINES])
def test_parts_are_joined_without_instructions(detail):
    profile = with_cold_parts(parse_text(SPLIT, detail))
    graph = build(profile)
    assert graph.functions[function("f")].inclusive == (41,)
    assert not profile.jumps


def test_a_cold_part_that_is_entered_again_by_an_exception_is_no_recursion():
    """It then calls itself, as far as a profile knows."""
    text = SPLIT.replace("0x30 7 1\n", "0x30 7 1\ncfn=f.cold'2\ncalls=1 0x10 9\n0x30 7 3\n")
    text = text.replace("fn=g\n0x100", "fn=f.cold'2\n0x10 9 3\nfn=g\n0x100")
    graph = build(joined(text))
    assert {name.name for name in graph.functions} == {"f", "g", "main"}
    assert graph.functions[function("f")].self_cost == (37,)


@pytest.mark.parametrize("name, cold, shown", [
    ("f(int)", "f(int) [clone .cold]", True),
    ("f.part.0", "f.part.0.cold", True),
    ("f'2", "f.cold", True),
    ("f", "f.cold.1", False),  # clang's are functions, and called
    ("f", "g.cold", False),
    ("f", ".cold", False),
])
def test_a_part_belongs_to_the_function_of_its_name(name, cold, shown):
    text = SPLIT.replace("fn=f.cold", f"fn={cold}").replace("fn=f\n", f"fn={name}\n")
    names = {one.name for one in build(joined(text)).functions}
    assert (cold not in names) == shown
    assert name in names


def test_what_several_functions_come_to_stays_apart():
    """As do levels of recursion, whose cold parts are one."""
    again = "fn=f'2\n0x24 4 1\ncfn=f.cold\ncalls=1 0x10 9\n0x24 4 2\n"
    text = SPLIT.replace("fn=main\n", again + "fn=main\n")
    assert function("f.cold") in build(joined(text)).functions


def test_reports_of_loops_have_no_cold_parts(tmp_path, capsys):
    path = tmp_path / "profile"
    path.write_text(SPLIT)

    def names(*options):
        assert main(["--format=json", *options, str(path)]) == 0
        return {one["name"] for one in json.loads(capsys.readouterr().out)["functions"]}

    assert names() == {"f", "f.cold", "g", "main"}
    assert names("--structure") == {"f", "g", "main"}
    assert names("--separate-loops") == {"f", "f › loop a.c:4", "g", "main"}


def test_data_objects_have_no_cold_parts_either(tmp_path, capsys):
    """f loads 1 line in line 5, and its cold part 3 there and 5 in line 9, where it allocates."""
    text = SPLIT.replace("events: Ir", "events: Ir DLmr").replace("totals: 42", "totals: 42 9")
    text = text.replace("0x28 5 2\n", "0x28 5 2 1\n").replace("0x28 5 8\n", "0x28 5 8 3\n")
    (tmp_path / "p.out").write_text(text.replace("0x14 9 1\n", "0x14 9 1 5\n", 1))
    functions = [("app", "a.c", 3, "f"), ("app", "a.c", 9, "f.cold")]
    groups = ["heap 1 64 0 64 64 64 64 64 0 1 2 1 9 16 0 0 malloc", "stack 1 1 f", "stack 1 1 f.cold"]
    rows = [(1, 1, 1, 5, (0, 1)), (1, 2, 1, 5, (0, 3)), (2, 1, 1, 9, (0, 0)), (3, 2, 1, 9, (0, 5))]
    data = ObjectFile(("Ir", "DLmr"), functions, groups, rows).bytes()
    (tmp_path / "objects.p.out").write_bytes(data)

    def shown(*options):
        assert main(["--objects", "--format=json", *options, str(tmp_path / "p.out")]) == 0
        found = json.loads(capsys.readouterr().out)
        names = {one["id"]: one["name"] for one in found["functions"]}
        labels = [group["label"] for group in found["objects"]["groups"]]
        return [
            (labels[row["group"]], names.get(row["function_id"]), row["function"], row["line"], row["self"][1])
            for row in found["objects"]["rows"]
        ]

    heap, stack = "heap a.c:9, f", "stack of f"
    assert shown("--structure") == [(heap, "f", "f", 5, 4), (stack, "f", "f", 9, 5)]
    loop = "f › loop a.c:4"
    assert shown("--separate-loops") == [(heap, loop, loop, 5, 4), (stack, loop, loop, 9, 5)]
    cold = "f.cold"
    assert shown() == [
        (f"{heap}.cold", "f", "f", 5, 1), (f"{heap}.cold", cold, cold, 5, 3), (stack, "f", "f", 9, 0),
        (f"{stack}.cold", cold, cold, 9, 5),
    ]


# A loop from 0x14 on. The call at 0x18 ends with an exception in 4 of 10 cases; its handler, which
# lies behind the function's end, goes on in the loop.
CAUGHT = f"""{HEAD}0x10 3 1
0x14 5 10
0x18 5 10
cfn=g
calls=10 0x100 1
0x18 5 30
0x1c 5 6
0x20 4 10
jcnd=9/10 0x14 5
0x20 4
0x24 9 1
0x28 7 4
0x2c 7 4
jump=4 0x20 4
0x2c 7
fn=g
0x100 1 30
"""


def with_second_call(text, behind):
    """f calls g once more, 5 times in line 8; what is behind that call is another handler's, too."""
    call = "0x30 8 5\ncfn=g\ncalls=5 0x100 1\n0x30 8 9\n"
    return text.replace("fn=g\n0x100", f"{call}{behind}fn=g\n0x100")


def test_a_handler_in_a_loop_is_part_of_it():
    root = frame_of_f(parse_text(CAUGHT, Detail.INSTRUCTIONS))
    (loop,) = root.frames
    assert (loop.kind.value, loop.line, loop.entries) == ("loop", 4, 1)
    assert (loop.parts[0].iterations, loop.self_cost, root.self_cost) == (10, (44,), (2,))
    assert root.entries == 1


def test_handlers_of_several_calls_are_told_apart_by_how_often_they_were_entered():
    flow = flow_of_f(with_second_call(CAUGHT, "0x40 9 2\n"))
    address = [flow.steps[block.first].address for block in flow.blocks]
    assert [
        (address[source], address[target], count)
        for source, ways in enumerate(flow.successors) for target, count in ways.items()
        if address[target] == 0x28
    ] == [(0x14, 0x28, 4)]


def test_a_function_begins_where_it_is_called():
    """Its handler lies before it, in the cold part, and was entered more often."""
    text = CAUGHT.replace("0x28 7 4\n0x2c 7 4\njump=4 0x20 4\n0x2c 7\n", "")
    text = text.replace("0x10 3 1\n", "0x4 7 4\n0x8 7 4\njump=4 0x20 4\n0x8 7\n0x10 3 1\n")
    text += "fn=main\n0x50 20 1\ncfn=f\ncalls=1 0x10 3\n0x50 20 76\n"
    root = frame_of_f(parse_text(text, Detail.INSTRUCTIONS))
    (loop,) = root.frames
    assert (root.address, root.entries) == (0x10, 1)
    assert (loop.kind.value, loop.line, loop.parts[0].iterations) == ("loop", 4, 10)


def test_calls_that_never_return_have_nothing_behind_them():
    """Here a handler, which is what one of two throws leads to; from the other nothing is known."""
    text = f"""{HEAD}0x10 3 5
jcnd=3/5 0x20 4
0x10 3
0x14 4 2
cfn=__cxa_throw
calls=2 0x200 1
0x14 4 8
0x18 7 3
0x1c 7 3
jump=3 0x30 9
0x1c 7
0x20 4 3
cfn=__cxa_throw
calls=3 0x200 1
0x20 4 12
0x30 9 3
"""
    flow = flow_of_f(text)
    number = {flow.steps[block.first].address: index for index, block in enumerate(flow.blocks)}
    assert flow.successors[number[0x14]] == {}
    assert flow.successors[number[0x20]] == {number[0x18]: 3}


def test_a_handler_that_several_calls_may_lead_to_is_entered_from_nowhere():
    text = CAUGHT.replace("0x28", "0x80").replace("0x2c", "0x84")
    flow = flow_of_f(with_second_call(text, "0x34 9 1\n0x50 9 4\n"))
    entered = {
        flow.steps[block.first].address: count
        for block, count in zip(flow.blocks, flow.entered) if count
    }
    assert (entered[0x80], entered[0x50]) == (4, 4)


def test_the_dynamic_linker_makes_no_second_way_into_a_loop():
    """The first call by way of its stub is two, and the stub's instructions are the call's."""
    text = f"""{HEAD}0x10 3 1
0x14 5 10
0x18 5 23
cfn=_dl_runtime_resolve
calls=1 0x200 1
0x18 5 30
cfn=g
calls=10 0x100 1
0x18 5 30
0x1c 4 10
jcnd=9/10 0x14 5
0x1c 4
0x20 9 1
"""
    flow = flow_of_f(text)
    assert flow.executed == (1, 10, 10, 10, 1)
    assert flow.entered == (1, 0, 0)
