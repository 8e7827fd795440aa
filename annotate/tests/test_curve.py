# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves: misses of other sizes of the cache, from distances."""

import json
import random
import re
from collections import Counter

import pytest
from bdannotate.cli import main
from bdannotate.model.numbers import size_text
from object_files import ObjectFile
from test_why import HEAD, beside
from why_files import DATA, DISTANCES, INCLUSIVE, bucket

FUNCTIONS = [("prog", "/src/prog.c", line, name) for line, name in ((1, "main"), (20, "walk"), (40, "leaf"))]
PLACES = [(1, "/src/prog.c", 6, 100), (2, "/src/prog.c", 23, 200), (3, "/src/prog.c", 44, 300)]


def profile(by_function):
    main_, walk, leaf = by_function
    return f"""# callgrind format
version: 1
{HEAD}
positions: line
events: Ir D1mr D1mw
ob=prog
fl=/src/prog.c
fn=main
6 100 {main_} 0
cfn=walk
calls=1 20
7 {walk + leaf + 2000} {walk + leaf} 0
fn=walk
23 1000 {walk} 0
cfn=leaf
calls=5 40
24 1000 {leaf} 0
fn=leaf
44 1000 {leaf} 0
totals: 2100 {main_ + walk + leaf} 0
"""


def made(folder, distances, profile_text=None, more=(), **caches):
    """A profile with misses at these distances, by the number of the instruction; and more sections."""
    counted = Counter((place, bucket(distance)) for place, distance in distances)
    rows = [(*key, misses, 0) for key, misses in sorted(counted.items())]
    misses = Counter(place for place, _ in distances)
    text = profile_text or profile([misses[place] for place in (1, 2, 3)])
    return beside(
        folder, text, functions=FUNCTIONS, places=PLACES, scopes=[], sections=[("distances", DISTANCES, rows), *more],
        **caches,
    )


def curve(capsys, *arguments):
    assert main([*arguments, "--format=json"]) == 0
    return json.loads(capsys.readouterr().out)["curve"]


def at_random(number, seed=1):
    chance = random.Random(seed)
    edges = [2**power + more for power in range(9, 25) for more in (-1, 0, 1)]
    return [
        (chance.randrange(1, 4), chance.choice([None, chance.randrange(512, 1 << 25), chance.choice(edges)]))
        for _ in range(number)
    ]


@pytest.mark.parametrize(("option", "places"), [("--curve", {1, 2, 3}), ("--curve=^walk$", {2, 3}),
                                                ("--curve=leaf", {3}), ("--curve=main", {1, 2, 3})])
def test_each_size_misses_what_lies_as_far_as_it_has_lines(tmp_path, capsys, option, places):
    distances = at_random(3000)
    found = curve(capsys, option, made(tmp_path, distances))
    mine = [distance for place, distance in distances if place in places]
    sizes = [32768 << step for step in range(16)]
    assert [point["size"] for point in found["points"]] == sizes
    for point in found["points"][1:]:
        lines = point["size"] // 64
        expected = sum(1 for distance in mine if distance is None or distance >= lines)
        assert (point["misses"], point["loaded"]) == (expected, 64 * expected)
    assert found["points"][0]["misses"] == len(mine)
    assert found["first_touches"] == mine.count(None)


@pytest.mark.parametrize(("option", "places"), [("--curve", {1, 2, 3}), ("--curve=^walk$", {2, 3}),
                                                ("--curve=leaf", {3})])
def test_below_d1_hits_that_lie_so_far_miss_too(tmp_path, capsys, option, places):
    misses = at_random(500)
    chance = random.Random(2)
    hits = [(chance.randrange(1, 4), chance.randrange(64, 512)) for _ in range(3000)]
    counted = Counter((place, bucket(distance)) for place, distance in hits)
    rows = [(*key, number, 0) for key, number in sorted(counted.items())]
    path = made(tmp_path, misses, more=[("hit-distances", DISTANCES, rows)], **{"least-distance": 64})
    found = curve(capsys, option, path)
    assert [point["size"] for point in found["points"]] == [4096 << step for step in range(19)]
    mine = [distance for place, distance in misses if place in places]
    everything = mine + [distance for place, distance in hits if place in places]
    for point in found["points"][:3]:
        expected = sum(1 for distance in everything if distance is None or distance >= point["size"] // 64)
        assert point["misses"] == expected
    assert found["points"][3]["misses"] == len(mine)
    assert main([option, path, "--width=80"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[3] for line in lines if line.startswith(" 32 KiB")] == ["100.0%"]
    assert max(map(len, lines)) <= 80


def test_where_it_fits_and_where_the_knees_are(tmp_path, capsys):
    distances = [(2, None)] * 100 + [(2, 1000)] * 400 + [(2, 19000)] * 1100
    path = made(tmp_path, distances)
    found = curve(capsys, "--curve", path)
    assert [(knee["before"]["misses"], knee["after"]["misses"]) for knee in found["knees"]] == [
        (1600, 1200), (1200, 100),
    ]
    assert found["fits"]["misses"] == 100
    # 19,000 lines are 1.16 MiB, and the next quarter of a power of two is that of 19,484.
    assert found["fits"]["size"] == 19484 * 64
    assert main(["--curve", path, "--width=80"]) == 0
    text = capsys.readouterr().out
    assert "== Misses of data by the size of the cache ==" in text
    words = " ".join(text.split())
    assert "The data fits in 1.2 MiB (100 first touches remain); a cache of 1 MiB has twelve times the misses." in words
    assert "Between 54 KiB and 64 KiB, 25% of the misses disappear." in words
    assert max(map(len, text.split("\n"))) <= 80


def test_a_larger_cache_may_save_nothing(tmp_path, capsys):
    assert "100% of the misses are first touches" in curve(capsys, "--curve", made(
        tmp_path, [(1, None)] * 50 + [(2, None)] * 30
    ))["says"]
    assert "saves almost nothing" in curve(capsys, "--curve", made(
        tmp_path, [(1, None)] * 5 + [(2, 1 << 26)] * 30
    ))["says"]


def test_what_is_asked_for_must_be_there(tmp_path, capsys):
    path = made(tmp_path, [(1, None)])
    assert main(["--curve=nothing", path]) == 2
    assert "--curve=nothing: no function matches" in capsys.readouterr().err
    assert main(["--curve", "--format=csv", path]) == 2
    assert "it cannot be combined with --curve" in capsys.readouterr().err
    assert main(["--curve=leaf", path]) == 0
    assert "no data was loaded there" in capsys.readouterr().out
    (tmp_path / "why.p.out").unlink()
    assert main(["--curve", path]) == 2
    assert "there is no file why.p.out beside it" in capsys.readouterr().err


def test_sizes_are_told_in_three_digits_at_most():
    assert [size_text(size) for size in (48, 32768, 40960, 1 << 20, 1246976, 55574, 1 << 30)] == [
        "48 B", "32 KiB", "40 KiB", "1 MiB", "1.2 MiB", "54 KiB", "1 GiB",
    ]


def misses_at(distances, size):
    return sum(1 for distance in distances if distance is None or distance >= size // 64)


def sums(rows):
    """A section of them: (key..., distance) each."""
    return sorted((*key, count, 0) for key, count in Counter((*row[:-1], bucket(row[-1])) for row in rows).items())


def test_of_paths_it_is_known_what_is_called(tmp_path, capsys):
    """leaf is called by main, too: what it misses in calls of walk is known where paths are."""
    distances = at_random(2000)
    mine = [(place, distance, place == 3 and number % 3 == 0) for number, (place, distance) in enumerate(distances)]
    rows = []
    for place, distance, is_of_main in mine:
        rows.append((1, 0, distance))
        if place > 1 and not is_of_main:
            rows += [(1, 2, distance), (2, 0, distance)]
        if place == 3:
            rows += [(3, 0, distance), (1 if is_of_main else 2, 3, distance)]
    text = profile([sum(1 for place, *_ in mine if place == number) for number in (1, 2, 3)])
    text = text.replace("fn=walk\n23", "cfn=leaf\ncalls=1 40\n8 10 0 0\nfn=walk\n23")
    path = made(tmp_path, distances, text, [("inclusive", INCLUSIVE, sums(rows))])
    found = curve(capsys, "--curve=^walk$", path)
    assert (found["of"], found["name"], found["number"], found["has_all_calls"]) == ("functions", "^walk$", 1, True)
    inclusive = [distance for place, distance, is_of_main in mine if place > 1 and not is_of_main]
    own = [distance for place, distance, _ in mine if place == 2]
    for point, itself in zip(found["points"], found["own"]["points"]):
        expected = misses_at(inclusive, point["size"]), misses_at(own, point["size"])
        assert point["size"] == 32768 or (point["misses"], itself["misses"]) == expected
    assert (found["points"][0]["misses"], found["own"]["points"][0]["misses"]) == (len(inclusive), len(own))
    assert main(["--curve=^walk$", path, "--width=80"]) == 0
    text = capsys.readouterr().out
    assert "== ^walk$ with its calls: misses of data by the size of the cache ==" in text
    assert re.search(r"cache +misses +of D1's +loaded +itself", text) and "--context-tree" not in text
    # main calls leaf itself: together they have what main has, but that is not looked for.
    both = curve(capsys, "--curve=^walk$|^leaf$", path)
    assert both["has_all_calls"] is False
    assert both["points"][0]["misses"] == sum(1 for place, *_ in mine if place > 1)
    # Without paths, leaf belongs to no function alone.
    made(tmp_path, distances, (tmp_path / "p.out").read_text())
    alone = curve(capsys, "--curve=^walk$", path)
    assert alone["has_all_calls"] is False and alone["points"] == alone["own"]["points"]


def with_data(tmp_path):
    """And the same without."""
    distances = [(2, None)] * 50 + [(2, 1000)] * 400 + [(3, 5000)] * 70
    groups = ["heap 3 72 1 48 72 24 24 24 0 2 2 1 22 100 1 1 5 200 1 1 malloc", "static 1 64 table"]
    rows = sums([(1, distance) for place, distance in distances if place == 2]
                + [(2, distance) for place, distance in distances if place == 3])
    path = made(tmp_path, distances, more=[("data", DATA, rows)])
    names = [("prog", "/src/prog.c", 1, "main"), ("prog", "/src/prog.c", 20, "walk")]
    costs = [(1, 2, 1, 23, (0, 450, 0)), (2, 2, 1, 23, (0, 70, 0))]
    (tmp_path / "objects.p.out").write_bytes(
        ObjectFile(("Ir", "D1mr", "D1mw"), names, groups, costs, [], HEAD).bytes()
    )
    return path, distances


def test_data_have_curves(tmp_path, capsys):
    path, distances = with_data(tmp_path)
    found = curve(capsys, "--curve", "--object=heap", path)
    assert (found["of"], found["name"], found["number"], found["own"]) == ("data", "heap", 1, None)
    at = {point["size"]: point["misses"] for point in found["points"]}
    assert (at[32768], at[65536], at[1 << 20]) == (450, 50, 50)
    assert curve(capsys, "--curve", "--object=table", path)["points"][0]["misses"] == 70
    assert curve(capsys, "--curve", "--object=.", path)["points"][0]["misses"] == 520
    assert main(["--curve", "--object=table", path]) == 0
    text = capsys.readouterr().out
    assert "== table: misses of data by the size of the cache ==" in text and "loaded by" not in text.lower()
    assert main(["--curve=walk", "--object=table", path]) == 2
    assert "--curve=walk selects functions, but --object selects data" in capsys.readouterr().err
    made(tmp_path, distances)
    assert main(["--curve", "--object=table", path]) == 2
    said = capsys.readouterr().err
    assert "why.p.out has no distances by data: run with --why=yes --objects=yes" in said
    assert main(["--curve", "--object=nothing", path]) == 2


# walk calls leaf once, and from the outer one of its two loops, where the inner one is, ten times.
LOOPS = f"""# callgrind format
version: 1
{HEAD}
positions: instr line
events: Ir D1mr D1mw
ob=prog
fl=/src/prog.c
fn=main
0x4 6 1 0 0
cfn=walk
calls=1 0x10 20
0x4 6 342 350 0
fn=walk
0x10 21 1 0 0
cfn=leaf
calls=1 0x100 40
0x10 21 30 30 0
0x14 22 10 40 0
0x18 23 100 200 0
0x1a 23 100 0 0
jcnd=90/100 0x18 23
0x1a 23
0x1c 24 10 0 0
cfn=leaf
calls=10 0x100 40
0x1c 24 80 80 0
0x20 22 10 0 0
jcnd=9/10 0x14 22
0x20 22
0x24 25 1 0 0
fn=leaf
0x100 44 110 110 0
totals: 343 350 0
"""


def with_loops(folder, with_paths):
    places = [(2, "/src/prog.c", 22, 0x14), (2, "/src/prog.c", 23, 0x18), (3, "/src/prog.c", 44, 0x100)]
    near, far = bucket(1000), bucket(5000)
    rows = [(1, near, 40, 0), (2, near, 150, 0), (2, far, 50, 0), (3, far, 110, 0)]
    sections = [("distances", DISTANCES, rows)]
    if with_paths:
        leaf = [(3, 0, far, 110, 0), (2, 3, far, 110, 0), (1, 2, far, 160, 0), (1, 2, near, 190, 0)]
        walk = [(2, 0, far, 160, 0), (2, 0, near, 190, 0), (1, 0, far, 160, 0), (1, 0, near, 190, 0)]
        sections.append(("inclusive", INCLUSIVE, sorted(leaf + walk)))
    return beside(folder, LOOPS, functions=FUNCTIONS, places=places, scopes=[], sections=sections)


@pytest.mark.parametrize("with_paths", [False, True])
def test_loops_have_curves(tmp_path, capsys, with_paths):
    """As functions of their own. Of calls, each has its part; without paths, none where others call, too."""
    path = with_loops(tmp_path, with_paths)

    def found(name):
        one = curve(capsys, f"--curve={name}", "--separate-loops", path)
        assert one["has_all_calls"] is with_paths
        at = {point["size"]: point["misses"] for point in one["points"]}
        return one["own"]["points"][0]["misses"], at[32768], at[1 << 17]

    assert found("loop prog.c:23$") == (200, 200, 50)
    assert found("loop prog.c:22$") == ((40, 320, 130) if with_paths else (40, 240, 50))
    assert found("^walk$") == ((0, 350, 160) if with_paths else (0, 350, 160))
    assert curve(capsys, "--curve", "--separate-loops", path)["points"][0]["misses"] == 350
