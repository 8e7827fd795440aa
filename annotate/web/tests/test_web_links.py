# SPDX-License-Identifier: GPL-2.0-or-later
"""Links, and searches, which stand in links, too."""

from urllib.parse import quote, quote_plus

import pytest

from context_files import ContextFile
from web_pages import EXACT_ROWS, LATER, PROFILES, SPOKEN, annotate, json_of


@pytest.mark.parametrize("link, missed", [
    ("graph?fn=400", "function 400"), ("tables?cols=Nope", "column Nope"), ("source?file=no.c", "file no.c"),
    ("icicle?node=4000000", "node 4000000"), ("treemap?metric=Nope", "metric Nope"), ("nowhere", "view nowhere"),
    ("tables?sort=Ir:odd&hide=gone", "function gone; column Ir:odd"), ("data?object=9", "data 9"),
])
def test_a_link_to_what_is_not_there_says_so(browse, reports, link, missed):
    """The rest of the link is followed, and the page goes on."""
    said = "document.querySelector('.failure')?.innerText ?? ''"
    first, after, again = browse(reports / "tree.html", [
        {"fragment": f"#{link}", "read": f"[{said}, document.querySelector('main').innerText.length]"},
        {"fragment": "#summary", "read": f"[{said}, document.querySelector('main').innerText.length]"},
        {"fragment": "#tables?table=flat&cols=Ir:self", "read": EXACT_ROWS},
    ])
    assert first[0].endswith(f"is followed without it: {missed}.") and first[1] > 10
    assert after[0] == "" and after[1] > 100
    assert len(again) == len(json_of(PROFILES / "helper.out")["functions"])


def test_links_are_names(browse, reports):
    """So that they mean the same in another report of the program."""
    names = [function["name"] for function in json_of(PROFILES / "helper.out")["functions"]]
    link = "document.querySelector('.row[data-function] a.fn').getAttribute('href')"
    (href,) = browse(reports / "plain.html", [{"fragment": "#tables?table=flat", "read": link}])
    assert href.split("fn=")[1].split("&")[0] in [quote_plus(name) for name in names]


def test_a_search_is_plain_text(browse, tmp_path):
    """With its count, and the next one; the switch makes it a regular expression. In the tree it opens the paths."""
    names = ["main", "operator()(int)", "operator delete(void*, unsigned long)", "f", "operator()(long)"]
    text = "events: Ir SpLoss1\nfl=a.c\n" + "".join(f"fn={name}\n1 1 1\n" for name in names)
    (tmp_path / "x.out").write_text(text)
    nodes = [(0, 0, 0, (0, 0)), *((at + 1, at + 1, 1, (1, 1)) for at in range(5))]
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [("", "a.c", 1, name) for name in names], ["thread 1"], nodes,
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    told = "document.querySelector('.found-count').innerText"
    named = "Array.from(document.querySelectorAll('.row[data-function]'), (row) => row.dataset.function)"
    at = "document.querySelector('.row.cursor').dataset.function"
    plain, exact, typed, again, wrong, path, stepped = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=flat&cols=Ir:self&q=operator()", "read": f"[{told}, {named}]"},
        {"fragment": f"#tables?table=flat&q={quote('operator delete(void*, unsigned long)')}", "read": named},
        {"fragment": "#tables?table=flat&q=", "read": "(document.activeElement.blur(), null)"},
        {"keys": ["/", "o", "r", "(", ")", "Enter"], "read": f"[{told}, {at}]"},
        {"fragment": "#tables?table=flat&re=1&q=(", "read": told},
        {"fragment": "#tables?q=(long)", "read": f"[{told}, {named}]"},
        {"fragment": "#icicle?q=operator()", "read":
            f"(document.querySelector('.find .after').click(), {LATER % f'[{told}, {SPOKEN}]'})"},
    ])
    assert plain == ["1 of 2", [names[1], names[4]]] and exact == [names[2]] and typed is None
    assert again == ["2 of 2", names[4]]
    assert wrong == "not a regular expression"
    assert path == ["1", ["thread 1", *names]]
    assert stepped[0] == "1 of 2" and stepped[1].startswith(names[1])
