# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes under bdgrind, and which of them are meant."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import ControlError


@dataclass(frozen=True, slots=True)
class Run:
    pid: int
    words: tuple[str, ...]  # the program's command, without valgrind's
    user: int

    @property
    def command(self) -> str:
        return " ".join(self.words)

    @property
    def name(self) -> str:
        return os.path.basename(self.words[0]) if self.words else ""


def program_of(words: Sequence[str]) -> tuple[str, ...]:
    """The program's command in the one that started it under Valgrind."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if rest.pop(0) == "--":
            break
    return tuple(rest)


def is_bdgrind(pid: int) -> bool:
    """Valgrind's tools are programs of their own; the options need not name them."""
    try:
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return os.path.basename(program).startswith("bdgrind-")


def find_runs(pids: Iterable[int]) -> list[Run]:
    """Of these processes, those under bdgrind that this user may look at."""
    runs = []
    for pid in sorted(set(pids)):
        if not is_bdgrind(pid):
            continue
        folder = Path(f"/proc/{pid}")
        try:
            command = (folder / "cmdline").read_bytes()
            user = folder.stat().st_uid
        except OSError:
            continue  # it has just ended
        words = command.decode(errors="surrogateescape").rstrip("\0").split("\0")
        runs.append(Run(pid, program_of(words), user))
    return runs


def choose(runs: Sequence[Run], names: Iterable[str]) -> list[Run]:
    """The runs that are named, in the order of their numbers; all, if none is named."""
    chosen: set[Run] = set()
    for name in names:
        found = [run for run in runs if name in (str(run.pid), run.name)]
        if not found:
            raise ControlError(_why_not(name, runs))
        chosen.update(found)
    if not runs:
        raise ControlError("no program is running under bdgrind")
    return [run for run in runs if run in chosen or not chosen]


def choose_to_change(runs: Sequence[Run], names: Sequence[str], everything: bool) -> list[Run]:
    """The same for what cannot be undone: a name must mean one run, and no name means none."""
    chosen = choose(runs, names)
    if everything:
        return chosen
    if not names:
        raise ControlError("name a run, or use --all", _list(chosen))
    for name in names:
        found = [run for run in runs if name in (str(run.pid), run.name)]
        if len(found) > 1:
            raise ControlError(
                f"several runs are named {name}: give a process id, or use --all",
                _list(found),
            )
    return chosen


def _list(runs: Sequence[Run]) -> list[str]:
    return [f"{run.pid}  {run.command}" for run in runs]


def _why_not(name: str, runs: Sequence[Run]) -> str:
    if name.isascii() and name.isdigit() and not any(str(run.pid) == name for run in runs):
        user = _owner(int(name))
        if user is not None and user != os.geteuid() and os.geteuid() != 0:
            return f"process {name} belongs to {_user_name(user)}: only that user and root may query it"
    if not runs:
        return "no program is running under bdgrind"
    return f"no program with the process id or name {name} is running under bdgrind"


def _owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def _user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
