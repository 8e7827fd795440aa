# SPDX-License-Identifier: GPL-2.0-or-later
"""Source files, as far as a profile may make us open them.

A profile from a stranger can name any file of this machine as the source of a function. Only
regular files of a source's size are read, and no more than they say they have: a device, a FIFO, or
a file of the kernel's that is regular in name only would block, never end, or do something when it
is read. A file from outside the folders that the user or the system vouches for is marked, so that
no report is passed on with a private file in it that its author did not see.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from bdcommon.regular_files import is_below, is_of_kernel

MAX_SOURCE_BYTES = 32 << 20

# The headers of compilers and libraries, and sources that distributions install: no secrets.
_SYSTEM_FOLDERS = ("/usr",)


@dataclass(frozen=True, slots=True)
class SourceText:
    path: str
    lines: tuple[str, ...]
    modified: float  # when, in seconds since 1970
    is_outside: bool  # of the current folder, of those of -I and of /usr


def read_source(
    name: str, include: Sequence[str], folders_first: bool = False
) -> SourceText | str:
    """The source file that a profile names, or why there is none. The folders come after the name
    as it is, or before it."""
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
    """As the profile names it; then below each folder of -I, with ever fewer leading folders."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    below = [
        os.path.join(folder, *parts[start:]) for folder in include for start in range(len(parts))
    ]
    return [name, *below]


def _read(path: str, include: Sequence[str]) -> SourceText | str:
    real = os.path.realpath(path)
    if is_of_kernel(real):
        return "not a regular file"
    # Opening a FIFO must not wait for a writer, nor a terminal become ours.
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
