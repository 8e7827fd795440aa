# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: the data objects of many ranks as one file."""

import pickle
import random
from math import gcd
from pathlib import Path

import pytest
from bdannotate.cli import main
from bdannotate.merging.packed_patterns import with_packed_patterns
from bdannotate.model.objects import HeapBlocks, ObjectKind, with_fewer_patterns
from bdannotate.reading.objects import read_objects, read_parts
from merging import by_threads, contents, merged, mpi, refused
from object_files import ObjectFile

EVENTS = ("Ir", "DLmr", "SpLoss1")
FILES = ["/a.c", "/b.h"]
# Functions and groups as all ranks may have them; a rank has some of them, in its own order.
NAMES = [
    ("prog", "/a.c", 1, "main"), ("prog", "/a.c", 9, "make"), ("lib.so", "/b.h", 3, "load"), ("prog", "/a.c", 7, "f"),
]
PLACES = [(), ((1, 0, 22, 100),), ((1, 0, 22, 104),), ((3, 1, 5, 40), (0, 0, 6, 8)), ((3, 1, 5, 40),)]


def pool():
    """(kind, what identifies it)"""
    groups = [("unknown",), ("unused",), ("code", 0), ("code", 1), ("file", 0)]
    groups += [("static", module, size, name) for module in (0, 1) for size in (8, 64) for name in ("table", "a b")]
    groups += [("thread-local", 0, 8, "errno"), ("stack", 0), ("stack", 2)]
    groups += [("heap", places, 2) for places in PLACES] + [("mapping", places, 2) for places in PLACES[:3]]
    return groups


MODULES = ["prog", "lib.so"]


class Rank:
    """What a rank has, by names and not by numbers."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.blocks, self.rows, self.patterns = {}, {}, {}
        self.functions = chance.sample(range(len(NAMES)), len(NAMES))
        self.groups = chance.sample(pool(), chance.randrange(1, len(pool())))
        for group in self.groups:
            if group[0] == "heap":
                sizes = [chance.choice((16, 16, 24, 40)) for _ in range(chance.randrange(1, 4))]
                usual = sizes[0] if len(set(sizes)) == 1 and chance.random() < 0.5 else 0
                self.blocks[group] = (
                    len(sizes), sum(sizes), chance.randrange(9), chance.randrange(99), chance.randrange(99), min(sizes),
                    max(sizes), gcd(*sizes), usual,
                )
            for _ in range(chance.randrange(4)):
                where = group, chance.randrange(len(NAMES)), chance.randrange(2), chance.randrange(1, 4)
                self.rows[where] = (0, chance.randrange(2), chance.choice((0, chance.randrange(1, 10**6))))
                if group[0] in ("heap", "static"):
                    size = chance.choice((0, 8, 64))
                    used = chance.randrange(1 << size) if size else 0
                    offset = 8 * chance.randrange(3) if size else 0
                    self.patterns[(*where, offset, size, used)] = chance.randrange(1, 99)

    def file(self, head, events=EVENTS):
        number = {name: place for place, name in enumerate(self.functions, 1)}
        modules = list(dict.fromkeys(NAMES[place][0] for place in self.functions))
        files = list(dict.fromkeys(NAMES[place][1] for place in self.functions))

        def module(place):
            return modules.index(MODULES[place]) + 1

        def file(place):
            return files.index(FILES[place]) + 1

        def line(group):
            kind, *more = group
            if kind in ("code", "file"):
                return f"{kind} {module(more[0])}"
            if kind in ("static", "thread-local"):
                return f"{kind} {module(more[0])} {more[1]} {more[2]}"
            if kind == "stack":
                name = NAMES[more[0]]
                return f"stack {module(MODULES.index(name[0]))} {file(FILES.index(name[1]))} {name[3]}"
            if kind not in ("heap", "mapping"):
                return kind
            words = [kind, *self.blocks.get(group, ()), len(more[0])]
            for function, source, row, address in more[0]:
                words += [number[function], file(source), row, address]
            name = NAMES[more[1]]
            words += [module(MODULES.index(name[0])), file(FILES.index(name[1])), name[3]]
            return " ".join(map(str, words))

        def where(group, function, source, row):
            return self.groups.index(group) + 1, number[function], file(source), row

        order = [EVENTS.index(event) for event in events]
        return ObjectFile(
            events, [NAMES[place] for place in self.functions], list(map(line, self.groups)),
            sorted((*where(*key), tuple(row[place] for place in order)) for key, row in self.rows.items()),
            sorted((*where(*key[:4]), *key[4:], times) for key, times in self.patterns.items()), head=head,
        ).bytes()

    def profile(self, head, events=EVENTS):
        costs = {}
        for (_, function, source, row), cost in self.rows.items():
            known = costs.setdefault((function, source, row), [0, 0, 0])
            costs[function, source, row] = [one + more for one, more in zip(known, cost)]
        costs.setdefault((0, 0, 1), [0, 0, 0])[0] += 100
        order = [EVENTS.index(event) for event in events]
        total = [sum(cost[place] for cost in costs.values()) for place in order]
        lines = [f"version: 1\n{head}positions: line\nevents: {' '.join(events)}"]
        for (function, source, row), cost in costs.items():
            module, own, _, name = NAMES[function]
            lines.append(f"ob={module}\nfl={own}\nfn={name}\nfi={FILES[source]}")
            lines.append(f"{row} {' '.join(str(cost[place]) for place in order)}")
        return "\n".join([*lines, f"totals: {' '.join(map(str, total))}", ""])


def head(rank, pid=None, part=1, host=""):
    return f"pid: {rank + 1 if pid is None else pid}\ncmd: ./job\npart: {part}\ndesc: Rank: {rank}\n{host}"


def write_ranks(folder, seeds, turned=True):
    """turned: events stand in another order in some of them."""
    paths, ranks = [], []
    for number, seed in enumerate(seeds):
        rank = Rank(seed)
        events = EVENTS[::-1] if turned and number % 3 == 0 else EVENTS
        path = folder / f"out.{number}"
        path.write_text(rank.profile(head(number), events))
        (folder / f"objects.out.{number}").write_bytes(rank.file(head(number), events))
        paths.append(str(path))
        ranks.append(rank)
    return paths, ranks


def objects_of(output):
    return read_objects(str(Path(output).with_name("objects.all")))


def usual(blocks):
    return blocks[8] or (blocks[5] if blocks[5] == blocks[6] else 0)


def naive(ranks):
    """All of them added up, by names."""
    found = Rank(0)
    found.blocks, found.rows, found.patterns = {}, {}, {}
    found.groups = [group for group in pool() if any(group in rank.groups for rank in ranks)]
    for group in found.groups:
        here = [rank.blocks[group] for rank in ranks if group in rank.blocks]
        if here:
            sums = [sum(blocks[place] for blocks in here) for place in range(5)]
            same = {usual(blocks) for blocks in here}
            known = here[0][8] if len(here) == 1 else same.pop() if len(same) == 1 else 0
            found.blocks[group] = (
                *sums, min(blocks[5] for blocks in here), max(blocks[6] for blocks in here),
                gcd(*(blocks[7] for blocks in here)), known,
            )
    for rank in ranks:
        for key, row in rank.rows.items():
            known = found.rows.get(key, (0, 0, 0))
            found.rows[key] = tuple(one + more for one, more in zip(known, row))
        for key, times in rank.patterns.items():
            found.patterns[key] = found.patterns.get(key, 0) + times
    return found


def facts(path):
    """What a file has, whatever its numbers and order."""
    (found,) = read_parts(str(path))
    order = [found.events.index(event) for event in EVENTS]

    def name(group):
        return group.identity._replace(places=()), group.sites

    return (
        {name(group): group.blocks for group in found.groups},
        {(name(found.groups[row.group]), *row[1:4]): tuple(row.cost[place] for place in order) for row in found.rows},
        {(name(group), *one[:3], one.by): one.times for group in found.groups for one in group.patterns},
        len(found.groups), len(found.rows), sum(len(group.patterns) for group in found.groups),
    )


@pytest.mark.parametrize("seed", range(10))
def test_objects_are_the_sums_of_all(tmp_path, seed):
    chance = random.Random(seed)
    paths, ranks = write_ranks(tmp_path, [chance.randrange(7) for _ in range(chance.randrange(2, 20))])
    merged(tmp_path, paths)
    expected = tmp_path / "objects.naive"
    expected.write_bytes(naive(ranks).file(head(0)))
    assert facts(tmp_path / "objects.all") == facts(expected)


def test_two_small_files(tmp_path):
    """By hand: blocks of 16 and 24 bytes; one line of code loads them in both ranks, another one in rank 1."""
    def write(number, line, blocks, rows, patterns):
        total = [sum(column) for column in zip(*(row[4] for row in rows))]
        path = tmp_path / f"out.{number}"
        costs = "".join(f"{row[3]} {' '.join(map(str, row[4]))}\n" for row in rows)
        path.write_text(
            f"version: 1\n{head(number)}events: Ir DLmr SpLoss1\nob=prog\nfl=/a.c\nfn=main\n{costs}"
            f"totals: {' '.join(map(str, total))}\n"
        )
        groups = ["unknown", f"heap {blocks} 1 1 1 22 100 1 1 malloc"][line:]
        (tmp_path / f"objects.out.{number}").write_bytes(
            ObjectFile(EVENTS, NAMES[:1], groups, rows, patterns, head=head(number)).bytes()
        )
        return str(path)

    paths = [
        write(0, 0, "3 48 1 32 48 16 16 16 16", [(2, 1, 1, 6, (0, 1, 40))],
              [(2, 1, 1, 6, 0, 16, 0xFF, 9), (2, 1, 1, 6, 8, 8, 1, 2)]),
        write(1, 1, "2 48 0 24 40 24 24 24 24", [(1, 1, 1, 6, (0, 2, 30)), (1, 1, 1, 7, (0, 0, 5))],
              [(1, 1, 1, 6, 0, 16, 0xFF, 4)]),
    ]
    found = objects_of(merged(tmp_path, paths))
    assert [group.identity.kind for group in found.groups] == [ObjectKind.UNKNOWN, ObjectKind.HEAP]
    assert found.groups[1].blocks == HeapBlocks(5, 96, 1, 56, 88, 16, 24, 8, 0)
    assert [(row.line, row.cost) for row in found.rows] == [(6, (0, 3, 70)), (7, (0, 0, 5))]
    assert [(*pattern[:4], pattern.by.line) for pattern in found.groups[1].patterns] == [
        (0, 16, 0xFF, 13, 6), (8, 8, 1, 2, 6),
    ]
    assert (found.depth, found.whole_to, found.one_in) == (3, 65536, 1)


def test_the_merged_files_pass_the_check(tmp_path, capsys):
    output = merged(tmp_path, write_ranks(tmp_path, range(11))[0])
    assert main(["--check", output]) == 0
    assert "from the same run as the profile" in capsys.readouterr().out


@pytest.mark.parametrize("names", [["0"], ["0", "1", "2", "3"]])
def test_reports_say_what_they_say_of_all_files(tmp_path, capsys, names):
    """Those of several files, which are added up when they are read."""
    paths, _ = write_ranks(tmp_path, map(int, names), turned=False)
    output = merged(tmp_path, paths)
    capsys.readouterr()
    tables = []
    for files in (paths, [output]):
        assert main(["--objects", "--format=csv", *files]) == 0
        tables.append(sorted(capsys.readouterr().out.splitlines()))
    assert tables[0] == tables[1] and len(tables[0]) > 3


@pytest.mark.parametrize("same_number", [False, True])
def test_parts_of_a_rank_follow_each_other_and_ranks_do_not(tmp_path, same_number):
    """What is alive at the end is that of the last part; ranks of several machines may have the same process number."""
    paths = []
    for name, rank, part, alive in (("out.0.1", 0, 1, 30), ("out.0", 0, 2, 20), ("out.1", 1, 2, 5)):
        pid = 7 if same_number else rank + 7
        about = head(rank, pid, part, f"desc: Host: node{rank}\n")
        (tmp_path / name).write_text(
            f"version: 1\n{about}events: Ir DLmr SpLoss1\nob=prog\nfl=/a.c\nfn=main\n1 9\ntotals: 9\n"
        )
        groups = [f"heap 1 16 0 {alive} {alive + 1} 16 16 16 0 0 1 1 malloc"]
        (tmp_path / f"objects.{name}").write_bytes(ObjectFile(EVENTS, NAMES[:1], groups, [], head=about).bytes())
        paths.append(str(tmp_path / name))
    (group,) = objects_of(merged(tmp_path, paths)).groups
    assert group.blocks == HeapBlocks(3, 48, 0, 25, 37, 16, 16, 16, 16)


def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch):
    paths, _ = write_ranks(tmp_path, range(70))
    monkeypatch.setattr("bdannotate.merging.beside.MOST_PATTERNS", 20)
    alone = contents(merged(tmp_path, paths), "objects")
    chance = random.Random(1)
    for processes in (1, 2, 4, 5):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many"), "objects") == alone
    (found,) = read_parts(str(tmp_path / "objects.all"))
    assert sum(1 for group in found.groups for pattern in group.patterns if pattern.bytes) == 20


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths, _ = write_ranks(tmp_path, range(20))
    alone = contents(merged(tmp_path, paths), "objects")
    done = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert done.returncode == 0, done.stderr
    assert contents(str(tmp_path / "many"), "objects") == alone


@pytest.mark.parametrize("seed", range(6))
def test_the_rarest_patterns_are_given_up_first(tmp_path, seed):
    """How often lines were loaded stays known, by group and line of code."""
    path = tmp_path / "objects.x"
    path.write_bytes(naive([Rank(seed), Rank(seed + 1)]).file(head(0)))
    (found,) = read_parts(str(path))

    def times(objects):
        sums = {}
        for number, group in enumerate(objects.groups):
            for pattern in group.patterns:
                sums[number, pattern.by] = sums.get((number, pattern.by), 0) + pattern.times
        return sums

    def known(objects):
        return sorted(
            (pattern.times for group in objects.groups for pattern in group.patterns if pattern.bytes), reverse=True
        )

    for most in (0, 1, 5, 1000):
        fewer = with_fewer_patterns(found, most)
        assert times(fewer) == times(found) and known(fewer) == known(found)[:most]
        unknown = [
            (number, pattern.by) for number, group in enumerate(fewer.groups) for pattern in group.patterns
            if not pattern.bytes
        ]
        assert len(unknown) == len(set(unknown))
    assert with_fewer_patterns(found, 1000) is found


@pytest.mark.parametrize("seed", range(4))
def test_packed_patterns_are_the_same_ones(tmp_path, seed):
    path = tmp_path / "objects.x"
    path.write_bytes(naive([Rank(seed), Rank(seed + 1)]).file(head(0)))
    (found,) = read_parts(str(path))
    for packed in (with_packed_patterns(found), pickle.loads(pickle.dumps(with_packed_patterns(found)))):
        assert len(packed.groups) == len(found.groups)
        for one, other in zip(packed.groups, found.groups):
            assert tuple(one.patterns) == other.patterns == tuple(one.patterns[: len(other.patterns)])
            assert len(one.patterns) == len(other.patterns)
            assert [one.patterns[place] for place in range(len(other.patterns))] == list(other.patterns)
    assert any(group.patterns for group in found.groups)


@pytest.mark.parametrize(("damage", "why"), [
    (lambda data: data[:-9], "is cut off"),
    (lambda data: data.replace(b"pid: 2\n", b"pid: 9\n"), "is from another run than"),
    (lambda data: b"nothing\n", "this is not a file of data objects"),
    (lambda data: data.replace(b"depth: 3", b"depth: x"), "is not a number"),
])
def test_damaged_objects_end_it_or_their_rank_is_left_out(tmp_path, capsys, damage, why):
    paths, _ = write_ranks(tmp_path, range(4))
    beside = Path(tmp_path, "objects.out.1")
    beside.write_bytes(damage(beside.read_bytes()))
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert why in error and str(beside) in error and error.count("\n") == 1
    assert not list(tmp_path.glob("*all"))
    output = merged(tmp_path, paths, "all", "--skip-unreadable")
    assert why in capsys.readouterr().err
    assert main(["--check", output]) == 0


def test_objects_that_not_all_have_are_not_merged(tmp_path, capsys):
    paths, _ = write_ranks(tmp_path, range(3))
    (tmp_path / "objects.out.2").unlink()
    merged(tmp_path, paths)
    assert capsys.readouterr().err == (
        f"bd_annotate: note: data objects are not merged, as {paths[2]} has none beside it\n"
    )
    assert not (tmp_path / "objects.all").exists()


def test_sums_beyond_64_bits_are_refused(tmp_path, capsys):
    paths = []
    for rank in range(2):
        path = tmp_path / f"out.{rank}"
        path.write_text(
            f"version: 1\n{head(rank)}events: Ir DLmr SpLoss1\nob=prog\nfl=/a.c\nfn=main\n1 0 0 {2**63}\n"
            f"totals: 0 0 {2**63}\n"
        )
        (tmp_path / f"objects.out.{rank}").write_bytes(
            ObjectFile(EVENTS, NAMES[:1], ["unknown"], [(1, 1, 1, 1, (0, 0, 2**63))], head=head(rank)).bytes()
        )
        paths.append(str(path))
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert error.count("\n") == 1 and "Traceback" not in error and not (tmp_path / "all").exists()


def test_names_are_those_after_they_were_changed(tmp_path):
    paths, _ = write_ranks(tmp_path, [1, 2])
    output = merged(tmp_path, paths, "all", "--mod-funcname=s/^make$/f/")
    assert b"make" not in Path(f"{tmp_path}/objects.all").read_bytes()
    assert main(["--check", output]) == 0
