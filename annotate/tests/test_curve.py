# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves: misses of other sizes of the cache, from distances."""

import json
import random
from collections import Counter

import pytest
from bdannotate.cli import main
from bdannotate.views.curve import size_text
from test_why import HEAD, beside
from why_files import DISTANCES, bucket

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


def made(folder, distances, profile_text=None):
    """A profile with misses at these distances, by the number of the instruction."""
    counted = Counter((place, bucket(distance)) for place, distance in distances)
    rows = [(*key, misses, 0) for key, misses in sorted(counted.items())]
    misses = Counter(place for place, _ in distances)
    text = profile_text or profile([misses[place] for place in (1, 2, 3)])
    return beside(
        folder, text, functions=FUNCTIONS, places=PLACES, scopes=[], sections=[("distances", DISTANCES, rows)]
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
    assert "It fits in 1.2 MiB (100 first touches are left); at 1 MiB twelve times the misses." in words
    assert "Between 54 KiB and 64 KiB, 25% of the misses go." in words
    assert max(map(len, text.split("\n"))) <= 80


def test_a_larger_cache_may_save_nothing(tmp_path, capsys):
    assert "100% of the misses are the first touch" in curve(capsys, "--curve", made(
        tmp_path, [(1, None)] * 50 + [(2, None)] * 30
    ))["says"]
    assert "saves hardly anything" in curve(capsys, "--curve", made(
        tmp_path, [(1, None)] * 5 + [(2, 1 << 26)] * 30
    ))["says"]


def test_what_is_asked_for_must_be_there(tmp_path, capsys):
    path = made(tmp_path, [(1, None)])
    assert main(["--curve=nothing", path]) == 2
    assert "--curve=nothing: no function has such a name" in capsys.readouterr().err
    assert main(["--curve", "--format=csv", path]) == 2
    assert "--curve does not go with it" in capsys.readouterr().err
    assert main(["--curve=leaf", path]) == 0
    assert "no line of data was loaded there" in capsys.readouterr().out
    (tmp_path / "why.p.out").unlink()
    assert main(["--curve", path]) == 2
    assert "there is no file why.p.out beside it" in capsys.readouterr().err


def test_sizes_are_told_in_three_digits_at_most():
    assert [size_text(size) for size in (48, 32768, 40960, 1 << 20, 1246976, 55574, 1 << 30)] == [
        "48 B", "32 KiB", "40 KiB", "1 MiB", "1.2 MiB", "54 KiB", "1 GiB",
    ]
