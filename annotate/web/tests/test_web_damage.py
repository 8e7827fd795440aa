# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that were cut off or damaged on their way, or are of another version."""

import pytest

from bdannotate.cli import main
from bdannotate.html import schema
from web_pages import PROFILES


def test_a_page_that_is_cut_off_or_damaged(browse, reports, tmp_path):
    """What has come is shown, and it is said that it is not all."""
    whole = (reports / "tree.html").read_text()
    name = "table-arcs-3"
    start = f'<script type="application/octet-stream" id="{name}">'
    assert start in whole
    (tmp_path / "cut.html").write_text(whole[: whole.index(start)])
    (tmp_path / "damaged.html").write_text(whole.replace(start, f"{start}====", 1))
    steps = [{
        "fragment": "#summary", "axe": True,
        "read": "[document.querySelector('.failure').innerText, document.querySelector('.headline') !== null]",
    }, {  # not all of what it needs is there
        "fragment": "#graph", "read": "document.querySelector('main').dataset.view",
    }]
    for page, problem in (
        ("cut", f"the page is cut off: it has no {name}"),
        ("damaged", f"the page is cut off or damaged: its {name} cannot be unpacked"),
    ):
        assert browse(tmp_path / f"{page}.html", steps) == [
            [f"Not all of the report can be shown: {problem}.", True], "graph",
        ]


@pytest.mark.parametrize("report, missing, gone, stays", [
    ("tree", "table-arcs-3", {
        "tables": "the calls", "graph": "the calls", "source": "the lines",
    }, ["icicle", "treemap"]),
    ("data", "table-data-0", {"data": "the data objects"}, ["tables", "graph", "source"]),
])
def test_views_of_what_is_not_there_say_so(browse, reports, tmp_path, report, missing, gone, stays):
    """None of them is read for ever. What stands behind is gone, too, if the page was cut off, but not if it is
    damaged."""
    whole = (reports / f"{report}.html").read_text()
    start = f'<script type="application/octet-stream" id="{missing}">'
    (tmp_path / "cut.html").write_text(whole[: whole.index(start)])
    (tmp_path / "damaged.html").write_text(whole.replace(start, f"{start}====", 1))
    said = "document.querySelector('main').innerText"
    steps = [{"fragment": f"#{view}", "read": said} for view in (*gone, *stays)]
    found = dict(zip((*gone, *stays), browse(tmp_path / "cut.html", steps)))
    for view, what in gone.items():
        assert f"The report is incomplete or damaged: {what} cannot be shown." in found[view], view
    damaged = dict(zip((*gone, *stays), browse(tmp_path / "damaged.html", steps)))
    assert all("incomplete or damaged" not in damaged[view] for view in stays)
    assert not any("Reading" in text for text in (*found.values(), *damaged.values()))


@pytest.mark.parametrize(("page", "data", "view", "place", "expected"), [
    ("tree", "table-tree-0", "#icicle", "main",
     "The report is incomplete or damaged: the calling contexts cannot be shown."),
    ("source", "sources", "#source", "main .note", "No text: the report is incomplete or damaged."),
])
def test_what_is_not_there_is_not_waited_for(browse, reports, tmp_path, page, data, view, place, expected):
    whole = (reports / f"{page}.html").read_text()
    start = f'<script type="application/octet-stream" id="{data}">'
    assert start in whole
    (tmp_path / "damaged.html").write_text(whole.replace(start, f"{start}====", 1))
    said = f"document.querySelector('{place}').innerText"
    assert browse(tmp_path / "damaged.html", [{"fragment": view, "read": said}]) == [expected]


@pytest.mark.parametrize("end, said", [
    ("<script type=\"application/octet-stream\" id=\"facts\">",
     "The report cannot be shown: the page is cut off: it has no facts."),
    ("</script>", "If this stays, JavaScript is switched off, or the file is incomplete or damaged."),
])
def test_a_page_with_too_little_to_be_opened(browse, reports, tmp_path, end, said):
    """It is cut off before the data, or within its script."""
    whole = (reports / "plain.html").read_text()
    (tmp_path / "cut.html").write_text(whole[: whole.index(end)])
    shown = "new Promise((done) => setTimeout(() => done(document.getElementById('root').innerText), 500))"
    (text,) = browse(tmp_path / "cut.html", [{"read": shown}], opens=False)
    assert text.endswith(said)


def test_data_of_another_version_is_refused(browse, tmp_path, monkeypatch):
    """As when a page and its writer are of different releases."""
    reads = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", 1)
    assert main([f"--html={tmp_path}/x.html", str(PROFILES / "helper.out")]) == 0
    shown = "new Promise((done) => setTimeout(() => done(document.getElementById('root').innerText), 500))"
    (text,) = browse(tmp_path / "x.html", [{"read": shown}], opens=False)
    assert text.startswith(f"The report cannot be shown: its data has version 1, and the page reads {reads}: ")
