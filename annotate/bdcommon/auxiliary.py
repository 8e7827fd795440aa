# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of other programs that read untrusted files, with limits for their time, memory and output."""

from __future__ import annotations

import resource
import subprocess
import tempfile
from collections.abc import Sequence
from typing import IO

_MOST_MEMORY = 4 << 30  # bytes of private memory; mapped files do not count
_MOST_OUTPUT = 256 << 20


class ToolError(Exception):
    """Why a program gave no answer, as the end of a sentence."""


def answer_of(command: Sequence[str], text: str, seconds: int) -> str:
    """The output of a command for a text on its standard input. Bytes that are not UTF-8 become surrogates. Raises
    ToolError if it fails or exceeds a limit."""
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
    """The exit status of a command. Its limits are set from outside: to run code of ours in the new process, that would
    first have to be a copy of this one, with the page tables of hundreds of megabytes."""
    with subprocess.Popen(command, stdin=given, stdout=output, stderr=subprocess.DEVNULL) as process:
        try:
            _limit(process.pid)
            return process.wait(seconds)
        except BaseException:
            process.kill()
            raise


def _limit(pid: int) -> None:
    """Limit a process. It ends if it writes a larger file."""
    for what, most in (
        (resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_FSIZE, _MOST_OUTPUT), (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.prlimit(pid, what, (soft, hard))
        except ProcessLookupError:
            return  # the process has ended already
