# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths within functions: those of a function cost what the profile says that it costs, in every event.

What the paths are, step by step, the unit tests compare with a naive engine.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harness import SMALL_CACHES, Run, guest_program, run_tool
from path_reader import Paths, read_paths
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
        ("tail_call_object", ["--cacheuse=no", "--engine-thread=no"]),
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
