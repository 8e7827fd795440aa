# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of the user or of a file: one sentence and exit status 2, never a traceback."""


from __future__ import annotations

from bdcommon.console import printable


class UserError(Exception):
    """What went wrong, as one sentence that names the file or option."""


class ProfileError(UserError):
    """A profile that breaks the format, located by file and line."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(f"{source}:{line}: {problem}" if line else f"{source}: {problem}")


class FormatProblem(Exception):
    """What is wrong with a line. The parser turns it into a ProfileError with file and line."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out. Python 3.13 wraps a MemoryError in a constructor in a SystemError."""
    return isinstance(error, MemoryError) or (
        isinstance(error, SystemError) and isinstance(error.__cause__, MemoryError)
    )


def shorten(text: str, length: int = 60) -> str:
    """Text from a file as it may be used in a message: printable, and of at most `length` characters."""
    start = printable(text[: length + 1])
    return start if len(start) <= length else start[: length - 3] + "..."
