# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker finds each kind of violation, and accepts what is only unusual."""

import pathlib

import pytest

from bdannotate.model.check import check
from bdannotate.reading.parser import parse_text

from large_profile import large_profile

PROFILES = pathlib.Path(__file__).parent / "profiles"
HELPER = (PROFILES / "helper.out").read_text()

# main calls f, twice; both events are covered.
GOOD = (
    "events: Ir SpLoss1\nsummary: 30 7\nfl=a.c\nfn=main\n1 10 2\ncfn=f\ncalls=2 1\n2 20 5\n"
    "fn=f\n1 20 5\ntotals: 30 7\n"
)


def checked(text):
    return check(parse_text(text, source="x.out"))


def test_a_good_profile():
    result = checked(GOOD)
    assert result.violation is None
    assert [root.name for root in result.roots] == ["main"]
    assert result.also_called == ()
    assert checked(HELPER).violation is None


@pytest.mark.parametrize("old, new, problem", [
    ("totals: 30 7", "totals: 30 8", "11: totals: states SpLoss1 8, but the costs add up to 7"),
    ("summary: 30 7", "summary: 30", "2: summary: states SpLoss1 0, but the costs add up to 7"),
    ("2 20 5", "2 21 5", "Ir of f (a.c): its callers account for 21, but PAID 20"),
    ("2 20 5", "2 20 6", "SpLoss1 of f (a.c): its callers account for 6, but PAID 5"),
    ("2 20 5", "2 20 4", "SpLoss1 of f (a.c): its callers account for 4, but PAID 5"),
    ("2 20 5", "2 20", "SpLoss1 of f (a.c): its callers account for 0, but PAID 5"),
])
def test_each_violation_is_named(old, new, problem):
    assert old in GOOD
    violation = checked(GOOD.replace(old, new)).violation
    assert problem.replace("PAID", "its self cost and its calls for") in violation


def test_a_function_that_is_also_entered_without_a_call():
    # f ran a third time, as a signal handler: 10 instructions and 1 byte more than main paid for.
    text = GOOD.replace("fn=f\n1 20 5", "fn=f\n1 30 6").replace("30 7", "40 8")
    result = checked(text)
    assert result.violation is None
    assert [function.name for function in result.also_called] == ["f"]


@pytest.mark.parametrize("blocks, follows", [
    (["0 - 9"], True),
    (["3 - 9"], False),
    (["3 - 9", "0 - 3"], True),
    (["0 - 3", "5 - 9"], False),
])
def test_counts_that_begin_in_mid_run(blocks, follows):
    # f's run without a call was before: only an eviction, a byte, is left of it.
    heads = [f"# callgrind format\ndesc: Timerange: Basic block {text}\n" for text in blocks]
    lost = GOOD.replace("fn=f\n1 20 5", "fn=f\n1 20 6").replace("30 7", "30 8")
    nothing = "events: Ir SpLoss1\nfl=a.c\nfn=main\n1 0\n"
    text = "".join(head + body for head, body in zip(heads, [lost, nothing]))
    assert (checked(text).violation is not None) == follows


def test_recursion_is_checked_as_a_whole():
    text = (
        "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=f\ncalls=1 1\n2 {}\n"
        "fn=f\n1 20\ncfn=g\ncalls=5 1\n2 90\nfn=g\n1 20\ncfn=f\ncalls=4 1\n2 70\n"
    )
    assert checked(text.format(40)).violation is None
    problem = "the cycle of f (a.c) and 1 more: its callers account for 41"
    assert problem in checked(text.format(41)).violation


def test_the_profile_to_measure_with_adds_up():
    """Small here; large_profile.py writes that of a program as large as a browser."""
    profile = parse_text("".join(large_profile(functions=300, calls=900, back=0.1)))
    result = check(profile)
    assert (result.violation, result.functions) == (None, 300)
