# SPDX-License-Identifier: GPL-2.0-or-later
"""Several profiles, or parts of one."""

import pytest

from test_html_ranges import three
from web_pages import CELLS, EXACT_ROWS, LATER, annotate


def test_a_range_of_parts(browse, reports):
    """With an axis; the numbers are those of the range, and lists can be sorted by spread."""
    numbers = "Array.from(document.querySelectorAll('.strips tbody tr'), (row) => [row.dataset.function, " \
              "...Array.from(row.querySelectorAll('[data-exact]'), (e) => Number(e.dataset.exact))])"
    sort = "((select) => { select.value = 'spread'; select.dispatchEvent(new Event('change')); })" \
           "(document.querySelectorAll('select')[3])"
    axis, part, names = browse(reports / "parts.html", [
        {"fragment": "#profiles", "axe": True, "read": "document.querySelector('.axis').innerText.split('\\n')"},
        {"fragment": "#profiles?from=1&to=2", "read": f"[{numbers}, document.querySelector('main h2').innerText]"},
        {"read": "Array.from(document.querySelectorAll('[data-member]'), (e) => e.dataset.member)"},
    ])
    assert axis[0] == "200" and axis[-1] == "0"
    assert part[0] == [["everything", 25, 100]]
    assert "part 1, thread 2 to part 2, thread 1 have 125, 37.3% of all" in part[1]
    assert names == ["part 1, thread 1", "part 1, thread 2", "part 2, thread 1", "part 2, thread 2"]
    before, after = browse(reports / "ranks.html", [
        {"fragment": "#profiles", "read": numbers}, {"read": f"({sort}, {LATER % numbers})"},
    ])
    spreads = [(high - low) for name, low, high in after[1:]]
    assert spreads[0] == max(high - low for name, low, high in before[1:]) and sorted(before) == sorted(after)


@pytest.mark.parametrize("width", [1280, 400])
def test_names_of_many_profiles_stay_below_the_chart(browse, tmp_path, width):
    """Whatever their length; where there is too little room, they give way in the middle."""
    names = [f"profile-of-a-program-with-a-long-name.out.{at}" for at in range(13)]
    for at, name in enumerate(names):
        (tmp_path / name).write_text(f"events: Ir\nfl=a.c\nfn=main\n1 {40_000 + 7 * at}\n")
    annotate(f"--html={tmp_path}/x.html", *(tmp_path / name for name in names))
    ((right, most), shown) = browse(tmp_path / "x.html", [
        {"fragment": "#profiles", "read": "[Math.max(...Array.from(document.querySelectorAll('.names :not(.copied)'), "
                                          "(e) => e.getBoundingClientRect().right)), innerWidth]"},
        {"read": "Array.from(document.querySelectorAll('.names > span > span'), (e) => e.textContent)"},
    ], width=width)
    assert right <= most and shown[0] == names[0] and len(shown) <= 8


@pytest.mark.parametrize("first, last", [(1, 1), (0, 1), (1, 2)])
def test_a_range_weighs_all_views(browse, tmp_path, first, last):
    """Its numbers are those of a page of these profiles alone."""
    paths = three(tmp_path)
    annotate(f"--html={tmp_path}/all.html", *paths)
    annotate(f"--html={tmp_path}/some.html", *paths[first:last + 1])
    totals = "Object.fromEntries(Array.from(document.querySelectorAll('[data-metric]'), " \
             "(e) => [e.dataset.metric, Number(e.dataset.exact)]))"
    boxes = "Array.from(document.querySelectorAll('.side .box'), (e) => [e.dataset.function, Number(e.dataset.exact)])"
    lines = "Array.from(document.querySelectorAll('.line[data-line] .heat'), " \
            "(e) => [e.parentElement.dataset.line, Number(e.dataset.exact)]).filter(([, cost]) => cost)"
    asked = [
        ("tables?table=flat&cols=Ir:self,SpLoss1:incl", EXACT_ROWS), ("tables?cols=Ir:incl,SpLoss1:self", EXACT_ROWS),
        ("tables?table=callers&cols=Ir:incl", EXACT_ROWS), ("graph?fn=main&metric=Ir", boxes),
        ("source?file=a.c&metric=Ir", lines), ("icicle?metric=Ir", CELLS), ("treemap?metric=Ir", CELLS),
        ("summary", totals),
    ]

    def steps(more):
        return [{"fragment": f"#{link}{'&' if '?' in link else '?'}{more}", "read": read} for link, read in asked]

    note = "document.querySelector('.range-note')?.innerText ?? ''"
    *found, told, gone = browse(tmp_path / "all.html", [
        *steps(f"from={first}&to={last}"), {"fragment": f"#graph?from={first}&to={last}", "axe": True, "read": note},
        {"read": f"(document.querySelector('.range-note button').click(), {LATER % f'{note} + location.hash'})"},
    ])
    alone = browse(tmp_path / "some.html", steps(""))

    def costs(rows):
        return [row for row in rows if not isinstance(row[1], dict) or any(row[1].values())]

    for (link, _), one, other in zip(asked, found, alone):
        if isinstance(one, list):
            one, other = costs(one), [row for row in costs(other) if row[1] != 0]
            one = [row for row in one if row[1] != 0]
        assert one == other, link
    names = ["part.1.out", "part.2.out: part 2", "part.3.out: part 3"]
    assert told.startswith(names[first] if first == last else f"{names[first]} to {names[last]}")
    assert gone == "#graph"
