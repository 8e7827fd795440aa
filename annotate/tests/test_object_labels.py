# SPDX-License-Identifier: GPL-2.0-or-later
"""What groups of objects are called: no two alike, wherever they are shown."""

import json
import re

import pytest
import test_data_hints as data
from bdannotate.analyses.comparison.object_diff import object_changes
from bdannotate.analyses.data.object_labels import named, plain_name
from bdannotate.cli import main
from bdannotate.model.objects import CodeLine, HeapBlocks, Identity, ObjectGroup, ObjectKind, ObjectRow, Objects
from bdannotate.model.profile import Function
from bdannotate.views.objects import named_rows
from bdannotate.views.text import Cell, Page
from object_files import ObjectFile
from test_objects import EVENTS, FUNCTIONS, HEAP, beside, write

SOURCE = "/src/same.c"
LIBRARY = "/usr/include/c++/12/vector.tcc"


def at(function, line, file=SOURCE, module="/prog"):
    return CodeLine(Function(module, file, function), file, line)


def bare(function, module="/prog"):
    return CodeLine(Function(module, "???", function), "???", 0)


def heap(*places, smallest=8, largest=8):
    function = Function("/lib/libc.so.6", "malloc.c", "malloc")
    blocks = HeapBlocks(1, 8, 0, 8, 8, smallest, largest, 8)
    return ObjectGroup(Identity(ObjectKind.HEAP, function=function, places=places), blocks)


def static(name, module="/prog", size=8):
    return ObjectGroup(Identity(ObjectKind.STATIC, name, module, size))


def labels(*groups):
    found = [group.label for group in named(groups, plain_name)]
    assert len(set(found)) == len(found)
    return found


def test_the_caller_tells_apart():
    assert labels(heap(at("make", 3), at("main", 10)), heap(at("make", 3), at("main", 11))) == [
        "heap same.c:3, make from main same.c:10", "heap same.c:3, make from main same.c:11",
    ]
    assert labels(heap(at("make", 3), at("main", 10)), heap(at("make", 4), at("main", 11))) == [
        "heap same.c:3, make", "heap same.c:4, make",
    ]


def test_who_calls_a_function_that_allocates_for_others_is_named():
    """Unless that is one function alone, or code whose lines are not known."""
    wrappers = at("xmalloc", 3), at("node_alloc", 5)
    assert labels(heap(*wrappers, at("parse", 10)), heap(*wrappers, at("lex", 20))) == [
        "heap same.c:10, parse", "heap same.c:20, lex",
    ]
    once = heap(at("from_malloc", 3), at("main", 10)), heap(at("from_malloc", 3), at("main", 11))
    assert [label.partition(" from ")[0] for label in labels(*once)] == ["heap same.c:3, from_malloc"] * 2
    assert labels(heap(*wrappers)) == labels(heap(*wrappers, bare("parse"))) == ["heap same.c:3, xmalloc"]


def test_it_is_the_first_in_which_they_differ():
    assert labels(
        heap(at("make", 3), at("wrap", 5), at("one", 10)), heap(at("make", 3), at("wrap", 5), at("two", 20)),
        heap(at("make", 3), at("main", 30)),
    ) == [
        "heap same.c:3, make from one same.c:10", "heap same.c:3, make from two same.c:20",
        "heap same.c:3, make from main same.c:30",
    ]


def test_who_calls_main_tells_nothing():
    assert labels(
        heap(at("make", 3), at("main", 4), at("(below main)", 5)),
        heap(at("make", 3), at("main", 4), at("(below main)", 6)),
    ) == ["heap same.c:3, make #1", "heap same.c:3, make #2"]


def test_without_lines_names_of_callers_tell_apart():
    assert labels(
        heap(bare("grow"), bare("push"), bare("one")), heap(bare("grow"), bare("push"), bare("0x0000000000001234")),
        heap(bare("grow"), bare("push")),
    ) == ["heap for push by grow from one", "heap for push by grow from prog+0x1234", "heap for push by grow"]


LIBC = "/lib/libc.so.6"
START = at("(below main)", 58, "libc_start_call_main.h", LIBC), at("__libc_start_main", 360, "libc-start.c", LIBC)


def test_what_calls_main_names_nothing():
    """Its line is known where that of main is not."""
    assert labels(heap(bare("main"), *START)) == ["heap by main"]
    assert labels(heap(bare("make"), bare("main"), *START)) == ["heap for main by make"]
    assert labels(heap(bare("0x0000000000001139"), *START)) == ["heap by prog+0x1139"]
    assert labels(heap(bare("0x1139"), bare("0x1200"), START[0])) == ["heap for prog+0x1200 by prog+0x1139"]
    start_thread = at("start_thread", 442, "pthread_create.c", LIBC)
    assert labels(heap(bare("0x1139"), start_thread)) == ["heap by prog+0x1139"]
    assert labels(heap(*START)) == ["heap libc_start_call_main.h:58, (below main)"]


def test_a_line_of_a_library_counts_for_what_it_allocates_itself():
    sort = at("qsort", 50, "msort.c", LIBC)
    assert labels(heap(bare("compare"), sort)) == ["heap for qsort by compare"]
    assert labels(heap(sort, bare("compare"))) == ["heap msort.c:50, qsort"]
    assert labels(heap(bare("helper", LIBC), sort, bare("compare"))) == ["heap msort.c:50, qsort"]
    assert labels(heap(bare("helper", "/usr/lib/libsql.so"), sort, at("main", 7))) == ["heap same.c:7, main"]


def test_sizes_tell_what_was_inlined_apart():
    """A vector and the objects that it points to are allocated in one line."""
    inner = at("emplace_back", 453, LIBRARY)
    assert labels(heap(at("main", 21), smallest=72, largest=72), heap(inner, at("main", 21), largest=524288)) == [
        "heap same.c:21, main, 72 bytes", "heap same.c:21, main, 8 to 524,288 bytes",
    ]


def test_where_nothing_differs_they_are_numbered():
    inner = [at(name, 137, LIBRARY) for name in ("emplace<A>", "emplace<B>", "emplace<C>")]
    assert labels(*(heap(one, at("main", 21)) for one in inner), static("x"), static("x #1"), static("x")) == [
        "heap same.c:21, main #1", "heap same.c:21, main #2", "heap same.c:21, main #3",
        "variable x #2", "variable x #1", "variable x #3",
    ]


def test_files_tell_apart():
    other = "/src/other/same.c"
    assert labels(heap(at("make", 3)), heap(at("make", 3, other))) == [
        "heap same.c:3, make in /src/same.c", "heap same.c:3, make in /src/other/same.c",
    ]
    stacks = [
        ObjectGroup(Identity(ObjectKind.STACK, function=Function("/lib/ld.so", f"/src/{file}.c", "match")))
        for file in ("lookup", "version")
    ]
    assert labels(*stacks) == ["stack of match in /src/lookup.c", "stack of match in /src/version.c"]


def test_variables_of_one_name():
    assert labels(static("lock", "/lib/libc.so.6"), static("lock"), static("lock", "/lib/libc.so.6", 16)) == [
        "variable lock in libc.so.6, 8 bytes", "variable lock in prog", "variable lock in libc.so.6, 16 bytes",
    ]
    assert labels(static("lock", "/lib/x"), static("lock", "/opt/x")) == [
        "variable lock in /lib/x", "variable lock in /opt/x",
    ]


def test_what_is_gone_is_not_called_what_is_new():
    """Each side has one group of this name, which needs no more there."""
    def objects(group):
        return Objects((), EVENTS[:1], (group,), (ObjectRow(0, Function("", "", "main"), "", 1, (1,)),))

    before, after = heap(at("make", 3), at("one", 10)), heap(at("make", 3), at("two", 20))
    found = object_changes(objects(before), objects(after), {}, lambda old, new: {}).changes
    assert [change.group.label for change in found] == [
        "heap same.c:3, make from two same.c:20", "heap same.c:3, make from one same.c:10",
    ]


TWICE = ["unknown", HEAP, HEAP.replace(" 1 1 5 200 ", " 1 1 6 300 ")]
ROWS = [
    (1, 1, 1, 6, (0, 0, 10, 1, 54, 60)),
    (2, 1, 1, 7, (0, 4, 480, 10, 160, 20)),
    (3, 1, 1, 8, (0, 0, 32, 1, 32, 4)),
    (3, 2, 1, 23, (0, 1, 0, 1, 64, 64)),
]
NAMES = ["heap prog.c:22, make from main prog.c:5", "heap prog.c:22, make from main prog.c:6"]


def two_calls(folder):
    """Of one make(), in lines 5 and 6 of main."""
    return beside(folder, groups=TWICE, rows=ROWS, patterns=[(2, 1, 1, 7, 0, 16, 0xFF, 9)])


def test_one_of_them_can_be_asked_for(tmp_path, capsys):
    profile = two_calls(tmp_path)
    for name, other in (NAMES, NAMES[::-1]):
        assert main([f"--object={re.escape(name)}", profile]) == 0
        text = capsys.readouterr().out
        assert f"\n{name}\n" in text and other not in text


def test_a_narrow_list_has_callers_in_lines_of_their_own(tmp_path, capsys):
    profile = two_calls(tmp_path)
    assert main(["--objects", "--width=80", profile]) == 0
    rows = [line.split(maxsplit=5) for line in capsys.readouterr().out.splitlines()]
    for first, second in ((["640", "480", "75.0%", "2.0", "4", "heap prog.c:22, make"], "5"),
                          (["128", "32", "25.0%", "34.0", "1", "heap prog.c:22, make"], "6")):
        assert rows[rows.index(first) + 1] == ["from", "main", f"prog.c:{second}"]


def test_they_are_two_wherever_they_go(tmp_path, capsys):
    profile = two_calls(tmp_path)
    exported = str(tmp_path / "exported.out")
    assert main(["--export=callgrind", "--objects", "-o", exported, profile]) == 0
    assert main(["--format=json", exported]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["functions"]} == {"(unknown)", *NAMES}
    assert main(["--objects", "--format=json", profile]) == 0
    groups = json.loads(capsys.readouterr().out)["objects"]["groups"]
    assert [group["label"] for group in groups] == ["(unknown)", *NAMES]


def test_hints_and_the_first_screen_say_which(tmp_path, capsys):
    groups = [*data.GROUPS[:4], data.HEAP.replace(" 1 1 5 200 ", " 1 1 6 300 ")]
    write(tmp_path, ObjectFile(data.EVENTS, data.FUNCTIONS, groups, data.ROWS, (), data.HEAD).bytes())
    profile = tmp_path / "p.out"
    profile.write_text(data.PROFILE)
    assert main(["--hints", str(profile)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"Data: {NAMES[0]}. Never used: 48.0k" in text and f"{NAMES[1]} Never used: 12.0k" in text
    assert main(["--width=80", str(profile)]) == 0
    text = capsys.readouterr().out
    assert f"\n   {NAMES[0]}: 75%" in text


def test_functions_are_called_what_the_other_lists_call_them(tmp_path, capsys):
    profile = beside(tmp_path, functions=[FUNCTIONS[0], (*FUNCTIONS[1][:3], "make(int)")])
    path = tmp_path / "p.out"
    path.write_text(path.read_text().replace("fn=make\n", "fn=make(int)\n"))
    for options, made in (([], "make"), (["--full-names"], "make(int)")):
        assert main(["--objects", *options, profile]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(line.endswith(f"  heap prog.c:22, {made}") for line in lines)
        assert any(f" {made}  " in line for line in lines)  # of the list of functions
        assert main([f"--object={re.escape(made)}$", *options, profile]) == 0
        capsys.readouterr()
    path.write_text(path.read_text() + "fn=make(char)\n9 0 0 0 0 0 0\n")
    assert main(["--objects", "--format=json", profile]) == 0
    assert json.loads(capsys.readouterr().out)["objects"]["groups"][1]["label"] == "heap prog.c:22, make(int)"


@pytest.mark.parametrize("names", [
    # Where they end, in their template arguments, and behind what all of them begin with.
    ["heap long_name_of_a_file.c:1, a_function_with_a_long_name_for_reading_a",
     "heap long_name_of_a_file.c:1, a_function_with_a_long_name_for_reading_b"],
    ["heap vector.h:99, ns::Table<int>::grow", "heap vector.h:99, ns::Table<ns::Item<long> >::grow",
     "heap vector.h:99, ns::Table<char const*>::grow"],
    ["heap a.c:5, make from a_very_long_caller_of_it_that_reads_all_names a.c:7",
     "heap a.c:5, make from a_very_long_caller_of_it_that_reads_all_places a.c:7"],
    ["heap a_long_name_of_a_file.c:5, a_function_with_a_long_name_for_reading_a from main a.c:7",
     "heap a_long_name_of_a_file.c:5, a_function_with_a_long_name_for_reading_b from main a.c:7"],
])
@pytest.mark.parametrize("width", [60, 70, 80])
def test_names_that_are_cut_stay_apart(names, width):
    lines = named_rows([["L1 bytes loaded"]], "object", [[Cell("12.5M")] for _ in names], names, Page(width, cut=True))
    assert max(map(len, lines)) <= width
    starts = [number for number, line in enumerate(lines) if "12.5M" in line] + [len(lines)]
    rows = ["\n".join(lines[one:other]) for one, other in zip(starts, starts[1:])]
    assert len(set(rows)) == len(names)


def test_what_fits_is_not_cut():
    names = ["heap a.c:5, make", "heap a.c:6, make", "variable table", "variable table"]
    lines = named_rows([["L1 bytes loaded"]], "object", [[Cell("1")] for _ in names], names, Page(80, cut=True))
    assert [line.split("  ")[-1] for line in lines[-4:]] == names
