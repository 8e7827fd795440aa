# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of runs with an L2 between L1 and the last level."""

import json
import re

import pytest

from annotating import bd_annotate
from screens import report_of, screen

EVENTS = (
    "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 AcCostD1 SpLossD1 EvLineD1 "
    "UsByteD1 AccessD1 AcCost2 SpLoss2 EvLine2 UsByte2 Access2 AcCostDL SpLossDL EvLineDL UsByteDL AccessDL I2mr D2mr "
    "D2mw AcCostL2 SpLossL2 EvLineL2 UsByteL2 AccessL2 AcCostD2 SpLossD2 EvLineD2 UsByteD2 AccessD2"
)
HEAD = f"""version: 1
creator: bdgrind-test
cmd: ./program
desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: L2 cache: 524288 B, 64 B, 8-way associative
desc: LL cache: 8388608 B, 64 B, 16-way associative
positions: line
events: {EVENTS}
fl=a.c
fn=main
"""


def costs(instructions, l1, l2, last, unused=(0, 0, 0)):
    """A row of misses of data in each level, each of a line of which so many bytes of 64 are never used."""
    def use(lines, lost):
        return f"0 {lost * lines} {lines} {(64 - lost) * lines} {lines}"

    d1, d2, dl = (f"{use(n, lost)} {use(n, lost)}" for n, lost in zip((l1, l2, last), unused))
    return f"{instructions} {instructions} 0 0 {l1} 0 0 {last} 0 {d1} {dl} 0 {l2} 0 {d2}"


def shown(tmp_path, row, *options):
    path = tmp_path / "three.out"
    path.write_text(f"{HEAD}1 {row}\n")
    run = bd_annotate(path.name, "--width=80", *options, cwd=tmp_path, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def one_line(text, name):
    found = re.search(rf"^{name} +(.*(?:\n {{10}}.*)*)", text, re.MULTILINE)
    return re.sub(r"\s+", " ", found[1]) if found else ""


def test_the_first_screen_says_which_prefetches_were_used(tmp_path):
    row = costs(100_000_000, 5_000_000, 2_000_000, 100_000)
    path = tmp_path / "three.out"

    def prefetches(events, counts):
        path.write_text(f"{HEAD.replace('AccessD2', f'AccessD2 {events}')}1 {row} {counts}\n")
        run = bd_annotate(path.name, "--width=80", cwd=tmp_path, text=True)
        assert run.returncode == 0, run.stderr
        assert "PfUse" not in one_line(run.stdout, "Counted") and "PfLoss" not in one_line(run.stdout, "Counted")
        return one_line(run.stdout, "Prefetch")

    into_ll, into_l2 = "IPfUse IPfLoss DPfUse DPfLoss", "IPfUseL2 IPfLossL2 DPfUseL2 DPfLossL2"
    assert prefetches("", "") == ""
    assert prefetches(into_ll, "10 20 200 30") == "260 lines into LL, 80.8% used later"
    assert prefetches(into_l2, "0 100000 25000 175000") == "300k lines into L2, 8.3% used later"
    assert prefetches(f"{into_ll} {into_l2}", "0 0 0 0 1 0 0 0") == (
        "1 line into L2, 100.0% used later; no lines into LL"
    )


def test_the_first_screen_has_a_row_for_each_level(tmp_path):
    text = shown(tmp_path, costs(100_000_000, 5_000_000, 2_000_000, 100_000, (8, 16, 32)))
    assert "L2 512 KiB 8-way" in one_line(text, "Caches")
    assert one_line(text, "L1") == "5.00M data misses (5.0%), 0 code; 320MB loaded, 12.5% unused"
    assert one_line(text, "L2") == "2.00M data misses, 0 code; 128MB loaded, 25.0% unused"
    assert one_line(text, "LL") == "100k data misses, 0 code; 6.40MB loaded, 50.0% unused"
    # 100M + 50M + 60M + 7M.
    assert one_line(text, "Estimate") == (
        "217M cycles (Ir + 10 L1m + 30 L2m + 70 LLm): 46% instr., 23% L1, 28% L2, 3% LL"
    )
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("unused, first", [
    ((0, 0, 0), "L2: its misses cost 28% of the cycles, 100% at a.c:1 (--sort=D2m)"),
    ((0, 48, 0), "L2: data never used costs 21% of the cycles, 100% at a.c:1 (--sort=D2m)"),
    ((60, 16, 0), "L1: data never used costs 22% of the cycles, 100% at a.c:1"),
])
def test_l2_comes_first_where_it_costs_most(tmp_path, unused, first):
    text = shown(tmp_path, costs(100_000_000, 5_000_000, 2_000_000, 100_000, unused))
    assert one_line(text, "First").partition(";")[0] == first


def test_its_numbers_can_be_asked_for(tmp_path):
    row = costs(1000, 400, 100, 20, (8, 16, 32))
    names = "L2m,D2m,L2local,LLlocal,UnusedL2,UnusedD2,AccLineL2,CEst"
    text = shown(tmp_path, row, f"--show={names}", "--show-percs=no", "--exact", "--width=140")
    (totals,) = [line.split() for line in text.splitlines() if line.endswith("PROGRAM TOTALS")]
    # 1000 + 10 * 400 + 30 * 100 + 70 * 20.
    assert totals[:-2] == ["100", "100", "25.0%", "20.0%", "25.0%", "25.0%", "1.0", "9,400"]


def test_json_has_them(tmp_path):
    found = json.loads(shown(tmp_path, costs(100_000_000, 5_000_000, 2_000_000, 100_000), "--format=json"))
    verdict = found["verdict"]
    assert verdict["cycle_costs"] == [1, 10, 30, 70] and verdict["first"] == "L2"
    assert verdict["shares"]["L2"] == pytest.approx(60 / 217)
    assert sum(verdict["shares"][part] for part in ("instructions", "L1_data", "L2", "LL")) == pytest.approx(1)


def test_the_costs_in_the_estimate_are_three_or_four(tmp_path):
    row = costs(1000, 400, 100, 20)
    assert "Ir + 1 L1m + 2 L2m + 3 LLm" in one_line(shown(tmp_path, row, "--cycle-costs=1,1,2,3"), "Estimate")
    # Of L1 and LL alone: KCachegrind's formula.
    text = shown(tmp_path, row, "--cycle-costs=1,10,100", "--show=CEst", "--exact")
    assert "7,000" in text
    body = "fl=a.c\nfn=main\n1 10000 5000 0 0 300 0 0 10 0\n"
    (tmp_path / "two.out").write_text("events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n" + body)
    run = bd_annotate("two.out", "--cycle-costs=1,1,2,3", cwd=tmp_path, text=True)
    said = "bd_annotate: --cycle-costs: two.out has no L2, so it takes three numbers\n"
    assert (run.returncode, run.stderr) == (2, said)


def test_two_levels_have_nothing_of_it(tmp_path):
    text = screen(tmp_path, "fl=a.c\nfn=main\n1 10000 5000 0 0 3000 0 0 10 0\n")
    assert "L2" not in text
    assert not [name for name in report_of("fl=a.c\nfn=main\n1 1\n").metrics if "L2" in name or name.endswith("D2")]
