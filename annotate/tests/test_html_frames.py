# SPDX-License-Identifier: GPL-2.0-or-later
"""From which loops the paths of a page call."""

import pytest

from context_files import ContextFile
from html_pages import report

# Counted by hand. a and b call work, with 3 and 5 iterations of a loop that calls g (5 instructions) and f (3). Behind
# the loop, work calls f once more.
FUNCTIONS = [("/x/loop", "loop.c", 1, name) for name in ("main", "a", "b", "work", "f", "g")]
PROFILE = """\
pid: 7
cmd: loop
part: 1
positions: instr line
events: Ir
ob=/x/loop
fl=loop.c
fn=main
0x10 1 1
0x11 2 1
cfn=a
calls=1 0x20
0x11 2 44
0x12 3 1
cfn=b
calls=1 0x30
0x12 3 68
0x13 4 1
fn=a
0x20 10 1
cfn=work
calls=1 0x40
0x20 10 42
0x21 11 1
fn=b
0x30 20 1
cfn=work
calls=1 0x40
0x30 20 66
0x31 21 1
fn=work
0x40 30 2
0x41 31 8
0x43 32 8
cfn=g
calls=8 0x60
0x43 32 40
0x44 33 8
cfn=f
calls=8 0x50
0x44 33 24
jcnd=6/8 0x41 31
0x48 31
0x48 31 8
0x4a 35 2
cfn=f
calls=2 0x50
0x4a 35 6
0x4b 36 2
fn=f
0x50 40 30
fn=g
0x60 50 40
"""
# As nodes, without the calling instructions: depth, function, calls, self.
PATHS = [
    (0, 0, 0, 0), (1, 1, 0, 4), (2, 2, 1, 2), (3, 4, 1, 15), (4, 5, 4, 12), (4, 6, 3, 15),
    (2, 3, 1, 2), (3, 4, 1, 23), (4, 5, 6, 18), (4, 6, 5, 25),
]
# With them: f below work is two nodes, by the address.
SITES = [
    (0, 0, 0, 0, 0), (1, 1, 0, 4, 0), (2, 2, 1, 2, 0x11), (3, 4, 1, 15, 0x20),
    (4, 5, 3, 9, 0x44), (4, 5, 1, 3, 0x4A), (4, 6, 3, 15, 0x43),
    (2, 3, 1, 2, 0x12), (3, 4, 1, 23, 0x30), (4, 5, 5, 15, 0x44), (4, 5, 1, 3, 0x4A), (4, 6, 5, 25, 0x43),
]


def beside(folder, sites=False, profile=PROFILE):
    """The profile, with its tree."""
    if sites:
        nodes = [(depth, function, calls, (own,), ("loop.c" if at else "", 9 if at else 0, at))
                 for depth, function, calls, own, at in SITES]
    else:
        nodes = [(depth, function, calls, (own,)) for depth, function, calls, own in PATHS]
    (folder / "loop.out").write_text(profile)
    (folder / "contexts.loop.out").write_bytes(
        ContextFile(("Ir",), FUNCTIONS, ["thread 1"], nodes, head="pid: 7\ncmd: loop\npart: 1").bytes())
    return folder / "loop.out"


def called_inside(page):
    """Of each path that a loop calls, the line of that loop."""
    tree, frames = page.table("tree"), page.table("frames")
    names = page.functions()

    def path(node):
        name = page.facts["frames"][tree["frame"][node]]
        above = tree["parent"][node]
        return (*(path(above - 1) if above else ()), names[name][0] if isinstance(name, int) else name)

    return sorted(
        (path(node)[2:], frames["line"][within - 1], tree["calls"][node])
        for node, within in enumerate(tree["within"]) if within
    )


def test_a_path_is_in_the_loop_that_all_calls_are_from(tmp_path):
    """f is called from the loop and from behind it, so it is not known how much of it is the loop's."""
    page = report(tmp_path, beside(tmp_path))
    assert called_inside(page) == [(("a", "work", "g"), 31, 3), (("b", "work", "g"), 31, 5)]


def test_calling_instructions_tell_more(tmp_path):
    page = report(tmp_path, beside(tmp_path, sites=True))
    assert called_inside(page) == [
        (("a", "work", "f"), 31, 3), (("a", "work", "g"), 31, 3),
        (("b", "work", "f"), 31, 5), (("b", "work", "g"), 31, 5),
    ]


@pytest.mark.parametrize("sites, known", [(False, 0), (True, 4)])
def test_a_call_from_outside_of_the_loop_makes_all_uncertain(tmp_path, sites, known):
    page = report(tmp_path, beside(tmp_path, sites, PROFILE + "fn=work\ncfn=g\ncalls=1 0x60\n0x4b 36 0\n"))
    assert len(called_inside(page)) == known


def test_without_loops_or_paths_nothing_is_written(tmp_path):
    path = beside(tmp_path)
    (tmp_path / "contexts.loop.out").unlink()
    assert "tree" not in report(tmp_path, path).facts["tables"]
    plain = PROFILE.replace("jcnd=6/8 0x41 31\n0x48 31\n", "")
    page = report(tmp_path, beside(tmp_path, profile=plain))
    assert "within" not in page.facts["tables"]["tree"]["columns"]
