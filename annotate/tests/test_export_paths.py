# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of calls, as all forms with paths have them: what they really cost, and where they are not known."""

import pathlib
import re
import tempfile
from collections import Counter

import pytest
from hypothesis import given

from bdannotate.exports.request import make_request
from bdannotate.exports.stacks import stacks
from bdannotate.reading.parser import parse_text

from context_files import ContextFile
from exporting import (
    CHAINS, HELPER, INLINED, ROOT, exported, inlined_request, load_contexts, run, seeds, with_tree,
)
from traces import Trace


@given(seeds)
def test_paths_cost_what_they_really_did(seed):
    """The trace knows each path that was taken. Only names tell functions apart here, as they do
    in flame graphs."""
    trace = Trace(seed)
    request = make_request(parse_text(trace.text(seed)), ("Ir", "X"), 0)
    total = [0, 0]
    for stack in stacks(request):
        total = [old + new for old, new in zip(total, stack.row)]
        path = tuple(frame.name for frame in stack.frames)
        if path[0].startswith("<cycle"):
            continue
        own = [0, 0]
        for functions, (_, costs) in trace.contexts.items():
            names = tuple(function[2] for function in functions)
            if names == path or stack.frames[-1].has_callees and names[: len(path)] == path:
                own = [old + new for old, new in zip(own, costs)]
        assert tuple(own) == stack.row, path
    assert total == trace.totals


def test_paths_end_where_callers_mix():
    result = run(HELPER, "--export=folded", "--events=Ir")
    assert result.stdout == (
        "(below main) 100\n"
        "(below main);main 900\n"
        "(below main);main;columns 10000\n"
        "(below main);main;columns;fetch 40000\n"
        "(below main);main;once 1000\n"
        "(below main);main;once;fetch 8000\n"
        "(below main);main;rows 10000\n"
        "(below main);main;rows;fetch 30000\n"
    )
    assert result.stderr == ""
    result = run(ROOT / "tests" / "profiles" / "recursion.out", "--export=folded")
    assert result.stdout == "main 10\nmain;walk [and callees] 20\nmain;even [and callees] 610\n"
    assert "paths are certain for 2% of Ir: they end where" in result.stderr


@given(seeds)
def test_paths_of_a_context_tree_are_exact(seed):
    trace = Trace(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = with_tree(pathlib.Path(folder), trace)
        request = make_request(parse_text(path.read_text()), ("X", "Ir"), 0, load_contexts(path))
        found = {}
        for stack in stacks(request):
            names = tuple((frame.object, frame.file, frame.name) for frame in stack.frames)
            assert names not in found
            found[names] = stack.row
    expected = {
        path: (costs[1], costs[0]) for path, (_, costs) in trace.contexts.items() if any(costs)
    }
    assert found == expected


def test_a_context_tree_is_found_and_needs_no_note(tmp_path):
    trace = Trace(5)
    path = with_tree(tmp_path, trace)
    exact = run(path, "--export=folded", "--events=Ir")
    assert (exact.returncode, exact.stderr) == (0, "")
    by_names = Counter()
    for functions, (_, costs) in trace.contexts.items():
        by_names[";".join(function[2] for function in functions)] += costs[0]
    shown = Counter()
    for line in exact.stdout.splitlines():
        names, _, count = line.rpartition(" ")
        shown[names] += int(count)
    assert shown == +by_names
    (tmp_path / "contexts.bdgrind.out.1").unlink()
    assert "(a run with --context-tree=yes does)" in run(path, "--export=folded").stderr


def test_a_context_tree_of_another_run_is_left_out(tmp_path):
    with_tree(tmp_path, Trace(6))
    path = tmp_path / "bdgrind.out.1"
    path.write_text(Trace(7).text(0))
    result = run(path, "--export=folded")
    assert result.returncode == 0
    note, uncertain = result.stderr.splitlines()
    assert re.fullmatch(
        r"bd_annotate: note: .*/contexts\.bdgrind\.out\.1: Ir: the tree has [\d,]+, but the profile "
        r"[\d,]+: it is from another run and is left out", note,
    )
    assert "(a run with --context-tree=yes does)" in uncertain
    (tmp_path / "contexts.bdgrind.out.1").unlink()
    assert run(path, "--export=folded").stdout == result.stdout


def test_what_a_context_tree_had_no_room_for_is_said():
    events, functions = ["Ir"], [("", "a.c", 3, "main")]
    nodes = [(0, 0, 0, (0,)), (1, 1, 1, (30,)), (2, 0, 0, (70,))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "p"
        path.write_text("events: Ir\nfl=a.c\nfn=main\n1 30\nfn=rest\n1 70\n")
        (path.parent / "contexts.p").write_bytes(
            ContextFile(events, functions, ["thread 1"], nodes).bytes()
        )
        result = run(path, "--export=folded")
    assert result.stdout == "main 30\nmain;(other paths) 70\n"
    assert "70% of Ir is in '(other paths)'" in result.stderr


@pytest.mark.parametrize("sites", [True, False])
def test_inlined_functions_are_frames_where_they_are_known(tmp_path, sites):
    request = inlined_request("pprof", tmp_path, sites)
    found = {
        tuple((frame.name, line, frame.is_inlined) for frame, line in stack.steps()):
        stack.row
        for stack in stacks(request)
    }
    inner = (("outer", 40, True), ("inner", 7, True))
    assert found == {
        (("main", 3, False),): (7, 1),
        (("main", 4, False), *inner): (1, 0),
        (("main", 4, False), ("outer", 50, True)): (30, 2),
        (("main", 4 if sites else 0, False), *(inner if sites else ()), ("f", 9, False)): (8, 6),
    }


def test_costs_of_a_function_with_several_paths_are_not_shared_out(tmp_path):
    """What main's instructions cost is the sum of both threads."""
    functions = [("/bin/program", "a.c", 2, "main"), ("/bin/program", "a.c", 9, "f")]
    nodes = [
        (0, 0, 0, (0, 0)), (1, 1, 1, (30, 2)), (2, 2, 2, (8, 6)),
        (0, 1, 0, (0, 0)), (1, 1, 1, (8, 1)),
    ]
    path = tmp_path / "p"
    path.write_text(INLINED)
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1", "thread 2"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    request = make_request(
        parse_text(INLINED), ("Ir",), 0, load_contexts(path), chains=CHAINS
    )
    found = [([frame.name for frame in stack.frames], *stack.row) for stack in stacks(request)]
    assert found == [
        (["thread 1", "main"], 30), (["thread 1", "main", "f"], 8), (["thread 2", "main"], 8),
    ]


def test_names_cannot_break_the_lines_of_folded_stacks():
    profile = parse_text("events: Ir\nfn=a;b\x1b[2J c\n1 5\n")
    assert exported(profile, "folded") == "a:b?[2J c 5\n"
