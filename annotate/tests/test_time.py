# SPDX-License-Identifier: GPL-2.0-or-later
"""One model of time: what overlaps, against a processor that executes one instruction after the other; and seconds,
shares, ranking and sentences of one report, which are all of it, against each other."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from bdannotate.analyses.misses.miss_costs import Access, Loads, MissCosts
from bdannotate.analyses.misses.overlap import LoopTime
from bdannotate.cli import main
from bdannotate.reading.machine import parse_machine
from test_repairs import KERNELS, run
from why_machine import Machine

ORDERS = ("in-order", "stride", "column", "independent", "nearby", "chain")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def machine_text(each, window, lines):
    """lines: nanoseconds of a line by its order, the same for all sizes."""
    figures = {
        "instruction": ("ns", each), "instruction-free": ("ns", each / 2), "instruction-chained": ("ns", 3 * each),
        "misprediction": ("ns", 5), "page-walk": ("ns", 10), "translations": ("pages", 1000),
        "window": ("instructions", window),
    }
    text = "machine: 1\nname: toy\nprocessor: A toy\ncache: L1 4096 64 4\ncache: L2 262144 64 4\n"
    for name, (unit, value) in figures.items():
        text += f"figure: {name} {unit} {value} {value * 0.9} {value * 1.2}\n"
    for order in ORDERS:
        for size in (4096, 262144):
            time = lines[order] * (1 if size == 4096 else 10)
            text += f"line: {order} {size} {time} {time * 0.9} {time * 1.2}\n"
    return text


def executed(instructions, every, each, window, latency, at_a_time, is_chain):
    """Nanoseconds: an instruction at a time enters the window, and leaves it in this order; every so many there is a
    load, of which so many are on their way at a time."""
    entered = done = 0.0
    left = []  # when each instruction left the window
    loads = []
    for number in range(instructions):
        entered += each
        if number >= window:
            entered = max(entered, left[number - window])
        done = entered
        if number % every == 0:
            begins = entered
            if is_chain and loads:
                begins = max(begins, loads[-1])
            if len(loads) >= at_a_time:
                begins = max(begins, loads[-at_a_time])
            done = begins + latency
            loads.append(done)
        left.append(max(done, left[-1]) if left else done)
    return left[-1]


@pytest.mark.parametrize("is_chain", [False, True])
@pytest.mark.parametrize("every", [4, 12, 50, 150, 700])
@pytest.mark.parametrize("latency", [2.0, 15.0, 120.0])
@pytest.mark.parametrize("at_a_time", [4, 16])
def test_a_loop_takes_about_what_an_executed_one_does(is_chain, every, latency, at_a_time):
    instructions, each, window = 40_000, 0.1, 320
    lines = dict.fromkeys(ORDERS, latency / at_a_time) | {"chain": latency}
    text = machine_text(each, window, lines).replace(f" {10 * latency}", f" {latency}")
    costs = MissCosts(parse_machine(text, "toy"))
    loads = Loads(Access.CHAIN if is_chain else Access.INDEPENDENT, ((25, instructions / every),), 0.0, 64)
    found = LoopTime(instructions * each, instructions, 0.0).waiting({1: loads}, costs)
    time = instructions * each + found[1]
    assert time == pytest.approx(executed(instructions, every, each, window, latency, at_a_time, is_chain), rel=0.15)


def test_more_is_never_faster():
    costs = MissCosts(parse_machine(machine_text(0.1, 300, dict.fromkeys(ORDERS, 1) | {"chain": 30}), "toy"))
    chance = random.Random(4)
    for _ in range(300):
        time = LoopTime(chance.uniform(0, 5000), chance.randrange(1, 50_000), chance.choice([0.0, 40.0]))
        loads = {
            key: Loads(chance.choice(list(Access)), ((25, chance.randrange(900)),), chance.randrange(300), 64)
            for key in range(chance.randrange(1, 5))
        }
        waiting = time.waiting(loads, costs)
        alone = time.waiting(loads, costs, is_hidden=False)
        assert all(-1e-6 <= waiting[key] <= alone[key] + 1e-6 for key in loads)
        assert sum(alone.values()) - sum(waiting.values()) <= time.work + 1e-6
        without = {key: one for key, one in loads.items() if key}
        assert sum(time.waiting(without, costs).values()) <= sum(waiting.values()) + 1e-6


def random_run(seed):
    """Loops through several arrays, with steps, chains and work as it comes."""
    chance = random.Random(seed)
    machine = Machine(sets=2 ** chance.randrange(2, 5), ways=4, ll_lines=2 ** chance.randrange(8, 12))
    for line in range(31, 31 + 4 * chance.randrange(1, 4), 4):
        with machine.call(2, line):
            step = chance.choice([8, 16, 64, 96, 192, 4096, 4160])
            count = chance.randrange(50, 400)
            order = list(range(count))
            if is_chain := chance.random() < 0.3:
                chance.shuffle(order)
            elif chance.random() < 0.3:
                order = [chance.randrange(count) for _ in order]
            for _ in machine.loop(range(chance.randrange(1, 5)), line + 1):
                for number in machine.loop(order, line + 2):
                    machine.read(line + 3, 1_000_000 * line + number * step, depends=3 if is_chain else 1,
                                 on=line + 3 if is_chain else 0)
                    machine.compute(line + 3, chance.choice([0, 0, 3, 60]))
    machine.files(Path("."))
    return "p.out"


def random_machine(seed):
    chance = random.Random(seed)
    line = chance.uniform(0.1, 3)
    return machine_text(
        chance.uniform(0.03, 0.5), chance.randrange(50, 1000),
        {order: line * chance.uniform(1, 3) for order in ORDERS} | {"chain": line * chance.uniform(3, 60)},
    )


@pytest.mark.parametrize("seed", range(15))
def test_seconds_and_shares_of_a_random_profile_do_not_contradict_each_other(capsys, seed):
    path = random_run(seed) if seed >= len(KERNELS) // 2 else run(list(KERNELS)[seed])
    Path("toy.machine").write_text(random_machine(seed))
    option = "--machine-file=toy.machine"
    assert main([path, option, "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    verdict, repairs = found["verdict"], found["repairs"]
    time, shares = verdict["time"], verdict["shares"]
    assert 0 < time["least"] <= time["seconds"] <= time["most"]
    assert sum(shares.values()) == pytest.approx(1)
    waiting = shares["first_touches"] + shares["in_order"] + shares["out_of_order"]
    assert waiting == pytest.approx(time["waiting"], abs=1e-6)
    listed = [repair for repair in repairs if repair["remedy"] != "none"]
    assert [repair["seconds"] for repair in listed] == sorted((one["seconds"] for one in listed), reverse=True)
    for repair in [*listed, *(other for one in listed for other in one["alternatives"])]:
        assert repair["least"] <= repair["seconds"] <= repair["most"]
        assert repair["share"] == pytest.approx(repair["seconds"] / time["seconds"], rel=1e-3, abs=1e-6)
        # Of what is waited for, a repair saves all at most.
        assert repair["seconds"] <= time["waiting"] * time["seconds"] * (1 + 1e-3) + 1e-12
    for repair in repairs[len(listed):]:
        assert repair["seconds"] == 0 and repair["share"] <= shares["out_of_order"] + 1e-4
    assert main([path, option, "--width=80"]) == 0
    screen = capsys.readouterr().out
    assert screen.count("\n") <= 40 and max(map(len, screen.split("\n"))) <= 80
    text = " ".join(screen.split())
    (instructions,) = re.findall(r"\): (\d+)% instr\., ", text)
    assert int(instructions) == round(100 * shares["instructions"])
    for number, repair in enumerate(listed[:2], 1):
        said = re.search(rf" {number}\. .*?(?:;|but) (?:at most \d+|(-?\d+))% of the time", text)
        assert said and int(said[1] or 0) == max(round(100 * repair["share"]), 0)


def test_exports_have_the_time_on_the_paths_of_its_functions(capsys):
    path = run("chain")
    assert main([path, "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    total = dict(zip(found["events"], found["totals"]))["TEst"]
    assert main([path, "--export=folded", "--events=TEst"]) == 0
    stacks = dict(line.rsplit(" ", 1) for line in capsys.readouterr().out.split("\n") if line)
    assert sum(map(int, stacks.values())) == total
    assert max(stacks, key=lambda stack: int(stacks[stack])) == "main;work"
    Path("why.p.out").unlink()
    assert main([path, "--export=folded", "--events=TEst"]) == 2
    assert "--why=yes" in capsys.readouterr().err


# Nanoseconds for a step of a loop that reads one, two or three lines of each element, by the bytes of an element, none
# of which was in a cache: medians of a Zen 5, where lines in order took 1.37 in the same minute, strides of five 3.35.
ELEMENTS = {
    96: (1.96,), 128: (2.98, 2.76), 160: (3.11, 3.40), 192: (3.13, 3.96, 4.11), 256: (3.41, 5.73, 5.22),
    320: (3.35, 5.50, 6.26), 384: (3.73, 6.37, 7.63), 640: (4.45, 6.76, 8.82), 1088: (4.90, 8.22, 10.80),
}


@pytest.mark.parametrize("element", ELEMENTS)
def test_strides_of_one_loop_take_what_they_did_on_a_machine(element):
    text = machine_text(0.1, 320, dict.fromkeys(ORDERS, 5) | {"in-order": 0.137, "stride": 0.335})
    costs = MissCosts(parse_machine(text, "toy"))
    for lines, measured in enumerate(ELEMENTS[element], 1):
        loads = {key: Loads(Access.STRIDE, (), 1000.0, 64, step=element / 64) for key in range(lines)}
        waiting = LoopTime(0, 4000, 0.0).waiting(loads, costs)
        within = 1.25 if element < 512 else 1.5  # steps get dearer slowly, up to a page
        assert 1 / within < sum(waiting.values()) / 1000 / measured < within
        assert max(waiting.values()) == pytest.approx(min(waiting.values()))


@pytest.mark.parametrize("odds", [(1.0, 1.0), (0.7, 0.6, 0.6), (0.5, 0.1), (0.05, 0.02)])
def test_lines_of_one_link_come_together(odds):
    """Against steps that are thrown one by one: a step takes a latency if any of its lines misses."""
    costs = MissCosts(parse_machine(machine_text(0.1, 320, dict.fromkeys(ORDERS, 1) | {"chain": 10}), "toy"))
    chance = random.Random(3)
    steps = [[chance.random() < one for one in odds] for _ in range(4000)]
    loads = {
        key: Loads(Access.CHAIN, (), float(sum(step[key] for step in steps)), 64, link=7, steps=len(steps))
        for key in range(len(odds))
    }
    waiting = LoopTime(0.0, 4000, 0.0).waiting(loads, costs)
    assert sum(waiting.values()) == pytest.approx(100 * sum(map(any, steps)), rel=0.05)
    apart = {key: replace(one, link=key + 1) for key, one in loads.items()}
    waiting = LoopTime(0.0, 4000, 0.0).waiting(apart, costs)
    assert sum(waiting.values()) == pytest.approx(100 * sum(map(sum, steps)), rel=0.01)
