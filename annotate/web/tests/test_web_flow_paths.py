# SPDX-License-Identifier: GPL-2.0-or-later
"""The view Paths: which paths within functions are hot, where they lead and where they part."""

from web_pages import json_of


def test_paths_have_the_numbers_of_the_json(browse, reports):
    paths = json_of("--paths", reports / "flow" / "p.out")["paths"]
    events = paths["events"]
    hot, rows, links, text, missing = browse(reports / "flow.html", [
        {"fragment": "#paths", "axe": True, "read": "Number(document.querySelector('.paths').dataset.hot)"},
        {"read": "Array.from(document.querySelectorAll('[data-paths]'), (one) => [one.dataset.paths, "
                 "Array.from(one.querySelectorAll('tbody tr'), (row) => "
                 "Array.from(row.querySelectorAll('[data-exact]'), (cell) => Number(cell.dataset.exact)))])"},
        {"read": "Array.from(document.querySelectorAll('[data-paths=find] td a'), (link) => link.innerText)"},
        {"read": "document.querySelector('.paths').innerText"},
        {"fragment": "#icicle", "read": "document.querySelector('nav').innerText"},
    ])
    assert hot == sum(len(one["hot"]) for one in paths["functions"])

    def shown(row):
        cost = dict(zip(events, row))
        return [cost["D1mr"] + cost["D1mw"], cost["SpLoss1"], cost["Ir"]]

    assert rows == [
        [one["function"], [
            *(shown(path["self"]) for path in one["hot"]),
            *(shown(one[rest]["self"]) for rest in ("colder", "other") if any(one[rest]["self"])),
            shown(one["self"]),
        ]]
        for one in paths["functions"]
    ]
    assert links == ["hash.c:10", "12-14", "hash.c:10", "12", "16", "18"]
    assert "at line 12: to 13 rather than 16" in text and "30 times, dense" in text
    assert "2 functions executed 4 paths." in text
    assert "Paths" in missing


def test_a_report_without_paths_has_no_such_view(browse, reports):
    tabs, empty = browse(reports / "plain.html", [
        {"read": "document.querySelector('nav').innerText"},
        {"fragment": "#paths", "read": "document.querySelector('main').innerText"},
    ])
    assert "Paths" not in tabs and "--paths=yes" in empty
