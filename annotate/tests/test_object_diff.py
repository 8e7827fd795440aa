# SPDX-License-Identifier: GPL-2.0-or-later
"""What changed for data objects: which group is which, and how much of it was loaded in vain."""

import json
import os

from bdannotate.analyses.comparison.object_diff import listed_changes, object_changes
from bdannotate.analyses.data.object_labels import label
from bdannotate.cli import main
from bdannotate.model.objects import CodeLine, Identity, ObjectGroup, ObjectKind, ObjectRow, Objects
from bdannotate.model.profile import Function
from test_objects import EVENTS, GROUPS, HEAP, PROFILE, ROWS, beside

MAIN = Function("/prog", "/src/prog.c", "main")
MAKE = Function("/prog", "/src/prog.c", "make")


def heap(line, function=MAKE, file="/src/prog.c"):
    return Identity(ObjectKind.HEAP, function=Function("/libc", "", "malloc"), places=(CodeLine(function, file, line),))


def static(name, size, module="/prog"):
    return Identity(ObjectKind.STATIC, name, module, size)


def objects(*identities, factor=1):
    """Group number n has lost n times so many bytes."""
    groups = tuple(ObjectGroup(identity) for identity in identities)
    rows = tuple(ObjectRow(number, MAIN, "", 1, (factor * (number + 1),)) for number in range(len(groups)))
    return Objects((), ("SpLoss1",), groups, rows)


def changes(before, after, same=(), lines=lambda old, new: {}):
    """Bytes before and after, by label; 10 times as many after."""
    matched = object_changes(objects(*before), objects(*after, factor=10), dict(same), lines)
    found = listed_changes(matched, 0, None)
    assert sum((change.before or (0,))[0] for change in found.changes) == found.before[0]
    assert sum((change.after or (0,))[0] for change in found.changes) == found.after[0]
    return {
        label(change.group): (change.before and change.before[0], change.after and change.after[0])
        for change in found.changes
    }


def test_the_same_place_is_the_same_group():
    assert changes([heap(5), heap(7), static("table", 8)], [static("table", 8), heap(7), heap(5)]) == {
        "heap prog.c:5, make": (1, 30), "heap prog.c:7, make": (2, 20), "variable table": (3, 10),
    }


def test_lines_that_moved_keep_their_order():
    """Line 7 is where the other one was."""
    assert changes([heap(5), heap(7)], [heap(9), heap(7)]) == {
        "heap prog.c:7, make": (1, 20), "heap prog.c:9, make": (2, 10),
    }


def test_where_one_is_new_lines_tell_which():
    assert changes([heap(7)], [heap(5), heap(7)]) == {
        "heap prog.c:5, make": (None, 10), "heap prog.c:7, make": (1, 20),
    }
    assert changes([heap(7)], [heap(5), heap(6)]) == {
        "heap prog.c:5, make": (None, 10), "heap prog.c:6, make": (None, 20), "heap prog.c:7, make": (1, None),
    }


def test_texts_tell_which_line_is_which():
    assert changes([heap(7)], [heap(5), heap(6)], lines=lambda old, new: {7: 6}) == {
        "heap prog.c:5, make": (None, 10), "heap prog.c:6, make": (1, 20),
    }


def test_texts_come_before_the_order_of_lines():
    """The first was taken out, and another one was added behind."""
    assert changes([heap(5), heap(7)], [heap(5), heap(7)], lines=lambda old, new: {7: 5}) == {
        "heap prog.c:5, make": (2, 10), "heap prog.c:7, make": (1, 20),
    }


def test_another_build_lies_in_another_folder():
    there = {one: one._replace(object="/new/prog", file="/new/prog.c") for one in (MAIN, MAKE)}
    after = [heap(9, there[MAKE], "/new/prog.c"), static("table", 8, "/new/prog")]
    assert changes([heap(5), static("table", 8)], after, there) == {
        "heap prog.c:9, make": (1, 10), "variable table": (2, 20),
    }


def test_variables_may_grow():
    assert changes([static("table", 8)], [static("table", 16)]) == {"variable table": (1, 10)}


def test_a_thread_local_variable_is_not_the_static_one():
    one = static("table", 8)._replace(kind=ObjectKind.THREAD_LOCAL)
    assert changes([one], [one._replace(size=16)]) == {"thread-local table": (1, 10)}
    assert changes([one], [static("table", 8)]) == {"thread-local table": (1, None), "variable table": (None, 10)}


def repaired(tmp_path):
    """Two lines were added above make(), which is in line 24 now and has lost nothing; and there is a
    new variable."""
    folders = tmp_path / "before", tmp_path / "after"
    for folder in folders:
        folder.mkdir()
    beside(folders[0])
    groups = [GROUPS[0], HEAP.replace(" 22 ", " 24 "), *GROUPS[2:], "static 1 8 fresh"]
    rows = [ROWS[0], (2, 1, 1, 7, (0, 0, 0, 10, 640, 20)), *ROWS[2:], (9, 1, 1, 8, (0, 0, 64, 1, 0, 0))]
    beside(folders[1], groups=groups, rows=rows)
    text = PROFILE.replace("6 100 4 522 12 246 84", "6 100 0 106 13 726 84").replace(
        "totals: 110 5 522 13 310 148", "totals: 110 1 106 14 790 148"
    )
    (folders[1] / "p.out").write_text(text)
    return [str(folder / "p.out") for folder in folders]


def test_the_table(tmp_path, capsys):
    paths = repaired(tmp_path)
    assert main(["--diff", "--objects", "--width=80", *paths]) == 0
    text = capsys.readouterr().out.partition("== Data objects ==")[2]
    rows = [line.split(maxsplit=6) for line in text.splitlines()]
    assert ["480", "0", "-480", "-100.0%", "0", "-4", "heap prog.c:24, make"] in rows
    assert ["0", "64", "+64", "new", "+64", "0", "variable fresh"] in rows
    assert ["42", "42", "0", "0.0%", "0", "0", "(2 others)"] in rows
    assert ["522", "106", "-416", "-79.7%", "+64", "-4", "all"] in rows
    assert all(len(line) <= 80 for line in text.splitlines())
    assert main(["--diff", "--objects", "--width=120", *paths]) == 0
    text = capsys.readouterr().out.partition("== Data objects ==")[2]
    rows = [line.split(maxsplit=10) for line in text.splitlines()]
    assert ["480", "0", "-480", "-100.0%", "704", "704", "0", "5", "1", "-4", "heap prog.c:24, make"] in rows


def test_only_what_a_function_has_loaded(tmp_path, capsys):
    assert main(["--diff", "--objects", "--function=make", *repaired(tmp_path)]) == 0
    assert "none that changed" in capsys.readouterr().out.partition("== Data objects ==")[2]


def test_json_has_both_sides(tmp_path, capsys):
    assert main(["--diff", "--objects", "--format=json", *repaired(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)["objects"]
    assert found["events"] == list(EVENTS)
    costs = {group["label"]: (group["before"], group["after"]) for group in found["groups"]}
    assert costs["variable fresh"] == (None, [0, 0, 64, 1, 0, 0])
    assert costs["heap prog.c:24, make"] == ([0, 5, 480, 11, 224, 84], [0, 1, 0, 11, 704, 84])
    assert (found["before"], found["after"]) == ([0, 5, 522, 13, 310, 148], [0, 1, 106, 14, 790, 148])


def test_both_sides_need_their_objects(tmp_path, capsys):
    paths = repaired(tmp_path)
    os.unlink(tmp_path / "before" / "objects.p.out")
    assert main(["--diff", "--objects", *paths]) == 2
    assert "a run with --objects=yes" in capsys.readouterr().err


def test_details_of_two_runs_are_asked_for_one_by_one(tmp_path, capsys):
    assert main(["--diff", "--object=heap", *repaired(tmp_path)]) == 2
    assert "--object cannot be combined with --diff" in capsys.readouterr().err


def test_a_column_that_is_shown_has_its_heading(tmp_path, capsys):
    """At each width, what changed is there as a whole: before and after with the change, or the change alone."""
    paths = repaired(tmp_path)
    for width, times in ((60, 1), (80, 3), (100, 3), (200, 3)):
        assert main([f"--width={width}", "--diff", "--objects", *paths]) == 0
        lines = capsys.readouterr().out.partition("== Data objects ==")[2].splitlines()
        assert lines[2].split().count("change") == times
        assert ("LL misses" in lines[1]) == (times == 3)
