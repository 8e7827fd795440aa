# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals of sampled profiles, as they are read and shown."""

from __future__ import annotations

import json
import re
from math import sqrt
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies as st

from bdannotate.cli import main
from bdannotate.merging.rank_tally import Head, RankTally
from bdannotate.model.merge import Renaming, add, parse_substitution, project, rename, subtract
from bdannotate.model.profile import Function, Intervals, Place, Profile
from bdannotate.reading.load import load, sum_of
from bdannotate.reading.parser import Detail, parse_text
from html_pages import report

HEAD = """version: 1
creator: bdgrind-1.0
pid: 7
cmd: ./app
part: 1

desc: Sample: bursts of 100 blocks in 1000, seed 1; counted 900 of 5000 blocks, in 8 bursts and the first 100

positions: line
events: Ir Dr
summary: 2000 300
"""
BODY = """
fl=a.c
fn=main
3 200
cfn=work
calls=4 10
4 1800 300
fn=work
10 1000 200
fi=b.h
20 700 90
fe=a.c
11 100 10
"""
INTERVALS = """
# intervals: 8 bursts
# all=8 150 40
# fl=a.c
# fn=main
# self=8 210 0
# sum=8 150 40
# line=3 8 210 0
# fl=a.c
# fn=work
# self=8 120 30
# sum=8 120 30
# line=10 8 100 20
# fi=b.h
# line=20 7 350 95

totals: 2000 300
"""


def profile(intervals: str = INTERVALS) -> Profile:
    return parse_text(HEAD + BODY + intervals)


def intervals(of: Profile) -> Intervals:
    assert of.intervals is not None
    return of.intervals


def own_name(function: Function) -> str:
    return function.name


def test_intervals_are_read() -> None:
    found = intervals(profile())
    assert found.bursts == 8
    assert found.total == (150, 40)
    assert {own_name(function): row for function, row in found.own.items()} == {"main": (210, 0), "work": (120, 30)}
    assert {own_name(function): row for function, row in found.inclusive.items()} == {
        "main": (150, 40), "work": (120, 30)
    }
    lines = {(place.function.name, place.file): rows for place, rows in found.lines.items()}
    assert lines == {
        ("main", "a.c"): {3: (210, 0)}, ("work", "a.c"): {10: (100, 20)}, ("work", "b.h"): {20: (350, 95)},
    }


def test_an_exact_profile_has_none() -> None:
    assert profile("\ntotals: 2000 300\n").intervals is None


def test_what_is_not_understood_is_passed_over() -> None:
    for wrong in ("# self=8 210 0 5", "# self=x", "# line=3", "# fn=(9)", "# line=99999999999 8 1 1", "# other=8 1 1"):
        text = INTERVALS.replace("# self=8 210 0", wrong)
        found = intervals(profile(text))
        assert found.total == (150, 40) and not found.own, wrong
    assert profile(INTERVALS.replace("8 bursts", "many bursts")).intervals is None


def test_widths_add_up_with_what_they_are_of() -> None:
    one = profile()
    for both in (add(one, one), subtract(one, one)):
        found = intervals(both)
        assert found.total == (300, 80)
        assert found.own[next(iter(found.own))] in ((420, 0), (240, 60))
    exact = profile("\ntotals: 2000 300\n")
    assert intervals(add(one, exact)).total == (150, 40)
    assert intervals(add(exact, one)).total == (150, 40)
    assert add(exact, exact).intervals is None


def of_seed(seed: int, times: int = 1) -> Profile:
    """Of which all may be off by so many times as much as in the first one."""
    text = re.sub(
        r"(?m)^(# (?:all|self|sum|line)=(?:\d+ )?\d+) (\d+) (\d+)$",
        lambda found: f"{found[1]} {int(found[2]) * times} {int(found[3]) * times}", INTERVALS,
    )
    return parse_text(HEAD.replace("seed 1", f"seed {seed}") + BODY + text)


def test_squares_of_widths_of_other_seeds_add_up() -> None:
    """150 and 2 * 150 of two seeds: 335.4; three times 150 of three: 259.8, and 450 of one."""
    found = intervals(add(of_seed(1), of_seed(2, 2)))
    assert found.total == (336, 90) and found.bursts == 16
    assert {own_name(function): row for function, row in found.own.items()} == {"main": (470, 0), "work": (269, 68)}
    assert intervals(sum_of([of_seed(1), of_seed(2), of_seed(3)])).total == (260, 70)
    assert intervals(sum_of([of_seed(4), of_seed(4), of_seed(4)])).total == (450, 120)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=8), st.randoms())
def test_no_sum_is_narrower_than_its_runs_allow(runs: list[tuple[int, int]], random: Random) -> None:
    """Of each seed, widths add up; over seeds, their squares. In any order, it is the same, and no more than all
    widths."""
    by_seed: dict[int, int] = {}
    for seed, times in runs:
        by_seed[seed] = by_seed.get(seed, 0) + 150 * times
    least = sqrt(sum(width**2 for width in by_seed.values()))
    total = intervals(sum_of([of_seed(*run) for run in runs])).total
    assert total is not None and least <= total[0] + 1e-6 <= sum(by_seed.values()) + 1
    if len(by_seed) == len(runs):
        assert total[0] <= least + 1
    random.shuffle(runs)
    assert intervals(sum_of([of_seed(*run) for run in runs])).total == total


def test_what_one_run_does_not_know_is_not_known() -> None:
    few = parse_text(HEAD.replace("seed 1", "seed 2") + BODY + INTERVALS.replace("# self=8 120 30\n", ""))
    found = intervals(sum_of([profile(), few, profile("\ntotals: 2000 300\n")]))
    assert [own_name(function) for function in found.own] == ["main"] and found.total == (213, 57)
    assert len(found.inclusive) == 2


def test_events_of_several_are_chosen() -> None:
    """Before and after they are added up, it is the same."""
    three = [of_seed(1), of_seed(2, 3), of_seed(2)]
    late = project(sum_of(three), ("Dr",))
    early = sum_of([project(one, ("Dr",)) for one in three])
    assert intervals(late) == intervals(early)
    assert intervals(add(late, project(of_seed(3), ("Dr",)))).total == intervals(
        project(sum_of([*three, of_seed(3)]), ("Dr",))).total


def test_merged_ranks_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the file as in the sum."""
    paths = []
    for rank in range(3):
        head = HEAD.replace("seed 1", f"seed {rank}").replace("desc: Sample", f"desc: Rank: {rank}\ndesc: Sample")
        body = BODY.replace("fl=a.c\nfn=main", "ob=app\nfl=a.c\nfn=main")
        widths = INTERVALS.replace("# fl=a.c\n# fn=main", "# ob=app\n# fl=a.c\n# fn=main")
        (tmp_path / f"out.{rank}").write_text(head + body + widths)
        paths.append(str(tmp_path / f"out.{rank}"))
    assert main(["--merge", "-o", str(tmp_path / "all"), *paths]) == 0
    found = intervals(load(str(tmp_path / "all"), Detail.LINES, Renaming()))
    known = intervals(sum_of([load(path, Detail.LINES, Renaming()) for path in paths]))
    for name in ("bursts", "total", "own", "inclusive", "lines"):
        assert getattr(found, name) == getattr(known, name), name
    assert found.total == (260, 70) and found.lines
    assert "# all=3 260 70\n" in (tmp_path / "all").read_text()
    capsys.readouterr()
    assert main(["--check", str(tmp_path / "all")]) == 0
    assert main(["--color=no", str(tmp_path / "all")]) == 0
    assert "from 24 bursts" in capsys.readouterr().out


def test_tallies_are_handed_over() -> None:
    head = Head("", "", (), ("Ir", "Dr"), {}, {})
    one, other, whole = RankTally(head), RankTally(head), RankTally(head)
    ranks = [of_seed(1), of_seed(2, 2), of_seed(1, 3), of_seed(3)]
    for number, rank in enumerate(ranks):
        whole.add(rank, number)
        (one if number < 2 else other).add(rank, number % 2)
    other.shift(2)
    for piece in other.pieces():
        one.take(piece)
    assert one.widths.intervals() == whole.widths.intervals() == intervals(sum_of(ranks))
    exact = RankTally(head)
    exact.add(profile("\ntotals: 2000 300\n"), 0)
    assert exact.widths.intervals() is None


def test_events_are_chosen() -> None:
    found = intervals(project(profile(), ("Dr",)))
    assert found.total == (40,)
    assert {own_name(function): row for function, row in found.own.items()} == {"main": (0,), "work": (30,)}


def test_functions_that_become_one() -> None:
    """Line 11 has no interval: in the function, its costs are in that of the function; alone, nothing is known."""
    same = Renaming(functions=(parse_substitution("s/main|work/all/"),))
    found = intervals(rename(profile(), same))
    ((function, row),) = found.own.items()
    assert function.name == "all" and row == (330, 30)
    assert found.lines[Place(function, "a.c")] == {3: (210, 0), 10: (100, 20)}
    files = Renaming(files=(parse_substitution("s/b.h/a.c/"),), functions=same.functions)
    assert intervals(rename(profile(), files)).lines.keys() == {Place(function, "a.c")}


def test_detail_of_functions_keeps_those_of_functions() -> None:
    found = intervals(parse_text(HEAD + BODY + INTERVALS, Detail.FUNCTIONS))
    assert len(found.own) == 2


def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str, intervals: str = INTERVALS) -> str:
    path = tmp_path / "app.out"
    path.write_text(HEAD + BODY + intervals)
    assert main([*options, "--color=no", str(path)]) == 0
    return capsys.readouterr().out


def test_reports_say_how_far_numbers_may_be_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = shown(tmp_path, capsys, "--sort=Ir:self", "--width=80")
    assert "Estimates  from 8 bursts; ± is 95%, ? where that is more than the number\n" in text
    assert "Counted    2,000 ±8% Ir, 300 ±13% Dr\n" in text
    rows = [line.split() for line in text.splitlines()]
    # work: 120 of 1,800; main: 210 of 200.
    assert any(row[:3] == ["1,800", "90.0%", "±7%"] and "work" in row for row in rows)
    assert any(row[:3] == ["200", "10.0%", "?"] and "main" in row for row in rows)
    # Lines 10, 20 and 11, of which the last has none.
    assert any(row[:4] == ["1,000", "50.0%", "±10%", "a.c:10"] for row in rows)
    assert any(row[:4] == ["700", "35.0%", "±50%", "b.h:20"] for row in rows)
    assert any(row[:4] == ["100", "5.0%", "?", "a.c:11"] for row in rows)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_totals_have_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in shown(tmp_path, capsys, "--totals").splitlines()]
    assert any(row[:3] == ["2,000", "±8%", "Ir"] for row in rows)
    assert any(row[:3] == ["300", "±13%", "Dr"] for row in rows)


def test_json_has_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(tmp_path, capsys, "--format=json"))
    assert found["interval"] == {"bursts": 8, "totals": [150, 40]}
    by_name = {one["name"]: one["interval"] for one in found["functions"]}
    assert by_name["main"] == {"self": [None, 0], "inclusive": [150, 40]}
    assert by_name["work"] == {"self": [120, 30], "inclusive": [120, 30]}
    lines = {one["line"]: one["interval"] for one in found["lines"]}
    # Of the one nothing is known, of the other not how often it reads.
    assert lines == {3: [None, 0], 10: [100, 20], 20: [350, None], 11: None}


def test_too_few_bursts_and_exact_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(tmp_path, capsys, intervals="\n# intervals: 1 bursts\n\ntotals: 2000 300\n")
    assert "Estimates  from 1 burst: too few to say how far they may be off\n" in text
    exact = shown(tmp_path, capsys, intervals="\ntotals: 2000 300\n")
    assert "Estimates" not in exact and "±" not in exact
    assert "interval" not in shown(tmp_path, capsys, "--format=json", intervals="\ntotals: 2000 300\n")


def test_the_page_has_the_intervals_of_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One more than half the width; 0 where nothing is known. An exact profile has no tables of them."""
    path = tmp_path / "app.out"
    path.write_text(HEAD + BODY + INTERVALS)
    page = report(tmp_path, path)
    assert page.facts["estimates"] == {"bursts": [8], "totals": [150, 40]}
    names = [name for name, _, _ in page.functions()]
    own = dict(zip(names, page.costs("functionWidths", "self:")))
    inclusive = dict(zip(names, page.costs("functionWidths", "incl:")))
    assert own == {"main": [211, 1], "work": [121, 31]}
    assert inclusive == {"main": [151, 41], "work": [121, 31]}
    lines = dict(zip(page.table("lines")["line"], page.costs("lineWidths", "self:")))
    assert lines == {3: [211, 1], 10: [101, 21], 11: [0, 0], 20: [351, 96]}
    hottest = page.table("hotLines")["line"]
    widths = dict(zip(hottest, page.costs("hotLineWidths", "self:")))
    assert hottest and widths == {line: lines[line] for line in hottest}
    path.write_text(HEAD + BODY + "\ntotals: 2000 300\n")
    exact = report(tmp_path, path)
    assert exact.facts["estimates"] is None and not any("Widths" in name for name in exact.facts["tables"])
