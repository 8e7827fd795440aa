# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary: what to look at first, repairs, curves, and one meaning of "never used"."""

import shutil
from urllib.parse import quote

from web_pages import ANNOTATE, LATER, PROFILES, annotate, apart, json_of, tree_of


def test_the_summary_has_the_totals(browse, reports):
    (found,) = browse(reports / "plain.html", [{
        "fragment": "#summary",
        "read": "Object.fromEntries(Array.from(document.querySelectorAll('[data-metric]'), "
                "(e) => [e.dataset.metric, Number(e.dataset.exact)]))",
    }])
    data = json_of(PROFILES / "helper.out")
    totals = dict(zip(data["events"], data["totals"]))
    assert found["SpLoss1"] == totals["SpLoss1"]
    assert found["Loaded1"] == totals["SpLoss1"] + totals["UsByte1"]
    assert found["Ir"] == totals["Ir"]


def test_repairs_lead_the_page(browse, reports):
    """With the numbers of the JSON; the place leads to the source."""
    path = reports / "product" / "p.out"
    (first, *_) = json_of(path)["repairs"]
    saves = first["saves"]["L1 misses"]
    found, source = browse(reports / "product.html", [
        {"fragment": "#summary", "read": """[
            document.querySelector('.summary > section').dataset.remedies,
            ...['before', 'after'].map((side) =>
                Number(document.querySelector(`[data-${side}="L1 misses"]`).dataset.exact)),
            document.querySelector('.repairs h3').innerText.split('\\n')[0],
            document.querySelector('.sketch').innerText]"""},
        {"keys": [], "read": "(document.querySelectorAll('.repairs .detail a')[1].click(), "
                             f"{LATER % 'location.hash'})"},
    ])
    assert found[:3] == [first["remedy"], saves["before"], saves["after"]]
    assert found[3].startswith("Exchange the loops at prog.c:32 and :33")
    assert found[4] == "\n".join(first["code"])
    assert source.startswith("#source?") and "line=32" in source
    (nothing,) = browse(reports / "stream.html", [{
        "fragment": "#summary", "read": "document.querySelector('.summary > section h2').innerText",
    }])
    assert nothing.startswith("Other loops or layouts gain nothing: misses out of order cost ")


def test_curves_have_the_numbers_of_the_json(browse, reports):
    """In the picture the knees, in the table the misses; arrow keys read it."""
    path = reports / "product" / "p.out"
    truth = json_of("--curve", path)["curve"]
    other_name = next(f["name"] for f in json_of(path)["functions"] if f["name"] != "work")
    table = "Array.from(document.querySelector('.numbers').querySelectorAll('tr[data-size]'), (row) => " \
            "[Number(row.dataset.size), Number(row.querySelector('[data-exact]').dataset.exact)])"
    knees = "Array.from(document.querySelector('.curve svg').querySelectorAll('[data-knee]'), (e) => e.dataset.knee)"
    sizes, marks, before, after, other = browse(reports / "product.html", [
        {"fragment": "#summary", "read": table}, {"read": knees},
        {"read": "(document.querySelector('.curve-box').focus(), document.querySelector('.readout').innerText)"},
        {"keys": ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"],
         "read": "document.querySelector('.readout').innerText"},
        {"fragment": f"#summary?fn={quote(other_name)}", "read": "document.querySelectorAll('.curve')[1].innerText"},
    ])
    expected = {point["size"]: point["misses"] for point in truth["points"]}
    assert sizes == [[size, expected[size]] for size, _ in sizes] and len(sizes) > 2
    assert marks == [f"{knee['before']['size']} {knee['after']['size']}" for knee in truth["knees"]] != []
    assert before.startswith("2 KiB: ") and after.startswith("4 KiB: ")
    assert "too few misses for a curve" in other


METRICS = "Object.fromEntries(Array.from(document.querySelectorAll('[data-metric]'), " \
          "(e) => [e.dataset.metric, Number(e.dataset.exact)]))"


def test_never_used_means_the_same_on_all_of_the_page(browse, tmp_path):
    """Of data, where it is known apart from code: headline, cards, tables and colours."""
    page, totals = apart(tmp_path)
    head, cards, columns, colours = browse(page, [
        {"fragment": "#summary", "read": "document.querySelector('.headline').innerText"}, {"read": METRICS},
        {"fragment": "#tables?table=flat",
         "read": "Array.from(document.querySelector('.row[data-function]').querySelectorAll('[data-column]'), "
                 "(e) => e.dataset.column)"},
        {"fragment": "#treemap?metric=SpLossD1", "read": "document.querySelector('.legend').title"},
    ])
    loaded = totals["SpLossD1"] + totals["UsByteD1"]
    assert cards["LoadedD1"] == loaded and cards["SpLossD1"] == totals["SpLossD1"] and "SpLoss1" not in cards
    assert f"{100 * totals['SpLossD1'] / loaded:.1f}% of the {loaded / 1000:.1f} kB of data loaded" in head
    assert "Look first at L1: " in head, "as the text report says it"
    assert {"SpLossD1:self", "UnusedD1:self"} <= set(columns) and "SpLoss1:self" not in columns
    assert "of data" in colours


def test_where_code_misses_lists_are_of_code(browse, tmp_path):
    page, totals = apart(tmp_path, code=1000, data=10)
    head, cards, columns, ranked = browse(page, [
        {"fragment": "#summary", "read": "document.querySelector('.headline').innerText"}, {"read": METRICS},
        {"fragment": "#tables?table=flat",
         "read": "Array.from(document.querySelector('.row[data-function]').querySelectorAll('[data-column]'), "
                 "(e) => e.dataset.column)"},
        {"fragment": "#treemap", "read": "[document.querySelector('select').value, "
                                         "document.querySelector('.legend').title]"},
    ])
    lost = totals["SpLoss1"] - totals["SpLossD1"]
    assert cards["SpLossI1"] == lost and cards["I1mr"] == totals["I1mr"]
    assert "Look first at code: " in head and "of code loaded" in head
    assert columns == ["I1mr:self", "SpLossI1:self", "UnusedI1:self", "ILmr:self", "Ir:self", "I1rate:self"]
    assert ranked[0] == "I1mr" and "of code" in ranked[1]


def test_where_misses_cost_little_the_page_says_so(browse, tmp_path):
    """And names no place to change; lists are of instructions."""
    page, _ = apart(tmp_path, code=1, data=2)
    head, cards, closed, ranked, listed = browse(page, [
        {"fragment": "#summary", "read": "document.querySelector('.headline').innerText"},
        {"read": "document.querySelectorAll('[data-cards]').length"},
        {"read": "document.querySelector('.anyway').open"},
        {"fragment": "#treemap", "read": "document.querySelector('select').value"},
        {"fragment": "#summary", "read": "Array.from(document.querySelectorAll('table.top:not(.anyway *) tbody tr'), "
                                         "(row) => [row.dataset.function, "
                                         "Number(row.querySelector('[data-exact]').dataset.exact)])"},
    ])
    assert listed == [["main", 10_000], ["work", 500]], "what to look at stands there, without a click"
    assert head.startswith("Look first at instructions: misses cost little here")
    assert (cards, closed, ranked) == (0, False, "Ir")


def test_the_summary_has_the_answer_of_the_text_report(browse, reports, tmp_path):
    """What to look at first, the place to change with the text of its line and its data, and the costliest lines."""
    sources = ANNOTATE / "tests" / "sources"
    name = sorted(path.name for path in sources.glob("*.c"))[0]
    lines = (sources / name).read_text().split("\n")
    line = next(number for number, text in enumerate(lines, 1) if len(text.strip()) > 12)
    page, _ = apart(tmp_path)
    profile = tmp_path / "apart.out"
    profile.write_text(profile.read_text().replace("fl=a.c", f"fl={name}").replace("\n1 10000", f"\n{line} 10000"))
    annotate(f"--html={page}", "-I", sources, profile)
    head, card, text, hot = browse(page, [
        {"fragment": "#summary", "read": "document.querySelector('[data-first] strong').innerText"},
        {"read": "document.querySelector('[data-card]').innerText"},
        {"read": "document.querySelector('[data-card] code').innerText"},
        {"read": "Array.from(document.querySelectorAll('table.lines tbody tr'), (row) => [row.dataset.line, "
                 "Number(row.querySelector('[data-exact]').dataset.exact), row.querySelector('code').innerText])"},
    ])
    terminal = annotate("--width=200", "-I", sources, profile)
    (first,) = [row for row in terminal.splitlines() if row.startswith("First")]
    assert first.split(None, 1)[1] == head
    assert f"{name}:{line}" in card and "saves at most" in card
    assert text == lines[line - 1].strip()
    assert hot[0] == [f"{name}:{line}", 30_000, lines[line - 1].strip()]


def test_parts_of_a_bar_can_be_told_apart(browse, tmp_path):
    page, _ = apart(tmp_path)
    colours = "['code-part', 'last-part', 'unused', 'used'].map((name) => " \
              "getComputedStyle(document.querySelector(`.key .${name}`)).backgroundColor.match(/[0-9]+/g).map(Number))"
    for scheme in ("light", "dark"):
        (found,) = browse(page, [{"fragment": "#summary", "read": colours}], scheme=scheme)
        for at, one in enumerate(found):
            for other in found[:at]:
                assert sum(abs(a - b) for a, b in zip(one, other)) > 60, (scheme, found)


def test_times_are_no_counts(browse, reports):
    """What is ranked by time is told in seconds, and not by the number of its picoseconds."""
    cells = "(document.querySelector('.anyway').open = true, " \
            "Array.from(document.querySelectorAll('table.lines [data-exact]'), (e) => e.innerText.trim()))"
    lines, _ = browse(reports / "stream.html", [
        {"fragment": "#summary", "read": cells},
        {"fragment": "#graph?metric=Time", "axe": True, "read": "document.querySelector('.centre').innerText"},
    ])
    assert lines and all(text.endswith((" ns", " µs")) for text in lines)


def test_lists_are_by_what_misses_cost(browse, reports):
    """As in the text report, where a run tells that; what is not known of paths says so."""
    heads = "Array.from(document.querySelectorAll('.head .cell.n'), (e) => e.innerText.trim().split(/\\s+/).join(' '))"
    picked = "document.querySelector('main select').value"
    flat, top, treemap, source, graph = browse(reports / "product.html", [
        {"fragment": "#tables?table=flat", "read": heads},
        {"fragment": "#summary", "read": "document.querySelector('section table.top:not(.lines)')"
                                         ".closest('section').querySelector('h2 small').innerText"},
        {"fragment": "#treemap", "read": f"[{picked}, document.querySelector('.legend').title]"},
        {"fragment": "#source", "axe": True, "read": picked}, {"fragment": "#graph", "read": picked},
    ])
    assert flat[0].startswith("▼ wait") or flat[0].startswith("wait"), flat
    assert top.startswith("cycles") or "wait" in top.lower() or "misses" in top.lower()
    assert treemap[0] == source == graph and source.startswith("Wait") and "never used" in treemap[1]


def test_paths_begin_with_misses_where_lists_begin_with_their_cost(browse, reports, tmp_path):
    for path in (reports / "product").iterdir():
        shutil.copy(path, tmp_path)
    tree_of(tmp_path / "p.out", tmp_path / "contexts.p.out")
    annotate(f"--html={tmp_path}/x.html", tmp_path / "p.out")
    columns = "Array.from(document.querySelector('.row[data-function]').querySelectorAll('[data-column]'), " \
              "(e) => e.dataset.column)"
    icicle, paths, flat, said = browse(tmp_path / "x.html", [
        {"fragment": "#icicle", "read": "document.querySelector('main select').value"},
        {"fragment": "#tables", "read": columns}, {"fragment": "#tables?table=flat", "read": columns},
        {"fragment": "#tables?table=callers", "read": "document.querySelector('.tables > .note').innerText"},
    ])
    assert icicle == "D1m" and paths[0].startswith("D1m:")
    assert flat[0].startswith("Wait") and not any(name.startswith("Wait") for name in paths)
    assert said.endswith("not for paths: see Flat.")
