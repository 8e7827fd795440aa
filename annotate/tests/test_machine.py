# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine files: what is read of them, what is refused, and what the estimate makes of them."""

import csv
import io
import json
import os
import re
from dataclasses import replace

import pytest
from bdannotate.analyses.misses.miss_costs import Access, MissCosts, missed
from bdannotate.cli import main
from bdannotate.model.why import Distance
from bdannotate.reading.machine import REFERENCE, machine_named, parse_machine, shipped_machines
from test_repairs import run
from test_waits import MACHINE


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def without(start):
    return "".join(line for line in MACHINE.splitlines(True) if not line.startswith(start))


@pytest.mark.parametrize("text, says", [
    ("", "is not a machine file: it does not begin with 'machine: 1'"),
    ("machine: 2\n", "has another version than 1"),
    ("events: Ir\n", "is not a machine file"),
    (MACHINE + "\x00\n", "begins with none of"),
    (MACHINE + "figure: window instructions 1 2\n", "needs a name, a unit and three figures"),
    (MACHINE + "figure: window instructions 1 2 3\n", "repeats the figure 'window'"),
    (MACHINE.replace("window instructions", "window ns"), "is in ns, not in instructions"),
    (MACHINE.replace("window instructions 400", "window instructions nan"), "negative or too large"),
    (MACHINE.replace("window instructions 400", "window instructions -1"), "negative or too large"),
    (MACHINE.replace("window instructions 400", "window instructions 1e300"), "negative or too large"),
    (MACHINE.replace("window instructions 400", "window instructions many"), "has a figure that is not a number"),
    (MACHINE.replace("instruction ns 0.1", "instruction ns 0"), "must be more than 0"),
    (without("figure: window"), "has no figure 'window'"),
    (without("cache:"), "needs a 'cache:' line for each level"),
    (without("name:"), "has no 'name:'"),
    (MACHINE.replace("name: toy", "name: To y"), "has no 'name:'"),
    (without("line: chain 4096"), "has fewer than two sizes for 'line: chain'"),
    (MACHINE + "line: chain 4096 1 1 1\n", "repeats the size 4096 of 'chain'"),
    (MACHINE + "line: chain 99999999999999999999 1 1 1\n", "needs a size in bytes"),
    (MACHINE + "line: chain\n", "needs an order, a size and three figures"),
    (MACHINE.replace("A toy", "A" * 200), "has a text with more than 100 characters"),
    (MACHINE.replace("A toy", "A\x1b[31mtoy"), "or with control characters"),
])
def test_a_file_that_is_none_is_refused_in_a_sentence(capsys, text, says):
    with open("bad.machine", "w") as file:
        file.write(text)
    assert main([run("chain"), "--machine-file=bad.machine"]) == 2
    error = capsys.readouterr().err
    assert says in error and "bad.machine" in error and error.count("\n") == 1 and "\x1b" not in error


def test_what_is_no_file_is_refused(capsys):
    path = run("chain")
    os.mkfifo("pipe")
    for name, says in (("pipe", "is not a regular file"), ("/dev/zero", "is not a regular file"),
                       ("none", f"bd_annotate has no machine of this name; it has {', '.join(shipped_machines())}")):
        assert main([path, f"--machine-file={name}"]) == 2
        assert says in capsys.readouterr().err
    with open("large", "w") as file:
        file.write(MACHINE + "#" * (1 << 20))
    assert main([path, "--machine-file=large"]) == 2
    assert "is larger than 64 KiB" in capsys.readouterr().err


def test_what_is_not_known_is_passed_over():
    text = MACHINE + "# a comment\n\nfigure: warp parsecs 12 12 12\nline: sideways 64 1 1 1\n"
    assert parse_machine(text, "toy") == parse_machine(MACHINE, "toy")


def test_shipped_machines_are_named_for_what_they_are():
    assert REFERENCE in shipped_machines()
    for name in shipped_machines():
        assert machine_named(name).name == name


def rows(count, bucket, last=0):
    return [Distance(1, bucket, count, last)]


def chain(count, bucket, last=0):
    return missed(rows(count, bucket, last)).loads(Access.CHAIN, 64)


def test_a_line_costs_what_one_of_a_buffer_of_that_size_does():
    costs = MissCosts(parse_machine(MACHINE, "toy"))
    # 4096 bytes are 64 lines, which bucket 25 begins with; 512 lines are half of the way to 4096, by the logarithm.
    assert costs.time_of(chain(100, 25)) == pytest.approx(100)
    assert costs.time_of(chain(100, 37)) == pytest.approx(550)
    assert costs.time_of(chain(100, 49)) == pytest.approx(1000)
    assert costs.time_of(chain(100, 0, 100)) == pytest.approx(1000)


def test_simulated_caches_lie_where_those_of_the_machine_do():
    machine = parse_machine(MACHINE, "toy")
    costs = MissCosts(machine, 8192, 1 << 20)
    assert costs.miss_cost(Access.CHAIN, 8192) == pytest.approx(1)
    assert costs.miss_cost(Access.CHAIN, 1 << 20) == pytest.approx(10)
    assert 1 < costs.miss_cost(Access.CHAIN, 65536) < 10
    # What misses D1 costs as much as what just misses it, at least.
    assert costs.miss_cost(Access.CHAIN, 64) == pytest.approx(1)


def test_lines_that_cannot_overlap_cost_their_latency():
    text = MACHINE.replace("line: chain 262144 10 10 10", "line: chain 262144 100 100 100")
    costs = MissCosts(parse_machine(text, "toy"))
    far = missed(rows(10, 0, 10)).loads(Access.INDEPENDENT, 64)
    assert costs.time_of(far) == costs.times_of(far, (0.5, 0))[0] == pytest.approx(100)
    assert costs.times_of(far, (5, 0))[0] == pytest.approx(500)
    assert costs.times_of(far, (99, 0))[0] == pytest.approx(1000)
    assert costs.times_of(missed(rows(10, 0, 10)).loads(Access.IN_ORDER, 64), (5, 0))[0] == pytest.approx(100)
    both = missed(rows(10, 0, 10) + rows(10, 25)).loads(Access.INDEPENDENT, 64)
    assert costs.times_of(both, (5, 10))[0] == pytest.approx(500 + 10)


def test_lines_that_a_repair_puts_in_order_need_no_page_walk_each():
    costs = MissCosts(parse_machine(MACHINE, "toy"))
    column = missed(rows(1000, 25)).loads(Access.COLUMN, 64, walks=800)
    assert costs.time_of(column) > costs.time_of(replace(column, walks=0))
    ordered = column.changed(250, 0, Access.IN_ORDER)
    assert costs.time_of(ordered) == pytest.approx(costs.time_of(missed(rows(250, 25)).loads(Access.IN_ORDER, 64)))
    assert column.changed(250, 0, Access.COLUMN).walks == 200


def test_the_report_names_the_machine_of_its_seconds(capsys):
    path = run("chain")
    with open("toy.machine", "w") as file:
        file.write(MACHINE)
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    assert re.search(r"^Time     about [\d.]+ [mun]?s on AMD EPYC \(.* to .*\): \d+% instr", screen, re.M)
    assert main([path, "--width=80", "--machine-file=toy.machine"]) == 0
    assert " on A toy (" in capsys.readouterr().out


def test_seconds_add_up_in_lists_json_and_csv(capsys):
    """By the formula in docs/machines.md, from the events in the same report."""
    path = run("chain")
    with open("toy.machine", "w") as file:
        file.write(MACHINE)
    option = "--machine-file=toy.machine"
    assert main([path, option, "--format=json", "--show=TEst:self,TEst:incl"]) == 0
    found = json.loads(capsys.readouterr().out)
    count = dict(zip(found["events"], found["totals"]))
    picoseconds = 100 * count["Ir"] + 1000 * count["I1mr"] + 10000 * count["ILmr"] + count["TimeWait"]
    time = found["verdict"]["time"]
    assert time["seconds"] == pytest.approx(picoseconds * 1e-12)
    # All rounds of the toy's figures are the same, so that they differ by instructions, and by what these hide.
    assert time["least"] == pytest.approx(time["seconds"] - 50e-12 * count["Ir"])
    assert time["most"] >= time["seconds"] + 200e-12 * count["Ir"]
    assert time["waiting"] == pytest.approx(count["TimeWait"] / picoseconds)
    assert sum(one["columns"]["TEst:self"] for one in found["functions"]) == pytest.approx(time["seconds"])
    metric = next(one for one in found["metrics"] if one["name"] == "TEst")
    assert metric["title"] == "Estimated time on A toy"
    assert metric["scale"] * sum(
        weight * count[event] for event, weight in metric["numerator"].items()
    ) == pytest.approx(time["seconds"])
    assert main([path, option, "--format=csv", "--show=TEst:self"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert sum(float(row["TEst:self"]) for row in table) == pytest.approx(time["seconds"])
    assert main([path, option, "--show=TEst:self,TEst:incl"]) == 0
    assert re.search(r"\d [mu]s 100.0%", capsys.readouterr().out)


def test_cycles_keep_their_meaning(capsys):
    """In the estimate of KCachegrind's kind, a cycle is the time of an instruction, whatever is hidden."""
    assert main([run("chain"), "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    metric = next(one for one in found["metrics"] if one["name"] == "CEst")
    assert metric["numerator"] == {"Ir": 1, "I1mr": 10, "ILmr": 100, "WaitFirst": 1, "WaitIn": 1, "WaitOut": 1}


def test_instructions_hide_lines_that_come_in_order_and_not_those_of_a_chain(capsys):
    """Of the stream of line 33, much more of the time than of the chain of line 32."""
    assert main([run("stream_and_chain"), "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    at = {event: number for number, event in enumerate(found["events"])}
    waits, alone = {}, {}
    for row in found["lines"]:
        cost = row["self"]
        waits[row["line"]] = waits.get(row["line"], 0) + cost[at["TimeWait"]]
        plain = cost[at["Ir"]] * 1000 * machine_named(REFERENCE).figure("instruction-chained")
        alone[row["line"]] = alone.get(row["line"], 0) + cost[at["TMost"]] - plain
    chain, stream = (waits[line] / alone[line] for line in (32, 33))
    assert chain > 0.5
    assert stream < chain
