# SPDX-License-Identifier: GPL-2.0-or-later
"""The web report from its sources to the screen: types, unit tests, the built file bit by bit, and each view in a
browser, with the numbers that bd_annotate prints. Needs node and npm's packages, the views also Chromium."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from urllib.parse import quote, quote_plus

import pytest

WEB = pathlib.Path(__file__).resolve().parent.parent
ANNOTATE = WEB.parent
PROFILES = ANNOTATE / "tests" / "profiles"
BUILT = ANNOTATE / "bdannotate" / "html" / "report.html"
BUILD = os.environ.get("BDGRIND_BUILD")
SECONDS = 300
ITEM = "item</script><b>"
HEAP_ROW = quote("heap prog.c:22, make")
VIEWS = ("summary", "icicle", "tables", "graph", "source", "treemap")

sys.path[:0] = [str(ANNOTATE), str(ANNOTATE / "tests")]
from bdannotate.cli import main  # noqa: E402
from bdannotate.html import schema  # noqa: E402
from bdannotate.model.types import Field, Type  # noqa: E402
from context_files import ContextFile, large  # noqa: E402
from object_files import ObjectFile  # noqa: E402
from test_html_data import two_with_objects  # noqa: E402
from test_objects import GROUPS, HEAP  # noqa: E402
from test_repairs import made as made_kernel  # noqa: E402
from test_types import of_a_stranger  # noqa: E402


def run(*command, cwd, **more):
    return subprocess.run(
        list(map(str, command)), cwd=cwd, text=True, capture_output=True, timeout=SECONDS, check=False, **more
    )


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """The sources with npm's packages beside them, in the build folder, where they stay for the next time."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node or npm is missing; on Debian: apt-get install nodejs npm")
    base = pathlib.Path(BUILD) / "annotate" if BUILD else tmp_path_factory.mktemp("web")
    folder = base / "web-build"
    for name in ("src", "tests"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in [*WEB.glob("*.*"), *WEB.glob(".npmrc"), *WEB.glob("src/**/*.*"), *WEB.glob("tests/*.*")]:
        if path.name != "package-lock.json":
            target = folder / path.relative_to(WEB)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)  # without its mode: the source folder may be read-only
    lock = (WEB / "package-lock.json").read_bytes()
    known = folder / "package-lock.json"
    if not (folder / "node_modules").is_dir() or not known.exists() or known.read_bytes() != lock:
        known.write_bytes(lock)
        result = run("npm", "ci", "--ignore-scripts", "--prefer-offline", cwd=folder)
        if result.returncode:
            known.unlink()
            pytest.skip(f"npm cannot get the packages: {result.stderr.strip()[-300:]}")
    return folder


def node(workshop, *arguments, **more):
    result = run("node", *arguments, cwd=workshop, **more)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_lock_file_names_no_host():
    """Wherever the packages were got from is nobody else's business, and not where others get them."""
    text = (WEB / "package-lock.json").read_text()
    assert "://" not in "".join(line for line in text.splitlines() if '"url"' not in line)


def test_types(workshop):
    result = run("node", "node_modules/typescript/bin/tsc", "-p", ".", cwd=workshop)
    assert result.returncode == 0, result.stdout


def test_units(workshop):
    node(workshop, "node_modules/esbuild/bin/esbuild", "tests/unit.test.ts", "--bundle", "--platform=node",
         "--format=esm", "--log-level=warning", "--outfile=unit.test.mjs")
    node(workshop, "--test", "unit.test.mjs")


def test_the_built_page_is_that_of_the_sources(workshop):
    node(workshop, "build.mjs", "rebuilt.html")
    assert (workshop / "rebuilt.html").read_bytes() == BUILT.read_bytes(), (
        "annotate/bdannotate/html/report.html is not what annotate/web makes: see docs/web-report.md"
    )


@pytest.fixture(scope="session")
def browse(workshop):
    """Opens a report and does what the steps say; no error, no accessibility fault, nothing beside the window."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("chromium is missing; on Debian: apt-get install chromium")

    def go(report, steps, width=1280, scheme="light", old=False, opens=True):
        wanted = {
            "chromium": chromium, "file": str(report), "width": width, "scheme": scheme, "old": old,
            "opens": opens, "steps": steps,
        }
        found = json.loads(node(workshop, "tests/browser.mjs", input=json.dumps(wanted)))
        assert found["errors"] == []
        for step, result in zip(steps, found["results"]):
            assert result["violations"] == [], step
            assert result["overflow"] <= 0, step
        print(f"first picture after {found['ready']} ms")
        return [result["value"] for result in found["results"]]

    return go


def annotate(*arguments):
    result = run(sys.executable, ANNOTATE / "bd_annotate", *arguments, cwd=PROFILES)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Reports of the fixtures' profiles, with a context tree beside one."""
    folder = tmp_path_factory.mktemp("reports")
    shutil.copy(PROFILES / "helper.out", folder)
    shutil.copy(PROFILES / "repaired.out", folder)
    annotate(f"--html={folder}/plain.html", folder / "helper.out")
    annotate(f"--html={folder}/code.html", PROFILES / "instructions.out")
    annotate(f"--html={folder}/source.html", "-I", ANNOTATE / "tests" / "sources", PROFILES / "sources.out")
    for name in ("helper", "repaired"):
        tree_of(folder / f"{name}.out", folder / f"contexts.{name}.out")
    annotate(f"--html={folder}/tree.html", folder / "helper.out")
    annotate("--diff", f"--html={folder}/diff.html", folder / "helper.out", folder / "repaired.out")
    annotate(f"--html={folder}/ranks.html", *(PROFILES / f"rank{rank}.out" for rank in range(3)))
    annotate(f"--html={folder}/parts.html", PROFILES / "threads.out")
    data_beside(folder)
    annotate(f"--html={folder}/data.html", folder / "data.out")
    annotate("--diff", f"--html={folder}/data-diff.html", *two_with_objects(folder))
    for name in ("product", "stream"):
        (folder / name).mkdir()
        for path, data in made_kernel(name)[0].items():
            (folder / name / path).write_bytes(data)
        annotate(f"--html={folder}/{name}.html", folder / name / "p.out")
    (folder / "typed").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        profile = of_four_in_a_line(folder / "typed", patch)
        assert main([f"--html={folder}/typed.html", "--object-type=heap=item", profile]) == 0
    return folder


def of_four_in_a_line(folder, patch):
    """Blocks of 10 elements. In each of 11 lines with 4 of them, one field is used; in one more, both are."""
    kind = Type(ITEM, 16, (Field("key</b>", "int", 0, 4), Field("name[8]", "char", 4, 8)))
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", "160 160 16"), *GROUPS[2:]]
    patterns = [(2, 1, 1, 7, 0, 64, 0x000F000F000F000F, 11), (2, 2, 1, 23, 0, 16, 0x0F0F, 1)]
    return of_a_stranger(folder, patch, kind, groups, "", patterns=patterns)


def data_beside(folder):
    """A profile with blocks of 24 bytes and a variable. Both functions load blocks."""
    events = ("Ir", "ILmr", "DLmr", "DLmw", "SpLoss1", "EvLine1", "UsByte1", "Access1")
    functions = [("prog", "prog.c", 1, "main"), ("prog", "prog.c", 20, "make")]
    rows = [
        (1, 1, 1, 7, (0, 0, 4, 2, 480, 10, 160, 20)), (1, 2, 1, 23, (0, 0, 1, 0, 0, 1, 64, 64)),
        (2, 1, 1, 7, (0, 0, 0, 0, 32, 1, 32, 4)),
        (2, 1, 1, 8, (0, 0, 0, 0, 600, 20, 680, 40)),
    ]
    groups = ["heap 3 72 1 48 72 24 24 24 0 2 2 1 22 100 1 1 5 200 1 1 malloc", "static 1 64 </script><b>table"]
    patterns = [(1, 1, 1, 7, 0, 24, 0x00FF, 9), (1, 2, 1, 23, 0, 24, 0xFFF, 1), (1, 1, 1, 7, 8, 8, 0x01, 2)]
    head = "pid: 7\ncmd: prog\npart: 1"
    (folder / "objects.data.out").write_bytes(ObjectFile(events, functions, groups, rows, patterns, head).bytes())
    (folder / "data.out").write_text(
        f"version: 1\n{head}\nevents: {' '.join(events)}\nob=prog\nfl=prog.c\nfn=main\n"
        "7 90 0 4 2 512 11 192 24\n8 10 0 0 0 600 20 680 40\nfn=make\n23 10 0 1 0 0 1 64 64\n"
    )


def json_of(*arguments):
    return json.loads(annotate("--format=json", *arguments))


def tree_of(profile, path):
    """A tree with the profile's functions and self costs. Each stands below its first caller."""
    data = json_of(profile)
    functions = {function["id"]: function for function in data["functions"]}
    parents = {}
    for call in data["calls"]:
        if call["caller"] != call["callee"]:
            parents.setdefault(call["callee"], call["caller"])
    numbers = {number: at for at, number in enumerate(functions, 1)}
    nodes = [(0, 0, 0, (0,) * len(data["events"]))]

    def visit(number, depth):
        function = functions[number]
        nodes.append((depth, numbers[number], function["calls"], tuple(function["self"])))
        for child, parent in parents.items():
            if parent == number:
                visit(child, depth + 1)

    for number in functions:
        if number not in parents:
            visit(number, 1)
    assert len(nodes) == len(functions) + 1, "a cycle"
    named = [(f["object"], f["file"], 1, f["name"]) for f in functions.values()]
    path.write_bytes(ContextFile(data["events"], named, ["thread 1"], nodes).bytes())


# Of a row, by column.
EXACT = """Object.fromEntries(Array.from(row.querySelectorAll("[data-exact]"),
    (cell) => [cell.dataset.column, Number(cell.dataset.exact)]))"""
EXACT_ROWS = f"""Array.from(document.querySelectorAll(".row[data-function]"),
    (row) => [row.dataset.function, {EXACT}])"""

CELLS = "Number(document.querySelector('canvas').dataset.cells)"
LATER = "new Promise((done) => setTimeout(() => done(%s), 300))"


@pytest.mark.parametrize("report, width, scheme", [
    ("plain", 400, "light"), ("tree", 1280, "light"), ("diff", 400, "dark"), ("ranks", 1280, "dark"),
    ("parts", 400, "light"), ("code", 1280, "dark"), ("source", 400, "dark"), ("data", 400, "light"),
    ("data", 1280, "dark"), ("typed", 400, "dark"), ("typed", 1280, "light"), ("data-diff", 400, "light"),
    ("data-diff", 1280, "dark"), ("product", 400, "dark"), ("product", 1280, "light"), ("stream", 400, "light"),
])
def test_every_view_opens(browse, reports, report, width, scheme):
    steps = [{"fragment": f"#{view}", "read": "document.querySelector('main').innerText.length"} for view in VIEWS]
    if report in ("ranks", "parts"):
        steps.append({"fragment": "#profiles", "read": "document.querySelectorAll('.strips tbody tr').length"})
    if report in ("data", "typed", "data-diff"):
        fragment = f"#data?object={HEAP_ROW if report == 'data' else quote('heap prog.c:22, make')}"
        steps.append({"fragment": fragment, "read": "document.querySelectorAll('.details .byte').length"})
    steps = [{**step, "axe": True} for step in steps]
    assert min(browse(reports / f"{report}.html", steps, width, scheme)) > 0


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
    assert nothing.startswith("Nothing to gain by other loops or layouts: misses out of order cost ")


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


@pytest.mark.parametrize("report, old", [("plain", False), ("tree", False), ("tree", True)])
def test_the_flat_table_has_the_numbers_of_the_json(browse, reports, report, old):
    (rows,) = browse(reports / f"{report}.html", [{
        "fragment": "#tables?table=flat&cols=SpLoss1:incl,Ir:self,D1m:incl", "read": EXACT_ROWS,
    }], old=old)
    data = json_of("--show=SpLoss1:incl,Ir:self,D1m:incl", PROFILES / "helper.out")
    assert dict(rows) == {function["name"]: function["columns"] for function in data["functions"]}


def test_the_tree_table_has_each_function_below_its_caller(browse, reports):
    opened, hot = browse(reports / "tree.html", [
        {"fragment": "#tables?cols=SpLoss1:incl,Ir:self", "read": EXACT_ROWS},
        {"keys": [], "read": f"(document.querySelectorAll('.bar > button')[0].click(), "
                             f"{LATER % EXACT_ROWS})"},
    ])
    data = json_of("--show=SpLoss1:incl,Ir:self", PROFILES / "helper.out")
    total = dict(zip(data["events"], data["totals"]))["SpLoss1"]
    assert opened[0] == ["thread 1", {"SpLoss1:incl": total, "Ir:self": 0}]
    assert len(hot) > len(opened), "the hot path opens what has most of the cost"
    own = {function["name"]: function["columns"]["Ir:self"] for function in data["functions"]}
    assert all(costs["Ir:self"] == own[name] for name, costs in hot[1:])


def test_what_starts_the_program_is_one_row(browse, tmp_path):
    """In each table and in the icicle; a search for it, or the control, shows them all."""
    names = ["0x1000", "(below main)", "main", "work"]
    text = "events: Ir SpLoss1\nfl=a.c\n"
    for at, name in enumerate(names):
        text += f"fn={name}\n1 1 1\n"
        if at < 3:
            text += f"cfn={names[at + 1]}\ncalls=1 1\n1 {3 - at} {3 - at}\n"
    (tmp_path / "x.out").write_text(text)
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [("", "a.c", 1, name) for name in names], ["thread 1"],
        [(0, 0, 0, (0, 0)), *((at + 1, at + 1, 1, (1, 1)) for at in range(4))],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    control = "Array.from(document.querySelectorAll('.bar button'))" \
              ".find((button) => button.innerText === 'Above main').click()"
    flat, found, tree, all_of_it, callers, icicle, shown, searched = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=flat&cols=SpLoss1:incl,Ir:self", "read": EXACT_ROWS},
        {"fragment": "#tables?table=flat&q=below&cols=Ir:self", "read": EXACT_ROWS},
        {"fragment": "#tables?cols=Ir:self,SpLoss1:incl", "read": EXACT_ROWS},
        {"read": f"({control}, {LATER % EXACT_ROWS})"},
        {"fragment": "#tables?table=callers&cols=SpLoss1:incl", "read":
            "(document.querySelector('[data-function=main] .twist').click(), "
            f"{LATER % EXACT_ROWS})"},
        {"fragment": "#icicle", "read": CELLS},
        {"read": f"({control}, {LATER % CELLS})"},
        {"fragment": "#icicle?q=below", "read": CELLS},
    ])
    assert flat == [
        ["(above main: 2 functions)", {"SpLoss1:incl": 4, "Ir:self": 2}],
        ["main", {"SpLoss1:incl": 2, "Ir:self": 1}], ["work", {"SpLoss1:incl": 1, "Ir:self": 1}],
    ]
    assert [name for name, _ in found] == ["(below main)"]
    assert tree == [
        ["thread 1", {"Ir:self": 0, "SpLoss1:incl": 4}],
        ["(above main)", {"Ir:self": 2, "SpLoss1:incl": 4}],
        ["main", {"Ir:self": 1, "SpLoss1:incl": 2}],
    ]
    assert [name for name, _ in all_of_it] == ["thread 1", "0x1000", "(below main)", "main"]
    assert callers[:3] == [
        ["(above main: 2 functions)", {"SpLoss1:incl": 4}], ["main", {"SpLoss1:incl": 2}],
        ["(above main)", {"SpLoss1:incl": 2}],
    ]
    assert (icicle, shown, searched) == (4, 5, 5)


def test_events_are_unpacked_when_they_are_chosen(browse, reports):
    """Those of the tree; each is what the JSON has, whatever was looked at before."""
    data = json_of("--show=Ir:incl", PROFILES / "helper.out")
    chosen = [event for event in data["events"] if event not in ("SpLoss1", "UsByte1")]
    steps = [{"fragment": "#icicle", "read": CELLS}]
    steps += [
        step for event in chosen for step in (
            {"fragment": f"#icicle?metric={event}", "read": "document.querySelector('select').value"},
            {"fragment": f"#tables?cols={event}:incl", "read": EXACT_ROWS},
        )
    ]
    found = browse(reports / "tree.html", steps)
    assert found[1::2] == chosen
    totals = dict(zip(data["events"], data["totals"]))
    assert [rows[0] for rows in found[2::2]] == [
        ["thread 1", {f"{event}:incl": totals[event]}] for event in chosen
    ]


def test_the_call_graph_has_the_costs_of_the_calls(browse, reports):
    data = json_of(PROFILES / "helper.out")
    event = data["events"].index("SpLoss1")
    names = {function["id"]: function["name"] for function in data["functions"]}
    costliest = max(data["calls"], key=lambda call: (call["cost"][event], -call["caller"]))
    callee = costliest["callee"]
    listed = "Array.from(document.querySelectorAll('.side')[%d].querySelectorAll('.box'), " \
             "(box) => [box.dataset.function, Number(box.dataset.exact)])"
    page_number = "document.querySelector('.centre').dataset.function"
    steps = [{"fragment": f"#graph?metric=SpLoss1&fn={quote(name)}", "read": f"[{page_number}, {listed % 0}]"}
             for name in names.values()]
    found = dict(browse(reports / "plain.html", steps))
    assert dict(found[names[callee]]) == {
        names[call["caller"]]: call["cost"][event] for call in data["calls"] if call["callee"] == callee
    }


def test_source_lines_have_their_costs(browse, reports):
    (lines,) = browse(reports / "source.html", [{
        "fragment": "#source?metric=Ir",
        "read": "[document.querySelector('.path').innerText, "
                "Array.from(document.querySelectorAll('.line[data-line] .heat'), "
                "(e) => [Number(e.parentElement.dataset.line), e.dataset.exact]).filter(([, cost]) => cost !== '')]",
    }])
    data = json_of(PROFILES / "sources.out")
    file, found = lines
    event = data["events"].index("Ir")
    truth = {}
    for line in data["lines"]:
        if line["file"] == file:
            truth[line["line"]] = truth.get(line["line"], 0) + line["self"][event]
    assert {line: int(cost) for line, cost in found if line} == truth
    assert max(truth) == 99, "one past the end of the file"


def test_icicle_by_keyboard_and_by_link(browse, reports):
    spoken = "document.querySelector('.spoken').innerText"
    first, zoomed, back = browse(reports / "tree.html", [
        {"fragment": "#icicle?metric=Ir", "read": "(document.querySelector('.canvas-box').focus(), location.hash)"},
        {"keys": ["ArrowDown", "ArrowDown", "Enter"],
         "read": "[location.hash, document.querySelectorAll('.crumb').length]"},
        {"fragment": "#icicle?metric=Ir", "read": f"[{spoken}, document.querySelectorAll('.crumb').length]"},
    ])
    assert "node=" not in first
    assert "node=1" in zoomed[0] and zoomed[1] == 3
    assert back[1] == 1


def test_a_plain_profile_says_what_the_icicle_needs(browse, reports):
    steps = [{"fragment": "#icicle", "read": "document.querySelector('main').innerText"}]
    (text,) = browse(reports / "plain.html", steps)
    assert "--context-tree=yes" in text


def test_the_difference_is_shown(browse, reports):
    (rows,) = browse(reports / "diff.html", [{
        "fragment": "#tables?table=flat&cols=SpLoss1:self",
        "read": "Array.from(document.querySelectorAll('.row[data-function]'), (row) => [row.dataset.function, "
                "Number(row.querySelector('[data-exact]').dataset.exact), row.querySelector('.change').title])",
    }])
    data = json_of("--diff", "--show=SpLoss1:self", "--threshold=0", PROFILES / "helper.out", PROFILES / "repaired.out")
    for change in data["functions"]:
        before, after = (change[side]["columns"]["SpLoss1:self"] for side in ("before", "after"))
        (row,) = [row for row in rows if row[0] == change["name"]]
        assert row[1] == after
        assert row[2] == (f"{after - before:,}".replace("-", "−") if after != before else ""), row


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
    blocks = "3 blocks of 24 bytes: 72 B in all, 72 B alive at most, 1 freed"
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


def apart(folder, code=10, data=1000):
    """A profile with code and data apart, in which one of both misses much; of the other, more is never used."""
    events = ("Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 AcCostD1 SpLossD1 "
              "EvLineD1 UsByteD1 AccessD1")
    rows = {
        "main": (10_000, 2000, 0, code, data, 0, 5, 5, 0, 0, 30 * data + 40 * code, code + data,
                 34 * data + 24 * code, 5000, 0, 30 * data, data, 34 * data, 4000),
        "work": (500, 100, 0, code, 10, 0, 0, 0, 0, 0, 300 + 20 * code, code + 10, 340 + 44 * code, 400, 0, 300, 10,
                 340, 100),
    }
    text = f"creator: bdgrind-0\nevents: {events}\nfl=a.c\n" + "".join(
        f"fn={name}\n{line} {' '.join(map(str, row))}\n" for line, (name, row) in enumerate(rows.items(), 1))
    (folder / "apart.out").write_text(text)
    annotate(f"--html={folder}/apart.html", folder / "apart.out")
    totals = dict(zip(events.split(), (sum(column) for column in zip(*rows.values()))))
    return folder / "apart.html", totals


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
    head, cards, closed, ranked = browse(page, [
        {"fragment": "#summary", "read": "document.querySelector('.headline').innerText"},
        {"read": "document.querySelectorAll('[data-cards]').length"},
        {"read": "document.querySelector('.anyway').open"},
        {"fragment": "#treemap", "read": "document.querySelector('select').value"},
    ])
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


SPOKEN = "document.querySelector('.spoken').innerText"


def test_each_view_has_a_search(browse, reports):
    boxes = "document.querySelectorAll('main .find').length"
    views = ("icicle", "tables", "graph", "source", "treemap", "data", "profiles")
    counts = dict(zip(views[:5], browse(reports / "tree.html", [
        {"fragment": f"#{view}", "read": boxes} for view in views[:5]])))
    counts["data"] = browse(reports / "data.html", [{"fragment": "#data", "read": boxes}])[0]
    counts["profiles"] = browse(reports / "ranks.html", [{"fragment": "#profiles", "read": boxes}])[0]
    assert counts == {view: 1 for view in views}


def many(folder, functions=400):
    """A profile of so many functions, each of a line of its own."""
    (folder / "many.out").write_text("events: Ir SpLoss1\nfl=many.c\n" + "".join(
        f"fn=function_{at}\n{at + 1} {10 * (functions - at)} {at}\n" for at in range(functions)))
    (folder / "many.c").write_text("\n".join(f"line({at});" for at in range(1, functions + 1)))
    annotate(f"--html={folder}/many.html", "-I", folder, folder / "many.out")
    return folder / "many.html"


def test_the_head_of_a_table_stays_above_it(browse, tmp_path):
    """And says what it is sorted by; rows say where they are, and the one that the keys are at is announced."""
    page = many(tmp_path)
    scrolled = "(document.querySelector('%s').scrollTop = 5000, " + LATER % (
        "((box, head) => [head.top - box.top, head.height])(document.querySelector('%s').getBoundingClientRect(), "
        "document.querySelector('%s .head').getBoundingClientRect())") + ")"
    roles = "['%s'].map((role) => document.querySelectorAll(`[role=${role}]`).length)" % "', '".join(
        ("treegrid", "columnheader", "row", "gridcell"))
    table, source, found, sort, moved = browse(page, [
        {"fragment": "#tables?table=flat&cols=Ir:self,SpLoss1:self", "read": scrolled % (".rows", ".rows", ".rows")},
        {"fragment": "#source", "read": scrolled % (".code", ".code", ".code")},
        {"fragment": "#tables?table=flat&cols=Ir:self,SpLoss1:self", "axe": True, "read": roles},
        {"read": "(document.querySelector('.rows').focus(), "
                 "Array.from(document.querySelectorAll('[role=columnheader]'), (e) => e.getAttribute('aria-sort')))"},
        {"keys": ["ArrowDown"],
         "read": f"[{SPOKEN}, document.getElementById(document.querySelector('.rows')"
                 ".getAttribute('aria-activedescendant')).dataset.function]"},
    ])
    for top, height in (table, source):
        assert -1 <= top <= 2 and height > 10
    assert found[:2] == [1, 4] and found[2] > 20 and found[3] > 40
    assert sort == [None, "descending", "none", None]
    assert moved == ["function_1: instr. 3,990", "function_1"]


def test_what_is_open_stays_open_on_going_back(browse, reports):
    """And columns can be moved, by keys too, and made wider."""
    names = "Array.from(document.querySelectorAll('.row[data-function]'), (row) => row.dataset.function)"
    heads = "Array.from(document.querySelectorAll('.head button'), (e) => e.innerText.trim().split(/\\s+/).join(' '))"
    opened, gone, back, moved, wide = browse(reports / "tree.html", [
        {"fragment": "#tables?cols=SpLoss1:incl,Ir:self",
         "read": f"(document.querySelectorAll('.bar > button')[0].click(), {LATER % names})"},
        {"fragment": "#summary", "read": "1"},
        {"read": f"(history.back(), {LATER % names})"},
        {"read": "(document.querySelectorAll('.head button')[1].focus(), 1)"},
        {"keys": ["Alt+ArrowLeft", "Shift+ArrowRight"],
         "read": f"[{heads}, Array.from(document.querySelectorAll('.head .cell.n'), (e) => e.offsetWidth)]"},
    ])
    assert gone == 1 and back == opened and len(opened) > 3 and moved == 1
    assert wide[0][0].startswith("instr.") and len(set(wide[1][:2])) == 2


def test_heat_is_of_the_whole_program(browse, tmp_path):
    """A small cost is pale in a file of its own; a file with the most cost is opened, also where its text is missing,
    and it is said where it is looked for."""
    (tmp_path / "small.c").write_text("one\n")
    (tmp_path / "x.out").write_text("events: Ir\nfl=small.c\nfn=f\n1 39\nfl=gone.c\nfn=g\n7 5000000000\n")
    annotate(f"--html={tmp_path}/x.html", "-I", tmp_path, tmp_path / "x.out")
    heat = "Array.from(document.querySelectorAll('.line[data-line] .heat'), (e) => Number(e.dataset.heat))"
    small, (path, note, large) = browse(tmp_path / "x.html", [
        {"fragment": "#source?file=small.c", "read": heat},
        {"fragment": "#source", "read":
            f"[document.querySelector('.path').innerText, document.querySelector('main .note').innerText, {heat}]"},
    ])
    assert small[0] < 0.03 and large[-1] == 1 and path == "gone.c"
    assert note.startswith("No text: not found. It is looked for by this path") and "-I" in note


def test_parts_of_a_bar_can_be_told_apart(browse, tmp_path):
    page, _ = apart(tmp_path)
    colours = "['code-part', 'last-part', 'unused', 'used'].map((name) => " \
              "getComputedStyle(document.querySelector(`.key .${name}`)).backgroundColor.match(/[0-9]+/g).map(Number))"
    for scheme in ("light", "dark"):
        (found,) = browse(page, [{"fragment": "#summary", "read": colours}], scheme=scheme)
        for at, one in enumerate(found):
            for other in found[:at]:
                assert sum(abs(a - b) for a, b in zip(one, other)) > 60, (scheme, found)


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


def test_a_full_tree_says_so_and_callers_are_exact(browse, tmp_path):
    """Both a and b call work; the tree has room for one of the paths only."""
    costs = {"main": 1, "a": 1, "b": 1, "work": 70}
    calls = [("main", "a", 11), ("main", "b", 61), ("a", "work", 10), ("b", "work", 60)]
    text = "events: Ir SpLoss1\nfl=a.c\n"
    for name, cost in costs.items():
        text += f"fn={name}\n1 {cost} {cost}\n"
        text += "".join(f"cfn={to}\ncalls=1 1\n1 {paid} {paid}\n" for by, to, paid in calls if by == name)
    (tmp_path / "x.out").write_text(text)
    nodes = [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 1, 1), (3, 4, 1, 10), (2, 3, 1, 1), (3, 0, 1, 60)]
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [("", "a.c", 1, name) for name in costs], ["thread 1"],
        [(depth, function, calls, (cost, cost)) for depth, function, calls, cost in nodes],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    opened = "document.querySelector('.row[data-function=%s] .twist').click()"
    said = "document.querySelector('.warning').innerText"
    table, further, icicle, up = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=callers&cols=Ir:incl", "read": f"({opened % 'work'}, {LATER % EXACT_ROWS})"},
        {"read": "(Array.from(document.querySelectorAll('.row[data-function=b] .twist'))"
                 f".find((e) => e.closest('[aria-level=\"2\"]')).click(), {LATER % f'[{said}, {EXACT_ROWS}]'})"},
        {"fragment": "#icicle?metric=Ir&fn=work&focus=1",
         "read": f"(document.querySelector('.canvas-box').focus(), {said})"},
        {"keys": ["ArrowDown", "ArrowUp"], "read": SPOKEN},
    ])
    at = [name for name, _ in table].index("work")
    assert table[at:at + 3] == [["work", {"Ir:incl": 70}], ["b", {"Ir:incl": 60}], ["a", {"Ir:incl": 10}]]
    told, rows = further
    assert rows[at + 2] == ["(other paths)", {"Ir:incl": 60}]
    for one in (told, icicle):
        assert "The context tree was full: 82.2% of instructions executed was on other paths" in one
    assert up.startswith("b: 60"), "as wide as the calls cost"


def test_bands_have_one_scale(browse, tmp_path):
    """That of the program, on both sides; what the function itself has is drawn."""
    (tmp_path / "x.out").write_text(
        "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=f\ncalls=1 1\n1 40\ncfn=other\ncalls=1 1\n1 50\nfn=f\n1 15\n"
        "cfn=g\ncalls=1 1\n1 25\nfn=g\n1 25\nfn=other\n1 50\n")
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    ((bands, bar),) = browse(tmp_path / "x.html", [{"fragment": "#graph?fn=f", "read": """[
        Array.from(document.querySelectorAll('[data-band]'), (e) => Number(e.dataset.band)),
        ((bar) => [Number(bar.dataset.self), Number(bar.dataset.incl)])(document.querySelector('.own-bar'))]"""}])
    caller, callee = bands
    assert abs(caller / callee - 40 / 25) < 1e-9 and bar == [0.15, 0.4]


def test_a_change_is_drawn_as_large_as_it_is(browse, tmp_path):
    """f has lost 30 and g got 10, h stays; each table is sorted as its arrow says."""
    for name, costs in (("before", {"f": 50, "g": 5, "h": 900}), ("after", {"f": 20, "g": 15, "h": 900})):
        text = "events: Ir\nfl=a.c\nfn=main\n1 1\n"
        for callee, cost in costs.items():
            text += f"cfn={callee}\ncalls=1 1\n1 {cost}\n"
        text += "".join(f"fn={callee}\n1 {cost}\n" for callee, cost in costs.items())
        (tmp_path / f"{name}.out").write_text(text)
        nodes = [(0, 0, 0, (0,)), (1, 1, 1, (1,)), *((2, 2 + at, 1, (c,)) for at, c in enumerate(costs.values()))]
        (tmp_path / f"contexts.{name}.out").write_bytes(ContextFile(
            ("Ir",), [("", "a.c", 1, one) for one in ("main", *costs)], ["thread 1"], nodes).bytes())
    annotate("--diff", f"--html={tmp_path}/x.html", tmp_path / "before.out", tmp_path / "after.out")
    rows = "Array.from(document.querySelectorAll('.row[data-function]'), (row) => row.dataset.function)"
    down, up, tree, first, second, tiles = browse(tmp_path / "x.html", [
        {"fragment": "#tables?table=flat&cols=Ir:self", "read": rows},
        {"fragment": "#tables?table=flat&cols=Ir:self&up=1", "read": rows},
        {"fragment": "#icicle", "read": f"(document.querySelector('.canvas-box').focus(), {CELLS})"},
        {"keys": ["ArrowDown", "ArrowDown", "ArrowDown"], "read": SPOKEN},
        {"keys": ["ArrowRight"], "read": SPOKEN},
        {"fragment": "#treemap", "read": CELLS},
    ])
    assert down[0] == "g" and down[-1] == "f" and up == down[:0] + ["f", *up[1:-1], "g"]
    assert (tree, tiles) == (4, 2), "what has not changed has no cell"
    assert first.startswith("f: 20") and second.startswith("g: 15")


def test_a_popup_closes_on_escape_and_outside(browse, reports):
    popup = "document.querySelector('details.columns')"
    opened = f"({popup}.querySelector('summary').click(), {LATER % f'{popup}.open'})"
    click = "document.querySelector('.note').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))"
    first, escaped, second, outside = browse(reports / "plain.html", [
        {"fragment": "#tables", "read": opened}, {"keys": ["Escape"], "read": f"{popup}.open"},
        {"read": opened}, {"read": f"({click}, {LATER % f'{popup}.open'})"},
    ])
    assert [first, escaped, second, outside] == [True, False, True, False]


def test_the_theme_stays(browse, reports):
    theme = "document.documentElement.dataset.theme"
    before, chosen, after = browse(reports / "plain.html", [
        {"read": theme}, {"read": f"(document.querySelector('.theme').click(), {LATER % theme})"},
        {"reload": True, "read": theme},
    ])
    assert (before, chosen, after) == ("light", "dark", "dark")


def test_a_print_has_the_whole_table(browse, tmp_path):
    rows = "document.querySelectorAll('.row[data-function]').length"
    shown, printed, after = browse(many(tmp_path), [
        {"fragment": "#tables?table=flat", "read": rows},
        {"read": f"(dispatchEvent(new Event('beforeprint')), {rows})"},
        {"read": f"(dispatchEvent(new Event('afterprint')), {rows})"},
    ])
    assert shown < 100 and printed == 400 and after == shown


def test_loops_are_in_tables_graph_and_source(browse, reports):
    (loop,) = json_of("--structure=yes", PROFILES / "instructions.out")["structure"][0]["frames"]
    rows, graph, source = browse(reports / "code.html", [
        {"fragment": "#tables?table=flat&cols=Ir:incl,Ir:self",
         "read": f"(document.querySelector('[data-function=main] .twist').click(), {LATER % EXACT_ROWS})"},
        {"fragment": "#graph?fn=main", "axe": True,
         "read": "Array.from(document.querySelectorAll('.frames [data-frame]'), (row) => [row.dataset.frame, "
                 "Number(row.querySelector('[data-exact]').dataset.exact), row.lastElementChild.innerText])"},
        {"fragment": "#source?file=loop.c",
         "read": "document.querySelector('[data-line=\"4\"] [data-frame]').innerText"},
    ])
    at = [name for name, _ in rows].index("main")
    name = f"loop loop.c:{loop['line']}"
    assert rows[at + 1] == [name, {"Ir:incl": loop["inclusive"][0], "Ir:self": loop["self"][0]}]
    assert graph == [[name, loop["inclusive"][0], "entered 1 time, 10 iterations each"]]
    assert source == "loop, entered 1 time, 10 iterations each"


def test_hostile_names_stay_text(browse, reports, tmp_path):
    name = "</script><img src=x onerror=document.title='pwned'>\u202e{{7*7}}"
    profile = tmp_path / "x.out"
    profile.write_text(
        f"cmd: {name}\ndesc: I1 cache: {name}\nevents: Ir SpLoss1\nob={name}\nfl={name}\nfn={name}\n1 10 9\n"
        f"cfn=g{name}\ncalls=1 1\n1 5 5\nfn=g{name}\n1 5 5\ntotals: 15 14\n", "utf-8")
    (tmp_path / "contexts.x.out").write_bytes(ContextFile(
        ("Ir", "SpLoss1"), [(name, name, 1, name), (name, name, 1, f"g{name}")], ["thread 1"],
        [(0, 0, 0, (0, 0)), (1, 1, 0, (10, 9)), (2, 2, 1, (5, 5))],
    ).bytes())
    annotate(f"--html={tmp_path}/x.html", profile)
    shown = "[document.title, document.images.length, document.body.innerText]"
    key = quote(name.replace("\u202e", "\\u202e"))  # as it is shown, so that it turns nothing around
    found = browse(tmp_path / "x.html", [{"fragment": f"#{view}?fn={key}", "read": shown} for view in VIEWS])
    assert not any("\u202e" in text or "not in this report" in text for _, _, text in found)
    assert {(title, images) for title, images, _ in found} == {("x.out", 0)}
    assert "onerror=" in found[0][2]


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
    monkeypatch.setattr(schema, "VERSION", 1)
    assert main([f"--html={tmp_path}/x.html", str(PROFILES / "helper.out")]) == 0
    shown = "new Promise((done) => setTimeout(() => done(document.getElementById('root').innerText), 500))"
    (text,) = browse(tmp_path / "x.html", [{"read": shown}], opens=False)
    assert text.startswith("The report cannot be shown: its data has version 1, and the page reads 2")


def test_a_large_tree(browse, tmp_path):
    """Opened and drawn; how long it took is printed, not asserted."""
    tree = large(30_000)
    events = " ".join(tree.events)
    (tmp_path / "contexts.x.out").write_bytes(tree.bytes())
    totals = " ".join(str(sum(counts)) for counts in zip(*(node[3] for node in tree.nodes)))
    (tmp_path / "x.out").write_text(f"events: {events}\nfn=function_0\n1 {totals}\n")
    annotate(f"--html={tmp_path}/x.html", tmp_path / "x.out")
    (cells,) = browse(tmp_path / "x.html", [{"fragment": "#icicle", "read": CELLS}])
    assert cells > 100
