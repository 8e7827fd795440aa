# SPDX-License-Identifier: GPL-2.0-or-later
"""The view Ranks: what each rank of a job costs against the mean of all."""

import statistics

import pytest
from job_profiles import write_job
from test_ranks import job
from web_pages import LATER, WORKS, annotate, json_of

ROWS = "Object.fromEntries(Array.from(document.querySelectorAll('[data-strip]'), (row) => [row.dataset.strip, " \
       "Array.from(row.querySelectorAll('[data-exact]'), (cell) => Number(cell.dataset.exact))]))"
NAMES = "Array.from(document.querySelectorAll('[data-strip]'), (row) => row.dataset.strip)"
READOUT = "document.querySelector('.readout').innerText"
NUMBERS = "Array.from(document.querySelectorAll('.numbers [data-rank]'), (row) => [row.dataset.rank, " \
          "Number(row.querySelector('[data-exact]').dataset.exact)])"
REGION = "document.querySelector('[role=region]').focus()"


def colours(strip):
    """Of the cells' left edges; more or less red than blue."""
    return f"""(() => {{
        const canvas = document.querySelector('[data-strip="{strip}"] canvas');
        const {{ data }} = canvas.getContext("2d").getImageData(0, 9, canvas.width, 1);
        return Array.from({{ length: {len(WORKS)} }}, (_, cell) => {{
            const at = 4 * (Math.floor(cell * canvas.width / {len(WORKS)}) + 1);
            return data[at] - data[at + 2];
        }});
    }})()"""


def picked(label, number):
    return f"((select) => {{ select.value = '{number}'; select.dispatchEvent(new Event('change')); }})" \
           f"(Array.from(document.querySelectorAll('.picker'), (one) => one.innerText.startsWith('{label}') " \
           "&& one.querySelector('select')).find(Boolean))"


def test_strips_have_the_numbers_of_the_profiles(browse, reports):
    """Of the whole program, and of functions."""
    found, tabs, told = browse(reports / "job.html", [
        {"fragment": "#ranks?metric=D1m", "axe": True, "read": ROWS},
        {"read": "document.querySelector('nav').innerText"},
        {"fragment": "#summary", "read": "document.querySelector('[data-ranks]').innerText"},
    ])
    assert "Ranks" in tabs
    assert found["solve"] == [min(WORKS), max(WORKS)]
    assert found["D1 misses"] == [min(WORKS) + 10, max(WORKS) + 10]
    mean = statistics.mean(8 * work for work in WORKS) + 320
    above = 100 * ((8 * max(WORKS) + 320) / mean - 1)
    assert f"Of 5 ranks, 4 on node2 has most of never used: {above:.1f}% more than the mean of all." in told


def test_colours_tell_who_has_more_than_the_mean(browse, reports):
    own, whole = browse(reports / "job.html", [
        {"fragment": "#ranks", "read": colours("solve")}, {"read": colours("D1 misses")},
    ], scheme="dark")
    assert [value > 0 for value in own] == [value > 0 for value in whole] == [False, False, False, True, True]
    assert own[0] == own[2] and min(own) < -20 and max(own) > 20


def test_groups_are_those_of_the_text(browse, reports):
    groups = json_of("--ranks", reports / "job" / "all")["ranks"]["groups"]
    alike, listed = browse(reports / "job.html", [
        {"fragment": "#ranks", "read": "document.querySelector('.says').innerText"},
        {"read": "Array.from(document.querySelectorAll('.groups li'), (one) => one.innerText)"},
    ])
    assert alike == "2 groups that behave alike (within 5% by cycle est.):"
    assert [int(one.split(" ")[0]) for one in listed] == [len(group["ranks"]) for group in groups]
    assert listed[0].startswith("3 (0-2): solve") and listed[1].startswith("2 (3,4): solve")


def test_ranks_are_read_and_ordered(browse, reports):
    first, _, moved, pointed, _, before, _, by_cost, _, by_group = browse(reports / "job.html", [
        {"fragment": "#ranks?metric=D1m&fn=solve", "read": READOUT},
        {"read": REGION},
        {"keys": ["End", "ArrowLeft", "ArrowDown", "ArrowUp"], "axe": True, "read": READOUT},
        {"mouse": ["move", "[data-strip=solve] canvas", 4, 9], "read": READOUT},
        {"read": "document.querySelector('.numbers summary').click()"}, {"read": LATER % NUMBERS, "axe": True},
        {"read": picked("Order", 3)}, {"read": LATER % NUMBERS},
        {"read": picked("Order", 2)}, {"read": LATER % NUMBERS},
    ])
    mean = statistics.mean(WORKS)
    assert first.startswith("rank 0 (node0): ") and moved.startswith("rank 3 (node1): ")
    assert pointed == f"rank 0 (node0): solve 1,000, {100 * (1 - 1000 / mean):.1f}% below the mean of {mean:,.0f}"
    assert before == [[str(rank), work] for rank, work in enumerate(WORKS)]
    assert by_cost == sorted(before, key=lambda row: (-row[1], row[0]))
    assert by_group == before


@pytest.mark.parametrize("sort, by", [
    (0, lambda one: one["most"] - one["mean"]), (1, lambda one: one["mean"]), (2, lambda one: one["deviation"]),
])
def test_functions_are_sorted(browse, tmp_path, sort, by):
    merged = str(tmp_path / "all")
    annotate("--merge", "-o", merged, *write_job(tmp_path, range(6)))
    annotate(f"--html={tmp_path}/x.html", merged)
    found = json_of("--ranks", merged)["ranks"]["followed"]
    count = found["counts"].index("CEst")
    values = {one["name"]: [row[count] for row in one["by_rank"]] for one in found["functions"]}
    stated = {
        name: {"mean": statistics.mean(row), "most": max(row), "deviation": statistics.pstdev(row)}
        for name, row in values.items()
    }
    _, names = browse(tmp_path / "x.html", [
        {"fragment": "#ranks?metric=CEst", "read": picked("Sort", sort)}, {"read": LATER % NAMES},
    ], width=400)
    assert len(stated) > 3
    assert [name for name in names if name in stated] == sorted(stated, key=lambda name: -by(stated[name]))


def test_more_ranks_than_pixels(browse, tmp_path):
    """A cell of several ranks shows the one farthest from the mean; the table has the first 200."""
    works = [1000] * 1500
    works[1234] = 9000
    said, listed, cells = browse(page_of(tmp_path, works), [
        {"fragment": "#ranks?metric=D1m", "read": "document.querySelector('.note').innerText"},
        {"read": "Array.from(document.querySelectorAll('[data-strip=solve] [data-exact]'), (e) => e.dataset.exact)"},
        {"mouse": ["move", "[data-strip=solve] canvas", 1234 * 640 // 1500 + 0.5, 9], "read": READOUT},
    ])
    assert "of several ranks has the colour of the one farthest from it" in said
    assert listed == ["1000", "9000"]
    assert cells.startswith("rank 1234") and "farthest from the mean of the" in cells


def test_names_are_data(browse, tmp_path):
    """Of ranks' hosts and of functions."""
    name = "<img src=x onerror=alert(1)>"
    page = page_of(tmp_path, [10, 2000, 10], host=name)
    (told, images) = browse(page, [
        {"fragment": "#ranks", "axe": True, "read": READOUT}, {"read": "document.querySelectorAll('img').length"},
    ])
    assert name.replace(" ", "_") in told and images == 0


def test_a_report_of_no_merge_has_no_such_view(browse, reports):
    tabs, empty = browse(reports / "plain.html", [
        {"read": "document.querySelector('nav').innerText"},
        {"fragment": "#ranks", "read": "document.querySelector('main').innerText"},
    ])
    assert "Ranks" not in tabs and "--merge" in empty


def page_of(folder, works, host="node0"):
    merged = job(folder, works, host)
    annotate(f"--html={folder}/x.html", merged)
    return folder / "x.html"
