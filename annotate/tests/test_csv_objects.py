# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects for spreadsheets."""

import csv
import io

from bdannotate.cli import main
from test_object_diff import repaired
from test_objects import beside


def table(capsys, *options):
    assert main(["--format=csv", *options]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def numbers(row, *names):
    return tuple(row[name] and int(row[name]) for name in names)


USE = ("loaded", "unused", "lines", "accesses", "misses")


def test_a_row_for_each_group(tmp_path, capsys):
    rows = table(capsys, "--objects", beside(tmp_path))
    assert {row["object"]: numbers(row, *USE) for row in rows} == {
        "heap prog.c:22, make": (704, 480, 11, 84, 5), "variable table": (64, 32, 1, 4, 0),
        "(unknown)": (64, 10, 1, 60, 0),
    }
    assert [row["kind"] for row in rows] == ["heap", "static", "unknown"]
    assert numbers(rows[0], "blocks", "bytes", "freed", "alive", "most_alive") == (3, 48, 1, 32, 48)
    assert rows[1]["blocks"] == "" and rows[1]["file"] == "prog"
    assert len(table(capsys, "--objects", "--limit=1", beside(tmp_path))) == 1
    assert len(table(capsys, "--objects", "--limit=all", beside(tmp_path))) == 3


def test_without_objects_it_is_the_list_of_functions(tmp_path, capsys):
    assert {row["function"] for row in table(capsys, beside(tmp_path))} == {"main", "make"}


def test_who_loaded_an_object(tmp_path, capsys):
    rows = table(capsys, "--object=heap", beside(tmp_path))
    assert [(row["function"], row["line"], *numbers(row, *USE)) for row in rows] == [
        ("main", "7", 640, 480, 10, 20, 4), ("make", "23", 64, 0, 1, 64, 1),
    ]
    assert {row["object"] for row in rows} == {"heap prog.c:22, make"}


def test_what_changed(tmp_path, capsys):
    rows = table(capsys, "--diff", "--objects", *repaired(tmp_path))
    unused = {row["object"]: numbers(row, "unused:before", "unused:after") for row in rows}
    assert unused["heap prog.c:24, make"] == (480, 0)
    assert unused["variable fresh"] == ("", 64)


def test_two_tables_are_refused(tmp_path, capsys):
    assert main(["--objects", "--object=heap", "--format=csv", beside(tmp_path)]) == 2
    assert "--object cannot be combined with --objects there" in capsys.readouterr().err
