# SPDX-License-Identifier: GPL-2.0-or-later
"""Everyday commands notice nothing: what they print, how they end and what they write is as without Valgrind.

A few of them; all with BDGRIND_LONG in the environment, which `make check-long` sets.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from everyday_commands import ENVIRONMENT, STDIN, commands, prepare
from harness import SMALL_CACHES, VALGRIND

LONG = bool(os.environ.get("BDGRIND_LONG"))
CHOSEN = [words for often, words in commands() if LONG or often]


@dataclass(frozen=True)
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes
    files: dict[str, tuple[str, bytes]]  # by name: kind and permissions, content


def files(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Without git's index, which has the times and numbers of files that are made anew for each run."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.match(".git/index"):
            continue
        mode = path.lstat().st_mode
        content = b""
        if path.is_symlink():
            content = os.readlink(path).encode()
        elif path.is_file():
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (stat.filemode(mode), content)
    return found


def outcome(folder: Path, command: list[str], before: list[str] | None = None) -> Outcome:
    """Of a command in a folder that is made anew each time, under the same name: programs print it."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    prepare(work)
    completed = subprocess.run(
        [*(before or []), *command],
        cwd=work,
        input=STDIN,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=600,
        check=False,
    )
    return Outcome(completed.returncode, completed.stdout, completed.stderr, files(work))


@pytest.mark.parametrize("command", CHOSEN, ids=lambda command: " ".join(command)[:60])
def test_a_command_notices_nothing(command: list[str], tmp_path: Path) -> None:
    program = shutil.which(command[0], path=ENVIRONMENT["PATH"])
    if not program:
        pytest.skip(f"{command[0]} is not installed")
    native = outcome(tmp_path, [program, *command[1:]])
    valgrind = [
        str(VALGRIND),
        "--tool=bdgrind",
        "--trace-children=yes",
        f"--log-file={tmp_path}/log.%p",
        f"--bdgrind-out-file={tmp_path}/out.%p",
        *SMALL_CACHES,
    ]
    assert outcome(tmp_path, [program, *command[1:]], valgrind) == native


def test_there_are_enough_of_them() -> None:
    assert len(commands()) >= 150
    assert len({tuple(words) for _, words in commands()}) == len(commands())
    assert sum(often for often, _ in commands()) >= 25
