# SPDX-License-Identifier: GPL-2.0-or-later
"""The estimate of cycles, and what it says to look at first."""

import re

import pytest

from screens import screen


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
     "L1: data never used costs 19% of the cycles, 100% at a.c:5"),
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
