# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that call each other in a circle, and what closes it."""

import re

from bdannotate.analyses.code.cycles import origin
from bdannotate.model.graph import build
from bdannotate.reading.parser import parse_text

from screens import HEAD, call, screen, section


def test_members_of_a_cycle_are_listed_and_what_closes_it_is_named(tmp_path):
    body = "fl=a.c\nfn=main\n1 1\n" + call("even", 150) + "fn=even\n1 50\n" + call("odd", 1800)
    body += "fn=odd\n1 50\n" + call("even", 1700, count=25) + call("leaf", 50) + "fn=leaf\n1 50\n"
    text = screen(tmp_path, body, "--show=Ir,Ir:self")
    assert "<cycle 1>: 2 functions call each other, closed by odd -> even (25x)" in text
    rows = section(text, "Functions")[3:-1]
    assert not any("2 functions:" in row for row in rows)
    shares = [float(share) for row in rows for share in re.findall(r"([\d.]+)%", row)]
    assert max(shares) <= 100.0


def test_what_closes_a_cycle_is_named_to_the_end_of_the_line(tmp_path):
    """Of code without a symbol, the object may be cut, but not the address."""
    module, run = "/usr/lib/a-large-library.so.1.2.3", "run_the_statements_of_a_program"
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call(run, 1500, module=module)
    body += f"ob={module}\nfn={run}\n0 100\n" + call("0x2adb8", 1400) + "fn=0x2adb8\n0 100\n"
    text = screen(tmp_path, body + call(run, 1300, count=25), "--show=Ir,Ir:self")
    (line,) = re.findall("^<cycle.*$", text, re.MULTILINE)
    assert line.startswith("<cycle 1>: 2 functions, closed by a-large-")
    assert "+0x2adb8 -> run_the_stat" in line and line.endswith(" (25x)") and len(line) <= 80


def test_a_cycle_through_a_dispatcher_names_it():
    """Eight handlers, each of which calls the dispatcher, which calls them all."""
    names = [f"handler{number}" for number in range(8)]
    body = "fl=a.c\nfn=main\n1 1\n" + call("dispatch", 100) + "fn=dispatch\n1 1\n"
    body += "".join(call(name, 10) for name in names)
    body += "".join(f"fn={name}\n1 1\n" + call("dispatch", 9) for name in names)
    graph = build(parse_text(HEAD + body))
    (cycle,) = graph.cycles
    assert len(cycle.members) == 9
    assert [function.name for function in origin(graph, cycle).dispatchers] == ["dispatch"]
