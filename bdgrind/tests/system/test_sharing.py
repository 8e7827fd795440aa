# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other. guest/sharing.c has loops of so few instructions that what happens can be
worked out by hand: with slices of 1,000 instructions, two threads that execute N each take a line from each other 2 N /
1,000 times."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from harness import GUESTS, SMALL_CACHES, Run, annotated, check_profile, run_tool

ROUNDS = 100_000
# What glibc's own threads share: barriers, creation and ends of threads.
AROUND = 60
SHARING = ("Xferr", "Xferw", "Lost", "Inval")


def run_kind(folder: Path, kind: str, threads: int = 2, *options: str) -> Run:
    words: list[str | Path] = [GUESTS / "sharing", kind, str(threads)]
    return run_tool(folder, words, [*SMALL_CACHES, "--cores=threads", "--fair-sched=try", *options])


def transfers(run: Run) -> int:
    totals = run.profile.totals
    return totals.get("Xferr", 0) + totals.get("Xferw", 0)


@pytest.mark.parametrize(
    ("kind", "instructions"),
    [("adjacent", 5), ("together", 3), ("readers", 5)],
)
def test_a_line_goes_back_and_forth_with_each_slice(kind: str, instructions: int, tmp_path: Path) -> None:
    run = run_kind(tmp_path, kind)
    expected = 2 * ROUNDS * instructions / 1000
    assert expected * 0.95 <= transfers(run) <= expected * 1.05 + AROUND
    assert run.profile.totals["Lost"] <= run.profile.totals["Inval"]
    assert check_profile(run.profile_path) == ""


@pytest.mark.parametrize("kind", ["apart", "reduction", "table"])
def test_lines_of_one_thread_and_lines_that_are_read_stay(kind: str, tmp_path: Path) -> None:
    assert transfers(run_kind(tmp_path, kind)) <= AROUND


def test_the_shorter_the_slice_the_more_transfers(tmp_path: Path) -> None:
    expected = 2 * ROUNDS * 5 / 100
    count = transfers(run_kind(tmp_path, "adjacent", 2, "--thread-slice=100"))
    assert expected * 0.95 <= count <= expected * 1.05 + AROUND


def test_in_valgrinds_order_threads_hardly_meet(tmp_path: Path) -> None:
    assert transfers(run_kind(tmp_path, "adjacent", 2, "--thread-order=valgrind")) <= AROUND


def test_threads_of_one_core_take_nothing_from_each_other(tmp_path: Path) -> None:
    words: list[str | Path] = [GUESTS / "sharing", "adjacent", "2"]
    run = run_tool(tmp_path, words, [*SMALL_CACHES, "--cores=1"])
    assert not any(run.profile.totals.get(name, 0) for name in SHARING)


@pytest.mark.parametrize("cores", ["1", "threads"])
def test_one_core_changes_nothing(cores: str, tmp_path: Path) -> None:
    """The profile is what it is without cores, but for events of theirs, which are 0."""
    words: list[str | Path] = [GUESTS / "sharing", "lock", "1"] if cores == "1" else [GUESTS / "phases"]
    options = [*SMALL_CACHES, "--dump-instr=yes", "--objects=yes"]
    with_cores = run_tool(tmp_path, words, [*options, f"--cores={cores}"], name="with").profile_path.read_text()
    without = run_tool(tmp_path, words, options, name="without").profile_path.read_text()

    def is_counted(line: str) -> bool:
        own = ("pid:", "desc: Cores:", "events:", *(f"event: {name}" for name in (*SHARING, "Xfer", "D1copy")))
        return not line.startswith(own)

    assert list(filter(is_counted, with_cores.splitlines())) == list(filter(is_counted, without.splitlines()))


def report(run: Run, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(annotated(*options, "--format=json", run.profile_path))
    return found


def test_the_repair_predicts_what_the_repaired_program_transfers(tmp_path: Path) -> None:
    """Four counters in one line; and the same, each in a line of its own."""
    told = report(run_kind(tmp_path, "adjacent", 4, "--why=yes", "--objects=yes"))
    repair = told["repairs"][0]
    assert (repair["remedy"], repair["object"]) == ("unshare", "variable counters")
    expected = 4 * ROUNDS * 5 / 1000
    assert expected * 0.95 <= repair["saves"]["transfers"]["before"] <= expected * 1.05
    assert repair["saves"]["transfers"]["after"] == 0
    (counters,) = (data for data in told["sharing"]["data"] if data["object"] == "variable counters")
    assert [core["written"] for core in counters["cores"]] == [list(range(8 * i, 8 * i + 8)) for i in range(4)]
    told = report(run_kind(tmp_path, "apart", 4, "--why=yes", "--objects=yes"))
    assert all(repair["remedy"] != "unshare" for repair in told["repairs"])
    assert all("counters" not in data["object"] for data in told["sharing"]["data"])


def transfers_of(run: Run, data: str) -> tuple[int, int]:
    """Of what has this name: those counted, and those predicted with each thread's bytes in lines of their own."""
    found = [one for one in report(run)["sharing"]["data"] if data in (one["object"] or "")]
    return sum(one["transfers"] for one in found), sum(one["after"] for one in found)


# What is shared; how many transfers are left after the repair, where the program looks at the other thread's data so
# many times in 100,000 rounds: each look takes the line to that thread, and the next write takes it back.
CASES = {
    "workers": ("workers<", 0), "server": ("server<", 0), "ring": ("ring<", 2 * 98), "deque": ("deque<", 196),
    "shared": ("shared<", 0), "locks": ("locks<", 0), "generators": ("heap", 0), "sums": ("sums<", 49),
}


@pytest.mark.parametrize("case", CASES)
def test_known_cases_transfer_what_was_predicted(case: str, tmp_path: Path) -> None:
    """guest/sharing_cases.cpp, as it is and repaired."""
    data, looks = CASES[case]
    options = [*SMALL_CACHES, "--cores=threads", "--fair-sched=try", "--objects=yes"]
    words: list[str | Path] = [GUESTS / "sharing_cases", case]
    before, predicted = transfers_of(run_tool(tmp_path, words, options, name="before"), data)
    after, _ = transfers_of(run_tool(tmp_path, [*words, "repaired"], options, name="after"), data)
    assert before > 400
    assert abs(predicted - after) <= max(0.2 * after, 4)
    assert after <= 2 * looks


def test_openmp_adds_up_in_threads_own_variables(tmp_path: Path) -> None:
    options = [*SMALL_CACHES, "--cores=threads", "--fair-sched=try", "--objects=yes"]
    words: list[str | Path] = [GUESTS / "sharing_openmp"]
    run = run_tool(tmp_path, words, options, name="before")
    found = report(run)["sharing"]["data"][0]
    assert (found["object"], found["kind"]) == ("variable partial", "false")
    assert [core["written"] for core in found["cores"]] == [list(range(4 * i, 4 * i + 4)) for i in range(4)]
    assert found["after"] <= 0.05 * found["transfers"]
    repaired = run_tool(tmp_path, [*words, "repaired"], options, name="after")
    assert transfers(repaired) < 0.2 * transfers(run)


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("adjacent", "variable counters", "false"), ("fields", "variable connection", "false"),
        ("together", "variable total", "migrating"), ("lock", "variable account", "migrating"),
        ("readers", "variable document", "migrating"), ("queue", "variable queue", "true"),
    ],
)
def test_kinds(kind: str, data: str, expected: str, tmp_path: Path) -> None:
    found = report(run_kind(tmp_path, kind, 2, "--objects=yes"))["sharing"]["data"][0]
    assert (found["object"], found["kind"]) == (data, expected)
    # The first access in a slice has the transfer: the lock, which is atomic, or what it protects.
    atomic = {"together", "readers"}
    if kind == "lock":
        assert found["atomics"] > 0
    else:
        assert (found["atomics"] > found["transfers"] / 2) == (kind in atomic)
    assert (found["after"] == 0) == (expected == "false")


def test_which_thread_uses_which_field(tmp_path: Path) -> None:
    """By the source: thread 2 adds to requests, thread 3 to replies, which follow each other. Each of four threads has
    a counter of its own."""
    pytest.importorskip("elftools", reason="pyelftools is missing")
    run = run_kind(tmp_path, "fields", 2, "--objects=yes")
    found = report(run, "--sharing", "--object=variable connection")
    data = found["sharing"]["data"][0]
    assert data["object"] == "variable connection"
    assert [(core["core"], core["fields_written"]) for core in data["cores"]] == [(1, ["requests"]), (2, ["replies"])]
    (group,) = (one for one in found["objects"]["groups"] if one["label"] == "variable connection")
    assert [(one["name"], one["written"]) for one in group["shared"]] == [("requests", [1]), ("replies", [2])]
    told = annotated("--object=variable connection", "--width=80", run.profile_path)
    assert "  requests: written by thread 2\n  replies: written by thread 3\n" in told
    assert max(map(len, told.splitlines())) <= 80
    (tmp_path / "four").mkdir()
    data = report(run_kind(tmp_path / "four", "adjacent", 4, "--objects=yes"), "--sharing")["sharing"]["data"][0]
    assert [core["fields_written"] for core in data["cores"]] == [[f"counters[{i}]"] for i in range(4)]


def test_which_thread_uses_which_field_of_which_block(tmp_path: Path) -> None:
    """Each of four threads counts in the first field of a block of its own. At least two of the blocks share a line, as
    malloc puts them 32 bytes apart or fewer."""
    pytest.importorskip("elftools", reason="pyelftools is missing")
    found = report(run_kind(tmp_path, "blocks", 4, "--objects=yes"), "--sharing", "--object=^heap sharing.c")
    data = found["sharing"]["data"][0]
    assert data["object"].startswith("heap sharing.c") and data["kind"] == "false"
    cores = [core for core in data["cores"] if core["written"]]
    assert len(cores) >= 2 and data["after"] == 0
    assert [core["fields_written"] for core in cores] == [[f"jobs of block {at}"] for at in range(1, len(cores) + 1)]
    starts = [core["written"][0] for core in cores]
    assert starts == sorted(starts)
    (group,) = (one for one in found["objects"]["groups"] if one["label"] == data["object"])
    (jobs,) = (one for one in group["shared"] if one["written"])
    assert (jobs["name"], jobs["apart"]) == ("jobs", True)
    assert {core["core"] for core in cores} <= {*jobs["written"]} <= {1, 2, 3, 4}
    assert group["layout"]["users"][0]["written"] == jobs["written"]


def test_in_a_queue_with_padding_less_goes_over(tmp_path: Path) -> None:
    """Each slice of either thread takes what the other one wrote: one line, or the other's of two."""
    found = report(run_kind(tmp_path, "padded-queue", 2, "--objects=yes"))["sharing"]["data"][0]
    assert (found["object"], found["kind"], found["lines"]) == ("variable padded_queue", "true", 2)


# guest/private_caches.c: two threads make four passes each, in turns, over arrays of 320 lines. By kind: D1 misses of
# reads, of writes, and lines that the other D1 had; if both threads use one D1, and if each has its own.
LINES = 320
PASSES = {
    # Two arrays do not fit into one D1, so each pass loads all of its array again.
    "own": ((8 * LINES, 0, 0), (2 * LINES, 0, 0)),
    # One array does, with a few lines loaded twice.
    "common": ((LINES, 0, 0), (2 * LINES, 0, LINES)),
    # Each pass that writes takes all lines from the reader; the writer keeps its copies.
    "written": ((LINES, 0, 0), (4 * LINES, LINES, 4 * LINES)),
}
LARGER_CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize(
    "options", [(), ("--L2=262144,8,64",), ("--simulate-wb=yes",), ("--objects=yes", "--paths=yes")]
)
def test_each_core_has_its_own_d1(kind: str, options: tuple[str, ...], tmp_path: Path) -> None:
    words: list[str | Path] = [GUESTS / "private_caches", kind]
    for expected, cores in zip(PASSES[kind], ("no", "threads")):
        run = run_tool(tmp_path, words, [*LARGER_CACHES, f"--cores={cores}", *options], name=cores)
        costs = [run.profile.self_costs.get(name, Counter()) for name in ("read_lines", "write_lines")]
        events = ("D1mr", "D1mw", "D1copy")
        found = tuple(sum(cost[event] for cost in costs) for event in events)
        if cores == "no" and kind != "own":  # in some sets, both threads' own lines drive some out
            assert LINES <= found[0] + found[1] <= 1.1 * LINES
            assert found[2] == 0
        else:
            assert found == expected
        # Of each line, one word is used, by one pass or several.
        loaded = found[0] + found[1]
        assert sum(cost["SpLossD1"] for cost in costs) == 56 * loaded
        assert sum(cost["UsByteD1"] for cost in costs) == 8 * loaded
        # They share the last level.
        assert sum(cost["DLmr"] + cost["DLmw"] for cost in costs) == (2 if kind == "own" else 1) * LINES
        assert check_profile(run.profile_path) == ""


@pytest.mark.parametrize("engine_threads", ["0", "1", "2"])
def test_two_threads_on_one_core_share_its_d1(engine_threads: str, tmp_path: Path) -> None:
    """With --cores=3, threads 2 and 3 are on cores 1 and 2, which the thread that simulates makes. Thread 1 is on core
    0: beside one of them, it would drive out some of its lines if it came late to where it waits, as on a busy
    machine."""
    words: list[str | Path] = [GUESTS / "private_caches", "own"]
    for cores, misses in (("1", 8 * LINES), ("3", 2 * LINES)):
        options = [*LARGER_CACHES, f"--cores={cores}", f"--engine-threads={engine_threads}"]
        run = run_tool(tmp_path, words, options, name=cores)
        assert run.profile.self_cost("read_lines", "D1mr") == misses


def test_what_cores_load_adds_up(tmp_path: Path) -> None:
    words: list[str | Path] = [GUESTS / "private_caches", "written"]
    run = run_tool(tmp_path, words, [*LARGER_CACHES, "--L2=262144,8,64", "--cores=threads"])
    cores = report(run)["sharing"]["cores"]
    assert [core["core"] for core in cores] == [0, 1, 2]
    for event in cores[0]["events"]:
        assert sum(core["events"][event] for core in cores) == run.profile.totals.get(event, 0), event
    assert cores[1]["events"]["D1mr"] >= 4 * LINES
    assert cores[2]["events"]["D1mw"] >= LINES
    told = annotated("--sharing", "--width=80", run.profile_path)
    shown = told[told.index("== What each core's own caches load =="):].splitlines()
    assert [line.split()[0] for line in shown[2:6]] == ["thread", "thread", "thread", "all"]
    assert max(map(len, shown)) <= 80


# guest/last_level.c: in a last level of 2,048 lines with one way, each pass over an array of so many drives out all
# lines of the other thread's, but for the first pass. In one of 4,096 lines, none. Other lines, such as those of stacks
# and code, add a few.
@pytest.mark.parametrize("size", [131072, 262144])
def test_threads_drive_each_others_lines_out_of_the_last_level(size: int, tmp_path: Path) -> None:
    caches = ("--I1=32768,8,64", "--D1=32768,8,64", f"--LL={size},1,64")
    run = run_tool(tmp_path, [GUESTS / "last_level"], [*caches, "--cores=threads", "--fair-sched=try"])
    last = report(run)["sharing"]["last_level"]
    lines = {(one["evictor"], one["core"]): one["lines"] for one in last["evictions"]}
    again = {(one["evictor"], one["core"]): one["again"] for one in last["evictions"]}
    conflicts = 2048 if size == 131072 else 0
    for found, expected in (
        (lines[2, 1], 4 * conflicts), (lines[1, 2], 3 * conflicts), (again[2, 1], 3 * conflicts),
        (again[1, 2], 3 * conflicts),
    ):
        assert abs(found - expected) <= 0.02 * 8192
    assert last["lines"] == size // 64
    assert last["loaded"] == sum(one["loaded"] for one in last["cores"])
    assert sum(one["driven_out"] for one in last["cores"]) == sum(lines.values())
    assert 0 < sum(one["share"] for one in last["cores"]) <= 1
    told = annotated("--sharing", "--width=80", run.profile_path)
    assert ("Thread 3 drives out" in told) == (conflicts > 0)


def test_asked_why_all_cores_share_one_set_of_caches(tmp_path: Path) -> None:
    words: list[str | Path] = [GUESTS / "private_caches", "own"]
    run = run_tool(tmp_path, words, [*LARGER_CACHES, "--cores=threads", "--why=yes"])
    assert run.profile.self_cost("read_lines", "D1mr") == 8 * LINES
    assert "D1copy" not in run.profile.totals
    sharing = report(run)["sharing"]
    assert sharing["cores"] == []
    assert "last_level" not in sharing


# guest/first_touch.c: of a matrix of 256 pages, which of three threads touches how many first, how often each misses
# the last level there, how many of its lines several cores load, and how often further cores do. Each of two passes of
# each of two threads reads half of it, or all.
PAGES = 256
IN_MATRIX = PAGES * 4096 // 64
TOUCHED = {
    "main": ({0: PAGES}, {(0, 0): IN_MATRIX, (0, 1): IN_MATRIX, (0, 2): IN_MATRIX}, (IN_MATRIX, IN_MATRIX)),
    "parallel": (
        {1: PAGES // 2, 2: PAGES // 2}, {(1, 1): 3 * IN_MATRIX // 2, (2, 2): 3 * IN_MATRIX // 2}, (0, 0),
    ),
    "common": ({0: PAGES}, {(0, 0): IN_MATRIX, (0, 1): 2 * IN_MATRIX, (0, 2): 2 * IN_MATRIX},
               (IN_MATRIX, 2 * IN_MATRIX)),
}
SMALL_LAST_LEVEL = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=65536,16,64")


@pytest.mark.parametrize("kind", TOUCHED)
@pytest.mark.parametrize("options", [(), ("--why=yes",), ("--L2=32768,8,64",), ("--paths=yes",)])
def test_pages_belong_to_who_touches_them_first(kind: str, options: tuple[str, ...], tmp_path: Path) -> None:
    pages, misses, (lines, loads) = TOUCHED[kind]
    words: list[str | Path] = [GUESTS / "first_touch", kind]
    with_cores = [*SMALL_LAST_LEVEL, "--cores=threads", "--fair-sched=try", "--objects=yes", *options]
    run = run_tool(tmp_path, words, with_cores)
    told = report(run)["sharing"]
    found = told["first_touch"]
    totals = run.profile.totals
    assert found["misses"] == totals["DLmr"] + totals["DLmw"]
    matrix = [one for one in found["data"] if one["object"] == "variable matrix"]
    if kind == "parallel":  # each misses its own
        assert matrix == []
        assert found["of_others"] <= 0.01 * found["misses"]
    else:
        (one,) = matrix
        assert ({one["core"]: one["pages"]}, one["place"]["function"]) == (pages, "fill")
        assert {(0, each["core"]): each["misses"] for each in one["misses"]} == misses
        assert one["spread"]
    again = [(one["lines"], one["loads"]) for one in told["loaded_again"] if one["object"] == "variable matrix"]
    assert again == ([(lines, loads)] if loads and "--why=yes" not in options else [])


# guest/pinned.c: two threads, on one processor or on two.
@pytest.mark.parametrize("kind", ["self", "edge", "attribute", "inherited"])
@pytest.mark.parametrize("processors", [(0, 0), (1, 1), (0, 1), (1, 0)])
def test_threads_are_on_the_cores_that_they_are_put_on(
    kind: str, processors: tuple[int, int], tmp_path: Path
) -> None:
    if not {*processors} <= os.sched_getaffinity(0):
        pytest.skip("this process may not use these processors")
    words: list[str | Path] = [GUESTS / "pinned", kind, *map(str, processors)]
    run = run_tool(tmp_path, words, [*SMALL_CACHES, "--cores=8", "--fair-sched=try", "--objects=yes"])
    told = report(run)["sharing"]
    instructions = {core["core"]: core["events"]["Ir"] for core in told["cores"]}
    counted = 5 * ROUNDS
    for processor in {*processors}:
        assert instructions[processor] >= processors.count(processor) * counted
    # Main is on its own core until it is put elsewhere.
    assert {*instructions} <= {0, *processors, *((1, 2) if kind != "inherited" else ())}
    assert sum(instructions.values()) - 2 * counted < counted
    moved = sum(one["transfers"] for one in told["data"] if one["object"] == "variable counters")
    expected = 0 if len({*processors}) == 1 else 2 * counted / 1000
    assert expected * 0.95 <= moved <= expected * 1.05


def test_threads_that_may_use_several_processors_are_assigned_in_turn(tmp_path: Path) -> None:
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("this process may not use these processors")
    words: list[str | Path] = [GUESTS / "pinned", "both", "0", "1"]
    run = run_tool(tmp_path, words, [*SMALL_CACHES, "--cores=8"])
    assert [core["core"] for core in report(run)["sharing"]["cores"]] == [0, 1, 2]


@pytest.mark.parametrize(("cores", "expected"), [("1", [0]), ("threads", [0, 1, 2])])
def test_processors_are_taken_modulo_the_cores_and_do_not_matter_to_one_for_each_thread(
    cores: str, expected: list[int], tmp_path: Path
) -> None:
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("this process may not use these processors")
    words: list[str | Path] = [GUESTS / "pinned", "inherited", "1", "1"]
    run = run_tool(tmp_path, words, [*SMALL_CACHES, f"--cores={cores}"])
    found = [core["core"] for core in report(run)["sharing"]["cores"]]
    assert found == (expected if cores != "1" else [])


def test_with_moesi_a_line_stays_modified_where_others_read_it(tmp_path: Path) -> None:
    """One thread publishes, and others read: with MOESI, nothing is written back. How many lines move is compared with
    a naive simulation in the unit tests: threads wait in loops here, so each run has a few more or less."""
    words: list[str | Path] = [GUESTS / "sharing", "queue", "2"]
    common = [*SMALL_CACHES, "--cores=threads", "--fair-sched=try"]
    choices: list[tuple[str, ...]] = [(), ("--coherence=moesi",), ("--machine=zen4",), ("--coherence=mesi",)]
    runs = {
        options: run_tool(tmp_path, words, [*common, *options], name=str(number))
        for number, options in enumerate(choices)
    }
    told = {options: report(run)["sharing"] for options, run in runs.items()}
    assert [one["coherence"] for one in told.values()] == ["mesi", "moesi", "moesi", "mesi"]
    for options, run in runs.items():
        reads = run.profile.totals["Xferr"]
        assert reads > 0
        assert told[options]["written_back"] == (reads if told[options]["coherence"] == "mesi" else 0)
