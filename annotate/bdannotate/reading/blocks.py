# SPDX-License-Identifier: GPL-2.0-or-later
"""Files as blocks of lines: plain, gzip, bzip2 or xz, or standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from ..model.errors import ProfileError, UserError
from .progress import Progress

BLOCK_CHARACTERS = 1 << 18
MAX_LINE_CHARACTERS = 1 << 22

_STANDARD_INPUT = "-"


def display_name(path: str) -> str:
    return "standard input" if path == _STANDARD_INPUT else path


def line_blocks(path: str, progress: Progress) -> Iterator[list[str]]:
    """The lines of a file without their newlines, many at a time. Bytes that are not UTF-8
    survive as surrogates. A last line without a newline counts."""
    name = display_name(path)
    try:
        with _open(path) as raw, _decompressed(raw) as data:
            size = _size(raw)
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
                progress.update(raw.tell() if size else number, size)
            if rest:
                yield [rest]
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"{name}: {reason}") from None
    finally:
        progress.clear()


def _open(path: str) -> io.BufferedReader:
    if path == _STANDARD_INPUT:
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    return open(path, "rb")


def _size(raw: io.BufferedReader) -> int:
    """The size of a regular file; 0 for a pipe, whose size and position nobody knows."""
    status = os.fstat(raw.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _decompressed(raw: io.BufferedReader) -> BinaryIO:
    """Told by the first bytes, not by the name, so that standard input works too."""
    start = raw.peek(6)
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(raw))
    if start.startswith(b"\xfd7zXZ\x00"):
        return cast(BinaryIO, lzma.LZMAFile(raw))
    return raw
