# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions: reading the file beside a profile, whether it agrees with it, and what is said of it."""

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
        (changed(STEPS, 3, (0x110, 0x11C, 0x120, 6, 2, 0)), "step 3 has an end that no step has"),
        (changed(STEPS, 3, (0x120, 0x11C, 0x120, 0, 2, 0)), "step 3 has an end that no step has"),
        (changed(NODES, 4, (4, 0, 0, 6, 1)), "node 4 cannot be below node 4"),
        (changed(NODES, 4, (0, 0, 0, 6, 1)), "node 4 cannot be below node 0"),
        (changed(NODES, 4, (3, 0, 0, 6, 1)), "node 4 cannot be below node 3"),
        (changed(NODES, 2, (1, 1, 2, 0, 0)), "node 2 cannot be below node 1"),
        (changed(NODES, 4, (1, 4, 0, 6, 1)), "node 4 has the unknown kind 4"),
        (changed(NODES, 4, (1, 0, 0, 7, 1)), "there is no step 7"),
        (changed(NODES, 1, (0, 1, 3, 0, 0)), "there is no function 3"),
        (changed(NODES, 1, (0, 1, 0, 0, 0)), "node 1 is no root node of a step and a function"),
        (changed(NODES, 4, (1, 0, 0, 0, 1)), "node 4 is no step node of a step and a function"),
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
        (1 << 31, "limit: 2,147,483,648 is more than the 1,073,741,824 there can be"),
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
