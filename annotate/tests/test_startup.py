# SPDX-License-Identifier: GPL-2.0-or-later
"""What only starts a program or a thread."""

import pytest

from bdannotate.analyses.code.startup import above_main
from bdannotate.model.graph import build
from bdannotate.reading.parser import parse_text

from screens import HEAD, LIBC, call, screen, section, startup, use


def test_what_is_above_main_is_one_row(tmp_path):
    cost = use(1000, 16, 2)
    body = startup(cost) + f"ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 {cost}\n"
    names = [line[47:] for line in section(screen(tmp_path, body), "Functions")[3:]]
    assert names == ["  (above main: 3 functions)", "1 main  main.c [program]"]
    rows = section(screen(tmp_path, body, "--full-stacks"), "Functions")[3:]
    whole = {line[47:] for line in rows}
    assert {"ld.so+0x1ab70", "(below main)  [program]", "__libc_start_main  [libc.so]"} < whole
    assert "(above main" not in screen(tmp_path, body, "--function=main")


@pytest.mark.parametrize("main, body, above", [
    # A program without symbols: what the C library calls in another object.
    ("0x0000000000001100", "", 3),
    # Fortran's main program is below one of C.
    ("main", "cfn=MAIN__\ncalls=1 1\n1 9\nfn=MAIN__\n2 9\n", 4),
    ("main", "cfn=std::rt::lang_start_internal\ncalls=1 1\n1 9\nfn=std::rt::lang_start_internal\n"
     "cfn=app::main\ncalls=1 1\n1 9\nfn=app::main\n2 9\n", 5),
])
def test_where_a_program_begins(main, body, above):
    text = startup("9", main, "m.c") + f"ob=/home/me/program\nfl=m.c\nfn={main}\n1 1\n{body}"
    assert len(above_main(build(parse_text(HEAD + text)))) == above


def test_threads_begin_at_their_start_routines():
    body = "fl=t.c\nfn=clone\n1 1\n" + call("start_thread", 9) + "fn=start_thread\n1 1\n"
    body += call("work", 8) + "fn=work\n1 8\nfn=start\n1 1\n" + call("main", 9) + "fn=main\n1 9\n"
    found = above_main(build(parse_text(HEAD + body)))
    assert {function.name for function in found} == {"clone", "start_thread", "start"}


def test_how_the_runtime_begins_is_no_row_of_its_own(tmp_path):
    cost = use(9000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("pthread_create", cost, "???", LIBC) + f"ob={LIBC}\nfl=???\nfn=pthread_create\n0 1\n"
    body += call("clone", cost) + "fn=clone\n0 1\n" + call("0x77", cost, "???", "/lib/libgomp.so.1.0.0")
    body += "ob=/lib/libgomp.so.1.0.0\nfl=???\nfn=0x77\n0 1\n"
    body += call("work", cost, "/home/me/main.c", "/home/me/program")
    body += f"ob=/home/me/program\nfl=/home/me/main.c\nfn=work\n7 {cost}\n"
    assert "libgomp" not in "".join(section(screen(tmp_path, body), "Functions"))
    assert "libgomp" in "".join(section(screen(tmp_path, body, "--limit=all"), "Functions"))
