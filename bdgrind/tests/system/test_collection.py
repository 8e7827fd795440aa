# SPDX-License-Identifier: GPL-2.0-or-later
"""What is counted at all: collection switched on and off, and events that are asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guest_spec import evaluate
from harness import GUESTS, IS_ARM64, run_tool
from part_files import PartFile, assert_sound, run_divided, steer
from test_bad_input import run as run_badly

# Each level touches lines of its own, so that the sum tells which ran while collecting.
SCRIPT = "a(b)c(d<e>f)g(h(i)(j)k)l"
LEVEL1 = 2 + (4 + 5 + 6) + (8 + 9 + 10 + 11)


def attribution(folder: Path, *options: str) -> PartFile:
    """A guest whose costs are all known: see guest/attribution.S."""
    caches = ("--I1=1024,2,64", "--D1=1024,2,64", "--LL=1048576,16,64")
    (only,) = run_divided(folder, [GUESTS / "attribution"], *caches, *options).files
    assert_sound(only)
    return only


# a() three times: helper() loads 100 lines each and its own code, the latest two of which are evicted under b(); a()
# loads its code. b()'s fetches of helper's code count as well. b() five times: 10 lines each, the latest two evicted
# when everything is over. On arm64, a return reads nothing, and a() and b() keep theirs on the stack by themselves.
INSTRUCTIONS = 7 if IS_ARM64 else 4  # of a(), and of b(), themselves
TOGGLED = {
    "a": (
        "Ir = 3 * (7 + 1 + 400 + 1); Dr = 3 * (100 + 1); Dw = 3; D1mr = 300; D1mw = 0;"
        "I1mr = 2; EvLine1 = 300 + 2; SpLoss1 = 300 * 63 + 40 + 36; UsByte1 = 300 + 24 + 28;"
        "AcCost1 = 300 * 1000 + 47; EvLine2 = 100 + 2; DLmr = 100; SpLoss2 = 100 * 63 + 40 + 36"
    ),
    "b": (
        "Ir = 5 * (7 + 1 + 40 + 1); Dr = 5 * (10 + 1); Dw = 5; D1mr = 50; D1mw = 0;"
        "I1mr = 1; EvLine1 = 50 + 1; SpLoss1 = 50 * 63 + 36; DLmr = 10; EvLine2 = 10 + 1"
    ),
} if IS_ARM64 else {
    "a": (
        "Ir = 3 * (4 + 1 + 400 + 1); Dr = 3 * (100 + 2); Dw = 3; D1mr = 300; D1mw = 0;"
        "I1mr = 2; EvLine1 = 300 + 2; SpLoss1 = 300 * 63 + 49 + 48; UsByte1 = 300 + 15 + 16;"
        "AcCost1 = 300 * 1000 + 83; EvLine2 = 100 + 2; DLmr = 100; SpLoss2 = 100 * 63 + 49 + 48"
    ),
    "b": (
        "Ir = 5 * (4 + 1 + 40 + 1); Dr = 5 * (10 + 2); Dw = 5; D1mr = 50; D1mw = 0;"
        "I1mr = 1; EvLine1 = 50 + 1; SpLoss1 = 50 * 63 + 48; DLmr = 10; EvLine2 = 10 + 1"
    ),
}


@pytest.mark.parametrize("function", TOGGLED)
def test_every_line_that_a_toggled_function_loads_is_accounted(function: str, tmp_path: Path) -> None:
    """Also those that are evicted after it has returned, when nothing is collected."""
    toggled = attribution(tmp_path, f"--toggle-collect={function}")
    for part in TOGGLED[function].split(";"):
        event, _, value = part.strip().partition(" = ")
        assert toggled.profile.totals[event] == evaluate(value), event
    # The call itself was executed before; what it costs is counted.
    assert toggled.calls("main", function) == {"a": 3, "b": 5}[function]
    assert toggled.passed("main", function, "SpLoss1") == toggled.profile.totals["SpLoss1"]


def test_two_toggled_functions_are_the_sum_of_each(tmp_path: Path) -> None:
    both = attribution(tmp_path, "--toggle-collect=a", "--toggle-collect=b").profile.totals
    by_pattern = attribution(tmp_path, "--toggle-collect=?").profile.totals
    one, other = (attribution(tmp_path, f"--toggle-collect={f}").profile.totals for f in "ab")
    assert both == by_pattern
    for event, total in both.items():
        assert total == one[event] + other[event], event


def test_toggling_within_a_toggled_function_switches_off(tmp_path: Path) -> None:
    """In a(), helper() is left out; in b(), which does not toggle, nothing but helper() is left."""
    nested = attribution(tmp_path, "--toggle-collect=a", "--toggle-collect=helper")
    assert nested.own("a", "Ir") == 3 * INSTRUCTIONS
    assert nested.own("helper", "Ir") == 5 * (1 + 40 + 1)
    assert nested.own("helper", "D1mr") == 50


def test_toggle_collect_starts_without_collecting(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, SCRIPT, "--toggle-collect=level1").files
    assert only.own("touch") == only.passed("level0", "level1") == LEVEL1
    assert only.calls("level0", "level1") == 3 and only.calls("main", "level0") == 0
    assert only.own("main", "Ir") == only.own("level0", "Ir") == 0


def test_toggle_collect_with_collect_atstart_is_the_rest(tmp_path: Path) -> None:
    options = ("--toggle-collect=level1", "--collect-atstart=yes")
    (rest,) = steer(tmp_path, SCRIPT, *options).files
    assert rest.own("touch") == 1 + 3 + 7 + 12
    # Function by function, with what is collected in level1 it is everything.
    (inside,) = steer(tmp_path, SCRIPT, "--toggle-collect=level1", name="in").files
    (everything,) = steer(tmp_path, SCRIPT, name="all").files
    for event, total in everything.profile.totals.items():
        assert rest.profile.totals[event] + inside.profile.totals[event] == total, event


def test_collect_atstart_no_collects_nothing(tmp_path: Path) -> None:
    (only,) = steer(tmp_path, SCRIPT, "--collect-atstart=no").files
    assert set(only.profile.totals.values()) == {0}


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("town::road(int)", 2),
        ("town::road(double)", 3),
        ("town::road", 2 + 3),
        ("town::*", 2 + 3 + 1),
        ("*::enter(*) const", 1),
        ("town::r??d", 2 + 3),
        ("road", 0),
        ("town::road(char)", 0),
    ],
)
def test_names_of_cpp_functions(pattern: str, steps: int, tmp_path: Path) -> None:
    (only,) = run_divided(tmp_path, [GUESTS / "names"], f"--toggle-collect={pattern}").files
    arcs = only.profile.arcs.items()
    assert sum(arc.calls for (_, callee), arc in arcs if callee == "step()") == steps


def test_each_thread_collects_for_itself(tmp_path: Path) -> None:
    """The other threads run while one has its function open."""
    options = ("--toggle-collect=turns_of_first",)
    (only,) = run_divided(tmp_path, [GUESTS / "threads"], *options, same_bytes=False).files
    assert only.calls("turns_of_first", "work_of_first") == 150
    assert "work_of_second" not in only.profile.self_costs
    assert only.own("main", "Ir") == 0


def test_atomic_instructions(tmp_path: Path) -> None:
    """Of the nine in guest/compare_and_swap.S, those with lock; xchg, which needs none; and
    cmpxchg8b, which VEX makes an atomic one in any case. In arm64's, all but ldxr."""
    (only,) = run_divided(tmp_path, [GUESTS / "compare_and_swap"], "--collect-bus=yes").files
    assert only.profile.totals["Ge"] == only.own("(below main)", "Ge") == 7
    (default,) = run_divided(tmp_path, [GUESTS / "compare_and_swap"], name="default").files
    assert "Ge" not in default.profile.events


@pytest.mark.parametrize("cache_sim", ["yes", "no"])
def test_atomic_instructions_are_passed_to_callers(cache_sim: str, tmp_path: Path) -> None:
    options = ("--collect-bus=yes", f"--cache-sim={cache_sim}")
    (only,) = steer(tmp_path, "!!(!(!!!))", *options).files
    assert only.own("bump", "Ge") == 6
    assert only.passed("main", "level0", "Ge") == 6
    assert only.passed("level0", "level1", "Ge") == 4
    assert only.passed("level1", "level2", "Ge") == 3
    command = [str(GUESTS / "steer"), "!!(!(!!!))", "BD"]
    peer = run_tool(tmp_path, command, ["--collect-bus=yes"], tool="callgrind", name="callgrind")
    assert only.profile.totals["Ge"] == peer.profile.totals["Ge"]


@pytest.mark.parametrize(
    ("unit", "least", "description"),
    [
        ("yes", 60, "in milliseconds"),
        ("msec", 60, "in milliseconds"),
        ("usec", 60_000, "in microseconds"),
        ("nsec", 60_000_000, "in nanoseconds, sysCpuTime too"),
    ],
)
def test_time_in_system_calls(unit: str, least: int, description: str, tmp_path: Path) -> None:
    """nap() three times makes one system call each, of 20 ms."""
    options = (f"--collect-systime={unit}",)
    command = [str(GUESTS / "steer"), "~(~)a~", "BD"]
    (only,) = run_divided(tmp_path, command, *options, same_bytes=False).files
    assert_sound(only)
    assert only.own("nap", "sysCount") == 3
    # A unit finer than it says would be a thousand times as much; a busy machine is not that late.
    assert least <= only.own("nap", "sysTime") < 50 * least
    assert only.calls("level1", "nap") == 1
    assert only.passed("level1", "nap", "sysCount") == 1
    assert only.passed("level0", "level1", "sysCount") == 1
    assert only.passed("main", "level0", "sysTime") == only.own("nap", "sysTime")
    assert only.description("sysTime") == description
    assert ("sysCpuTime" in only.profile.events) == (unit == "nsec")
    if unit == "nsec":
        assert 0 < only.own("nap", "sysCpuTime") < only.own("nap", "sysTime")


def test_no_time_in_system_calls_by_default(tmp_path: Path) -> None:
    for options in ((), ("--collect-systime=no",)):
        (only,) = steer(tmp_path, "~", *options).files
        assert not {"sysCount", "sysTime"} & set(only.profile.events)


def test_system_calls_are_counted_as_callgrind_counts_them(tmp_path: Path) -> None:
    command = [str(GUESTS / "steer"), "~(~)~", "BD"]
    options = ["--collect-systime=usec"]
    own, peer = (
        run_tool(tmp_path, command, options, tool=tool, name=tool).profile
        for tool in ("bdgrind", "callgrind")
    )
    assert own.self_cost("nap", "sysCount") == peer.self_cost("nap", "sysCount") == 3
    # Callgrind does not count the block that ends the process.
    assert own.self_cost("_Exit", "sysCount") == 1
    assert own.totals["sysCount"] == peer.totals["sysCount"] + 1


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--dump-every-bb=often", "'often' is not a value for --dump-every-bb=.* a number"),
        ("--dump-every-bb=-1", "'-1' is not a value for --dump-every-bb="),
        ("--dump-every-bb=99999999999999999999", "is not a value .* too large"),
        ("--dump-before=", "'' is not a value for --dump-before="),
        ("--dump-after=", "'' is not a value for --dump-after="),
        ("--zero-before=", "'' is not a value for --zero-before="),
        ("--toggle-collect=", "'' is not a value for --toggle-collect="),
        ("--combine-dumps=1", "'1' is not a value for --combine-dumps=.* yes or no"),
        ("--separate-threads=all", "'all' is not a value for --separate-threads="),
        ("--instr-atstart=off", "'off' is not a value for --instr-atstart=.* yes or no"),
        ("--collect-atstart=off", "'off' is not a value for --collect-atstart="),
        ("--collect-bus=x", "'x' is not a value for --collect-bus=.* yes or no"),
        ("--collect-systime=sec", "'sec' is not a value for --collect-systime=.* usec or nsec"),
        ("--collect-systime=", "'' is not a value for --collect-systime="),
    ],
)
def test_bad_values_are_refused(option: str, sentence: str, tmp_path: Path) -> None:
    status, said = run_badly(tmp_path, option, command=("/bin/echo", "the guest ran"))
    assert re.search(sentence, said), said
    assert status == 1 and "the guest ran" not in said
    assert not list(tmp_path.iterdir())
