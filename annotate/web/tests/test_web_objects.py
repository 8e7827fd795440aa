# SPDX-License-Identifier: GPL-2.0-or-later
"""The view Data: groups of objects, their bytes and fields, and who loads them."""

from urllib.parse import quote

import pytest
from web_pages import EXACT, HEAP_ROW, ITEM, json_of


def test_data_has_the_numbers_of_the_json(browse, reports):
    """Its table in any order, who loaded each, each byte of an element, and what a line of code loads."""
    objects = json_of("--objects", reports / "data.out")["objects"]
    rows = f"""Array.from(document.querySelectorAll("[data-group]"),
        (row) => [Number(row.dataset.group), row.querySelector("a").innerText, {EXACT}])"""
    loaders = f"""Array.from(document.querySelectorAll("[data-loader]"),
        (row) => [Number(row.dataset.loader), {EXACT}])"""
    table, upwards, filtered, who, others, details, layout, source = browse(reports / "data.html", [
        {"fragment": "#data", "read": rows},
        {"fragment": "#data?sort=Unused1%3Aself&up=1", "read": rows},
        {"fragment": "#data?q=heap", "read": rows},
        {"fragment": f"#data?object={HEAP_ROW}", "read": loaders},
        {"fragment": f"#data?object={quote('variable </script><b>table')}", "read": loaders},
        {"fragment": f"#data?object={HEAP_ROW}", "read": "document.querySelector('.details').innerText"},
        {"read": "Array.from(document.querySelectorAll('.byte'), "
                 "(byte) => [Number(byte.dataset.loaded), Number(byte.dataset.used)])"},
        {"fragment": "#source?line=7&metric=SpLoss1",
         "read": "Array.from(document.querySelectorAll('.loaded-data span'), "
                 "(one) => [Number(one.dataset.group), Number(one.dataset.exact)])"},
    ])

    def columns(costs):
        count = dict(zip(objects["events"], costs))
        loaded = count["SpLoss1"] + count["UsByte1"]
        return {
            "Loaded1:self": loaded, "SpLoss1:self": count["SpLoss1"], "Unused1:self": count["SpLoss1"] / loaded,
            "AccLine1:self": count["Access1"] / count["EvLine1"], "LLm:self": count["DLmr"] + count["DLmw"],
        }

    expected = [[number, group["label"], columns(group["self"])] for number, group in enumerate(objects["groups"])]
    assert [label for _, label, _ in expected] == ["heap prog.c:22, make", "variable </script><b>table"]
    assert (table, upwards, filtered) == (expected[::-1], expected[::-1], expected[:1])
    of = [
        [[at, columns(row["self"])] for at, row in enumerate(objects["rows"]) if row["group"] == group]
        for group in (0, 1)
    ]
    assert (who, others) == (of[0], of[1][::-1]), "by what was never used"
    blocks = "3 blocks of 24 bytes: 72 B in all, at most 72 B alive at once, 1 freed"
    for text in (blocks, "prog.c:22 make", "prog.c:5 main", "by malloc"):
        assert text in details
    assert layout == [[10, 10]] * 8 + [[12, 3]] + [[12, 1]] * 3 + [[12, 0]] * 4 + [[10, 0]] * 8
    assert source == [[0, 480], [1, 32]]


def test_data_has_the_fields_and_who_uses_them(browse, reports):
    fields, uses, told, byte = browse(reports / "typed.html", [
        {"fragment": f"#data?object={HEAP_ROW}",
         "read": "Array.from(document.querySelectorAll('[data-field]'), (row) => [row.dataset.field, "
                 "Number(row.dataset.loaded), Number(row.dataset.used), row.lastElementChild.innerText])"},
        {"read": "Array.from(document.querySelectorAll('[data-use]'), (row) => [Number(row.dataset.use), "
                 "row.children[0].innerText, row.children[2].innerText])"},
        {"read": "document.querySelector('.details').innerText"},
        {"read": "document.querySelectorAll('.byte title')[5].textContent"},
    ])
    assert fields == [["0 key</b>", 45, 45, "1"], ["4 name[8]", 45, 1, "2"], ["12 (padding)", 45, 0, ""]]
    assert uses == [[11, "prog.c:7 main", "key</b>"], [1, "prog.c:23 make", "key</b>, name[8]"]]
    assert f"{ITEM}, 16 bytes as --object-type=heap=item says" in told
    assert "Used together: key</b> (4 bytes); name[8] (8 bytes), 2.2% as often." in told
    assert byte.startswith("byte 5 of name[8]: used in ")


LETTERS = """Array.from(document.querySelectorAll('[data-letter]'),
    ({dataset}) => [dataset.letter, Number(dataset.first), Number(dataset.last)])"""
USERS = "Array.from(document.querySelectorAll('[data-user]'), (one) => one.innerText.replace(/\\s+/g, ' '))"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_picture_says_which_threads_use_which_bytes(browse, reports, width, scheme):
    """Rows of 64 bytes, or of 16: letters are where the JSON has these bytes."""
    data = json_of("--object=table", "--objects", reports / "users" / "p.out")["objects"]
    (expected,) = [group["layout"]["users"] for group in data["groups"] if group["layout"]]
    letters, users, tips, dashed, title = browse(reports / "users.html", [
        {"fragment": "#data?object=variable%20table", "axe": True, "read": LETTERS},
        {"read": USERS},
        {"read": "Array.from(document.querySelectorAll('.byte title'), (one) => one.textContent)"},
        {"read": "document.querySelectorAll('.user.only-read').length"},
        {"read": "document.querySelector('.users').previousElementSibling.previousElementSibling.innerText"},
    ], width=width, scheme=scheme)
    assert letters == [["a", 0, 3], ["b", 12, 15], ["c", 20, 20]]
    assert [[*range(first, last + 1)] for _, first, last in letters] == [one["bytes"] for one in expected]
    assert users == ["a bytes 0 to 3: written by thread 2, read by thread 3",
                     "b bytes 12 to 15: written by threads 2-3", "c byte 20: read by threads 2, 6"]
    assert [at for at, tip in enumerate(tips) if tip.endswith("; written by threads 2-3")] == [12, 13, 14, 15]
    assert (dashed, title) == (1, "Which thread uses which byte, in lines that threads take from each other")


def test_fields_have_the_threads_that_use_them(browse, reports):
    letters, users, fields, without = browse(reports / "typed_users.html", [
        {"fragment": f"#data?object={HEAP_ROW}", "axe": True, "read": LETTERS},
        {"read": USERS},
        {"read": "Array.from(document.querySelectorAll('[data-field]'), (row) => row.lastElementChild.innerText)"},
        {"fragment": "#data?object=variable%20table", "read": USERS},
    ])
    assert letters == [["a", 0, 3], ["b", 4, 11]]
    assert users == ["a bytes 0 to 3, key</b>: written by threads 2-3",
                     "b bytes 4 to 11, name[8]: written by thread 3"]
    assert fields == ["written by threads 2-3", "written by thread 3", ""]
    assert without == []


def test_without_sharing_pictures_have_no_letters(browse, reports):
    letters, heads = browse(reports / "typed.html", [
        {"fragment": f"#data?object={HEAP_ROW}", "read": LETTERS},
        {"read": "document.querySelector('.fields thead').innerText"},
    ])
    assert letters == [] and "used by" not in heads


def test_a_comparison_has_the_data_that_changed(browse, reports):
    cells = '''Array.from(row.querySelectorAll("[data-column]"), (cell) =>
        [cell.dataset.column, Number(cell.dataset.exact), cell.querySelector(".change").title])'''
    rows = f'''Array.from(document.querySelectorAll("[data-group]"), (row) =>
        [row.querySelector(".name").innerText.replace(/\\s+/g, " "),
         ...({cells}).filter(([column]) => column === "SpLoss1:self")])'''
    listed, gone, after = browse(reports / "data-diff.html", [
        {"fragment": "#data", "read": rows},
        {"fragment": "#data?q=22", "read": "document.querySelector('.details').innerText"},
        {"fragment": "#data?q=30", "read": "document.querySelectorAll('[data-loader] .change').length"},
    ])
    assert listed == [
        ["heap prog.c:30, make new", ["SpLoss1:self", 480, "480"]], ["variable table", ["SpLoss1:self", 96, "64"]],
        ["(unknown)", ["SpLoss1:self", 10, ""]], ["heap prog.c:22, make gone", ["SpLoss1:self", 0, "\u2212480"]],
    ]
    assert "It is gone: this is what it was before." in gone and "Loaded by" not in gone
    assert after == 0, "who loaded it before is not told"
