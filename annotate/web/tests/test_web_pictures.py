# SPDX-License-Identifier: GPL-2.0-or-later
"""The icicle, the call graph, the source and the treemap, with the numbers of the JSON."""

from urllib.parse import quote

from context_files import ContextFile
from web_pages import CELLS, EXACT_ROWS, LATER, PROFILES, SPOKEN, annotate, json_of


def test_the_call_graph_has_the_costs_of_the_calls(browse, reports):
    data = json_of(PROFILES / "helper.out")
    event = data["events"].index("SpLoss1")
    names = {function["id"]: function["name"] for function in data["functions"]}
    costliest = max(data["calls"], key=lambda call: (call["cost"][event], -call["caller"]))
    callee = costliest["callee"]
    listed = "Array.from(document.querySelectorAll('.side')[%d].querySelectorAll('.box'), " \
             "(box) => [box.dataset.function, Number(box.dataset.exact)])"
    page_number = "document.querySelector('.centre').dataset.function"
    steps = [{"fragment": f"#graph?metric=SpLoss1&fn={quote(name)}", "read": f"[{page_number}, {listed % 0}]"}
             for name in names.values()]
    found = dict(browse(reports / "plain.html", steps))
    assert dict(found[names[callee]]) == {
        names[call["caller"]]: call["cost"][event] for call in data["calls"] if call["callee"] == callee
    }


def test_source_lines_have_their_costs(browse, reports):
    (lines,) = browse(reports / "source.html", [{
        "fragment": "#source?metric=Ir",
        "read": "[document.querySelector('.path').innerText, "
                "Array.from(document.querySelectorAll('.line[data-line] .heat'), "
                "(e) => [Number(e.parentElement.dataset.line), e.dataset.exact]).filter(([, cost]) => cost !== '')]",
    }])
    data = json_of(PROFILES / "sources.out")
    file, found = lines
    event = data["events"].index("Ir")
    truth = {}
    for line in data["lines"]:
        if line["file"] == file:
            truth[line["line"]] = truth.get(line["line"], 0) + line["self"][event]
    assert {line: int(cost) for line, cost in found if line} == truth
    assert max(truth) == 99, "one past the end of the file"


def test_icicle_by_keyboard_and_by_link(browse, reports):
    spoken = "document.querySelector('.spoken').innerText"
    first, zoomed, back = browse(reports / "tree.html", [
        {"fragment": "#icicle?metric=Ir", "read": "(document.querySelector('.canvas-box').focus(), location.hash)"},
        {"keys": ["ArrowDown", "ArrowDown", "Enter"],
         "read": "[location.hash, document.querySelectorAll('.crumb').length]"},
        {"fragment": "#icicle?metric=Ir", "read": f"[{spoken}, document.querySelectorAll('.crumb').length]"},
    ])
    assert "node=" not in first
    assert "node=1" in zoomed[0] and zoomed[1] == 3
    assert back[1] == 1


def test_a_plain_profile_says_what_the_icicle_needs(browse, reports):
    steps = [{"fragment": "#icicle", "read": "document.querySelector('main').innerText"}]
    (text,) = browse(reports / "plain.html", steps)
    assert "--context-tree=yes" in text


def test_heat_is_of_the_whole_program(browse, tmp_path):
    """A small cost is pale in a file of its own; a file with the most cost is opened, also where its text is missing,
    and it is said where it is looked for."""
    (tmp_path / "small.c").write_text("one\n")
    (tmp_path / "x.out").write_text("events: Ir\nfl=small.c\nfn=f\n1 39\nfl=gone.c\nfn=g\n7 5000000000\n")
    annotate(f"--html={tmp_path}/x.html", "-I", tmp_path, tmp_path / "x.out")
    heat = "Array.from(document.querySelectorAll('.line[data-line] .heat'), (e) => Number(e.dataset.heat))"
    small, (path, note, large) = browse(tmp_path / "x.html", [
        {"fragment": "#source?file=small.c", "read": heat},
        {"fragment": "#source", "read":
            f"[document.querySelector('.path').innerText, document.querySelector('main .note').innerText, {heat}]"},
    ])
    assert small[0] < 0.03 and large[-1] == 1 and path == "gone.c"
    assert note.startswith("No text: not found. It was looked for under this path") and "-I" in note


def test_a_full_tree_says_so_and_callers_are_exact(browse, tmp_path):
    """Both a and b call work; the tree has room for one of the paths only."""
    costs = {"main": 1, "a": 1, "b": 1, "work": 70}
    calls = [("main", "a", 11), ("main", "b", 61), ("a", "work", 10), ("b", "work", 60)]
    text = "events: Ir SpLoss1\nfl=a.c\n"
    for name, cost in costs.items():
        text += f"fn={name}\n1 {cost} {cost}\n"
        text += "".join(f"cfn={to}\ncalls=1 1\n1 {paid} {paid}\n" for by, to, paid in calls if by == name)
    (tmp_path / "x.out").write_text(text)
    nodes = [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 1, 1), (3, 4, 1, 10), (2, 3, 1, 1), (3, 0, 1, 60)]
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [("", "a.c", 1, name) for name in costs], ["thread 1"],
        [(depth, function, calls, (cost, cost)) for depth, function, calls, cost in nodes],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    opened = "document.querySelector('.row[data-function=%s] .twist').click()"
    said = "document.querySelector('.warning').innerText"
    table, further, icicle, up = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=callers&cols=Ir:incl", "read": f"({opened % 'work'}, {LATER % EXACT_ROWS})"},
        {"read": "(Array.from(document.querySelectorAll('.row[data-function=b] .twist'))"
                 f".find((e) => e.closest('[aria-level=\"2\"]')).click(), {LATER % f'[{said}, {EXACT_ROWS}]'})"},
        {"fragment": "#icicle?metric=Ir&fn=work&focus=1",
         "read": f"(document.querySelector('.canvas-box').focus(), {said})"},
        {"keys": ["ArrowDown", "ArrowUp"], "read": SPOKEN},
    ])
    at = [name for name, _ in table].index("work")
    assert table[at:at + 3] == [["work", {"Ir:incl": 70}], ["b", {"Ir:incl": 60}], ["a", {"Ir:incl": 10}]]
    told, rows = further
    assert rows[at + 2] == ["(other paths)", {"Ir:incl": 60}]
    for one in (told, icicle):
        assert "The context tree was full: 82.2% of instructions executed was on other paths" in one
    assert up.startswith("b: 60"), "as wide as the calls cost"


def test_bands_have_one_scale(browse, tmp_path):
    """That of the program, on both sides; what the function itself has is drawn."""
    (tmp_path / "x.out").write_text(
        "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=f\ncalls=1 1\n1 40\ncfn=other\ncalls=1 1\n1 50\nfn=f\n1 15\n"
        "cfn=g\ncalls=1 1\n1 25\nfn=g\n1 25\nfn=other\n1 50\n")
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    ((bands, bar),) = browse(tmp_path / "x.html", [{"fragment": "#graph?fn=f", "read": """[
        Array.from(document.querySelectorAll('[data-band]'), (e) => Number(e.dataset.band)),
        ((bar) => [Number(bar.dataset.self), Number(bar.dataset.incl)])(document.querySelector('.own-bar'))]"""}])
    caller, callee = bands
    assert abs(caller / callee - 40 / 25) < 1e-9 and bar == [0.15, 0.4]


def test_a_change_is_drawn_as_large_as_it_is(browse, tmp_path):
    """f has lost 30 and g got 10, h stays; each table is sorted as its arrow says."""
    for name, costs in (("before", {"f": 50, "g": 5, "h": 900}), ("after", {"f": 20, "g": 15, "h": 900})):
        text = "events: Ir\nfl=a.c\nfn=main\n1 1\n"
        for callee, cost in costs.items():
            text += f"cfn={callee}\ncalls=1 1\n1 {cost}\n"
        text += "".join(f"fn={callee}\n1 {cost}\n" for callee, cost in costs.items())
        (tmp_path / f"{name}.out").write_text(text)
        nodes = [(0, 0, 0, (0,)), (1, 1, 1, (1,)), *((2, 2 + at, 1, (c,)) for at, c in enumerate(costs.values()))]
        (tmp_path / f"contexts.{name}.out").write_bytes(ContextFile(
            ("Ir",), [("", "a.c", 1, one) for one in ("main", *costs)], ["thread 1"], nodes).bytes())
    annotate("--diff", f"--html={tmp_path}/x.html", tmp_path / "before.out", tmp_path / "after.out")
    rows = "Array.from(document.querySelectorAll('.row[data-function]'), (row) => row.dataset.function)"
    down, up, tree, first, second, tiles, most, note = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=flat&cols=Ir:self", "read": rows},
        {"fragment": "#tables?table=flat&cols=Ir:self&up=1", "read": rows},
        {"fragment": "#icicle", "read": f"(document.querySelector('.canvas-box').focus(), {CELLS})"},
        {"keys": ["ArrowDown", "ArrowDown", "ArrowDown"], "read": SPOKEN},
        {"keys": ["ArrowRight"], "read": SPOKEN},
        {"fragment": "#treemap", "read": CELLS},
        {"fragment": "#summary", "read": "Array.from(document.querySelectorAll('table.top tbody tr'), "
                                         "(row) => Array.from(row.cells, (cell) => cell.innerText.trim()))"},
        {"fragment": "#graph?fn=f", "read": "document.querySelector('main').innerText"},
    ])
    assert [row[1:] for row in most] == [["−30", "75.0%", "−30"], ["+10", "25.0%", "+10"]]
    assert "relative to what the whole program has now" in note and "grey what it calls" not in note
    assert down[0] == "g" and down[-1] == "f" and up == down[:0] + ["f", *up[1:-1], "g"]
    assert (tree, tiles) == (4, 2), "what has not changed has no cell"
    assert first.startswith("f: 20") and second.startswith("g: 15")
