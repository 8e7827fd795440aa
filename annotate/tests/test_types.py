# SPDX-License-Identifier: GPL-2.0-or-later
"""Types and fields of data objects in reports."""

import json
import os
import shutil
import sys

import pytest
from bdannotate.cli import main
from bdannotate.model.data_types import Field, FoundTypes, Type
from bdannotate.modes import objects
from bdannotate.reading import load
from bdannotate.reading.inlined import InlinedCalls
from programs import compiled
from test_html import HOSTILE, json_of, report
from test_objects import GROUPS, HEAP, beside

# What these programs have at these addresses is not what ran: it is not known where blocks were allocated.
HEAP = HEAP.replace(" 22 100 ", " 22 0 ").replace(" 5 200 ", " 5 0 ")
GROUPS = [GROUPS[0], HEAP, *GROUPS[2:]]

KIND = """
struct item { int key; char name[8]; short rank; };
struct item table[4];
int main(void) { return table[0].key; }
"""


@pytest.fixture(name="profile")
def fixture_profile(tmp_path, elftools):
    """3 blocks of 16 bytes, of which bytes 0 to 7 were used in all loads."""
    if not shutil.which("cc"):
        pytest.skip("cc is missing")
    path = compiled(tmp_path, ("cc", "-g"), KIND)
    functions = [(path, "/src/prog.c", 1, "main"), (path, "/src/prog.c", 20, "make")]
    groups = [*GROUPS[:2], "static 1 64 table", *GROUPS[3:]]
    profile = beside(tmp_path, functions=functions, groups=groups)
    text = (tmp_path / "p.out").read_text()
    (tmp_path / "p.out").write_text(text.replace("ob=prog", f"ob={path}"))
    return profile


def test_the_table_of_fields(profile, capsys):
    assert main(["--width=80", "--object=heap", "--object-type=prog.c:22=item", profile]) == 0
    text = capsys.readouterr().out
    assert "item, 16 bytes\nas --object-type=prog.c:22=item says\n" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["0", "4", "10", "100.0%", "key", "int"] in rows
    assert ["4", "8", "12", "100.0%", "name[8]", "char"] in rows
    assert ["14", "2", "12", "0.0%", "(padding)"] in rows
    assert all(len(line) <= 80 for line in text.splitlines())


def of_four_in_a_line(tmp_path, **changes):
    """Of 4 elements in each of 11 lines, key is used."""
    path = str(tmp_path / "program")
    functions = [(path, "/src/prog.c", 1, "main"), (path, "/src/prog.c", 20, "make")]
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", "160 160 16"), *GROUPS[2:]]
    patterns = [(2, 1, 1, 7, 0, 64, 0x000F000F000F000F, 11)]
    beside(tmp_path, functions=functions, groups=groups, patterns=patterns, **changes)
    text = (tmp_path / "p.out").read_text()
    (tmp_path / "p.out").write_text(text.replace("ob=prog", f"ob={path}"))


def test_no_advice_where_the_size_of_lines_is_not_known(tmp_path, profile, capsys):
    of_four_in_a_line(tmp_path, head="creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1")
    assert main(["--width=80", "--object=heap", "--object-type=heap=item", profile]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Used together" not in text
    assert "What another layout would load is not known: the profile does not say how long a line of D1 is" in text


def test_the_advice_below_it(tmp_path, profile, capsys):
    of_four_in_a_line(tmp_path)
    assert main(["--format=json", "--object=heap", "--object-type=heap=item", profile]) == 0
    assert json.loads(capsys.readouterr().out)["objects"]["groups"][1]["type"]["split"] == {
        "parts": [{"fields": [0], "size": 4, "loads": 44}, {"fields": [1, 2], "size": 12, "loads": 0}],
        "now": 704, "in_order": 176, "in_order_most": 176, "scattered": 2816,
        "misses_saved": {"in_order": 8, "in_order_most": 8, "scattered": -33},
    }
    assert main(["--width=80", "--object=heap", "--object-type=heap=item", profile]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Used together: key (4 bytes); name[8], rank (12 bytes), never." in text
    said = "L1 misses saved: 8 in memory order, none if elements lie far apart. "
    assert f"{said}How many LL misses are saved is not known." in text
    assert "176 bytes loaded instead of 704 if elements are visited in memory order" in text
    assert "2,816 if each lies far from the one before" in text


def test_the_fields_of_a_variable(profile, capsys):
    assert main(["--width=80", "--object=variable table", profile]) == 0
    found = capsys.readouterr().out
    assert "item, 16 bytes\nas it is declared; the variable has 4 of them\n" in found
    assert "Its used bytes were not recorded." in found
    assert ["4", "8", "name[8]", "char"] in [line.split() for line in found.splitlines()]


def test_which_code_uses_which_fields(profile, capsys):
    assert main(["--width=80", "--object=heap", "--object-type=heap=item", profile]) == 0
    text = capsys.readouterr().out
    assert (
        "Which code uses what it loads\n"
        "11 parts of lines by prog.c:7  main\n    key, name[8]\n"
        "a part of a line by prog.c:23  make\n    key, name[8]\n"
    ) in text
    assert main(["--object=heap", "--object-type=heap=item", "--format=json", profile]) == 0
    found = json.loads(capsys.readouterr().out)["objects"]["groups"][1]["type"]
    assert [(use["function"], use["line"], use["lines"], use["fields"]) for use in found["uses"]] == [
        ("main", 7, 11, [[0, 9], [1, 11]]), ("make", 23, 1, [[0, 1], [1, 1]]),
    ]
    assert found["order"] is None


def test_json_has_the_fields(profile, capsys):
    options = ["--object=heap|table", "--object-type=heap=item", "--format=json"]
    assert main([*options, profile]) == 0
    groups = json.loads(capsys.readouterr().out)["objects"]["groups"]
    found = groups[1]["type"]
    assert (found["name"], found["size"], found["reason"]) == ("item", 16, "as --object-type=heap=item says")
    assert found["fields"][0] == {"name": "key", "type": "int", "offset": 0, "size": 4, "loaded": 10, "used": 10}
    assert found["fields"][-1]["name"] is None
    assert found["split"] is None
    assert groups[2]["type"]["fields"][0] == {"name": "key", "type": "int", "offset": 0, "size": 4}
    assert groups[0]["type"] is None


def test_what_is_not_so_is_said_and_the_report_stays(profile, capsys):
    assert main(["--object=heap", "--object-type=heap=nothing", profile]) == 0
    out, err = capsys.readouterr()
    assert "has no such type" in err
    assert "An element of 16 bytes (the size of every block)" in out


def test_why_there_is_no_type_is_said(profile, capsys):
    said = "heap=a_type_that_nobody_has_declared_in_any_file_of_the_program_that_is_looked_at"
    assert main(["--width=80", "--object=heap|table", f"--object-type={said}", profile]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(next(line for line in lines if line.startswith("  no type: a_type_that_nobody_has")))
    assert "the debug information of program has no such type" in " ".join(" ".join(lines[at : at + 4]).split())
    assert all(len(line) <= 80 for line in lines)
    assert sum("no type:" in line for line in lines) == 1
    found = json_of(capsys, "--object=heap|table|stack", f"--object-type={said}", profile)["objects"]["groups"]
    assert found[1]["no_type"].endswith("the debug information of program has no such type")
    assert [group["no_type"] for group in found[:1] + found[2:]] == [None] * (len(found) - 1)


def test_the_report_stays_where_the_file_is_gone(tmp_path, profile, capsys):
    os.unlink(tmp_path / "program")
    assert main(["--object=heap", "--object-type=heap=item", profile]) == 0
    out, err = capsys.readouterr()
    assert "are not known: the file does not exist" in err
    assert "no type: program: the file does not exist" in out
    assert "An element of 16 bytes (the size of every block)" in out


def test_a_file_that_is_newer_than_the_profile_is_named(tmp_path, profile, capsys):
    options = ["--object=heap", "--object-type=heap=item", profile]
    assert main(options) == 0
    out, err = capsys.readouterr()
    assert "item, 16 bytes" in out and err == ""
    os.utime(profile, (1000, 1000))
    assert main(options) == 0
    out, err = capsys.readouterr()
    assert "item, 16 bytes" in out
    assert err.count("\n") == 1 and "is newer than the profile: its lines and types may differ" in err


def test_a_newer_file_is_named_once_for_lines_and_types(tmp_path, profile, capsys, monkeypatch):
    path = str(tmp_path / "program")
    for module in (load, objects):
        monkeypatch.setattr(module, "read_inlined_calls", lambda *_, **__: InlinedCalls({path: {}}, ("said once",)))
    os.utime(profile, (1000, 1000))
    assert main(["--object=heap", "--object-type=heap=item", profile]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first == "bd_annotate: note: said once"
    assert "is newer than the profile" in second


def test_a_file_with_other_lines_than_those_that_ran_has_no_types(tmp_path, profile, capsys, monkeypatch):
    path = str(tmp_path / "program")
    monkeypatch.setattr(objects, "read_inlined_calls", lambda *_, **__: InlinedCalls({}, (), frozenset({path})))
    assert main(["--object=heap", "--object-type=heap=item", profile]) == 0
    out, err = capsys.readouterr()
    assert "item, 16 bytes" not in out
    assert "are not known: it is not the file that ran" in err


@pytest.mark.parametrize(
    "options",
    [["--object-type=a=b"], ["--object=heap", "--object-type=b"], ["--object=heap", "--object-type=(=b"],
     ["--object=heap", "--object-type=elsewhere=b"], ["--object=heap", "--object-type=a="],
     ["--html=/dev/null", "--object-type=elsewhere=b"], ["--html=/dev/null", "--diff", "--object-type=a=b", "x"]],
)
def test_options_that_make_no_sense(profile, capsys, options):
    assert main([*options, profile]) == 2
    assert capsys.readouterr().err.startswith("bd_annotate: ")


def of_a_stranger(tmp_path, monkeypatch, kind, groups, note, **more):
    """A profile for which this type is found whatever is asked."""
    monkeypatch.setattr(
        objects, "read_types",
        lambda wanted, *_: FoundTypes(
            {(path, name): (kind,) for path, what in wanted.items() for name in what.names}, {}, (note,)
        ),
    )
    functions = [("/prog", "/src/prog.c", 1, "main"), ("/prog", "/src/prog.c", 20, "make")]
    profile = beside(tmp_path, functions=functions, groups=groups, **more)
    (tmp_path / "p.out").write_text((tmp_path / "p.out").read_text().replace("ob=prog", "ob=/prog"))
    return profile


def test_names_of_types_are_neutralised(tmp_path, capsys, monkeypatch):
    hostile = "\x1b[31m\x07"
    kind = Type(hostile, 16, (Field(hostile, hostile, 0, 16),))
    profile = of_a_stranger(tmp_path, monkeypatch, kind, GROUPS, hostile)
    assert main(["--object=heap", f"--object-type=heap={hostile}", profile]) == 0
    out, err = capsys.readouterr()
    assert "[31m" in out
    assert not any(character in out + err for character in "\x1b\x07")


def test_endless_types_and_names_cost_nothing(tmp_path, capsys, monkeypatch):
    size = 1 << 40
    kind = Type("x " * 100_000, size, (Field("y " * 100_000, "z " * 100_000, 0, size),))
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", f"{size} {size} {size}"), *GROUPS[2:]]
    profile = of_a_stranger(tmp_path, monkeypatch, kind, groups, "")
    assert main(["--width=80", "--object=heap", "--object-type=heap=T", profile]) == 0
    text = capsys.readouterr().out
    assert "1,099,511,627,776" in text
    assert [line[:60] for line in text.splitlines() if len(line) > 80] == []


def types_of_page(page):
    return [group["type"] for group in page.facts["data"]["groups"] if group["type"]]


def test_the_page_has_the_types_that_the_json_has(tmp_path, profile, capsys):
    asked = ["--object-type=heap=item", "--object-type=variable table=item"]
    page = report(tmp_path, *asked, profile)
    groups = json_of(capsys, "--object=heap|table", *asked, profile)["objects"]["groups"]
    truth = [group["type"] for group in groups if group["type"]]
    found = types_of_page(page)
    assert [(one["name"], one["size"], one["reason"]) for one in found] == [
        (one["name"], one["size"], one["reason"]) for one in truth
    ]
    assert [one["hasUse"] for one in found] == [True, False]
    heap, table = found
    assert heap["fields"] == [
        [field["name"] or "(padding)", field["type"] or "", field["offset"], field["size"], field["loaded"],
         field["used"]] for field in truth[0]["fields"]
    ]
    names, files = page.functions(), page.facts["files"]
    assert [
        {"function": names[function][0], "file": files[file], "line": line, "lines": lines,
         "fields": [[number, used] for number, _, used in fields]}
        for (function, file, line), lines, fields in heap["uses"]
    ] == truth[0]["uses"]
    assert heap["uses"][0][2] == [[0, 9, 9], [1, 11, 11]]
    assert table["fields"][1][:4] == ["name[8]", "char", 4, 8] and table["uses"] == []
    assert heap["parts"] == heap["advice"] == []
    (layout,) = [group["layout"] for group in page.facts["data"]["groups"] if group["type"] and group["layout"]]
    assert (layout["size"], layout["reason"]) == (16, "the size of its type")


def test_the_page_has_the_advice(tmp_path, profile, capsys):
    of_four_in_a_line(tmp_path)
    (kind,) = types_of_page(report(tmp_path, "--object-type=heap=item", profile))
    assert kind["parts"] == [[0], [1, 2]]
    assert main(["--width=1000", "--object=heap", "--object-type=heap=item", profile]) == 0
    assert len(kind["advice"]) == 3
    assert "\n".join(kind["advice"]) in capsys.readouterr().out


def test_only_types_of_what_loses_most_are_looked_up_for_a_page(tmp_path, monkeypatch):
    """The others' would take long; but those that are asked for are."""
    wanted = []
    profile = of_a_stranger(tmp_path, monkeypatch, None, [*GROUPS[:2], "static 1 64 table", *GROUPS[3:]], "")
    monkeypatch.setattr(objects, "read_types", lambda what, *_: wanted.append(what) or FoundTypes({}, {}))
    report(tmp_path, profile)
    report(tmp_path, "--object-type=variable table=item", profile)
    assert [[name for what in one.values() for name, *_ in what.variables] for one in wanted] == [[], ["table"]]


def test_the_page_is_made_without_pyelftools(tmp_path, profile, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    asked = ["--object-type=heap=item", "--object-type=variable table=item"]
    assert types_of_page(report(tmp_path, *asked, profile)) == []
    assert capsys.readouterr().err.startswith(
        "bd_annotate: note: types of data are not known: that needs pyelftools (package python3-pyelftools), which "
    )


def test_types_in_a_page_are_never_markup(tmp_path, monkeypatch):
    kind = Type(HOSTILE, 16, (Field(HOSTILE, HOSTILE, 0, 16),))
    page = report(tmp_path, "--object-type=heap=T", of_a_stranger(tmp_path, monkeypatch, kind, GROUPS, ""))
    assert "<img" not in page.text and "alert" not in page.text
    assert [(one["name"], one["fields"][0][:2]) for one in types_of_page(page)] == [(HOSTILE, [HOSTILE, HOSTILE])]
