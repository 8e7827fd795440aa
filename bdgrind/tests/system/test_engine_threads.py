# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine's threads cannot be seen by the guest, nor do they need what the guest may take away."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import ENVIRONMENT, GUESTS, SMALL_CACHES, VALGRIND, Run, check_profile, run_tool
from test_replay import described_alike

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="no package helps: the engine has a thread of its own on x86-64 only"
)

GUEST = GUESTS / "one_thread"
NONE, ONE, TWO = (f"--engine-threads={count}" for count in range(3))


def natively(*command: str | Path) -> bytes:
    """What the guest says without Valgrind; skips the test if the system does not let it."""
    completed = subprocess.run(
        command, capture_output=True, check=False, cwd="/", env=ENVIRONMENT, timeout=60
    )
    assert completed.returncode == 0
    if b"not permitted" in completed.stdout:
        pytest.skip(f"no package helps: not allowed here: {completed.stdout.decode().splitlines()[0]}")
    return completed.stdout


def is_there_from_name_space(folder: Path) -> bool:
    """Whether a process that enters its own mount name space, and so gets its root, still sees the folder."""
    command = ["nsenter", "--mount=/proc/self/ns/mnt", "test", "-d", str(folder)]
    return subprocess.run(command, check=False, env=ENVIRONMENT, timeout=60).returncode == 0


@pytest.mark.parametrize("threads", [ONE, TWO])
@pytest.mark.parametrize(
    "action",
    ["user-namespace", "own-namespace", "futex-refused", "futex-kills", "threads", "others"],
)
def test_a_process_of_one_thread_is_one(action: str, threads: str, tmp_path: Path) -> None:
    output = natively(GUEST, action)
    if action == "own-namespace" and not is_there_from_name_space(tmp_path):
        pytest.skip("no package helps: this is a chroot, out of which entering the own name space leads")
    options = [*SMALL_CACHES, threads]
    run = run_tool(tmp_path, [GUEST, action], options, timeout=60)
    assert (run.status, run.stdout) == (0, output)
    assert check_profile(run.profile_path) == ""
    alone = run_tool(tmp_path, [GUEST, action], [*SMALL_CACHES, NONE], name="alone")
    assert described_alike(run.profile_path) == described_alike(alone.profile_path)


@pytest.mark.parametrize(("threads", "count"), [(ONE, 2), (TWO, 3)])
@pytest.mark.parametrize(
    ("action", "file", "attribute"),
    [
        ("nice", "stat", lambda text: text.rpartition(")")[2].split()[16]),
        ("identity", "status", lambda text: re.findall(r"^[UG]id:.*$", text, re.M)),
        ("capabilities", "status", lambda text: re.findall(r"^Cap(?:Prm|Eff):.*$", text, re.M)),
    ],
    ids=["nice", "identity", "capabilities"],
)
def test_the_threads_become_what_the_guest_becomes(
    action: str, file: str, attribute: Callable[[str], object], threads: str, count: int, tmp_path: Path
) -> None:
    """What the kernel keeps for each thread, as seen from outside while the guest waits."""
    if action == "identity" and os.geteuid() != 0:
        pytest.skip("no package helps: only root can become another user")
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    profile = tmp_path / "profile.out"
    words: list[str | Path] = [VALGRIND, "--tool=bdgrind", f"--bdgrind-out-file={profile}"]
    with subprocess.Popen(
        [*words, "--log-file=/dev/null", threads, *SMALL_CACHES, GUEST, action],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd="/",
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        while (line := process.stdout.readline()) not in (b"ready\n", b""):
            assert line.endswith(b": done\n")
        tasks = sorted(Path(f"/proc/{process.pid}/task").iterdir())
        of_task = [attribute((task / file).read_text()) for task in tasks]
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0
    assert len(of_task) == count, "the engine is back on its threads"
    assert all(one == of_task[0] for one in of_task)


# In front of Valgrind: a filter that answers some operations of futex with EPERM (0: wait, 1: wake).
FILTER = """
import ctypes, os, struct, sys
load, equal, leave = 0x20, 0x15, 0x06
refused = [int(operation) for operation in sys.argv[1].split(",")]
rules = [(load, 0, 0, 0), (equal, 0, len(refused) + 1, 202), (load, 0, 0, 24)]
rules += [(equal, len(refused) - i, 0, operation) for i, operation in enumerate(refused)]
rules += [(leave, 0, 0, 0x7FFF0000), (leave, 0, 0, 0x00050001)]
code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
buffer = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(buffer)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
    sys.exit("no filter")
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("threads", [ONE, TWO])
@pytest.mark.parametrize("refused", ["0", "1", "0,1"], ids=["wait", "wake", "both"])
def test_futexes_that_are_refused_from_the_start(refused: str, threads: str, tmp_path: Path) -> None:
    """Nothing hangs, nothing is lost."""
    profile = tmp_path / "profile.out"
    words: list[str | Path] = [sys.executable, "-S", "-c", FILTER, refused, VALGRIND]
    tool = ["--tool=bdgrind", "--log-file=/dev/null", f"--bdgrind-out-file={profile}"]
    completed = subprocess.run(
        [*words, *tool, threads, *SMALL_CACHES, GUEST, "nothing"],
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd="/",
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0
    alone = run_tool(tmp_path, [GUEST, "nothing"], [*SMALL_CACHES, NONE], name="alone")
    assert completed.stdout == alone.stdout
    assert described_alike(profile) == described_alike(alone.profile_path)


# --- Draining


@pytest.mark.parametrize("threads", [ONE, TWO])
def test_the_trace_may_be_drained_at_any_time(threads: str, run: Callable[..., Run]) -> None:
    """Also when its buffer has just become full, so that nothing is left to pass on when there is to be room."""
    drained = run([GUESTS / "zero_often"], [*SMALL_CACHES, threads])
    assert drained.status == 0, drained.log
    assert check_profile(drained.profile_path) == ""


# --- Memory


# Within 64 MB there is no room for batches of other threads besides.
@pytest.mark.parametrize(
    "megabytes, threads",
    [(64, NONE), (72, ONE), (72, TWO), *((many, threads) for many in (100, 512, 2048) for threads in (NONE, ONE))],
)
def test_a_guest_may_limit_its_address_space(
    megabytes: int, threads: str, run: Callable[..., Run]
) -> None:
    limited = run([GUESTS / "limits", str(megabytes), "200000"], [*SMALL_CACHES, threads])
    assert limited.status == 0, limited.log
    assert limited.stdout == natively(GUESTS / "limits", str(megabytes), "200000")
    assert check_profile(limited.profile_path) == ""
    assert limited.profile.totals["Ir"] > 200_000
