# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects in the web report."""

import pathlib
import re

from html_pages import json_of, report
from test_objects import GROUPS, HEAD, HEAP, PROFILE, ROWS, beside as objects_beside


def folded(group, size):
    """Of each byte of an element how often it was loaded and used, from the JSON's patterns."""
    found = [[0, 0] for _ in range(size)]
    for offset, length, used, times, _ in group["patterns"]:
        for byte in range(length):
            found[(offset + byte) % size][0] += times
            found[(offset + byte) % size][1] += times * (used >> byte & 1)
    return [tuple(byte) for byte in found]


def test_data_objects_are_those_of_the_json(tmp_path, capsys):
    profile = objects_beside(tmp_path)
    page = report(tmp_path, profile)
    truth = json_of(capsys, "--objects", profile)["objects"]
    found = page.facts["data"]
    files, names = page.facts["files"], page.functions()
    assert found["events"] == truth["events"]
    assert page.costs("data", "self:") == [group["self"] for group in truth["groups"]]
    for mine, group in zip(found["groups"], truth["groups"], strict=True):
        assert (mine["kind"], mine["label"]) == (group["kind"], group["label"])
        assert (mine["object"] or None, mine["size"] or None) == (group["object"], group["size"])
        assert (None if mine["function"] is None else names[mine["function"]][0]) == group["function"]
        assert [
            {"function": names[function][0], "file": files[file], "line": line}
            for function, file, line in mine["places"]
        ] == group["places"]
        assert bool(mine["blocks"]) == bool(group["blocks"])
        for key, value in (mine["blocks"] or {}).items():
            assert value == group["blocks"]["most_alive" if key == "mostAlive" else key]
    rows = page.table("dataRows")
    assert [
        {"group": group, "function": names[function][0], "file": files[file], "line": line, "self": cost}
        for group, function, file, line, cost in zip(
            rows["group"], rows["function"], rows["file"], rows["line"], page.costs("dataRows", "self:")
        )
    ] == [{key: value for key, value in row.items() if key != "function_id"} for row in truth["rows"]]
    (heap,) = [group for group in truth["groups"] if group["patterns"]]
    (layout,) = [group["layout"] for group in found["groups"] if group["layout"]]
    assert layout == {
        "size": 16, "reason": "the size of every block", "first": 0, "unmapped": 1, "knowsBorders": True,
        "loads": 12, "cut": 2, "users": [],
    }
    table = page.table("dataBytes")
    assert list(zip(table["loaded"], table["used"])) == folded(heap, 16)
    assert table["borders"] == (0,) * 8 + (2,) + (0,) * 7


def test_which_bytes_are_of_a_sample_is_said(tmp_path):
    assert report(tmp_path, objects_beside(tmp_path)).facts["data"]["sample"] == ""
    sampled = objects_beside(tmp_path, head=f"{HEAD}\nsample: 8")
    assert "then one in 8, counted 8 times" in report(tmp_path, sampled).facts["data"]["sample"]


def test_data_objects_of_two_profiles_are_added_up(tmp_path, capsys):
    (tmp_path / "other").mkdir()
    both = [objects_beside(tmp_path), objects_beside(tmp_path / "other")]
    page = report(tmp_path, *both)
    truth = json_of(capsys, "--objects", *both)["objects"]
    assert page.costs("data", "self:") == [group["self"] for group in truth["groups"]]
    (tmp_path / "other" / "objects.p.out").unlink()
    assert report(tmp_path, *both).facts["data"] is None


def test_data_objects_of_another_run_are_left_out(tmp_path, capsys):
    profile = pathlib.Path(objects_beside(tmp_path))
    text = profile.read_text().replace("6 100 4 522", "6 100 4 523")
    profile.write_text(text.replace("totals: 110 5 522", "totals: 110 5 523"))
    page = report(tmp_path, profile)
    assert page.facts["data"] is None and "data" not in page.facts["tables"]
    assert "objects.p.out has 522 SpLoss1 and " in capsys.readouterr().err


def test_data_objects_that_cannot_be_read_are_left_out(tmp_path, capsys):
    """The profile is none the worse."""
    profile = objects_beside(tmp_path)
    damaged = tmp_path / "objects.p.out"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    page = report(tmp_path, profile)
    assert page.facts["data"] is None and "data" not in page.facts["tables"]
    assert re.fullmatch(
        r"bd_annotate: note: data objects are left out: \S*objects\.p\.out: [^\n]* cut off[^\n]*\n",
        capsys.readouterr().err,
    )


def two_with_objects(tmp_path):
    """From one to the other, the variable grows and is loaded more, the blocks are gone, and there are others."""
    folders = [tmp_path / name for name in ("before", "after")]
    for folder in folders:
        folder.mkdir()
    heap = HEAP.replace("2 1 22 100", "2 1 30 100").replace("1 1 5 200 1", "2 1 31 200 1")
    groups = [GROUPS[0], heap, "static 1 96 table", *GROUPS[3:]]
    rows = [*ROWS[:3], (3, 1, 1, 8, (0, 0, 96, 3, 96, 12))]
    return objects_beside(folders[0]), objects_beside(folders[1], groups=groups, rows=rows, text=PROFILE.replace(
        "6 100 4 522 12 246 84", "6 100 4 586 14 310 92").replace(
        "totals: 110 5 522 13 310 148", "totals: 110 5 586 15 374 156"))


def test_data_objects_of_a_comparison_are_those_of_the_json(tmp_path, capsys):
    both = two_with_objects(tmp_path)
    page = report(tmp_path, "--diff", *both)
    truth = json_of(capsys, "--diff", "--objects", *both)["objects"]
    found = page.facts["data"]
    zero = [0] * len(truth["events"])
    assert found["events"] == truth["events"]
    costs = zip(page.costs("data", "before:self:"), page.costs("data", "self:"))
    mine = {
        group["label"]: (change, before, after)
        for group, change, (before, after) in zip(found["groups"], found["changes"], costs, strict=True)
    }
    assert {label: change for label, (change, *_) in mine.items() if change} == {
        "heap prog.c:22, make": "gone", "heap prog.c:30, make": "new",
    }
    for group in truth["groups"]:
        change, before, after = mine[group["label"]]
        assert change == ("new" if group["before"] is None else "gone" if group["after"] is None else None)
        assert (before, after) == (group["before"] or zero, group["after"] or zero)
    for column, key in ((1, "before"), (2, "after")):
        assert [sum(costs) for costs in zip(*(one[column] for one in mine.values()))] == truth[key]
    assert len(mine) == len(GROUPS) + 1 > len(truth["groups"]), "and what has not changed"
    rows = page.table("dataRows")
    files = page.facts["files"]
    assert [
        (found["groups"][group]["label"], files[file], line)
        for group, file, line in zip(rows["group"], rows["file"], rows["line"])
    ] == [
        ("(unknown)", "/src/prog.c", 6), ("heap prog.c:30, make", "/src/prog.c", 7),
        ("heap prog.c:30, make", "/src/prog.c", 23), ("variable table", "/src/prog.c", 8),
    ]


def test_a_comparison_with_objects_on_one_side_has_none(tmp_path):
    before, after = two_with_objects(tmp_path)
    (tmp_path / "before" / "objects.p.out").unlink()
    assert report(tmp_path, "--diff", before, after).facts["data"] is None
    assert report(tmp_path, "--diff", after, before).facts["data"] is None
