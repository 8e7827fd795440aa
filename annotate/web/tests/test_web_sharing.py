# SPDX-License-Identifier: GPL-2.0-or-later
"""The view Sharing: who uses which bytes of lines that threads take from each other."""

from web_pages import json_of

KINDS = {
    "false": "false sharing", "true": "true sharing", "migrating": "migrating", "mixed": "false and true sharing",
    "unknown": "sharing of unknown kind",
}


def test_sharing_has_the_numbers_of_the_json(browse, reports):
    sharing = json_of("--sharing", reports / "shared" / "p.out")["sharing"]
    total, rows, pictures, summary, without = browse(reports / "shared.html", [
        {"fragment": "#sharing", "axe": True, "read": "Number(document.querySelector('.shared').dataset.transfers)"},
        {"read": "Array.from(document.querySelectorAll('[data-shared]'), (one) => [one.dataset.shared, "
                 "Array.from(one.querySelectorAll('[data-exact]'), (cell) => Number(cell.dataset.exact))])"},
        {"read": "Array.from(document.querySelectorAll('.shared svg'), (picture) => "
                 "Array.from(picture.querySelectorAll('.byte'), (byte) => byte.classList[1]))"},
        {"fragment": "#summary", "read": "document.querySelector('[data-sharing]').innerText"},
        {"fragment": "#icicle", "read": "document.querySelector('nav').innerText"},
    ])
    assert total == sharing["transfers"]
    cores = [core for data in sharing["data"] for core in data["cores"]]
    assert [transfers for _, transfers in rows] == [
        [core["transfers"] for core in data["cores"]] for data in sharing["data"]
    ]
    assert [kind for kind, _ in rows] == [KINDS[data["kind"]] for data in sharing["data"]]
    for core, picture in zip(cores, pictures, strict=True):
        assert [at for at, kind in enumerate(picture) if kind == "written"] == core["written"]
        assert {at for at, kind in enumerate(picture) if kind == "read"} == {*core["read"]} - {*core["written"]}
    assert "96% by false sharing (line at 0x1000)" in summary
    assert "Sharing" in without


def test_a_report_without_threads_has_no_such_view(browse, reports):
    tabs, empty = browse(reports / "plain.html", [
        {"read": "document.querySelector('nav').innerText"},
        {"fragment": "#sharing", "read": "document.querySelector('main').innerText"},
    ])
    assert "Sharing" not in tabs and "--cores=threads" in empty


def test_what_several_cores_load_is_told_as_in_the_text(browse, reports):
    touches, again = browse(reports / "loads.html", [
        {"fragment": "#sharing", "axe": True, "read": "document.querySelector('[data-touches]').innerText"},
        {"read": "document.querySelector('[data-again]').innerText"},
    ])
    assert "3,000 of 4,050 (74%) misses of the last level are in pages that another core touched first" in touches
    assert "100 pages, first touched by thread 1 in count (prog.c:23)" in touches
    assert "initialise in parallel" in touches
    assert "4,007 lines, loaded 7,009 more times" in again


def test_cores_share_the_last_level_as_in_the_text(browse, reports):
    sentence, rows = browse(reports / "last_level.html", [
        {"fragment": "#sharing", "axe": True, "read": "document.querySelector('[data-last-level] p').innerText"},
        {"read": "Array.from(document.querySelectorAll('[data-last-level] tbody tr'), (row) => "
                 "Array.from(row.cells, (cell) => cell.innerText))"},
    ])
    assert sentence.startswith("Thread 3 drives out 61% of the lines of thread 1 that leave the last level")
    assert rows[0] == ["thread 1", "9.4%", "100", "100", "63", "52", "thread 3, 61%"]
    assert len(rows) == 3
