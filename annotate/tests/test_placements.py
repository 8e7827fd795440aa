# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles with several placements of pages and stacks: by how much another run may differ, what changes are then."""

import json
import math
import statistics
from pathlib import Path

import pytest

from annotating import bd_annotate
from html_pages import Page
from merging import merged

EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw"
L1 = (100_000, 40_000, 10_000, 10, 1_000, 500)
READS = (400, 440, 420, 380)
WRITES = (100, 90, 110, 120)
FETCHES = (5, 5, 5, 5)
T3 = 3.182  # Student's quantile of 97.5 %, three degrees of freedom


def profile(reads=READS, writes=WRITES, fetches=FETCHES, pid=1, first=None, lines=None, l1=L1, d1=()):
    """d1: reads and writes that miss D1 in each placement, if that is known; the first are those of `l1`."""
    number = len(reads)
    head = [f"desc: Placements: {number}, seeds 7 to {6 + number}"]
    for event, counts in zip(("D1mr", "D1mw"), d1):
        head.append(f"desc: Placements of {event}: {' '.join(map(str, counts))}")
    for event, counts in (("ILmr", fetches), ("DLmr", reads), ("DLmw", writes)):
        head.append(f"desc: Placements of {event}: {' '.join(map(str, counts))}")
    costs = (*l1, fetches[0], reads[0] if first is None else first, writes[0])
    text = " ".join(map(str, costs))
    return "\n".join([
        "version: 1", "creator: bdgrind-test", f"pid: {pid}", "cmd: ./program",
        "desc: D1 cache: 32768 B, 64 B, 8-way associative", "desc: LL cache: 8388608 B, 64 B, 16-way associative",
        "desc: Placement: pages at random, seed 7", *(head if lines is None else lines),
        "positions: line", f"events: {EVENTS}", f"summary: {text}", "fl=a.c", "fn=main", f"1 {text}",
        f"totals: {text}", "",
    ])


def written(folder, text, name="p.out"):
    (folder / name).write_text(text)
    return name


def printed(folder, *arguments, status=0):
    result = bd_annotate(*arguments, cwd=folder, text=True)
    assert result.returncode == status, result.stderr
    return result.stdout if status == 0 else result.stderr


def spreads(folder, *names):
    return json.loads(printed(folder, *names, "--format=json")).get("placements")


def width(*variances):
    return T3 * math.sqrt(2 * sum(variances))


def test_what_another_run_may_differ_by(tmp_path):
    found = spreads(tmp_path, written(tmp_path, profile()))
    assert (found["number"], found["seeds"]) == (4, [7, 10])
    assert found["processes"] == [{"ILmr": list(FETCHES), "DLmr": list(READS), "DLmw": list(WRITES)}]
    both = [sum(one) for one in zip(READS, WRITES)]
    assert (found["metrics"]["DLm"]["least"], found["metrics"]["DLm"]["most"]) == (500, 530)
    assert found["metrics"]["DLm"]["mean"] == statistics.mean(both)
    assert found["metrics"]["DLm"]["deviation"] == pytest.approx(statistics.stdev(both))
    assert found["metrics"]["DLm"]["width"] == pytest.approx(width(statistics.variance(both)))
    # Reads and writes vary against each other: their sum is closer than either.
    assert found["metrics"]["DLm"]["width"] < found["metrics"]["DLmr"]["width"]
    assert found["metrics"]["ILmr"]["width"] == 0
    cycles = found["metrics"]["CEst"]
    assert cycles["least"] == 100_000 + 10 * 1510 + 100 * (500 + 5)
    assert cycles["width"] == pytest.approx(100 * found["metrics"]["LLm"]["width"])
    # What does not depend on pages has no spread, and neither has a ratio.
    assert set(found["metrics"]) == {"ILmr", "DLmr", "DLmw", "DLm", "LLm", "CEst"}


def test_the_estimated_time(tmp_path):
    reads, writes = (1_000, 1_100, 1_050, 900), (500, 400, 480, 600)
    text = profile(d1=(reads, writes))
    events = "event: TEst : Estimated time on it\nevents: {} TimeWait TimeMem TEst"
    text = text.replace(f"events: {EVENTS}", events.format(EVENTS))
    costs = " ".join(map(str, (*L1, FETCHES[0], READS[0], WRITES[0])))
    text = text.replace(costs, f"{costs} 9_000 4_000 50_000".replace("_", ""))
    found = spreads(tmp_path, written(tmp_path, text))["metrics"]["TEst"]
    # 500 misses of LL wait 4,000 ps, 1,500 of D1 the other 5,000.
    times = [
        50_000 - 9_000 + 4_000 * (far_reads + far_writes) / 500 + 5_000 * (near_reads + near_writes) / 1_500
        for far_reads, far_writes, near_reads, near_writes in zip(READS, WRITES, reads, writes)
    ]
    assert times[0] == 50_000
    assert found["mean"] == pytest.approx(statistics.mean(times))
    assert found["width"] == pytest.approx(width(statistics.variance(times)))
    assert (found["least"], found["most"]) == (round(min(times)), round(max(times)))


def test_a_time_without_its_parts_has_no_spread(tmp_path):
    text = profile().replace(f"events: {EVENTS}", f"event: TEst : Estimated time on it\nevents: {EVENTS} TEst")
    costs = " ".join(map(str, (*L1, FETCHES[0], READS[0], WRITES[0])))
    found = spreads(tmp_path, written(tmp_path, text.replace(costs, f"{costs} 50000")))["metrics"]
    assert "LLm" in found and "TEst" not in found


def test_the_first_screen(tmp_path):
    text = printed(tmp_path, written(tmp_path, profile()), "--width=120")
    both = [sum(one) for one in zip(READS, WRITES)]
    percent = 100 * width(statistics.variance(both)) / 500
    assert f"LL          500 ±{percent:.0f}% data misses, 5 ±0.0% code" in text
    assert "L1          1,500 data misses (3.0%), 10 code" in text
    assert "Placements  4 of pages at random, seeds 7 to 10; ± is how far another run may be off (95%)" in text
    assert "Placements of" not in text
    assert "166k cycles ±4.7%" in text
    totals = printed(tmp_path, "p.out", "--totals", "--width=120")
    assert "Placements of" not in totals


D1_READS = (1_000, 1_040, 1_020, 960)
D1_WRITES = (500, 480, 500, 510)


def test_stacks_lie_elsewhere_too(tmp_path):
    name = written(tmp_path, profile(d1=(D1_READS, D1_WRITES)))
    found = spreads(tmp_path, name)
    both = [sum(one) for one in zip(D1_READS, D1_WRITES)]
    assert found["metrics"]["D1m"]["deviation"] == pytest.approx(statistics.stdev(both))
    assert found["metrics"]["L1m"]["width"] == found["metrics"]["D1m"]["width"] == pytest.approx(
        width(statistics.variance(both))
    )
    assert found["metrics"]["L1m"]["least"] == 10 + min(both)
    lines = [sum(one) for one in zip(FETCHES, READS, WRITES)]
    cycles = [10 * of_d1 + 100 * of_ll for of_d1, of_ll in zip(both, lines)]
    assert found["metrics"]["CEst"]["width"] == pytest.approx(width(statistics.variance(cycles)))
    assert found["metrics"]["CEst"]["least"] == 100_000 + 100 + min(cycles)
    assert set(found["metrics"]) == {
        "D1mr", "D1mw", "D1m", "L1m", "ILmr", "DLmr", "DLmw", "DLm", "LLm", "CEst"
    }
    text = printed(tmp_path, name, "--width=120")
    assert "Placements  4 of pages and stacks at random, seeds 7 to 10; ± is how far another run may be" in text
    percent = 100 * width(statistics.variance(both)) / 1500
    assert f"L1          1,500 ±{percent:.1f}% data misses (3.0%), 10 code" in text
    other = written(tmp_path, profile(d1=(D1_READS, D1_WRITES), l1=(*L1[:4], 1_010, 500)), "other.out")
    said = rows(printed(tmp_path, "--diff", name, other, "--width=120"))["Placements"]
    assert said.startswith("L1m +0.7% (±") and said.endswith("no more than pages and stacks that lie elsewhere do")
    old = written(tmp_path, profile(), "old.out")
    said = rows(printed(tmp_path, "--diff", old, other, "--width=120"))["Placements"]
    assert said.startswith("LLm 0.0% (±") and "no more than pages that lie elsewhere do" in said
    said = printed(tmp_path, other, f"--baseline={name}", "--fail-if=L1m > +0%", status=1)
    assert "L1m went from 1,510 to 1,520 (+0.7%), no more than pages and stacks that lie elsewhere may do (±" in said
    assert "the first placement has D1mr 1,000, but the costs add up to 1,010" in printed(
        tmp_path, "--check", other, status=1
    )


def test_without_placements_nothing_is_said(tmp_path):
    name = written(tmp_path, profile(lines=[]))
    assert "±" not in printed(tmp_path, name)
    assert spreads(tmp_path, name) is None


@pytest.mark.parametrize("lines", [
    ["desc: Placements: 4, seeds 7 to 10"],
    ["desc: Placements: many, seeds 7 to 10", "desc: Placements of DLmr: 400 440 420 380"],
    ["desc: Placements: 4, seeds 7 to 10", "desc: Placements of DLmr: 400 440 420"],
    ["desc: Placements: 1, seeds 7 to 7", "desc: Placements of DLmr: 400"],
    ["desc: Placements: 4, seeds 7 to 10", "desc: Placements of DLmr: 400 x 420 380"],
    ["desc: Placements: 40, seeds 7 to 46", "desc: Placements of DLmr: " + " ".join(["400"] * 40)],
    ["desc: Placements of DLmr: 400 440 420 380"],
])
def test_what_is_no_placement_is_not_believed(tmp_path, lines):
    assert spreads(tmp_path, written(tmp_path, profile(lines=lines))) is None


def test_a_sum_that_is_not_known_in_full_has_no_spread(tmp_path):
    lines = ["desc: Placements: 4, seeds 7 to 10", "desc: Placements of DLmr: 400 440 420 380"]
    assert set(spreads(tmp_path, written(tmp_path, profile(lines=lines)))["metrics"]) == {"DLmr"}


def test_parts_add_up_and_processes_are_independent(tmp_path):
    part = written(tmp_path, profile(), "p.out.1")
    of_part = spreads(tmp_path, part, written(tmp_path, profile(), "p.out"))
    assert of_part["processes"][0]["DLmr"] == [2 * count for count in READS]
    assert of_part["metrics"]["DLmr"]["width"] == pytest.approx(width(4 * statistics.variance(READS)))
    child = written(tmp_path, profile(reads=READS[::-1], pid=2), "child.out")
    of_both = spreads(tmp_path, part, child)
    assert len(of_both["processes"]) == 2
    assert of_both["metrics"]["DLmr"]["width"] == pytest.approx(width(2 * statistics.variance(READS)))
    # One of them does not say.
    assert spreads(tmp_path, part, written(tmp_path, profile(lines=[], pid=3), "other.out")) is None
    assert spreads(tmp_path, part, written(tmp_path, profile((400, 410), (100, 90), (5, 5), 3), "two.out")) is None


def test_the_first_placement_is_what_was_profiled(tmp_path):
    assert "all costs add up" in printed(tmp_path, "--check", written(tmp_path, profile()))
    wrong = printed(tmp_path, "--check", written(tmp_path, profile(first=401)), status=1)
    assert "p.out: the first placement has DLmr 400, but the costs add up to 401" in wrong


def rows(text):
    """The texts by name of a head with wrapped rows."""
    found, name = {}, ""
    for line in text.splitlines():
        if line[:1].strip():
            name, _, line = line.partition(" ")
        found[name] = " ".join([*found.get(name, "").split(), *line.split()])
    return found


def test_a_comparison_says_what_may_be_luck(tmp_path):
    before = written(tmp_path, profile(), "before.out")
    little = written(tmp_path, profile(reads=(405, 445, 425, 385)), "little.out")
    much = written(tmp_path, profile(reads=(900, 940, 920, 880)), "much.out")
    said = rows(printed(tmp_path, "--diff", before, little, "--width=120"))["Placements"]
    percent = 100 * width(statistics.variance([sum(one) for one in zip(READS, WRITES)])) / 505
    assert said.startswith(f"LLm +1.0% (±{percent:.0f}%), CEst +0.3% (±")
    assert said.endswith(": no more than pages that lie elsewhere do")
    said = rows(printed(tmp_path, "--diff", before, much, "--width=120"))["Placements"]
    assert said.startswith("LLm +99.0%") and said.endswith(": more than pages that lie elsewhere do")
    # Instructions do not depend on pages: fewer of them are no luck, nor are the cycles.
    fewer = written(tmp_path, profile(l1=(50_000, *L1[1:])), "fewer.out")
    said = rows(printed(tmp_path, "--diff", before, fewer, "--width=120"))["Placements"]
    assert "LLm 0.0%" in said and "no more than pages that lie elsewhere do; CEst -30.2%" in said
    assert said.endswith(": more than that")
    widths = json.loads(printed(tmp_path, "--diff", before, little, "--format=json"))["placements"]
    assert set(widths) == {"ILmr", "DLmr", "DLmw", "DLm", "LLm", "CEst"}
    assert widths["DLmr"] == pytest.approx(width(statistics.variance(READS)))


def test_the_variances_of_both_sides_count(tmp_path):
    before = written(tmp_path, profile(), "before.out")
    calm = written(tmp_path, profile(reads=(400, 400, 400, 400), writes=(100, 100, 100, 100)), "calm.out")
    widths = json.loads(printed(tmp_path, "--diff", before, calm, "--format=json"))["placements"]
    assert widths["DLmr"] == pytest.approx(T3 * statistics.stdev(READS))


def test_if_one_side_has_none_that_is_said(tmp_path):
    before, after = written(tmp_path, profile(), "before.out"), written(tmp_path, profile(lines=[]), "after.out")
    said = rows(printed(tmp_path, "--diff", before, after, "--width=120"))["Placements"]
    assert said == "only one of the profiles has any: whether changes of misses are luck is not known"
    assert "placements" not in json.loads(printed(tmp_path, "--diff", before, after, "--format=json"))
    assert "Placements" not in rows(printed(tmp_path, "--diff", after, after))


def test_a_budget_says_so_too(tmp_path):
    before = written(tmp_path, profile(), "before.out")
    little = written(tmp_path, profile(reads=(405, 445, 425, 385)), "little.out")
    much = written(tmp_path, profile(reads=(900, 940, 920, 880)), "much.out")
    said = printed(tmp_path, little, f"--baseline={before}", "--fail-if=LLm > +0%", status=1)
    assert "LLm went from 505 to 510 (+1.0%), no more than pages that lie elsewhere may do (±" in said
    said = printed(tmp_path, much, f"--baseline={before}", "--fail-if=LLm > +0%", status=1)
    assert "LLm went from 505 to 1,005 (+99.0%): LLm > +0%" in said
    # Of a function alone, nothing is known.
    said = printed(tmp_path, little, f"--baseline={before}", "--fail-if=LLm of main > +0%", status=1)
    assert "pages" not in said


def test_the_page_says_it_where_it_says_what_was_run(tmp_path):
    name = written(tmp_path, profile())
    printed(tmp_path, name, "--html=page.html")
    (part,) = Page(tmp_path / "page.html").facts["sides"][0]
    told = [text for key, text in part["descriptions"] if key.startswith("Placements")]
    percent = 100 * width(statistics.variance([sum(one) for one in zip(READS, WRITES)])) / 505
    assert told == [
        f"4 of pages at random, seeds 7 to 10; another run may be off (95%) by LLm ±{percent:.0f}%, CEst ±4.7%"
    ]


def test_what_is_written_elsewhere_has_none(tmp_path):
    """Each rank has pages of its own, and the counts of a part are no longer those of a sum."""
    for rank in (0, 1):
        text = profile(pid=rank + 1).replace("desc: Placement:", f"desc: Rank: {rank}\ndesc: Placement:")
        written(tmp_path, text, f"r{rank}.out")
    target = merged(tmp_path, [str(tmp_path / "r0.out"), str(tmp_path / "r1.out")])
    assert "Placements" not in Path(target).read_text()
    exported = printed(tmp_path, "r0.out", "r1.out", "--export=callgrind", "--events=DLmr")
    assert "Placements" not in exported and "desc: LL cache" in exported
