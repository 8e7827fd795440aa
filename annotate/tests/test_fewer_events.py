# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that lack events, as other writers and options of the tool leave some out: each report works without them,
or says in a sentence which one it needs."""

import re
from pathlib import Path

import pytest
import test_ranks
import test_sharing
from bdannotate.cli import main
from test_repairs import run
from why_machine import EVENTS

CODE = {"I1mr", "ILmr"}
USE = {event for event in EVENTS if re.match("SpLoss|EvLine|UsByte|Access|AcCost", event)}
MISSES = {"I1mr", "ILmr", "D1mr", "D1mw", "DLmr", "DLmw"}
# Events that are left out.
FEWER = [
    {"Ir"}, {"I1mr"}, {"ILmr"}, {"Dr", "Dw"}, {"D1mr"}, {"D1mw", "DLmw"}, {"DLmr", "DLmw"}, USE, CODE | USE, MISSES,
    MISSES | USE, set(EVENTS) - {"Ir"}, set(EVENTS) - {"SpLoss1"}, set(EVENTS) - {"D1mr"},
]
REPORTS = [
    [], ["--curve"], ["--curve=^work$"], ["--hints"], ["--instructions"], ["--format=json"],
    ["--curve", "--format=json"], ["--format=csv"], ["--format=markdown"], ["--format=sarif"],
    ["--html=page.html"], ["--check"], ["--tree=both"],
    ["--cycle-costs=1,2,3"], ["--diff", "all.out"], ["--html=page.html", "--diff", "all.out"],
    ["--export=callgrind", "-o", "exported"], ["--export=pprof", "-o", "exported"],
]


def without(text, fewer):
    """The profile without some of its events."""
    lines, events = [], []

    def kept(counts):
        return [count for event, count in zip(events, counts) if event not in fewer]

    for line in text.split("\n"):
        words = line.split()
        if line.startswith("events: "):
            events = words[1:]
        if line.startswith(("events: ", "totals: ", "summary: ")):
            words[1:] = kept(words[1:])
        elif re.match(r"(0x[0-9a-f]+ )?\d+ ", line):
            words[len(words) - len(events):] = kept(words[len(words) - len(events):])
        lines.append(" ".join(words))
    return "\n".join(lines)


def works(arguments, capsys, fewer):
    """Run a report. If it fails, it must name an event that is missing."""
    status = main(arguments)
    said = capsys.readouterr().err.splitlines()
    assert status == 0 or (set(re.findall(r"\w+", said[-1])) & fewer and "formula" not in said[-1]), said
    return status == 0


@pytest.mark.parametrize("fewer", FEWER)
def test_reports_of_a_run_with_why(tmp_path, monkeypatch, capsys, fewer):
    monkeypatch.chdir(tmp_path)
    path = Path(run("fat"))
    text = path.read_text()
    Path("all.out").write_text(text)
    path.write_text(without(text, fewer))
    working = {" ".join(report) for report in REPORTS if works([*report, str(path)], capsys, fewer)}
    others = {" ".join(report) for report in REPORTS} - working
    assert others <= {"--hints", "--cycle-costs=1,2,3"}
    assert ("--cycle-costs=1,2,3" in others) == bool(fewer & (MISSES | {"Ir"}))


@pytest.mark.parametrize("fewer", [{"Ir"}, {"Xferr"}, {"Lost", "Inval"}, {"Xferr", "Xferw", "Lost", "Inval"}])
@pytest.mark.parametrize("report", [["--sharing"], [], ["--sharing", "--format=json"], ["--html=page.html"]])
def test_reports_of_shared_lines(tmp_path, monkeypatch, capsys, fewer, report):
    monkeypatch.chdir(tmp_path)
    path = test_sharing.beside(tmp_path, profile=without(test_sharing.PROFILE, fewer))
    assert works([*report, path], capsys, fewer)


@pytest.mark.parametrize("fewer", FEWER[:-3:3])
@pytest.mark.parametrize("report", [["--ranks"], [], ["--ranks", "--format=json"], ["--html=page.html"]])
def test_reports_of_ranks(tmp_path, monkeypatch, capsys, fewer, report):
    monkeypatch.chdir(tmp_path)
    whole = test_ranks.rank_text
    monkeypatch.setattr(test_ranks, "rank_text", lambda *made: without(whole(*made), fewer))
    assert works([*report, test_ranks.job(tmp_path, [1000, 1010, 3000])], capsys, fewer)
