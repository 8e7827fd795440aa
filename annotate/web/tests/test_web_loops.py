# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions as frames of paths, in the icicle and in the tables."""

import pytest

from test_html_frames import beside
from web_pages import EXACT_ROWS, LATER, annotate

FOCUS = "document.querySelector('.canvas-box').focus()"
TIP = "document.querySelector('.tip')?.innerText ?? ''"


@pytest.mark.parametrize("sites, of_loops", [(False, {"a": 15, "b": 25}), (True, {"a": 24, "b": 40})])
def test_a_loop_has_what_is_called_from_it(browse, tmp_path, sites, of_loops):
    """By hand: work's loop calls g, and f where calling instructions are known; what it costs itself is work's."""
    annotate(f"--html={tmp_path}/x.html", beside(tmp_path, sites))
    off, rows, callers, pressed, found = browse(tmp_path / "x.html", [
        {"fragment": "#tables?cols=Ir:incl,Ir:self&q=g", "read": EXACT_ROWS},
        {"fragment": "#tables?cols=Ir:incl,Ir:self&q=g&loops=1", "axe": True, "read": EXACT_ROWS},
        {"fragment": "#tables?table=callers&cols=Ir:incl,Ir:self&loops=1",
         "read": f"(document.querySelector('[data-function=g] .twist').click(), {LATER % EXACT_ROWS})"},
        {"fragment": "#icicle?loops=1", "axe": True,
         "read": "document.querySelector('button[aria-pressed=true]').innerText"},
        {"fragment": "#tables?cols=Ir:incl&q=loop.c:31&loops=1",
         "read": "document.querySelectorAll('.inner').length"},
    ])
    assert "loop loop.c:31" not in dict(off)
    loops = [costs for name, costs in rows if name == "loop loop.c:31"]
    assert loops == [{"Ir:incl": incl, "Ir:self": 0} for incl in sorted(of_loops.values(), reverse=True)]
    works = [costs["Ir:self"] for name, costs in rows if name == "work"]
    assert works == [23, 15], "what the loop costs itself on a path is not known"
    at = [name for name, _ in callers].index("g")
    assert callers[at + 1] == ["loop loop.c:31", {"Ir:incl": 40, "Ir:self": 40}]
    assert (pressed, found) == ("Loops", 2)


def test_a_link_to_a_loop_means_it(browse, tmp_path):
    """The tip says what its number is."""
    annotate(f"--html={tmp_path}/x.html", beside(tmp_path))
    crumbs = "Array.from(document.querySelectorAll('.crumb'), (e) => e.innerText)"
    _, tip, _, link, again = browse(tmp_path / "x.html", [
        {"fragment": "#icicle?loops=1"},
        {"mouse": ["move", "canvas[data-cells]", 100, 90], "read": TIP},
        {"fragment": "#icicle?loops=1&q=loop.c:31", "read": FOCUS},
        {"keys": ["ArrowDown"] * 5 + ["Enter"], "read": "location.hash"},
        {"reload": True, "read": crumbs},
    ])
    assert tip.startswith("loop loop.c:31\nloop: only what is called from it on this path"), tip
    assert "25 · " in tip and "self\n" not in tip
    assert again == ["all", "thread 1", "main", "b", "work", "loop loop.c:31"], link


def test_a_page_without_loops_has_no_such_button(browse, reports):
    (names,) = browse(reports / "tree.html", [
        {"fragment": "#icicle?loops=1",
         "read": "Array.from(document.querySelectorAll('.bar button'), (e) => e.innerText)"},
    ])
    assert "Loops" not in names and "Bottom-up" in names
