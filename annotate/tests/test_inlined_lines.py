# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that the reader would change: what accessors and libraries have inlined counts for these."""

import os
import re

import pytest

from bdannotate.reading.parser import Detail, parse_text

from annotating import bd_annotate
from screens import EVENTS, HEAD, call, screen, section, use

# For each address, the calls around it as llvm-symbolizer --verbose has them, innermost first.
FRAME = "{name}\n  Filename: {file}\n  Function start filename: {file}\n  Function start line: {start}\n" \
    "  Line: {line}\n  Column: 3\n"


@pytest.fixture(name="program")
def fixture_program(tmp_path):
    """Makes a program of which the debug information says what is inlined where: for each address, in
    ascending order, frames (name, file, first line, line), innermost first."""
    (tmp_path / "program").write_text("")

    def made(*chains):
        answers = "".join(
            "".join(FRAME.format(name=n, file=f, start=s, line=l) for n, f, s, l in chain) + "\n"
            for chain in chains
        )
        tool = tmp_path / "llvm-symbolizer"
        tool.write_text(f"#!/bin/sh\n/bin/cat <<'EOF'\n{answers}EOF\n")
        tool.chmod(0o755)
        return str(tmp_path / "program"), {"PATH": f"{tmp_path}:{os.environ['PATH']}"}

    return made


MAIN = ("main", "/home/me/main.cpp", 1, 20)
ACCESSOR = ("toInt(lbool)", "/home/me/types.h", 99, 99)
LIBRARY = ("std::vector<int>::operator[](unsigned long)", "/usr/include/c++/12/bits/stl_vector.h", 1121, 1123)
LARGE = ("work", "/home/me/work.h", 10, 30)


def body(program, file, line, hot, rest=""):
    cost = use(9000, 16, 2)
    return (
        f"ob={program}\nfl=/home/me/main.cpp\nfn=main\n5 {use(200, 16, 2)}\nfi={file}\n{line} {cost}\n{rest}"
        f"\n# hot code:\n# ob={program}\n# fl=/home/me/main.cpp\n# fn=main\n# fi={file}\n"
        + "".join(f"# at={address:#x} {line} {costs}\n" for address, costs in hot)
    )


def lines_of(text):
    return [re.split(" {2,}", line)[-2:] for line in section(text, "Lines by never used")[2:]]


@pytest.mark.parametrize("inner, through", [
    (ACCESSOR, "toInt, types.h:99"), (LIBRARY, "..::operator[], stl_vector.h:1123"),
])
def test_what_is_inlined_counts_for_the_line_that_calls_it(tmp_path, program, inner, through):
    name, path = program([inner, MAIN])
    text = screen(tmp_path, body(name, inner[1], inner[3], [(0x10, use(9000, 16, 2))]), environment=path)
    lines = [line.split("  ")[-1].strip() for line in section(text, "Lines by never used")[2:]]
    # Below, where there is no room for both.
    assert lines in (
        [f"main (through {through})", "main"], ["main", f"(through {through})", "main"],
    )
    assert "main.cpp:20  main" in text and "main.cpp:5   main" in text
    assert "1. main (main.cpp:20): " in text
    wide = screen(tmp_path, body(name, inner[1], inner[3], [(0x10, use(9000, 16, 2))]), "--width=120",
                  environment=path)
    assert re.search(r"main\.cpp:20  main \(through \S+, \w+\.h:\d+\)$", wide, re.MULTILINE)


def test_calls_of_an_accessor_are_different_lines(tmp_path, program):
    other = ("main", "/home/me/main.cpp", 1, 22)
    name, path = program([ACCESSOR, MAIN], [ACCESSOR, other])
    text = screen(tmp_path, body(name, ACCESSOR[1], 99, [(0x10, use(6000, 16, 2)), (0x18, use(3000, 16, 2))]),
                  environment=path)
    assert [row[0] for row in lines_of(text) if ":" in row[0] and "through" not in row[0]] == [
        "main.cpp:20", "main.cpp:22", "main.cpp:5"]


@pytest.mark.parametrize("chain, source", [
    # A function of several lines has work of its own, and so has one with a loop.
    ([LARGE, MAIN], ""),
    ([("sum", "loop.h", 1, 2), MAIN], "int sum(int* a, int n) {\n    for (int i = 0; i < n; i++) s += a[i];\n}\n"),
    # What is not known stays where it is.
    ([("??", "/home/me/types.h", 0, 0)], ""),
    ([("toInt", "/home/me/types.h", 99, 100), MAIN], ""),  # another line: not the program that ran
])
def test_what_is_no_accessor_stays(tmp_path, program, chain, source):
    name, path = program(chain)
    if source:
        (tmp_path / "loop.h").write_text(source)
        chain = [(chain[0][0], str(tmp_path / "loop.h"), 1, 2), MAIN]
        name, path = program(chain)
    path_of, line = chain[0][1], chain[0][3] if chain[0][3] != 100 else 99
    (tmp_path / "bdgrind.out.1").write_text(
        HEAD + body(name, path_of, line or 99, [(0x10, use(9000, 16, 2))]))
    result = bd_annotate("bdgrind.out.1", "--width=80", cwd=tmp_path, text=True, environment=path)
    assert re.search(rf"{os.path.basename(path_of)}:{line or 99} +main$", result.stdout, re.MULTILINE)
    assert "through" not in result.stdout


def test_whose_code_it_is_are_options(tmp_path, program):
    name, path = program([LIBRARY, MAIN])
    costs = body(name, LIBRARY[1], LIBRARY[3], [(0x10, use(9000, 16, 2))])
    mine = screen(tmp_path, costs, "--own=/usr/include/c++/12", environment=path)
    assert mine.count("stl_vector.h:1123") and "(through" in mine  # an accessor, of the reader's own
    name, path = program([LARGE, MAIN])
    costs = body(name, LARGE[1], LARGE[3], [(0x10, use(9000, 16, 2))])
    assert "work.h:30   main" in screen(tmp_path, costs, environment=path)
    theirs = screen(tmp_path, costs, "--library=/home/me", "--own=main", environment=path)
    assert "work.h:30" in theirs, "all of it is a library's, then"


def test_a_template_of_a_library_counts_for_the_line_that_calls_it(tmp_path):
    """Compiled into the program, but not inlined."""
    cost, header = use(9000, 16, 2), "/usr/include/c++/12/bits/hashtable.h"
    source = "ob=/home/me/program\nfl=/home/me/main.cpp\nfn=main\n5 1\n"
    source += f"cfi={header}\ncfn=std::_Hashtable<int>::find(int)\ncalls=9 700\n8 {cost}\n"
    source += f"fl={header}\nfn=std::_Hashtable<int>::find(int)\n700 {cost}\n"
    (line,) = section(screen(tmp_path, source), "Lines by never used")[2:]
    assert line.endswith("  main.cpp:8  main through ..::find")


@pytest.mark.parametrize("instructions, calls, is_accessor", [(9, 4000, True), (9, 3, False), (90, 4000, False)])
def test_a_function_of_a_few_instructions_counts_for_its_callers(tmp_path, instructions, calls, is_accessor):
    events = use(9000, 16, 2).split()
    cost = " ".join([str(instructions * calls), *events[1:]])
    source = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 1\n"
    source += f"cfi=/home/me/get.c\ncfn=get\ncalls={calls} 3\n8 {cost}\n"
    source += f"fl=/home/me/get.c\nfn=get\n3 {cost}\n"
    text = screen(tmp_path, source)
    line = section(text, "Lines by never used")[2]
    assert line.endswith("  main.c:8  main (through get, get.c:3)" if is_accessor else "  get.c:3  get")
    assert text.count("\n1. main (main.c:8): at most " if is_accessor else "\n1. get (get.c:3)") == 1


def test_files_of_the_same_name_have_their_folders(tmp_path):
    source = "ob=/home/me/program\nfl=/home/me/one/main.c\nfn=main\n" + f"5 {use(900, 16, 2)}\n"
    source += call("f", use(800, 16, 2), "/home/me/two/main.c")
    source += f"fl=/home/me/two/main.c\nfn=f\n5 {use(800, 16, 2)}\nfl=/home/me/f.c\nfn=g\n1 {use(300, 16, 2)}\n"
    source += f"fl=/home/me/slice/mod.rs\nfn=h\n1 {use(200, 16, 2)}\n"
    assert [row[0] for row in lines_of(screen(tmp_path, source))] == [
        "one/main.c:5", "two/main.c:5", "f.c:1", "slice/mod.rs:1"]


def test_in_how_many_functions_a_line_is(tmp_path):
    source = "".join(f"fl=/home/me/{name}.c\nfn={name}\nfi=/home/me/common.h\n7 {use(900, 16, 2)}\n" for name in "abc")
    (line,) = section(screen(tmp_path, source), "Lines by never used")[2:]
    assert line.endswith("  common.h:7  a and 2 more")


def test_hot_code_that_is_not_understood_is_a_comment():
    good = "fl=a.c\nfn=main\n5 10\n\n# hot code:\n# fl=a.c\n# fn=main\n# at=0x10 5 9\n"
    head = HEAD.replace(EVENTS, "Ir")

    def rows(text):
        profile = parse_text(head + text + "\ntotals: 10\n", Detail.LINES)
        return [(address, *found) for rows in profile.hot.values() for address, found in rows.items()]

    assert rows(good) == [(0x10, 5, (9,))]
    for bad in ("# at=0x10", "# at=16 5 9", "# at=0x10 5 9 9", "# at=0x10 5 -9", "# fn=(7)", "# at=0x10 5 x"):
        assert rows(good.replace("# at=0x10 5 9", bad)) == []
    assert rows(good.replace("# hot code:", "# some code:")) == []
    # More than the line has: it would be less than nothing.
    assert rows(good.replace("0x10 5 9", "0x10 5 99"))
