# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the results of reading large files in the user's cache folder, for the next report of the same file.

Unpacking a result takes a thirtieth of the time of reading the file. If a kept result is damaged, the file is read
again; if a result cannot be kept, the report is the same. As results are unpickled, they are taken only if the file
and its folder belong to the user, and only the user may write to them.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, TypeVar

from bdcommon import __version__

from .blocks import STANDARD_INPUT

_Read = TypeVar("_Read")

_SMALLEST_FILE = 4 << 20  # bytes; smaller ones are read in a quarter of a second
_MOST_BYTES = 1 << 30  # of all kept results
_MOST_BYTES_OF_ONE = _MOST_BYTES // 4
_SETTLED = 0.1  # seconds: a file that changed less than this before it was read may change again unnoticed
_SUFFIX = ".read"
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_on = False


def turn(on: bool) -> None:
    """Whether `kept` keeps results from now on; at first, it does not."""
    global _on
    _on = on


def kept(path: str, kind: str, read: Callable[[], _Read]) -> _Read:
    """The result of `read`, or the one kept before. kind: everything but the file that the result depends on."""
    try:
        status = os.stat(path) if _on and path != STANDARD_INPUT else None
    except OSError:
        status = None
    folder = _folder()
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size < _SMALLEST_FILE or folder is None:
        return read()
    start = time.time()
    place = os.path.join(folder, _digest(path, kind, status.st_dev, status.st_ino) + _SUFFIX)
    state = _state(status)
    data = _data(folder, place, state)
    if data is not None:
        with suppress(Exception):  # a damaged pickle can raise anything
            known: _Read = pickle.loads(data)
            return known
    found = read()
    with suppress(OSError, MemoryError):
        if _state(os.stat(path)) == state and status.st_ctime < start - _SETTLED:
            _keep(folder, place, state, found)
    return found


def _folder() -> str | None:
    """The folder of kept results; None if the user has no home."""
    for base in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
        if os.path.isabs(base):
            return os.path.join(base, "bdgrind")
    return None


def _digest(*words: object) -> str:
    return hashlib.sha256("\0".join(map(str, words)).encode("utf-8", "surrogateescape")).hexdigest()


def _state(status: os.stat_result) -> bytes:
    """A text that changes whenever the file does, or the code that reads it."""
    code = [__version__, *sys.version_info, *_sources()]
    return _digest(status.st_size, status.st_mtime_ns, status.st_ctime_ns, *code).encode("ascii")


def _sources() -> list[str]:
    """The sizes and times of the modules that read files, and of those that define the results."""
    found = []
    for room in ("model", "reading"):
        with os.scandir(os.path.join(os.path.dirname(__file__), os.pardir, room)) as files:
            for file in sorted(files, key=lambda file: file.name):
                if file.name.endswith(".py"):
                    status = file.stat()
                    found.append(f"{file.name} {status.st_size} {status.st_mtime_ns}")
    return found


def _is_safe(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS


def _data(folder: str, place: str, state: bytes) -> bytes | None:
    """The result kept for a file in this state; None if there is none, or if it cannot be trusted."""
    try:
        if not _is_safe(os.lstat(folder)):
            return None
        with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            if not _is_safe(os.fstat(file.fileno())):
                return None
            if file.readline(len(state) + 1) != state + b"\n":
                return None
            checksum = file.read(4)
            data = file.read()
        os.utime(place)
    except OSError:
        return None
    return data if checksum == _checksum(data) else None


def _checksum(data: bytes) -> bytes:
    return _as_bytes(zlib.crc32(data))


def _as_bytes(checksum: int) -> bytes:
    return checksum.to_bytes(4, "little")


class _Checked:
    """A file whose bytes are summed while they are written, as all of them at once would take their size in memory.
    OSError: there are too many."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = 0
        self.checksum = 0

    def write(self, data: bytes | memoryview | pickle.PickleBuffer) -> int:
        raw = memoryview(data)
        self._bytes += raw.nbytes
        if self._bytes > _MOST_BYTES_OF_ONE:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        self.checksum = zlib.crc32(raw, self.checksum)
        return self._file.write(raw)


def _keep(folder: str, place: str, state: bytes, found: object) -> None:
    os.makedirs(folder, 0o700, exist_ok=True)
    if not _is_safe(os.lstat(folder)):
        return
    number, temporary = tempfile.mkstemp(dir=folder)
    try:
        with open(number, "wb") as file:
            head = state + b"\n"
            file.write(head + _as_bytes(0))
            checked = _Checked(file)
            pickle.dump(found, checked, pickle.HIGHEST_PROTOCOL)
            file.seek(len(head))
            file.write(_as_bytes(checked.checksum))
        os.replace(temporary, place)
    except BaseException:
        os.unlink(temporary)
        with suppress(OSError):
            os.rmdir(folder)  # if nothing else is in it
        raise
    _drop_oldest(folder)


def _drop_oldest(folder: str) -> None:
    """Removes the results used least recently until the rest is small enough. Files left by interrupted runs count,
    too."""
    with os.scandir(folder) as entries:
        files = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries if entry.is_file()]
    size = sum(status.st_size for status, _ in files)
    for status, path in sorted(files, key=lambda file: file[0].st_mtime_ns):
        if size <= _MOST_BYTES:
            break
        with suppress(FileNotFoundError):  # dropped by another report meanwhile
            os.unlink(path)
        size -= status.st_size
