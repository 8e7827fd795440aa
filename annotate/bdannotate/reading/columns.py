# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads files beside a profile that have a head of text and binary columns (docs/format.md)."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from array import array
from collections.abc import Container, Sequence
from typing import ClassVar, Generic, NamedTuple, TypeVar

from ..model.errors import FormatProblem, ProfileError, shorten
from ..model.narrow import CODES, zeros
from ..model.profile import Function, Row
from .blocks import BinaryFile, binary_file, display_name
from .headers import Headers

COUNT_BYTES = 8

_PACKED_ENDINGS = (".gz", ".bz2", ".xz")
_MAX_NAME_BYTES = 1 << 22
_SPARSE = 0x10
# A block of 65,535 rows of zeros takes a few bytes, but writers write only rows that are not 0: in the files of perl
# and cc1, a byte had 0.6 values, and 2.3 if they were compressed. Up to the first number, reading takes seconds.
_MOST_VALUES = 1 << 23
_MOST_VALUES_PER_BYTE = 64


def path_beside(profile: str, prefix: str) -> str | None:
    """The path of the file with this prefix beside a profile, or None. Both may be compressed."""
    return next((path for path in _paths_beside(profile, prefix) if os.path.isfile(path)), None)


def no_file_beside(profile: str, prefix: str) -> str | None:
    """Says what has the name of such a file but is none, as the beginning of a sentence; None if nothing has."""
    for path in _paths_beside(profile, prefix):
        if os.path.isdir(path):
            return f"{path} is a folder"
        if os.path.exists(path):
            return f"{path} is a pipe, a socket or a device"
        if os.path.lexists(path):
            return f"{path} is a link to a missing file"
    return None


def _paths_beside(profile: str, prefix: str) -> list[str]:
    folder, name = os.path.split(profile)
    for ending in _PACKED_ENDINGS:
        name = name.removesuffix(ending)
    return [os.path.join(folder, prefix + name + ending) for ending in ("", *_PACKED_ENDINGS)]


class Head(NamedTuple):
    """The head of a part. texts: the lines that only this kind of file has; headers: all others. Files and object files
    are numbered from 1; number 0 has an empty name."""

    headers: Headers
    texts: dict[str, str]
    objects: list[str]
    files: list[str]


_Part = TypeVar("_Part")


class ColumnReader(ABC, Generic[_Part]):
    """Reads a kind of file. what: its name in a sentence, with an article; plural: the name of several; first_line: the
    key of its first line. For all kinds, this class limits the unpacked size and the number of values by the size of
    the file."""

    what: ClassVar[str]
    plural: ClassVar[str]
    first_line: ClassVar[str]
    versions: ClassVar[tuple[str, ...]] = ("1",)  # those that can be read, the latest last
    has_events = True

    def __init__(self, file: BinaryFile, source: str) -> None:
        self._file = file
        self._data = file.data
        self._source = source
        self._ahead = b""
        self._values = 0
        self._version = ""  # the version of the part that is read

    @classmethod
    def read(cls, path: str) -> list[_Part]:
        """All parts of the file, in order. ProfileError: a part is damaged. UserError: the file cannot be read."""
        source = display_name(path)
        parts: list[_Part] = []
        with binary_file(path, _without_article(cls.what)) as file:
            try:
                reader = cls(file, source)
                while not parts or reader._has_more():
                    parts.append(reader._part())
            except FormatProblem as problem:
                where = "something else follows its last complete part: " if parts else ""
                raise ProfileError(source, 0, f"{where}{problem}") from None
        return parts

    @abstractmethod
    def _part(self) -> _Part: ...

    def _has_more(self) -> bool:
        """Whether another part follows. Newlines before it are skipped: a part that was taken back leaves them."""
        if self._ahead:
            return True
        while (ahead := self._data.read(1)) == b"\n":
            pass
        self._ahead = ahead
        return bool(ahead)

    def _head(self, own: Container[str]) -> Head:
        """Reads the head up to the list of files. own: the keys that only this kind of file has."""
        headers = Headers()
        texts: dict[str, str] = {}
        key, value = self._key_value()
        if key != self.first_line:
            raise FormatProblem(f"this is not {self.what} of bdgrind")
        if value not in self.versions:
            verb = "is" if len(self.versions) == 1 else "are"
            raise FormatProblem(
                f"version {shorten(value)} of {self.plural} is unknown ({' and '.join(self.versions)} {verb} known)"
            )
        self._version = value
        while (key_value := self._key_value())[0] != "objects":
            key, value = key_value
            if key in own:
                texts[key] = value
            else:
                headers.read(key, value, 0)
        if self.has_events and not headers.events:
            raise FormatProblem("events: is missing")
        objects = ["", *self._names(key_value[1])]
        return Head(headers, texts, objects, ["", *self._names(self._section("files"))])

    def _block(self) -> int:
        """The number of rows of the next block; 0 at the end."""
        return int.from_bytes(self._bytes(2), "little")

    def _check_sums(self, what: str, number: int, names: Sequence[str], sums: Row) -> None:
        """Checks the number of rows and their sums against those stated behind the blocks. FormatProblem if they
        differ."""
        stated = counts(self._bytes(COUNT_BYTES * (1 + len(sums))))
        if stated[0] != number:
            raise FormatProblem(f"{stated[0]:,} {what} are stated, but there are {number:,}")
        for name, total, found in zip(names, stated[1:], sums):
            if total != found:
                raise FormatProblem(
                    f"{name} are stated as {total:,}, but the {what}' add up to {found:,}"
                )

    def _column(self, count: int) -> array[int]:
        """Reads a column of a block, in the width in which it is written."""
        self._values += count
        most = max(_MOST_VALUES, _MOST_VALUES_PER_BYTE * self._file.packed_bytes)
        if self._values > most:
            raise FormatProblem(
                f"it has more than {most:,} values in {self._file.packed_bytes:,} bytes, as no "
                f"{_without_article(self.what)} has; if it is one, unpack it first"
            )
        form = self._bytes(1)[0]
        if form == 0:
            return zeros(count)
        width = form & ~_SPARSE
        if width not in CODES:
            raise FormatProblem(f"a column has the unknown form {form}")
        if not form & _SPARSE:
            return _numbers(self._bytes(width * count), width)
        filled = int.from_bytes(self._bytes(2), "little")
        positions = _numbers(self._bytes(2 * filled), 2)
        values = _numbers(self._bytes(width * filled), width)
        column = zeros(count, width)
        before = -1
        for position, value in zip(positions, values):
            if not before < position < count:
                raise FormatProblem("a column names rows out of order, or one that does not exist")
            before = position
            column[position] = value
        return column

    def _key_value(self) -> tuple[str, str]:
        key, colon, value = self._line().partition(":")
        if not colon:
            raise FormatProblem(f"this is not {self.what} of bdgrind, or its head is damaged")
        return key, value.strip()

    def _section(self, name: str) -> str:
        key, value = self._key_value()
        if key != name:
            raise FormatProblem(f"'{name}:' is expected, but '{shorten(key)}:' was found")
        return value

    def _names(self, count: str) -> list[str]:
        if not (count.isascii() and count.isdigit() and len(count) < 10):
            raise FormatProblem(f"'{shorten(count)}' is not a number of names")
        return [self._line() for _ in range(int(count))]

    def _line(self) -> str:
        line, self._ahead = self._ahead, b""
        if not line.endswith(b"\n"):
            line += self._data.readline(_MAX_NAME_BYTES)
        if not line.endswith(b"\n"):
            raise FormatProblem(f"{self._the()} ends in its head" if len(line) < _MAX_NAME_BYTES
                                else "a line of its head is too long")
        return line[:-1].decode("utf-8", "surrogateescape")

    def _bytes(self, count: int) -> bytes:
        found = self._data.read(count)
        if len(found) < count:
            raise FormatProblem(f"{self._the()} is cut off: was the run killed, or the disk full?")
        return found

    def _the(self) -> str:
        return f"the {_without_article(self.what)}"


def _without_article(what: str) -> str:
    return what.partition(" ")[2]


def named_function(text: str, objects: list[str], files: list[str]) -> tuple[Function, int]:
    words = text.split(" ", 3)
    if len(words) < 4 or not all(word.isascii() and word.isdigit() for word in words[:3]):
        raise FormatProblem(f"'{shorten(text)}' is not object, file, line and name of a function")
    object_number, file, line = (int(word[:10]) for word in words[:3])
    if object_number >= len(objects) or file >= len(files):
        raise FormatProblem(f"'{shorten(text)}' is in an object or file that has no name")
    return Function(objects[object_number], files[file], words[3]), line


def counts(data: bytes) -> array[int]:
    return _numbers(data, COUNT_BYTES)


def _numbers(data: bytes, width: int) -> array[int]:
    """Little-endian numbers of this width, in bytes."""
    result = array(CODES[width])
    result.frombytes(data)
    if sys.byteorder == "big":
        result.byteswap()
    return result
