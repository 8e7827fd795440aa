# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals of a sampled profile: on the page stands what the text report has."""

from test_intervals import BODY, HEAD, INTERVALS
from web_pages import LATER, annotate

NOTE = "document.querySelector('[data-sampled]')?.innerText ?? ''"
# Of each function in the flat table, its columns' intervals.
ROWS = """Object.fromEntries(Array.from(document.querySelectorAll(".row[data-function]"), (row) =>
    [row.dataset.function, Array.from(row.querySelectorAll(".value"), (value) =>
        value.querySelector(".interval")?.innerText ?? "")]))"""
LINES = """Object.fromEntries(Array.from(document.querySelectorAll(".line[data-line]"), (line) =>
    [line.dataset.line, line.querySelector(".interval")?.innerText ?? null]))"""
METRICS = """Object.fromEntries(Array.from(document.querySelectorAll("dd[data-metric]"), (fact) =>
    [fact.dataset.metric, fact.querySelector(".interval")?.innerText ?? null]))"""
FLAT = "#tables?table=flat&cols=Ir:self,Ir:incl,Dr:self"


def page_of(folder, intervals=INTERVALS, name="app"):
    (folder / f"{name}.out").write_text(HEAD + BODY + intervals)
    annotate(f"--html={folder}/{name}.html", folder / f"{name}.out")
    return folder / f"{name}.html"


def test_the_page_says_how_far_numbers_may_be_off(browse, tmp_path):
    """Beside work stands 120 of 1,800, and 30 of 300; beside main 210 of 200."""
    for width, scheme in ((1280, "light"), (400, "dark")):
        note, run, rows, own, other, chosen = browse(page_of(tmp_path), [
            {"fragment": "#summary", "read": NOTE},
            {"read": METRICS},
            {"fragment": FLAT, "read": ROWS},
            {"fragment": "#source?metric=Ir&file=a.c", "read": LINES},
            {"fragment": "#source?metric=Ir&file=b.h", "read": LINES},
            {"fragment": "#graph?fn=work&metric=Ir",
             "read": "Array.from(document.querySelectorAll('.centre dd .interval'), (one) => one.innerText)"},
        ], width=width, scheme=scheme)
        assert "all numbers are estimates, from 8 bursts" in note
        assert run["Ir"] == "±8%"
        assert rows == {"main": ["?", "±8%", ""], "work": ["±7%", "±7%", "±10%"]}
        # Line 4 only calls, and line 11 has no interval; 350 of 700 is one of half the number.
        assert own == {"3": "?", "4": "", "10": "±10%", "11": "?"} and other == {"20": "±50%"}
        assert chosen == ["±7%", "±7%"]


def test_too_few_bursts_and_exact_profiles(browse, tmp_path):
    few = page_of(tmp_path, "\n# intervals: 1 bursts\n\ntotals: 2000 300\n")
    note, rows = browse(few, [{"fragment": "#summary", "read": NOTE}, {"fragment": FLAT, "read": ROWS}])
    assert "too few to say" in note
    assert rows == {"main": ["?", "?", ""], "work": ["?", "?", "?"]}
    exact = page_of(tmp_path, "\ntotals: 2000 300\n")
    note, rows, lines = browse(exact, [
        {"fragment": "#summary", "read": NOTE}, {"fragment": FLAT, "read": ROWS},
        {"fragment": "#source?metric=Ir&file=a.c", "read": LINES},
    ])
    assert note == "" and set(map(tuple, rows.values())) == {("", "", "")} and set(lines.values()) == {None}


def test_two_that_are_compared_are_said_to_be_sampled(browse, tmp_path):
    page_of(tmp_path, name="old")
    page_of(tmp_path, "\ntotals: 2000 300\n", name="new")
    annotate("--diff", f"--html={tmp_path}/diff.html", tmp_path / "old.out", tmp_path / "new.out")
    note, rows = browse(tmp_path / "diff.html", [
        {"fragment": "#summary", "read": NOTE}, {"fragment": FLAT, "read": f"{LATER % ROWS}"},
    ])
    assert "before is an estimate from 8 bursts" in note and "after is" not in note
    assert all(not any(values) for values in rows.values())
