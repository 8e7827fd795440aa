# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs: the right one first, at the right lines, with what the repaired program then loads."""

import json
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import why_kernels
from bdannotate.analyses.misses.miss_costs import Access
from bdannotate.analyses.misses.site import Change
from bdannotate.analyses.misses.site_rows import SiteRows
from bdannotate.analyses.repairs.choice import Repairs, _detour, _open_places, sites_of
from bdannotate.analyses.repairs.layouts import _element, _is_used_late
from bdannotate.analyses.repairs.repair import Amount, Remedy, Repair
from bdannotate.cli import main
from bdannotate.model.frames import Position
from bdannotate.model.merge import Renaming
from bdannotate.model.profile import Function
from bdannotate.model.why import Depends
from bdannotate.model.work import Estimate
from bdannotate.reading.load import load_sum, load_why
from bdannotate.reading.machine import reference_machine
from bdannotate.reading.parser import Detail
from bdannotate.views.repairs import brief_repairs, headline
from bdannotate.views.text import Page
from why_machine import LINE, Machine

# What is to be found, and the lines that are named.
KERNELS = {
    "product": ("interchange", [32, 33]),
    "transpose": ("tile", [31, 32]),
    "passes": ("fuse", [30, 31, 32]),
    "fat": ("split", [32, 33]),
    "columns": ("pad", [32, 33, 34, 35, 36, 37]),
    "rows": ("interchange", [31, 32]),
    "table": ("prefetch", [32]),
    "chain": ("colocate", [32]),
    "pooled": ("split", [32, 33]),
    "pages": ("huge-pages", [32]),
}
# Those that gain hardly any time by the estimate, which the first line says.
DOUBTFUL = {"passes"}


@cache
def made(name, repaired=False):
    """The files by name, and how many lines were missed."""
    machine = Machine(sets=8, ways=4, ll_lines=1024)
    getattr(why_kernels, name)(machine, repaired)
    with tempfile.TemporaryDirectory() as folder:
        machine.files(Path(folder))
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return files, sum(count for (_, _, what), count in machine.distances.items() if what == "misses")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """A folder whose files have short names."""
    monkeypatch.chdir(tmp_path)


def run(name, repaired=False):
    files, _ = made(name, repaired)
    for path, data in files.items():
        Path(path).write_bytes(data)
    return "p.out"


def repairs(capsys, path):
    assert main([path, "--format=json"]) == 0
    return json.loads(capsys.readouterr().out)["repairs"]


@pytest.mark.parametrize("name", KERNELS)
def test_the_right_repair_is_first_and_saves_what_it_says(capsys, name):
    path = run(name)
    assert main(["--check", path]) == 0
    capsys.readouterr()
    found = repairs(capsys, path)
    remedy, lines = KERNELS[name]
    assert (found[0]["remedy"] == "none") == (name in DOUBTFUL)
    first = found[name in DOUBTFUL]
    assert (first["share"] < 0.02) == (name in DOUBTFUL)
    assert (first["remedy"], sorted(first["lines"])) == (remedy, lines)
    assert first["function"] == "work" and first["file"] == "/src/prog.c"
    before, after = (first["saves"]["L1 misses"][when] for when in ("before", "after"))
    assert first["saves"]["L1 bytes"] == {"before": LINE * before, "after": LINE * after}
    predicted = made(name)[1] - before + after
    assert predicted == pytest.approx(made(name, repaired=True)[1], rel=0.15)
    assert 0 <= first["share"] <= 1 and first["most"] > 0 and first["evidence"]


def test_a_split_without_a_type_says_how_to_name_it(capsys):
    """As of particles for `sizeof *all->particles`: what all loops save together is far more than what each does."""
    assert main([run("fat"), "--hints"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "their type is not known: with --object-type=PLACE=TYPE, there is one split for all loops" in text


def test_numbers_of_a_table_are_no_list(capsys):
    """Each has its place, which says what it is of: none can be stored in the order of the visits. As of zopfli
    (docs/cases)."""
    (found,) = repairs(capsys, run("places"))
    assert found["remedy"] == "none"
    assert main(["p.out"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "prog.c:32 costs" in text and "each index into the table is read from the previous entry; a smaller" in text


def test_passes_over_data_that_nearly_fit_are_done_part_by_part(capsys):
    first, *_ = repairs(capsys, run("rounds"))
    assert (first["remedy"], first["lines"]) == ("smaller-working-set", [33])
    before, after = (first["saves"]["LL misses"][when] for when in ("before", "after"))
    (then, *_) = repairs(capsys, run("rounds", repaired=True))
    # Eight rounds over 1,280 lines; then each line once. Those of a part still miss D1.
    assert (before, after) == (8 * 1280, 1280) and then["remedy"] == "none"
    assert then["saves"]["LL misses"]["before"] == after


def test_look_ups_anywhere_in_data_that_nearly_fit_are_no_passes(capsys):
    """No part of the work needs a part of the table only. As of hashbrown and libdivsufsort (docs/cases)."""
    (found,) = repairs(capsys, run("lookups"))
    assert found["remedy"] == "none" and found["share"] > 0.1
    assert main(["p.out", "--width=80"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "no repair is known: " in text and "prefetching may help, or smaller elements" in text


def test_below_a_condition_stands_what_has_none():
    split = Repair(
        remedy=Remedy.SPLIT, function=Function("prog", "/src/prog.c", "work"), file="/src/prog.c", lines=(33,),
        loops=(), group=None, before=Amount(100, 0), after=Amount(20, 0), walks=None, saved=Estimate(40.0, 30.0, 50.0),
        evidence=(), code=(), unknown="", sites=frozenset(), line=64, time=100.0,
    )
    other = replace(split, lines=(44,), condition="if it rains")
    first = replace(split, remedy=Remedy.INTERCHANGE, saved=Estimate(50.0, 50.0, 50.0))

    def shown(repair):
        return brief_repairs(Repairs((repair,), {0: (other, split)}, 100.0), Page(200), lambda loop: "")

    assert len(shown(first)) == 1
    assert shown(replace(first, condition="if it rains"))[1:] == [
        "   Or split the elements: keep what prog.c:33 uses apart from the rest: L1 misses 100, then about 20; "
        "40% of the time (30% to 50%)"
    ]


def test_what_gains_nothing_by_the_estimate_is_not_first(capsys):
    """As of TM-align (docs/cases)."""
    assert main([run("passes"), "--width=80"]) == 0
    screen = capsys.readouterr().out
    text = " ".join(screen[screen.index("== What to change =="):].split())
    assert text.startswith(
        "== What to change == 1. no repair is sure to gain anything: misses out of order cost 0% of the estimated "
        "time 2. fuse the loops"
    )
    assert "at most " in text


@pytest.mark.parametrize("name", ["stream", "small"])
def test_where_nothing_is_to_be_gained_it_says_so_and_nothing_else(capsys, name):
    path = run(name)
    found = repairs(capsys, path)
    assert [repair["remedy"] for repair in found] in ([], ["none"])
    assert main([path, "--hints", "--width=80"]) == 0
    text = capsys.readouterr().out
    assert "Usually helps" not in text
    assert main([path, "--width=80"]) == 0
    assert "exchange" not in capsys.readouterr().out


@pytest.mark.parametrize("name", [*KERNELS, "stream"])
def test_the_first_screen_leads_with_it_in_80_columns(capsys, name):
    path = run(name)
    for option in ("--width=80", "--hints"):
        assert main([path, option, "--width=80"]) == 0
        text = capsys.readouterr().out
        assert max(map(len, text.split("\n"))) <= 80
    assert "Usually helps" not in text
    assert "Evidence: " in text
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    assert screen.count("\n") <= 40
    assert screen.index("== What to change ==") < screen.index("== Functions by")
    assert "bd_annotate --hints" in screen or name == "stream"
    assert "--why=yes" not in screen


def test_without_a_why_file_the_screen_says_how_to_get_one(capsys):
    path = run("product")
    Path("why.p.out").unlink()
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    assert "valgrind --tool=bdgrind --why=yes --objects=yes prog  # repairs" in screen
    assert screen.count("\n") <= 40


def test_causes_alone_tell_no_repairs_and_what_would(capsys):
    path = run("product")
    why = Path("why.p.out")
    data = why.read_bytes()
    why.write_bytes(data[: data.index(b"reuses: place ")])
    said = "note: why.p.out has only causes and distances of misses; a run with --why=yes records what to change"
    for option in ("--width=80", "--hints", "--format=json", "--html=page.html"):
        assert main([option, path]) == 0
        captured = capsys.readouterr()
        assert captured.err.count(said) == 1
        assert "exchange the loops at" not in captured.out
    assert main(["--curve", path]) == 0
    captured = capsys.readouterr()
    assert "Misses of data by the size of the cache" in captured.out and not captured.err
    assert main(["--width=80", path]) == 0
    screen = capsys.readouterr().out
    assert "valgrind --tool=bdgrind --why=yes --objects=yes prog  # repairs" in screen
    assert screen.count("\n") <= 40


def test_what_is_damaged_is_left_out_with_a_note(capsys):
    path = run("product")
    why = Path("why.p.out")
    why.write_bytes(why.read_bytes()[:-9])
    assert main([path]) == 0
    captured = capsys.readouterr()
    assert "reasons for loads are left out" in captured.err
    assert "Usually" not in captured.out and "== What to change ==" in captured.out


def by_lines(path):
    """The profile without instructions."""
    text = Path(path).read_text().replace("positions: instr line", "positions: line")
    Path(path).write_text(re.sub(r"(?m)^0x[0-9a-f]+ |(?<=^calls=1) 0x[0-9a-f]+", "", text))
    return path


@pytest.mark.parametrize("name", ["chain", "product", "passes"])
def test_a_profile_by_lines_has_the_same_repair_first(capsys, name):
    found = repairs(capsys, by_lines(run(name)))
    assert found[name in DOUBTFUL]["remedy"] == KERNELS[name][0]


def test_what_callers_go_through_is_no_field_of_an_element(capsys):
    found = repairs(capsys, run("called_columns"))
    assert [repair["remedy"] for repair in found] == ["pad"]


def sites(path, chains):
    profile = load_sum([path], Detail.INSTRUCTIONS, Renaming())
    return sites_of(SiteRows(load_why([path], profile, Renaming()), profile, reference_machine()), {}, chains)


def test_a_pool_of_elements_is_no_element():
    def group(size, number):
        return SimpleNamespace(blocks=SimpleNamespace(smallest=size, largest=size, number=number))

    assert _element(group(224, 9), []) == 224
    assert _element(group(16384, 9), []) == 0


def test_steps_of_a_list_in_a_pool_are_multiples_of_an_element(capsys):
    assert {site.element_step for site in sites(run("pooled"), {}).all} == {192}
    assert {site.element_step for site in sites(run("neighbours"), {}).all} == {None}
    assert {site.element_step for site in sites(run("chain"), {}).all} == {None}
    assert "steps of 192 bytes, or multiples of that, " in repairs(capsys, run("pooled"))[0]["evidence"][0]


def test_a_list_that_goes_on_in_memory_is_foreseen():
    assert [site.access for site in sites(run("neighbours"), {}).all] == [Access.NEARBY]
    assert Access.CHAIN in [site.access for site in sites(run("chain"), {}).all]


@pytest.mark.parametrize("inlined", [
    Position("std::get", "/usr/include/get.h", 32, 20), Position("get", "/src/get.h", 32, 31),
])
def test_what_is_inlined_of_others_counts_for_the_line_that_calls_it(inlined):
    chain = (Position("work", "/src/prog.c", 77, 30), inlined)
    found = sites(run("table"), {"/bin/prog": {16 * 32: chain}}).all
    assert [site.where for site in found] == [("/src/prog.c", 77)]


def test_where_much_is_lost_and_no_repair_is_known_it_says_where(capsys):
    path = run("tree")
    assert [repair["remedy"] for repair in repairs(capsys, path)] == ["none"]
    assert main([path, "--width=80"]) == 0
    screen = capsys.readouterr().out
    change = screen[screen.index("== What to change ==") : screen.index("== Lines")]
    assert "1. no repair is known: misses out of order cost " in change and "nothing to gain" not in change
    assert "prog.c:32 costs " in change and "fewer, fuller nodes" in change
    assert screen.count("\n") <= 40
    assert main([path, "--hints", "--width=80"]) == 0
    assert "Prog.c" not in (text := capsys.readouterr().out) and "prog.c:32 costs " in text


def nothing(**changes):
    none = Repair(
        remedy=Remedy.NONE, function=Function("prog", "/src/prog.c", "work"), file="", lines=(), loops=(), group=None,
        before=Amount(0, 0), after=Amount(0, 0), walks=None, saved=Estimate(), evidence=(), code=(), unknown="",
        sites=frozenset(), line=64, time=100.0,
    )
    return headline(replace(none, **changes), Page(200), lambda loop: "")


@pytest.mark.parametrize("cost, said", [(0.0, "cost 0% of"), (0.4, "cost less than 1% of"), (0.6, "cost 1% of")])
def test_what_is_not_nothing_does_not_look_like_it(cost, said):
    assert said in nothing(cost=cost)


def test_what_instructions_save_is_said():
    saved = dict(remedy=Remedy.FUSE, before=Amount(9, 0), after=Amount(3, 0), saved=Estimate(9.0, 9.0, 9.0))
    assert nothing(**saved).endswith("; 9% of the time")
    assert nothing(**saved, saved_by_misses=9.2).endswith("; 9% of the time")
    assert nothing(**saved, saved_by_misses=4.0).endswith("; 9% of the time: misses 4%, instructions 5%")
    assert nothing(**saved, saved_by_misses=-1.0).endswith("; 9% of the time: misses 0%, instructions 9%")


def test_what_places_cost_at_most_all_of_them_do():
    """The line above a place that costs at most 38% says that, too."""
    said = "no repair is known for the other misses out of order: they cost 1% of the estimated time"
    assert nothing(sites=frozenset({1}), cost=1.0) == said
    assert nothing(sites=frozenset({1}), cost=1.0, cost_at_most=41.0) == (
        f"{said}, at most 41% if instructions hide nothing"
    )
    assert "at most 100% if" in nothing(sites=frozenset({1}), cost=1.0, cost_at_most=141.0)


@pytest.mark.parametrize("freed", [0.0, 0.4, 1.0])
def test_instructions_that_are_gone_hide_no_lines(freed):
    """If all lines stay, no more is saved than what instructions take beyond the time of the lines."""
    found = sites(run("passes"), {})
    where = found._group_of(found.all[0])
    here, time = found._members[where], found._times[where]
    lines = sum(replace(time, work=0.0).waiting({site.number: site.loads for site in here}, found.costs).values())
    same = {site.number: Change(site.lines, site.last_level, site.access) for site in here}
    now, then = max(time.work, lines), max(time.work * (1 - freed), lines)
    assert found.saved(same, freed * time.work, [where]).value == pytest.approx(now - then, abs=1e-6 * now)


def test_where_little_is_lost_it_says_how_little(capsys):
    assert main([run("stream"), "--width=80"]) == 0
    assert "misses out of order cost 0% of the" in capsys.readouterr().out


@pytest.mark.parametrize(("late", "never", "expected"), [(48.0, 0.0, True), (8.0, 40.0, False), (None, None, True)])
def test_bytes_that_are_never_used_are_the_layouts(late, never, expected):
    """Though a loop around goes through the rest of the lines. What is used in other stays is the loops'."""
    site = SimpleNamespace(lines=100, last_level=0, is_used_later=True, late=late, never=never)
    assert _is_used_late([site]) is expected
    assert _is_used_late([SimpleNamespace(lines=100, last_level=0, is_used_later=False, late=48.0, never=0.0)]) is False


def test_a_nest_has_one_repair(capsys):
    """The product's other matrices would fit a cache of twice the size: the loops are exchanged, and that is all."""
    assert [one["remedy"] for one in repairs(capsys, run("product"))] == ["interchange"]


def test_a_run_of_no_time_has_no_places_of_it():
    """As a damaged profile may say."""
    here = [SimpleNamespace(where=("a.c", 1), open_waiting=0.0, inner=None)]
    assert _open_places(here, 0.0) == []


def texts_of(site, time=100.0):
    return [place.text for place in _open_places([site], time)]


def detour(depends, used=8.0, waiting=0.0, most=24.0, is_scattered=True):
    return SimpleNamespace(
        where=("/src/a.c", 7), open_waiting=waiting, open_at_most=0.75 * most, used=used,
        line=64, inner=SimpleNamespace(order=SimpleNamespace(depends=depends)), is_scattered=is_scattered, lines=9,
        has_numbers_as_links=False, waits_for_itself=False, has_order=True, is_strided=False,
    )


@pytest.mark.parametrize(("depends", "said"), [
    (Depends.POINTER, "each address is a pointer that was loaded just before, and 8 bytes of each line are used: keep "
                      "a copy of them beside it"),
    (Depends.INDEX, "each address comes from an index that was loaded just before, and 8 bytes of each line are used: "
                    "number the elements in the order of the visits, or sort the indices"),
])
def test_what_an_index_or_a_pointer_leads_to_is_named_though_its_misses_may_be_hidden(depends, said):
    """As of a heap of pointers to events, whose comparisons go to the events, and of a sparse matrix whose rows are in
    no order."""
    assert texts_of(detour(depends)) == [f"a.c:7 costs at most 18%: {said}"]
    assert texts_of(detour(depends, waiting=20.0)) == [f"a.c:7 costs 20%: {said}"]
    assert texts_of(detour(depends, most=4.0)) == []
    assert texts_of(detour(depends, used=17.0)) == []
    assert texts_of(detour(Depends.ARITHMETIC)) == []
    assert _detour(detour(depends, is_scattered=False)) == ""


def test_a_place_without_a_line_is_named():
    site = SimpleNamespace(
        where=("/src/a.c", 0), is_foreseen=False, time=9.0, open_waiting=8.0, waits_for_itself=False, has_order=True,
        has_numbers_as_links=False, is_chain=False, is_scattered=True, is_strided=False, inner=None,
    )
    (text,) = texts_of(site, 10.0)
    assert text.startswith("code of a.c without line numbers costs 80%: ")
    assert "not read from the previous line: prefetching may help" in text


def test_places_in_code_without_a_file_are_functions():
    """As of a stripped program: all of it has the same unknown file."""
    lookup, insert = (
        SimpleNamespace(
            where=("???", 0), is_foreseen=False, time=waiting, open_waiting=waiting, waits_for_itself=True,
            has_order=False, has_numbers_as_links=False, is_chain=False, inner=None, is_scattered=False,
            place=SimpleNamespace(function=Function(name=name, file="???", object="/usr/bin/gzip")),
        )
        for name, waiting in (("deflate", 2.0), ("0x4290", 5.0))
    )
    texts = [place.text.partition(":")[0] for place in _open_places([lookup, insert], 10.0)]
    assert texts == ["gzip+0x4290 costs 50%", "deflate costs 20%"]


def test_columns_of_which_the_loop_around_is_not_known_are_named():
    """As of JAMA's hqr2 (docs/cases): a round of the loop around is longer than the pieces whose order is known."""
    site = SimpleNamespace(
        where=("/src/a.c", 7), is_foreseen=False, time=9.0, open_waiting=8.0, waits_for_itself=False, has_order=True,
        has_numbers_as_links=False, is_scattered=False, is_strided=True, inner=SimpleNamespace(step=-3200), used=21.0,
        late=43.0, never=0.0,
    )
    assert texts_of(site, 10.0) == [
        "a.c:7 costs 80%: steps of 3,200 bytes use 21 bytes of a line at a time, 43 at other times; another loop "
        "order, or a transposed copy, walks along memory"
    ]
    site.late, site.never = 0.0, 43.0
    assert "steps of" not in texts_of(site, 10.0)[0]
