# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a context tree, the file beside a profile that docs/format.md describes."""

from __future__ import annotations

import os
import sys
from array import array
from typing import BinaryIO

from ..model.contexts import (
    NO_PARENT, NOWHERE, OTHER, CallPlace, ContextTree, Frame, Kind, merge,
)
from ..model.errors import FormatProblem, ProfileError, shorten
from ..model.profile import Function, Row
from .blocks import binary_file, display_name
from .headers import Headers

PREFIX = "contexts."

_PACKED_ENDINGS = (".gz", ".bz2", ".xz")
_REQUIRED_COLUMNS = ("depth", "function", "calls")
_SITE_COLUMNS = ("file", "line", "address")
_MAX_NAME_BYTES = 1 << 22
_WIDTHS = (1, 2, 4, 8)
_SPARSE = 0x10
_COUNT_BYTES = 8


def contexts_path(profile: str) -> str | None:
    """The context tree beside a profile, if there is one; either may be compressed."""
    folder, name = os.path.split(profile)
    for ending in _PACKED_ENDINGS:
        name = name.removesuffix(ending)
    for ending in ("", *_PACKED_ENDINGS):
        path = os.path.join(folder, PREFIX + name + ending)
        if os.path.isfile(path):
            return path
    return None


def read_contexts(path: str) -> ContextTree:
    """The tree of a file; of several parts, one behind the other, their sum."""
    source = display_name(path)
    trees: list[ContextTree] = []
    with binary_file(path) as data:
        try:
            reader = _Reader(data, source)
            while not trees or reader.has_more():
                trees.append(reader.tree())
        except FormatProblem as problem:
            raise ProfileError(source, 0, str(problem)) from None
    return trees[0] if len(trees) == 1 else merge(trees)


class _Reader:
    def __init__(self, data: BinaryIO, source: str) -> None:
        self._data = data
        self._source = source
        self._ahead = b""

    def has_more(self) -> bool:
        """Another tree behind newlines: they stand where one has been taken back."""
        while (ahead := self._data.read(1)) == b"\n":
            pass
        self._ahead = ahead
        return bool(ahead)

    def tree(self) -> ContextTree:
        headers = Headers()
        texts: dict[str, str] = {}
        key, value = self._key_value()
        if key != "contexts":
            raise FormatProblem("this is not a context tree of bdgrind")
        if value != "1":
            raise FormatProblem(f"version {shorten(value)} of context trees is unknown (1 is known)")
        while (key_value := self._key_value())[0] != "objects":
            key, value = key_value
            if key in ("recursion", "limit", "columns"):
                texts[key] = value
            else:
                headers.read(key, value, 0)
        recursion = texts.get("recursion", "")
        if recursion not in ("folded", "apart"):
            raise FormatProblem("recursion: is neither folded nor apart")
        columns = tuple(texts.get("columns", "").split())
        if columns not in (_REQUIRED_COLUMNS, _REQUIRED_COLUMNS + _SITE_COLUMNS):
            raise FormatProblem(f"columns: '{shorten(' '.join(columns))}' is not known")
        if not headers.events:
            raise FormatProblem("events: is missing")
        objects = ["", *self._names(key_value[1])]
        files = ["", *self._names(self._section("files"))]
        frames, lines = [OTHER], [0]
        for text in self._names(self._section("functions")):
            function, line = _function(text, objects, files)
            frames.append(Frame(Kind.FUNCTION, function))
            lines.append(line)
        functions = len(frames)
        for text in self._names(self._section("roots")):
            frames.append(Frame(Kind.ROOT, Function("", "", _root(text))))
            lines.append(0)
        self._section("nodes")
        nodes = _Nodes(functions, len(frames) - functions, files, columns, len(headers.events))
        self._read_blocks(nodes)
        sums = self._check_end(nodes, headers.events)
        return ContextTree(
            (headers.part(self._source, sums),), headers.events, headers.titles,
            recursion == "folded", tuple(frames), tuple(lines), tuple(nodes.places),
            nodes.parent, nodes.frame, nodes.place, nodes.calls, tuple(nodes.costs),
        )

    def _read_blocks(self, nodes: _Nodes) -> None:
        while count := int.from_bytes(self._bytes(2), "little"):
            nodes.add([self._column(count) for _ in range(nodes.columns)], count)

    def _check_end(self, nodes: _Nodes, events: tuple[str, ...]) -> Row:
        stated = _counts(self._bytes(_COUNT_BYTES * (2 + len(events))))
        if stated[0] != len(nodes.parent):
            raise FormatProblem(f"{stated[0]:,} nodes are stated, but {len(nodes.parent):,} are there")
        nodes.check_roots()
        calls, *sums = (sum(column) for column in (nodes.calls, *nodes.costs))
        for name, total, found in zip(("calls", *events), stated[1:], (calls, *sums)):
            if total != found:
                raise FormatProblem(
                    f"{name} are stated as {total:,}, but the nodes' add up to {found:,}"
                )
        return tuple(sums)

    def _column(self, count: int) -> bytes:
        """One column of a block, widened to 8 bytes per node."""
        form = self._bytes(1)[0]
        if form == 0:
            return bytes(_COUNT_BYTES * count)
        width = form & ~_SPARSE
        if width not in _WIDTHS:
            raise FormatProblem(f"a column has the unknown form {form}")
        if not form & _SPARSE:
            return _widened(self._bytes(width * count), width)
        filled = int.from_bytes(self._bytes(2), "little")
        positions = _narrow(self._bytes(2 * filled), "H")
        values = _counts(_widened(self._bytes(width * filled), width))
        column = array("Q", bytes(_COUNT_BYTES * count))
        before = -1
        for position, value in zip(positions, values):
            if not before < position < count:
                raise FormatProblem("a column names its nodes in no order, or one that is not there")
            before = position
            column[position] = value
        return _little_endian(column)

    def _key_value(self) -> tuple[str, str]:
        key, colon, value = self._line().partition(":")
        if not colon:
            raise FormatProblem("this is not a context tree of bdgrind, or its head is damaged")
        return key, value.strip()

    def _section(self, name: str) -> str:
        key, value = self._key_value()
        if key != name:
            raise FormatProblem(f"'{name}:' is expected, but there is '{shorten(key)}:'")
        return value

    def _names(self, count: str) -> list[str]:
        if not (count.isascii() and count.isdigit() and len(count) < 10):
            raise FormatProblem(f"'{shorten(count)}' is not a number of names")
        return [self._line() for _ in range(int(count))]

    def _line(self) -> str:
        line = self._ahead + self._data.readline(_MAX_NAME_BYTES)
        self._ahead = b""
        if not line.endswith(b"\n"):
            raise FormatProblem("the context tree ends in its head" if len(line) < _MAX_NAME_BYTES
                                else "a line of its head is too long")
        return line[:-1].decode("utf-8", "surrogateescape")

    def _bytes(self, count: int) -> bytes:
        found = self._data.read(count)
        if len(found) < count:
            raise FormatProblem("the context tree is cut off: was the run killed, or the disk full?")
        return found


class _Nodes:
    """What the blocks have brought so far."""

    def __init__(
        self, functions: int, roots: int, files: list[str], columns: tuple[str, ...], width: int
    ) -> None:
        self.columns = len(columns) + width
        self.parent = array("i")
        self.frame = array("I")
        self.place = array("I")
        self.calls = array("Q")
        self.costs = [array("Q") for _ in range(width)]
        self.places: dict[CallPlace, int] = {NOWHERE: 0}
        self._has_places = len(columns) > len(_REQUIRED_COLUMNS)
        self._functions = functions
        self._roots = roots
        self._roots_seen = 0
        self._files = files
        self._path: list[int] = []

    def add(self, columns: list[bytes], count: int) -> None:
        depths, functions = _counts(columns[0]), _counts(columns[1])
        self._add_paths(depths, functions)
        if self._has_places:
            self._add_places(*(_counts(column) for column in columns[3:6]))
        else:
            self.place.frombytes(bytes(count * self.place.itemsize))
        self.calls.extend(_counts(columns[2]))
        for mine, column in zip(self.costs, columns[-len(self.costs):]):
            mine.extend(_counts(column))

    def check_roots(self) -> None:
        if self._roots_seen < self._roots:
            raise FormatProblem(f"{self._roots} roots are named, but {self._roots_seen} are there")

    def _add_paths(self, depths: array[int], functions: array[int]) -> None:
        path, parent, frame = self._path, self.parent, self.frame
        for node, (depth, function) in enumerate(zip(depths, functions), len(parent)):
            if depth > len(path):
                raise FormatProblem(f"node {node} is {depth} deep, below one of {len(path) - 1}")
            del path[depth:]
            if depth:
                if function >= self._functions:
                    raise FormatProblem(f"node {node} is of function {function}, which has no name")
                parent.append(path[-1])
                frame.append(function)
            else:
                if function != self._roots_seen or function >= self._roots:
                    raise FormatProblem(f"node {node} is not root {self._roots_seen}, which is next")
                self._roots_seen += 1
                parent.append(NO_PARENT)
                frame.append(self._functions + function)
            path.append(node)

    def _add_places(self, files: array[int], lines: array[int], addresses: array[int]) -> None:
        for file, line, address in zip(files, lines, addresses):
            if file >= len(self._files):
                raise FormatProblem(f"a call is in file {file}, which has no name")
            place = CallPlace(self._files[file], line, address)
            self.place.append(self.places.setdefault(place, len(self.places)))


def _function(text: str, objects: list[str], files: list[str]) -> tuple[Function, int]:
    words = text.split(" ", 3)
    if len(words) < 4 or not all(word.isascii() and word.isdigit() for word in words[:3]):
        raise FormatProblem(f"'{shorten(text)}' is not object, file, line and name of a function")
    object_number, file, line = (int(word[:10]) for word in words[:3])
    if object_number >= len(objects) or file >= len(files):
        raise FormatProblem(f"'{shorten(text)}' is in an object or file that has no name")
    return Function(objects[object_number], files[file], words[3]), line


def _root(text: str) -> str:
    match text.split(" "):
        case ["thread", thread] if thread.isascii() and thread.isdigit():
            return f"thread {thread}"
        case ["signal", signal, thread] if (signal + thread).isascii() and (
            signal.isdigit() and thread.isdigit()
        ):
            return f"handler of signal {signal} in thread {thread}"
    raise FormatProblem(f"'{shorten(text)}' is not a root")


def _widened(data: bytes, width: int) -> bytes:
    if width == _COUNT_BYTES:
        return data
    result = bytearray(_COUNT_BYTES * (len(data) // width))
    for byte in range(width):
        result[byte::_COUNT_BYTES] = data[byte::width]
    return bytes(result)


def _counts(data: bytes) -> array[int]:
    return _narrow(data, "Q")


def _narrow(data: bytes, code: str) -> array[int]:
    result = array("Q") if code == "Q" else array("H")
    result.frombytes(data)
    if sys.byteorder == "big":
        result.byteswap()
    return result


def _little_endian(column: array[int]) -> bytes:
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()
