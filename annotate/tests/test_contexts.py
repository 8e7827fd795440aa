# SPDX-License-Identifier: GPL-2.0-or-later
"""Context trees: what is written is read, sums hold, damage is answered in a sentence."""

import gzip
import random
import struct
from array import array

import pytest
from hypothesis import given, strategies as st

from bdannotate.cli import main
from bdannotate.model.context_check import context_violation, folded_by_pairs
from bdannotate.model.contexts import Kind, merge
from bdannotate.model.errors import UserError
from bdannotate.reading.contexts import contexts_path, read_contexts
from bdannotate.reading.parser import parse_text

from column_files import column
from context_files import ContextFile, large, of_paths
from traces import Trace

seeds = st.integers(0, 2**32)
EVENTS = ("Ir", "X")

# main calls f twice, f calls g; a handler of signal 14 runs f. By hand, in Ir and bytes:
#   main 10/0, f 20/3, g 5/0, in the handler: f 7/4      together 42/7
SMALL = ContextFile(
    ("Ir", "SpLoss1"),
    [("a.out", "a.c", 3, "main"), ("a.out", "a.c", 9, "f"), ("lib.so", "", 0, "g")],
    ["thread 1", "signal 14 1"],
    [
        (0, 0, 0, (0, 0)), (1, 1, 0, (10, 0)), (2, 2, 2, (20, 3)), (3, 3, 1, (5, 0)),
        (0, 1, 0, (0, 0)), (1, 2, 0, (7, 4)),
    ],
    head="creator: bdgrind-9\npid: 7\ncmd: ./a.out x\nevent: SpLoss1 : lost bytes",
)
SMALL_PROFILE = (
    "events: Ir SpLoss1\nob=a.out\nfl=a.c\nfn=main\n3 10\ncob=a.out\ncfn=f\ncalls=2 9\n4 25 3\n"
    "fn=f\n9 27 7\ncob=lib.so\ncfi=\ncfn=g\ncalls=1 0\n9 5\nob=lib.so\nfl=\nfn=g\n0 5\n"
    "totals: 42 7\n"
).replace("cfi=\n", "cfi=???\n").replace("fl=\n", "fl=???\n")


def written(tmp_path, data, name="contexts.x"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.bytes())
    return str(path)


def contexts_of(tree):
    """{path of functions: [calls, costs]} of all nodes below the roots."""
    paths = []
    for node, above in enumerate(tree.parent):
        frame = tree.frames[tree.frame[node]]
        paths.append((*paths[above], tuple(frame.function)) if above >= 0 else ())
    return {
        path: [tree.calls[node], [costs[node] for costs in tree.costs]]
        for node, path in enumerate(paths) if path
    }


def test_a_small_tree(tmp_path):
    tree = read_contexts(written(tmp_path, SMALL))
    names = [tree.frames[number].function.name for number in tree.frame]
    assert names == ["thread 1", "main", "f", "g", "handler of signal 14 in thread 1", "f"]
    assert [tree.frames[number].kind for number in tree.frame][:2] == [Kind.ROOT, Kind.FUNCTION]
    assert list(tree.parent) == [-1, 0, 1, 2, -1, 4]
    assert tree.inclusive(0) == [35, 35, 25, 5, 7, 7]
    assert tree.totals() == (42, 7)
    assert tree.lines[1] == 3
    assert (tree.parts[0].command, tree.parts[0].pid) == ("./a.out x", "7")
    assert tree.titles == {"SpLoss1": "lost bytes"}
    assert tree.is_folded and tree.height() == 3


def test_the_bytes_are_those_of_the_document():
    """docs/format.md shows this file, byte by byte."""
    file = ContextFile(
        ("Ir",), [("", "", 0, "f")], ["thread 1"], [(0, 0, 0, (0,)), (1, 1, 0, (300,))]
    )
    nodes = file.bytes().split(b"nodes:\n")[1]
    assert nodes.hex(" ") == (
        "02 00 01 00 01 01 00 01 00 02 00 00 2c 01 00 00 02 00 00 00 00 00 00 00 "
        "00 00 00 00 00 00 00 00 2c 01 00 00 00 00 00 00"
    )


@given(seeds, st.sampled_from([1, 3, 60_000]))
def test_what_is_written_is_read(tmp_path_factory, seed, block):
    trace = Trace(seed)
    for contexts, recursion in ((trace.contexts, "apart"), (trace.folded_contexts, "folded")):
        file = of_paths(EVENTS, contexts, recursion, block=block)
        tree = read_contexts(written(tmp_path_factory.getbasetemp(), file))
        assert contexts_of(tree) == contexts
        assert tree.totals() == tuple(trace.totals)


@given(seeds)
def test_folding_by_pairs_gives_the_profile(tmp_path_factory, seed):
    trace = Trace(seed)
    profile = parse_text(trace.text(seed))
    for contexts, recursion in ((trace.contexts, "apart"), (trace.folded_contexts, "folded")):
        file = of_paths(EVENTS, contexts, recursion)
        tree = read_contexts(written(tmp_path_factory.getbasetemp(), file))
        assert context_violation(tree, profile) is None


@given(seeds, st.integers(1, 3))
def test_each_difference_to_the_profile_is_found(tmp_path_factory, seed, amount):
    trace = Trace(seed)
    profile = parse_text(trace.text(seed))
    chance = random.Random(seed)
    contexts = {path: [calls, [*costs]] for path, (calls, costs) in trace.contexts.items()}
    changed = contexts[chance.choice(sorted(contexts))]
    if chance.random() < 0.5:
        changed[0] += amount
    else:
        changed[1][chance.randrange(2)] += amount
    tree = read_contexts(
        written(tmp_path_factory.getbasetemp(), of_paths(EVENTS, contexts, "apart"))
    )
    assert context_violation(tree, profile) is not None


def test_costs_under_another_caller_are_found(tmp_path):
    """Self costs alone do not tell: g's move from f to main keeps them all."""
    moved = [(2 if node[1] == 3 else node[0], *node[1:]) for node in SMALL.nodes]
    file = ContextFile(SMALL.events, SMALL.functions, SMALL.roots, moved)
    profile = parse_text(SMALL_PROFILE.replace("???", "b.c"))
    file.functions = [(*f[:1], f[1] or "b.c", *f[2:]) for f in file.functions]
    assert "calls from main to f: the tree has 20, but the profile 25" in context_violation(
        read_contexts(written(tmp_path, file)), profile
    )


def test_paths_that_were_not_told_apart_may_be_missing(tmp_path):
    nodes = [(*node[:1], 0 if node[1] == 3 and node[0] == 3 else node[1], *node[2:])
             for node in SMALL.nodes]
    file = ContextFile(SMALL.events, SMALL.functions, SMALL.roots, nodes)
    tree = read_contexts(written(tmp_path, file))
    assert tree.frames[tree.frame[3]].kind is Kind.OTHER
    assert context_violation(tree, parse_text(SMALL_PROFILE)) is None
    less = parse_text(SMALL_PROFILE.replace("3 10", "3 9").replace("0 5\nt", "0 6\nt"))
    assert "Ir of main: the tree has 10, but the profile 9" in context_violation(tree, less)


def test_sites(tmp_path):
    nodes = [
        (0, 0, 0, (0, 0), ("", 0, 0)), (1, 1, 0, (10, 0), ("", 0, 0)),
        (2, 2, 1, (20, 3), ("a.c", 4, 0x1234)), (2, 2, 1, (12, 4), ("inline.h", 5, 2**40)),
    ]
    file = ContextFile(SMALL.events, SMALL.functions, ["thread 1"], nodes)
    tree = read_contexts(written(tmp_path, file))
    assert [tuple(tree.places[number]) for number in tree.place] == [
        ("", 0, 0), ("", 0, 0), ("a.c", 4, 0x1234), ("inline.h", 5, 2**40),
    ]


@given(seeds, seeds)
def test_merged_trees_add_up(tmp_path_factory, one, other):
    traces = [Trace(one), Trace(other)]
    data = b"".join(of_paths(EVENTS, trace.contexts, "apart").bytes() for trace in traces)
    tree = read_contexts(written(tmp_path_factory.getbasetemp(), data))
    expected = {path: [calls, [*costs]] for path, (calls, costs) in traces[0].contexts.items()}
    for path, (calls, costs) in traces[1].contexts.items():
        known = expected.setdefault(path, [0, [0, 0]])
        known[0] += calls
        known[1] = [a + b for a, b in zip(known[1], costs)]
    assert contexts_of(tree) == expected
    assert len(tree.parts) == 2
    one_by_one = b"\n\n".join(of_paths(EVENTS, trace.contexts, "apart").bytes() for trace in traces)
    spaced = read_contexts(written(tmp_path_factory.getbasetemp(), one_by_one + b"\n"))
    assert contexts_of(spaced) == expected
    nameless = merge([tree], lambda function: function._replace(name="f"))
    assert nameless.totals() == tree.totals()
    assert len(nameless) <= len(tree)


@pytest.mark.parametrize("name", ["contexts.x.out", "contexts.x.out.gz"])
def test_the_file_beside_a_profile(tmp_path, name):
    assert contexts_path(str(tmp_path / "x.out")) is None
    data = SMALL.bytes()
    path = written(tmp_path, gzip.compress(data) if name.endswith(".gz") else data, name)
    for profile in ("x.out", "x.out.gz"):
        assert contexts_path(str(tmp_path / profile)) == path
    assert read_contexts(path).totals() == (42, 7)


def test_the_check_reads_the_tree_beside_the_profile(tmp_path, capsys):
    (tmp_path / "x.out").write_text(SMALL_PROFILE)
    functions = [(*f[:1], f[1] or "???", *f[2:]) for f in SMALL.functions]
    file = ContextFile(SMALL.events, functions, SMALL.roots, SMALL.nodes)
    written(tmp_path, file, "contexts.x.out")
    assert main(["--check", str(tmp_path / "x.out")]) == 0
    output = capsys.readouterr().out
    assert "contexts.x.out: 6 nodes of 3 functions, height 3: from the same run" in output
    (tmp_path / "x.out").write_text(SMALL_PROFILE.replace("3 10", "3 11").replace("42", "43"))
    assert main(["--check", str(tmp_path / "x.out")]) == 1
    assert "Ir: the tree has 42, but the profile 43" in capsys.readouterr().err


def test_all_widths_and_forms(tmp_path):
    values = [0, 1, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63]
    for value in values:
        for count in (1, 2, 40):
            nodes = [(0, 0, 0, (value,))] + [(1, 1, 0, (0,))] * count + [(1, 1, value, (1,))]
            file = ContextFile(("Ir",), [("", "", 0, "f")], ["thread 1"], nodes, block=50)
            tree = read_contexts(written(tmp_path, file))
            assert (tree.costs[0][0], tree.calls[-1]) == (value, value)


HEAD = SMALL.bytes().split(b"nodes:\n")[0] + b"nodes:\n"


@pytest.mark.parametrize("old, new, problem", [
    (b"contexts: 1", b"contexts: 2", "version 2 of context trees is unknown"),
    (b"contexts: 1", b"version: 1", "this is not a context tree"),
    (b"recursion: folded\n", b"", "recursion: must be folded or apart"),
    (b"calls\n", b"calls colour\n", "columns: 'depth function calls colour' is unknown"),
    (b"events: Ir SpLoss1\n", b"", "events: is missing"),
    (b"objects: 2", b"objects: 3", "or its head is damaged"),
    (b"objects: 2", b"objects: 1", "or its head is damaged"),
    (b"files: 1", b"f: 1", "'files:' is expected, but 'f:' was found"),
    (b"objects: 2", b"objects: two", "'two' is not a number of names"),
    (b"1 1 3 main", b"7 1 3 main", "'7 1 3 main' is in an object or file that has no name"),
    (b"1 1 3 main", b"1 x 3 main", "is not object, file, line and name of a function"),
    (b"signal 14 1", b"signal 14", "'signal 14' is not a root"),
    (b"roots: 2\nthread 1\n", b"roots: 3\nthread 1\nthread 2\n", "node 4 is of|3 roots are named"),
])
def test_damage_of_the_head_is_named(tmp_path, old, new, problem):
    data = SMALL.bytes()
    assert data.count(old) == 1
    with pytest.raises(UserError) as error:
        read_contexts(written(tmp_path, data.replace(old, new)))
    assert any(part in str(error.value) for part in problem.split("|")), error.value


@pytest.mark.parametrize("nodes, problem", [
    ([(1, 1, 0, (1, 0))], "node 0 has depth 1, below one of depth -1"),
    ([(0, 0, 0, (0, 0)), (2, 1, 0, (1, 0))], "node 1 has depth 2, below one of depth 0"),
    ([(0, 0, 0, (0, 0)), (1, 4, 0, (1, 0))], "node 1 is of function 4, which has no name"),
    ([(0, 1, 0, (0, 0))], "node 0 is not root 0, which is next"),
    ([(0, 0, 0, (0, 0))], "2 roots are named, but only 1 occur"),
])
def test_impossible_trees_are_named(tmp_path, nodes, problem):
    file = ContextFile(SMALL.events, SMALL.functions, SMALL.roots, nodes)
    with pytest.raises(UserError, match=problem):
        read_contexts(written(tmp_path, file))


def test_wrong_totals_are_named(tmp_path):
    data = SMALL.bytes()
    ending = struct.pack("<4Q", 6, 3, 42, 7)
    assert data.endswith(ending)
    for at, problem in enumerate(["5 nodes are", "calls are", "Ir are", "SpLoss1 are"]):
        stated = [6, 3, 42, 7]
        stated[at] -= 1
        wrong = data[: -len(ending)] + struct.pack("<4Q", *stated)
        with pytest.raises(UserError, match=f"{problem} stated"):
            read_contexts(written(tmp_path, wrong))


def test_every_truncation_is_noticed(tmp_path):
    data = SMALL.bytes()
    for length in range(len(data)):
        with pytest.raises(UserError):
            read_contexts(written(tmp_path, data[:length]))


def test_damaged_bytes_give_a_tree_or_a_sentence(tmp_path):
    data = SMALL.bytes()
    for seed in range(2000):
        chance = random.Random(seed)
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            tree = read_contexts(written(tmp_path, bytes(damaged)))
        except UserError:
            continue
        assert tree.totals() == tuple(part for part in map(sum, tree.costs)), seed


def test_positions_of_a_sparse_column_rise(tmp_path):
    values = (0,) * 30 + (7, 9)
    assert column(values)[0] == 0x11
    for positions in ((31, 30), (30, 30), (30, 32)):
        bad = struct.pack("<BHHHBB", 0x11, 2, *positions, 7, 9)
        nodes = [(0, 0, 0, (0,))] + [(1, 1, 0, (value,)) for value in values[1:]]
        data = ContextFile(("Ir",), [("", "", 0, "f")], ["thread 1"], nodes, block=32).bytes()
        assert data.count(column(values)) == 1
        with pytest.raises(UserError, match="out of order"):
            read_contexts(written(tmp_path, data.replace(column(values), bad)))


def test_a_large_tree(tmp_path):
    file = large(20_000)
    tree = read_contexts(written(tmp_path, file))
    assert len(tree) == 20_000
    assert tree.calls == array("Q", (node[2] for node in file.nodes))
    assert sum(call.calls for call in folded_by_pairs(tree).values()) == sum(
        node[2] for node in file.nodes if node[0] > 1
    )
