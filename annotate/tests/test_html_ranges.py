# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page knows of each profile of a sum: all of them together are the sum, and each is what it is alone."""

import pytest

from bdannotate.html import page_ranges
from bdannotate.html.schema import OF_MEMBERS
from context_files import ContextFile
from html_pages import json_of, report

EVENTS = ("Ir", "SpLoss1")


def three(folder):
    """Parts in which main calls f, g or both, and f itself; with their trees."""
    paths = []
    for number, (own, of_f, of_g) in enumerate([(5, 40, 0), (1, 0, 70), (2, 13, 17)], 1):
        path = folder / f"part.{number}.out"
        path.write_text(
            f"pid: 7\ncmd: x\npart: {number}\nevents: {' '.join(EVENTS)}\nfl=a.c\nfn=main\n1 {own} {number}\n"
            + (f"cfn=f\ncalls={number} 1\n2 {of_f} {of_f // 2}\n" if of_f else "")
            + (f"cfn=g\ncalls=1 1\n3 {of_g} 9\n" if of_g else "")
            + (f"fn=f\n10 {of_f - 3} {of_f // 2}\n11 3 0\n" if of_f else "")
            + (f"fn=g\n20 {of_g} 9\n" if of_g else ""))
        functions = [("", "a.c", 1, name) for name in ("main", "f", "g")]
        nodes = [(0, 0, 0, (0, 0)), (1, 1, 0, (own, number))]
        nodes += [(2, 2, number, (of_f, of_f // 2))] * bool(of_f) + [(2, 3, 1, (of_g, 9))] * bool(of_g)
        (folder / f"contexts.part.{number}.out").write_bytes(
            ContextFile(EVENTS, functions, ["thread 1"], nodes, head=f"pid: 7\ncmd: x\npart: {number}").bytes())
        paths.append(path)
    return paths


def test_all_members_are_the_sum(tmp_path):
    page = report(tmp_path, *three(tmp_path))
    for name, of in OF_MEMBERS.items():
        whole, parts = page.table(name), page.table(of)
        counts = [column for column in whole if ":" in column or column == "calls"]
        assert sorted(parts) == sorted(f"{member}:{column}" for member in range(3) for column in counts)
        for column in counts:
            members = [parts[f"{member}:{column}"] for member in range(3)]
            assert [sum(values) for values in zip(*members)] == list(whole[column]), (name, column)


def test_each_member_is_what_it_is_alone(tmp_path, capsys):
    paths = three(tmp_path)
    page = report(tmp_path, *reversed(paths))  # in whatever order they are given, parts are in that of time
    functions, lines = page.table("functionsOf"), page.table("linesOf")
    names = [name for name, _, _ in page.functions()]
    for member, path in enumerate(paths):
        alone = {one["name"]: one for one in json_of(capsys, path)["functions"]}
        for row, name in enumerate(names):
            zero = {"self": [0, 0], "inclusive": [0, 0], "calls": 0}
            known = alone.get(name, zero)
            for kind, key in (("self", "self"), ("incl", "inclusive")):
                assert [functions[f"{member}:{kind}:{event}"][row] for event in EVENTS] == known[key], (name, kind)
            assert functions[f"{member}:calls"][row] == known["calls"]
        assert sum(lines[f"{member}:self:Ir"]) == json_of(capsys, path)["totals"][0]


def test_one_profile_has_none_and_too_many_counts_are_left_out(tmp_path, monkeypatch):
    paths = three(tmp_path)
    assert not set(report(tmp_path, paths[0]).facts["tables"]) & set(OF_MEMBERS.values())
    monkeypatch.setattr(page_ranges, "_MOST_COUNTS", 60)
    found = set(report(tmp_path, *paths).facts["tables"]) & set(OF_MEMBERS.values())
    assert found == {"functionsOf"}, "3 functions with 5 counts for each of 3 are 45; the calls are 18 more"


@pytest.mark.parametrize("missing", [1, 3])
def test_without_all_trees_there_are_no_paths(tmp_path, missing):
    paths = three(tmp_path)
    (tmp_path / f"contexts.part.{missing}.out").unlink()
    assert "treeOf" not in report(tmp_path, *paths).facts["tables"]
