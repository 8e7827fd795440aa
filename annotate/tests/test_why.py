# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded: reading the file beside a profile, comparing the two."""

import gzip
import struct

import pytest
from bdannotate.cli import main
from bdannotate.model.errors import ProfileError, UserError
from bdannotate.model.profile import Function
from bdannotate.model.why import (
    Cause, DataDistance, Depends, Distance, Inclusive, Instruction, Order, Reuse, Sampled, ScopeKind, Stay,
)
from bdannotate.reading.why import read_why
from why_files import DATA, DISTANCES, INCLUSIVE, ORDERS, REUSES, STAYS, WhyFile, bucket

FUNCTIONS = [("prog", "/src/prog.c", 1, "main"), ("prog", "/src/prog.c", 20, "walk")]
PLACES = [(1, "/src/prog.c", 6, 100), (2, "/src/prog.c", 23, 200), (2, "/src/inner.h", 4, 204)]
SCOPES = ["call 1", "loop 2 1 22 190"]
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1\ndesc: D1 cache: 32768 B, 64 B, 8-way associative"
ROWS = [
    ("distances", DISTANCES, [(1, 0, 5, 5), (2, 0, 100, 90), (2, bucket(1024), 30, 0), (3, bucket(100), 7, 0)]),
    ("reuses", REUSES, [
        (1, 0, 0, 0, 1, 5, 5, 0), (2, 0, 0, 0, 1, 100, 90, 0), (2, 2, 3, 2, 2, 30, 0, 30720),
        (3, 2, 2, 1, 3, 7, 0, 700),
    ]),
    ("orders", ORDERS, [
        (2, 2, 0, 1000, 3, 1, 0, 0, 980, 0, 20, 10, 4096, 900, -64, 80, 0, 0, 1, 0, 1000),
        (3, 2, 1, 10, 0, 0, 1, 2, 3, 1, 3, 2, 0, 0, 0, 0, 0, 0, 3, 2, 9),
    ]),
    ("stays", STAYS, [(2, 0, 10, 560, 400, 100)]),
]
# Beside data objects, and a context tree.
MORE = [
    ("data", DATA, [(0, 0, 105, 95), (1, 27, 7, 0), (1, 41, 30, 0)]),
    ("inclusive", INCLUSIVE, [(1, 0, 0, 105, 95), (1, 2, 0, 100, 90), (1, 2, 41, 30, 0), (2, 0, 41, 30, 0)]),
]
# In a run with --curve-from.
HITS = [
    ("hit-distances", DISTANCES, [(2, bucket(128), 900, 0), (3, bucket(64), 50, 0)]),
    ("hit-data", DATA, [(1, bucket(64), 50, 0), (1, bucket(128), 900, 0)]),
    ("hit-inclusive", INCLUSIVE, [(1, 0, bucket(64), 50, 0), (1, 0, bucket(128), 900, 0)]),
]
EVENTS = "Ir D1mr D1mw D1first"
PROFILE = f"""# callgrind format
version: 1
{HEAD}
positions: line
events: {EVENTS}
ob=prog
fl=/src/prog.c
fn=main
6 100 5 0 5
fn=walk
23 1000 130 0 100
fi=/src/inner.h
4 50 0 7 0
totals: 1150 135 7 105
"""


def beside(folder, text=PROFILE, **changes):
    fields = {"functions": FUNCTIONS, "places": PLACES, "scopes": SCOPES, "sections": ROWS, "head": HEAD}
    (folder / "why.p.out").write_bytes(WhyFile(**(fields | changes)).bytes())
    (folder / "p.out").write_text(text)
    return str(folder / "p.out")


def read(folder, **changes):
    beside(folder, **changes)
    return read_why(str(folder / "why.p.out"))


def changed(section, rows):
    return [(name, columns, rows if name == section else old) for name, columns, old in ROWS]


def test_all_that_was_written_is_read(tmp_path):
    found = read(tmp_path)
    main_, walk = (Function("prog", "/src/prog.c", name) for name in ("main", "walk"))
    assert found.places == (
        None, Instruction(main_, "/src/prog.c", 6, 100), Instruction(walk, "/src/prog.c", 23, 200),
        Instruction(walk, "/src/inner.h", 4, 204),
    )
    assert (found.line, found.d1_lines, found.ll_lines, found.sets) == (64, 512, 131072, 64)
    assert found.order_sample == Sampled(10, 100)
    assert [scope.kind for scope in found.scopes] == [ScopeKind.RUN, ScopeKind.CALL, ScopeKind.LOOP]
    assert found.scopes[2].place == Instruction(walk, "/src/prog.c", 22, 190)
    assert found.distances == (
        Distance(1, 0, 5, 5), Distance(2, 0, 100, 90), Distance(2, 41, 30, 0), Distance(3, 27, 7, 0),
    )
    assert found.reuses[2] == Reuse(2, 2, 3, 2, Cause.CAPACITY, 30, 0, 30720)
    assert found.orders[0] == Order(
        2, 2, 0, 1000, 3, 1, 0, 0, 980, 0, 20, 10, ((4096, 900), (-64, 80)), Depends.ARITHMETIC, 0, 1000,
    )
    assert found.orders[1].depends is Depends.CHAIN and found.orders[1].on == 2
    assert found.stays == (Stay(2, 0, 10, 560, 400, 100),)


def test_reuses_of_a_sample_are_scaled_to_what_is_known_exactly(tmp_path):
    first = [(1, 0, 0, 0, 1, 5, 5, 0), (2, 0, 0, 0, 1, 100, 90, 0)]
    sampled = [(2, 2, 3, 0, 3, 8, 0, 800), (2, 2, 3, 2, 2, 16, 0, 16 * 1024)]
    found = read(tmp_path, sections=changed("reuses", first + sampled), **{"reuse-sample": 8})
    # Of place 2, there are 30; of place 3, there are 7 that no line of the sample tells of.
    assert found.reuses == (
        Reuse(1, 0, 0, 0, Cause.FIRST_TOUCH, 5, 5, 0), Reuse(2, 0, 0, 0, Cause.FIRST_TOUCH, 100, 90, 0),
        Reuse(2, 2, 3, 0, Cause.CONFLICT, 10, 0, 1000), Reuse(2, 2, 3, 2, Cause.CAPACITY, 20, 0, 20480),
        Reuse(3, 0, 0, 0, Cause.CONFLICT, 7, 0, 91 * 7),
    )
    # A row of nothing, as only a damaged file has, tells nothing.
    nothing = [(2, 2, 3, 0, 3, 0, 0, 0)]
    found = read(tmp_path, sections=changed("reuses", first + nothing), **{"reuse-sample": 8})
    assert [row.misses for row in found.reuses if row.place == 2 and row.cause != Cause.FIRST_TOUCH] == [30]
    # What has forgotten whose it is cannot be.
    rest = [(0, 0, 0, 0, 2, 8, 8, 8000)]
    found = read(tmp_path, sections=changed("reuses", rest + first + sampled), **{"reuse-sample": 8})
    assert [row.misses for row in found.reuses] == [8, 5, 100, 8, 16]


def test_distances_of_data_and_of_what_is_called_are_read(tmp_path):
    found = read(tmp_path, sections=ROWS + MORE)
    main_, walk = (Function("prog", "/src/prog.c", name) for name in ("main", "walk"))
    assert found.data == (DataDistance(0, 0, 0, 105, 95), DataDistance(0, 1, 27, 7, 0), DataDistance(0, 1, 41, 30, 0))
    assert found.inclusive == (
        Inclusive(main_, None, 0, 105, 95), Inclusive(main_, walk, 0, 100, 90), Inclusive(main_, walk, 41, 30, 0),
        Inclusive(walk, None, 41, 30, 0),
    )
    assert main(["--check", beside(tmp_path, sections=ROWS + MORE)]) == 0
    path = tmp_path / "why.p.out"
    path.write_bytes(path.read_bytes() * 2)
    both = read_why(str(path))
    assert both.data == (*found.data, *(row._replace(part=1) for row in found.data))
    assert [row.misses for row in both.inclusive] == [210, 200, 60, 60]
    beside(tmp_path, sections=ROWS)
    assert read_why(str(path)).data is None and read_why(str(path)).inclusive is None


def test_hits_are_read_and_added_up(tmp_path):
    sections = {"sections": ROWS + MORE + HITS, "least-distance": 64}
    path = beside(tmp_path, **sections)
    assert main(["--check", path]) == 0
    found = read_why(str(tmp_path / "why.p.out"))
    walk, main_ = (Function("prog", "/src/prog.c", name) for name in ("walk", "main"))
    assert found.least_distance == 64 and found.distances == read(tmp_path).distances
    (tmp_path / "why.p.out").write_bytes(WhyFile(FUNCTIONS, PLACES, SCOPES, ROWS + MORE + HITS, HEAD, **{
        "least-distance": 64,
    }).bytes() * 2)
    both = read_why(str(tmp_path / "why.p.out"))
    assert both.least_distance == 64
    for one, times in (found.hits, 1), (both.hits, 2):
        assert [(one.places[row.place].function, row.bucket, row.misses) for row in one.distances] == [
            (walk, bucket(128), 900 * times), (walk, bucket(64), 50 * times),
        ]
        assert [(row.function, row.misses) for row in one.inclusive] == [(main_, 50 * times), (main_, 900 * times)]
        assert sum(row.misses for row in one.data) == 950 * times
    # What not all parts have is not known of their sum.
    data = WhyFile(FUNCTIONS, PLACES, SCOPES, ROWS + MORE, HEAD).bytes()
    (tmp_path / "why.p.out").write_bytes(data + WhyFile(FUNCTIONS, PLACES, SCOPES, ROWS + MORE + HITS, HEAD, **{
        "least-distance": 64,
    }).bytes())
    mixed = read_why(str(tmp_path / "why.p.out"))
    assert mixed.hits is None and mixed.least_distance == 0


def test_sections_and_columns_that_are_not_known_are_skipped(tmp_path):
    more = [("distances", f"new {DISTANCES}", [(9, *row) for row in ROWS[0][2]])]
    found = read(tmp_path, sections=[("weather", "sun rain", [(1, 2), (3, 4)]), *more])
    assert found.distances == read(tmp_path).distances
    assert found.reuses is None and found.orders is None and found.stays is None


def test_parts_are_added_up(tmp_path):
    path = tmp_path / "why.p.out"
    beside(tmp_path)
    one = path.read_bytes()
    alone = read_why(str(path))
    path.write_bytes(one + b"\n\n" + one)
    both = read_why(str(path))
    assert both.places == alone.places and both.scopes == alone.scopes
    assert [row.misses for row in both.distances] == [2 * row.misses for row in alone.distances]
    assert both.reuses[2] == Reuse(2, 2, 3, 2, Cause.CAPACITY, 60, 0, 61440)
    assert both.stays == (Stay(2, 0, 20, 1120, 800, 200),)
    path.write_bytes(one + one.replace(b"d1-lines: 512", b"d1-lines: 64"))
    with pytest.raises(UserError, match="was written with other caches"):
        read_why(str(path))


def test_a_packed_file_is_read(tmp_path):
    beside(tmp_path)
    plain = tmp_path / "why.p.out"
    (tmp_path / "why.p.out.gz").write_bytes(gzip.compress(plain.read_bytes()))
    expected = read_why(str(plain))
    plain.unlink()
    assert read_why(str(tmp_path / "why.p.out.gz")).distances == expected.distances


@pytest.mark.parametrize(("changes", "text"), [
    ({"sections": changed("distances", [(4, 0, 5, 5)])}, "there is no place 4"),
    ({"sections": changed("distances", [(1, 300, 5, 5)])}, "there is no bucket 300"),
    ({"sections": changed("distances", [(1, 0, 5, 6)])}, "6 LL misses are more than the 5 misses they are part of"),
    ({"sections": changed("reuses", [(1, 0, 0, 3, 1, 5, 5, 0)])}, "there is no scope 3"),
    ({"sections": changed("reuses", [(1, 0, 4, 0, 1, 5, 5, 0)])}, "there is no place 4"),
    ({"sections": changed("reuses", [(1, 0, 0, 0, 4, 5, 5, 0)])}, "cause 4"),
    ({"sections": changed("stays", [(1, 0, 1, 10, 6, 5)])},
     "6 bytes used late and 5 never used are more than the 10 unused"),
    ({"sections": ROWS[1:]}, "'distances:' is missing"),
    ({"sections": ROWS + [("data", DATA, [(1, 300, 5, 5)])]}, "there is no bucket 300"),
    ({"sections": ROWS + [("data", DATA, [(1, 0, 5, 6)])]}, "6 LL misses are more than the 5 misses they are part of"),
    ({"sections": ROWS + [("inclusive", INCLUSIVE, [(1, 3, 0, 5, 5)])]}, "there is no function 3"),
    ({"sections": ROWS + [("inclusive", INCLUSIVE, [(0, 1, 0, 5, 5)])]}, "there is no function 0"),
    ({"sections": ROWS + [("inclusive", INCLUSIVE, [(1, 1, 257, 5, 5)])]}, "there is no bucket 257"),
    ({"sections": [ROWS[0], ROWS[0]]}, "distances: appears twice"),
    ({"sections": [("distances", "place bucket misses", [(1, 0, 5)])]}, "distances: has no column llmisses"),
    ({"sections": [("distances", f"{DISTANCES} place", [(1, 0, 5, 5, 1)])]}, "or one twice"),
    ({"scopes": ["tree 1"]}, "'tree 1' is not a scope"),
    ({"scopes": ["call 9"]}, "'call 9' is in a function or file that has no name"),
    ({"places": [(9, "/src/prog.c", 6, 100)]}, "is in a function or file that has no name"),
    ({"line": 0}, "line: '0' is not a number above 0"),
    ({"sets": "x"}, "sets: 'x' is not a number above 0"),
])
def test_what_is_wrong_is_said_in_a_sentence(tmp_path, changes, text):
    with pytest.raises(ProfileError, match=text):
        read(tmp_path, **changes)


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    beside(tmp_path)
    path = tmp_path / "why.p.out"
    data = path.read_bytes()
    whole = data.index(b"reuses:"), data.index(b"orders:"), data.index(b"stays:")
    for end in range(0, len(data), 3):
        if end not in whole:
            path.write_bytes(data[:end])
            with pytest.raises(ProfileError):
                read_why(str(path))


def test_check_compares_with_the_profile(tmp_path, capsys):
    assert main(["--check", beside(tmp_path)]) == 0
    assert "142 lines missed by 3 instructions: from the same run" in capsys.readouterr().out


@pytest.mark.parametrize(("changes", "text"), [
    ({"head": HEAD.replace("pid: 7", "pid: 8")}, "is from another run than"),
    ({"sections": changed("distances", [(1, 0, 5, 5), (2, 0, 100, 0), (2, 41, 29, 0), (3, 27, 7, 0)])},
     "has 141 lines of data that D1 missed, fewer than the 142 misses"),
    ({"sections": changed("distances", [(1, 0, 105, 5), (2, 41, 30, 0), (3, 27, 7, 0)])},
     "walk has 37 lines that D1 missed, 0 of them for the first time, but the profile has more"),
    ({"sections": changed("distances", [(1, 0, 100, 0), (1, 40, 5, 0), (2, 0, 30, 0), (3, 27, 7, 0)])},
     "walk has 37 lines that D1 missed"),
    ({"sections": changed("reuses", [(1, 0, 0, 0, 1, 5, 5, 0)])},
     "the misses by reuse add up to 5, but those by distance to 142"),
    ({"sections": ROWS + [("data", DATA, [(1, 0, 141, 0)])]},
     "data objects have 141 lines that D1 missed, but instructions have 142"),
    ({"sections": ROWS + [("inclusive", INCLUSIVE, [(2, 0, 41, 31, 0)])]},
     "walk has 31 misses at a distance at which all functions have 30"),
])
def test_check_finds_what_does_not_agree(tmp_path, capsys, changes, text):
    assert main(["--check", beside(tmp_path, **changes)]) == 1
    assert text in capsys.readouterr().err


def test_misses_without_a_place_may_be_any_functions(tmp_path):
    rows = [(1, 0, 5, 5), (2, 0, 60, 50), (0, 0, 40, 40), (2, 41, 30, 0), (3, 27, 7, 0)]
    assert main(["--check", beside(tmp_path, sections=[("distances", DISTANCES, rows)])]) == 0


def test_the_number_of_rows_is_compared(tmp_path):
    beside(tmp_path)
    path = tmp_path / "why.p.out"
    data = path.read_bytes()
    assert data.endswith(struct.pack("<Q", 1))
    path.write_bytes(data[:-8] + struct.pack("<Q", 2))
    with pytest.raises(ProfileError, match="2 rows of stays are stated, but there are 1"):
        read_why(str(path))
