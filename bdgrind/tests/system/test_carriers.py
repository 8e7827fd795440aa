# SPDX-License-Identifier: GPL-2.0-or-later
"""Who brings lines back: what the guest's comments say must come true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bdannotate.analyses.misses.loop_nests import Loops, nests_of
from bdannotate.model.why import Cause, ScopeKind, Why
from bdannotate.reading.parser import Detail, parse_text
from bdannotate.reading.why import read_why, why_path
from harness import GUESTS, SMALL_CACHES, SOURCE, run_tool

CARRIERS = SOURCE / "bdgrind" / "tests" / "guest" / "carriers.S"
LINES = 128


def why(folder: Path, *options: str) -> tuple[Why, dict[str, int]]:
    """What the run says, and the totals of its events."""
    run = run_tool(folder, [GUESTS / "carriers"], [*SMALL_CACHES, "--why=yes", *options])
    path = why_path(str(run.profile_path))
    assert path is not None
    lines = run.profile_path.read_text().splitlines()
    (events,) = (line.split()[1:] for line in lines if line.startswith("events: "))
    (totals,) = (line.split()[1:] for line in lines if line.startswith("totals: "))
    return read_why(path), dict(zip(events, map(int, totals)))


def carried(found: Why, function: str) -> Counter[str]:
    """Misses of memory that had been touched before, by the instructions of a function that are neither calls nor
    returns: by what carries them, a loop by the text where it begins."""
    source = CARRIERS.read_text().splitlines()
    misses: Counter[str] = Counter()
    for reuse in found.reuses or ():
        place = found.places[reuse.place]
        if reuse.cause == Cause.FIRST_TOUCH or place is None or place.function.name != function:
            continue
        if source[place.line - 1].split()[0] in ("call", "ret"):
            continue
        scope = found.scopes[reuse.scope]
        name = scope.place.function.name
        if scope.kind == ScopeKind.LOOP:
            # The label is on the line before.
            name += " " + source[scope.place.line - 2]
        misses[name] += reuse.misses
    return misses


@pytest.mark.parametrize("engine_threads", ["0", "1"])
def test_what_carries_reuse(tmp_path: Path, engine_threads: str) -> None:
    found, _ = why(tmp_path, f"--engine-threads={engine_threads}")
    assert carried(found, "nest") == {"nest .Lcolumn:": 4 * LINES}
    # The last line of a pass has been touched in what may be the next one.
    assert carried(found, "passes") == {
        "passes": 2 * LINES - 2, "passes .Lsecond:": 1, "passes .Lthird:": 1,
    }
    assert carried(found, "pass") == {"thrice": 2 * LINES, "calls_in_loop .Lcall:": 2 * LINES}
    # The calls within the first one are a level of recursion of their own.
    assert carried(found, "descend'2") == {"descend": LINES, "descend'2": 2 * LINES}
    assert carried(found, "rotated") == {"rotated .Lbody:": 3 * LINES}
    assert carried(found, "into").total() == 2 * LINES
    # But for the last line of the first loop, as in `passes`.
    assert carried(found, "aside") == {"aside .Lback:": LINES - 1, "aside .Lother:": 1}


def test_a_jump_back_that_repeats_nothing_is_no_loop_for_the_reader(tmp_path: Path) -> None:
    """All other scopes that are loops for the run are loops of the flow."""
    run = run_tool(tmp_path, [GUESTS / "carriers"], [*SMALL_CACHES, "--why=yes"])
    path = why_path(str(run.profile_path))
    assert path is not None
    found = read_why(path)
    profile = parse_text(run.profile_path.read_text(), Detail.INSTRUCTIONS)
    functions = frozenset(scope.place.function for scope in found.scopes if scope.kind == ScopeKind.LOOP)
    loops = Loops(found, nests_of(profile, functions, {}), {})
    source = CARRIERS.read_text().splitlines()
    no_loops = [
        source[scope.place.line - 2] for number, scope in enumerate(found.scopes)
        if scope.kind == ScopeKind.LOOP and loops.of(number) is None
    ]
    assert no_loops == [".Lback:"]


def test_each_miss_of_a_line_has_a_reuse(tmp_path: Path) -> None:
    """No access of this guest lies in two lines, and none is made before costs are collected."""
    found, events = why(tmp_path)
    reuses = found.reuses or ()
    assert sum(reuse.misses for reuse in reuses) == events["D1mr"] + events["D1mw"] > 1000
    assert sum(reuse.last_level for reuse in reuses) == events["DLmr"] + events["DLmw"]
    for cause, event in ((Cause.FIRST_TOUCH, "D1first"), (Cause.CONFLICT, "D1conf")):
        assert sum(reuse.misses for reuse in reuses if reuse.cause == cause) == events[event], event
    for reuse in reuses:
        assert (reuse.before == 0) == (reuse.cause == Cause.FIRST_TOUCH) == (reuse.evictor == 0)


def test_stays(tmp_path: Path) -> None:
    """Of each line four bytes are used, the same ones in all its stays; but for the stack, whose line is used here and
    there."""
    found, _ = why(tmp_path)
    lines = 0
    for stay in found.stays or ():
        assert stay.late + stay.never == stay.unused
        place = found.places[stay.place]
        assert place is not None
        if CARRIERS.read_text().splitlines()[place.line - 1].split()[0] == "NEXT":
            lines += stay.lines
            assert (stay.unused, stay.late) == (60 * stay.lines, 0)
    assert lines == (5 + 3 + 4 + 4 + 3 + 2) * LINES
