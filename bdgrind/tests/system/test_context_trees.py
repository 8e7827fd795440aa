# SPDX-License-Identifier: GPL-2.0-or-later
"""Calling context trees: each stands beside its profile and tells the same, in every event, function and call.

What the trees are, path by path, the unit tests compare with a naive engine. Here `bd_annotate --check` does the sums:
totals, functions, and the tree folded by pairs of caller and callee.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness import BUILD, GUESTS, SMALL_CACHES, Run, check, guest_program, run_tool

YES = "--context-tree=yes"
SITES = "--context-tree=sites"
APART = "--context-tree-recursion=apart"


def run(folder: Path, command: Sequence[str | Path], *options: str) -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options])


def checked(profile: Path) -> int:
    """Whether the tree beside a profile tells the same; how many nodes it has."""
    status, said = check(profile)
    assert status == 0, said
    tree = re.escape(str(profile.with_name(f"contexts.{profile.name}")))
    (nodes,) = re.findall(rf"^{tree}: (\d+) nodes .*: from the same run as", said, re.MULTILINE)
    return int(nodes)


def profiles(folder: Path) -> list[Path]:
    """Those in the folder that have a tree beside them: all of them."""
    found = sorted(path for path in folder.glob("profile.out*"))
    trees = {path.name.removeprefix("contexts.") for path in folder.glob("contexts.*")}
    assert {path.name for path in found} == trees
    return found


def head(tree: Path, key: str) -> list[str]:
    """The lines of a list in the head of a tree."""
    text = tree.read_bytes().partition(b"\nnodes:\n")[0].decode("utf-8", "surrogateescape")
    count, _, rest = text.partition(f"\n{key}: ")[2].partition("\n")
    return rest.split("\n")[: int(count)]


@pytest.mark.parametrize(
    "guest, options",
    [
        ("attribution", [SITES]),
        ("coroutines", [YES]),
        ("exceptions", [YES, APART]),
        ("handler_stack", [SITES]),
        ("handlers", [YES, "--branch-sim=yes", "--collect-systime=nsec"]),
        ("longjmp", [YES, APART, "--simulate-wb=yes", "--simulate-hwpref=yes"]),
        ("longjmp", [YES, "--separate-recs=1"]),
        ("plt_lazy", [SITES, "--separate-callers=2"]),
        ("recursion", [SITES, APART, "--skip-plt=no", "--compat-events=yes"]),
        ("siglongjmp", [YES, "--cache-sim=no"]),
        ("sort_callback", [SITES, "--toggle-collect=qsort*"]),
        ("tail_call_object", [YES, "--cacheuse=no", "--engine-threads=0"]),
        ("threads", [SITES, "--collect-bus=yes"]),
        ("x86/coroutines", [YES]),
        ("x86/exceptions", [YES, APART]),
        ("x86/handlers", [YES, "--branch-sim=yes", "--collect-systime=nsec"]),
        ("x86/longjmp", [YES, APART, "--separate-recs=1"]),
        ("x86/recursion", [SITES, APART, "--skip-plt=no"]),
        ("x86/sort_callback", [SITES, "--separate-callers=2"]),
        ("x86/threads", [SITES, "--collect-bus=yes"]),
    ],
)
def test_a_tree_tells_what_its_profile_tells(guest: str, options: list[str], tmp_path: Path) -> None:
    done = run(tmp_path, [guest_program(guest)], *options)
    assert "ther paths" not in done.log
    checked(done.profile_path)


@pytest.mark.parametrize("command", ["perl -e print(join(',',sort(map{$_*7%11}1..500)))", "sort -r /etc/passwd"])
def test_everyday_programs(command: str, tmp_path: Path) -> None:
    words = command.split(" ", 2)
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    done = run(tmp_path, words, SITES)
    assert checked(done.profile_path) > 500


def test_threads_and_handlers_are_roots(tmp_path: Path) -> None:
    run(tmp_path, [GUESTS / "threads"], YES)
    (profile,) = profiles(tmp_path)
    roots = head(tmp_path / f"contexts.{profile.name}", "roots")
    # Which of the other two is the first to run is the kernel's choice.
    assert roots[0] == "thread 1"
    assert sorted(roots[1:3]) == ["thread 2", "thread 3"]
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    run(tmp_path, [GUESTS / "handlers"], YES)
    roots = head(tmp_path / "contexts.profile.out", "roots")
    assert roots[0] == "thread 1" and all(re.fullmatch(r"signal \d+ 1", root) for root in roots[1:])
    assert len(roots) > 1 and "signal 0 1" not in roots


def test_each_part_has_its_tree(tmp_path: Path) -> None:
    options = [YES, "--dump-every-bb=20000", "--separate-threads=yes"]
    run(tmp_path, [GUESTS / "threads"], *options)
    found = profiles(tmp_path)
    assert len(found) > 4
    for profile in found:
        checked(profile)


@pytest.mark.parametrize("combine", ["no", "yes"])
def test_parts_before_an_exec(combine: str, tmp_path: Path) -> None:
    options = [SITES, "--trace-children=yes", f"--combine-dumps={combine}"]
    run(tmp_path, ["/usr/bin/env", "/usr/bin/env", GUESTS / "recursion"], *options)
    found = profiles(tmp_path)
    assert len(found) == (1 if combine == "yes" else 3)
    for profile in found:
        checked(profile)


def test_an_exec_that_fails_takes_its_tree_back(tmp_path: Path) -> None:
    """In one file, newlines stand where it was."""
    run(tmp_path, ["/usr/bin/env", "no_such_program"], YES, "--combine-dumps=yes")
    (profile,) = profiles(tmp_path)
    checked(profile)


def test_forked_children_have_trees_of_their_own(tmp_path: Path) -> None:
    run(tmp_path, [GUESTS / "forks"], YES)
    found = profiles(tmp_path)
    assert len(found) > 1
    for profile in found:
        checked(profile)


@pytest.mark.parametrize("nodes", [0, 40])
def test_paths_past_the_bound_are_put_together(nodes: int, tmp_path: Path) -> None:
    done = run(tmp_path, [GUESTS / "longjmp"], YES, f"--context-tree-nodes={nodes}", "--stats=yes")
    checked(done.profile_path)
    (share,) = re.findall(r"Other paths: +([\d.]+)% of Ir, [\d.]+% of SpLoss1", done.log)
    assert float(share) > 99 if nodes == 0 else 0 < float(share) < 100
    (made,) = re.findall(r"nodes: +(\d+) of", done.log)
    assert nodes * 7 // 8 <= int(made) <= nodes
    assert re.search(r"folded: +[1-9][\d,]* times", done.log)


def test_a_fold_keeps_what_costs_most(tmp_path: Path) -> None:
    """Thousands of paths of which few cost much."""
    if shutil.which("perl") is None:
        pytest.skip("perl is not installed")
    command = ["perl", "-e", "print(join(',',sort(map{$_*7%11}1..20000)))"]
    done = run(tmp_path, command, YES, "--context-tree-nodes=1000")
    assert checked(done.profile_path) > 875
    (share,) = re.findall(r"Other paths: +([\d.]+)% of Ir", done.log)
    assert float(share) < 10


@pytest.mark.parametrize(
    "guest, options",
    [
        ("coroutines", [YES]),
        ("handlers", [SITES]),
        ("longjmp", [YES, APART, "--why=yes", "--objects=yes"]),
        ("threads", [YES, "--separate-threads=yes", "--dump-every-bb=20000"]),
        ("sort_callback", [SITES, "--toggle-collect=qsort*"]),
        ("forks", [YES]),
    ],
)
def test_a_folded_tree_tells_what_its_profile_tells(guest: str, options: list[str], tmp_path: Path) -> None:
    run(tmp_path, [GUESTS / guest], *options, "--context-tree-nodes=24")
    found = profiles(tmp_path)
    assert found
    for profile in found:
        checked(profile)


@pytest.mark.parametrize("room", [[], ["--context-tree-nodes=30"]])
def test_a_traced_run_gives_the_same_tree(room: list[str], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = run(tmp_path, [GUESTS / "handlers"], SITES, *room, f"--record-trace={trace}")
    replayed = tmp_path / "replayed.out"
    bdreplay: list[str | Path] = [
        BUILD / "bdgrind" / "bdreplay", SITES, *room, *SMALL_CACHES, "--batch-words=1000", f"--out={replayed}", trace,
    ]
    subprocess.run(bdreplay, check=True, capture_output=True)
    tree = tmp_path / "contexts.profile.out"
    assert (tmp_path / "contexts.replayed.out").read_bytes() == tree.read_bytes()
    assert replayed.read_bytes() == done.profile_path.read_bytes()


def test_there_is_no_tree_beside_a_stream(tmp_path: Path) -> None:
    done = run(tmp_path, [GUESTS / "tail_call"], YES, "--bdgrind-out-file=/dev/stdout")
    assert done.status == 1
    assert "No context tree can be written beside /dev/stdout, which is not a file" in done.log
    assert not list(tmp_path.glob("contexts.*"))


def test_without_the_option_there_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, [GUESTS / "tail_call"])
    assert not list(tmp_path.glob("contexts.*")) and "Context tree" not in done.log
