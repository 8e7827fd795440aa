# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command and says what it cost."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_QUIET_WINDOW_S = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """One process, from start to end. `failure` is empty if it exited with status 0."""

    wall_s: float
    user_s: float
    system_s: float
    peak_memory_kib: int
    elsewhere_cpus: float
    failure: str
    stdout_digest: str
    stderr: str


def run(command: tuple[str, ...], stdin: Path | None, folder: Path, timeout_s: float) -> Outcome:
    """Runs the command in the folder, where its output goes too.

    Time and memory are the kernel's account of this one child (wait4). The kernel counts the
    memory of the parent at the moment of exec as the child's peak, some 15 MiB here, less than
    any tool of Valgrind needs.
    """
    stdout_path = folder / "stdout"
    stderr_path = folder / "stderr"
    expired = threading.Event()
    with (
        open(stdin or os.devnull, "rb") as stdin_file,
        stdout_path.open("wb") as stdout_file,
        stderr_path.open("wb") as stderr_file,
    ):
        busy_before_s = _busy_s()
        start = time.monotonic()
        child = subprocess.Popen(
            command,
            stdin=stdin_file,
            stdout=stdout_file,
            stderr=stderr_file,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )

        def expire() -> None:
            expired.set()
            _kill_group(child.pid)

        timer = threading.Timer(timeout_s, expire)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            _kill_group(child.pid)
            raise
        finally:
            timer.cancel()
        wall_s = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait once more
        busy_s = _busy_s() - busy_before_s
    own_s = usage.ru_utime + usage.ru_stime
    failure = f"no end after {timeout_s:g} s" if expired.is_set() else _failure(child.returncode)
    return Outcome(
        wall_s=wall_s,
        user_s=usage.ru_utime,
        system_s=usage.ru_stime,
        peak_memory_kib=usage.ru_maxrss,
        elsewhere_cpus=max(0.0, busy_s - own_s) / wall_s,
        failure=failure,
        stdout_digest=hashlib.sha256(stdout_path.read_bytes()).hexdigest(),
        stderr=stderr_path.read_text(encoding="utf-8", errors="replace"),
    )


def wait_for_quiet(limit_s: float) -> None:
    """Returns when all programs together use a tenth of a processor or less, or after the limit."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        busy_before_s = _busy_s()
        time.sleep(_QUIET_WINDOW_S)
        if _busy_s() - busy_before_s <= 0.1 * _QUIET_WINDOW_S:
            return


def _environment(folder: Path) -> dict[str, str]:
    """The same for everybody: no user's .valgrindrc or VALGRIND_OPTS, no randomised hashes."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C",
        "PYTHONHASHSEED": "0",
        "PERL_HASH_SEED": "0",
    }
    if "VALGRIND_LIB" in os.environ:
        environment["VALGRIND_LIB"] = os.environ["VALGRIND_LIB"]
    return environment


def _failure(exit_code: int) -> str:
    if exit_code < 0:
        return f"killed by {signal.Signals(-exit_code).name}"
    return f"exit status {exit_code}" if exit_code else ""


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _busy_s() -> float:
    """Seconds that all processors together were not idle since the machine was started."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S
