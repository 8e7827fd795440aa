# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, in the web report."""

import re
from pathlib import Path

import pytest
from bdannotate.cli import main
from html_pages import json_of, report
from test_curve import at_random, made, with_data, with_loops
from test_repairs import KERNELS, run


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def whole(curve, sizes):
    """Its misses at all sizes: what is left out at the end is as the last."""
    misses = curve["misses"]
    return misses + misses[-1:] * (len(sizes) - len(misses))


@pytest.mark.parametrize("name", [*KERNELS, "stream"])
def test_repairs_are_those_of_the_json(tmp_path, capsys, name):
    path = run(name)
    found = report(tmp_path, path)
    truth = json_of(capsys, path)["repairs"]
    mine = found.facts["why"]["repairs"]
    assert [one["remedy"] for one in mine] == [one["remedy"] for one in truth]
    files, names = found.facts["files"], found.functions()
    for one, other in zip(mine, truth):
        saves = other["saves"]
        assert one["l1"] == list(saves["L1 misses"].values())
        assert one["ll"] == list(saves["LL misses"].values())
        assert (one["walks"] is not None) == ("page walks" in saves)
        assert (one["evidence"], one["code"], one["share"]) == (other["evidence"], other["code"], other["share"])
        assert names[one["function"]][0] == other["function"]
        assert one["places"] == [[files.index(other["file"]), line] for line in other["lines"][:4]]
        assert len(one["alternatives"]) == min(len(other["alternatives"]), 2)
    # In the same words as the first screen.
    capsys.readouterr()
    assert main([path, "--width=1000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = lines[lines.index("== What to change ==") + 1] if name != "stream" else ""
    assert name == "stream" or first == f"1. {mine[0]['what']}" or first.startswith(f"1. {mine[0]['what']}: ")


@pytest.mark.parametrize("name", ["chain", "product", "stream"])
def test_the_verdict_is_of_the_times_that_repairs_are_made_of(tmp_path, capsys, name):
    path = run(name)
    mine = report(tmp_path, path).facts["verdict"]
    truth = json_of(capsys, path)["verdict"]
    shares = truth["shares"]
    assert (mine["cycles"], mine["first"]) == (truth["cycles"], truth["first"])
    assert mine["waits"] == {
        "firstTouches": shares["first_touches"], "inOrder": shares["in_order"], "outOfOrder": shares["out_of_order"],
    }
    time = truth["time"]
    assert mine["time"] == {
        "what": time["of"], **{name: time[name] for name in ("seconds", "least", "most")},
    }
    assert (mine["instructions"], mine["l1Code"]) == (shares["instructions"], shares["code"])


def test_hints_give_way_to_repairs(tmp_path):
    """Of what a repair is about, and where there is nothing to repair."""
    path = run("fat")
    (tmp_path / "without").mkdir()
    alone = tmp_path / "without" / "p.out"
    alone.write_text(Path(path).read_text())
    assert report(tmp_path, path).facts["hints"] == {"places": [], "others": []}
    without = report(tmp_path, alone)
    assert without.facts["hints"] and without.facts["why"] is None
    assert report(tmp_path, run("stream")).facts["hints"] == {"places": [], "others": []}


def test_curves_are_those_of_the_json(tmp_path, capsys):
    """Of the program; of a function alone, without what it calls."""
    distances = [(2, None)] * 100 + [(2, 1000)] * 400 + [(2, 19000)] * 1100 + at_random(1500)
    path = made(tmp_path, distances)
    found = report(tmp_path, path)
    why = found.facts["why"]
    assert (why["line"], why["d1"], why["ll"]) == (64, 32768, 131072 * 64)
    for option, mine in (("--curve", why["program"]), ("--curve=leaf", self_of(found, "leaf"))):
        truth = json_of(capsys, option, path)["curve"]
        misses = dict(zip(why["sizes"], whole(mine, why["sizes"])))
        assert [misses[point["size"]] for point in truth["points"]] == [
            point["misses"] for point in truth["points"]
        ]
        assert (mine["says"], mine["firstTouches"]) == (truth["says"], truth["first_touches"])
        assert [[why["sizes"][side] for side in knee] for knee in mine["knees"]] == [
            [knee["before"]["size"], knee["after"]["size"]] for knee in truth["knees"]
        ]
        assert (mine["fits"] is None) == (truth["fits"] is None)
        if truth["fits"]:
            assert why["sizes"][mine["fits"]] == truth["fits"]["size"]
    for number, name in enumerate(("main", "walk", "leaf"), 1):
        mine = whole(self_of(found, name), why["sizes"])
        for size, misses in list(zip(why["sizes"], mine))[1:]:
            if size & (size - 1) == 0:
                far = [one for at, one in distances if at == number and (one is None or one >= size // 64)]
                assert misses == len(far)
    most = [sum(1 for at, _ in distances if at == number) for number in (2, 1, 3)]
    assert [one["self"]["misses"][0] for one in why["functions"]][0] == most[0]


def test_loops_have_curves(tmp_path):
    """The outer one with its calls, where paths are known."""
    for with_paths in (False, True):
        page = report(tmp_path, with_loops(tmp_path, with_paths))
        names = [function for function, *_ in page.functions()]
        found = {
            one["name"]: (names[one["function"]], one["self"]["misses"][0], one["incl"] and one["incl"]["misses"][0])
            for one in page.facts["why"]["loops"]
        }
        assert found == {
            "loop prog.c:22": ("walk", 40, 320 if with_paths else None),
            "loop prog.c:23": ("walk", 200, 200 if with_paths else None),
        }
        of_functions = {
            names[one["function"]]: (one["self"]["misses"][:1], one["incl"] and one["incl"]["misses"][0])
            for one in page.facts["why"]["functions"]
        }
        assert of_functions["walk"] == ([240], 350 if with_paths else None)
        assert ("main" in of_functions) == with_paths


def test_data_have_curves(tmp_path):
    path, _ = with_data(tmp_path)
    page = report(tmp_path, path)
    labels = [group["label"] for group in page.facts["data"]["groups"]]
    found = {labels[one["group"]]: one["curve"]["misses"][0] for one in page.facts["why"]["data"]}
    assert sorted(found.values()) == [70, 450] and any("table" in name for name in found)


def self_of(page, name):
    names = [function for function, *_ in page.functions()]
    return next(one["self"] for one in page.facts["why"]["functions"] if names[one["function"]] == name)


def test_causes_are_columns_beside_the_misses(tmp_path):
    (tmp_path / "x.out").write_text(
        "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw D1first D1conf\nfl=a.c\nfn=main\n1 9 8 0 0 2 1 0 1 0 1 1\n"
    )
    columns = [name for name, _ in report(tmp_path, "x.out").facts["columns"]]
    at = columns.index("D1m")
    assert columns[at + 1 : at + 4] == ["D1first", "D1cap", "D1conf"]


def test_a_file_of_another_run_is_left_out(tmp_path, capsys):
    path = made(tmp_path, [(1, None)] * 5)
    Path(path).write_text(Path(path).read_text().replace("pid: 7", "pid: 8"))
    assert report(tmp_path, path).facts["why"] is None
    assert "reasons for loads are left out" in capsys.readouterr().err


def test_two_profiles_have_the_repairs_of_the_second(tmp_path):
    Path("after").mkdir()
    run("fat")
    for name in ("p.out", "why.p.out"):
        Path(name).rename(Path("after", name))
    before = run("product")
    page = report(tmp_path, "--diff", before, "after/p.out")
    assert [one["remedy"] for one in page.facts["why"]["repairs"]] == ["split"]


@pytest.mark.parametrize("name", ["chain", "product"])
def test_lists_are_in_the_order_of_the_text_report(tmp_path, capsys, name):
    """By what misses cost, where that is known: functions, their calls and lines have it."""
    path = run(name)
    page = report(tmp_path, path)
    capsys.readouterr()
    assert main([path, "--width=300", "--threshold=0"]) == 0
    text = capsys.readouterr().out
    (by,) = re.findall(r"^== Functions by (\w+)", text, re.MULTILINE)
    assert page.facts["columns"][0][0] == by and by.startswith("Wait")
    functions = json_of(capsys, f"--show={by}:self", "--threshold=0", path)["functions"]
    at = page.facts["events"].index(by)
    own = dict(zip((name for name, _, _ in page.functions()), (row[at] for row in page.costs("functions", "self:"))))
    known = {one["name"]: one["columns"][f"{by}:self"] for one in functions}
    assert {name: cost for name, cost in own.items() if cost} == {name: cost for name, cost in known.items() if cost}
    lines = page.table("lines")
    assert sum(lines[f"self:{by}"]) == sum(own.values()) == page.facts["totals"][0][at] > 0
