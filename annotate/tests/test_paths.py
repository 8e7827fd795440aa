# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions: reading the file beside a profile, whether it agrees with it, and what is said of it."""

import json

import pytest
from bdannotate.cli import main
from bdannotate.model.errors import ProfileError
from bdannotate.model.paths import Ending, NodeKind, Piece, self_costs
from bdannotate.reading.paths import read_paths
from path_files import (
    A, B, C, CELLS, EVENTS, FIND, HEAD, MAIN, NODES, OTHER, PIECES, PROFILE, SECTIONS, STEPS, beside, path_file,
)


def changed(title, place, row):
    rows = list(SECTIONS[title])
    rows[place - 1] = row
    return {**SECTIONS, title: rows}


def printed(path, capsys, *options):
    assert main([*options, path]) == 0
    return capsys.readouterr().out


def test_what_is_read(tmp_path):
    beside(tmp_path)
    paths = read_paths(str(tmp_path / "paths.p.out"))
    assert (paths.limit, paths.events, paths.nodes) == (1000, tuple(EVENTS.split()), 10)
    assert [function.name for function in paths.functions] == ["", "main", "find"]
    assert list(paths.function) == [0, 1, 2, 2, 1, 2, 2, 2, 2, 2]
    assert paths.kind[3] == NodeKind.OTHER
    first = paths.steps[1]
    assert (first.begin, first.last, first.end, first.ending) == (0x100, 0x10C, 0x110, Ending.NOT_TAKEN)
    assert first.pieces == (Piece("/src/hash.c", 10, 3), Piece("/src/hash.c", 12, 2))
    assert paths.steps_to(9) == ((2, False), (4, False), (5, True))
    assert dict(paths.costs()) == {3: OTHER, 4: MAIN, 6: A, 8: B, 9: C}
    assert {function.name: row for function, row in self_costs(paths).items()} == {"main": MAIN, "find": FIND}


def test_parts_are_added_up_path_by_path(tmp_path):
    """In the second part nodes and steps have other numbers, and one path is new."""
    other = {
        STEPS: [SECTIONS[STEPS][1], SECTIONS[STEPS][3], SECTIONS[STEPS][5]],
        PIECES: [(1, 1, 10, 3), (1, 1, 12, 2), (2, 1, 16, 2), (2, 1, 18, 1), (3, 1, 2, 5), (3, 1, 3, 15)],
        NODES: [(0, 1, 2, 0, 0), (1, 0, 0, 1, 4), (2, 0, 0, 2, 6), (0, 1, 1, 0, 0)],
        CELLS: [(2, 0, 0, 0, 0, 5, 0, 0), (3, 3, 0, 0, 0, 0, 2, 9)],
    }
    second = path_file(other, head_lines=HEAD.replace("part: 1", "part: 2"))
    beside(tmp_path, path_file() + b"\n" + second)
    paths = read_paths(str(tmp_path / "paths.p.out"))
    assert len(paths.parts) == 2
    # 8 is B, and 7 its beginning, which ended four times in the second part.
    assert dict(paths.costs()) == {
        3: OTHER, 4: MAIN, 6: A, 7: (4 * 5, 4, 4, 5, 0, 0),
        8: tuple(mine + more for mine, more in zip(B, (6 * 8, 6, 12, 0, 2, 9))), 9: C,
    }
    assert (paths.times[7], paths.times[8]) == (4, 76)


def test_check_says_that_paths_add_up(tmp_path, capsys):
    text = printed(beside(tmp_path), capsys, "--check")
    assert "paths.p.out: 5 paths of 2 functions: from the same run as the profile" in text


def test_check_names_the_function_and_the_event_that_differ(tmp_path, capsys):
    path = beside(tmp_path, path_file(changed(CELLS, 6, (8, 3, 0, 0, 0, 1, 19, 100))))
    assert main(["--check", path]) == 1
    assert "D1mw of find: its paths have 19, but the profile 20" in " ".join(capsys.readouterr().err.split())


def test_check_compares_named_functions_alone(tmp_path, capsys):
    sections = {
        **SECTIONS,
        NODES: [(0, 1, 1, 0, 0), (1, 0, 0, 6, 1)],
        CELLS: [(2, 0, 0, 0, 0, 9, 0, 0)],
    }
    assert "1 paths of 1 functions" in printed(beside(tmp_path, path_file(sections)), capsys, "--check")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (path_file(head_lines=HEAD.replace("pid: 7", "pid: 8")), "from another run"),
        (path_file(events="Ir Dr Dw D1mr D1mw Bc", sections={
            title.replace("SpLoss1", "Bc"): rows for title, rows in SECTIONS.items()
        }), "has the event Bc, but"),
    ],
)
def test_of_another_run_it_is_a_violation(data, sentence, tmp_path, capsys):
    assert main(["--check", beside(tmp_path, data)]) == 1
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({title: rows for title, rows in SECTIONS.items() if title != CELLS}, "'cells:' is missing"),
        ({**SECTIONS, "cells: node place Ir": [(1, 0, 0)]}, "cells: has no column Dr"),
        (changed(PIECES, 1, (7, 1, 10, 3)), "there is no step 7"),
        (changed(PIECES, 1, (1, 2, 10, 3)), "there is no file 2"),
        (changed(PIECES, 1, (1, 1, 10, 0)), "step 1 has a piece without instructions"),
        (changed(STEPS, 3, (0x110, 0x11C, 0x120, 6, 2, 0)), "step 3 has an impossible end"),
        (changed(STEPS, 3, (0x120, 0x11C, 0x120, 0, 2, 0)), "step 3 has an impossible end"),
        (changed(NODES, 4, (4, 0, 0, 6, 1)), "node 4 cannot be below node 4"),
        (changed(NODES, 4, (0, 0, 0, 6, 1)), "node 4 cannot be below node 0"),
        (changed(NODES, 4, (3, 0, 0, 6, 1)), "node 4 cannot be below node 3"),
        (changed(NODES, 2, (1, 1, 2, 0, 0)), "node 2 cannot be below node 1"),
        (changed(NODES, 4, (1, 4, 0, 6, 1)), "node 4 has the unknown kind 4"),
        (changed(NODES, 4, (1, 0, 0, 7, 1)), "there is no step 7"),
        (changed(NODES, 1, (0, 1, 3, 0, 0)), "there is no function 3"),
        (changed(NODES, 1, (0, 1, 0, 0, 0)), "node 1 has a step or a function that no root node has, or lacks one"),
        (changed(NODES, 4, (1, 0, 0, 0, 1)), "node 4 has a step or a function that no step node has, or lacks one"),
        (changed(CELLS, 6, (10, 0, 0, 0, 0, 1, 0, 0)), "there is no node 10"),
        (changed(CELLS, 6, (8, 4, 0, 0, 0, 1, 0, 0)), "there is no place 4"),
        (changed(CELLS, 3, (2, 0, 0, 0, 0, 9, 0, 0)), "its cells are not in the order of its nodes"),
        (changed(CELLS, 1, (0, 0, 0, 0, 0, 9, 0, 0)), "its cells are not in the order of its nodes"),
        ({**SECTIONS, NODES: [(0, 1, 1, 0, 0), *((node, 0, 0, 1, 1) for node in range(1, 260))]},
         "it has a path of more than 255 steps"),
    ],
)
def test_what_cannot_be_is_refused(sections, sentence, tmp_path, capsys):
    path = beside(tmp_path, path_file(sections))
    with pytest.raises(ProfileError, match=sentence):
        read_paths(str(tmp_path / "paths.p.out"))
    assert main(["--check", path]) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (5, "it has 6 beginnings of paths, more than its limit of 5"),
        (0, "limit: '0' is not a number above 0"),
        (1 << 31, "limit: 2,147,483,648 is more than 1,073,741,824, the most there can be"),
    ],
)
def test_what_the_head_states_bounds_what_follows(limit, sentence, tmp_path):
    beside(tmp_path, path_file(limit=limit))
    with pytest.raises(ProfileError, match=sentence):
        read_paths(str(tmp_path / "paths.p.out"))


def test_cells_are_bounded_too(tmp_path):
    cells = [*SECTIONS[CELLS], *((9, 1, 0, 0, 0, 0, 0, 1) for _ in range(4))]
    beside(tmp_path, path_file({**SECTIONS, CELLS: cells}, limit=7))
    with pytest.raises(ProfileError, match="it has 8 cells, more than its limit of 7"):
        read_paths(str(tmp_path / "paths.p.out"))


def test_a_file_that_ends_early_is_refused(tmp_path):
    data = path_file()
    for size in range(0, len(data), 7):
        beside(tmp_path, data[:size])
        with pytest.raises(ProfileError):
            read_paths(str(tmp_path / "paths.p.out"))


def test_profile_is_consistent(tmp_path, capsys):
    """The hand counts agree with each other."""
    assert tuple(map(sum, zip(A, B, C, OTHER))) == FIND
    (tmp_path / "p.out").write_text(PROFILE)
    assert "all costs add up" in printed(str(tmp_path / "p.out"), capsys, "--check")


WHOLE = """\
Profile  p.out (bdgrind-1, pid 7)
Command  prog

== Paths within functions ==
2 functions executed 4 paths. A path or function is hot if it has 1% or more of
the total (101 D1 misses), and dense if it has more of that per instruction than
the whole program.

 D1 misses      instr.
------------------------------------------------------------------
100  99.0%  820  93.5%  3 hot paths
 79  78.2%  260  29.6%    2 dense
 21  20.8%  560  63.9%    1 sparse
  0          50   5.7%  1 colder path
  1   1.0%    7   0.8%  not separated: see --paths-nodes
101 100.0%  877 100.0%  2 hot functions, with 2.0 paths on average
  9   8.9%   20   2.3%    1 dense
 92  91.1%  857  97.7%    1 sparse

D1 misses  never used  instr.  D1 miss  path
---------------------------------------------------------------
92  91.1%  740 100.0%   97.7%    26.3%  find  hash.c [prog]
70  69.3%  640  86.5%   27.4%    58.8%    1. 30 times, dense
    lines 10, 12-14
    at line 12: to 13 rather than 16
21  20.8%  100  13.5%   63.9%    10.0%    2. 70 times, sparse
    lines 10, 12, 16, 18
    at line 12: to 16 rather than 13
 0           0           5.7%     0.0%    1 colder path
 1   1.0%    0           0.8%   100.0%    not separated: 1 time
 9   8.9%    0           2.3%   150.0%  main  hash.c [prog]
 9   8.9%    0           2.3%   150.0%    1. 1 time, dense
    lines 2-3
"""


def test_hot_paths_are_shown(tmp_path, capsys, monkeypatch):
    beside(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert printed("p.out", capsys, "--paths", "--width=80") == WHOLE


def test_other_metrics_and_marks(tmp_path, capsys):
    path = beside(tmp_path)
    text = " ".join(printed(path, capsys, "--paths", "--sort=Ir", "--threshold=20", "--width=80").split())
    # B has 560 of 877 instructions, A 240; as many for each instruction as the program is all there can be.
    assert "is hot if it has 20% or more of the total (877 instr.)" in text
    assert "1. 70 times lines 10, 12, 16, 18" in text and "2. 30 times lines 10, 12-14" in text
    assert "main" not in text
    text = " ".join(printed(path, capsys, "--paths", "--sort=D1mw", "--width=80").split())
    assert "1 hot path 20 100.0%" in text
    # A mark of a column is as good; a ratio has no share, so it is of the next column.
    text = printed(path, capsys, "--paths", "--sort=D1rate,D1mw:self:3")
    assert "3% or more of the total (20 D1 wr miss)" in text


def test_some_functions_alone(tmp_path, capsys):
    text = " ".join(printed(beside(tmp_path), capsys, "--paths", "--function=main", "--width=80").split())
    assert "1 function executed 1 path." in text
    assert "1% or more of the total (9 D1 misses of these functions)" in text
    assert "find" not in text


def test_what_does_not_fit_a_limit_is_summed(tmp_path, capsys):
    text = printed(beside(tmp_path), capsys, "--paths", "--limit=1", "--width=80")
    assert "21  20.8%  100  13.5%   63.9%    10.0%    1 more hot path\n" in text
    assert text.endswith("2 more hot paths: --limit=all\n")


def test_functions_that_were_not_followed_are_named(tmp_path, capsys):
    sections = {**SECTIONS, NODES: [(0, 1, 1, 0, 0), (1, 0, 0, 6, 1)], CELLS: [(2, 0, 0, 0, 0, 9, 0, 0)]}
    text = printed(beside(tmp_path, path_file(sections)), capsys, "--paths", "--width=80")
    assert "\n92  91.1%  857  97.7%  functions without paths\n" in text


def test_without_misses_nothing_is_hot(tmp_path, capsys):
    profile = PROFILE.replace("72 20 740", "0 0 740").replace(" 9 0 0", " 0 0 0").replace("81 20 740", "0 0 740")
    cells = [(node, place, *row[:3], 0, 0, row[5]) for node, place, *row in SECTIONS[CELLS]]
    text = printed(beside(tmp_path, path_file({**SECTIONS, CELLS: cells}), profile), capsys, "--paths", "--width=80")
    assert "0 hot paths" in text and "4 colder paths" in text
    assert "find" not in text


def test_source_lines_are_quoted(tmp_path, capsys, monkeypatch):
    path = beside(tmp_path)
    (tmp_path / "hash.c").write_text("\n" * 11 + "    if (key\t==  wanted) \x1b[31m\n")
    monkeypatch.chdir(tmp_path)
    text = printed(path, capsys, "--paths", "--include=.", "--width=80")
    assert "    at line 12 (if (key == wanted) ?[31m): to 13 rather than 16\n" in text


def test_paths_that_do_not_add_up_are_not_shown(tmp_path, capsys):
    path = beside(tmp_path, path_file(changed(CELLS, 6, (8, 3, 0, 0, 0, 1, 19, 100))))
    assert main(["--paths", path]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the paths of find do not cost what the profile says that it costs; --check says more" in said


def test_names_do_not_reach_the_terminal(tmp_path, capsys):
    data = path_file().replace(b" find\n", b" fi\x1b[2Jnd\n").replace(b"hash.c", b"h\x1bsh.c")
    profile = PROFILE.replace("find", "fi\x1b[2Jnd").replace("hash.c", "h\x1bsh.c")
    assert "\x1b" not in printed(beside(tmp_path, data, profile), capsys, "--paths", "--threshold=0")


def test_json(tmp_path, capsys):
    found = json.loads(printed(beside(tmp_path), capsys, "--format=json", "--paths"))["paths"]
    assert (found["metric"], found["threshold"], found["base"], found["limit"]) == ("D1m", 1.0, 101, 1000)
    assert found["events"] == EVENTS.split()
    find, other = found["functions"]
    assert (find["function"], find["file"], find["object"], find["paths"]) == ("find", "/src/hash.c", "prog", 3)
    assert find["self"] == list(FIND)
    first, second = find["hot"]
    assert (first["times"], first["self"], first["dense"]) == (30, list(A), True)
    assert first["trail"] == [{"file": "/src/hash.c", "lines": [10, 10]}, {"file": "/src/hash.c", "lines": [12, 14]}]
    at = {"file": "/src/hash.c", "line": 12, "address": 0x10C}
    thirteen = {"file": "/src/hash.c", "line": 13, "address": 0x110}
    sixteen = {"file": "/src/hash.c", "line": 16, "address": 0x130}
    assert find["branches"] == [{"at": at, "ways": [thirteen, sixteen]}]
    assert first["partings"] == [{"branch": 0, "way": 0}] and second["partings"] == [{"branch": 0, "way": 1}]
    assert find["colder"] == {"paths": 1, "self": list(C)}
    assert find["other"] == {"times": 1, "self": list(OTHER)}
    assert (other["function"], other["hot"][0]["self"], other["hot"][0]["partings"]) == ("main", list(MAIN), [])
    assert found["unfollowed"] == [0] * 6


def test_without_a_file_it_is_said_what_writes_one(tmp_path, capsys):
    path = beside(tmp_path)
    (tmp_path / "paths.p.out").unlink()
    assert main(["--paths", path]) != 0
    assert "a run with --paths=yes, or --paths=FUNCTION," in " ".join(capsys.readouterr().err.split())


def test_only_who_asks_reads_the_file(tmp_path, capsys):
    path = beside(tmp_path, path_file()[:300])
    printed(path, capsys)
    assert main(["--paths", path]) != 0


@pytest.mark.parametrize("option", ["--format=csv", "--format=sarif", "--html=page.html", "--check", "--diff"])
def test_what_has_no_place_for_paths_says_so(option, tmp_path, capsys):
    path = beside(tmp_path)
    assert main([option, "--paths", path, *([path] if option == "--diff" else [])]) == 2
    assert "--paths" in capsys.readouterr().err


def partings_of(tmp_path, capsys, steps, pieces, routes):
    """What is said of paths of `find` of so many steps each, by the order of the routes: the first is the costliest."""
    nodes, cells = [(0, 1, 2, 0, 0)], []
    known = {(): 1}
    for number, route in enumerate(routes):
        for length in range(1, len(route) + 1):
            if route[:length] not in known:
                nodes.append((known[route[: length - 1]], 0, 0, route[length - 1], 0))
                known[route[:length]] = len(nodes)
        nodes[known[route] - 1] = (*nodes[known[route] - 1][:4], 1)
        cells.append((known[route], 0, 0, 0, 0, 100 - number, 0, 0))
    data = path_file({STEPS: steps, PIECES: pieces, NODES: nodes, CELLS: sorted(cells)})
    beside(tmp_path, data)
    (costs,) = self_costs(read_paths(str(tmp_path / "paths.p.out"))).values()
    row = " ".join(map(str, costs))
    profile = PROFILE.replace(" ".join(map(str, FIND)), row)
    profile = profile[: profile.index("totals:")] + f"totals: {' '.join(map(str, map(sum, zip(MAIN, costs))))}\n"
    whole = json.loads(printed(beside(tmp_path, data, profile), capsys, "--format=json", "--paths"))["paths"]
    found = whole["functions"][0]
    text = printed(beside(tmp_path, data, profile), capsys, "--paths")
    assert text.count("\n    at ") + text.count("\n    begins ") == sum(len(path["partings"]) for path in found["hot"])
    return [line.strip() for line in text.split("\n") if line.startswith(("    at ", "    begins ", "      "))]


def test_a_block_that_is_left_in_its_middle(tmp_path, capsys):
    """Lines 10 to 14 are one block, left behind 11 to 20, behind 14 to 15, or there back to where it began."""
    steps = [
        (0x10, 0x18, 0x1C, 3, 0, 0), (0x10, 0x2C, 0x30, 4, 0, 0), (0x10, 0x2C, 0x30, 3, 0, 0),
        (0x50, 0x50, 0x54, 2, 0, 0), (0x30, 0x34, 0x38, 2, 0, 0),
    ]
    block = [(10, 2), (11, 1), (12, 3), (14, 2)]
    pieces = [
        *((1, 1, *piece) for piece in block[:2]), *((2, 1, *piece) for piece in block),
        *((3, 1, *piece) for piece in block), (4, 1, 20, 1), (5, 1, 15, 2),
    ]
    assert partings_of(tmp_path, capsys, steps, pieces, [(1, 4), (2, 5), (3,)]) == [
        "at line 11: to 20 rather than 12",
        "at line 11: to 12 rather than 20", "at line 14: to 15 rather than going back",
        "at line 11: to 12 rather than 20", "at line 14: goes back rather than to 15",
    ]


def test_an_exit_that_leads_to_several_places(tmp_path, capsys):
    steps = [
        (0x10, 0x18, 0x1C, 5, 0, 0), (0x30, 0x30, 0x34, 2, 0, 0), (0x40, 0x40, 0x44, 2, 0, 0),
        (0x50, 0x50, 0x54, 2, 0, 0),
    ]
    pieces = [(1, 1, 10, 3), (2, 1, 11, 1), (3, 1, 11, 1), (4, 1, 12, 1)]
    assert partings_of(tmp_path, capsys, steps, pieces, [(1, 2), (1, 3), (1, 4)]) == [
        "at line 10: to 11 (0x30) rather than 11 (0x40) or 12",
        "at line 10: to 11 (0x40) rather than 11 (0x30) or 12",
        "at line 10: to 12 rather than 11 (0x30) or 11 (0x40)",
    ]


def test_of_many_ways_some_are_named(tmp_path, capsys):
    steps = [(0x10 * number, 0x10 * number, 0x10 * number + 4, 2, 0, 0) for number in range(1, 7)]
    pieces = [(number, 1, 10 + number, 1) for number in range(1, 7)]
    first, *_ = partings_of(tmp_path, capsys, steps, pieces, [(number,) for number in range(1, 7)])
    assert first == "begins at 11, not at 12, 13, 14 or 2 others"
    path = str(tmp_path / "p.out")
    assert "begins at 11, not at 12, 13, 14, 15 or 16\n" in printed(path, capsys, "--paths", "--full-names")


def test_paths_that_begin_in_different_places(tmp_path, capsys):
    steps = [(0x10, 0x18, 0x1C, 2, 0, 0), (0x30, 0x30, 0x34, 2, 0, 0)]
    pieces = [(1, 1, 10, 3), (2, 0, 0, 1)]
    assert partings_of(tmp_path, capsys, steps, pieces, [(1,), (2,)]) == [
        "begins at 10, not at 0x30", "begins at 0x30, not at 10",
    ]


def test_a_page_leaves_out_what_cannot_be_read(tmp_path, capsys):
    path = beside(tmp_path, path_file()[:300])
    page = str(tmp_path / "page.html")
    assert main([f"--html={page}", path]) == 0
    assert "note: paths within functions are left out:" in " ".join(capsys.readouterr().err.split())
    beside(tmp_path)
    assert main([f"--html={page}", path]) == 0
    assert capsys.readouterr().err == ""
