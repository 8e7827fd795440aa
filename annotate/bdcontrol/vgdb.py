# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that talks to Valgrind's runs."""

from __future__ import annotations

import glob
import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from .errors import ControlError
from .runs import Run, is_bdgrind

# Beyond this a run does not answer: stopped, or in a system call that vgdb may not interrupt.
ANSWER_SECONDS = 60
# How often to look whether another vgdb is done with the run.
_BUSY_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Asker:
    """As whom vgdb runs, so that it finds a run's files and may use them."""

    user: int | None = None  # None: as the one who asks
    group: int | None = None
    environment: dict[str, str] = field(default_factory=dict)


_SELF = _Asker()


class Vgdb:
    def __init__(self, prefix: str) -> None:
        program = shutil.which("vgdb")
        if program is None:
            raise ControlError("vgdb was not found; it comes with Valgrind")
        self._command = [program]
        self._prefix = os.path.join(os.environ.get("TMPDIR", "/tmp"), "vgdb-pipe")
        if prefix:
            self._command.append(f"--vgdb-prefix={prefix}")
            self._prefix = prefix

    def pids(self) -> Iterator[int]:
        """Of all runs, under whichever tool, and of some that are over."""
        # Its status is 1 also where it lists them.
        for pid in re.findall(r"^use --pid=(\d+) ", self._call("-l").stdout, re.MULTILINE):
            yield int(pid)

    def ask(self, run: Run, *words: str) -> str:
        completed = self._patiently(run, *words)
        if completed.returncode != 0:
            said = [line for line in completed.stderr.splitlines() if "sending command" not in line]
            raise ControlError(f"vgdb failed: {said[0] if said else 'without a message'}")
        return completed.stdout

    def kill(self, run: Run) -> None:
        self._patiently(run, "v.kill")  # it complains that there is no answer
        for _ in range(100):
            if not is_bdgrind(run.pid):
                return
            time.sleep(0.1)
        raise ControlError("it is still there")

    def _patiently(self, run: Run, *words: str) -> subprocess.CompletedProcess[str]:
        """A run talks to one vgdb at a time."""
        asker = self._asker(run)
        until = time.monotonic() + ANSWER_SECONDS
        while True:
            completed = self._call(f"--pid={run.pid}", *words, asker=asker)
            if completed.returncode == 0 or "Cannot acquire lock" not in completed.stderr:
                return completed
            if time.monotonic() >= until:
                raise ControlError("it is busy answering another vgdb; try again later")
            time.sleep(_BUSY_SECONDS)

    def _asker(self, run: Run) -> _Asker:
        """Another user's run is asked as that user. Its files, in a folder where everybody may
        write, then cannot be made to lead root anywhere else. Their names hold what the run's
        environment said of user and host, and vgdb makes them up from its own."""
        if run.user == os.geteuid() or os.geteuid() != 0:
            return _SELF
        start = f"{self._prefix}-shared-mem-vgdb-{run.pid}-by-"
        for path in glob.glob(f"{glob.escape(start)}*"):
            name, sign, host = path.removeprefix(start).rpartition("-on-")
            try:
                if not sign or os.lstat(path).st_uid != run.user:
                    continue
            except OSError:
                continue
            known = {"LOGNAME": name, "HOST": host, "PATH": os.environ.get("PATH", os.defpath)}
            if "TMPDIR" in os.environ:
                known["TMPDIR"] = os.environ["TMPDIR"]
            return _Asker(run.user, _group_of(run.user), known)
        raise ControlError("its owner left no file for vgdb")

    def _call(self, *arguments: str, asker: _Asker = _SELF) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [*self._command, *arguments],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=ANSWER_SECONDS,
                check=False,
                user=asker.user,
                group=asker.group,
                extra_groups=None if asker.user is None else [],
                env=asker.environment or None,
            )
        except subprocess.TimeoutExpired:
            raise ControlError("no answer") from None


def _group_of(user: int) -> int:
    try:
        return pwd.getpwuid(user).pw_gid
    except KeyError:
        return user
