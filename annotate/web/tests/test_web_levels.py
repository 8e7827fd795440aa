# SPDX-License-Identifier: GPL-2.0-or-later
"""The call graph of several levels."""

import pytest

from web_pages import LATER, annotate

# main 10 calls work, of 60, and side, of 30. work calls side, and itself; side calls leaf, and 40 small ones.
SMALL = 40


def text_of(costs):
    """A profile: of each function what it costs itself, and what each of its calls costs."""
    lines = ["version: 1", "events: Ir", "fl=a.c"]
    for line, (name, (own, calls)) in enumerate(costs.items(), 1):
        lines += [f"fn={name}", f"{line} {own}"]
        for callee, count, cost in calls:
            lines += [f"cfn={callee}", f"calls={count} 1", f"{line} {cost}"]
    return "\n".join(lines) + "\n"


def small(leaf=500):
    below = leaf + SMALL
    part = 5 * below // 9
    return {
        "main": (100, [("work", 1, 200 + part), ("side", 1, below - part)]),
        "work": (200, [("side", 3, part), ("work", 7, 90)]),
        "side": (0, [("leaf", 4, leaf), *((f"small{at}", 1, 1) for at in range(SMALL))]),
        "leaf": (leaf, []),
        **{f"small{at}": (1, []) for at in range(SMALL)},
    }


@pytest.fixture(scope="module", name="page")
def fixture_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    (folder / "a.out").write_text(text_of(small()))
    (folder / "b.out").write_text(text_of(small(leaf=700)))
    annotate(f"--html={folder}/a.html", folder / "a.out")
    annotate("--diff", f"--html={folder}/diff.html", folder / "a.out", folder / "b.out")
    return folder / "a.html"


NODES = """Object.fromEntries(Array.from(document.querySelectorAll("[data-node]"), (node) =>
    [node.dataset.function ?? node.querySelector("text").textContent,
     Math.round(node.querySelector("rect").getAttribute("x"))]))"""
CALLS = """(document.querySelector(".numbers").open = true,
    Array.from(document.querySelectorAll("[data-value]"), (row) => [
        ...Array.from(row.querySelectorAll("a"), (link) => link.textContent), row.dataset.value,
        row.querySelector("td:last-child").textContent,
    ]))"""
BANDS = "Array.from(document.querySelectorAll('[data-band]'), (band) => Number(band.dataset.band).toFixed(2)).sort()"
HASH = "decodeURIComponent(location.hash)"


def test_calls_are_exact_and_lead_to_the_right(browse, page):
    nodes, calls, bands = browse(page, [
        {"fragment": "#graph?fn=main&levels=2&least=5", "axe": True, "read": NODES}, {"read": CALLS}, {"read": BANDS},
    ])
    assert list(sorted(nodes, key=nodes.get)) == ["main", "work", "side", "leaf"]
    assert calls == [
        ["main", "work", "500", "1"], ["side", "leaf", "500", "4"], ["work", "side", "300", "3"],
        ["main", "side", "240", "1"], ["work", "work", "", "7"],
    ]
    total = 100 + 200 + 500 + SMALL
    assert bands == sorted(f"{110 * cost / total:.2f}" for cost in (500, 500, 300, 240))


def test_what_is_left_out_has_a_box_if_it_weighs_enough(browse, page):
    stubs = "document.querySelectorAll('[data-rest]').length > 0"
    more, fewer, few = browse(page, [
        {"fragment": "#graph?fn=side&levels=2&least=2", "read": NODES},
        {"fragment": "#graph?fn=side&levels=2&least=5", "read": f"[{NODES}, {stubs}]"},
        {"fragment": "#graph?fn=side&levels=2&least=0", "read": f"Object.keys({NODES}).length"},
    ])
    assert {"40 more · 4.8%", "leaf", "side", "work", "main"} == set(more)
    assert fewer == [{name: x for name, x in more.items() if "more" not in name}, True]
    assert few == 1 + 2 + 12 + 1, "12 of a level, and the rest"


def test_mouse_and_keys(browse, page):
    of = "[data-function=%s] rect"
    chosen = "document.querySelector('.chosen-name b')?.textContent"
    middle = """Array.from(document.querySelectorAll("[data-node]")).find((node) =>
        node.querySelector("rect").getAttribute("stroke") === "var(--accent)").dataset.function"""
    tip = "document.querySelector('.tip')?.innerText ?? ''"
    (start, clicked, twice, tipped, band, moved, spoken, entered, chose, left) = browse(page, [
        {"fragment": "#graph?fn=main&levels=3&least=2", "read": f"[{middle}, {HASH}]"},
        {"mouse": ["click", of % "side", 20, 20], "axe": True, "read": f"[{middle}, {chosen}, {HASH}]"},
        {"mouse": ["twice", of % "side", 20, 20], "read": f"[{middle}, {chosen}, {HASH}]"},
        {"mouse": ["move", of % "leaf", 20, 20], "read": tip},
        {"mouse": ["move", of % "work", -6, 25], "read": tip},
        {"mouse": ["click", ".levels", 5, 5], "keys": ["ArrowLeft"],
         "read": "document.querySelector('.spoken').innerText"},
        {"keys": ["ArrowRight", "ArrowRight"], "read": "document.querySelector('.spoken').innerText", "axe": True},
        {"keys": ["Enter"], "read": f"[{middle}, {chosen}]"},
        {"mouse": ["click", ".levels", 5, 5], "keys": ["ArrowLeft", " "], "read": f"[{middle}, {chosen}]"},
        {"keys": ["Escape"], "read": f"[{middle}, {chosen}, {HASH}]"},
    ])
    assert start == ["main", "#graph?fn=main&levels=3&least=2"]
    assert clicked == ["main", "side", "#graph?fn=side&centre=main&levels=3&least=2"]
    assert twice == ["side", "side", "#graph?fn=side&levels=3&least=2"]
    assert tipped.startswith("leaf") and "500 · 59.5% of all" in tipped and "called" in tipped
    assert band.startswith("main → work") and "500 · 59.5% of all" in band
    assert moved == "work: 59.5%, self 23.8%" and spoken == "leaf: 59.5%, self 59.5%"
    assert entered == ["leaf", "leaf"] and chose == ["leaf", "side"]
    assert left == ["leaf", "leaf", "#graph?fn=leaf&levels=3&least=2"]


def test_a_rest_leads_to_the_list_of_all(browse, page):
    _, (link, boxes) = browse(page, [
        {"fragment": "#graph?fn=side&levels=2&least=2&q=lea"},
        {"mouse": ["twice", "[data-node='-1'] rect", 9, 9],
         "read": f"[{HASH}, document.querySelectorAll('.side')[1].querySelectorAll('.box').length]"},
    ])
    assert link == "#graph?fn=side&least=2&q=lea" and boxes == SMALL + 1


def test_the_picture_is_a_file_of_its_own(browse, page):
    found, text = browse(page, [
        {"fragment": "#graph?fn=side&levels=2&q=lea", "read": "document.querySelectorAll('[data-found]').length"},
        {"read": """(() => {
            const make = URL.createObjectURL;
            let saved;
            URL.createObjectURL = (blob) => { saved = blob; return make(blob); };
            HTMLAnchorElement.prototype.click = () => {};
            document.querySelector("main summary").click();
            document.querySelector(".popup button").click();
            return saved.text();
        })()"""},
    ])
    assert found == 1
    assert text.startswith("<svg ") and 'xmlns="http://www.w3.org/2000/svg"' in text and ">leaf</text>" in text
    assert not any(word in text for word in ("var(", "data-", "aria-", "class=", "href"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_windows_and_dark_ones(browse, page, scheme):
    step = {"fragment": "#graph?fn=side&levels=4&least=0.1", "axe": True, "read": LATER % "1"}
    centre = """(() => {
        const { left, right } = document.querySelector("[data-function=side] rect").getBoundingClientRect();
        return left > 0 && right < innerWidth;
    })()"""
    assert browse(page, [step, {"read": centre}], width=400, scheme=scheme)[1]


def test_changes(browse, page):
    calls, text = browse(page.parent / "diff.html", [
        {"fragment": "#graph?fn=side&levels=2&least=10", "axe": True, "read": CALLS},
        {"read": "document.querySelector('main').innerText"},
    ])
    assert ["side", "leaf", "200", "4"] in calls and ["main", "work", "111", "1"] in calls
    assert "Change of" in text and "+200" in text
