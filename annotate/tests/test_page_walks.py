# SPDX-License-Identifier: GPL-2.0-or-later
"""Page walks that a run has simulated: what lists show of them, and what huge pages would save."""

import json

import pytest
import why_kernels
import why_machine
from bdannotate.cli import main
from why_machine import EVENTS, Machine

WALKS = tuple(f"{what}{size}{level}m{kind}" for size in "TH" for level in (1, 2)
              for what, kind in (("I", "r"), ("D", "r"), ("D", "w")))
PAGES = {"T": 4096, "H": 2 << 20}
A = 1 << 30


class Paged(Machine):
    """Has TLBs of 16 and of `entries` entries, for pages of either size."""

    def __init__(self, entries=64, **others):
        super().__init__(**others)
        self.held = {(size, level): [] for size in PAGES for level in (1, 2)}
        self.sizes = {1: 16, 2: entries}

    def _access(self, line, address, size, miss, last_miss, depends, on):
        super()._access(line, address, size, miss, last_miss, depends, on)
        for name, page_bytes in PAGES.items():
            page = address // page_bytes
            for level in (1, 2):
                held = self.held[name, level]
                if was_there := page in held:
                    held.remove(page)
                held.append(page)
                del held[:-self.sizes[level]]
                if was_there:
                    break
                self.costs[self._function(), line][f"D{name}{level}m{miss[-1]}"] += 1

    def walks(self, size):
        return sum(cost[f"D{size}2mr"] + cost[f"D{size}2mw"] for cost in self.costs.values())


@pytest.fixture(autouse=True)
def _events(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(why_machine, "EVENTS", (*EVENTS, *WALKS))


def repairs(capsys, machine, tmp_path):
    path = machine.files(tmp_path)
    assert main(["--check", path]) == 0
    capsys.readouterr()
    assert main([path, "--format=json"]) == 0
    return json.loads(capsys.readouterr().out)["repairs"]


def test_huge_pages_save_the_walks_that_were_simulated(capsys, tmp_path):
    machine = Paged(sets=8, ways=4, ll_lines=1024)
    why_kernels.pages(machine, False)
    first, *_ = repairs(capsys, machine, tmp_path)
    # 4,000 pages, four times, of which 64 fit; they lie in nine huge pages, of which 16 fit.
    assert (machine.walks("T"), machine.walks("H")) == (16000, 9)
    assert first["remedy"] == "huge-pages" and first["lines"] == [32]
    assert first["saves"]["page walks"] == {"before": machine.walks("T"), "after": machine.walks("H")}
    text = " ".join(first["evidence"])
    assert "the simulated TLBs miss 16,000 times, or 9 times with huge pages" in text and "in another page" not in text
    assert main(["p.out", "--hints"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "whether huge pages are available" in text and "how large the machine's TLB is" not in text


def test_pages_that_the_simulated_tlb_holds_need_no_larger_ones(capsys, tmp_path):
    """By the estimate of a run without TLBs, they do."""
    machine = Paged(entries=8192, sets=8, ways=4, ll_lines=1024)
    why_kernels.pages(machine, False)
    found = repairs(capsys, machine, tmp_path)
    assert machine.walks("T") < 5000
    shares = [one["share"] for one in found if one["remedy"] == "huge-pages"]
    plain = Machine(sets=8, ways=4, ll_lines=1024)
    why_kernels.pages(plain, False)
    why_machine.EVENTS = EVENTS
    (estimated, *_) = repairs(capsys, plain, tmp_path)
    assert estimated["remedy"] == "huge-pages" and all(share < estimated["share"] for share in shares)


def test_walks_in_order_are_left_to_the_prefetcher(capsys, tmp_path):
    machine = Paged(entries=16, sets=8, ways=4, ll_lines=1024)
    for _ in machine.loop(range(3), 8):
        with machine.call(2, 9):
            for i in machine.loop(range(20000), 31):
                machine.read(32, A + i * 8)
    assert machine.walks("T") > 100
    assert all(one["remedy"] != "huge-pages" for one in repairs(capsys, machine, tmp_path))


def test_lists_have_columns_for_them(capsys, tmp_path):
    machine = Paged(sets=8, ways=4, ll_lines=1024)
    why_kernels.pages(machine, False)
    path = machine.files(tmp_path)
    assert main([path, "--sort=T2m,H2m,DT1m,Trate", "--format=csv"]) == 0
    table = capsys.readouterr().out
    assert str(machine.walks("T")) in table
    assert main([path, "--sort=T2m,H2m", "--width=80"]) == 0
    text = capsys.readouterr().out
    assert "page walks" in text and "huge walks" in text


def test_the_first_screen_says_what_huge_pages_would_save(capsys, tmp_path):
    machine = Paged(sets=8, ways=4, ll_lines=1024)
    why_kernels.pages(machine, False)
    path = machine.files(tmp_path)
    profile = tmp_path / "p.out"
    source = "desc: TLB geometry: those of zen5, AMD Zen 5\n"
    profile.write_text(profile.read_text().replace("positions:", f"desc: TLBs: pages of 4 KiB\n{source}positions:", 1))
    assert main([path, "--width=80"]) == 0
    text = capsys.readouterr().out
    (row,) = (line for line in text.splitlines() if line.startswith("Pages"))
    assert row.split(None, 1)[1] == "16.0k page walks, 9 with huge pages; TLBs of zen5, AMD Zen 5"
    assert "DT2mr" not in text and "TLB geometry" not in text
