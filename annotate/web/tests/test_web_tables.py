# SPDX-License-Identifier: GPL-2.0-or-later
"""The three tables, with the numbers of the JSON."""

import pytest

from context_files import ContextFile
from web_pages import CELLS, EXACT_ROWS, LATER, PROFILES, SPOKEN, annotate, json_of, many


@pytest.mark.parametrize("report, old", [("plain", False), ("tree", False), ("tree", True)])
def test_the_flat_table_has_the_numbers_of_the_json(browse, reports, report, old):
    (rows,) = browse(reports / f"{report}.html", [{
        "fragment": "#tables?table=flat&cols=SpLoss1:incl,Ir:self,D1m:incl", "read": EXACT_ROWS,
    }], old=old)
    data = json_of("--show=SpLoss1:incl,Ir:self,D1m:incl", PROFILES / "helper.out")
    assert dict(rows) == {function["name"]: function["columns"] for function in data["functions"]}


def test_the_tree_table_has_each_function_below_its_caller(browse, reports):
    opened, hot = browse(reports / "tree.html", [
        {"fragment": "#tables?cols=SpLoss1:incl,Ir:self", "read": EXACT_ROWS},
        {"keys": [], "read": f"(document.querySelectorAll('.bar > button')[0].click(), "
                             f"{LATER % EXACT_ROWS})"},
    ])
    data = json_of("--show=SpLoss1:incl,Ir:self", PROFILES / "helper.out")
    total = dict(zip(data["events"], data["totals"]))["SpLoss1"]
    assert opened[0] == ["thread 1", {"SpLoss1:incl": total, "Ir:self": 0}]
    assert len(hot) > len(opened), "the hot path opens what has most of the cost"
    own = {function["name"]: function["columns"]["Ir:self"] for function in data["functions"]}
    assert all(costs["Ir:self"] == own[name] for name, costs in hot[1:])


def test_what_starts_the_program_is_one_row(browse, tmp_path):
    """In each table and in the icicle; a search for it, or the control, shows them all."""
    names = ["0x1000", "(below main)", "main", "work"]
    text = "events: Ir SpLoss1\nfl=a.c\n"
    for at, name in enumerate(names):
        text += f"fn={name}\n1 1 1\n"
        if at < 3:
            text += f"cfn={names[at + 1]}\ncalls=1 1\n1 {3 - at} {3 - at}\n"
    (tmp_path / "x.out").write_text(text)
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [("", "a.c", 1, name) for name in names], ["thread 1"],
        [(0, 0, 0, (0, 0)), *((at + 1, at + 1, 1, (1, 1)) for at in range(4))],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    control = "Array.from(document.querySelectorAll('.bar button'))" \
              ".find((button) => button.innerText === 'Above main').click()"
    flat, found, tree, all_of_it, callers, icicle, shown, searched = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=flat&cols=SpLoss1:incl,Ir:self", "read": EXACT_ROWS},
        {"fragment": "#tables?table=flat&q=below&cols=Ir:self", "read": EXACT_ROWS},
        {"fragment": "#tables?cols=Ir:self,SpLoss1:incl", "read": EXACT_ROWS},
        {"read": f"({control}, {LATER % EXACT_ROWS})"},
        {"fragment": "#tables?table=callers&cols=SpLoss1:incl", "read":
            "(document.querySelector('[data-function=main] .twist').click(), "
            f"{LATER % EXACT_ROWS})"},
        {"fragment": "#icicle", "read": CELLS},
        {"read": f"({control}, {LATER % CELLS})"},
        {"fragment": "#icicle?q=below", "read": CELLS},
    ])
    assert flat == [
        ["(above main: 2 functions)", {"SpLoss1:incl": 4, "Ir:self": 2}],
        ["main", {"SpLoss1:incl": 2, "Ir:self": 1}], ["work", {"SpLoss1:incl": 1, "Ir:self": 1}],
    ]
    assert [name for name, _ in found] == ["(below main)"]
    assert tree == [
        ["thread 1", {"Ir:self": 0, "SpLoss1:incl": 4}],
        ["(above main)", {"Ir:self": 2, "SpLoss1:incl": 4}],
        ["main", {"Ir:self": 1, "SpLoss1:incl": 2}],
    ]
    assert [name for name, _ in all_of_it] == ["thread 1", "0x1000", "(below main)", "main"]
    assert callers[:3] == [
        ["(above main: 2 functions)", {"SpLoss1:incl": 4}], ["main", {"SpLoss1:incl": 2}],
        ["(above main)", {"SpLoss1:incl": 2}],
    ]
    assert (icicle, shown, searched) == (4, 5, 5)


def test_events_are_unpacked_when_they_are_chosen(browse, reports):
    """Those of the tree; each is what the JSON has, whatever was looked at before."""
    data = json_of("--show=Ir:incl", PROFILES / "helper.out")
    chosen = [event for event in data["events"] if event not in ("SpLoss1", "UsByte1")]
    steps = [{"fragment": "#icicle", "read": CELLS}]
    steps += [
        step for event in chosen for step in (
            {"fragment": f"#icicle?metric={event}", "read": "document.querySelector('select').value"},
            {"fragment": f"#tables?cols={event}:incl", "read": EXACT_ROWS},
        )
    ]
    found = browse(reports / "tree.html", steps)
    assert found[1::2] == chosen
    totals = dict(zip(data["events"], data["totals"]))
    assert [rows[0] for rows in found[2::2]] == [
        ["thread 1", {f"{event}:incl": totals[event]}] for event in chosen
    ]


def test_the_difference_is_shown(browse, reports):
    (rows,) = browse(reports / "diff.html", [{
        "fragment": "#tables?table=flat&cols=SpLoss1:self",
        "read": "Array.from(document.querySelectorAll('.row[data-function]'), (row) => [row.dataset.function, "
                "Number(row.querySelector('[data-exact]').dataset.exact), row.querySelector('.change').title])",
    }])
    data = json_of("--diff", "--show=SpLoss1:self", "--threshold=0", PROFILES / "helper.out", PROFILES / "repaired.out")
    for change in data["functions"]:
        before, after = (change[side]["columns"]["SpLoss1:self"] for side in ("before", "after"))
        (row,) = [row for row in rows if row[0] == change["name"]]
        assert row[1] == after
        assert row[2] == (f"{after - before:,}".replace("-", "−") if after != before else ""), row


def test_the_head_of_a_table_stays_above_it(browse, tmp_path):
    """And says what it is sorted by; rows say where they are, and the one that the keys are at is announced."""
    page = many(tmp_path)
    scrolled = "(document.querySelector('%s').scrollTop = 5000, " + LATER % (
        "((box, head) => [head.top - box.top, head.height])(document.querySelector('%s').getBoundingClientRect(), "
        "document.querySelector('%s .head').getBoundingClientRect())") + ")"
    roles = "['%s'].map((role) => document.querySelectorAll(`[role=${role}]`).length)" % "', '".join(
        ("treegrid", "columnheader", "row", "gridcell"))
    table, source, found, sort, moved = browse(page, [
        {"fragment": "#tables?table=flat&cols=Ir:self,SpLoss1:self", "read": scrolled % (".rows", ".rows", ".rows")},
        {"fragment": "#source", "read": scrolled % (".code", ".code", ".code")},
        {"fragment": "#tables?table=flat&cols=Ir:self,SpLoss1:self", "axe": True, "read": roles},
        {"read": "(document.querySelector('.rows').focus(), "
                 "Array.from(document.querySelectorAll('[role=columnheader]'), (e) => e.getAttribute('aria-sort')))"},
        {"keys": ["ArrowDown"],
         "read": f"[{SPOKEN}, document.getElementById(document.querySelector('.rows')"
                 ".getAttribute('aria-activedescendant')).dataset.function]"},
    ])
    for top, height in (table, source):
        assert -1 <= top <= 2 and height > 10
    assert found[:2] == [1, 4] and found[2] > 20 and found[3] > 40
    assert sort == [None, "descending", "none", None]
    assert moved == ["function_1: instr. 3,990", "function_1"]


def test_what_is_open_stays_open_on_going_back(browse, reports):
    """And columns can be moved, by keys too, and made wider."""
    names = "Array.from(document.querySelectorAll('.row[data-function]'), (row) => row.dataset.function)"
    heads = "Array.from(document.querySelectorAll('.head button'), (e) => e.innerText.trim().split(/\\s+/).join(' '))"
    opened, gone, back, moved, wide = browse(reports / "tree.html", [
        {"fragment": "#tables?cols=SpLoss1:incl,Ir:self",
         "read": f"(document.querySelectorAll('.bar > button')[0].click(), {LATER % names})"},
        {"fragment": "#summary", "read": "1"},
        {"read": f"(history.back(), {LATER % names})"},
        {"read": "(document.querySelectorAll('.head button')[1].focus(), 1)"},
        {"keys": ["Alt+ArrowLeft", "Shift+ArrowRight"],
         "read": f"[{heads}, Array.from(document.querySelectorAll('.head .cell.n'), (e) => e.offsetWidth)]"},
    ])
    assert gone == 1 and back == opened and len(opened) > 3 and moved == 1
    assert wide[0][0].startswith("instr.") and len(set(wide[1][:2])) == 2
