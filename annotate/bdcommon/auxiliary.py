# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs that read what a stranger may have made: bounded in time, in memory and in what they say."""

from __future__ import annotations

import resource
import subprocess
import tempfile
from collections.abc import Sequence

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
            status = subprocess.run(
                command, stdin=given, stdout=output, stderr=subprocess.DEVNULL, timeout=seconds,
                check=False, preexec_fn=_limit,
            ).returncode
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


def _limit() -> None:
    """A file that grows larger ends the program."""
    for what, most in (
        (resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_FSIZE, _MOST_OUTPUT), (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (soft, hard))
