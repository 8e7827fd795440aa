# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports on standard output, through a pager on a terminal.

The pager is what BD_PAGER or PAGER names, else less; an empty name or cat means none. As git does,
less is told to leave short reports on the screen, to pass colours on, and to clear nothing.
"""

from __future__ import annotations

import os
import shutil
import shlex
import signal
import subprocess
from collections.abc import Mapping

from bdcommon import console

_LESS_OPTIONS = "FRX"


def write_paged(lines: list[str]) -> None:
    text = "\n".join([*lines, ""])
    command = pager(os.environ) if console.is_terminal() else []
    if not command or not _page(command, text.encode("utf-8", "surrogateescape")):
        console.write([text])


def pager(environment: Mapping[str, str]) -> list[str]:
    """The command, or nothing."""
    chosen = environment.get("BD_PAGER", environment.get("PAGER"))
    if environment.get("TERM") == "dumb":
        return []
    if chosen is None:
        return ["less"] if shutil.which("less") else []
    try:
        command = shlex.split(chosen)
    except ValueError:
        return []  # quotes that do not match
    if command in ([], ["cat"]) or not shutil.which(command[0]):
        return []
    return command


def _page(command: list[str], text: bytes) -> bool:
    """Whether the pager could be started. What it does with the text is its reader's business."""
    console.flush()
    environment = {"LESS": _LESS_OPTIONS, **os.environ}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    # Ctrl-C is the pager's while it runs, as less stops searching with it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text)
    except BrokenPipeError:
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
