# SPDX-License-Identifier: GPL-2.0-or-later
"""The callgrind form: nothing is lost or made up, and gprof2dot reads it."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given, strategies as st

from bdannotate.model.check import check
from bdannotate.model.merge import project
from bdannotate.reading.parser import parse_text

from exporting import HELPER, PROFILES, exported, run, seeds
from traces import Trace


def known(profile):
    """Costs and calls, under the name that a function without a file or object gets."""
    def named(function):
        return tuple(name or "???" for name in function)

    lines = {}
    for place, rows in profile.lines.items():
        for line, row in rows.items():
            lines[named(place.function), place.file or "???", line] = row
    calls = {
        (named(site.caller), named(site.callee), site.file or "???", site.line): call
        for site, call in profile.calls.items()
    }
    return lines, calls


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_the_callgrind_form_says_all_that_the_profile_does(path):
    profile = parse_text(path.read_text())
    again = parse_text(exported(profile, "callgrind", profile.events[-1:]))
    assert again.events == (profile.events[-1], *profile.events[:-1])
    assert known(project(again, profile.events)) == known(profile)
    assert dict(again.formulas) == dict(profile.formulas)
    assert check(again).violation == check(profile).violation


@given(seeds, seeds, st.integers(1, 3))
def test_the_callgrind_form_of_random_programs(seed, spelling, parts):
    profile = parse_text(Trace(seed).text(spelling, parts))
    assert known(parse_text(exported(profile, "callgrind", ("Ir", "X")))) == known(profile)


def test_chosen_events_come_first_and_no_count_is_left_out():
    text = exported(parse_text(HELPER.read_text()), "callgrind", ("LLm", "DLmr"))
    (events,) = re.findall(r"^events: (.*)$", text, re.MULTILINE)
    assert events.split()[:3] == ["LLm", "DLmr", "Ir"]
    rows = re.findall(r"^\d+ (.*)$", text, re.MULTILINE)
    assert len(rows) > 10
    assert {len(row.split()) for row in rows} == {len(events.split())}
    assert "event: LLm : Misses of the last level\n" in text
    assert "\nsummary: 2010 2000 100000 " in text


def test_gprof2dot_reads_the_callgrind_form(tmp_path):
    program = shutil.which("gprof2dot")
    if not program:
        pytest.skip("gprof2dot is missing; with Python: pip install gprof2dot")
    path = tmp_path / "callgrind.out.1"
    run(HELPER, "--export=callgrind", "--events=D1mr", "-o", path)
    graph = subprocess.run(
        [program, "-f", "callgrind", path], capture_output=True, text=True, check=True
    ).stdout
    # It shows the first event only: of 9,000 misses, columns has 8,000 below itself.
    assert re.search(r'columns"? \[.*label="[^"]*columns\\n88\.\d+%\\n\(0\.00%\)', graph), graph
