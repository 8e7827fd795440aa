# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: which lines threads take from each other, in many ranks together."""

import json
import random
import struct

import pytest
from bdannotate.cli import main
from bdannotate.reading.objects import read_parts as read_objects
from bdannotate.reading.sharing import read_sharing
from column_files import blocks, head, place_lines
from merging import by_threads, contents, merged, mpi, refused
from object_files import ObjectFile
from test_sharing import ACCESSES, CORES, FUNCTIONS, HIGH, LINES, LOW, TOTALS

EVENTS = ("Ir", "Xferr", "Xferw", "Lost", "Inval")
PLACES = [(1, "/src/prog.c", 6, 100), (2, "/src/prog.c", 23, 200), (2, "/src/prog.h", 24, 204)]
GROUPS = ["unknown", "static 1 64 table", "static 1 8 lock"]
ADDRESSES = [0x1000, 0x1040, 0x2000, 0x2040]


def about(rank, thread=0):
    return f"pid: {rank + 1}\ncmd: ./job\npart: 1\n{f'thread: {thread}' if thread else ''}\n" \
           f"desc: Rank: {rank}\n".replace("\n\n", "\n")


class Rank:
    """Uses by line and core, and accesses by line, core and place; None is no line or place. A line is an address and
    a group of data."""

    def __init__(self, seed):
        chance = random.Random(seed)
        groups = chance.sample(range(len(GROUPS)), chance.randrange(1, len(GROUPS) + 1))
        known = [(address, group) for address in ADDRESSES for group in [None, *groups]]
        lines = chance.sample(known, chance.randrange(1, len(known)))
        self.groups = groups
        self.places = chance.sample(range(len(PLACES)), chance.randrange(1, len(PLACES) + 1))
        self.uses, self.accesses = {}, {}
        for line in lines:
            for core in chance.sample(range(4), 2):
                self.uses[line, core] = (*(chance.randrange(1 << 64) for _ in range(2)),
                                         *(chance.randrange(9) for _ in range(4)))
        for _ in range(chance.randrange(1, 12)):
            line = chance.choice([None, *lines])
            key = line, chance.randrange(4), chance.choice([None, *self.places])
            self.accesses[key] = chance.randrange(1 << 64) if line else 0, *(chance.randrange(99) for _ in range(5))

    def lines(self):
        return list(dict.fromkeys(line for line, *_ in (*self.uses, *self.accesses) if line))

    def file(self, lines_of_head):
        place = {None: 0, **{one: number for number, one in enumerate(self.places, 1)}}
        group = {None: 0, **{one: number for number, one in enumerate(self.groups, 1)}}
        line = {None: 0, **{one: number for number, one in enumerate(self.lines(), 1)}}
        sections = [
            (LINES, [(address, group[data]) for address, data in self.lines()]),
            (CORES, sorted((line[one], core, *counts) for (one, core), counts in self.uses.items())),
            (ACCESSES, sorted(
                (line[one], core, place[at], *counts) for (one, core, at), counts in self.accesses.items()
            )),
        ]
        return sharing_file(lines_of_head, [PLACES[number] for number in self.places], sections)


def sharing_file(lines_of_head, places, sections, line=64, more_head=()):
    names, files = place_lines(FUNCTIONS, [place[1] for place in places])
    data = head([
        "sharing: 1", *lines_of_head.splitlines(), f"line: {line}", "cores: 64", *more_head, *names,
        f"places: {len(places)}",
        *(f"{function} {files.index(file)} {at} {address}" for function, file, at, address in places),
    ])
    for title, rows in sections:
        data += head([title]) + blocks(rows, 3) + struct.pack("<Q", len(rows))
    return data


def write_rank(folder, name, lines_of_head, sharing, groups=None):
    """All that the profile has is in one line: as much as the file beside it says."""
    path = folder / name
    (folder / f"sharing.{name}").write_bytes(sharing)
    (one,) = read_sharing(str(folder / f"sharing.{name}"))
    rows = [access for line in one.lines for access in line.accesses] + list(one.others)
    costs = [7, *(sum(getattr(row, what) for row in rows) for what in ("reads", "writes", "lost", "invalidated"))]
    text = " ".join(map(str, costs))
    path.write_text(
        f"version: 1\n{lines_of_head}events: {' '.join(EVENTS)}\nob=prog\nfl=/src/prog.c\nfn=main\n1 {text}\n"
        f"totals: {text}\n"
    )
    if groups is not None:
        of_groups = [GROUPS[number] for number in groups]
        found = ObjectFile(
            EVENTS, FUNCTIONS, of_groups, [(1, 1, 1, 1, (0, *costs[1:]))], head=lines_of_head.rstrip()
        )
        (folder / f"objects.{name}").write_bytes(found.bytes())
    return str(path)


def write_ranks(folder, seeds, with_objects=True):
    ranks = [Rank(seed) for seed in seeds]
    return [
        write_rank(
            folder, f"out.{number}", about(number), rank.file(about(number)), rank.groups if with_objects else None
        )
        for number, rank in enumerate(ranks)
    ], ranks


def naive(ranks):
    """All added up; of bytes, those of any rank."""
    uses, accesses = {}, {}
    for rank in ranks:
        for known, found, first in ((uses, rank.uses, 2), (accesses, rank.accesses, 1)):
            for key, counts in found.items():
                before = known.get(key, (0,) * len(counts))
                known[key] = tuple(
                    one | more if at < first else one + more for at, (one, more) in enumerate(zip(before, counts))
                )
    return uses, accesses


def facts(output, objects=None):
    """Of a merged file, as the naive sum has it; groups by their place in the list here, if there are objects."""
    (found,) = read_sharing(output)
    names = [None]
    if objects is not None:
        (data,) = read_objects(objects)
        names += [
            next(number for number, line in enumerate(GROUPS) if line.split()[-1] == (group.identity.name or "unknown"))
            for group in data.groups
        ]
    place = {None: None, **{
        (FUNCTIONS[function - 1][3], *rest): number for number, (function, *rest) in enumerate(PLACES)
    }}

    def number(at):
        return at and place[at.function.name, at.file, at.line, at.address]

    uses = {((line.address, names[line.group]), use.core): use[1:] for line in found.lines for use in line.uses}
    accesses = {
        ((line.address, names[line.group]), one.core, number(one.place)): one[2:]
        for line in found.lines for one in line.accesses
    }
    accesses |= {(None, one.core, number(one.place)): one[2:] for one in found.others}
    return uses, accesses


@pytest.mark.parametrize("seed", range(12))
def test_lines_are_the_sums_of_all(tmp_path, seed):
    chance = random.Random(seed)
    paths, ranks = write_ranks(tmp_path, [chance.randrange(9) for _ in range(chance.randrange(1, 20))])
    merged(tmp_path, paths)
    assert facts(str(tmp_path / "sharing.all"), str(tmp_path / "objects.all")) == naive(ranks)


def test_two_small_files(tmp_path, capsys):
    """By hand: of the line at 0x1000, false sharing 500 + 499 and 3 times, in ranks 0 and 1; 1,000 and 6 transfers."""
    places = [(2, "/src/prog.c", 23, 200)]
    sections = [
        [(LINES, [(0x1000, 0)]), (CORES, [(1, 1, LOW, LOW, 1, 500, 0, 0), (1, 2, HIGH, HIGH, 0, 499, 0, 0)]),
         (ACCESSES, [(0, 0, 0, 0, 5, 2, 1, 3, 0), (1, 1, 1, LOW, 400, 100, 500, 500, 0),
                     (1, 2, 1, HIGH, 500, 0, 500, 499, 0)])],
        [(LINES, [(0x2000, 0), (0x1000, 0)]), (CORES, [(1, 3, 1, 1, 0, 0, 4, 0), (2, 1, LOW, LOW, 0, 3, 0, 0)]),
         (ACCESSES, [(1, 3, 1, 1, 4, 0, 4, 4, 4), (2, 1, 1, LOW, 2, 4, 6, 6, 0)])],
    ]
    paths = [
        write_rank(tmp_path, f"out.{rank}", about(rank), sharing_file(about(rank), places, one))
        for rank, one in enumerate(sections)
    ]
    output = merged(tmp_path, paths)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert main(["--check", output]) == 0
    capsys.readouterr()
    assert main(["--sharing", "--format=json", output]) == 0
    found = json.loads(capsys.readouterr().out)["sharing"]
    assert (found["transfers"], found["saved"], found["other"]) == (1000 + 6 + 4 + 7, 1006, 7)
    assert [(one["transfers"], one["kind"]) for one in found["data"]] == [(1006, "false"), (4, "true")]
    (whole,) = read_sharing(str(tmp_path / "sharing.all"))
    (of_line,) = [line for line in whole.lines if line.address == 0x1000]
    assert [use[3:] for use in of_line.uses] == [(1, 503, 0, 0), (0, 499, 0, 0)]


def test_what_cores_load_is_added_up_by_core(tmp_path):
    rows = [[(0, *range(17)), (1, *range(100, 117))], [(1, *range(17)), (5, *(7 for _ in range(17)))], []]
    sections = [[(LINES, []), (CORES, []), (TOTALS, one), (ACCESSES, [])] for one in rows]
    paths = [
        write_rank(tmp_path, f"out.{rank}", about(rank), sharing_file(about(rank), [], one))
        for rank, one in enumerate(sections)
    ]
    merged(tmp_path, paths)
    (whole,) = read_sharing(str(tmp_path / "sharing.all"))
    assert whole.totals == ((0, (*range(17),)), (1, (*range(100, 134, 2),)), (5, (7,) * 17))


def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch):
    """Also where the sums are cut, which keeps what moves most, and loses nothing of the events."""
    paths, ranks = write_ranks(tmp_path, range(70))
    monkeypatch.setattr("bdannotate.merging.beside.MOST_LINES", 9)
    monkeypatch.setattr("bdannotate.merging.beside.MOST_ACCESSES", 100)
    alone = contents(merged(tmp_path, paths), "sharing", "objects")
    chance = random.Random(1)
    for processes in (1, 2, 4, 5):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many"), "sharing", "objects") == alone
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    _, accesses = naive(ranks)
    assert 0 < len(found.lines) <= 9
    assert found.transfers == sum(reads + writes for _, reads, writes, *_ in accesses.values())
    rows = [row for line in found.lines for row in line.accesses] + list(found.others)
    assert len(rows) <= 100
    assert sum(row.lost for row in rows) == sum(counts[3] for counts in accesses.values())


def test_few_rows_forget_places_of_what_is_not_followed(tmp_path, monkeypatch):
    paths, ranks = write_ranks(tmp_path, range(30))
    monkeypatch.setattr("bdannotate.merging.beside.MOST_ACCESSES", 8)
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    assert len(found.others) <= 4 and all(row.place is None for row in found.others)
    assert found.transfers == sum(counts[1] + counts[2] for counts in naive(ranks)[1].values())


def test_without_data_objects_lines_have_none(tmp_path):
    paths, _ = write_ranks(tmp_path, range(5), with_objects=False)
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    assert found.lines and all(line.group == 0 for line in found.lines)


def test_files_of_threads_know_the_same_of_their_lines(tmp_path):
    """Bytes and kinds are in each; transfers are apart."""
    places = [(2, "/src/prog.c", 23, 200)]
    uses = [(1, 1, LOW, LOW, 1, 500, 0, 0), (1, 2, HIGH, HIGH, 0, 499, 0, 0)]
    paths = []
    for thread, rows in ((1, [(0, 0, 0, 0, 5, 2, 1, 3, 0), (1, 1, 1, LOW, 400, 100, 500, 500, 0)]),
                         (2, [(1, 2, 1, HIGH, 500, 0, 500, 499, 0)])):
        told = about(0, thread)
        data = sharing_file(told, places, [(LINES, [(0x1000, 0)]), (CORES, uses), (ACCESSES, rows)])
        paths.append(write_rank(tmp_path, f"out.0-{thread}", told, data))
    told = about(1)
    data = sharing_file(told, places, [(LINES, [(0x1000, 0)]), (CORES, uses[:1]), (ACCESSES, [])])
    paths.append(write_rank(tmp_path, "out.1", told, data))
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    (line,) = found.lines
    assert [use[3:] for use in line.uses] == [(2, 1000, 0, 0), (0, 499, 0, 0)]
    assert (line.transfers, found.rest) == (1000, 7)


def test_what_cannot_be_merged_is_said(tmp_path, capsys):
    paths, ranks = write_ranks(tmp_path, range(3))
    told = about(1)
    sections = [(LINES, []), (CORES, []), (ACCESSES, [])]
    (tmp_path / "sharing.out.1").write_bytes(sharing_file(told, [], sections, line=32))
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert "sharing.out.1 has lines of 32 bytes, but" in error and not (tmp_path / "all").exists()
    (tmp_path / "sharing.out.1").unlink()
    assert main(["--merge", "-o", str(tmp_path / "all"), *paths]) == 0
    assert "shared lines are not merged, as" in capsys.readouterr().err
    assert not (tmp_path / "sharing.all").exists() and ranks


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths, _ = write_ranks(tmp_path, range(12))
    alone = contents(merged(tmp_path, paths), "sharing", "objects")
    result = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert result.returncode == 0, result.stderr
    assert contents(str(tmp_path / "many"), "sharing", "objects") == alone
