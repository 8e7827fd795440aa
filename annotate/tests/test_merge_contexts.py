# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: the context trees of many ranks as one."""

import gzip
import random
from pathlib import Path

import pytest
from bdannotate.cli import main
from bdannotate.merging.rank_blocks import RankBlocks
from bdannotate.model.context_cut import cut
from bdannotate.model.contexts import Kind
from bdannotate.reading.contexts import read_contexts
from context_files import ContextFile, of_paths
from merging import by_threads, contents, merged, mpi, refused
from test_contexts import contexts_of
from traces import Trace

EVENTS = ("Ir", "X")
BOMB = b"contexts: 1\nevents: Ir X\nobjects: 999999999\n" + b"\n" * (1 << 26)
OTHER = ("", "", "(other paths)")


def head(rank):
    return f"pid: {rank + 1}\ncmd: ./job\npart: 1\ndesc: Rank: {rank}\n"


def write_trees(folder, seeds, recursion="apart", **more):
    """The profile and the tree of a random program for each rank; their paths, and what each tree has."""
    paths, trees = [], []
    for rank, seed in enumerate(seeds):
        trace = Trace(seed)
        contexts = trace.contexts if recursion == "apart" else trace.folded_contexts
        path = folder / f"out.{rank}"
        path.write_text(trace.text(seed).replace("part: 1\n", head(rank), 1))
        (folder / f"contexts.out.{rank}").write_bytes(
            of_paths(EVENTS, contexts, recursion, head=head(rank), **more).bytes()
        )
        paths.append(str(path))
        trees.append(contexts)
    return paths, trees


def added(trees):
    found = {}
    for tree in trees:
        for path, (calls, costs) in tree.items():
            known = found.setdefault(path, [0, [0] * len(costs)])
            known[0] += calls
            known[1] = [one + more for one, more in zip(known[1], costs)]
    return found


def tree_of(output):
    folder, name = output.rsplit("/", 1)
    return read_contexts(f"{folder}/contexts.{name}")


# main calls f in all ranks, and g in rank 1; f calls g in rank 0 alone. By hand, in Ir and lost bytes.
FUNCTIONS = [("job", "job.c", 3, "main"), ("job", "job.c", 9, "f"), ("", "", 0, "g")]
NODES = [
    [(0, 0, 0, (0, 0)), (1, 1, 0, (10, 0)), (2, 2, 2, (20, 3)), (3, 3, 1, (5, 0))],
    [(0, 0, 0, (0, 0)), (1, 1, 0, (12, 1)), (2, 3, 4, (8, 0)), (2, 2, 2, (30, 0))],
]


def write_small(folder, nodes=tuple(NODES), roots=("thread 1",), **more):
    paths = []
    for rank, here in enumerate(nodes):
        costs = {}
        lines = []
        for depth, function, _, cost in here:
            if depth:
                costs[function] = tuple(map(sum, zip(costs.get(function, (0, 0)), cost)))
        for number, cost in sorted(costs.items()):
            module, file, _, name = FUNCTIONS[number - 1]
            lines.append(f"ob={module or '???'}\nfl={file or '???'}\nfn={name}\n1 {cost[0]} {cost[1]}\n")
        total = " ".join(str(sum(column)) for column in zip(*costs.values()))
        path = folder / f"out.{rank}"
        path.write_text(f"version: 1\n{head(rank)}events: Ir X\n{''.join(lines)}totals: {total}\n")
        (folder / f"contexts.out.{rank}").write_bytes(
            ContextFile(EVENTS, FUNCTIONS, list(roots), here, head=head(rank), **more).bytes()
        )
        paths.append(str(path))
    return paths


def test_two_small_trees(tmp_path, capsys):
    output = merged(tmp_path, write_small(tmp_path))
    assert capsys.readouterr().err == ""
    tree = tree_of(output)
    assert [tree.frames[number].function.name for number in tree.frame] == ["thread 1", "main", "g", "f", "g"]
    assert list(tree.parent) == [-1, 0, 1, 1, 3]
    assert list(tree.calls) == [0, 0, 4, 4, 1]
    assert [list(costs) for costs in tree.costs] == [[0, 22, 8, 50, 5], [0, 1, 0, 3, 0]]
    assert tree.lines[[frame.function.name for frame in tree.frames].index("f")] == 9
    assert (tree.parts[0].command, tree.parts[0].pid, tree.limit) == ("./job", "", 1_000_000)
    assert dict(tree.parts[0].descriptions)["Ranks"] == "2"


@pytest.mark.parametrize("recursion", ["apart", "folded"])
@pytest.mark.parametrize("seed", range(8))
def test_trees_are_the_sums_of_all(tmp_path, seed, recursion):
    chance = random.Random(seed)
    paths, trees = write_trees(tmp_path, [chance.randrange(5) for _ in range(chance.randrange(1, 20))], recursion)
    tree = tree_of(merged(tmp_path, paths))
    assert contexts_of(tree) == added(trees)
    assert tree.is_folded == (recursion == "folded")


def test_the_merged_files_pass_the_check(tmp_path, capsys):
    output = merged(tmp_path, write_trees(tmp_path, range(11))[0])
    assert main(["--check", output]) == 0
    assert "from the same run as the profile" in capsys.readouterr().out


def test_all_views_of_paths_read_it(tmp_path, capsys):
    output = merged(tmp_path, write_trees(tmp_path, range(3))[0])
    page = tmp_path / "page.html"
    assert main([output, f"--html={page}"]) == 0
    assert main(["--export=folded", output]) == 0
    out, err = capsys.readouterr()
    assert "note" not in err and ";" in out


def test_handlers_and_threads_are_roots(tmp_path):
    nodes = [(0, 0, 0, (0, 0)), (1, 1, 0, (10, 0)), (0, 1, 0, (0, 0)), (1, 2, 0, (7, 4)),
             (0, 2, 0, (0, 0)), (1, 2, 1, (1, 0))]
    paths = write_small(tmp_path, [nodes, nodes], ["thread 10", "signal 14 1", "thread 2"])
    tree = tree_of(merged(tmp_path, paths))
    assert [tree.frames[number].function.name for number in tree.frame] == [
        "thread 2", "f", "thread 10", "main", "handler of signal 14 in thread 1", "f",
    ]
    assert list(tree.costs[0]) == [0, 2, 0, 20, 0, 14]


def test_calls_from_different_places_stay_apart(tmp_path):
    def nodes(line):
        return [(0, 0, 0, (0, 0)), (1, 1, 0, (1, 0), ("", 0, 0)), (2, 2, 2, (5, 0), ("job.c", line, 64)),
                (2, 2, 1, (6, 0), ("job.c", 8, 80))]

    paths = write_small(tmp_path, [[node[:4] for node in nodes(7)]] * 2)
    for rank, line in enumerate((7, 6)):
        given = [node if len(node) > 4 else (*node, ("", 0, 0)) for node in nodes(line)]
        (tmp_path / f"contexts.out.{rank}").write_bytes(
            ContextFile(EVENTS, FUNCTIONS, ["thread 1"], given, head=head(rank)).bytes()
        )
    tree = tree_of(merged(tmp_path, paths))
    assert [(*tree.places[number], cost) for number, cost in zip(tree.place, tree.costs[0])][2:] == [
        ("job.c", 6, 64, 5), ("job.c", 7, 64, 5), ("job.c", 8, 80, 12),
    ]


def test_one_file_says_the_same(tmp_path):
    paths, trees = write_trees(tmp_path, [3])
    assert contexts_of(tree_of(merged(tmp_path, paths))) == trees[0]


def test_files_of_a_rank_are_added_up(tmp_path):
    paths = write_small(tmp_path)
    for name in ("out.1", "contexts.out.1"):
        data = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(data.replace(b"Rank: 1", b"Rank: 0"))
    tree = tree_of(merged(tmp_path, paths))
    assert list(tree.costs[0]) == [0, 22, 8, 50, 5]


@pytest.mark.parametrize("limit", [1_000_000, 7])
def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch, limit):
    paths, _ = write_trees(tmp_path, range(75), limit=limit)
    for path in paths:  # a tree may have its limit of nodes and no more
        if limit < 100:
            _shorten(path, limit)
    alone = contents(merged(tmp_path, paths), "contexts")
    chance = random.Random(1)
    for processes in (1, 2, 3, 4, 7):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many"), "contexts") == alone
    assert main(["--check", str(tmp_path / "many")]) == 0


def _shorten(path, limit):
    """The tree beside a profile, cut by a naive reference."""
    folder, name = path.rsplit("/", 1)
    beside = Path(folder, f"contexts.{name}")
    contexts = naive_cut(contexts_of_whole(beside), limit)
    functions = sorted({path[-1] for path in contexts if path[-1] != OTHER})
    numbers = {OTHER: 0, **{function: number for number, function in enumerate(functions, 1)}}
    nodes = [(0, 0, 0, (0, 0))]
    nodes += [
        (len(path), numbers[path[-1]], calls, tuple(costs))
        for path, (calls, costs) in sorted(contexts.items(), key=lambda item: [numbers[one] for one in item[0]])
    ]
    named = [(module, file, 1, name) for module, file, name in functions]
    rank = int(name.rsplit(".", 1)[1])
    beside.write_bytes(
        ContextFile(EVENTS, named, ["thread 1"], nodes, "apart", head=head(rank), limit=limit).bytes()
    )


def contexts_of_whole(path):
    """The file has more nodes than its limit says, which the reader refuses."""
    path.write_bytes(path.read_bytes().replace(b"limit: 7\n", b"limit: 1000000\n"))
    return contexts_of(read_contexts(str(path)))


def naive_cut(contexts, limit):
    """Keeps the paths that have most with all below them, and gives the rest to what is kept above them."""
    totals = [sum(costs[event] for _, costs in contexts.values()) for event in range(len(EVENTS))]

    def share(path):
        below = [costs for other, (_, costs) in contexts.items() if other[: len(path)] == path]
        return sum(
            2**64 // totals[event] * sum(costs[event] for costs in below) for event in range(len(EVENTS))
            if totals[event]
        )

    known = sorted(path for path in contexts if path[-1] != OTHER)
    kept = set(sorted(known, key=lambda path: -share(path))[:limit])
    found = {}
    for path, (calls, costs) in contexts.items():
        if path not in kept:
            above = path[:-1]
            while above and above not in kept:
                above = above[:-1]
            path = (*above, OTHER)
        here = found.setdefault(path, [0, [0, 0]])
        here[0] += calls
        here[1] = [one + more for one, more in zip(here[1], costs)]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_cheap_paths_are_cut_first(tmp_path, seed):
    """As a naive reference does it: all costs stay, and no path that is kept costs less than one that is not."""
    limit = random.Random(seed).randrange(1, 12)
    paths, trees = write_trees(tmp_path, [seed, seed + 1, seed + 2])
    for rank in range(3):
        beside = tmp_path / f"contexts.out.{rank}"
        beside.write_bytes(beside.read_bytes().replace(b"limit: 1000000", b"limit: 30"))
    whole = added(trees)
    for rank in range(3):
        assert len(trees[rank]) <= 60  # what the reader lets pass
    output = merged(tmp_path, paths)
    tree = tree_of(output)
    assert contexts_of(tree) == (naive_cut(whole, 30) if len(whole) > 30 else whole)
    assert sum(tree.frames[frame].kind is Kind.FUNCTION for frame in tree.frame) <= 30
    assert main(["--check", output]) == 0
    small = cut(type(tree)(*(getattr(tree, name) for name in tree.__slots__[:-1]), limit))
    assert contexts_of(small) == naive_cut(contexts_of(tree), limit)


def test_a_path_with_costly_ones_below_it_is_kept(tmp_path):
    """By hand: main has 100 % of both events, f with g 25 of 47 Ir, and the other g 8 of 47."""
    paths = write_small(tmp_path, limit=3)
    tree = tree_of(merged(tmp_path, paths))
    shown = [
        (tree.frames[frame].function.name, calls, *costs)
        for frame, calls, *costs in zip(tree.frame, tree.calls, *tree.costs)
    ]
    assert shown == [
        ("thread 1", 0, 0, 0), ("main", 0, 22, 1), ("g", 4, 8, 0), ("f", 4, 50, 3), ("(other paths)", 1, 5, 0),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_do_not_depend_on_who_has_what(seed):
    """Sums that are cut: those of texts, of which the first 40 characters are kept."""
    chance = random.Random(seed)
    ranks = chance.randrange(1, 200)
    things = [None if chance.random() < 0.1 else f"{rank} " for rank in range(ranks)]

    def joined(found):
        return "".join(found)[:40] + f"({len(found)})"

    def whole(shares):
        first, *others = ([RankBlocks(ranks, joined), share] for share in shares)
        for blocks, share in (first, *others):
            for rank in share:
                blocks.add(rank, things[rank])
        for blocks, _ in others:
            for piece in blocks.pieces():
                first[0].take(piece)
        return first[0].whole

    alone = whole([range(ranks)])
    cuts = sorted(chance.randrange(ranks + 1) for _ in range(4))
    assert whole([range(begin, end) for begin, end in zip([0, *cuts], [*cuts, ranks])]) == alone
    assert (alone is None) == (not any(things))


def test_few_pieces_are_held():
    blocks = RankBlocks(10_000, "".join)
    most = 0
    for rank in range(9_999):
        blocks.add(rank, "")
        most = max(most, sum(map(len, blocks._waiting.values())))
    assert most == 4 * 7 + 1  # behind the first 4,096 ranks, which are one: seven each of 1, 8, 64 and 512


@pytest.mark.parametrize(("damage", "why"), [
    (lambda data: data[:-9], "the context tree is cut off"),
    (lambda data: data.replace(b"pid: 2", b"pid: 9"), "the tree is from process 9, but the profile is from 2"),
    (lambda data: b"nothing\n", "this is not a context tree"),
    (lambda data: gzip.compress(BOMB), "unpacks to more than 300 times its size"),
])
def test_a_damaged_tree_ends_it_or_its_rank_is_left_out(tmp_path, capsys, damage, why):
    paths = write_small(tmp_path, [*NODES, *NODES])
    beside = tmp_path / "contexts.out.1"
    beside.write_bytes(damage(beside.read_bytes()))
    output = str(tmp_path / "all")
    error = refused(capsys, "--merge", "-o", output, *paths)
    assert why in error and str(beside) in error and error.count("\n") == 1
    assert not list(tmp_path.glob("*all"))
    merged(tmp_path, paths, "all", "--skip-unreadable")
    assert why in capsys.readouterr().err
    assert list(tree_of(output).costs[0]) == [0, 32, 8, 70, 10]
    assert main([output, f"--html={tmp_path / 'page.html'}"]) == 0
    assert "left out" not in capsys.readouterr().err


def test_trees_that_not_all_have_are_not_merged(tmp_path, capsys):
    paths = write_small(tmp_path)
    (tmp_path / "contexts.out.1").unlink()
    output = merged(tmp_path, paths)
    assert capsys.readouterr().err == (
        f"bd_annotate: note: context trees are not merged, as {paths[1]} has none beside it\n"
    )
    assert not (tmp_path / "contexts.all").exists() and main(["--check", output]) == 0


@pytest.mark.parametrize("in_the_way", [
    lambda tmp_path: (tmp_path / "contexts.all").mkdir(),
    lambda tmp_path: (tmp_path / "contexts.all").symlink_to(tmp_path / "contexts.out.0"),
    lambda tmp_path: (tmp_path / "contexts.all").hardlink_to(tmp_path / "out.1"),
    lambda tmp_path: (tmp_path / "contexts.all").symlink_to(tmp_path / "ranks.all"),
])
def test_what_is_written_replaces_no_input(tmp_path, capsys, in_the_way):
    paths = write_small(tmp_path)
    before = [path.read_bytes() for path in sorted(tmp_path.glob("*out.*"))]
    in_the_way(tmp_path)
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert "contexts.all" in error and error.count("\n") == 1
    assert [path.read_bytes() for path in sorted(tmp_path.glob("*out.*"))] == before
    assert not (tmp_path / "all").exists()


def test_sums_beyond_64_bits_are_refused(tmp_path, capsys):
    nodes = [[(0, 0, 0, (0, 0)), (1, 1, 0, (2**63, 0))]] * 2
    paths = write_small(tmp_path, nodes)
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert error.count("\n") == 1 and "Traceback" not in error


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths, _ = write_trees(tmp_path, range(20))
    alone = contents(merged(tmp_path, paths), "contexts")
    done = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert done.returncode == 0, done.stderr
    assert contents(str(tmp_path / "many"), "contexts") == alone


def test_names_are_those_after_they_were_changed(tmp_path, capsys):
    output = merged(tmp_path, write_small(tmp_path), "all", "--mod-funcname=s/^g$/f/")
    tree = tree_of(output)
    assert [tree.frames[number].function.name for number in tree.frame] == ["thread 1", "main", "f", "f", "f"]
