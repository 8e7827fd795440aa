# SPDX-License-Identifier: GPL-2.0-or-later
"""How cores share the last level: reading it, what is said of it, and the sum over ranks."""

import json

import pytest
from bdannotate.model.errors import ProfileError
from bdannotate.reading.sharing import read_sharing
from merging import merged, refused
from test_merge_sharing import PLACES, about, sharing_file, write_rank
from test_sharing import ACCESSES, CORES, LINES, SECTIONS, beside, printed

LL_CORES = "ll-cores: core lines held"
EVICTIONS = "ll-evictions: evictor core lines again"
# 1,000 loads into a last level of 16 lines. Core 0 has a line and a half in the mean, core 2 has 12.8. Core 2 drives
# out 61 of 100 lines of core 0, which needs most of them again; core 1 loses a line for good.
HELD = [(0, 100, 1500), (1, 1, 20), (2, 899, 12800)]
DRIVEN_OUT = [(0, 0, 37, 20), (1, 0, 2, 2), (2, 0, 61, 50), (2, 1, 1, 0), (2, 2, 800, 700), (0, 2, 50, 19)]
ALL = [*SECTIONS, (LL_CORES, HELD), (EVICTIONS, DRIVEN_OUT)]
HEAD = ["ll-lines: 16"]


def told(path, capsys):
    return json.loads(printed(path, capsys, "--format=json"))["sharing"]["last_level"]


def test_cores_by_what_they_hold_and_lose(tmp_path, capsys):
    found = told(beside(tmp_path, ALL, more_head=HEAD), capsys)
    assert (found["lines"], found["loaded"]) == (16, 1000)
    assert [one["core"] for one in found["cores"]] == [0, 1, 2]
    first, second, third = found["cores"]
    assert (first["share"], second["share"], third["share"]) == (1500 / 16000, 20 / 16000, 12800 / 16000)
    assert [first[key] for key in ("loaded", "driven_out", "by_others", "again")] == [100, 100, 63, 52]
    assert [second[key] for key in ("loaded", "driven_out", "by_others", "again")] == [1, 1, 1, 0]
    assert [third[key] for key in ("loaded", "driven_out", "by_others", "again")] == [899, 850, 50, 19]
    assert {(one["evictor"], one["core"], one["lines"], one["again"]) for one in found["evictions"]} == {*DRIVEN_OUT}


def test_text(tmp_path, capsys):
    shown = printed(beside(tmp_path, ALL, more_head=HEAD), capsys, "--sharing", "--width=80")
    assert max(map(len, shown.splitlines())) <= 80
    part = shown[shown.index("== How cores share the last level =="):].splitlines()
    assert [line.split() for line in part[2:5]] == [
        ["thread", "1", "9.4%", "100", "100", "63", "52", "thread", "3,", "61%"],
        ["thread", "2", "0.1%", "1", "1", "1", "0", "thread", "3,", "100%"],
        ["thread", "3", "80.0%", "899", "850", "50", "19", "thread", "1,", "6%"],
    ]
    text = " ".join(shown.split())
    assert (
        "Thread 3 drives out 61% of the lines of thread 1 that leave the last level; thread 1 loads 50 of these 61 "
        "again." in text
    )
    assert text.count("drives out") == 1


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([(1, 0, 30, 20), (0, 0, 70, 70)], True),
        ([(1, 0, 30, 19), (0, 0, 70, 70)], False),  # less than 2% of all loads
        ([(1, 0, 24, 24), (0, 0, 76, 70)], False),  # less than a quarter of what the core loses
        ([(0, 0, 100, 100)], False),  # its own
    ],
)
def test_a_conflict_is_named_where_a_core_loads_much_again(rows, named, tmp_path, capsys):
    path = beside(tmp_path, [*SECTIONS, (LL_CORES, [(0, 500, 1), (1, 500, 1)]), (EVICTIONS, rows)], more_head=HEAD)
    assert ("drives out" in printed(path, capsys, "--sharing")) == named


def test_large_numbers_are_shortened(tmp_path, capsys):
    held = [(core, lines * 10**13, 0) for core, lines, _ in HELD]
    rows = [(evictor, core, lines * 10**13, again * 10**13) for evictor, core, lines, again in DRIVEN_OUT]
    path = beside(tmp_path, [*SECTIONS, (LL_CORES, held), (EVICTIONS, rows)], more_head=HEAD)
    shown = printed(path, capsys, "--sharing", "--width=80")
    assert max(map(len, shown.splitlines())) <= 80
    assert "8990T" in shown


def test_a_file_without_it_says_nothing_of_it(tmp_path, capsys):
    path = beside(tmp_path)
    assert "last_level" not in json.loads(printed(path, capsys, "--format=json"))["sharing"]
    assert "share the last level" not in printed(path, capsys, "--sharing")


@pytest.mark.parametrize(
    ("held", "rows"), [([(64, 1, 1)], []), ([], [(64, 1, 1, 1)]), ([], [(1, 64, 1, 1)])],
)
def test_cores_that_are_not_there_are_refused(held, rows, tmp_path):
    beside(tmp_path, [*SECTIONS, (LL_CORES, held), (EVICTIONS, rows)], more_head=HEAD)
    with pytest.raises(ProfileError, match="there is no core 64"):
        read_sharing(str(tmp_path / "sharing.p.out"))


def rank(folder, number, held, rows, lines=16):
    sections = [(LINES, []), (CORES, []), (ACCESSES, []), (LL_CORES, held), (EVICTIONS, rows)]
    data = sharing_file(about(number), PLACES, sections, more_head=[f"ll-lines: {lines}"])
    return write_rank(folder, f"out.{number}", about(number), data)


def test_ranks_are_added_up(tmp_path):
    paths = [
        rank(tmp_path, 0, [(0, 5, 50), (1, 6, 60)], [(0, 1, 1, 0), (1, 0, 2, 1)]),
        rank(tmp_path, 1, [(1, 100, 1000), (3, 7, 70)], [(1, 0, 20, 10), (3, 3, 5, 5)]),
    ]
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    assert found.ll_lines == 16
    assert found.ll_cores == ((0, 5, 50), (1, 106, 1060), (3, 7, 70))
    assert found.ll_evictions == ((0, 1, 1, 0), (1, 0, 22, 11), (3, 3, 5, 5))


def test_last_levels_of_two_sizes_are_not_merged(tmp_path, capsys):
    paths = [rank(tmp_path, number, [], [], lines) for number, lines in enumerate((16, 32))]
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert "has a last level of 32 lines, but" in error
