# SPDX-License-Identifier: GPL-2.0-or-later
"""What several cores load: reading it, what is said of it, and the sum over ranks."""

import json

import pytest
from bdannotate.model.errors import ProfileError
from bdannotate.reading.sharing import read_sharing
from merging import merged, refused
from test_merge_sharing import PLACES, about, sharing_file, write_rank
from test_sharing import ACCESSES, CORES, LINES, SECTIONS, beside, printed

LOADS = "loads: core place group pages lines second further"
MISSES = "page-misses: load core misses"
# Core 0 touches 100 pages first, at the first place; cores 1 and 2 miss there. Core 1 has a page of its own.
ROWS = [(0, 1, 0, 100, 5000, 0, 0), (1, 1, 0, 0, 0, 7, 0), (1, 2, 0, 1, 60, 4000, 2), (2, 2, 0, 0, 0, 0, 3000)]
MISSED = [(1, 0, 1000), (1, 1, 2000), (1, 2, 1000), (3, 1, 50)]
ALL = [*SECTIONS, (LOADS, ROWS), (MISSES, MISSED)]
PAGE = ["page: 4096"]


def told(path, capsys):
    return json.loads(printed(path, capsys, "--format=json"))["sharing"]


def test_what_is_read(tmp_path):
    beside(tmp_path, ALL, more_head=PAGE)
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert found.page == 4096
    assert [load.misses for load in found.loads] == [((0, 1000), (1, 2000), (2, 1000)), (), ((1, 50),), ()]
    assert (found.loads[2].place.line, found.loads[2].second, found.loads[2].further) == (24, 4000, 2)


def test_first_touches_are_by_place_and_misses_by_core(tmp_path, capsys):
    found = told(beside(tmp_path, ALL, more_head=PAGE), capsys)["first_touch"]
    assert (found["page"], found["pages"], found["misses"], found["of_others"]) == (4096, 101, 4050, 3000)
    (touch,) = found["data"]  # what only its own core misses is not listed
    assert (touch["core"], touch["pages"], touch["spread"]) == (0, 100, True)
    assert touch["place"] == {"function": "count", "file": "/src/prog.c", "line": 23}
    assert [(one["core"], one["misses"]) for one in touch["misses"]] == [(1, 2000), (0, 1000), (2, 1000)]


def test_lines_that_several_cores_load(tmp_path, capsys):
    (again,) = told(beside(tmp_path, ALL, more_head=PAGE), capsys)["loaded_again"]
    assert (again["lines"], again["loads"], again["bytes"]) == (4007, 7009, 7009 * 64)
    assert [place["line"] for place in again["places"]] == [24, 23]


def test_text(tmp_path, capsys):
    shown = printed(beside(tmp_path, ALL, more_head=PAGE), capsys, "--sharing", "--width=80")
    assert max(map(len, shown.splitlines())) <= 80
    text = " ".join(shown.split())
    assert "3,000 of 4,050 (74%) misses of the last level are in pages that another core touched first" in text
    assert "data: 100 pages, first touched by thread 1 in count (prog.c:23); 3,000 of 4,000 (75%) misses" in text
    assert "by others: thread 2 50%, thread 3 25%; initialise in parallel" in text
    assert "data: 4,007 lines, loaded 7,009 more times, 449k bytes; count (prog.c:24), count (prog.c:23)" in text


@pytest.mark.parametrize(
    ("misses", "spread"),
    [
        ([(1, 0, 1000), (1, 1, 500), (1, 2, 500)], True),
        ([(1, 0, 1001), (1, 1, 500), (1, 2, 500)], False),  # most are its own
        ([(1, 0, 10), (1, 1, 5000)], False),  # there is only one other core
        ([(1, 0, 1), (1, 1, 5), (1, 2, 5), (3, 1, 400)], True),
        ([(1, 0, 1), (1, 1, 5), (1, 2, 5), (3, 1, 5000)], False),  # too few of all
    ],
)
def test_spreading_is_proposed_where_several_others_miss_most(misses, spread, tmp_path, capsys):
    path = beside(tmp_path, [*SECTIONS, (LOADS, ROWS), (MISSES, misses)], more_head=PAGE)
    assert told(path, capsys)["first_touch"]["data"][0]["spread"] == spread
    assert ("initialise in parallel" in printed(path, capsys, "--sharing")) == spread


def test_rows_that_are_too_small_are_counted(tmp_path, capsys):
    rows = [(0, 1, 0, 10, 0, 0, 0), (0, 2, 0, 10, 0, 0, 0)]
    path = beside(tmp_path, [*SECTIONS, (LOADS, rows), (MISSES, [(1, 1, 5000), (2, 1, 5)])], more_head=PAGE)
    assert "1 more, with 5 misses by others: --limit=all" in printed(path, capsys, "--sharing")
    assert "more, with" not in printed(path, capsys, "--sharing", "--limit=all")


def test_a_file_without_loads_says_nothing_of_them(tmp_path, capsys):
    path = beside(tmp_path)
    assert "first_touch" not in told(path, capsys)
    assert "touches first" not in printed(path, capsys, "--sharing")


@pytest.mark.parametrize(
    ("rows", "misses", "sentence"),
    [
        ([(64, 1, 0, 1, 1, 1, 1)], [], "there is no core 64"),
        ([(0, 3, 0, 1, 1, 1, 1)], [], "there is no place 3"),
        (ROWS, [(5, 0, 1)], "there is no load 5"),
        (ROWS, [(0, 0, 1)], "there is no load 0"),
        (ROWS, [(1, 64, 1)], "there is no core 64"),
    ],
)
def test_what_is_not_there_is_refused(rows, misses, sentence, tmp_path):
    beside(tmp_path, [*SECTIONS, (LOADS, rows), (MISSES, misses)], more_head=PAGE)
    with pytest.raises(ProfileError, match=sentence):
        read_sharing(str(tmp_path / "sharing.p.out"))


def rank_file(rank, rows, misses, page=4096, places=2):
    sections = [(LINES, []), (CORES, []), (ACCESSES, []), (LOADS, rows), (MISSES, misses)]
    return sharing_file(about(rank), PLACES[:places], sections, more_head=[f"page: {page}"])


def test_loads_of_ranks_are_added_up(tmp_path):
    """By hand: the same place, core and data in two ranks are one row, whatever their numbers."""
    first = rank_file(0, [(0, 1, 0, 1, 2, 3, 4), (1, 2, 0, 5, 0, 0, 0)], [(1, 0, 10), (1, 1, 20), (2, 1, 30)])
    second = rank_file(1, [(0, 0, 0, 9, 0, 0, 0), (0, 1, 0, 10, 20, 30, 40)], [(1, 3, 7), (2, 1, 100)])
    paths = [write_rank(tmp_path, f"out.{rank}", about(rank), data) for rank, data in enumerate((first, second))]
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    rows = {
        (load.core, load.place and load.place.line): (*load[4:8], dict(load.misses)) for load in found.loads
    }
    assert found.page == 4096
    assert rows == {
        (0, 6): (11, 22, 33, 44, {0: 10, 1: 120}), (1, 23): (5, 0, 0, 0, {1: 30}), (0, None): (9, 0, 0, 0, {3: 7}),
    }


def test_many_loads_of_ranks_are_folded(tmp_path, monkeypatch):
    monkeypatch.setattr("bdannotate.merging.beside.MOST_LINES", 4)
    rows = [(core, place, 0, core + 1, 10 * place, 0, 1) for core in range(3) for place in (1, 2)]
    data = rank_file(0, rows, [(number, 3, number) for number in range(1, 7)])
    merged(tmp_path, [write_rank(tmp_path, "out.0", about(0), data)])
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    assert len(found.loads) == 5  # two, and one of each core
    for column in range(4, 8):
        assert sum(load[column] for load in found.loads) == sum(row[column - 1] for row in rows)
    assert sum(count for load in found.loads for _, count in load.misses) == sum(range(7))


def test_ranks_with_pages_of_two_sizes_are_not_merged(tmp_path, capsys):
    paths = [
        write_rank(tmp_path, f"out.{rank}", about(rank), rank_file(rank, [(0, 1, 0, 1, 1, 0, 0)], [], page))
        for rank, page in enumerate((4096, 16384))
    ]
    assert "has pages of 16384 bytes, but" in refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
