# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parser makes of each construct of the format, and what it says about broken ones."""

import pytest

from bdannotate.model.errors import ProfileError
from bdannotate.model.profile import Call, CallSite, Function, InstructionCall, Jump, JumpCount, Place
from bdannotate.reading.parser import Detail, parse_text

HEAD = "version: 1\npositions: line\nevents: Ir Dr\n"
F = Function("app", "a.c", "f")
G = Function("app", "a.c", "g")
OPEN_F = "ob=app\nfl=a.c\nfn=f\n"


def test_costs_of_a_line_add_up_and_missing_ones_are_zero():
    profile = parse_text(HEAD + OPEN_F + "7 5 1\n7 2\n+3 1 1\n* 1\n-9 4\n")
    assert profile.lines == {Place(F, "a.c"): {7: (7, 1), 10: (2, 1), 1: (4, 0)}}
    assert profile.totals() == (13, 2)


def test_without_line_detail_only_functions_are_kept_apart():
    profile = parse_text(HEAD + OPEN_F + "7 5 1\n8 2\nfn=g\n3 1\n", Detail.FUNCTIONS)
    assert profile.lines == {Place(F, "a.c"): {0: (7, 1)}, Place(G, "a.c"): {0: (1, 0)}}


def test_inlined_files_belong_to_the_function_and_fn_returns_to_its_file():
    text = "1 1\nfi=inline.h\n2 1\nfe=a.c\n3 1\nfi=inline.h\nfn=g\n4 1\n"
    profile = parse_text(HEAD + OPEN_F + text)
    assert profile.lines == {
        Place(F, "a.c"): {1: (1, 0), 3: (1, 0)},
        Place(F, "inline.h"): {2: (1, 0)},
        Place(G, "a.c"): {4: (1, 0)},
    }


def test_a_callee_without_object_or_file_is_in_the_current_ones_and_is_forgotten():
    text = OPEN_F + (
        "cob=lib\ncfi=b.c\ncfn=h\ncalls=3 10\n5 30 2\n"
        "cfn=g\ncalls=1 +2\n5 4\n"
        "fi=inline.h\ncfl=b.c\ncfn=i\ncalls=2 1 1\n6 9\n"
    )
    calls = parse_text(HEAD + text).calls
    assert calls == {
        CallSite(F, Function("lib", "b.c", "h"), "a.c", 5): Call(3, (30, 2)),
        CallSite(F, G, "a.c", 5): Call(1, (4, 0)),
        CallSite(F, Function("app", "b.c", "i"), "inline.h", 6): Call(2, (9, 0)),
    }


def test_calls_costs_are_not_self_costs_and_repeated_calls_add_up():
    profile = parse_text(HEAD + OPEN_F + "cfn=g\ncalls=1 1\n5 4\ncfn=g\ncalls=2 1\n5 6 1\n5 1\n")
    assert profile.lines == {Place(F, "a.c"): {5: (1, 0)}}
    assert profile.calls == {CallSite(F, G, "a.c", 5): Call(3, (10, 1))}


def test_instructions_are_kept_by_address():
    head = "positions: instr line\nevents: Ir\n"
    text = OPEN_F + "0x1f 7 1\n+1 * 2\n* * 3\ncfn=g\ncalls=1 0x40 9\n-1 +2 8\n"
    profile = parse_text(head + text)
    assert profile.instructions == {Place(F, "a.c"): {0x1F: (7, (1,)), 0x20: (7, (5,))}}
    assert profile.instruction_calls == {InstructionCall(F, G, 0x1F): Call(1, (8,))}
    assert profile.calls == {CallSite(F, G, "a.c", 9): Call(1, (8,))}


def test_jumps_hold_their_own_position_on_the_next_line():
    head = "positions: instr line\nevents: Ir\n"
    text = OPEN_F + "0x10 5 1\njcnd=2/9 +8 +1\n* *\njfi=b.c\njfn=g\njump=4 0x30 1\n+2 6\n"
    profile = parse_text(head + text)
    here = Place(F, "a.c")
    there = Place(Function("app", "b.c", "g"), "b.c")
    assert profile.jumps == {
        Jump(here, 5, 0x10, here, 6, 0x18, True): JumpCount(2, 9),
        Jump(here, 6, 0x12, there, 1, 0x30, False): JumpCount(4, 4),
    }
    assert profile.totals() == (1,)


def test_names_are_compressed_per_kind():
    text = "ob=(1) app\nfl=(1) a.c\nfn=(1) f\n1 1\ncfn=(2) g\ncalls=1 1\n1 5\nfn=(2)\n1 5\n"
    profile = parse_text(HEAD + text)
    assert profile.lines == {Place(F, "a.c"): {1: (1, 0)}, Place(G, "a.c"): {1: (5, 0)}}
    assert list(profile.calls) == [CallSite(F, G, "a.c", 1)]


def test_names_that_only_look_compressed():
    text = "fl=a.c\nfn=(below main)\n1 1\nfn=(3) (anonymous namespace)::f(int)\n1 1\n"
    profile = parse_text(HEAD + text)
    names = [place.function.name for place in profile.lines]
    assert names == ["(below main)", "(anonymous namespace)::f(int)"]


def test_parts_add_up_and_each_defines_its_own_names():
    part = "part: {}\nthread: {}\nevents: Ir\nfl=(1) {}.c\nfn=(1) {}\n1 {}\ntotals: {}\n"
    text = part.format(1, 1, "a", "f", 5, 5) + part.format(2, 2, "b", "g", 6, 6)
    text += part.format(3, 1, "a", "f", 7, 7)
    profile = parse_text(text)
    assert profile.totals() == (18,)
    assert [(part.part, part.thread, part.sums) for part in profile.parts] == [
        ("1", "1", (5,)), ("2", "2", (6,)), ("3", "1", (7,))
    ]
    assert profile.lines[Place(Function("", "a.c", "f"), "a.c")] == {1: (12,)}


def test_headers_are_kept():
    text = (
        "# callgrind format\nversion: 1\ncreator: bdgrind-1\npid: 12\ncmd: ./a x=1 y: z\n"
        "desc: D1 cache: 32 B, 64 B\ndesc: plain\nevent: A : long name\nevent: S = A + 2 B : sum\n"
        "events: A B\nsummary: 3\nfl=a\nfn=f\n1 3\ntotals: 3 0\n"
    )
    profile = parse_text(text)
    part = profile.parts[0]
    assert (part.creator, part.pid, part.command) == ("bdgrind-1", "12", "./a x=1 y: z")
    assert part.descriptions == (("D1 cache", "32 B, 64 B"), ("plain", ""))
    assert profile.titles == {"A": "long name", "S": "sum"}
    assert profile.formulas == {"S": "A + 2 B"}
    assert [(total.key, total.line, total.row, total.given) for total in part.stated_totals] == [
        ("summary", 11, (3, 0), 1), ("totals", 15, (3, 0), 2)
    ]


def test_cachegrind_format():
    text = "desc: I1 cache: 64 B\ncmd: ./t\nevents: Ir I1mr Dr\nfl=a.c\nfn=f\n3 1 . 2\n"
    text += "summary: 1 0 2\n"
    profile = parse_text(text)
    assert profile.lines == {Place(Function("", "a.c", "f"), "a.c"): {3: (1, 0, 2)}}
    assert profile.parts[0].stated_totals[0].row == (1, 0, 2)


def test_hexadecimal_costs_and_carriage_returns():
    assert parse_text(HEAD + OPEN_F + "0x10 0x1F 2 \r\n\r\n").totals() == (31, 2)


BROKEN = {
    "not a profile": ("hello world\n", 1, "not a profile"),
    "not a profile either": ("Author: me\n", 1, "not a profile"),
    "binary": ("\x00\x01\udcff", 1, "not a profile"),
    "empty": ("", 0, "the file is empty"),
    "only comments": ("# callgrind format\n\n", 0, "the file is empty"),
    "no events": ("version: 1\n", 2, "events: is missing"),
    "unknown version": ("version: 2\n", 1, "version 2 is unknown"),
    "unknown positions": ("version: 1\npositions: column\n", 2, "position 'column' is unknown"),
    "unknown header": ("version: 1\nfoo: 1\n", 2, "unknown header 'foo:'"),
    "event twice": ("events: Ir Ir\n", 1, "names an event twice"),
    "costs before events": ("version: 1\nfl=a\n", 2, "costs come before events:"),
    "cost line before events": ("version: 1\n1 2\n", 2, "costs come before events:"),
    "costs outside a function": (HEAD + "1 2\n", 4, "outside of a function"),
    "costs after a new object": (HEAD + OPEN_F + "1 2\nob=lib\n1 2\n", 9, "outside of a function"),
    "too many costs": (HEAD + OPEN_F + "1 2 3 4\n", 7, "3 costs for 2 events"),
    "a word for a cost": (HEAD + OPEN_F + "1 x\n", 7, "'x' is not a number"),
    "two signs": (HEAD + OPEN_F + "1 --5\n", 7, "'--5' is not a number"),
    "an underscore": (HEAD + OPEN_F + "1 1_0\n", 7, "'1_0' is not a number"),
    "a huge number": (HEAD + OPEN_F + "1 " + "9" * 5000 + "\n", 7, "too long"),
    "below line 0": (HEAD + OPEN_F + "1 1\n-2 1\n", 8, "below 0"),
    "unknown id": (HEAD + "fl=(1)\n", 4, "(1) is used before it is defined"),
    "id defined twice": (HEAD + "fl=(1) a\nfl=(1) b\n", 5, "(1) is already defined as 'a'"),
    "no name": (HEAD + "fn=\n", 4, "the name is missing"),
    "calls without callee": (HEAD + OPEN_F + "calls=1 1\n", 7, "calls= without cfn="),
    "calls without count": (HEAD + OPEN_F + "cfn=g\ncalls=\n", 8, "needs a count and a position"),
    "calls without costs": (HEAD + OPEN_F + "cfn=g\ncalls=1 1\nfn=g\n", 9, "are missing here"),
    "cut in a call": (HEAD + OPEN_F + "cfn=g\ncalls=1 1", 8, "ends in the middle of a call"),
    "jcnd without slash": (HEAD + OPEN_F + "jcnd=1 2\n", 7, "followed/executed"),
    "jump without target": (HEAD + OPEN_F + "jump=1\n", 7, "target of the jump is incomplete"),
    "unknown directive": (HEAD + OPEN_F + "cfx=1\n", 7, "not understood"),
    "too many totals": (HEAD + "totals: 1 2 3\n", 4, "totals: has 3 counts for 2 events"),
    "totals of words": (HEAD + "totals: a\n", 4, "not a count"),
    "other events later": (HEAD + OPEN_F + "1 1\nevents: Dw\nfn=f\n", 8, "other events"),
    "half a position": (
        "positions: instr line\nevents: Ir\n" + OPEN_F + "0x1\n", 6, "position is incomplete",
    ),
}


@pytest.mark.parametrize("text, line, problem", BROKEN.values(), ids=BROKEN.keys())
def test_broken_profiles_are_refused_with_file_and_line(text, line, problem):
    with pytest.raises(ProfileError) as caught:
        parse_text(text, source="x.out")
    message = str(caught.value)
    assert problem in message
    assert message.startswith(f"x.out:{line}: " if line else "x.out: ")
    assert "\n" not in message and len(message) < 200
