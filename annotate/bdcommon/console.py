# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard output and standard error: text from strangers that must not control a terminal, bytes
that are no text, and readers or disks that take no more.

Nothing here raises UnicodeError, whatever the names and whatever encoding the terminal is said to
have: text goes out as UTF-8, and what was no UTF-8 when it was read as the bytes that it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130


def printable(text: str) -> str:
    """Text that came from a file or from another process, without control characters. Bytes that
    were not UTF-8 (surrogates here) go out as they came in, but for those that are control
    characters to a terminal with an 8-bit encoding."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udca0" <= c <= "\udcff" else "?" for c in text)


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


class OutputError(Exception):
    """Why standard output takes no more."""


def write(pieces: Iterable[str]) -> None:
    """To standard output, as it is."""
    if sys.stdout is None:
        raise OutputError("it is closed")
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece.encode("utf-8", "surrogateescape"))
    except OSError as error:
        _fail(error)


def write_data(pieces: Iterable[str]) -> None:
    """What is for other programs: to a terminal, lines without control characters; else as it is."""
    write(map(printable_lines, pieces) if is_terminal() else pieces)


def printable_lines(text: str) -> str:
    if text.isprintable():
        return text
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def flush() -> None:
    """So that what follows on standard error comes after it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _fail(error)


def say(text: str) -> None:
    """A line to standard error, where there is one."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.buffer.write(f"{printable(text)}\n".encode("utf-8", "surrogateescape"))
        sys.stderr.flush()
    except OSError:
        pass  # no stream is left to tell


def guarded(program: str, run: Callable[[], int]) -> int:
    """The status of `run`, or of what ended it: a reader who has seen enough is no failure, a full
    disk is one."""
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


def _drop_unsaid() -> None:
    """Drops what standard error has not taken by now: Python would try once more when it
    exits, and from 3.13 on the status would then be its own, 120."""
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
