# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports on standard output, through a pager on a terminal.

The pager is the one that BD_PAGER or PAGER names, or else less; an empty name or cat means none. As with git, less has
options to leave short reports on the screen, to show colours, and not to clear the screen.
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
    """The command of the pager; empty: none."""
    chosen = environment.get("BD_PAGER", environment.get("PAGER"))
    if environment.get("TERM") == "dumb":
        return []
    if chosen is None:
        return ["less"] if shutil.which("less") else []
    try:
        command = shlex.split(chosen)
    except ValueError:
        return []  # unmatched quotes
    if command in ([], ["cat"]) or not shutil.which(command[0]):
        return []
    return command


def _page(command: list[str], text: bytes) -> bool:
    """Show a text in the pager. Returns whether that could be started."""
    console.flush()
    environment = {"LESS": _LESS_OPTIONS, **os.environ}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    # Ctrl-C only affects the pager while it runs, as less stops a search with it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text)
    except BrokenPipeError:
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
