# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded trace, replayed outside of Valgrind, gives the profile of the run that recorded it.

What the engine does cannot depend then on where batches end, nor on anything but the trace.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from guest_spec import GuestSpec
from harness import BUILD, GUESTS, SMALL_CACHES, run_tool
from test_determinism import without_pid
from test_guests import SPECS, caches, command, guests

BDREPLAY = BUILD / "bdgrind" / "bdreplay"
OTHER_CACHES = ("--I1=2048,2,32", "--D1=3072,3,64", "--LL=65536,4,128")

pytestmark = pytest.mark.skipif(not BDREPLAY.exists(), reason="bdreplay is not built")


def replay(trace: Path, profile: Path, *options: str) -> None:
    completed = subprocess.run(
        [BDREPLAY, f"--out={profile}", *options, trace], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr


def described_alike(profile: Path) -> str:
    """The profile without what names the run itself: its options, and where its caches come from."""
    lines = without_pid(profile).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("desc: Opt", "desc: Geo")))


@guests(SPECS)
def test_the_profile_depends_on_the_trace_alone(guest: GuestSpec, tmp_path: Path) -> None:
    """Not on the size of batches, nor on the threads that the engine runs on: here two of its own."""
    trace = tmp_path / "trace"
    options = [*caches(guest), f"--record-trace={trace}", "--engine-threads=2"]
    run = run_tool(tmp_path, command(guest), options)
    for batch_words in (100, 32768, 10_000_000):
        again = tmp_path / f"{batch_words}.out"
        replay(trace, again, *caches(guest), f"--batch-words={batch_words}")
        assert described_alike(again) == described_alike(run.profile_path), batch_words


def test_replay_with_other_caches_equals_a_run_with_them(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run_tool(tmp_path, [GUESTS / "workload"], [*SMALL_CACHES, f"--record-trace={trace}"])
    run = run_tool(tmp_path, [GUESTS / "workload"], OTHER_CACHES, name="other")
    replayed = tmp_path / "replayed.out"
    replay(trace, replayed, *OTHER_CACHES)
    assert described_alike(replayed) == described_alike(run.profile_path)


# What the trace knows although the recorded run did not ask for it.
ALL_EVENTS = ("branch-sim", "collect-jumps", "simulate-wb", "simulate-hwpref", "compat-events")


@pytest.mark.parametrize("name", ["branches", "exceptions", "handlers", "coroutines", "workload"])
def test_replay_with_more_events_equals_a_run_with_them(name: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    more = [f"--{option}=yes" for option in ALL_EVENTS]
    replayed = tmp_path / "replayed.out"
    run_tool(tmp_path, [GUESTS / name], [*SMALL_CACHES, f"--record-trace={trace}"])
    replay(trace, replayed, *more)
    for threads in ("0", "1", "2"):
        options = [*SMALL_CACHES, f"--engine-threads={threads}", *more]
        run = run_tool(tmp_path, [GUESTS / name], options, name=f"threads-{threads}")
        assert described_alike(replayed) == described_alike(run.profile_path), threads


def test_a_damaged_trace_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run_tool(tmp_path, [GUESTS / "attribution"], [*SMALL_CACHES, f"--record-trace={trace}"])
    whole = trace.read_bytes()
    for name, content in {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "other": b"# callgrind format\n" + whole,
    }.items():
        trace.write_bytes(content)
        completed = subprocess.run([BDREPLAY, trace], capture_output=True, text=True, check=False)
        assert completed.returncode == 2, name
        assert str(trace) in completed.stderr, name
