# SPDX-License-Identifier: GPL-2.0-or-later
"""All functions of an object file or a folder at once, and functions by their classes."""

import pytest

from context_files import ContextFile
from web_pages import EXACT_ROWS, LATER, annotate

# main 1 calls a 2, which calls b 4, which calls c 8, which calls a 16.
FUNCTIONS = {
    "main": ("/bin/p", "/src/app/m.c"), "ns::C::a(int)": ("/lib/l.so", "/src/lib/a.c"),
    "ns::C::b()": ("/lib/l.so", "/src/lib/in/b.c"), "c": ("/bin/p", "/src/app/c.c"),
}
PATH = [("main", 1), ("ns::C::a(int)", 2), ("ns::C::b()", 4), ("c", 8), ("ns::C::a(int)", 16)]
CHIPS = "Array.from(document.querySelectorAll('.hidden-fn'), (e) => e.innerText)"
OPEN = f"""new Promise((done) => {{
    const next = (left) => {{
        const closed = document.querySelector('.twist.closed');
        if (!closed || !left) return done({EXACT_ROWS}.map(([name, {{"Ir:incl": incl}}]) => [name, incl]));
        closed.click();
        setTimeout(() => next(left - 1), 100);
    }};
    next(12);
}})"""


@pytest.fixture(scope="module", name="page")
def fixture_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wholes")
    numbers = {name: number for number, name in enumerate(FUNCTIONS, 1)}
    own = dict.fromkeys(FUNCTIONS, 0)
    for name, cost in PATH:
        own[name] += cost
    (folder / "x.out").write_text("events: Ir\n" + "".join(
        f"ob={FUNCTIONS[name][0]}\nfl={FUNCTIONS[name][1]}\nfn={name}\n1 {cost}\n" for name, cost in own.items()))
    (folder / "contexts.x.out").write_bytes(ContextFile(
        ("Ir",), [(*where, 1, name) for name, where in FUNCTIONS.items()], ["thread 1"],
        [(0, 0, 0, (0,)), *((depth, numbers[name], 1, (cost,)) for depth, (name, cost) in enumerate(PATH, 1))], "apart",
    ).bytes())
    annotate(f"--html={folder}/x.html", folder / "x.out")
    return folder / "x.html"


@pytest.mark.parametrize("said, chip, rows", [
    ("hide object /lib/l.so", "without all of l.so", [["thread 1", 1], ["main", 1]]),
    ("merge object /lib/l.so", "merged all of l.so", [["thread 1", 31], ["main", 31], ["c", 24]]),
    ("join object /lib/l.so", "joined all of l.so",
     [["thread 1", 31], ["main", 31], ["all of l.so", 30], ["c", 24], ["all of l.so", 16]]),
    ("merge folder /src/lib/in/", "merged all of lib/in/",
     [["thread 1", 31], ["main", 31], ["ns::C::a(int)", 30], ["c", 24], ["ns::C::a(int)", 16]]),
    ("hide folder /src/lib/", "without all of src/lib/", [["thread 1", 1], ["main", 1]]),
])
def test_a_library_or_a_folder_at_once(browse, page, said, chip, rows):
    link = said.replace(" ", "+")
    found, chips, axe, taken_back = browse(page, [
        {"fragment": f"#tables?cols=Ir:incl&all={link}", "read": OPEN}, {"axe": True, "read": CHIPS},
        {"fragment": f"#icicle?all={link}", "axe": True, "read": CHIPS},
        {"read": f"(document.querySelector('.hidden-fn').click(), {LATER % 'location.hash'})"},
    ])
    assert found == rows
    assert chips == axe == [chip] and taken_back == "#icicle"


def test_the_menu_offers_what_a_function_is_of(browse, page):
    offered, link, wrong = browse(page, [
        {"fragment": "#icicle", "mouse": ["menu", "canvas[data-cells]", 30, 50], "axe": True,
         "read": "Array.from(document.querySelectorAll('.menu button'), (e) => e.innerText)"},
        {"read": "(Array.from(document.querySelectorAll('.menu button')).find((e) => "
                 f"e.innerText === 'Join all of l.so in one frame').click(), {LATER % 'location.hash'})"},
        {"fragment": "#icicle?all=hide+object+/lib/other.so", "read": "document.querySelector('.failure').innerText"},
    ])
    for act in ("Hide all of l.so", "Merge all of l.so", "Hide all of src/lib/", "Join all of src/lib/ in one frame"):
        assert act in offered
    assert link == "#icicle?all=join+object+%2Flib%2Fl.so"
    assert "all hide object /lib/other.so" in wrong


def test_functions_by_class(browse, page):
    picked, rows = browse(page, [
        {"fragment": "#tables?table=flat&group=class&cols=Ir:self", "axe": True,
         "read": "document.querySelector('.bar select').selectedOptions[0].innerText"},
        {"read": EXACT_ROWS},
    ])
    assert picked == "class or module"
    assert rows == [["ns::C", {"Ir:self": 22}], ["(in no class or module)", {"Ir:self": 9}]]
