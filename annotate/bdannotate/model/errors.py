# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes of the user or of a file: one sentence, exit status 2, never a traceback."""


from __future__ import annotations

from bdcommon.console import printable


class UserError(Exception):
    """What went wrong, as one sentence that names the file or option."""


class ProfileError(UserError):
    """A profile that breaks the format, located by file and line."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(f"{source}:{line}: {problem}" if line else f"{source}: {problem}")


class FormatProblem(Exception):
    """What is wrong with a line. The parser makes a ProfileError of it, with file and line."""


def is_out_of_memory(error: BaseException) -> bool:
    """Python 3.13 wraps what a constructor ran out of memory with in a SystemError."""
    return isinstance(error, MemoryError) or (
        isinstance(error, SystemError) and isinstance(error.__cause__, MemoryError)
    )


def shorten(text: str, length: int = 60) -> str:
    """Text from a file as it may stand in a message: printable and not endless."""
    start = printable(text[: length + 1])
    return start if len(start) <= length else start[: length - 3] + "..."
