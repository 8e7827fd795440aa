# SPDX-License-Identifier: GPL-2.0-or-later
"""One estimate of a run with --why=yes: what First, the lists and the repairs say are parts of the same times."""

import itertools
import json
import re
from collections import Counter
from types import SimpleNamespace

import pytest
from bdannotate.analyses.beyond import beyond_total
from bdannotate.analyses.code.report import make_report, make_selection
from bdannotate.analyses.misses.miss_costs import MissCosts
from bdannotate.analyses.misses.waits import with_waits
from bdannotate.analyses.top_lines import top_lines
from bdannotate.cli import main
from bdannotate.model.graph import build
from bdannotate.model.profile import Function, Place
from bdannotate.model.why import Instruction
from bdannotate.reading.machine import parse_machine
from bdannotate.reading.parser import parse_text
from bdannotate.views.overview import overview
from bdannotate.views.text import Page
from screens import EVENTS, HEAD
from test_repairs import KERNELS, repairs, run

ALL = (*KERNELS, "stream", "small", "tree", "called_columns", "neighbours")
ESTIMATE = "event: CEst = Ir + 10 I1mr + 100 ILmr + WaitFirst + WaitIn + WaitOut : cycles\n"
TITLE = "event: TEst : Estimated time on a toy\n"
NUMBERS = (
    r"(\d+)% instr\., (\d+)% misses out of order, (\d+)% in order, (\d+)% first touches, (\d+)% code"
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def judged(out, in_order, first, code):
    """What Time and First say of a microsecond, of which so many picoseconds are waited for."""
    made = "WaitFirst WaitIn WaitOut TimeWait TimeMem TEst TLeast TMost"
    head = HEAD.replace(EVENTS, f"{EVENTS} {made}").replace("positions:", ESTIMATE + TITLE + "positions:")
    rest = 1_000_000 - out - in_order - first - code
    row = f"{rest} 0 0 {code // 10} 9 0 0 0 0" + " 0" * 10
    row += f" {first} {in_order} {out} {first + in_order + out} 0 1000000 900000 1100000"
    profile = parse_text(f"{head}ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n5 {row}\n")
    report = make_report(profile, make_selection(profile, (), (), 1.0, None, None))
    rows = dict(overview(report, top_lines(report), Page(400)))
    assert "Estimate" not in rows
    return rows["Time"], rows["First"]


SHARES = 0, 40_000, 120_000, 240_000


@pytest.mark.parametrize("out, in_order, first, code", itertools.product(SHARES, repeat=4))
def test_first_does_not_contradict_the_estimate(out, in_order, first, code):
    estimate, said = judged(out, in_order, first, code)
    shares = dict(zip(
        ("instr.", "out of order", "in order", "first touches", "code"),
        map(int, re.search(NUMBERS, estimate).groups()),
    ))
    assert shares == {
        "instr.": (1_000_000 - out - in_order - first - code) // 10_000, "out of order": out // 10_000,
        "in order": in_order // 10_000, "first touches": first // 10_000, "code": code // 10_000,
    }
    name = said.partition(":")[0]
    avoidable = {part: shares[part] for part in ("out of order", "in order", "code")}
    misses = 100 - shares["instr."]
    if name == "instructions":
        assert f"misses cost {misses}% of the time" in said
        assert misses < 20 and max(shares["first touches"], *avoidable.values()) < 10
        return
    chosen = "code" if name == "code" else next(part for part in shares if f"{part} cost " in said)
    assert name in ("data", "code")
    if name == "data":
        assert f" cost {shares[chosen]}% of the time, 100% at a.c:5" in said
    if max(avoidable.values()) >= 10:
        assert shares[chosen] == max(avoidable.values()) and chosen != "first touches"
    elif shares["first touches"] >= 10:
        assert chosen == "first touches"
    else:
        assert misses >= 20 and shares[chosen] == max(shares["first touches"], *avoidable.values())
    helps = {"out of order": "", "in order": "", "first touches": "only less data", "code": ""}
    assert helps[chosen] in said and ("less data" in said) == bool(helps[chosen])


@pytest.mark.parametrize("name", ALL)
def test_first_and_what_to_change_are_of_the_same_times(capsys, name):
    """In cycles, each of which is 0.1 ns: no repair saves more than all misses cost but for page walks, and
    misses out of order cost in both places the same."""
    path = run(name)
    assert main([path, "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    shares, listed = found["verdict"]["shares"], found["repairs"]
    assert sum(shares.values()) == pytest.approx(1)
    assert found["verdict"]["cycle_costs"] is None
    count = dict(zip(found["events"], found["totals"]))
    cycles = count["Ir"] + 10 * count["I1mr"] + 100 * count["ILmr"]
    cycles += count["WaitFirst"] + count["WaitIn"] + count["WaitOut"]
    assert found["verdict"]["cycles"] == cycles
    for repair in listed:
        if repair["remedy"] == "none":
            assert repair["share"] <= shares["out_of_order"] + 1e-3
        elif repair["remedy"] != "huge-pages":
            assert repair["share"] <= 1 - shares["instructions"] + 1e-4
    if [repair["remedy"] for repair in listed] == ["none"]:
        assert listed[0]["share"] == pytest.approx(shares["out_of_order"], abs=1e-3)
    assert main([path, "--width=80"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in re.findall(r"misses out of order cost (\d+)% of the", text):
        assert int(words) == round(100 * shares["out_of_order"])
    if "nothing to gain" in text or "no repair is known:" in text:
        assert ("no repair is known" in text) >= ("data: misses out of order cost" in text)


def test_lists_are_ranked_by_what_misses_cost(capsys):
    """Not by how many there are: line 33 is a stream that misses more often than the chain of line 32."""
    path = run("stream_and_chain")
    assert main([path, "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    misses = Counter()
    for row in found["lines"]:
        misses[row["line"]] += row["self"][found["events"].index("D1mr")]
    assert misses[33] > misses[32]
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    assert "First    data: misses out of order cost" in screen and "at prog.c:32" in screen
    rows = screen.partition("== Lines by wait")[2].split("\n")[3:]
    assert "prog.c:32" in rows[0]
    assert "== Functions by WaitOut:incl" in screen
    assert main([path, "--width=80", "--sort=D1m"]) == 0
    assert "== Lines by D1 misses" in capsys.readouterr().out


def test_costs_that_were_asked_for_are_those_of_the_estimate(capsys):
    assert main([run("chain"), "--width=80", "--cycle-costs=1,10,100"]) == 0
    text = capsys.readouterr().out
    assert "(Ir + 10 L1m + 100 LLm)" in text and "== Lines by wait" not in text


BODY = """events: Ir D1mr D1mw
ob=/bin/p
fl=a.c
fn=main
1 10 0 0
cfn=f
calls=1 1
1 30 30 0
cfn=g
calls=1 1
2 20 10 0
fn=f
5 30 10 0
cfn=g
calls=1 1
5 40 20 0
fn=g
7 60 30 0
"""


# An instruction takes 0.1 ns; a quarter of each site's time is hidden.
MACHINE = """machine: 1
name: toy
processor: A toy
cache: L1 4096 64 4
cache: L2 262144 64 4
figure: instruction ns 0.1 0.1 0.1
figure: instruction-free ns 0.05 0.05 0.05
figure: instruction-chained ns 0.3 0.3 0.3
figure: misprediction ns 5 5 5
figure: page-walk ns 10 10 10
figure: translations pages 100 100 100
figure: window instructions 400 400 400
""" + "".join(
    f"line: {order} {size} {time} {time} {time}\n"
    for order in ("in-order", "stride", "column", "independent", "nearby", "chain")
    for size, time in ((4096, 1), (262144, 10))
)
COSTS = MissCosts(parse_machine(MACHINE, "toy"))


def site(function, line, time, first=0.0, is_foreseen=False):
    place = Instruction(Function("/bin/p", "a.c", function), "a.c", line, line)
    return SimpleNamespace(
        place=place, first_share=first / time, is_foreseen=is_foreseen, waiting=time, memory_share=0.5,
        waits=(time, time, time)
    )


def test_instructions_have_their_costs(capsys):
    """Those of the program add up to what its lines have."""
    path = run("chain")
    assert main([path, "--instructions", "--show=WaitOut"]) == 0
    table = capsys.readouterr().out.partition("== Instructions")[2]
    assert main([path, "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    event = found["events"].index("WaitOut")
    for row in found["lines"]:
        if row["self"][event]:
            assert f"{row['self'][event]:,}" in table


def test_calls_cost_what_is_missed_in_them():
    profile = parse_text("version: 1\ncreator: bdgrind\npositions: line\n" + BODY)
    sites = SimpleNamespace(costs=COSTS, work={}, loading=[
        site("f", 5, 40.0), site("g", 7, 60.0, first=30.0), site("main", 9, 7.0, is_foreseen=True),
    ])
    costs = with_waits(profile, sites)
    assert costs.events[3:] == (
        "WaitFirst", "WaitIn", "WaitOut", "TimeWait", "TimeMem", "TEst", "TLeast", "TMost"
    )
    functions = {function.name: costs for function, costs in build(costs).functions.items()}

    def times(instructions, waiting):
        """In picoseconds; half of the waiting is for memory."""
        return (
            waiting, waiting // 2,
            *(each * instructions + waiting for each in (100, 50, 300))
        )

    assert functions["f"].self_cost[3:] == (0, 0, 400, *times(30, 40000))
    assert functions["g"].self_cost[3:] == (300, 0, 300, *times(60, 60000))
    # Of g's misses, two thirds are for f.
    assert functions["f"].inclusive[3:] == (200, 0, 600, *times(70, 80000))
    assert functions["main"].inclusive[3:] == (300, 70, 700, *times(60, 107000))
    assert costs.totals()[3:] == (300, 70, 700, *times(100, 107000))
    # A line of which the profile has nothing else is one.
    place = Place(Function("/bin/p", "a.c", "main"), "a.c")
    assert costs.lines[place][9] == (0, 0, 0, 0, 70, 0, *times(0, 7000))


def test_functions_that_call_each_other_cost_what_all_of_them_do():
    body = BODY.replace("fn=g\n7 60 30 0\n", "fn=g\n7 60 30 0\ncfn=f\ncalls=1 1\n8 5 5 0\n")
    profile = parse_text("version: 1\ncreator: bdgrind\npositions: line\n" + body)
    costs = with_waits(profile, SimpleNamespace(costs=COSTS, work={}, loading=[site("f", 5, 40.0), site("g", 7, 60.0)]))
    graph = build(costs)
    assert [cycle.inclusive[5] for cycle in graph.cycles] == [1000]
    for call in costs.calls.values():
        assert 0 <= call.cost[5] <= 1000


def test_no_order_is_claimed_that_was_not_seen(capsys):
    """Of a list's first elements, each in a call of its own: where they lie, seen from each other, no loop tells."""
    path = run("first_of_each")
    found = repairs(capsys, path)
    assert "colocate" not in [repair["remedy"] for repair in found]
    assert main([path, "--width=80"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "in an order that never repeats" not in text


def test_a_small_repair_does_not_hide_where_most_is_lost(capsys):
    path = run("split_and_tree")
    found = repairs(capsys, path)
    assert [repair["remedy"] for repair in found][-1] == "none" and len(found) > 1
    assert found[-1]["share"] > found[0]["share"]
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    change = " ".join(screen[screen.index("== What to change ==") : screen.index("== Lines")].split())
    assert re.search(r"\d\. no repair is known for the other misses out of order: they cost \d+% of the", change)
    assert "prog.c:52 costs " in change
    assert screen.count("\n") <= 40
    assert main([path, "--hints", "--width=80"]) == 0
    assert "no repair is known for the other misses" in capsys.readouterr().out


def test_no_profile_is_incomplete_because_times_are_averages():
    """What is called once misses cheaply there, and dearly elsewhere: its average is more than all."""
    costs = HEAD.replace(EVENTS, f"{EVENTS} WaitFirst WaitIn WaitOut").replace("positions:", ESTIMATE + "positions:")
    zeros = " 0" * 18
    profile = parse_text(
        f"{costs}ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n5 1{zeros} 0 0 900\n"
        f"cfn=main\ncalls=1 0\n5 1{zeros} 0 0 950\nfn=start\n1 0\ncfn=main\ncalls=1 0\n1 1{zeros} 0 0 950\n"
    )
    report = make_report(profile, make_selection(profile, ("Wait:incl",), (), 1.0, None, None))
    assert report.selection.columns[0].metric.name == "Wait"
    assert beyond_total(report) is None
