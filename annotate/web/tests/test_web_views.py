# SPDX-License-Identifier: GPL-2.0-or-later
"""Each view opens; and what holds in all of them: hostile names, what is remembered, what is printed."""

from urllib.parse import quote

import pytest

from context_files import ContextFile, large
from web_pages import CELLS, EXACT_ROWS, HEAP_ROW, LATER, PROFILES, VIEWS, annotate, json_of, many, node


@pytest.mark.parametrize("report, width, scheme", [
    ("plain", 400, "light"), ("tree", 1280, "light"), ("diff", 400, "dark"), ("ranks", 1280, "dark"),
    ("parts", 400, "light"), ("code", 1280, "dark"), ("source", 400, "dark"), ("data", 400, "light"),
    ("data", 1280, "dark"), ("typed", 400, "dark"), ("typed", 1280, "light"), ("data-diff", 400, "light"),
    ("data-diff", 1280, "dark"), ("product", 400, "dark"), ("product", 1280, "light"), ("stream", 400, "light"),
])
def test_every_view_opens(browse, reports, report, width, scheme):
    steps = [{"fragment": f"#{view}", "read": "document.querySelector('main').innerText.length"} for view in VIEWS]
    if report in ("ranks", "parts"):
        steps.append({"fragment": "#profiles", "read": "document.querySelectorAll('.strips tbody tr').length"})
    if report in ("data", "typed", "data-diff"):
        fragment = f"#data?object={HEAP_ROW if report == 'data' else quote('heap prog.c:22, make')}"
        steps.append({"fragment": fragment, "read": "document.querySelectorAll('.details .byte').length"})
    steps = [{**step, "axe": True} for step in steps]
    assert min(browse(reports / f"{report}.html", steps, width, scheme)) > 0


def test_each_view_has_a_search(browse, reports):
    boxes = "document.querySelectorAll('main .find').length"
    views = ("icicle", "tables", "graph", "source", "treemap", "data", "profiles")
    counts = dict(zip(views[:5], browse(reports / "tree.html", [
        {"fragment": f"#{view}", "read": boxes} for view in views[:5]])))
    counts["data"] = browse(reports / "data.html", [{"fragment": "#data", "read": boxes}])[0]
    counts["profiles"] = browse(reports / "ranks.html", [{"fragment": "#profiles", "read": boxes}])[0]
    assert counts == {view: 1 for view in views}


def test_a_popup_closes_on_escape_and_outside(browse, reports):
    popup = "document.querySelector('details.columns')"
    opened = f"({popup}.querySelector('summary').click(), {LATER % f'{popup}.open'})"
    click = "document.querySelector('.tables > .note').dispatchEvent(" \
            "new PointerEvent('pointerdown', { bubbles: true }))"
    first, escaped, second, outside = browse(reports / "plain.html", [
        {"fragment": "#tables", "read": opened}, {"keys": ["Escape"], "read": f"{popup}.open"},
        {"read": opened}, {"read": f"({click}, {LATER % f'{popup}.open'})"},
    ])
    assert [first, escaped, second, outside] == [True, False, True, False]


def test_the_theme_stays(browse, reports):
    theme = "document.documentElement.dataset.theme"
    before, chosen, after = browse(reports / "plain.html", [
        {"read": theme}, {"read": f"(document.querySelector('.theme.glyph').click(), {LATER % theme})"},
        {"reload": True, "read": theme},
    ])
    assert (before, chosen, after) == ("light", "dark", "dark")


def test_a_print_has_the_whole_table(browse, tmp_path):
    rows = "document.querySelectorAll('.row[data-function]').length"
    shown, printed, after = browse(many(tmp_path), [
        {"fragment": "#tables?table=flat", "read": rows},
        {"read": f"(dispatchEvent(new Event('beforeprint')), {rows})"},
        {"read": f"(dispatchEvent(new Event('afterprint')), {rows})"},
    ])
    assert shown < 100 and printed == 400 and after == shown


def test_hostile_names_stay_text(browse, reports, tmp_path):
    name = "</script><img src=x onerror=document.title='pwned'>\u202e{{7*7}}"
    profile = tmp_path / "x.out"
    profile.write_text(
        f"cmd: {name}\ndesc: I1 cache: {name}\nevents: Ir SpLoss1\nob={name}\nfl={name}\nfn={name}\n1 10 9\n"
        f"cfn=g{name}\ncalls=1 1\n1 5 5\nfn=g{name}\n1 5 5\ntotals: 15 14\n", "utf-8")
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [(name, name, 1, name), (name, name, 1, f"g{name}")], ["thread 1"],
        [(0, 0, 0, (0, 0)), (1, 1, 0, (10, 9)), (2, 2, 1, (5, 5))],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", profile)
    shown = "[document.title, document.images.length, document.body.innerText]"
    key = quote(name.replace("\u202e", "\\u202e"))  # as it is shown, so that it turns nothing around
    found = browse(tmp_path / "x.html", [{"fragment": f"#{view}?fn={key}", "read": shown} for view in VIEWS])
    assert not any("\u202e" in text or "not in this report" in text for _, _, text in found)
    assert {(title, images) for title, images, _ in found} == {("x.out", 0)}
    assert "onerror=" in found[0][2]


def test_loops_are_in_tables_graph_and_source(browse, reports):
    (loop,) = json_of("--structure=yes", PROFILES / "instructions.out")["structure"][0]["frames"]
    rows, graph, source = browse(reports / "code.html", [
        {"fragment": "#tables?table=flat&cols=Ir:incl,Ir:self",
         "read": f"(document.querySelector('[data-function=main] .twist').click(), {LATER % EXACT_ROWS})"},
        {"fragment": "#graph?fn=main", "axe": True,
         "read": "Array.from(document.querySelectorAll('.frames [data-frame]'), (row) => [row.dataset.frame, "
                 "Number(row.querySelector('[data-exact]').dataset.exact), row.lastElementChild.innerText])"},
        {"fragment": "#source?file=loop.c",
         "read": "document.querySelector('[data-line=\"4\"] [data-frame]').innerText"},
    ])
    at = [name for name, _ in rows].index("main")
    name = f"loop loop.c:{loop['line']}"
    assert rows[at + 1] == [name, {"Ir:incl": loop["inclusive"][0], "Ir:self": loop["self"][0]}]
    assert graph == [[name, loop["inclusive"][0], "entered 1 time, 10 iterations each"]]
    assert source == "loop, entered 1 time, 10 iterations each"


def test_a_large_tree(browse, tmp_path):
    """Opened and drawn; how long it took is printed, not asserted."""
    tree = large(30_000)
    events = " ".join(tree.events)
    (tmp_path / "contexts.x.out").write_bytes(tree.bytes())
    totals = " ".join(str(sum(counts)) for counts in zip(*(node[3] for node in tree.nodes)))
    (tmp_path / "x.out").write_text(f"events: {events}\nfn=function_0\n1 {totals}\n")
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    (cells,) = browse(tmp_path / "x.html", [{"fragment": "#icicle", "read": CELLS}])
    assert cells > 100
