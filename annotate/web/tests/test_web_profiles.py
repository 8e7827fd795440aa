# SPDX-License-Identifier: GPL-2.0-or-later
"""Several profiles, or parts of one."""

from web_pages import LATER


def test_a_range_of_parts(browse, reports):
    """With an axis; the numbers are those of the range, and lists can be sorted by spread."""
    numbers = "Array.from(document.querySelectorAll('.strips tbody tr'), (row) => [row.dataset.function, " \
              "...Array.from(row.querySelectorAll('[data-exact]'), (e) => Number(e.dataset.exact))])"
    sort = "((select) => { select.value = 'spread'; select.dispatchEvent(new Event('change')); })" \
           "(document.querySelectorAll('select')[3])"
    axis, part, names = browse(reports / "parts.html", [
        {"fragment": "#profiles", "axe": True, "read": "document.querySelector('.axis').innerText.split('\\n')"},
        {"fragment": "#profiles?from=1&to=2", "read": f"[{numbers}, document.querySelector('h2').innerText]"},
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
