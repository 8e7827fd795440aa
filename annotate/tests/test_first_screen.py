# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen as a whole: what to change and where, in 80 columns and 40 lines."""

import itertools
import re
import shlex
from dataclasses import replace

import pytest

from bdannotate.views.text import Page
from bdannotate.views.text_report import BriefRepairs, Limits, first_screen
from annotating import bd_annotate
from screens import HELPER, call, report_of, screen, section, startup, use


def test_what_the_report_is_sorted_by_is_shown_first(tmp_path):
    """As the first screen says: see --sort=Ir."""
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    body += f"5 {use(2000, 16, 2)}\n6 90000000\n" + call("f", "100")
    text = screen(tmp_path, body + "fn=f\n9 100\n")
    assert "see --sort=Ir" in text and "a.c:6" not in text
    text = screen(tmp_path, body + "fn=f\n9 100\n", "--sort=Ir")
    first, second = section(text, "Lines by instr.")[2:]
    assert first.endswith(" a.c:6  main") and second.endswith(" a.c:5  main")
    names, sides, _, row = section(text, "Functions by Ir:incl")
    assert names.split()[:4] == ["instr.", "instr.", "never", "used"]
    assert sides.split()[:3] == ["incl", "self", "incl"]
    assert row.split()[:4] == ["90.0M", "100.0%", "90.0M", "100.0%"]
    text = screen(tmp_path, body + "fn=f\n9 100\n", "--sort=Ir", "--show=SpLoss1")
    assert section(text, "Functions")[0].split() == ["never", "used"]


def test_data_makes_room_where_code_costs_more(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    costs = {f"f{number}": use(2000, 16, 2) for number in range(9)}
    costs["parse"] = use(10, 16, 2, code=90_000)
    for number, (name, cost) in enumerate(costs.items()):
        body += call(name, cost, "/home/me/main.c", "/home/me/program")
        body += f"fn={name}\n{number}0 {cost}\nfn=main\n"
    text = screen(tmp_path, body)
    assert "First     code:" in text
    assert len(section(text, "Lines")) == 2 + 2
    assert sum(line[:1].isdigit() for line in section(text, "What to change")) == 1
    assert text.count("\n") <= 40


def test_rare_use_is_not_labelled_as_its_opposite(tmp_path):
    misleading = "event: AcCost1 : L1 cost of rare use (1000 per access of a line)\n"
    text = screen(tmp_path, misleading + f"fl=a.c\nfn=main\n1 {use(200, 16, 2)}\n", "--totals")
    assert "per access" not in text
    assert "1000 / accesses, added up over the lines that left L1" in text


def test_rows_are_limited_and_the_rest_is_counted(tmp_path):
    body = "fl=a.c\nfn=main\n" + "".join(f"{line} {use(300, 16, 2)}\n" for line in range(1, 31))
    body += "".join(f"fn=f{number}\n99 {use(500, 16, 2)}\n" for number in range(30))
    text = screen(tmp_path, body)
    assert "== Lines by never used; 26 more: --limit=all ==" in text
    assert len(section(text, "Lines")) == 2 + 5
    rest = re.search(r"Functions by .*; (\d+) more: --limit=all ==", text)
    assert int(rest[1]) + len(section(text, "Functions")) - 3 == 31
    few = screen(tmp_path, body, "--limit=3")
    assert (len(section(few, "Lines")), len(section(few, "Functions"))) == (2 + 3, 3 + 3)
    everything = screen(tmp_path, body, "--limit=all")
    assert len(section(everything, "Functions")) == 3 + 31
    assert "more: --limit" not in everything


@pytest.mark.parametrize("limit", ["0", "-1", "x", ""])
def test_a_limit_that_is_none(limit):
    result = bd_annotate(f"--limit={limit}", HELPER, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert "must be a number of rows, or all" in result.stderr


LONG = "ns::" + "Template<std::vector<int, std::allocator<int> > >::" * 5 + "member(int, char)"


@pytest.mark.parametrize("arguments", [
    [], ["--tree=both"], ["--files"], ["--hints"], ["--totals"], ["--exact"], ["--full-stacks"],
    ["--show=SpLoss1,SpLoss1:self,Unused1,Ir,Dr,Dw,D1mr,D1mw,AccLine1"], ["--limit=all"],
], ids=" ".join)
@pytest.mark.parametrize("width", [80, 60])
def test_nothing_is_wider_than_the_page(tmp_path, arguments, width):
    cost = use(9_000_000, 16, 2)
    where = "/home/me/" + "folder/" * 20 + "source.cpp"
    body = startup(cost, file=where) + f"ob=/home/me/program\nfl={where}\nfn=main\n5 {cost}\n"
    body += call(LONG, cost, where) + f"fn={LONG}\n7 {cost}\n" + call("other", cost)
    body += f"fn=other\n9 {cost}\n" + call(LONG, cost)
    text = screen(tmp_path, body, *arguments, f"--width={width}")
    assert [line for line in text.split("\n") if len(line) > width] == []
    assert "member" in text


def test_the_screen_of_a_large_program_is_a_screen(tmp_path):
    body = startup(use(900000, 16, 2)) + "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 9\n"
    for number in range(40):
        cost = use(10000 + number, 16, 2 if number % 2 else 9)
        body += call(f"f{number}", cost) + f"fn=f{number}\n{number + 1} {cost}\n" + "fn=main\n"
    text = screen(tmp_path, body + "9 9\n")
    assert text.count("\n") <= 40
    assert len(section(text, "Functions")) >= 3 + 4


@pytest.mark.parametrize("repairs, code", itertools.product((2, 6, 12), (0, 5_000, 400_000)))
def test_the_screen_of_long_advice_is_a_screen(repairs, code):
    """Lists make room for what to change, and where code is not first, its list does, too."""
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 9\n"
    for number in range(12):
        cost = use(10_000 + number, 16, 2, code=code if number == 3 else 0)
        body += call(f"f{number}", cost) + f"fn=f{number}\n{number + 1} {cost}\nfn=main\n"
    report = report_of(body)
    told = BriefRepairs(["   text"] * repairs, None)
    lines = first_screen(report, Limits(10, 5, fit=True), True, True, Page(80, cut=True), True, (), told)
    assert len(lines) <= 40
    assert lines.count("   text") == repairs
    rows = [line for line in lines if "main.c:" in line and "First" not in line]
    assert len(rows) >= 2
    assert [line for line in lines if line.startswith("Next  ")]


def test_functions_that_are_not_listed_are_named_in_what_is_next():
    """No reader could tell whose number it is."""
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 9\n"
    for number in range(12):
        cost = use(10_000 - 100 * number, 16, 2)
        body += call(f"f{number}", cost) + f"fn=f{number}\n{number + 1} {cost}\nfn=main\n"
    report = report_of(body)
    report = replace(report, selection=replace(report.selection, has_numbers=True))

    def commands(function):
        told = BriefRepairs(["   text"] * 6, next(one for one in report.graph.functions if one.name == function))
        lines = first_screen(report, Limits(10, 5, fit=True), True, True, Page(80, cut=True), True, (), told)
        return [line for line in lines if "--tree=both" in line]

    (listed,) = commands("f0")
    assert "--function=2 " in listed
    (hidden,) = commands("f11")
    assert "'--function=^f11$' " in hidden


def test_the_commands_for_what_is_next_work_as_they_are_printed(tmp_path):
    body = startup(use(900, 16, 2)) + "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    name = "A<int>::operator()(char const*)"
    body += f"1 9\n{call(name, use(900, 16, 2))}fn={name}\n5 {use(900, 16, 2)}\n"
    text = screen(tmp_path, body)
    last = text[text.index("\nNext  ") + 1 :].split("\n")
    commands = [line[6:].split("  #")[0] for line in last if line]
    assert [shlex.split(command)[:2] for command in commands] == [
        ["bd_annotate", "--tree=both"], ["bd_annotate", "--annotate"], ["bd_annotate", "--hints"],
        ["valgrind", "--tool=bdgrind"], ["kcachegrind", "bdgrind.out.1"],
    ]
    for command in commands[:3]:
        result = bd_annotate(*shlex.split(command)[1:], cwd=tmp_path, text=True)
        assert (result.returncode, result.stderr) == (0, "")
        assert "A<int>::operator()" in result.stdout
