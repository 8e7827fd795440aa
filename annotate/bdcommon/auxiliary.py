# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs that read what a stranger may have made: bounded in time, in memory and in what they say."""

from __future__ import annotations

import resource
import subprocess
import tempfile
from collections.abc import Sequence
from typing import IO

_MOST_MEMORY = 4 << 30  # of their own; files that are mapped do not count
_MOST_OUTPUT = 256 << 20


class ToolError(Exception):
    """Why a program gave no answer, as the end of a sentence."""


def answer_of(command: Sequence[str], text: str, seconds: int) -> str:
    """What it writes when it is given that text. Bytes that are no UTF-8 survive as surrogates."""
    try:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as given:
            given.write(text.encode("utf-8", "surrogateescape"))
            given.seek(0)
            status = _status_of(command, given, output, seconds)
            if output.seek(0, 2) >= _MOST_OUTPUT:
                raise ToolError(f"it said more than {_MOST_OUTPUT >> 20} MiB")
            if status:
                raise ToolError(f"it ended with status {status}")
            output.seek(0)
            return output.read().decode("utf-8", "surrogateescape")
    except subprocess.TimeoutExpired:
        raise ToolError(f"it took longer than {seconds:,} seconds") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ToolError((isinstance(error, OSError) and error.strerror) or str(error)) from None


def _status_of(command: Sequence[str], given: IO[bytes], output: IO[bytes], seconds: int) -> int:
    """Limited from outside: to run anything of ours in the new process, that would first be a copy of this one, and a
    report has hundreds of megabytes whose page tables are copied for that."""
    with subprocess.Popen(command, stdin=given, stdout=output, stderr=subprocess.DEVNULL) as process:
        try:
            _limit(process.pid)
            return process.wait(seconds)
        except BaseException:
            process.kill()
            raise


def _limit(pid: int) -> None:
    """A file that grows larger ends the program."""
    for what, most in (
        (resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_FSIZE, _MOST_OUTPUT), (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.prlimit(pid, what, (soft, hard))
        except ProcessLookupError:
            return  # it has ended already
