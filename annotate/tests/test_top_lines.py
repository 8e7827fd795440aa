# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of the first screen: which they are, and for whom those of libraries count."""

import re

import pytest

from bdannotate.analyses.top_lines import top_lines
from screens import LIBC, STARTUP, call, report_of, screen, section, use


def test_the_top_lines_of_all_files_name_those_inlined_into_main(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.cpp\nfn=main\n"
    body += f"10 {use(100, 64, 64)}\nfi=/home/me/hot.h\n7 {use(9000, 16, 2)}\n"
    body += f"fi=/home/me/warm.h\n3 {use(2000, 16, 2)}\n"
    lines = section(screen(tmp_path, body), "Lines by never used")
    assert [line.split()[-2:] for line in lines[2:]] == [["hot.h:7", "main"], ["warm.h:3", "main"]]


def test_functions_stand_for_lines_that_are_not_known(tmp_path):
    """Of a program without symbols, the lines of the C library would be all that is listed."""
    libc = use(1000, 16, 2)
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n"
    body += call("0x0000000000000500", use(9000, 16, 2), "???", "/usr/lib/library.so.1.2")
    body += call("memcpy", libc, "/build/memcpy.S", "/lib/libc.so")
    body += f"ob=/usr/lib/library.so.1.2\nfl=???\nfn=0x0000000000000500\n0 {use(9000, 16, 2)}\n"
    body += f"ob=/lib/libc.so\nfl=/build/memcpy.S\nfn=memcpy\n30 {libc}\n"
    text = screen(tmp_path, body)
    names = [line.partition("(no lines)  ")[2] for line in section(text, "Lines by never used")[2:]]
    assert names == ["main through memcpy", "library.so.1.2+0x500"]


def test_what_the_c_library_costs_counts_for_the_line_that_calls_it(tmp_path):
    """memcmp has more of the loss than what calls it, of a library that is stripped."""
    compare, sort = use(9000, 16, 2), use(2000, 16, 2)
    program, library = "/usr/bin/program", "/usr/lib/library.so.1.2"
    body = f"ob={program}\nfl=???\nfn=0x400\n0 1\n" + call("0x500", compare, "???", library)
    body += f"ob={library}\nfl=???\nfn=0x500\n0 {sort}\n"
    body += call("__memcmp_avx2_movbe", compare, "../memcmp.S", LIBC, 7)
    body += f"ob={LIBC}\nfl=../memcmp.S\nfn=__memcmp_avx2_movbe\n414 {compare}\n"
    text = screen(tmp_path, body)
    (line,) = section(text, "Lines by never used")[2:]
    assert line.split("  ")[-1] == "library.so.1.2+0x500 through memcmp"
    assert re.search(r" 100\.0%", line), "both together"
    # Asked for by name, it is there with its own costs.
    (line,) = section(screen(tmp_path, body, "--function=memcmp"), "Lines by never used")[2:]
    assert line.endswith("  memcmp.S:414  __memcmp_avx2_movbe")


@pytest.mark.parametrize("back", [False, True])
def test_a_call_into_the_c_library_with_a_line(tmp_path, back):
    """What calls back stays where it is, as its costs are those of others, too."""
    cost, source = use(9000, 16, 2), "/home/me/main.c"
    body = f"ob=/home/me/program\nfl={source}\nfn=main\n"
    body += f"5 {use(4000, 16, 2)}\n" + call("fill", cost, source) + f"fn=fill\n8 {use(100, 16, 2)}\n"
    body += f"cob={LIBC}\ncfi=sort.c\ncfn=qsort\ncalls=1 1\n8 {cost}\n"
    body += f"ob={LIBC}\nfl=sort.c\nfn=qsort\n9 {cost}\n"
    if back:
        body += call("compare", "1", source, "/home/me/program")
        body += f"ob=/home/me/program\nfl={source}\nfn=compare\n20 1\n"
    lines = [re.split(" {2,}", line)[-2:] for line in section(screen(tmp_path, body), "Lines")[2:]]
    if back:
        assert lines == [["main.c:5", "main"], ["sort.c:9", "qsort"]]
    else:
        assert lines == [["main.c:8", "fill through qsort"], ["main.c:5", "main"]]


def test_lines_without_a_name_are_ranked_with_those_that_have_one(tmp_path):
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call("0x500", use(9000, 16, 2))
    body += f"fn=0x500\n0 {use(9000, 16, 2)}\nfn=named\n0 {use(1000, 16, 2)}\n"
    rows = section(screen(tmp_path, body), "Lines by never used")[2:]
    assert [row.split("  ")[-1] for row in rows] == ["program+0x500", "named"]


def test_the_c_library_is_listed_where_no_other_code_is_charged(tmp_path):
    """As the dynamic linker's work before the program begins is: last, and no place for a hint."""
    linker, own = use(9000, 16, 2), use(1000, 16, 2)
    body = "ob=/lib64/ld-linux-x86-64.so.2\nfl=rtld.c\nfn=_dl_start\n1 1\n" + call("relocate", linker)
    body += f"fn=relocate\n301 {linker}\n" + STARTUP.format(
        own=1, all=own, main="main", file="???") + f"ob=/home/me/program\nfl=???\nfn=0x500\n0 {own}\n"
    text = screen(tmp_path, body)
    assert [line.split("  ")[-1] for line in section(text, "Lines by never used")[2:]] == [
        "program+0x500", "relocate"]
    assert [line for line in section(text, "What to change") if line[:1].isdigit()] == [
        "1. program+0x500: at most 4% of the cycles, 75% unused"]


def test_code_without_a_line_is_listed():
    """Compilers give none to what they have merged: it may be where most is lost."""
    body = f"ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n0 {use(500, 8, 2)}\n5 {use(90, 8, 2)}\n"
    lines = top_lines(report_of(body)).lines
    assert [(line.line, line.functions[0].name) for line in lines] == [(0, "main"), (5, "main")]
