# SPDX-License-Identifier: GPL-2.0-or-later
"""Source files, as far as a profile may make the reporter open them.

An untrusted profile can name any file of this machine as the source of a function. Only regular files up to the size of
a source are read, and no more than their stated size: a device, a FIFO, or a file of the kernel that only seems regular
would block, never end, or do something when it is read. Files outside of the user's and the system's folders are
marked, so that no one passes on a report with a private file in it without having seen that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from bdcommon.regular_files import is_below, is_of_kernel

MAX_SOURCE_BYTES = 32 << 20

# Headers of compilers and libraries, and sources that distributions install, are not secret.
_SYSTEM_FOLDERS = ("/usr",)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source file that was read."""

    path: str
    lines: tuple[str, ...]
    modified: float  # the time of the last change, in seconds since 1970
    is_outside: bool  # whether it is outside of the current folder, those of -I, and /usr


def read_source(
    name: str, include: Sequence[str], folders_first: bool = False
) -> SourceText | str:
    """The source file that a profile names, or the reason why it cannot be read. include: folders to search it in,
    after the name itself, or before it if `folders_first`."""
    reason = "not found"
    first, *others = _candidates(name, include)
    for path in [*others, first] if folders_first else [first, *others]:
        try:
            found = _read(path, include)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                reason = (isinstance(error, OSError) and error.strerror) or "not readable"
            continue
        if isinstance(found, SourceText):
            return found
        reason = found
    return reason


def _candidates(name: str, include: Sequence[str]) -> list[str]:
    """The paths to try: the name in the profile, then the name below each folder, with ever fewer leading folders."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    below = [
        os.path.join(folder, *parts[start:]) for folder in include for start in range(len(parts))
    ]
    return [name, *below]


def _read(path: str, include: Sequence[str]) -> SourceText | str:
    real = os.path.realpath(path)
    if is_of_kernel(real):
        return "not a regular file"
    # Opening must neither wait for the writer of a FIFO nor make a terminal the controlling one.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if status.st_size > MAX_SOURCE_BYTES:
            return f"larger than {MAX_SOURCE_BYTES >> 20} MiB"
        text = os.read(descriptor, status.st_size).decode("utf-8", "surrogateescape")
    finally:
        os.close(descriptor)
    text = text.replace("\r\n", "\n")
    known = [os.path.realpath(folder) for folder in (os.curdir, *include)]
    return SourceText(
        path, tuple(text.split("\n")), status.st_mtime,
        not is_below(real, (*known, *_SYSTEM_FOLDERS)),
    )
