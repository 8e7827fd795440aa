# SPDX-License-Identifier: GPL-2.0-or-later
"""The estimate of cycles, and what it says to look at first."""

import itertools
import re

import pytest

from bdannotate.analyses.top_lines import top_lines
from bdannotate.views.overview import overview
from bdannotate.views.text import Page

from screens import EVENTS, report_of, screen, section


def test_which_level_comes_first(tmp_path):
    def estimate(l1_misses, last_misses, instructions=10000):
        row = f"{instructions} 5000 0 0 {l1_misses} 0 0 {last_misses} 0"
        return screen(tmp_path, f"fl=a.c\nfn=main\n1 {row}\n")

    assert "First     L1: " in estimate(3000, 10)
    assert "; all data fits LL" in " ".join(estimate(3000, 10).split())
    assert "First     instructions: " in estimate(3, 0)
    text = estimate(2_000_000, 1_000_000)  # of 64 B: more than LL holds
    assert "First     LL: " in text
    assert "Estimate  120M cycles (Ir + 10 L1m + 100 LLm): 0% instr., 17% L1, 83% LL" in text


def costs(ir, d1, last, loss, last_loss):
    """A row of data misses, without accesses, and of bytes of 64 never used per line loaded."""
    return f"{ir} {ir} 0 0 {d1} 0 0 {last} 0 0 {loss} {d1} {64 * d1 - loss} 0 0 {last_loss} {last} " \
        f"{64 * last - last_loss} 0"


@pytest.mark.parametrize("rows, first", [
    # Streams miss most cycles away in LL, where they use all; what helps is to load less into L1.
    ({5: costs(90_000_000, 5_000_000, 300_000, 300_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 0)},
     "L1: data never used costs 19% of the cycles, 100% at a.c:5; LL costs more (40%), but wastes less"),
    # The same with what LL loads.
    ({5: costs(90_000_000, 5_000_000, 300_000, 300_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 40_000_000)},
     "LL: data never used costs 25% of the cycles, 70% at a.c:7 (--sort=DLm)"),
    # Hardly anything is loaded in vain: then the level that costs more.
    ({5: costs(90_000_000, 5_000_000, 300_000, 3_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 0)},
     "LL: its misses cost 40% of the cycles, 70% at a.c:7 (--sort=DLm)"),
    ({5: costs(90_000_000, 5_000_000, 300_000, 3_000_000, 0)},
     "L1: its data misses cost 29% of the cycles, 100% at a.c:5"),
])
def test_first_is_where_a_change_helps_most(tmp_path, rows, first):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    text = screen(tmp_path, body + "".join(f"{line} {row}\n" for line, row in rows.items()))
    said = re.search(r"^First +(.*(?:\n {10}.*)*)", text, re.MULTILINE)
    assert re.sub(r"\s+", " ", said[1]) == first


def test_the_costs_in_the_estimate_are_an_option(tmp_path):
    body = "fl=a.c\nfn=main\n1 10000 5000 0 0 300 0 0 10 0\n"
    text = screen(tmp_path, body, "--cycle-costs=2,20,300", "--show=CEst", "--exact")
    assert "(2 Ir + 20 L1m + 300 LLm)" in text
    assert re.search(r"29,000 100\.0%  main", text)


def judged(body):
    """What Estimate and First say, in a line each."""
    report = report_of(body)
    rows = dict(overview(report, top_lines(report), Page(400)))
    return rows["Estimate"], rows["First"]


SHARES = 0, 0.04, 0.12, 0.45


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("code, data, last", itertools.product(SHARES, repeat=3))
def test_the_verdict_does_not_contradict_the_estimate(code, data, last, fits):
    """Of ten million cycles, with lines that use all, some or hardly anything of what they load. LL has
    room for 131,072 lines."""
    cycles = 10_000_000 if fits else 100_000_000
    for d1_unused, ll_unused in itertools.product((0, 20, 60), repeat=2):
        i1, d1, ll = (int(share * cycles / price) for share, price in ((code, 10), (data, 10), (last, 100)))
        d1, i1 = d1 or 1, i1 or 1
        ir = cycles - 10 * (i1 + d1) - 100 * ll
        if ir < 0:
            continue
        row = f"{ir} 0 0 {i1} {d1} 0 0 {ll} 0 0 {d1_unused * d1} {d1} {(64 - d1_unused) * d1} 0 0"
        row += f" {ll_unused * ll} {ll} {(64 - ll_unused) * ll} 0"
        estimate, first = judged(f"ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n5 {row}\n")
        instructions, l1, in_last = map(int, re.search(r"(\d+)% instr\., (\d+)% L1, (\d+)% LL", estimate).groups())
        name, rest = first.split(": ", 1)
        why = f"{estimate} / {first}"
        if name == "instructions":
            assert max(l1 - 10 * (code >= 0.1), in_last) < 10 and instructions >= 79, why
            continue
        # Something is first that matters, or all of it matters together.
        assert max(l1, in_last) >= 10 or instructions <= 81, why
        own, other, other_name = (in_last, l1, "L1") if name == "LL" else (l1, in_last, "LL")
        if other > own:
            assert other_name in rest, why
            assert "first touches" in rest or "wastes less" in rest, why


def test_first_touches_are_not_what_can_be_saved(tmp_path):
    """42 % of the cycles are spent on the last level, all of them loading data for the first time."""
    body = "ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n5 9000000 0 0 0 70000 0 0 70000 0\n"
    text = " ".join(screen(tmp_path, body).split())
    assert "42% LL First LL: first touches cost 42% of the cycles, 100% at a.c:5: only less data helps" in text
    assert "misses cost little" not in text


@pytest.mark.parametrize("counted, first", [
    (None, "LL: its misses cost 48% of the cycles"),
    (148_000, "L1: its data misses cost 24% of the cycles, 100% at a.c:5; LL costs more (48%), but mostly for "
     "first touches"),
    (20_000, "LL: its misses cost 42% of the cycles"),
])
def test_first_touches_may_be_counted(counted, first):
    """Of 160,000 misses of LL, which has room for fewer lines."""
    names = EVENTS + (" ILfirst DLfirst" if counted else "")
    row = "9000000 0 0 0 800000 0 0 160000 0 0 0 0 0 0 0 0 0 0 0" + (f" 0 {counted}" if counted else "")
    report = report_of(f"ob=/home/me/program\nfl=/home/me/a.c\nfn=main\n5 {row}\n", names)
    assert dict(overview(report, top_lines(report), Page(400)))["First"].startswith(first)


@pytest.mark.parametrize("rows, title, first", [
    # Misses cost, and hardly anything is loaded in vain: the line with the most misses comes first.
    ({5: costs(90_000_000, 5_000_000, 0, 3_000_000, 0), 7: costs(9, 300_000, 0, 9_000_000, 0)}, "D1 misses", "a.c:5"),
    ({5: costs(90_000_000, 5_000_000, 0, 3_000_000, 0), 7: costs(9, 700_000, 700_000, 0, 0)}, "LLd misses", "a.c:7"),
    ({5: costs(90_000_000, 5_000_000, 0, 3_000_000, 0), 7: costs(9, 4_000_000, 0, 200_000_000, 0)},
     "never used", "a.c:7"),
])
def test_lists_and_hints_are_ranked_by_what_the_verdict_is_about(tmp_path, rows, title, first):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    body += "".join(f"{line} {row}\n" for line, row in rows.items())
    text = screen(tmp_path, body)
    assert section(text, f"Lines by {title}")[2].split("  ")[-2:] == [first, "main"]
    assert f"1. main ({first})" in text or "== What" not in text
    sorted_by = {"D1 misses": "D1m", "LLd misses": "DLm", "never used": "SpLoss1"}[title]
    assert f"== Functions by {sorted_by}:" in text
    assert "== Functions by SpLoss1:" in screen(tmp_path, body, "--sort=SpLoss1")


def test_the_level_that_is_not_simulated_is_named_where_misses_cost(tmp_path):
    def l2_of(d1, geometry="its L2 of 2097152 B, 64 B, 16-way is not simulated"):
        head = f"desc: Geometry: this machine's, as the kernel describes it; {geometry}\n" if geometry else ""
        text = screen(tmp_path, f"{head}fl=a.c\nfn=main\n1 10000 5000 0 0 {d1} 0 0 10 0\n")
        return [line for line in text.splitlines() if line.startswith("L2 ")]

    (row,) = l2_of(3000)
    assert row == "L2        2 MiB 16-way, not simulated (--machine=native simulates it)"
    assert l2_of(3) == [] and l2_of(3000, "") == [] and l2_of(3000, "its L2 of much is not simulated") == []
