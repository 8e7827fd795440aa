# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects beside a profile: reading, comparing, showing."""

import json
import os
import pathlib
import random
import shutil
import struct
from dataclasses import replace

import pytest
from bdannotate.analyses.data.object_labels import label
from bdannotate.analyses.data.objects import list_objects, loaders
from bdannotate.analyses.types.typed_groups import typing
from bdannotate.cli import main
from bdannotate.model.data_types import VariableName
from bdannotate.model.errors import ProfileError
from bdannotate.model.frames import Position
from bdannotate.model.object_merge import merge
from bdannotate.model.objects import CodeLine, HeapBlocks, Identity, ObjectGroup, ObjectKind, Pattern
from bdannotate.model.profile import Function
from bdannotate.reading import load
from bdannotate.reading.inlined import InlinedCalls
from bdannotate.reading.objects import read_objects, read_parts
from object_files import ObjectFile

EVENTS = ("Ir", "DLmr", "SpLoss1", "EvLine1", "UsByte1", "Access1")
FUNCTIONS = [("prog", "/src/prog.c", 1, "main"), ("prog", "/src/prog.c", 20, "make")]
# 3 blocks of 16 bytes, by make() in line 22, called by main in line 5.
HEAP = "heap 3 48 1 32 48 16 16 16 0 2 2 1 22 100 1 1 5 200 1 1 malloc"
GROUPS = ["unknown", HEAP, "static 1 64 table", "stack 1 1 main", "code 1", "unused", "file 1", "mapping 0"]
ROWS = [
    (1, 1, 1, 6, (0, 0, 10, 1, 54, 60)),
    (2, 1, 1, 7, (0, 4, 480, 10, 160, 20)),
    (2, 2, 1, 23, (0, 1, 0, 1, 64, 64)),
    (3, 1, 1, 8, (0, 0, 32, 1, 32, 4)),
]
# By line 7 of main, but for the second one; and one line more of which nothing is known.
PATTERNS = [
    (2, 1, 1, 7, 0, 16, 0x00FF, 9), (2, 2, 1, 23, 0, 16, 0x0FFF, 1), (2, 1, 1, 7, 8, 8, 0x01, 2),
    (2, 1, 1, 7, 0, 0, 0, 1),
]
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1\ndesc: D1 cache: 32768 B, 64 B, 8-way associative"

PROFILE = f"""# callgrind format
version: 1
{HEAD}
positions: line
events: {' '.join(EVENTS)}
ob=prog
fl=/src/prog.c
fn=main
6 100 4 522 12 246 84
fn=make
23 10 1 0 1 64 64
totals: 110 5 522 13 310 148
"""


def write(folder, data, name="p.out"):
    path = folder / f"objects.{name}"
    path.write_bytes(data)
    return path


def beside(folder, text=PROFILE, **changes):
    """A profile with its objects."""
    fields = {"events": EVENTS, "functions": FUNCTIONS, "groups": GROUPS, "rows": ROWS, "patterns": PATTERNS,
              "head": HEAD}
    write(folder, ObjectFile(**(fields | changes)).bytes())
    profile = folder / "p.out"
    profile.write_text(text)
    return str(profile)


def read(folder, **changes):
    beside(folder, **changes)
    return read_objects(str(folder / "objects.p.out"))


def test_all_that_was_written_is_read(tmp_path):
    found = read(tmp_path)
    assert found.totals() == (0, 5, 522, 13, 310, 148)
    assert [label(group) for group in found.groups] == [
        "(unknown)", "heap prog.c:22, make", "variable table", "stack of main", "code of prog",
        "(allocator's own, and free)", "file prog", "mapped at the start",
    ]
    assert found.groups[1].blocks == HeapBlocks(3, 48, 1, 32, 48, 16, 16, 16, 0)
    main_7, make_23 = (CodeLine(Function("prog", "/src/prog.c", name), "/src/prog.c", line)
                       for name, line in (("main", 7), ("make", 23)))
    assert set(found.groups[1].patterns) == {
        Pattern(0, 16, 0xFF, 9, main_7), Pattern(0, 16, 0xFFF, 1, make_23), Pattern(8, 8, 1, 2, main_7),
        Pattern(0, 0, 0, 1, main_7),
    }
    assert found.groups[1].unmapped == 1
    assert [group.has_patterns for group in found.groups[:3]] == [False, True, False]
    assert found.parts[0].pid == "7"


def caches(*lines):
    return "".join(f"\ndesc: D1 cache: 32768 B, {line} B, 8-way associative" for line in lines)


def test_how_long_lines_are(tmp_path):
    plain = HEAD.partition("\ndesc")[0]
    assert read(tmp_path).line_bytes == 64
    assert read(tmp_path, head=plain + caches(128)).line_bytes == 128
    assert read(tmp_path, head=plain).line_bytes is None


def test_parts_with_different_lines_have_no_size_of_a_line(tmp_path):
    plain = HEAD.partition("\ndesc")[0]
    both = [read(tmp_path, head=plain + caches(line)) for line in (64, 128)]
    assert merge(both[:1] * 2).line_bytes == 64
    assert merge(both).line_bytes is None


def test_thread_local_variables_are_named_as_such(tmp_path):
    found = read(tmp_path, groups=[*GROUPS[:2], "thread-local 1 64 a table", *GROUPS[3:]])
    assert label(found.groups[2]) == "thread-local a table"
    assert found.groups[2].identity == Identity(ObjectKind.THREAD_LOCAL, "a table", "prog", 64)


def test_variables_have_the_names_of_their_source(tmp_path):
    if not shutil.which("c++filt"):
        pytest.skip("c++filt is missing")
    table = "static 1 64 _ZN3simL5tableE"
    items = "thread-local 1 64 _ZN3sim4PoolINS_4CellEE5itemsE"
    found = read(tmp_path, groups=[*GROUPS[:2], table, *GROUPS[3:], items, "static 1 8 _Zebra", "static 1 8 _R2 D2"])
    names = [label(group) for group in found.groups]
    assert names[2] == "variable sim::table"
    assert names[-3:] == ["thread-local sim::Pool<sim::Cell>::items", "variable _Zebra", "variable _R2 D2"]
    assert found.groups[2].identity.symbol == "_ZN3simL5tableE"
    sought = typing(found.groups, (), {}, ())
    assert VariableName("_ZN3simL5tableE", 64) in sought.wanted["prog"].variables


def test_without_a_demangler_variables_have_the_names_of_linkers(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = read(tmp_path, groups=[*GROUPS[:2], "static 1 64 _ZN3simL5tableE", *GROUPS[3:]])
    assert label(found.groups[2]) == "variable _ZN3simL5tableE"


def test_several_parts_in_one_file_are_added_up(tmp_path):
    data = ObjectFile(EVENTS, FUNCTIONS, GROUPS, ROWS, PATTERNS, HEAD).bytes()
    found = read_objects(str(write(tmp_path, data + b"\n\n" + data)))
    assert found.totals() == (0, 10, 1044, 26, 620, 296)
    assert len(found.groups) == len(GROUPS)
    assert found.groups[1].blocks.number == 6
    assert [pattern[:4] for pattern in found.groups[1].patterns[1:]] == [
        (0, 16, 0x00FF, 18), (0, 16, 0x0FFF, 2), (8, 8, 1, 4),
    ]
    assert found.groups[1].unmapped == 2


def test_a_file_adds_up_as_its_rows_do(tmp_path):
    """Rows and patterns in any order, and groups that are one, in columns and as objects."""
    for seed in range(40):
        chance = random.Random(seed)
        groups = [*GROUPS, "static 1 64 table", HEAP]
        most = chance.choice((9, 300, 1 << 40, (1 << 64) - 1))
        rows = [
            (chance.randint(1, 10), chance.randint(1, 2), chance.randint(0, 1), chance.randint(0, 2),
             tuple(chance.choice((0, chance.randint(0, most // 4))) for _ in EVENTS))
            for _ in range(chance.randint(0, 30))
        ]
        sums = [sum(row[4][event] for row in rows) for event in range(len(EVENTS))]
        if max(sums) >= 1 << 64:
            continue
        patterns = [
            (chance.randint(1, 10), chance.randint(1, 2), 1, chance.randint(0, 2), 8 * chance.randint(0, 1), 8,
             chance.randint(0, 255), chance.randint(1, 3))
            for _ in range(chance.randint(0, 30))
        ]
        (part,) = read_parts(str(write(tmp_path, ObjectFile(EVENTS, FUNCTIONS, groups, rows, patterns).bytes())))
        assert [(row.group + 1, row.line, row.cost) for row in part.rows] == [(row[0], *row[3:]) for row in rows]
        for number, group in enumerate(part.groups, 1):
            assert [(one.by.line, *one[:4]) for one in group.patterns] == [
                (row[3], *row[4:]) for row in patterns if row[0] == number
            ]
        plain = replace(part, rows=tuple(part.rows), groups=tuple(
            replace(group, patterns=tuple(group.patterns)) for group in part.groups
        ))
        found, expected = merge([part]), merge([plain])
        assert tuple(found.rows) == expected.rows and found.totals() == part.totals() == tuple(sums)
        assert found == expected and found.costs() == expected.costs()
        zero = replace(part, groups=(), rows=())
        assert [tuple(group.patterns) for group in merge([plain, zero]).groups] == [
            tuple(group.patterns) for group in found.groups
        ]


def test_recursion_is_one_place(tmp_path):
    deep = "heap 1 16 0 16 16 16 16 16 0 3 2 1 22 100 2 1 22 100 1 1 5 200 1 1 malloc"
    found = read(tmp_path, groups=[*GROUPS[:1], deep, HEAP, *GROUPS[3:]], rows=ROWS[:2], patterns=[])
    assert len(found.groups) == len(GROUPS) - 1
    assert found.groups[1].blocks.number == 4


def test_blocks_are_named_by_what_their_reader_can_change():
    """Not by the allocator's template, and by a line of one's own if there is one."""
    library, own = "/usr/include/c++/12/bits/stl_vector.h", "/src/sim.cpp"
    grow, fill, run = (Function("sim", file, name) for file, name in
                       ((library, "grow"), (own, "fill"), (own, "run")))

    def name(*places):
        return label(ObjectGroup(Identity(ObjectKind.HEAP, places=places), None, ()))

    assert name(CodeLine(grow, library, 9), CodeLine(fill, library, 5), CodeLine(run, own, 7)) == "heap sim.cpp:7, run"
    assert name(CodeLine(grow, library, 9), CodeLine(fill, library, 5)) == "heap stl_vector.h:5, fill"
    assert name(CodeLine(grow, library, 9)) == "heap stl_vector.h:9, grow"
    for rust in ("/rustc/5980/library/alloc/src/vec/mod.rs", "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs",
                 "/home/me/.rustup/toolchains/x/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs",
                 "/usr/src/rustc-1.63.0/library/alloc/src/alloc.rs"):
        push = Function("sim", rust, "alloc::vec::Vec<T, A>::push")
        assert name(CodeLine(push, rust, 9), CodeLine(fill, own, 5)) == "heap sim.cpp:5, fill"
    # Without lines, many are allocated by the same function.
    assert name(CodeLine(grow, "???", 0), CodeLine(fill, "???", 0), CodeLine(run, "???", 0)) == "heap for fill by grow"
    nameless = CodeLine(Function("sim", "???", "0x00000000000a74f0"), "???", 0)
    assert name(nameless, CodeLine(grow, "???", 0), CodeLine(run, "???", 0)) == "heap for run by grow"
    assert name(CodeLine(grow, "???", 0)) == "heap by grow"
    assert name(nameless) == "heap by sim+0xa74f0"


INLINED = [("/prog", "/src/prog.cpp", 1, "main"), ("/prog", "/usr/include/new.h", 20, "make")]


def test_what_was_inlined_from_another_file_is_placed_where_the_function_calls_it(tmp_path, capsys, monkeypatch):
    """Two containers allocate in one line of the library, which was inlined into main."""
    groups = [
        f"heap {number} {16 * number} 0 16 16 16 16 16 0 1 1 2 9 {address} 1 1 malloc"
        for number, address in ((1, 100), (2, 200), (4, 300))
    ]
    rows = [(group, 1, 1, 5, (0, 0, 10 * group, 1, 0, 1)) for group in (1, 2, 3)]
    asked = []

    def chains(wanted):
        asked.append(wanted)
        inner = Position("allocate", "/usr/include/new.h", 9)
        return InlinedCalls({"/prog": {
            100: (Position("main", "/src/prog.cpp", 5), inner), 200: (Position("main", "/src/prog.cpp", 7), inner),
        }}, ("said once",))

    monkeypatch.setattr(load, "read_inlined_calls", chains)
    profile = beside(tmp_path, functions=INLINED, groups=groups, rows=rows, patterns=[])
    (tmp_path / "p.out").write_text(
        f"{HEAD}\nevents: {' '.join(EVENTS)}\nob=/prog\nfl=/src/prog.cpp\nfn=main\n5 0 0 60 3 0 3\n"
    )
    assert main(["--objects", "--format=json", profile]) == 0
    out, err = capsys.readouterr()
    assert asked == [{"/prog": {100: 9, 200: 9, 300: 9}}]
    assert err == "bd_annotate: note: said once\n"
    assert {group["label"]: group["self"][2] for group in json.loads(out)["objects"]["groups"]} == {
        "heap prog.cpp:5, main": 10, "heap prog.cpp:7, main": 20, "heap new.h:9, main": 30,
    }


def test_a_file_that_is_gone_is_told_of_once(tmp_path, capsys):
    """Though it is asked for the places of blocks, and for their types."""
    groups = ["heap 1 16 0 16 16 16 16 16 0 1 1 2 9 100 1 1 malloc"]
    rows = [(1, 1, 1, 5, (0, 0, 10, 1, 0, 1))]
    profile = beside(tmp_path, functions=INLINED, groups=groups, rows=rows, patterns=[])
    (tmp_path / "p.out").write_text(
        f"{HEAD}\nevents: {' '.join(EVENTS)}\nob=/prog\nfl=/src/prog.cpp\nfn=main\n5 0 0 10 1 0 1\n"
    )
    assert main(["--object=heap", profile]) == 0
    assert capsys.readouterr().err == (
        "bd_annotate: note: inlined functions of /prog are not shown: the file does not exist\n"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"contexts: 1\n", "not a file of data objects"),
        (b"data-objects: 1\n", "version 1"),
        (b"data-objects: 3\nevents: Ir\nobjects: 0\nfiles: 0\nfunctions: 0\ngroups: 1\n", "ends in its head"),
        (b"data-objects: 3\nobjects: 0\n", "events: is missing"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, data, message):
    with pytest.raises(ProfileError, match=message):
        read_objects(str(write(tmp_path, data)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": ["heap 1"]}, "is not a group of objects"),
        ({"patterns": [(2, 5, 1, 7, 0, 16, 1, 1)]}, "function 5 has no name"),
        ({"patterns": [(2, 1, 1, 7, 0, 65, 1, 1)]}, "a pattern of 65 bytes"),
        ({"patterns": [(2, 1, 1, 7, 0, 0, 1, 1)]}, "a pattern of 0 bytes"),
        ({"groups": ["thing 1"]}, "is not a kind of object"),
        ({"groups": ["stack 9 1 main"]}, "object 9 has no name"),
        ({"groups": ["static 1 x table"]}, "is not a group of objects"),
        ({"groups": ["unknown"], "rows": [(2, 1, 1, 1, (0,) * 6)]}, "group 2 has no name"),
        ({"rows": [(1, 9, 1, 1, (0,) * 6)]}, "function 9 has no name"),
        ({"rows": [(1, 1, 9, 1, (0,) * 6)]}, "file 9 has no name"),
        ({"patterns": [(2, 1, 1, 7, 0, 4, 0x10, 1)]}, "a pattern of 4 bytes"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, changes, message):
    with pytest.raises(ProfileError, match=message):
        read(tmp_path, **changes)


def test_a_file_that_is_cut_off_is_refused_wherever(tmp_path):
    data = ObjectFile(EVENTS, FUNCTIONS, GROUPS, ROWS, PATTERNS, HEAD).bytes()
    for end in range(len(data)):
        with pytest.raises(ProfileError):
            read_objects(str(write(tmp_path, data[:end])))


def test_wrong_sums_are_refused(tmp_path):
    data = bytearray(ObjectFile(EVENTS, FUNCTIONS, GROUPS, ROWS, [], HEAD).bytes())
    data[-10 - 8 * len(EVENTS) : -10 - 8 * (len(EVENTS) - 1)] = struct.pack("<Q", 3)
    with pytest.raises(ProfileError, match="Ir are stated as 3"):
        read_objects(str(write(tmp_path, data)))


def test_check_compares_with_the_profile(tmp_path, capsys):
    assert main(["--check", beside(tmp_path)]) == 0
    assert "8 objects, 4 rows: from the same run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head": HEAD.replace("7", "8")}, "is about process 8 (part 1), but the profile about 7"),
        ({"rows": ROWS[1:]}, "SpLoss1 in all: the objects have 512, the profile 522"),
        ({"rows": [(1, 2, 1, 6, ROWS[0][4]), *ROWS[1:]]}, "of main: the objects have 512"),
        ({"rows": [(1, 1, 1, 6, (5, *ROWS[0][4][1:])), *ROWS[1:]]}, "Ir in all: the objects have 5"),
        ({"events": EVENTS[:5], "rows": []}, "but the profile"),
    ],
)
def test_check_finds_what_differs(tmp_path, capsys, changes, message):
    assert main(["--check", beside(tmp_path, **changes)]) == 1
    assert message in capsys.readouterr().err


def test_objects_of_another_run_are_refused(tmp_path, capsys):
    assert main(["--objects", beside(tmp_path, rows=ROWS[1:])]) == 2
    assert "has 512 SpLoss1 and " in capsys.readouterr().err


def test_nothing_is_asked_about_the_code_of_another_run(tmp_path, capsys, monkeypatch):
    """Its addresses may be those of another program, and the answer takes time."""
    monkeypatch.setattr(load, "read_inlined_calls", lambda _wanted: pytest.fail("it was asked"))
    assert main(["--objects", beside(tmp_path, rows=ROWS[1:])]) == 2
    assert "has 512 SpLoss1 and " in capsys.readouterr().err


def test_equal_sums_make_no_other_process_the_same_run(tmp_path, capsys):
    profile = beside(tmp_path, head=HEAD.replace("pid: 7", "pid: 8"))
    assert main(["--objects", profile]) == 2
    told = f"objects.p.out is from another run than {profile}: from process 8 (part 1), not 7 (part 1): "
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("appended", "message"),
    [
        (b"xx\n", "objects.p.out: something else follows its last complete part: this is not a file of data "),
        (b"\nxx", "objects.p.out: something else follows its last complete part: the file of data objects ends "),
        (None, "objects.p.out has part 1 of process 7 more often than "),
    ],
)
def test_what_was_appended_is_told_of(tmp_path, capsys, appended, message):
    profile = beside(tmp_path)
    objects = tmp_path / "objects.p.out"
    objects.write_bytes(objects.read_bytes() + (objects.read_bytes() if appended is None else appended))
    assert main(["--objects", profile]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (pathlib.Path.mkdir, "a folder"), (os.mkfifo, "a pipe, a socket or a device"),
        (lambda path: path.symlink_to("nowhere"), "a link to a missing file"),
        (lambda path: path.symlink_to("/dev/null"), "a pipe, a socket or a device"),
    ],
)
def test_what_is_no_file_is_not_missing(tmp_path, capsys, make, what):
    profile = beside(tmp_path)
    objects = tmp_path / "objects.p.out"
    objects.unlink()
    make(objects)
    assert main(["--objects", profile]) == 2
    assert capsys.readouterr().err == (
        f"bd_annotate: {objects} is {what}; a run with --objects=yes writes a regular file\n"
    )


def test_objects_that_are_not_there_are_asked_for(tmp_path, capsys):
    profile = tmp_path / "p.out"
    profile.write_text(PROFILE)
    assert main(["--objects", str(profile)]) == 2
    assert "a run with --objects=yes" in capsys.readouterr().err


def test_the_list_adds_up(tmp_path):
    found = list_objects(read(tmp_path), 1.0, 2)
    assert [label(entry.group) for entry in found.entries] == ["heap prog.c:22, make", "variable table"]
    assert found.others == 1
    uses = [*(entry.use for entry in found.entries), found.other_use]
    assert sum(use.unused for use in uses) == found.total.unused == 522
    assert sum(use.loaded for use in uses) == found.total.loaded == 832


def test_the_list_as_text(tmp_path, capsys):
    assert main(["--width=80", "--objects", beside(tmp_path)]) == 0
    text = capsys.readouterr().out.partition("== Data objects")[2]
    lines = [line.split(maxsplit=5) for line in text.splitlines()]
    assert ["704", "480", "68.2%", "7.6", "5", "heap prog.c:22, make"] in lines
    assert ["832", "522", "62.7%", "11.4", "5", "all"] in lines
    assert all(len(line) <= 80 for line in text.splitlines())


def test_only_what_a_function_has_loaded(tmp_path, capsys):
    assert main(["--objects", "--function=make", beside(tmp_path)]) == 0
    text = capsys.readouterr().out.partition("== Data objects")[2]
    assert "heap prog.c:22" in text
    assert "table" not in text


def test_a_function_without_a_symbol_is_found_by_what_it_is_called(tmp_path, capsys):
    functions = [FUNCTIONS[0], ("/lib/prog", "", 0, "0x0000000000001234")]
    profile = beside(tmp_path, functions=functions, groups=[*GROUPS[:3], "stack 2 0 0x0000000000001234", *GROUPS[4:]])
    for name in (r"\+0x1234$", "^0x0+1234$"):
        assert main(["--objects", f"--function={name}", profile]) == 0
        text = capsys.readouterr().out.partition("== Data objects")[2]
        assert "heap prog.c:22" in text
        assert "table" not in text


def test_who_loaded_an_object(tmp_path):
    found = read(tmp_path)
    assert [(one.function.name, one.line, one.use.unused) for one in loaders(found, found.groups[1])] == [
        ("main", 7, 480), ("make", 23, 0),
    ]


def test_the_details_of_an_object(tmp_path, capsys):
    assert main(["--width=80", "--object=heap", beside(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "3 blocks of 16 bytes: 48 bytes in all, at most 48 alive at once" in text
    assert "prog.c:7  main" in text
    # Bytes 0 to 7: used in all 10 loads; 8 in 1 of 10 and 2 of 2, 9 to 11 in 1 of 12; the others never.
    assert "    0  ########:2+++....\n" in text
    assert "12 bytes were used in at least one load, 4 in none, 0 never loaded" in text


def test_who_asks_for_an_object_gets_no_first_screen(tmp_path, capsys):
    profile = beside(tmp_path)
    assert main(["--object=heap", profile]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Profile  {profile} (bdgrind-1, pid 7)\nCommand  prog\n\nheap prog.c:22, make\n")
    assert "== Functions" not in text
    for option in ("--totals", "--objects", "--tree=caller"):
        assert main(["--object=heap", option, profile]) == 0
        assert "== Functions" in capsys.readouterr().out


def test_the_first_screen_says_how_to_see_them(tmp_path, capsys):
    profile = beside(tmp_path)
    assert main([profile]) == 0
    assert f"bd_annotate --objects {profile}  # which data\n" in capsys.readouterr().out
    (tmp_path / "objects.p.out").unlink()
    assert main([profile]) == 0
    assert "--objects" not in capsys.readouterr().out


def test_objects_are_the_functions_of_an_exported_profile(tmp_path, capsys):
    exported = str(tmp_path / "exported.out")
    options = ["--export=callgrind", "--objects", "--events=SpLoss1", "-o", exported]
    assert main([*options, beside(tmp_path)]) == 0
    assert main(["--check", exported]) == 0
    capsys.readouterr()
    assert main(["--format=json", exported]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["events"][0] == "SpLoss1" and "Ir" not in found["events"]
    costs = {function["name"]: function["self"][0] for function in found["functions"]}
    assert costs == {"(unknown)": 10, "heap prog.c:22, make": 480, "variable table": 32}


def test_what_helps_code_is_not_advised_for_data(tmp_path, capsys):
    """No object has lines of its own, whatever the program was compiled with."""
    exported = str(tmp_path / "exported.out")
    assert main(["--export=callgrind", "--objects", "-o", exported, beside(tmp_path)]) == 0
    assert main([exported]) == 0
    text = capsys.readouterr().out
    assert "heap prog.c:22, make" in text
    assert "Unknown" not in text and " -g" not in text


def test_objects_go_with_no_other_export(tmp_path, capsys):
    assert main(["--export=dot", "--objects", beside(tmp_path)]) == 2
    assert "--objects cannot be combined with --export" in capsys.readouterr().err


def test_no_object_of_that_name(tmp_path, capsys):
    assert main(["--object=nothing", beside(tmp_path)]) == 2
    assert "no loaded object matches" in capsys.readouterr().err


@pytest.mark.parametrize("options", [
    ["--element-size=8"], ["--element-size=0", "--object=x"], ["--element-size=65537", "--object=heap"], ["--object=("],
])
def test_options_that_make_no_sense(tmp_path, capsys, options):
    assert main([*options, beside(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("bd_annotate: ")


def test_patterns_are_those_of_the_functions_asked_for(tmp_path, capsys):
    assert main(["--object=heap", "--function=make", "--format=json", beside(tmp_path)]) == 0
    heap_group = json.loads(capsys.readouterr().out)["objects"]["groups"][1]
    assert [pattern[:4] for pattern in heap_group["patterns"]] == [[0, 16, 0xFFF, 1]]
    assert heap_group["layout"]["used"] == 12 * [1] + 4 * [0]


def test_json_has_all_of_it(tmp_path, capsys):
    assert main(["--objects", "--format=json", beside(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)["objects"]
    assert found["events"] == list(EVENTS)
    assert found["groups"][1]["blocks"]["most_alive"] == 48
    assert found["groups"][1]["places"][0] == {"function": "make", "file": "/src/prog.c", "line": 22}
    by = [(code["function"], code["line"]) for code in found["groups"][1]["patterns_by"]]
    names = {1: "main", 2: "make"}
    assert [(*pattern[:4], by[pattern[4]]) for pattern in found["groups"][1]["patterns"]] == [
        (*pattern[4:], (names[pattern[1]], pattern[3])) for pattern in PATTERNS[:3]
    ]
    assert found["groups"][1]["layout"] is None
    assert [row["self"] for row in found["rows"]] == [list(row[4]) for row in ROWS]


def test_json_has_the_layout_of_those_that_are_asked_for(tmp_path, capsys):
    assert main(["--object=heap", "--format=json", beside(tmp_path)]) == 0
    shown = json.loads(capsys.readouterr().out)
    groups = shown["objects"]["groups"]
    assert groups[1]["layout"] == {
        "size": 16, "reason": "the size of every block", "unmapped": 1,
        "loaded": 8 * [10] + 8 * [12], "used": [10] * 8 + [3, 1, 1, 1, 0, 0, 0, 0],
        "borders": [0] * 8 + [2] + 7 * [0], "loads": 12, "cut": 2,
    }
    assert all(group["layout"] is None for group in groups if group["kind"] != "heap")
    names = {function["id"]: function["name"] for function in shown["functions"]}
    assert [names[row["function_id"]] for row in shown["objects"]["rows"]] == ["main", "main", "make", "main"]


def test_names_are_neutralised(tmp_path, capsys):
    hostile = "variable\x1b[31m\x07name"
    groups = ["unknown", HEAP, f"static 1 64 {hostile}", *GROUPS[3:]]
    assert main(["--objects", "--object=variable", beside(tmp_path, groups=groups)]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\x07" not in text


def test_narrow_pages_are_not_overrun(tmp_path, capsys):
    groups = ["unknown", HEAP.replace("16 16 16", "160 160 160"), *GROUPS[2:]]
    profile = beside(tmp_path, groups=groups, patterns=[(2, 1, 1, 7, 0, 64, 0xFFFF, 9), (2, 1, 1, 7, 64, 64, 1, 3)])
    for options in (["--objects"], ["--object=."], ["--diff", "--objects", profile]):
        for width in (40, 60):
            assert main([f"--width={width}", *options, profile]) == 0
            lines = capsys.readouterr().out.splitlines()
            assert [line for line in lines if len(line) > width] == []
            assert any("heap prog.c:22" in line for line in lines) or "--diff" in options


def test_parts_of_different_events_cannot_be_added(tmp_path):
    one = read(tmp_path)
    other = read(tmp_path, events=EVENTS[:5], rows=[(*row[:4], row[4][:5]) for row in ROWS])
    with pytest.raises(Exception, match="has other events"):
        merge([one, other])


def test_a_sample_of_lines_is_told(tmp_path, capsys):
    """Beside the bytes, as costs are exact."""
    path = beside(tmp_path, head=f"{HEAD}\nsample: 8")
    assert read_objects(str(tmp_path / "objects.p.out")).one_in == 8
    assert main(["--object=heap", path]) == 0
    assert "one in 8, counted 8 times" in " ".join(capsys.readouterr().out.split())
    path = beside(tmp_path)
    assert main(["--object=heap", path]) == 0
    assert "which counts 8 times" not in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("text", ["0", "-1", "x", "9" * 40, ""])
def test_a_sample_of_no_number_is_refused(tmp_path, text):
    with pytest.raises(ProfileError, match="sample"):
        beside(tmp_path, head=f"sample: {text}")
        read_objects(str(tmp_path / "objects.p.out"))


def test_a_file_without_usual_sizes_can_be_read(tmp_path):
    """Version 2 has eight numbers of a place's blocks."""
    groups = [group.replace("48 16 16 16 0 2", "48 16 16 16 2") for group in GROUPS]
    assert groups != GROUPS
    data = ObjectFile(EVENTS, FUNCTIONS, groups, ROWS, PATTERNS, HEAD).bytes()
    path = tmp_path / "objects.p.out"
    path.write_bytes(data.replace(b"data-objects: 3", b"data-objects: 2"))
    assert read_objects(str(path)).groups[1].blocks == HeapBlocks(3, 48, 1, 32, 48, 16, 16, 16, 0)


def test_code_does_not_lead_a_list_of_data(tmp_path):
    """As the C library's, or Fortran's, of a program that is short of data."""
    found = read(tmp_path, rows=[*ROWS, (5, 1, 1, 8, (0, 0, 4800, 100, 1600, 400))])
    listed = list_objects(found, 0, None)
    assert [label(entry.group) for entry in listed.entries] == [
        "heap prog.c:22, make", "variable table", "(unknown)", "code of prog",
    ]
    assert listed.total.unused == 5322
    assert list_objects(found, 0, 3).other_use.unused == 4800
