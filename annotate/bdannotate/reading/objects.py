# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the data objects beside a profile: docs/format.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..model.errors import FormatProblem, shorten
from ..model.objects import (
    VARIABLES, HeapBlocks, ObjectGroup, Identity, ObjectKind, ObjectRow, Objects, Pattern, CodeLine, Site, merge,
)
from ..model.profile import Function, sum_rows
from .columns import ColumnReader, named_function, path_beside
from .demangle import demangled

PREFIX = "objects."

_BLOCK_NUMBERS = len(HeapBlocks._fields)
_ROW_COLUMNS = 4  # before the events: group, function, file, line
_PATTERN_COLUMNS = 8  # group, function, file, line, offset, bytes, used, count
_MOST_BYTES = 64
_MOST_DIGITS = 9
_MOST_PLACES = 64  # what --objects-depth allows
_PLACE_WORDS = 4  # function, file, line, address


def objects_path(profile: str) -> str | None:
    """The file of objects beside a profile, if there is one; either may be compressed."""
    return path_beside(profile, PREFIX)


def read_objects(path: str) -> Objects:
    """Those of a file; of several parts, one behind the other, their sum."""
    return merge(read_parts(path))


def read_parts(path: str) -> list[Objects]:
    """Each with the groups as the file has them: those of different instructions in one line apart."""
    parts = _Reader.read(path)
    known = demangled(
        group.identity.name for part in parts for group in part.groups
        if group.identity.kind in VARIABLES
    )
    return [
        replace(part, groups=tuple(_renamed(group, known) for group in part.groups))
        for part in parts
    ] if known else parts


def _renamed(group: ObjectGroup, known: Mapping[str, str]) -> ObjectGroup:
    identity = group.identity
    if identity.kind not in VARIABLES or identity.name not in known:
        return group
    name = known[identity.name]
    return replace(group, identity=identity._replace(name=name, symbol=identity.name))


def _sample(text: str) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise FormatProblem(f"sample: '{shorten(text)}' is not a number of lines")
    return int(text)


def _number(own: Mapping[str, str], key: str) -> int:
    text = own.get(key, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise FormatProblem(f"{key}: '{shorten(text)}' is not a number")
    return int(text)


class _Reader(ColumnReader[Objects]):
    what = "a file of data objects"
    plural = "data objects"
    first_line = "data-objects"
    versions = ("2", "3")

    def _part(self) -> Objects:
        headers, own, objects, files = self._head(("depth", "whole-to", "sample"))
        functions = [Function("", "", "")]
        for text in self._names(self._section("functions")):
            functions.append(named_function(text, objects, files)[0])
        texts = self._names(self._section("groups"))
        self._section("rows")
        # Version 2 did not say which size is usual.
        numbers = _BLOCK_NUMBERS - (self._version == "2")
        names = _Names(objects, files, functions, numbers)
        groups = [names.group(text) for text in texts]
        rows = self._rows(names, len(groups), len(headers.events))
        sums = sum_rows((row.cost for row in rows), len(headers.events))
        self._check_sums("rows", len(rows), headers.events, sums)
        patterns = self._patterns(names, len(groups))
        return Objects(
            (headers.part(self._source, sums),), headers.events,
            tuple(
                replace(group, patterns=tuple(patterns.get(number, ())))
                for number, group in enumerate(groups)
            ),
            tuple(rows),
            _sample(own.get("sample", "1")), (), _number(own, "depth"), _number(own, "whole-to"),
        )

    def _table(self, columns: int) -> list[tuple[int, ...]]:
        """All rows of some columns that come in blocks."""
        rows: list[tuple[int, ...]] = []
        while count := self._block():
            rows += zip(*(self._column(count) for _ in range(columns)))
        return rows

    def _rows(self, names: _Names, groups: int, events: int) -> list[ObjectRow]:
        rows: list[ObjectRow] = []
        for group, function, file, line, *cost in self._table(_ROW_COLUMNS + events):
            _check_number(group, groups + 1, "group")
            rows.append(ObjectRow(
                group - 1, names.function(function), names.file(file), line, tuple(cost)
            ))
        return rows

    def _patterns(self, names: _Names, groups: int) -> dict[int, list[Pattern]]:
        found: dict[int, list[Pattern]] = {}
        places: dict[tuple[int, int, int], CodeLine] = {}
        patterns = self._table(_PATTERN_COLUMNS)
        for group, function, file, line, offset, size, used, count in patterns:
            _check_number(group, groups + 1, "group")
            place = places.get((function, file, line))
            if place is None:
                place = CodeLine(names.function(function), names.file(file), line)
                places[function, file, line] = place
            if size > _MOST_BYTES or used >> size:
                raise FormatProblem(f"a pattern of {size} bytes cannot be {used:#x}")
            known = found.setdefault(group - 1, [])
            known.append(Pattern(offset, size, used, count, place))
        self._check_sums("patterns", len(patterns), (), ())
        return found


class _Names:
    def __init__(
        self, objects: list[str], files: list[str], functions: list[Function], block_numbers: int
    ) -> None:
        self._objects = objects
        self._block_numbers = block_numbers
        self._files = files
        self._functions = functions

    def function(self, number: int) -> Function:
        _check_number(number, len(self._functions), "function")
        return self._functions[number]

    def file(self, number: int) -> str:
        if number >= len(self._files):
            raise FormatProblem(f"file {number} has no name")
        return self._files[number]

    def object(self, number: int) -> str:
        if number >= len(self._objects):
            raise FormatProblem(f"object {number} has no name")
        return self._objects[number]

    def group(self, text: str) -> ObjectGroup:
        word, _, rest = text.partition(" ")
        try:
            kind = ObjectKind(word)
        except ValueError:
            raise FormatProblem(f"'{shorten(word)}' is not a kind of object") from None
        if kind in (ObjectKind.CODE, ObjectKind.FILE):
            (module,), rest = _numbers(rest, 1, text)
            return ObjectGroup(Identity(kind, object=self.object(module)))
        if kind in VARIABLES:
            (module, size), name = _numbers(rest, 2, text)
            return ObjectGroup(Identity(kind, name, self.object(module), size))
        if kind is ObjectKind.STACK:
            return ObjectGroup(Identity(kind, function=self._plain_function(rest, text)))
        blocks = None
        sites: list[Site] = []
        if kind is ObjectKind.HEAP:
            numbers, rest = _numbers(rest, self._block_numbers, text)
            blocks = HeapBlocks(*numbers)
        if kind in (ObjectKind.HEAP, ObjectKind.MAPPING):
            (count,), rest = _numbers(rest, 1, text)
            if count > _MOST_PLACES:
                raise FormatProblem(f"'{shorten(text)}' is not a group of objects: --objects-depth is less")
            for _ in range(count):
                (function, file, line, address), rest = _numbers(rest, _PLACE_WORDS, text)
                sites.append(Site(self.function(function), self.file(file), line, address))
        allocator = self._plain_function(rest, text) if rest else None
        places = tuple(CodeLine(site.function, site.file, site.line) for site in sites)
        identity = Identity(kind, function=allocator, places=places)
        return ObjectGroup(identity, blocks, sites=(tuple(sites),) if sites else ())

    def _plain_function(self, text: str, line: str) -> Function:
        (module, file), name = _numbers(text, 2, line)
        return Function(self.object(module), self.file(file), name)


def _numbers(text: str, count: int, line: str) -> tuple[list[int], str]:
    """So many numbers that a text begins with, and the rest."""
    words = text.split(" ", count)
    found = words[:count]
    if len(found) < count or not all(
        word.isascii() and word.isdigit() and len(word) <= 20 for word in found
    ):
        raise FormatProblem(f"'{shorten(line)}' is not a group of objects")
    return [int(word) for word in found], words[count] if len(words) > count else ""


def _check_number(number: int, limit: int, what: str) -> None:
    if not 0 < number < limit:
        raise FormatProblem(f"{what} {number} has no name")
