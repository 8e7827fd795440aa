# SPDX-License-Identifier: GPL-2.0-or-later
"""How paths are shown, in the icicle and in the tables: bottom-up, merged, hidden, collapsed; and what the mouse, the
menu and the keys do there."""

import json
from urllib.parse import quote

import pytest

from context_files import ContextFile
from web_pages import CELLS, EXACT_ROWS, LATER, SPOKEN, annotate

NAMES = ["main", "f", "g", "other"]
# Depth, function from 1 on, what it costs itself: main 1 calls f 10, g 2 and other 7; g calls f 20, f calls f 40.
NODES = [(0, 0, 0), (1, 1, 1), (2, 2, 10), (3, 2, 40), (2, 3, 2), (3, 2, 20), (2, 4, 7)]
BOX = "document.querySelector('.canvas-box')"
WINDOW = "document.querySelector('.minimap').dataset.window.split(' ').map(Number)"
SAVED = """new Promise((done) => {
    URL.createObjectURL = (blob) => { blob.text().then(done); return "blob:null/0"; };
    HTMLAnchorElement.prototype.click = () => undefined;
    Array.from(document.querySelectorAll(".popup button")).find((one) => one.textContent === "%s").click();
})"""
COPIED = """new Promise((done) => {
    navigator.clipboard.writeText = async (text) => done(text);
    Array.from(document.querySelectorAll(".menu button")).find((one) => one.innerText === "%s").click();
})"""


@pytest.fixture(scope="module", name="page")
def fixture_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    own = dict.fromkeys(NAMES, 0)
    for _, function, cost in NODES[1:]:
        own[NAMES[function - 1]] += cost
    objects = {name: f"/lib/{'x' if name == 'other' else 'a'}.so" for name in NAMES}
    text = "events: Ir\n" + "".join(
        f"ob={objects[name]}\nfl={name}.c\nfn={name}\n1 {cost}\n" for name, cost in own.items())
    (folder / "x.out").write_text(text)
    (folder / "contexts.x.out").write_bytes(ContextFile(
        ("Ir",), [(objects[name], f"{name}.c", 1, name) for name in NAMES], ["thread 1"],
        [(depth, function, 1, (cost,)) for depth, function, cost in NODES], "apart",
    ).bytes())
    annotate(f"--html={folder}/x.html", folder / "x.out")
    return folder / "x.html"


def test_bottom_up_begins_with_what_costs(browse, page):
    cells, first, caller = browse(page, [
        {"fragment": "#icicle?upside=1", "axe": True, "read": f"({BOX}.focus(), {CELLS})"},
        {"keys": ["ArrowDown"], "read": SPOKEN}, {"keys": ["ArrowDown"], "read": SPOKEN},
    ])
    # f, other, g and main with what they cost; below them callers: f, g, main; main; main; the thread; and so on.
    assert cells == 4 + 6 + 5 + 2
    assert first == "f: 70, 87.5%" and caller == "f: 40, 50.0%"


@pytest.mark.parametrize("link, rows", [
    ("hide=g", {"main": 58, "f": 50, "other": 7}),
    ("merge=g", {"main": 80, "f": 70, "other": 7}),
    ("merge=f", {"main": 80, "g": 22, "other": 7}),
    ("collapse=1", {"main": 80, "f": 70, "g": 22, "other": 7}),
])
def test_paths_in_another_shape_are_the_same_in_both_views(browse, page, link, rows):
    table, icicle, told = browse(page, [
        {"fragment": f"#tables?table=callers&cols=Ir:incl&{link}", "axe": True, "read": EXACT_ROWS},
        {"fragment": f"#icicle?{link}", "read": f"({BOX}.focus(), {CELLS})"},
        {"keys": ["ArrowDown", "ArrowDown"], "read": SPOKEN},
    ])
    assert {name: costs["Ir:incl"] for name, costs in table} == rows
    assert told.startswith(f"main: {rows['main']},")
    assert icicle == {"hide=g": 5, "merge=g": 5, "merge=f": 4, "collapse=1": 6}[link]


def test_a_click_chooses_and_a_double_click_zooms(browse, page):
    crumbs = "document.querySelectorAll('.crumb').length"
    clicked, twice = browse(page, [
        {"fragment": "#icicle", "mouse": ["click", "canvas[data-cells]", 30, 50],
         "read": f"[location.hash, {crumbs}, {SPOKEN}]"},
        {"mouse": ["twice", "canvas[data-cells]", 30, 50], "read": f"[location.hash, {crumbs}]"},
    ])
    assert clicked == ["#icicle?fn=f", 1, "f: 50, 62.5%"]
    assert "node=2" in twice[0] and twice[1] == 4


def test_the_wheel_looks_closer_and_a_drag_moves(browse, page):
    at = ["canvas[data-cells]", 300, 50]
    closer, panned, dragged, by_keys, whole, mini = browse(page, [
        {"fragment": "#icicle", "mouse": ["wheel", *at, {"deltaY": -100, "modifier": "Control"}], "read": WINDOW},
        {"mouse": ["wheel", *at, {"deltaX": 200}], "read": WINDOW},
        {"mouse": ["drag", *at, {"by": [60, 0]}], "read": f"[{WINDOW}, location.hash]"},
        {"read": f"({BOX}.focus(), 1)", "keys": []},
        {"keys": ["+", "-", "0"], "read": WINDOW},
        {"keys": ["+"], "mouse": ["click", ".minimap", 3, 9], "read": WINDOW},
    ])
    assert abs(closer[1] - closer[0] - 0.8) < 1e-9 and closer[0] > 0
    assert panned[0] > closer[0] and abs(panned[1] - panned[0] - 0.8) < 1e-9
    assert dragged[0][0] < panned[0] and "fn=" not in dragged[1], "a drag is no click"
    assert by_keys == 1 and whole == [0, 1] and mini == [0, 1]


def test_the_menu_copies_and_leads_on(browse, page):
    menu = "Array.from(document.querySelectorAll('.menu button'), (one) => one.innerText)"
    at = ["menu", "canvas[data-cells]", 30, 70]
    items, stack, name, link, hidden, table = browse(page, [
        {"fragment": "#icicle", "mouse": at, "axe": True, "read": menu},
        {"read": COPIED % "Copy the stack"},
        {"mouse": at, "read": COPIED % "Copy the name"},
        {"mouse": at, "read": COPIED % "Copy a link to this"},
        {"mouse": at, "keys": ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"],
         "read": f"[location.hash, {menu}, document.activeElement.className]"},
        {"fragment": "#tables?table=callers", "mouse": ["menu", ".row[data-function=f]", 400, 9], "read": menu},
    ])
    assert items[:3] == ["Zoom in here", "Callers and callees", "Call graph"]
    assert stack == "f\nf\nmain\nthread 1\n" and name == "f"
    assert link.startswith("file:") and link.endswith("#icicle?fn=f&node=3")
    assert hidden == ["#icicle?hide=f", [], "canvas-box"], "and the keys are where they were"
    assert "Merge into its callers" in table and "Zoom in here" not in table


def test_what_is_shown_is_saved(browse, page):
    svg, stacks, table = browse(page, [
        {"fragment": "#icicle", "read": SAVED % "Picture as SVG"},
        {"read": SAVED % "Folded stacks"},
        {"fragment": "#tables?table=flat&cols=Ir:self", "read": SAVED % "Rows as CSV"},
    ])
    assert svg.startswith("<svg ") and svg.count("<rect") == 7 and ">other</text>" in svg
    assert sorted(stacks.split("\n")) == sorted([
        "", "thread 1;main 1", "thread 1;main;f 10", "thread 1;main;f;f 40", "thread 1;main;g 2",
        "thread 1;main;g;f 20", "thread 1;main;other 7"])
    rows = [line.split(",") for line in table.split("\r\n")]
    assert rows[:3] == [["depth", "function", "where", "Ir:self", "calls"],
                        ["0", "f", "f.c:1 [a.so]", "70", "0"], ["0", "other", "other.c:1 [x.so]", "7", "0"]]


def test_colours_tell_where_code_is(browse, page):
    shown = "Array.from(document.querySelectorAll('.palette > span'), (one) => one.innerText.trim())"
    pixels = """((canvas) => {
        const row = canvas.getContext("2d").getImageData(0, 90, canvas.width, 1).data;
        return [100, 1200].map((x) => Array.from(row.slice(8 * x, 8 * x + 3)));
    })(document.querySelector("canvas[data-cells]"))"""
    objects, (f, other), files = browse(page, [
        {"fragment": "#icicle?colour=object", "axe": True, "read": shown}, {"read": pixels},
        {"fragment": "#icicle?colour=file", "read": shown},
    ])
    assert objects == ["a.so", "x.so"] and f != other
    assert files == ["f.c", "other.c", "g.c", "main.c"]


def test_the_share_of_what_is_found(browse, page):
    share = "Number(document.querySelector('[data-matched]').dataset.matched)"
    assert browse(page, [
        {"fragment": "#icicle?q=g", "read": share}, {"fragment": "#tables?table=flat&q=g", "read": share},
        {"fragment": "#icicle?q=g&upside=1", "read": share},
    ]) == [22 / 80, 2 / 80, 22 / 80]


def test_a_box_tells_of_all_keys(browse, page):
    opened, typed, closed = browse(page, [
        {"fragment": "#icicle", "keys": ["?"], "axe": True,
         "read": "[document.querySelector('dialog').open, document.querySelector('dialog').innerText]"},
        {"keys": ["Escape"], "read": "document.querySelector('dialog').open"},
        {"keys": ["/", "?"], "read": "[document.querySelector('dialog').open, location.hash]"},
    ])
    assert opened[0] and "Collapse recursion".lower() in opened[1].lower() and "Merge".lower() in opened[1]
    assert typed is False and closed == [False, "#icicle?q=%3F"]


def test_widths_and_order_of_columns_stay(browse, page):
    heads = "Array.from(document.querySelectorAll('.head .cell.n[draggable]'), (e) => " \
            "[e.innerText.trim().split(/\\s+/).join(' '), e.offsetWidth])"
    focus = "(document.querySelectorAll('.head .cell.n button')[%d].focus(), %s)"
    wide = ["Shift+ArrowRight"] * 3
    before, moved, after, dragged = browse(page, [
        {"fragment": "#tables?table=flat&cols=Ir:self,Ir:incl", "read": focus % (1, heads)},
        {"keys": ["Alt+ArrowLeft", *wide], "read": f"[{heads}, location.hash]"},
        {"reload": True, "read": heads},
        {"read": """((cells, data) => {
            const send = (to, kind) => to.dispatchEvent(new DragEvent(kind, { bubbles: true, dataTransfer: data }));
            send(cells[1], "dragstart"); send(cells[0], "dragover"); send(cells[0], "drop");
            return %s;
        })(document.querySelectorAll('.head .cell.n[draggable]'), new DataTransfer())""" % (LATER % heads)},
    ])
    (_, width), _ = before
    assert moved[0][0][1] == width + 48 and moved[0][0][0] == before[1][0]
    assert "cols=Ir%3Aincl%2CIr%3Aself" in moved[1]
    assert after == moved[0] and [name for name, _ in dragged] == [name for name, _ in before]


def test_nothing_stored_can_break_the_page(browse, page):
    stored = json.dumps({"Ir:self": "1px;color:red", "Ir:incl": 1e9})
    (rows,) = browse(page, [
        {"read": f"(localStorage.setItem('bdgrind widths', {stored!r}), localStorage.setItem('bdgrind theme', '<b>'))"},
        {"reload": True, "fragment": "#tables?table=flat&cols=Ir:self", "read": EXACT_ROWS},
    ])[1:]
    assert len(rows) == 4

def test_a_reader_makes_columns(browse, page):
    """They are sorted and linked like others, of paths, too."""
    box = "document.querySelector('.new-column input')"
    typed = f"((box) => {{ box.value = '%s'; box.dispatchEvent(new Event('input', {{ bubbles: true }})); }})({box})"
    told = "document.querySelector('.new-column .note').innerText"
    add = "document.querySelector('.new-column button').click()"
    wrong, added, rows, tree = browse(page, [
        {"fragment": "#tables?table=flat&cols=Ir:self", "axe": True,
         "read": f"(document.querySelectorAll('details.columns summary')[0].click(), {typed % 'Ir / Nope'}, "
                 f"{LATER % told})"},
        {"read": f"({typed % '2 * Ir'}, {LATER % f'({add}, {LATER % EXACT_ROWS})'})"},
        {"fragment": f"#tables?table=flat&cols=Ir:self,{quote('Ir/(4*Ir)')}:self&sort={quote('Ir/(4*Ir)')}:self",
         "read": EXACT_ROWS},
        {"fragment": f"#tables?cols={quote('3*Ir')}:incl", "read": EXACT_ROWS},
    ])
    assert wrong == "No column: Nope is no event and no metric."
    assert dict(added)["f"] == {"Ir:self": 70, "2 * Ir:self": 140}
    assert [costs["Ir/(4*Ir):self"] for _, costs in rows] == [0.25] * 4
    assert dict(tree)["thread 1"] == {"3*Ir:incl": 240}


def test_in_a_narrow_window_all_can_be_read(browse, page):
    ((right, window),) = browse(page, [
        {"fragment": "#tables?q=f", "axe": True,
         "read": "[document.querySelector('.tag').getBoundingClientRect().right, innerWidth]"},
    ], width=400)
    assert right <= window
