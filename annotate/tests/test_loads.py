# SPDX-License-Identifier: GPL-2.0-or-later
"""By code the objects: what functions and lines have loaded, below them."""

from bdannotate.analyses.data.loads import Loads
from bdannotate.cli import main
from bdannotate.model.objects import Identity, ObjectGroup, ObjectKind, ObjectRow, Objects
from bdannotate.model.profile import Function
from test_objects import beside, read

MAIN = Function("prog", "/src/prog.c", "main")
MAKE = Function("prog", "/src/prog.c", "make")


def test_what_a_function_has_loaded(tmp_path):
    objects = read(tmp_path)
    found = Loads(objects, objects.events).of_function(MAIN)
    # 480 of 640 bytes, 32 of 64, 10 of 64.
    assert [(load.label, load.cost[2]) for load in found.loads] == [
        ("heap prog.c:22, make", 480), ("(unknown)", 10), ("variable table", 32),
    ]
    assert found.others == 0
    assert [load.cost[2] for load in Loads(objects, objects.events).of_function(MAKE).loads] == [0]


def test_what_a_line_has_loaded(tmp_path):
    objects = read(tmp_path)
    found = Loads(objects, ("SpLoss1", "SpLossD1", "UsByte1")).of_line("/src/prog.c", 7)
    assert [(load.label, load.cost) for load in found.loads] == [("heap prog.c:22, make", (480, 0, 160))]
    assert Loads(objects, objects.events).of_line("/src/prog.c", 9).loads == ()


def test_the_first_few_and_the_sum_of_the_others():
    """Of 9 variables, each with one byte less than the one before; and code, which is no data."""
    groups = [ObjectGroup(Identity(ObjectKind.STATIC, f"v{number}")) for number in range(9)]
    groups.append(ObjectGroup(Identity(ObjectKind.CODE, object="prog")))
    rows = [ObjectRow(number, MAIN, "", 1, (20 - number,)) for number in range(10)]
    loads = Loads(Objects((), ("SpLoss1",), tuple(groups), tuple(rows)), ("SpLoss1",))
    found = loads.of_function(MAIN)
    assert [load.label for load in found.loads] == [f"variable v{number}" for number in range(5)]
    assert (found.others, found.other_cost) == (4, (15 + 14 + 13 + 12,))


def test_the_tree_lists_them(tmp_path, capsys):
    assert main(["--objects", "--tree=both", "--function=main", "--width=80", "--show=SpLoss1", beside(tmp_path)]) == 0
    text = capsys.readouterr().out.partition("and data loaded (=) ==")[2].partition("== Data objects")[0]
    lines = [line.split() for line in text.splitlines() if " = " in line]
    assert [line[0] for line in lines] == ["480", "10", "32"]
    assert lines[0][-4:] == ["=", "heap", "prog.c:22,", "make"]
    assert all(len(line) <= 80 for line in text.splitlines())


def test_sources_have_them_below_the_lines(tmp_path, capsys):
    source = tmp_path / "prog.c"
    source.write_text("\n" * 5 + "load(all[0]);\nload(all[1]);\n")
    functions = [("prog", "prog.c", 1, "main"), ("prog", "prog.c", 20, "make")]
    rows = [(2, 1, 1, 6, (0, 4, 480, 10, 160, 20)), (3, 1, 1, 6, (0, 0, 42, 2, 86, 64)),
            (2, 2, 1, 23, (0, 1, 0, 1, 64, 64))]
    profile = beside(tmp_path, functions=functions, rows=rows)
    (tmp_path / "p.out").write_text((tmp_path / "p.out").read_text().replace("/src/prog.c", "prog.c"))
    assert main(["--objects", "--annotate", "-I", str(tmp_path), "--show=SpLoss1", "--width=80", profile]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(index for index, line in enumerate(lines) if "load(all[0]);" in line)
    assert lines[at].split()[0] == "522"
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["480", "42"]
    assert [line.partition("= ")[2] for line in lines[at + 1 : at + 3]] == ["heap prog.c:22, make", "variable table"]


def test_without_objects_there_are_none(tmp_path, capsys):
    assert main(["--tree=both", beside(tmp_path)]) == 0
    assert "(=)" not in capsys.readouterr().out
