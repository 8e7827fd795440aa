# SPDX-License-Identifier: GPL-2.0-or-later
"""Through which calls functions are reached that load some data."""

from bdannotate.analyses.data.ways import ways_to
from bdannotate.cli import main
from bdannotate.model.graph import build
from bdannotate.model.profile import Function
from bdannotate.reading.parser import Detail, parse
from bdannotate.reading.progress import Progress
from test_objects import EVENTS, beside

# main calls make() itself, and run() that calls step(): 300 bytes of 400 are lost there. grow() calls itself
# through more().
CALLS = f"""version: 1
positions: line
events: {' '.join(EVENTS)}
ob=prog
fl=/src/prog.c
fn=(below main)
1 1 0 0 0 0 0
cfn=main
calls=1 1
1 1 0 400 4 0 0
fn=main
1 1 0 0 0 0 0
cfn=make
calls=9 20
5 1 0 100 1 0 0
cfn=run
calls=1 30
6 1 0 300 3 0 0
cfn=grow
calls=1 30
7 1 0 0 0 0 0
fn=run
cfn=step
calls=1 40
31 1 0 300 3 0 0
fn=step
cfn=make
calls=1 20
41 1 0 300 3 0 0
fn=more
cfn=grow
calls=1 40
50 1 0 0 0 0 0
cfn=leaf
calls=1 40
51 1 0 7 0 3 0
fn=grow
cfn=more
calls=1 40
60 1 0 0 0 0 0
fn=make
22 0 0 400 4 0 0
fn=leaf
1 0 0 7 0 3 0
"""


def ways(tmp_path, *names):
    path = tmp_path / "calls.out"
    path.write_text(CALLS)
    profile = parse(str(path), Detail.LINES, Progress(""))
    functions = [Function("prog", "/src/prog.c", name) for name in names]
    return [
        (one.function.name, one.others, [
            (round(way.share, 3), *(caller.name for caller in way.callers), way.further, way.is_recursive)
            for way in one.ways
        ])
        for one in ways_to(functions, build(profile), profile.events)
    ]


def test_callers_by_what_was_lost_in_their_calls(tmp_path):
    """And those further out as far as there is one only; not by how often they call."""
    assert ways(tmp_path, "make", "make") == [
        ("make", 0, [(0.75, "step", "run", "main", 0, False), (0.25, "main", 0, False)]),
    ]


def test_main_has_no_callers(tmp_path):
    assert ways(tmp_path, "main") == []


def test_recursion_ends_a_way(tmp_path):
    assert ways(tmp_path, "leaf") == [("leaf", 0, [(1.0, "more", 1, True)])]


def test_those_that_lost_next_to_nothing_are_only_counted(tmp_path):
    assert ways(tmp_path, "grow") == [("grow", 0, [(0.5, "main", 0, False), (0.5, "more", 1, True)])]


PROFILE = f"""creator: bdgrind-1
pid: 7
cmd: prog
part: 1
{CALLS.partition(chr(10))[2].replace('22 0 0 400 4 0 0', '23 10 1 400 4 240 100')}"""
# All is make()'s: 320 bytes of 640 for the heap, 80 for a variable.
ROWS = [(2, 2, 1, 23, (0, 1, 320, 3, 240, 100)), (3, 2, 1, 23, (0, 0, 80, 1, 0, 0)),
        (1, 1, 1, 1, (0, 0, 7, 0, 3, 0))]


def test_an_object_says_how_its_loaders_are_reached(tmp_path, capsys):
    functions = [("prog", "/src/prog.c", 1, "leaf"), ("prog", "/src/prog.c", 20, "make")]
    profile = beside(tmp_path, PROFILE, functions=functions, rows=ROWS, patterns=[])
    assert main(["--width=80", "--object=heap", profile]) == 0
    text = capsys.readouterr().out
    assert "\n 75.0%  make < step < run < main\n 25.0%  make < main\nThese shares are of everything that" in text
    assert "leaf" not in text.partition("Calls through which")[2]
    assert main(["--width=40", "--object=heap", profile]) == 0
    assert "\n 75.0%  make < step < run < main\n" in capsys.readouterr().out
    assert main(["--object=unknown", profile]) == 0
    text = capsys.readouterr().out
    # All of each function's is loaded on its only way, which a column of 100.0% would not tell better.
    ways_told = text.partition("Calls through which")[2]
    assert "\nleaf < more < (recursion)\n" in ways_told and "shares" not in text and "%" not in ways_told
