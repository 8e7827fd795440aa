# SPDX-License-Identifier: GPL-2.0-or-later
"""--ranks: where ranks differ, and which of them behave alike."""

import json
import statistics

import pytest
from bdannotate.cli import main
from bdannotate.views.ranks import spans
from job_profiles import EVENTS, MAIN, added, rank_costs, rank_text, write_job


def row(instructions, misses, lost):
    """Of a function that also reads as often as it executes."""
    known = {"Ir": instructions, "Dr": instructions, "D1mr": misses, "SpLoss1": lost, "UsByte1": 64 * misses - lost}
    return tuple(known.get(event, 0) for event in EVENTS)


def job(folder, works, host=None):
    """A rank for each of these numbers: so much has the function `solve`; `setup` costs all of them the same. Each two
    ranks have a host, or all this one."""
    paths = []
    for rank, work in enumerate(works):
        costs = {
            (MAIN, 1): row(1000, 0, 0), ("setup", 10): row(5000, 10, 320),
            ("solve", 20): row(100 * work, work, 8 * work),
        }
        head = f"desc: Rank: {rank}\ndesc: Host: {host or f'node{rank // 2}'}"
        path = folder / f"out.{rank}"
        path.write_text(rank_text(costs, {"setup": 1, "solve": 2}, head))
        paths.append(str(path))
    merged = str(folder / "all")
    assert main(["--merge", "-o", merged, *paths]) == 0
    return merged


def printed(capsys, *arguments):
    capsys.readouterr()
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_the_most_uneven_comes_first(tmp_path, capsys):
    text = printed(capsys, "--ranks", "--width=80", job(tmp_path, [1000, 1010, 1000, 3000]))
    assert "== 4 ranks of 2 hosts ==" in text
    # 320 bytes and 8 for each of solve's misses.
    assert "never used: 12.3k on average, least 8,320 (0), most 24.3k (3), 97.1% above the" in text
    lines = text.splitlines()
    table = lines[lines.index("== Ranks by D1 misses: functions ==") + 3:]
    most = 3000 - (1000 + 1010 + 1000 + 3000) / 4
    assert table[0].split()[:5] == ["1,498", "1,512", "3,010", "3", "1,010"] and 1497 < most < 1498
    assert "main" in table[0] and "solve" in table[1] and "setup" not in text
    assert max(map(len, lines)) <= 80


def test_ranks_that_behave_alike_are_a_group(tmp_path, capsys):
    merged = job(tmp_path, [1000, 1010, 1000, 3000, 3020])
    text = printed(capsys, "--ranks", merged)
    assert "2 groups that behave alike (within 5% by cycle est.):" in text
    assert "1. 3 (0-2): solve" in text and "2. 2 (3,4): solve" in text
    groups = json.loads(printed(capsys, "--ranks", "--format=json", merged))["ranks"]["groups"]
    assert [group["ranks"] for group in groups] == [[0, 1, 2], [3, 4]]
    assert [group["differs"]["name"] for group in groups] == ["solve", "solve"]


def test_equal_ranks_are_all_alike(tmp_path, capsys):
    assert "All ranks behave alike" in printed(capsys, "--ranks", job(tmp_path, [1000] * 3))


def test_numbers_are_those_of_the_profiles(tmp_path, capsys):
    seeds = [1, 2, 2, 3, 4, 5]
    merged = str(tmp_path / "all")
    assert main(["--merge", "-o", merged, *write_job(tmp_path, seeds)]) == 0
    whole = json.loads(printed(capsys, "--ranks", "--format=json", merged))
    found = whole["ranks"]
    jobs = [rank_costs(seed)[0] for seed in seeds]
    order = [EVENTS.index(event) for event in whole["events"][:len(EVENTS)]]
    assert sorted(order) == list(range(len(EVENTS)))
    assert found["totals"] == [[added(costs.values())[place] for place in order] for costs in jobs]
    assert found["ranks"] == [{"name": str(rank), "host": f"node{rank // 2}"} for rank in range(len(seeds))]
    by_misses = next(one for one in found["counts"] if one["count"] in ("D1m", "L1m"))
    kinds = ("D1mr", "D1mw") if by_misses["count"] == "D1m" else ("I1mr", "D1mr", "D1mw")
    events = [EVENTS.index(event) for event in kinds]
    for one in by_misses["functions"]:
        if one["name"] == MAIN:
            continue
        values = [
            sum(costs[key][event] for key in costs if key[0] == one["name"] for event in events) for costs in jobs
        ]
        assert (one["sum"], one["least"], one["most"]) == (sum(values), min(values), max(values))
        assert one["mean"] == pytest.approx(statistics.mean(values))
        assert one["deviation"] == pytest.approx(statistics.pstdev(values), rel=1e-6, abs=0.002)
    uneven = [one["most"] - one["mean"] for one in by_misses["functions"]]
    assert uneven == sorted(uneven, reverse=True) and len(uneven) > 3


def test_what_it_needs_is_said(tmp_path, capsys):
    merged = job(tmp_path, [1000, 2000])
    assert main(["--ranks", str(tmp_path / "out.0")]) == 2
    assert "there is no file with the prefix ranks. beside it: --merge writes one" in capsys.readouterr().err
    assert main(["--ranks", merged, str(tmp_path / "out.0")]) == 2
    assert "--ranks is for one profile that --merge has written, not 2" in capsys.readouterr().err


def test_spans():
    assert spans(["0", "1", "2", "3", "8", "9"]) == "0-3,8,9"
    assert spans(["7"]) == "7"
    assert spans(["out.1", "out.2"]) == "out.1,out.2"
