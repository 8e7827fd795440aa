# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard output and standard error, for untrusted text that must not control a terminal, for bytes that are not text,
and for readers or disks that take no more.

Nothing here raises UnicodeError, regardless of names and of the terminal's encoding: text is written as UTF-8, and
bytes that were not UTF-8 when they were read are written unchanged.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130


def printable(text: str) -> str:
    """Text from a file or from another process, without control characters. Bytes that were not UTF-8 (surrogates here)
    are kept, except for those that are control characters of a terminal with an 8-bit encoding."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udca0" <= c <= "\udcff" else "?" for c in text)


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


class OutputError(Exception):
    """Why standard output takes no more."""


def write(pieces: Iterable[str]) -> None:
    """Write pieces of text to standard output unchanged. Raises OutputError."""
    if sys.stdout is None:
        raise OutputError("it is closed")
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece.encode("utf-8", "surrogateescape"))
    except OSError as error:
        _fail(error)


def write_data(pieces: Iterable[str]) -> None:
    """Write text for other programs to standard output: without control characters if that is a terminal, else
    unchanged."""
    write(map(printable_lines, pieces) if is_terminal() else pieces)


def printable_lines(text: str) -> str:
    if text.isprintable():
        return text
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def flush() -> None:
    """Flush standard output, so that later lines on standard error come after it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _fail(error)


def say(text: str) -> None:
    """Write a line to standard error, if there is one."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.buffer.write(f"{printable(text)}\n".encode("utf-8", "surrogateescape"))
        sys.stderr.flush()
    except OSError:
        pass  # there is no stream left to report this


def guarded(program: str, run: Callable[[], int]) -> int:
    """The exit status of `run`, or of what ended it. A reader that closes the pipe is not a failure, but a full disk is
    one."""
    try:
        try:
            status = run()
        except SystemExit as done:  # from --help and --version
            status = int(done.code or 0)
        flush()
        return status
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        return 0
    except OutputError as error:
        say(f"{program}: standard output: {error}")
        return EXIT_ERROR
    finally:
        _drop_unsaid()


class _Ending:
    """How the program ends."""

    at_once = False


def end_at_once() -> None:
    """Let `ended` end the process. For a program that does nothing behind its run."""
    _Ending.at_once = True


def ended(status: int) -> int:
    """The exit status of a run that has written everything, where most of what it knows is still in memory. After
    `end_at_once`, it does not return: freeing millions of objects one by one takes a twentieth of the time of a report
    on a large profile. Raises OutputError."""
    if _Ending.at_once:
        flush()
        _drop_unsaid()
        os._exit(status)
    return status


def _drop_unsaid() -> None:
    """Drop what standard error has not taken by now: Python would try once more when it exits, and from 3.13 on, the
    exit status would be 120 then."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _fail(error: OSError) -> NoReturn:
    # Python would try once more to write the rest when it exits, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        raise error
    raise OutputError(error.strerror or str(error)) from None
