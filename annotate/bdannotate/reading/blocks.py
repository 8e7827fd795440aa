# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads files, or standard input, as blocks of lines or as bytes; gzip, bzip2 and xz are unpacked."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from ..model.errors import ProfileError, UserError
from .progress import Progress

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_CHARACTERS = 1 << 18
MAX_LINE_CHARACTERS = 1 << 22
# Compression shrinks profiles to a quarter or a tenth, but a file of newlines to a thousandth (gzip) or to next to
# nothing (bzip2): reading it would take hours. Up to the first limit, reading takes seconds.
_UNPACKED_BYTES = 1 << 22
_UNPACKED_RATIO = 300

STANDARD_INPUT = "-"
_READING_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


def display_name(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else path


def line_blocks(path: str, progress: Progress) -> Iterator[list[str]]:
    """Yields the lines of a file without their newlines, many at a time. Bytes that are not UTF-8 become surrogates.
    The last line needs no newline. UserError: the file cannot be read, or it is no profile."""
    name = display_name(path)
    try:
        with _File(path) as file, _unpacked(file, name, "profile") as data:
            size = file.size
            text = io.TextIOWrapper(data, encoding="utf-8", errors="surrogateescape", newline="\n")
            rest = ""
            number = 1
            while block := text.read(BLOCK_CHARACTERS):
                lines = (rest + block).split("\n")
                rest = lines.pop()
                number += len(lines)
                if len(rest) > MAX_LINE_CHARACTERS:
                    raise ProfileError(name, number, "the line is too long for a profile")
                yield lines
                progress.update(file.read_bytes if size else number, size)
            if rest:
                yield [rest]
    except _READING_ERRORS as error:
        raise _unreadable(name, error) from None
    finally:
        progress.clear()


@dataclass(frozen=True, slots=True)
class BinaryFile:
    """A file that is being read. data: its unpacked bytes."""

    data: BinaryIO
    _file: _File

    @property
    def packed_bytes(self) -> int:
        """The number of bytes read from the file so far, before they are unpacked."""
        return self._file.read_bytes


@contextmanager
def binary_file(path: str, what: str) -> Iterator[BinaryFile]:
    """Opens a file for reading. what: the kind of file for messages, without an article. UserError: it cannot be
    read."""
    try:
        with _File(path) as file, _unpacked(file, display_name(path), what) as data:
            yield BinaryFile(data, file)
    except _READING_ERRORS as error:
        raise _unreadable(display_name(path), error) from None


def _unreadable(name: str, error: Exception) -> UserError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UserError(f"{name}: {reason}")


class _File(io.FileIO):
    """A file that counts the bytes read from it; unlike a position, the count exists for pipes, too."""

    def __init__(self, path: str) -> None:
        if path == STANDARD_INPUT:
            if sys.stdin is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            super().__init__(sys.stdin.fileno(), closefd=False)
        else:
            super().__init__(path)
        self.read_bytes = 0

    @property
    def size(self) -> int:
        """The size of a regular file, in bytes; 0 for a pipe, whose size is unknown."""
        status = os.fstat(self.fileno())
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        done = super().readinto(buffer)
        self.read_bytes += done or 0
        return done


@contextmanager
def _unpacked(file: _File, name: str, what: str) -> Iterator[io.BufferedReader]:
    with io.BufferedReader(file) as raw, _decompressed(raw) as data:
        if data is raw:
            yield raw
        else:
            with io.BufferedReader(_Unpacked(data, file, name, what), BLOCK_CHARACTERS) as bounded:
                yield bounded


class _Unpacked(io.RawIOBase):
    """Unpacked data. UserError if there is so much more of it than packed data that the file must be a bomb."""

    def __init__(self, data: BinaryIO, file: _File, name: str, what: str) -> None:
        super().__init__()
        self._data = data
        self._file = file
        self._name = name
        self._what = what
        self._bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        with memoryview(buffer) as view:
            data = self._data.read(len(view))
            view[: len(data)] = data
        self._bytes += len(data)
        if self._bytes > max(_UNPACKED_BYTES, _UNPACKED_RATIO * self._file.read_bytes):
            raise UserError(
                f"{self._name}: unpacks to more than {_UNPACKED_RATIO} times its size, as no "
                f"{self._what} does; if it is one, unpack it first"
            )
        return len(data)


def _decompressed(raw: io.BufferedReader) -> BinaryIO:
    """The unpacked data. The first bytes, not the name, tell the format, so that standard input works, too."""
    start = raw.peek(6)
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(raw))
    if start.startswith(b"\xfd7zXZ\x00"):
        return cast(BinaryIO, lzma.LZMAFile(raw))
    return raw
