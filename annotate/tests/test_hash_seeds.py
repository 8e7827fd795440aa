# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written does not depend on the order in which Python's sets have names, which is another in each run."""

import os
import subprocess
import sys

import pytest
from test_golden import REPORTS, TESTS

SEEDS = ("1", "2", "3", "4")
NAMES = [f"function{number:02}" for number in range(12)]
COSTS = "".join(f"fn={name}\n1 {10 + number}\ncfn=f\ncalls=1 1\n1 1\n" for number, name in enumerate(NAMES))
HOT = "".join(f"# fn={name}\n# at=0x{number}0 1 1\n" for number, name in enumerate(NAMES))
PART = f"positions: line\nevents: Ir\n\nfl=a.c\n{COSTS}\n# hot code:\n# fl=a.c\n{HOT}"
READ = """
import sys
sys.path.insert(0, sys.argv[1])
from bdannotate.model.merge import add, map_functions
from bdannotate.reading.parser import parse_text
profile = parse_text(sys.stdin.read())
renamed = map_functions(profile, lambda function: function._replace(name=function.name[1:]))
for one in (profile, add(profile, profile), renamed):
    for table in (one.lines, one.calls, one.hot, one.hot_calls, one.beginnings):
        print(list(table))
"""


def written(seed, *command, cwd=TESTS, text=""):
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, input=text, capture_output=True, timeout=60, encoding="utf-8",
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.stdout + done.stderr


def test_parts_are_added_up_in_the_order_of_the_file():
    found = {written(seed, "-c", READ, TESTS.parent, text=f"version: 1\n{PART}\n{PART}") for seed in SEEDS}
    assert len(found) == 1
    assert list(map(found.pop().count, NAMES)) == [6] * len(NAMES)


@pytest.mark.parametrize("name", ["sources", "tree", "hints", "json_structure", "diff", "per_file", "csv"])
def test_a_report(name):
    command = TESTS.parent / "bd_annotate", *REPORTS[name]
    found = {written(seed, *command, cwd=TESTS / "profiles") for seed in SEEDS}
    assert len(found) == 1 and "Traceback" not in found.pop()


@pytest.mark.parametrize("profiles", [["instructions.out"], ["rank0.out", "rank1.out", "rank2.out"]], ids=len)
def test_a_page(profiles, tmp_path):
    pages = set()
    for seed in SEEDS:
        target = tmp_path / "page.html"
        said = written(seed, TESTS.parent / "bd_annotate", f"--html={target}", *profiles, cwd=TESTS / "profiles")
        assert "Traceback" not in said
        pages.add(target.read_bytes())
    assert len(pages) == 1
