# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that call each other in circles, as one."""

import pytest

from web_pages import EXACT_ROWS, LATER, annotate, json_of

# start calls ping twice; ping and pong call each other, and pong calls leaf.
TEXT = """version: 1
events: Ir
fl=a.c
fn=start
1 10
cfn=ping
calls=2 1
1 55
fn=ping
2 30
cfn=pong
calls=3 1
2 70
fn=pong
3 20
cfn=ping
calls=1 1
3 25
cfn=leaf
calls=1 1
3 5
fn=leaf
4 5
"""
CYCLE = "<cycle 1> of 2"


@pytest.fixture(scope="module", name="profile")
def fixture_profile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cycles")
    (folder / "a.out").write_text(TEXT)
    annotate(f"--html={folder}/a.html", folder / "a.out")
    return folder / "a.out"


def test_tables(browse, profile):
    one = f"document.querySelector(\"[data-function='{CYCLE}'] .twist\").click()"
    pressed = "Array.from(document.querySelectorAll('.bar button'), (button) => [button.innerText, button.ariaPressed])"
    flat, opened, callers, apart, searched, buttons = browse(profile.with_suffix(".html"), [
        {"fragment": "#tables?table=flat&cycles=1&cols=Ir:incl,Ir:self", "axe": True, "read": EXACT_ROWS},
        {"read": f"({one}, {LATER % EXACT_ROWS})", "axe": True},
        {"fragment": "#tables?table=callers&cycles=1&cols=Ir:incl",
         "read": f"({one}, {LATER % EXACT_ROWS})", "axe": True},
        {"fragment": "#tables?table=flat&cols=Ir:incl", "read": EXACT_ROWS},
        {"fragment": "#tables?table=flat&cycles=1&cols=Ir:incl&q=pong", "read": EXACT_ROWS},
        {"fragment": "#tables?cycles=1", "read": pressed},
    ])
    assert flat == [
        ["start", {"Ir:incl": 65, "Ir:self": 10}], [CYCLE, {"Ir:incl": 55, "Ir:self": 50}],
        ["leaf", {"Ir:incl": 5, "Ir:self": 5}],
    ]
    data = json_of(profile)
    (cycle,) = data["cycles"]
    assert (cycle["inclusive"], cycle["self"], cycle["calls"]) == ([55], [50], 2)
    truth = {function["name"]: function["inclusive"][0] for function in data["functions"]}
    assert {name: costs["Ir:incl"] for name, costs in opened if name != CYCLE} == truth
    assert [name for name, _ in opened][1:4] == [CYCLE, "ping", "pong"]
    # A cycle calls itself, which has no cost.
    assert [[name, costs["Ir:incl"]] for name, costs in callers] == [
        ["start", 65], [CYCLE, 55], ["start", 55], [CYCLE, 0], ["leaf", 5]]
    assert {name: costs["Ir:incl"] for name, costs in apart} == truth
    assert [name for name, _ in searched] == [CYCLE]
    assert "Cycles" not in [name for name, _ in buttons]


def test_the_call_graph(browse, profile):
    listed = """[document.querySelector(".centre").dataset.function,
        ...Array.from(document.querySelectorAll(".centre [data-exact]"), (cell) => Number(cell.dataset.exact)),
        ...Array.from(document.querySelectorAll(".box"), (box) => [box.dataset.function, box.dataset.exact])]"""
    members = "Array.from(document.querySelectorAll('.members li a'), (link) => link.innerText)"
    nodes = "Array.from(document.querySelectorAll('[data-node]'), (node) => node.dataset.function).sort()"
    one, fns, chosen, several, tip, apart = browse(profile.with_suffix(".html"), [
        {"fragment": "#graph?fn=pong&cycles=1", "axe": True, "read": listed},
        {"read": f"(document.querySelector('.members').open = true, {members})", "axe": True},
        {"mouse": ["click", ".side:last-child .fn", 3, 3], "read": listed},
        {"fragment": "#graph?fn=pong&cycles=1&levels=2", "axe": True,
         "read": f"[{nodes}, document.querySelectorAll('[data-recursive]').length]"},
        {"mouse": ["move", f"[data-function='{CYCLE}'] rect", 20, 20],
         "read": "document.querySelector('.tip').innerText"},
        {"fragment": "#graph?fn=pong&levels=2", "read": nodes},
    ])
    assert one == [CYCLE, 55, 50, ["start", "55"], [CYCLE, ""], ["leaf", "5"], [CYCLE, ""]]
    assert fns == ["ping", "pong"]
    assert chosen == ["leaf", 5, 5, [CYCLE, "5"]]
    assert several == [[CYCLE, "leaf", "start"], 1]
    assert tip.startswith(CYCLE) and "ping, pong" in tip and "55" in tip
    assert apart == ["leaf", "ping", "pong", "start"]


def test_changes(browse, profile):
    folder = profile.parent
    (folder / "b.out").write_text(TEXT.replace("3 20", "3 27").replace("1 55", "1 62"))
    annotate("--diff", f"--html={folder}/diff.html", profile, folder / "b.out")
    text, rows = browse(folder / "diff.html", [
        {"fragment": "#graph?fn=pong&cycles=1", "axe": True, "read": "document.querySelector('.centre').innerText"},
        {"fragment": "#tables?table=flat&cycles=1&cols=Ir:incl", "axe": True, "read": EXACT_ROWS},
    ])
    assert "62 (+7)" in text and "57 (+7)" in text
    assert dict(rows)[CYCLE] == {"Ir:incl": 62}
