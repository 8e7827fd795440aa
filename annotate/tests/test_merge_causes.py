# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: why lines were loaded, in many ranks together."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from bdannotate.cli import main
from bdannotate.merging.why_sum import fit_to_write
from bdannotate.model.why import Depends, Reuse
from bdannotate.model.why_merge import with_fewer_reuses
from bdannotate.reading.objects import read_parts as read_objects
from bdannotate.reading.why import read_parts, read_why
from merging import by_threads, contents, merged, mpi, refused
from object_files import ObjectFile
from test_objects import EVENTS as OBJECT_EVENTS
from why_files import DATA, DISTANCES, INCLUSIVE, REUSES, STAYS, WhyFile, bucket

ORDERS = (
    "place scope inner access accesses straddle-line straddle-page same near forward backward far runs stride1 "
    "times1 stride2 times2 stride3 times3 depends on weight"
)
NAMES = [("prog", "/a.c", 1, "main"), ("prog", "/a.c", 9, "walk"), ("lib.so", "/b.h", 3, "load")]
# What all ranks may have; each has some of it, in its own order. Places are (function, file, line, address).
PLACES = [(0, "/a.c", 6, 100), (1, "/a.c", 23, 200), (1, "/b.h", 4, 204), (2, "/b.h", 5, 8), (2, "/b.h", 5, 12)]
SCOPES = [("call", 0), ("call", 1), ("loop", 1, "/a.c", 22, 190), ("loop", 2, "/b.h", 4, 4)]
GROUPS = ["unknown", "static 1 64 table", "static 1 8 table", "heap 1 16 0 16 16 16 16 16 16 1 1 1 5 100 1 1 malloc"]


def head(rank):
    return f"pid: {rank + 1}\ncmd: ./job\npart: 1\ndesc: Rank: {rank}\n"


class Rank:
    """What a rank has, by places in the lists above; None is no place, scope or group."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.places = chance.sample(range(len(PLACES)), chance.randrange(1, len(PLACES) + 1))
        self.scopes = chance.sample(range(len(SCOPES)), chance.randrange(len(SCOPES) + 1))
        self.groups = chance.sample(range(len(GROUPS)), chance.randrange(1, len(GROUPS) + 1))
        place = [None, *self.places]
        self.distances, self.reuses, self.stays, self.data, self.inclusive, self.orders = {}, {}, {}, {}, {}, {}
        self.hits, self.hit_data, self.hit_inclusive = {}, {}, {}
        for _ in range(chance.randrange(1, 8)):
            misses = chance.randrange(1, 10**6)
            counts = misses, chance.randrange(misses)
            self.distances[chance.choice(self.places), chance.randrange(60)] = counts
            self.data[chance.choice([None, *self.groups]), chance.randrange(60)] = counts
            self.inclusive[chance.randrange(3), chance.choice((None, 0, 1, 2)), chance.randrange(60)] = counts
            hits = chance.randrange(1, 10**6), 0
            self.hits[chance.choice(self.places), chance.randrange(60)] = hits
            self.hit_data[chance.choice([None, *self.groups]), chance.randrange(60)] = hits
            self.hit_inclusive[chance.randrange(3), chance.choice((None, 0, 1, 2)), chance.randrange(60)] = hits
            cause = chance.randrange(1, 4)
            who = [chance.choice(place) for _ in range(3)] if cause > 1 else [chance.choice(self.places), None, None]
            scope = chance.choice([None, *self.scopes])
            self.reuses[*who, scope, cause] = (*counts, chance.randrange(10**6))
            late, never = chance.randrange(9), chance.randrange(9)
            stay = chance.choice(place), chance.choice([None, *self.groups])
            self.stays[stay] = (chance.randrange(99), late + never + chance.randrange(3), late, never)
            order = chance.choice(self.places), scope, chance.randrange(2), chance.randrange(2)
            steps = chance.sample((8, 16, -64, 4096, -8), chance.randrange(4))
            depends = chance.randrange(5) if order[2] == 0 else 0
            self.orders[order] = (
                tuple(chance.randrange(99) for _ in range(9)), {step: chance.randrange(1, 99) for step in steps},
                (depends, chance.choice(place) if depends else None, chance.randrange(1, 99) if depends else 0),
            )
        self.sample = chance.randrange(1, 100), chance.randrange(100, 1000)

    def file(self, about, only=None):
        """In places of the lists here. only: sections, by name."""
        place = {None: 0, **{one: number for number, one in enumerate(self.places, 1)}}
        scope = {None: 0, **{one: number for number, one in enumerate(self.scopes, 1)}}
        group = {None: 0, **{one: number for number, one in enumerate(self.groups, 1)}}
        order_rows = []
        for (at, loop, inner, access), (counts, steps, (depends, on, weight)) in self.orders.items():
            strides = [number for one in sorted(steps.items(), key=lambda one: (-one[1], one[0])) for number in one]
            order_rows.append((
                place[at], scope[loop], inner, access, *counts, *[*strides, *[0] * 6][:6], depends, place[on], weight,
            ))
        sections = [
            *(
                (name, DISTANCES, [(place[at], *more, *sums) for (at, *more), sums in rows.items()])
                for name, rows in (("distances", self.distances), ("hit-distances", self.hits))
            ),
            ("reuses", REUSES, [
                (place[at], place[before], place[evictor], scope[within], cause, *sums)
                for (at, before, evictor, within, cause), sums in self.reuses.items()
            ]),
            ("stays", STAYS, [(place[at], group[data], *sums) for (at, data), sums in self.stays.items()]),
            *(
                (name, DATA, [(group[data], *more, *sums) for (data, *more), sums in rows.items()])
                for name, rows in (("data", self.data), ("hit-data", self.hit_data))
            ),
            *(
                (name, INCLUSIVE, [
                    (function + 1, 0 if callee is None else callee + 1, at, *sums)
                    for (function, callee, at), sums in rows.items()
                ])
                for name, rows in (("inclusive", self.inclusive), ("hit-inclusive", self.hit_inclusive))
            ),
            ("orders", ORDERS, order_rows),
        ]
        scopes = [
            f"call {one[1] + 1}" if one[0] == "call" else
            f"loop {one[1] + 1} {1 + (one[2] == '/b.h')} {one[3]} {one[4]}"
            for one in (SCOPES[number] for number in self.scopes)
        ]
        return WhyFile(
            NAMES, [(PLACES[number][0] + 1, *PLACES[number][1:]) for number in self.places], scopes,
            [(name, columns, sorted(rows)) for name, columns, rows in sections if only is None or name in only],
            head=about,
            sample=f"{self.sample[0]} {self.sample[1]}",
            **{"least-distance": 64},
        ).bytes()

    def objects(self, about):
        """Line 1 of main has loaded a line of each."""
        groups = [GROUPS[number] for number in self.groups]
        rows = [(number, 1, 1, 1, (0, 0, 1, 1, 1, 1)) for number in range(1, len(groups) + 1)]
        return ObjectFile(OBJECT_EVENTS, NAMES, groups, rows, head=about).bytes()


def write_ranks(folder, seeds, only=None):
    paths, ranks = [], []
    for number, seed in enumerate(seeds):
        rank = Rank(seed)
        path = folder / f"out.{number}"
        loaded = " ".join([str(len(rank.groups))] * 4)
        path.write_text(
            f"version: 1\n{head(number)}events: {' '.join(OBJECT_EVENTS)}\nob=prog\nfl=/a.c\nfn=main\n"
            f"1 9 0 {loaded}\ntotals: 9 0 {loaded}\n"
        )
        (folder / f"why.out.{number}").write_bytes(rank.file(head(number), only))
        (folder / f"objects.out.{number}").write_bytes(rank.objects(head(number)))
        paths.append(str(path))
        ranks.append(rank)
    return paths, ranks


def naive(ranks):
    """All of them added up, by places in the lists above."""
    found = Rank(0)
    found.places, found.scopes, found.groups = (
        sorted(set().union(*(getattr(rank, name) for rank in ranks))) for name in ("places", "scopes", "groups")
    )
    for section in ("distances", "reuses", "stays", "data", "inclusive", "hits", "hit_data", "hit_inclusive"):
        sums = {}
        for rank in ranks:
            for key, counts in getattr(rank, section).items():
                known = sums.get(key, (0,) * len(counts))
                sums[key] = tuple(one + more for one, more in zip(known, counts))
        setattr(found, section, sums)
    orders = {}
    for rank in ranks:
        for key, (counts, steps, (depends, on, weight)) in rank.orders.items():
            known = orders.setdefault(key, [(0,) * len(counts), {}, {}])
            known[0] = tuple(one + more for one, more in zip(known[0], counts))
            for step, times in steps.items():
                known[1][step] = known[1].get(step, 0) + times
            if weight:
                known[2][depends, on] = known[2].get((depends, on), 0) + weight
    found.orders = {key: (counts, steps, max_depends(depends)) for key, (counts, steps, depends) in orders.items()}
    found.sample = tuple(sum(column) for column in zip(*(rank.sample for rank in ranks)))
    return found


def max_depends(depends):
    most = max(depends.values(), default=0)
    return next(((*kind, weight) for kind, weight in depends.items() if weight == most), (0, None, 0))


def facts(path, objects):
    """What a file has, whatever its numbers and order. What instructions depend on is left out: see below."""
    (why,) = read_parts(str(path))
    (data,) = read_objects(str(objects))

    def place(number):
        return why.places[number]

    def group(number):
        return (data.groups[number - 1].identity._replace(places=()), data.groups[number - 1].sites) if number else None

    hits = why.hits
    return {
        "hits": {(hits.places[row.place], row.bucket): row[2:] for row in hits.distances},
        "data of hits": {(group(row.group), row.bucket): row[3:] for row in hits.data},
        "inclusive hits": {row[:3]: row[3:] for row in hits.inclusive},
        "least distance": why.least_distance,
        "distances": {(place(row.place), row.bucket): row[2:] for row in why.distances},
        "reuses": {(*map(place, row[:3]), why.scopes[row.scope], row.cause): row[5:] for row in why.reuses},
        "stays": {(place(row.place), group(row.group)): row[2:] for row in why.stays},
        "data": {(group(row.group), row.bucket): row[3:] for row in why.data},
        "inclusive": {row[:3]: row[3:] for row in why.inclusive},
        "orders": {(place(row.place), why.scopes[row.scope], row.inner, row.access): row[3:12] for row in why.orders},
        "numbers": [len(why.distances), len(why.reuses), len(why.stays), len(why.data), len(why.inclusive),
                    len(why.orders), len(why.places), len(why.scopes)],
        "sample": why.order_sample,
        "caches": (why.line, why.d1_lines, why.ll_lines, why.sets, why.history_sample, why.reuse_sample),
    }


def why_of(output):
    (found,) = read_parts(str(Path(output).with_name("why.all")))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_causes_are_the_sums_of_all(tmp_path, seed):
    chance = random.Random(seed)
    paths, ranks = write_ranks(tmp_path, [chance.randrange(9) for _ in range(chance.randrange(2, 20))])
    whole = naive(ranks)
    merged(tmp_path, paths)
    (tmp_path / "why.naive").write_bytes(whole.file(head(0)))
    (tmp_path / "objects.naive").write_bytes(whole.objects(head(0)))
    found = facts(tmp_path / "why.all", tmp_path / "objects.all")
    assert found == facts(tmp_path / "why.naive", tmp_path / "objects.naive")


@pytest.mark.parametrize("seed", range(8))
def test_strides_and_dependences_are_those_of_most(tmp_path, seed):
    """Of up to eight ranks, which are one block: the three most frequent strides, and what holds for most accesses."""
    chance = random.Random(seed)
    paths, ranks = write_ranks(tmp_path, [chance.randrange(9) for _ in range(chance.randrange(2, 9))])
    whole = naive(ranks)
    why = why_of(merged(tmp_path, paths))
    number = {(NAMES[function], *more): place for place, (function, *more) in enumerate(PLACES)}

    def known(place):
        return None if place is None else next(
            at for (name, *more), at in number.items()
            if (*name[:2], name[3]) == tuple(place.function) and tuple(more) == tuple(place[1:])
        )

    assert why.orders
    for row in why.orders:
        scope = None if not row.scope else next(
            number for number, one in enumerate(SCOPES) if (one[0], NAMES[one[1]][3], *one[3:]) == (
                why.scopes[row.scope].kind.value, why.scopes[row.scope].place.function.name,
                *((why.scopes[row.scope].place.line, why.scopes[row.scope].place.address) if one[0] == "loop" else ()),
            )
        )
        key = known(why.places[row.place]), scope, row.inner, row.access
        counts, steps, (_, _, weight) = whole.orders[key]
        assert row.strides == tuple(sorted(steps.items(), key=lambda one: (-one[1], one[0]))[:3])
        assert row.weight == weight and row[3:12] == counts
        assert (row.depends == Depends.UNKNOWN) == (not weight)


# Two ranks, of which the second has its places in another order. By hand:
#   distances: line 6 misses 5 + 2, line 23 100 + 1, and 30 at a distance of 1,024 lines in rank 0 alone
#   an order: 1,000 + 500 accesses, strides 8 (900 + 300), 64 (80), -8 (100); an index for 1,000, a chain for 400
SMALL = [
    ([(0, "/a.c", 6, 100), (1, "/a.c", 23, 200)], [
        ("distances", DISTANCES, [(1, 0, 5, 5), (2, 0, 100, 90), (2, bucket(1024), 30, 0)]),
        ("reuses", REUSES, [(1, 0, 0, 0, 1, 5, 5, 0), (2, 0, 0, 0, 1, 100, 90, 0), (2, 2, 1, 1, 2, 30, 0, 30720)]),
        ("stays", STAYS, [(2, 1, 10, 560, 400, 100)]),
        ("data", DATA, [(1, 0, 105, 95), (1, bucket(1024), 30, 0)]),
        ("orders", ORDERS, [(2, 1, 0, 0, 1000, 3, 1, 0, 0, 980, 0, 20, 10, 8, 900, 64, 80, 0, 0, 2, 1, 1000)]),
    ], ["static 1 64 table"]),
    ([(1, "/a.c", 23, 200), (0, "/a.c", 6, 100)], [
        ("distances", DISTANCES, [(1, 0, 1, 1), (2, 0, 2, 0)]),
        ("reuses", REUSES, [(1, 0, 0, 0, 1, 1, 1, 0), (2, 0, 0, 0, 1, 2, 0, 0)]),
        ("stays", STAYS, [(1, 2, 4, 8, 1, 7)]),
        ("data", DATA, [(1, 0, 1, 1), (2, 0, 2, 0)]),
        ("orders", ORDERS, [(1, 1, 0, 0, 500, 0, 0, 0, 0, 300, 100, 100, 5, 8, 300, -8, 100, 0, 0, 3, 1, 400)]),
    ], ["stack 1 1 walk", "static 1 64 table"]),
]


def write_small(folder, ranks=SMALL, **more):
    paths, _ = write_ranks(folder, range(len(ranks)))
    for rank, (places, sections, groups) in enumerate(ranks):
        places = [(function + 1, *where) for function, *where in places]
        about = head(rank)
        (folder / f"why.out.{rank}").write_bytes(
            WhyFile(NAMES, places, ["loop 2 1 22 190"], sections, head=about, **more).bytes()
        )
        profile = f"version: 1\n{about}events: Ir\nob=prog\nfl=/a.c\nfn=main\n1 9\ntotals: 9\n"
        (folder / f"out.{rank}").write_text(profile)
        (folder / f"objects.out.{rank}").write_bytes(ObjectFile(("Ir",), NAMES, groups, [], head=about).bytes())
    return paths


def test_two_small_files(tmp_path, capsys):
    why = why_of(merged(tmp_path, write_small(tmp_path)))
    assert capsys.readouterr().err == ""
    assert [place and place[2:] for place in why.places] == [None, (6, 100), (23, 200)]
    assert [tuple(row) for row in why.distances] == [(1, 0, 7, 5), (2, 0, 101, 91), (2, 41, 30, 0)]
    assert [tuple(row) for row in why.reuses] == [
        (1, 0, 0, 0, 1, 7, 5, 0), (2, 0, 0, 0, 1, 101, 91, 0), (2, 2, 1, 1, 2, 30, 0, 30720),
    ]
    (objects,) = read_objects(str(tmp_path / "objects.all"))
    stack, table = (
        1 + [group.identity.kind.value for group in objects.groups].index(kind) for kind in ("stack", "static")
    )
    assert sorted(row[1:] for row in why.stays) == sorted([(table, 14, 568, 401, 107)])
    assert sorted(row[1:] for row in why.data) == sorted([
        (stack, 0, 1, 1), (table, 0, 107, 95), (table, 41, 30, 0),
    ])
    (order,) = why.orders
    assert order[3:12] == (1500, 3, 1, 0, 0, 1280, 100, 120, 15)
    assert order.strides == ((8, 1200), (-8, 100), (64, 80))
    assert (order.depends, order.on, order.weight) == (Depends.INDEX, 1, 1000)
    assert why.order_sample == (20, 200)


def test_the_merged_files_pass_the_check(tmp_path, capsys):
    output = merged(tmp_path, write_small(tmp_path))
    assert main(["--check", output]) == 0
    assert "138 lines missed by 2 instructions: from the same run" in capsys.readouterr().out


@pytest.mark.parametrize("of_what", [["--curve=."], ["--curve=", "--object=."]])
def test_curves_say_what_they_say_of_all_files(tmp_path, capsys, of_what):
    """As --why=causes records them."""
    paths, _ = write_ranks(tmp_path, range(6), ("distances", "data", "inclusive"))
    output = merged(tmp_path, paths)
    capsys.readouterr()
    curves = []
    for files in (paths, [output]):
        assert main([*of_what, "--format=json", *files]) == 0
        curves.append(capsys.readouterr().out.partition('"curve')[2])
    assert curves[0] == curves[1] and len(curves[0]) > 100


def test_one_file_says_the_same(tmp_path):
    paths, _ = write_ranks(tmp_path, [5])
    merged(tmp_path, paths)
    found = facts(tmp_path / "why.all", tmp_path / "objects.all")
    expected = facts(tmp_path / "why.out.0", tmp_path / "objects.out.0")
    assert found == expected


def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch, capsys):
    paths, _ = write_ranks(tmp_path, range(70))
    monkeypatch.setattr("bdannotate.merging.beside.MOST_REUSES", 40)
    alone = contents(merged(tmp_path, paths), "why", "objects")
    chance = random.Random(1)
    for processes in (1, 2, 4, 5):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many"), "why", "objects") == alone
    assert len(why_of(str(tmp_path / "all")).reuses) <= 40


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths, _ = write_ranks(tmp_path, range(20))
    alone = contents(merged(tmp_path, paths), "why")
    done = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert done.returncode == 0, done.stderr
    assert contents(str(tmp_path / "many"), "why") == alone


@pytest.mark.parametrize("most", [5, 30, 100, 1000])
def test_rare_reuses_forget_first(tmp_path, most):
    """Nothing is lost of any cause, and what has most misses is kept."""
    write_ranks(tmp_path, [1])
    (why,) = read_parts(str(tmp_path / "why.out.0"))
    chance = random.Random(most)
    keys = {
        (chance.randrange(1, 6), chance.randrange(6), chance.randrange(6), chance.randrange(4), chance.choice((2, 3)))
        for _ in range(300)
    }
    rows = tuple(Reuse(*key, chance.randrange(1, 10**5), 1, 7) for key in sorted(keys))
    fewer = with_fewer_reuses(replace(why, reuses=rows), most).reuses
    assert len(fewer) <= most

    def sums(found):
        return {cause: [sum(row[place] for row in found if row.cause == cause) for place in (5, 6, 7)]
                for cause in (2, 3)}

    assert sums(fewer) == sums(rows)
    best = max(rows, key=lambda row: row.misses)
    assert most < 100 or any(row[:5] == best[:5] and row.misses >= best.misses for row in fewer)
    assert with_fewer_reuses(replace(why, reuses=rows), len(rows)).reuses == rows


def test_files_have_no_more_rows_than_those_of_a_run(tmp_path):
    merged(tmp_path, write_ranks(tmp_path, range(8))[0])
    why = why_of(str(tmp_path / "all"))
    alone = [row for row in why.inclusive if row.callee is None]
    assert 0 < len(alone) < len(why.inclusive) and len(why.orders) > 3
    assert fit_to_write(why, len(why.inclusive), len(why.orders)) == why
    assert list(fit_to_write(why, len(alone), 99).inclusive) == alone
    assert fit_to_write(why, len(alone) - 1, 99).inclusive is None
    few = fit_to_write(why, 9999, 3).orders
    assert len(few) == 3 and few[-1].place == 0
    assert sum(row.accesses for row in few) == sum(row.accesses for row in why.orders)
    assert min(row.accesses for row in few[:2]) >= max(row.accesses for row in why.orders if row not in few)


def test_callees_that_a_rank_had_no_room_for_are_of_no_rank(tmp_path):
    ranks = [(places, [*sections, ("inclusive", INCLUSIVE, rows)], groups) for (places, sections, groups), rows in zip(
        SMALL, ([(1, 0, 0, 9, 0), (1, 2, 0, 5, 0), (2, 0, 0, 5, 0)], [(1, 0, 0, 3, 0), (2, 0, 0, 1, 0)])
    )]
    why = why_of(merged(tmp_path, write_small(tmp_path, ranks)))
    assert [(row.function.name, row.callee, row.misses) for row in why.inclusive] == [
        ("main", None, 12), ("walk", None, 6),
    ]


def test_sections_that_not_all_have_are_in_no_sum(tmp_path):
    ranks = [SMALL[0], (SMALL[1][0], SMALL[1][1][:1], SMALL[1][2])]
    why = why_of(merged(tmp_path, write_small(tmp_path, ranks)))
    assert (why.reuses, why.stays, why.data, why.orders) == (None,) * 4
    assert why.misses() == 138
    assert b"reuse-sample" not in (tmp_path / "why.all").read_bytes()


def test_without_data_objects_groups_mean_nothing(tmp_path):
    paths = write_small(tmp_path)
    (tmp_path / "objects.out.1").unlink()
    why = why_of(merged(tmp_path, paths))
    assert {row.group for row in (*why.stays, *why.data)} == {0}
    assert sum(row.misses for row in why.data) == 138


def test_other_caches_are_refused(tmp_path, capsys):
    paths = write_small(tmp_path)
    data = (tmp_path / "why.out.1").read_bytes()
    (tmp_path / "why.out.1").write_bytes(data.replace(b"sets: 64", b"sets: 32"))
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert "was written with other caches than" in error and error.count("\n") == 1
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(("damage", "why"), [
    (lambda data: data[:-9], "is cut off"),
    (lambda data: data.replace(b"pid: 2\n", b"pid: 9\n"), "is from another run than"),
    (lambda data: b"nothing\n", "this is not a file on why lines were loaded"),
])
def test_damaged_causes_end_it_or_their_rank_is_left_out(tmp_path, capsys, damage, why):
    paths, _ = write_ranks(tmp_path, range(4))
    beside = Path(tmp_path, "why.out.1")
    beside.write_bytes(damage(beside.read_bytes()))
    error = refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)
    assert why in error and str(beside) in error and error.count("\n") == 1
    assert not list(tmp_path.glob("*all"))
    merged(tmp_path, paths, "all", "--skip-unreadable")
    assert why in capsys.readouterr().err
    read_why(str(tmp_path / "why.all"))


def test_names_are_those_after_they_were_changed(tmp_path):
    paths = write_small(tmp_path)
    output = merged(tmp_path, paths, "all", "--mod-funcname=s/^walk$/f/")
    assert b"walk" not in (tmp_path / "why.all").read_bytes() + (tmp_path / "objects.all").read_bytes()
    assert {group for _, group, *_ in why_of(output).stays} != {0}
