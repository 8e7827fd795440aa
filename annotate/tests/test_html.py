# SPDX-License-Identifier: GPL-2.0-or-later
"""The web report's file: self-contained, whatever the names; its numbers are those of the JSON."""

import base64
import hashlib
import pathlib
import re

import pytest

from bdannotate.cli import main
from bdannotate.html import page_data

from context_files import ContextFile
from html_pages import json_of, report

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = HERE / "profiles"
TEMPLATE = HERE.parent / "bdannotate" / "html" / "report.html"
MAX_TEMPLATE_BYTES = 400_000
HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \" ' & \u202e"


@pytest.mark.parametrize("name", ["helper", "recursion", "threads", "sources", "instructions"])
def test_numbers_are_those_of_the_json(tmp_path, capsys, name):
    profile = PROFILES / f"{name}.out"
    page = report(tmp_path, profile)
    other = json_of(capsys, profile)
    key = {function["id"]: tuple(function[k] for k in ("name", "file", "object"))
           for function in other["functions"]}
    assert page.facts["totals"] == [other["totals"]]
    columns = page.table("functions")
    found = dict(zip(page.functions(), zip(
        page.costs("functions", "self:"), page.costs("functions", "incl:"), columns["calls"]
    )))
    assert found == {
        key[function["id"]]: (function["self"], function["inclusive"], function["calls"])
        for function in other["functions"]
    }
    arcs = page.table("arcs")
    names = page.functions()
    assert {
        (names[caller], names[callee]): (calls, cost)
        for caller, callee, calls, cost in zip(
            arcs["caller"], arcs["callee"], arcs["calls"], page.costs("arcs", "incl:")
        )
    } == {
        (key[call["caller"]], key[call["callee"]]): (call["calls"], call["cost"])
        for call in other["calls"]
    }
    lines = page.table("lines")
    assert {
        (names[function], page.facts["files"][file], line): cost
        for function, file, line, cost in zip(
            lines["function"], lines["file"], lines["line"], page.costs("lines", "self:")
        ) if line
    } == {
        (key[line["function"]], line["file"], line["line"]): line["self"]
        for line in other["lines"] if any(line["self"])
    }


def test_the_difference_has_both_sides(tmp_path, capsys):
    before, after = PROFILES / "helper.out", PROFILES / "repaired.out"
    page = report(tmp_path, "--diff", before, after)
    assert page.facts["totals"] == [
        json_of(capsys, after)["totals"], json_of(capsys, before)["totals"]
    ]
    names = page.functions()
    for profile, prefix in ((after, ""), (before, "before:")):
        truth = {
            function["name"]: function["self"]
            for function in json_of(capsys, profile)["functions"]
        }
        found = {
            name: cost for (name, _, _), cost
            in zip(names, page.costs("functions", f"{prefix}self:")) if any(cost)
        }
        assert found == {name: cost for name, cost in truth.items() if any(cost)}


def test_many_profiles_have_a_row_for_each(tmp_path, capsys):
    ranks = [PROFILES / f"rank{number}.out" for number in range(3)]
    page = report(tmp_path, *ranks)
    truth = [json_of(capsys, rank) for rank in ranks]
    assert [member["label"] for member in page.facts["members"]] == [rank.name for rank in ranks]
    assert [member["totals"] for member in page.facts["members"]] == [
        other["totals"] for other in truth
    ]
    names = page.functions()
    rows = page.table("members")["function"]
    for row, (function, cost) in enumerate(zip(rows, page.costs("members", "incl:"))):
        expected = {f["name"]: f["inclusive"] for f in truth[row % 3]["functions"]}
        assert cost == expected.get(names[function][0], [0] * len(cost))
    assert rows


@pytest.mark.parametrize("events, shares", [
    ("Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw SpLoss1 UsByte1 EvLine1 Access1 SpLossD1 UsByteD1 SpLoss2 UsByte2 "
     "SpLossDL UsByteDL I1first I1conf D1first D1conf ILfirst ILconf DLfirst DLconf", {
         "UnusedD1": "Ir Dr Dw DRefs D1mr D1mw D1m D1rate D1first D1conf D1cap SpLossD1 UsByteD1 LoadedD1 UnusedD1 "
                     "CEst",
         "UnusedDL": "DLmr DLmw DLm DLfirst DLconf DLcap SpLossDL UsByteDL LoadedDL UnusedDL",
         "UnusedI1": "I1mr I1rate I1first I1conf I1cap SpLossI1 LoadedI1 UnusedI1",
         "UnusedIL": "ILmr ILfirst ILconf ILcap SpLossIL LoadedIL UnusedIL",
         "Unused1": "L1m L1rate L1Refs SpLoss1 UsByte1 EvLine1 Access1 Loaded1 Unused1 AccLine1 UsLine1",
         "Unused2": "LLm LLrate LLlocal SpLoss2 UsByte2 Loaded2 Unused2",
     }),
    # Without code apart, both together stand for data, and nothing for code.
    ("Ir I1mr D1mr D1mw ILmr DLmr DLmw SpLoss1 UsByte1 SpLoss2 UsByte2", {
        "Unused1": "Ir D1mr D1mw D1m L1m SpLoss1 UsByte1 Loaded1 Unused1 CEst",
        "Unused2": "DLmr DLmw DLm LLm LLlocal SpLoss2 UsByte2 Loaded2 Unused2",
        None: "I1mr I1rate ILmr",
    }),
    ("Ir Bc", {None: "Ir Bc"}),
])
def test_each_metric_has_the_share_of_its_own_lines(tmp_path, events, shares):
    profile = tmp_path / "x.out"
    profile.write_text(f"events: {events}\nfn=f\n1 {' '.join('1' for _ in events.split())}\n")
    found = {metric["name"]: metric["share"] for metric in report(tmp_path, profile).facts["metrics"]}
    assert found == {name: share for share, names in shares.items() for name in names.split()}


def test_sums_that_need_more_than_64_bits(tmp_path):
    """Are as large as they are, to the precision of the page's numbers."""
    profile = tmp_path / "x.out"
    profile.write_text(
        f"events: Ir\nfn=f\n1 {10**30}\ncfn=g\ncalls=1 2\n1 {2**64}\nfn=g\n2 {2**64}\nfn=h\n1 {10**300}\n"
    )
    page = report(tmp_path, profile)
    own = dict(zip((name for name, _, _ in page.functions()), (row[0] for row in page.costs("functions", "self:"))))
    assert own["f"] == 1e30 and own["g"] == 2.0**64 and own["h"] == 1e300
    assert page.costs("arcs", "incl:") == [[2**64]]


def test_parts_of_one_profile(tmp_path):
    page = report(tmp_path, PROFILES / "threads.out")
    assert [(member["label"], member["totals"]) for member in page.facts["members"]] == [
        ("part 1, thread 1", [10]), ("part 1, thread 2", [100]),
        ("part 2, thread 1", [25]), ("part 2, thread 2", [200]),
    ]


def test_members_are_by_part_and_thread_or_by_number(tmp_path):
    """Whatever the order of the command line."""
    names = [f"out.{part}" for part in (15, 1, 10, 11, 2)]
    for name in names:
        part = name.rpartition(".")[2]
        (tmp_path / name).write_text(f"pid: 7\npart: {part}\nthread: 3\nevents: Ir\nfn=f\n1 {part}\n")
    page = report(tmp_path, *(tmp_path / name for name in names))
    assert [member["label"] for member in page.facts["members"]] == [
        f"out.{part}" + f": part {part}, thread 3" for part in (1, 2, 10, 11, 15)]
    assert [member["totals"] for member in page.facts["members"]] == [[1], [2], [10], [11], [15]]
    assert page.table("members")["incl:Ir"] == (1, 2, 10, 11, 15)
    for name in names:  # ranks
        path = tmp_path / name
        path.write_text(path.read_text().replace("pid: 7", f"pid: {name}").replace("thread: 3\n", "")
                        .replace(f"part: {name[4:]}", "part: 1"))
    page = report(tmp_path, *(tmp_path / name for name in names))
    assert [member["label"] for member in page.facts["members"]] == [f"out.{rank}" for rank in (1, 2, 10, 11, 15)]


def test_loops_are_those_of_the_json(tmp_path, capsys):
    profile = PROFILES / "instructions.out"
    page = report(tmp_path, profile)
    table = page.table("frames")
    found = [
        (page.functions()[function][0], parent, kind, page.facts["files"][file], line, entries, iterations, own, incl)
        for function, parent, kind, file, line, entries, iterations, own, incl in zip(
            *(table[name] for name in ("function", "parent", "kind", "file", "line", "entries", "iterations")),
            page.costs("frames", "self:"), page.costs("frames", "incl:"))
    ]
    expected = []

    def add(root, frames, parent):
        for frame in frames:
            iterations = sum(part["iterations"] for part in frame["parts"])
            kind = ["inlined", "loop", "irreducible region"].index(frame["kind"])
            expected.append((root, parent, kind, frame["file"], frame["line"], frame["entries"], iterations,
                             frame["self"], frame["inclusive"]))
            add(root, frame["frames"], len(expected))

    for root in json_of(capsys, "--structure=yes", profile)["structure"]:
        add(root["name"], root["frames"], 0)
    assert found == expected and len(found) == 1
    assert "frames" not in report(tmp_path, PROFILES / "helper.out").facts["tables"], "it tells of no instructions"


def hostile_profile(tmp_path):
    profile = tmp_path / "x.out"
    profile.write_text(
        f"creator: {HOSTILE}\ncmd: {HOSTILE}\ndesc: I1 cache: {HOSTILE}\n"
        f"event: Odd : {HOSTILE}\nevents: Ir Odd\nob={HOSTILE}\nfl={HOSTILE}\nfn={HOSTILE}\n"
        "1 10 4\ntotals: 10 4\n", "utf-8",
    )
    tree = ContextFile(
        ("Ir", "Odd"), [(HOSTILE, HOSTILE, 1, HOSTILE)], ["thread 1"],
        [(0, 0, 0, (0, 0)), (1, 1, 0, (10, 4))],
    )
    (tmp_path / "contexts.x.out").write_bytes(tree.bytes())
    return profile


def test_names_are_never_markup(tmp_path):
    page = report(tmp_path, hostile_profile(tmp_path))
    assert "<img" not in page.text and "alert" not in page.text
    assert page.functions() == [(HOSTILE, HOSTILE, HOSTILE)]
    assert page.facts["sides"][0][0]["command"] == HOSTILE
    named = tmp_path / "<b>&'\".out"
    named.write_text("events: Ir\nfn=f\n1 1\n")
    assert "<title>&lt;b&gt;&amp;&#x27;&quot;.out</title>" in report(tmp_path, named).text


def test_bytes_that_are_no_text(tmp_path):
    profile = tmp_path / "x.out"
    profile.write_bytes(b"events: Ir\nfl=a.c\nfn=f\xff\x00\n1 1\n")
    assert report(tmp_path, profile).functions() == [("f\ufffd\x00", "a.c", "")]


def test_nothing_is_loaded_and_only_its_own_script_runs(tmp_path):
    text = report(tmp_path, PROFILES / "helper.out").text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for element, rule in (("script", "script-src"), ("style", "style-src")):
        bodies = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(src|href|url|on\w+)\s*[=(]", markup.split("</head>")[1])
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}


def test_the_page_without_data_is_small():
    assert len(TEMPLATE.read_bytes()) < MAX_TEMPLATE_BYTES


def sources_profile(tmp_path, monkeypatch):
    (tmp_path / "a.c").write_text("int main;\n</script>\n")
    (tmp_path / "b.c").write_text("int b;\n")
    (tmp_path / "x.out").write_text(
        "events: Ir\nfl=a.c\nfn=f\n1 10\nfl=b.c\nfn=g\n1 9\nfl=gone.c\nfn=h\n1 5\ntotals: 24\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "x.out"


def test_sources_are_embedded(tmp_path, monkeypatch):
    page = report(tmp_path, sources_profile(tmp_path, monkeypatch))
    files = page.facts["files"]
    assert {files[source["file"]]: source["text"] for source in page.sources} == {
        "a.c": "int main;\n</script>\n", "b.c": "int b;\n"
    }
    assert {files[int(file)]: note for file, note in page.facts["sourceNotes"].items()} == {
        "gone.c": "not found"
    }


def test_sources_can_be_left_out(tmp_path, monkeypatch):
    page = report(tmp_path, "--no-sources", sources_profile(tmp_path, monkeypatch))
    assert page.sources is None and not page.facts["hasSources"]


def test_sources_fill_the_page_up_to_a_limit(tmp_path, monkeypatch):
    profile = sources_profile(tmp_path, monkeypatch)
    monkeypatch.setattr(page_data, "SOURCE_LIMIT", 22)
    page = report(tmp_path, profile)
    files = page.facts["files"]
    assert [files[source["file"]] for source in page.sources] == ["a.c"]
    assert "left out" in page.facts["sourceNotes"][str(files.index("b.c"))]


def test_private_files_that_a_profile_names_stay_out(tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.c").write_text("secret")
    (tmp_path / "work").mkdir()
    profile = tmp_path / "work" / "x.out"
    profile.write_text(f"events: Ir\nfl={tmp_path}/private/key.c\nfn=f\n1 1\n")
    monkeypatch.chdir(tmp_path / "work")
    page = report(tmp_path, profile)
    assert page.sources == []
    assert "outside the current folder" in next(iter(page.facts["sourceNotes"].values()))
    (found,) = report(tmp_path, "-I", tmp_path / "private", profile).sources
    assert found["text"] == "secret"


def test_the_contexts_of_a_profile(tmp_path):
    page = report(tmp_path, hostile_profile(tmp_path))
    tree = page.table("tree")
    assert tree["parent"] == (0, 1) and tree["self:Odd"] == (0, 4)
    assert [page.facts["frames"][frame] for frame in tree["frame"]] == ["thread 1", 0]


def test_contexts_of_both_sides(tmp_path):
    """Before: main calls f. After: main calls g. Paths that are gone stay, with nothing now."""
    for name, callee in (("before", "f"), ("after", "g")):
        (tmp_path / f"{name}.out").write_text(
            f"events: Ir\nfn=main\n1 1\ncfn={callee}\ncalls=2 1\n1 7\nfn={callee}\n1 7\ntotals: 8\n"
        )
        tree = ContextFile(
            ("Ir",), [("", "", 1, "main"), ("", "", 1, callee)], ["thread 1"],
            [(0, 0, 0, (0,)), (1, 1, 0, (1,)), (2, 2, 2, (7,))],
        )
        (tmp_path / f"contexts.{name}.out").write_bytes(tree.bytes())
    page = report(tmp_path, "--diff", tmp_path / "before.out", tmp_path / "after.out")
    tree = page.table("tree")
    names = [
        frame if isinstance(frame, str) else page.functions()[frame][0]
        for frame in (page.facts["frames"][number] for number in tree["frame"])
    ]
    found = dict(zip(names, zip(
        tree["parent"], tree["calls"], tree["self:Ir"], tree["before:calls"], tree["before:self:Ir"]
    )))
    assert found == {
        "thread 1": (0, 0, 0, 0, 0), "main": (1, 0, 1, 0, 1),
        "g": (2, 2, 7, 0, 0), "f": (2, 0, 0, 2, 7),
    }


def test_contexts_of_both_sides_are_matched_by_path(tmp_path):
    """With call sites, which have moved."""
    for name, address in (("before", 0x10), ("after", 0x20)):
        (tmp_path / f"{name}.out").write_text(
            "events: Ir\nfl=a.c\nfn=main\n1 1\ncfn=f\ncalls=2 1\n1 7\nfn=f\n1 7\ntotals: 8\n"
        )
        nowhere, place = ("", 0, 0), ("a.c", address, address)
        tree = ContextFile(
            ("Ir",), [("", "a.c", 1, "main"), ("", "a.c", 1, "f")], ["thread 1"],
            [(0, 0, 0, (0,), nowhere), (1, 1, 0, (1,), nowhere), (2, 2, 2, (7,), place)],
        )
        (tmp_path / f"contexts.{name}.out").write_bytes(tree.bytes())
    page = report(tmp_path, "--diff", tmp_path / "before.out", tmp_path / "after.out")
    tree = page.table("tree")
    assert (tree["self:Ir"], tree["before:self:Ir"]) == ((0, 1, 7), (0, 1, 7))


def test_code_without_symbols_is_told(tmp_path):
    profile = tmp_path / "x.out"
    profile.write_text(
        "events: Ir SpLoss1\nob=/lib/x.so\nfl=???\nfn=0x1234\n0 1 30\nob=/bin/y\nfl=y.c\nfn=main\n1 1 70\n"
    )
    assert report(tmp_path, profile).facts["unknown"] == {
        "objects": ["x.so"], "share": 0.3, "hasSymbols": False,
    }


def test_names_are_shown_as_people_know_them(tmp_path):
    profile = tmp_path / "x.out"
    profile.write_text(
        "events: Ir\nob=/usr/bin/x\nfn=(1) 0x0000000000001ab70\n0 1\ncfn=(2) (below main)\n"
        "calls=1 0\n0 9\nfn=(2)\n0 1\ncfn=(3) main\ncalls=1 0\n0 8\nfn=(3)\n0 1\n"
        "cfn=(4) std::vector<int, std::allocator<int> >::push_back(int const&)\ncalls=1 0\n0 7\n"
        "fn=(4)\n0 7\n"
    )
    facts = report(tmp_path, profile).facts
    assert facts["unknown"] is None, "there is no loss"
    shown = [function[4] or function[0] for function in facts["functions"]]
    assert sorted(shown) == ["(below main)", "main", "std::vector<int>::push_back", "x+0x1ab70"]
    assert [shown[number] for number in facts["above"]] == ["(below main)", "x+0x1ab70"]


@pytest.mark.parametrize("head, costs, reason", [
    ("pid: 8\ncmd: ./a\n", 7, "the tree is from process 7, but the profile is from 8"),
    ("pid: 7\ncmd: ./b\n", 7, "the tree is from command ./a, but the profile is from ./b"),
    ("pid: 7\ncmd: ./a\n", 6, "Ir: the tree has 8, but the profile 7"),
    ("pid: 7\ncmd: ./a\n", 7, ""),
    ("", 7, ""),
])
def test_contexts_of_another_run_are_left_out(tmp_path, capsys, head, costs, reason):
    """A profile that was written anew without a tree, beside the tree of the run before it."""
    profile = tmp_path / "x.out"
    profile.write_text(f"{head}events: Ir\nfn=main\n1 {1 + costs}\n")
    tree = ContextFile(
        ("Ir",), [("", "", 1, "main")], ["thread 1"], [(0, 0, 0, (0,)), (1, 1, 0, (8,))],
        head="pid: 7\ncmd: ./a",
    )
    (tmp_path / "contexts.x.out").write_bytes(tree.bytes())
    page = report(tmp_path, profile)
    path = tmp_path / "contexts.x.out"
    note = f"bd_annotate: note: {path}: {reason}: it is from another run and is left out\n"
    assert capsys.readouterr().err == (note if reason else "")
    assert ("tree" in page.facts["tables"]) == (not reason)
    two = report(tmp_path, "--diff", profile, profile)
    assert ("tree" in two.facts["tables"]) == (not reason)
    assert capsys.readouterr().err.count("another run") == (1 if reason else 0), "the same tree twice"
    assert main(["--check", str(profile)]) == (1 if reason else 0)
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("arguments, problem", [
    (["--html=/nowhere/x.html", "X"], "/nowhere/x.html: No such file or directory"),
    (["--html=x.html", "--check", "X"], "--html cannot be combined with --check"),
    (["--html=x.html", "--per-file", "X"], "--html cannot be combined with --per-file"),
    (["--html=x.html", "--format=json", "X"], "--format cannot be combined with --html"),
    (["--html=x.html", "--fail-if=Ir > 1", "X"], "--fail-if cannot be combined with --html"),
    (["--no-sources", "X"], "--no-sources is for --html"),
])
def test_mistakes_are_answered_in_a_sentence(capsys, arguments, problem):
    given = [str(PROFILES / "helper.out") if word == "X" else word for word in arguments]
    assert main(given) == 2
    assert capsys.readouterr().err == f"bd_annotate: {problem}\n"


@pytest.mark.parametrize("view", [
    "--hints", "--files", "--annotate", "--instructions", "--objects", "--object=x", "--structure", "--totals",
    "--tree=both",
])
@pytest.mark.parametrize("compared", [[], ["--diff", str(PROFILES / "repaired.out")]])
def test_what_a_page_shows_is_not_asked_for(tmp_path, capsys, view, compared):
    path = tmp_path / "r.html"
    assert main([f"--html={path}", view, *compared, str(PROFILES / "helper.out")]) == 2
    other = "--html: a page always has the same views"
    if compared and view not in ("--hints", "--annotate", "--objects"):
        other = "--diff"
    assert capsys.readouterr().err == f"bd_annotate: {view.partition('=')[0]} cannot be combined with {other}\n"
    assert not path.exists()


def test_a_damaged_tree_beside_a_profile_is_left_out(tmp_path, capsys):
    profile = hostile_profile(tmp_path)
    tree = tmp_path / "contexts.x.out"
    tree.write_bytes(tree.read_bytes()[:-1])
    assert main([f"--html={tmp_path / 'r.html'}", str(profile)]) == 0
    assert "a context tree is left out: " in (said := capsys.readouterr().err)
    assert "contexts.x.out: the context tree is cut off" in said
