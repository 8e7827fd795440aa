# SPDX-License-Identifier: GPL-2.0-or-later
"""80 columns: what goes where there is no room for all. Columns, rather than what a row is about."""

import re

from bdannotate.analyses.code.report import make_report, make_selection
from bdannotate.analyses.code.structure import structures
from bdannotate.model.frames import Position
from bdannotate.model.graph import build
from bdannotate.reading.parser import parse_text
from bdannotate.views.structure import structure_table
from bdannotate.views.text import Page

from annotating import bd_annotate
from screens import HEAD, call, screen, section, use


def test_columns_go_before_places_and_counts_of_loops():
    """Deep inside of inlined calls with long names."""
    row = use(9000, 16, 2)
    head = HEAD.replace("positions: line", "positions: instr line")
    body = "ob=/home/me/program\nfl=/home/me/main.cpp\nfn=main\n0x10 5 1\nfi=/home/me/document_of_some_kind.h\n"
    body += f"0x14 1993 {row}\njcnd=8999/9000 0x14 1993\n0x18 1993\n0x18 1993 9\nfe=/home/me/main.cpp\n0x1c 6 1\n"
    profile = parse_text(head + body)
    around = Position("main", "/home/me/main.cpp", 5)
    names = [f"ns::Value<ns::Encoding<char>, ns::Pool<ns::Allocator>>::Level{depth}Compare" for depth in range(6)]
    deep = (around, *(Position(name, "/home/me/document_of_some_kind.h", 1000 + n) for n, name in enumerate(names)))
    inner = (*deep[:-1], Position(names[-1], "/home/me/document_of_some_kind.h", 1993))
    chains = {"/home/me/program": {0x10: (around,), 0x14: inner, 0x18: inner, 0x1c: (around,)}}
    report = make_report(profile, make_selection(profile, (), (), 1.0, None, None))
    found = structures(profile, build(profile), report.entries, chains)
    lines = structure_table(found, report, Page(80, cut=True))
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert re.search(r"loop document_of_some_kind\.h:1993  81,001 x 1\.1$", text, re.MULTILINE)
    assert re.search(r"Level0Compare +inlined main\.cpp:5", text) and "inlined docu..." not in text


def test_columns_go_before_names(tmp_path):
    name = "a_function_of_which_the_whole_name_matters_a_bit()"
    body = "ob=/home/me/program\nfl=/home/me/a_long_name_of_a_file.cpp\nfn=main\n1 1\n"
    body += call(f"ns::{name}", use(9000, 16, 2)) + f"fn=ns::{name}\n1234 {use(9000, 16, 2)}\n"
    text = screen(tmp_path, body)
    assert "a_long_name_of_a_file.cpp:1234  ns::a_fun" in section(text, "Lines by never used")[2]
    assert any("of_which_the_whole_name" in line for line in section(text, "Functions"))


def test_a_tab_is_two_blanks(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int f() {\n" + "\t" * 7 + "return some_function_of_a_long_name(with, arguments);\n}\n")
    (tmp_path / "bdgrind.out.1").write_text(HEAD + f"fl={source}\nfn=f\n2 {use(9000, 16, 2)}\n")
    result = bd_annotate("--annotate", "--width=80", cwd=tmp_path, text=True)
    assert f"2  {' ' * 14}return some_function_of_a_long_name(with, ar" in result.stdout
