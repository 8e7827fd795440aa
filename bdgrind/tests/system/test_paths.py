# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions: those of a function cost what the profile says that it costs, in every event.

What the paths are, step by step, the unit tests compare with a naive engine.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from bdannotate.cli import main as bd_annotate
from harness import SMALL_CACHES, Run, guest_program, run_tool
from path_reader import CHARGED, STEP, Paths, read_paths
from profile_reader import read_profile


def run(folder: Path, guest: str, *options: str) -> Run:
    return run_tool(folder, [guest_program(guest)], [*SMALL_CACHES, *options])


def paths_of(profile: Path) -> Paths:
    return read_paths(profile.with_name(f"paths.{profile.name}"))


def nonzero(costs: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    found = {
        function: {event: count for event, count in counts.items() if count}
        for function, counts in costs.items()
    }
    return {function: counts for function, counts in found.items() if counts}


@pytest.mark.parametrize(
    "guest, options",
    [
        ("attribution", []),
        ("attribution", ["--objects=yes", "--why=yes", "--L2=8192,4,64"]),
        ("coroutines", []),
        ("exceptions", ["--why=causes"]),
        ("handlers", ["--branch-sim=yes", "--collect-systime=nsec", "--simulate-wb=yes"]),
        ("longjmp", ["--simulate-hwpref=yes"]),
        ("plt_lazy", ["--separate-callers=2"]),
        ("recursion", ["--skip-plt=no"]),
        ("sort_callback", ["--toggle-collect=qsort*"]),
        ("sort_callback", ["--paths-nodes=50"]),
        ("tail_call_object", ["--cacheuse=no", "--engine-threads=0"]),
        ("siglongjmp", ["--cache-sim=no"]),
        ("threads", ["--collect-bus=yes"]),
        ("rep", ["--collect-jumps=yes"]),
    ],
)
def test_the_paths_of_a_function_cost_what_it_costs(tmp_path: Path, guest: str, options: list[str]) -> None:
    profile = run(tmp_path, guest, "--paths=yes", *options).profile_path
    expected = nonzero(read_profile(profile).self_costs)
    assert expected
    assert nonzero(paths_of(profile).self_costs()) == expected


def test_each_part_has_its_paths(tmp_path: Path) -> None:
    run(tmp_path, "sort_callback", "--paths=yes", "--dump-every-bb=20000")
    profiles = sorted(tmp_path.glob("profile.out*"))
    assert len(profiles) > 2
    for profile in profiles:
        assert nonzero(paths_of(profile).self_costs()) == nonzero(read_profile(profile).self_costs)


def test_named_functions_alone_have_paths(tmp_path: Path) -> None:
    profile = run(tmp_path, "sort_callback", "--paths=main", "--paths=no_such_function").profile_path
    paths = paths_of(profile)
    assert {path.function for path in paths.paths()} == {"main"}
    assert nonzero(paths.self_costs()) == {"main": nonzero(read_profile(profile).self_costs)["main"]}


def test_without_the_option_there_is_no_such_file_and_the_profile_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "yes").mkdir()
    (tmp_path / "off").mkdir()
    on = run(tmp_path / "yes", "attribution", "--paths=yes").profile_path
    off = run(tmp_path / "off", "attribution").profile_path
    assert not list(off.parent.glob("paths.*"))
    assert read_profile(on).self_costs == read_profile(off).self_costs
    assert read_profile(on).arcs == read_profile(off).arcs


def costs_of_paths(paths: Paths) -> dict[str, list[tuple[int, ...]]]:
    """Of each function: how often each of its paths was executed, and what it cost, path by path from the rows."""
    nodes, steps, functions = paths.sections["nodes"], paths.sections["steps"], paths.function_of()
    found: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    instructions: Counter[int] = Counter()
    for step, _, _, count in paths.sections["pieces"]:
        instructions[step] += count
    rare: dict[int, Counter[str]] = defaultdict(Counter)
    for node, _, *counts in paths.sections["cells"]:
        for event, count in zip(paths.events, counts):
            rare[node][event] += count - (1 << 64) if count >> 63 else count
    for number, (*_, times) in enumerate(nodes, 1):
        costs = rare[number]
        at = number
        while nodes[at - 1][1] in (STEP, CHARGED):
            step = nodes[at - 1][3]
            costs["Ir"] += times * instructions[step]
            costs["Dr"] += times * steps[step - 1][4]
            costs["Dw"] += times * steps[step - 1][5]
            at = nodes[at - 1][0]
        if times and at != number:
            found[functions[number]].append((times, *(costs[event] for event in paths.events)))
    return found


@pytest.mark.parametrize("guest, options", [
    ("sort_callback", ["--paths=yes"]),
    ("plt_lazy", ["--paths=yes"]),
    ("recursion", ["--paths=main", "--paths=f*"]),
    ("sort_callback", ["--paths=yes", "--paths-nodes=300"]),
])
def test_bd_annotate_shows_all_paths_with_what_they_cost(
    tmp_path: Path, guest: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    profile = run(tmp_path, guest, *options).profile_path
    paths = paths_of(profile)
    assert bd_annotate(["--paths", "--threshold=0", "--format=json", str(profile)]) == 0
    shown = json.loads(capsys.readouterr().out)["paths"]
    assert shown["events"] == paths.events
    mine, sums = costs_of_paths(paths), paths.self_costs()
    for one in shown["functions"]:
        one["function"] = re.sub(r"'\d+$", "", one["function"])  # recursion, which the reader does not separate
    assert {one["function"] for one in shown["functions"]} == {name for name in paths.function_of() if name}
    by_name: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for one in shown["functions"]:
        by_name[one["function"]] += [(path["times"], *path["self"]) for path in one["hot"]]
        totals[one["function"]].update(dict(zip(paths.events, one["self"])))
        assert one["colder"]["paths"] == 0
    assert {name: sorted(found) for name, found in by_name.items() if found} == {
        name: sorted(found) for name, found in mine.items()
    }
    assert nonzero(totals) == nonzero(sums)
    assert bd_annotate(["--check", str(profile)]) == 0
    assert "paths of" in capsys.readouterr().out
