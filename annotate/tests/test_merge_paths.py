# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: paths within functions, in many ranks together."""

import json
import random

import pytest
from bdannotate.cli import main
from bdannotate.reading.paths import read_paths
from merging import by_threads, contents, merged, mpi, refused
from path_files import (
    A, B, C, CELLS, EVENTS, FUNCTIONS, HEAD, MAIN, NODES, OTHER, PIECES, PROFILE, SECTIONS, STEPS, path_file,
)

NAMES = {number: function[3] for number, function in enumerate(FUNCTIONS, 1)}
# What all ranks may have; each has some of it, in its own order.
KNOWN_STEPS = [
    (step, [(file, line, count) for number, file, line, count in SECTIONS[PIECES] if number == at])
    for at, step in enumerate(SECTIONS[STEPS], 1)
]
WIDTH = len(EVENTS.split())


def about(rank):
    return f"pid: {rank + 1}\ncmd: prog\npart: 1\ndesc: Rank: {rank}\n"


class Rank:
    """Paths by function and steps, each with how often it was taken, and what is rare of it; the steps are numbers in
    the list above, from 0, and None at the end is what is other. A function that is not followed costs something."""

    def __init__(self, seed, followed=(1, 2), deep=4):
        chance = random.Random(seed)
        self.followed = followed
        self.paths = {(function, ()): (chance.randrange(2), (0,) * WIDTH) for function in followed}
        for _ in range(chance.randrange(1, 15) if followed else 0):
            steps = tuple(chance.randrange(len(KNOWN_STEPS)) for _ in range(chance.randrange(1, deep)))
            key = chance.choice(followed), steps
            rare = tuple(chance.choice((0, 0, 10, chance.randrange(10**9))) for _ in range(WIDTH))
            rare = (chance.choice((0, -1)), *rare[1:])  # all steps have more instructions
            self.paths[key] = chance.randrange(1, 10**6), rare
        for function in followed:
            if chance.random() < 0.5:
                self.paths[function, (None,)] = 3, tuple(chance.randrange(99) for _ in range(WIDTH))
        self.unfollowed = {
            function: (1000 + function,) * WIDTH for function in (1, 2) if function not in followed
        }

    def costs(self):
        """Of each function, by hand."""
        found = dict(self.unfollowed)
        for (function, steps), (times, rare) in self.paths.items():
            known = found.get(function, (0,) * WIDTH)
            found[function] = tuple(map(sum, zip(known, cost_of(steps, times, rare))))
        return found

    def nodes(self, chance):
        """All beginnings, above each of which its parent is."""
        keys = {(function, steps[:length]) for function, steps in self.paths for length in range(len(steps) + 1)}
        order = sorted(keys, key=lambda key: chance.random())
        return sorted(order, key=lambda key: len(key[1]))

    def file(self, lines_of_head, limit, events=None):
        chance = random.Random(len(self.paths))
        steps = chance.sample(range(len(KNOWN_STEPS)), len(KNOWN_STEPS))
        number = {step: at for at, step in enumerate(steps, 1)}
        nodes = self.nodes(chance)
        node = {key: at for at, key in enumerate(nodes, 1)}
        rows, cells = [], []
        for function, path in nodes:
            times, rare = self.paths.get((function, path), (0, (0,) * WIDTH))
            parent = node.get((function, path[:-1]), 0) if path else 0
            last = path[-1] if path else None
            kind = 1 if not path else 2 if last is None else 0
            rows.append((parent, kind, 0 if path else function, 0 if last is None else number[last], times))
            if any(rare):
                cells.append((node[function, path], 0, *(cost % (1 << 64) for cost in rare)))
        sections = {
            STEPS: [KNOWN_STEPS[step][0] for step in steps],
            PIECES: [(number[step], *piece) for step in steps for piece in KNOWN_STEPS[step][1]],
            NODES: rows, CELLS: cells,
        }
        if events:
            order = [EVENTS.split().index(event) for event in events.split()]
            del sections[CELLS]
            sections[f"cells: node place {events}"] = [
                (*row[:2], *(row[2 + event] for event in order)) for row in cells
            ]
        return path_file(sections, limit, lines_of_head, events or EVENTS)


def cost_of(steps, times, rare):
    """What is always executed, and what is rare."""
    executed = [0] * WIDTH
    for step in steps:
        if step is not None:
            (_, _, _, _, reads, writes), pieces = KNOWN_STEPS[step]
            for place, number in enumerate((sum(piece[2] for piece in pieces), reads, writes)):
                executed[place] += times * number
    return tuple(one + more for one, more in zip(executed, rare))


def write_ranks(folder, ranks, limit=1000):
    paths = []
    for number, rank in enumerate(ranks):
        events = EVENTS if number % 3 else " ".join(EVENTS.split()[::-1])
        order = [EVENTS.split().index(event) for event in events.split()]
        text = f"version: 1\n{about(number)}positions: line\nevents: {events}\nob=prog\nfl=/src/hash.c\n"
        for function, costs in sorted(rank.costs().items()):
            text += f"fn={NAMES[function]}\n5 {' '.join(str(costs[event]) for event in order)}\n"
        (folder / f"out.{number}").write_text(text)
        (folder / f"paths.out.{number}").write_bytes(rank.file(about(number), limit, events))
        paths.append(str(folder / f"out.{number}"))
    return paths


def naive(ranks):
    found = {}
    for rank in ranks:
        for key, (times, rare) in rank.paths.items():
            known = found.get(key, (0, (0,) * WIDTH))
            found[key] = known[0] + times, tuple(map(sum, zip(known[1], rare)))
    return {key: counts for key, counts in found.items() if counts[0] or any(counts[1])}


def facts(path):
    """Of a file, as the naive sum has it."""
    return {key: counts for key, counts in nodes_of(path).items() if counts[0] or any(counts[1])}


def nodes_of(path):
    """Also those where no path has ended."""
    paths = read_paths(path)
    order = [paths.events.index(event) for event in EVENTS.split()]
    known = {(step, tuple(map(tuple, pieces))): at for at, (step, pieces) in enumerate(KNOWN_STEPS)}
    files = {"": 0, "/src/hash.c": 1}
    function = {name: number for number, name in NAMES.items()}
    steps = {
        number: known[tuple(map(int, step[:6])), tuple((files[file], *more) for file, *more in step.pieces)]
        for number, step in enumerate(paths.steps) if step is not None
    }
    rows = {}
    for node, row in zip(paths.cells.node, zip(*paths.cells.costs)):
        assert node not in rows  # one for each path
        rows[node] = tuple(row[event] for event in order)
    found = {}
    for node in range(1, paths.nodes):
        way = [steps[step] for step, _ in paths.steps_to(node)]
        if paths.kind[node] == 2:
            way = [*way, None]
        name = paths.functions[paths.function[node]].name
        assert (function[name], tuple(way)) not in found
        found[function[name], tuple(way)] = paths.times[node], rows.get(node, (0,) * WIDTH)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_paths_are_the_sums_of_all(tmp_path, capsys, seed):
    chance = random.Random(seed)
    ranks = [Rank(chance.randrange(9)) for _ in range(chance.randrange(1, 20))]
    output = merged(tmp_path, write_ranks(tmp_path, ranks))
    assert facts(str(tmp_path / "paths.all")) == naive(ranks)
    capsys.readouterr()
    assert main(["--check", output]) == 0
    assert "paths" in capsys.readouterr().out


def test_two_equal_files_have_twice_as_much(tmp_path, capsys):
    """The file whose costs were counted by hand."""
    paths = []
    for rank in range(2):
        told = HEAD.replace("pid: 7", f"pid: {rank + 1}") + f"desc: Rank: {rank}\n"
        (tmp_path / f"out.{rank}").write_text(PROFILE.replace(HEAD, told))
        (tmp_path / f"paths.out.{rank}").write_bytes(path_file(head_lines=told))
        paths.append(str(tmp_path / f"out.{rank}"))
    output = merged(tmp_path, paths)
    assert capsys.readouterr().err == ""
    assert main(["--check", output]) == 0
    found = read_paths(str(tmp_path / "paths.all"))
    doubled = sorted(tuple(2 * cost for cost in costs) for costs in (MAIN, A, B, C, OTHER))
    assert sorted(row for _, row in found.costs()) == doubled
    capsys.readouterr()
    told = []
    for one in (paths[0], output):
        assert main(["--paths", "--format=json", one]) == 0
        told.append(json.loads(capsys.readouterr().out)["paths"])
    assert len(told[0]["functions"]) == len(told[1]["functions"]) > 0
    for one, both in zip(told[0]["functions"], told[1]["functions"]):
        assert both["function"] == one["function"]
        assert [path["times"] for path in both["hot"]] == [2 * path["times"] for path in one["hot"]]


def test_what_some_ranks_did_not_follow_is_left_out(tmp_path, capsys):
    """Its sum would not be that of the profile. What a rank has not executed does not count."""
    ranks = [Rank(1), Rank(2, followed=(2,)), Rank(3)]
    output = merged(tmp_path, write_ranks(tmp_path, ranks))
    of_two = {key: counts for key, counts in naive(ranks).items() if key[0] == 2}
    assert facts(str(tmp_path / "paths.all")) == of_two
    assert main(["--check", output]) == 0
    ranks[1].unfollowed.clear()
    merged(tmp_path, write_ranks(tmp_path, ranks), "more")
    assert facts(str(tmp_path / "paths.more")) == naive(ranks)
    capsys.readouterr()


@pytest.mark.parametrize("seed", range(6))
def test_rare_paths_are_other_ones(tmp_path, capsys, seed):
    """Where there are more than the limit: those that are taken most are kept, and nothing of what functions cost is
    lost."""
    ranks = [Rank(20 * seed + number, deep=5) for number in range(8)]
    # A rank alone has as many: two functions and what is other in them, and the beginnings of one.
    most = 4 + max(len(beginnings(rank.paths)) for rank in ranks)
    output = merged(tmp_path, write_ranks(tmp_path, ranks, limit=most))
    whole, found = naive(ranks), facts(str(tmp_path / "paths.all"))
    assert len(beginnings(whole)) > most
    assert main(["--check", output]) == 0
    taken = {key: counts[0] for key, counts in whole.items() if None not in key[1]}
    below = {key: sum(times for path, times in taken.items() if begins(path, key)) for key in beginnings(whole)}
    kept = beginnings(nodes_of(str(tmp_path / "paths.all")))
    assert len(kept) == most - 4
    assert min(below[key] for key in kept) >= max(below[key] for key in below.keys() - kept)
    for key, counts in found.items():
        assert None in key[1] or counts == whole[key]
    for function in (1, 2):
        sums = [
            (sum(times for key, (times, _) in one.items() if key[0] == function),
             *map(sum, zip(*(cost_of(key[1], *counts) for key, counts in one.items() if key[0] == function))))
            for one in (whole, found)
        ]
        assert sums[0] == sums[1]
    capsys.readouterr()


def beginnings(paths):
    """Of one step or more."""
    return {
        (function, steps[:length]) for function, steps in paths for length in range(1, len(steps) + 1)
        if steps[length - 1] is not None
    }


def begins(path, key):
    return path[0] == key[0] and path[1][:len(key[1])] == key[1]


def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch):
    paths = write_ranks(tmp_path, [Rank(seed % 40, deep=6) for seed in range(70)], limit=90)
    alone = contents(merged(tmp_path, paths), "paths")
    chance = random.Random(1)
    for processes in (1, 2, 4, 5):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many"), "paths") == alone
    whole = read_paths(str(tmp_path / "paths.all"))
    assert sum(1 for kind in whole.kind if kind in (0, 3)) <= 90


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths = write_ranks(tmp_path, [Rank(seed) for seed in range(12)])
    alone = contents(merged(tmp_path, paths), "paths")
    result = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert result.returncode == 0, result.stderr
    assert contents(str(tmp_path / "many"), "paths") == alone


def test_what_cannot_be_merged_is_said(tmp_path, capsys):
    paths = write_ranks(tmp_path, [Rank(1), Rank(2)])
    data = (tmp_path / "paths.out.1").read_bytes()
    (tmp_path / "paths.out.1").write_bytes(data[:-20])
    assert "paths.out.1" in refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    (tmp_path / "paths.out.1").write_bytes(data.replace(b"pid: 2", b"pid: 9"))
    assert "is from another run" in refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    (tmp_path / "paths.out.1").unlink()
    assert main(["--merge", "-o", str(tmp_path / "all"), *paths]) == 0
    assert "paths are not merged, as" in capsys.readouterr().err
