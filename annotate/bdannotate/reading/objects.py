# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the data objects beside a profile (docs/format.md)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import gt, rshift

from ..model.errors import FormatProblem, shorten
from ..model.object_merge import merge
from ..model.objects import (
    VARIABLES, HeapBlocks, ObjectGroup, Identity, ObjectKind, ObjectRow, Objects, Pattern, CodeLine, Site,
)
from ..model.narrow import extended, zeros
from ..model.profile import Function, Row
from ..model.rows import CountRows, Rows
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
    """The path of the file of data objects beside a profile, or None. Both may be compressed."""
    return path_beside(profile, PREFIX)


def read_objects(path: str) -> Objects:
    """The data objects of a file; the sum of its parts, if it has several."""
    return merge(read_parts(path))


def read_parts(path: str) -> list[Objects]:
    """The parts of a file. Groups are those of the file: instructions of the same line have groups of their own."""
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
        # Version 2 has no usual size of blocks.
        numbers = _BLOCK_NUMBERS - (self._version == "2")
        names = _Names(objects, files, functions, numbers)
        groups = [names.group(text) for text in texts]
        rows, sums = self._rows(names, len(groups), headers.events)
        patterns = self._patterns(names, len(groups))
        return Objects(
            (headers.part(self._source, sums),), headers.events,
            tuple(
                replace(group, patterns=patterns[number]) if number in patterns else group
                for number, group in enumerate(groups, 1)
            ),
            rows, _sample(own.get("sample", "1")), (), _number(own, "depth"), _number(own, "whole-to"),
        )

    def _table(self, columns: int) -> list[array[int]]:
        """Reads columns that come in blocks. columns: how many there are."""
        table = [zeros(0) for _ in range(columns)]
        while count := self._block():
            table = [extended(known, self._column(count)) for known in table]
        return table

    def _rows(self, names: _Names, groups: int, events: tuple[str, ...]) -> tuple[Rows[ObjectRow], Row]:
        """The rows and their sums."""
        group, function, file, line, *costs = self._table(_ROW_COLUMNS + len(events))
        names.check(group, groups, function, file)
        rows = CountRows(costs)
        sums = rows.sums()
        self._check_sums("rows", len(group), events, sums)
        functions, files = map(names.functions.__getitem__, function), map(names.files.__getitem__, file)
        return Rows(ObjectRow, ([number - 1 for number in group], [*functions], [*files], line, rows)), sums

    def _patterns(self, names: _Names, groups: int) -> dict[int, Sequence[Pattern]]:
        """The patterns, by the number of their group."""
        group, function, file, line, *columns = self._table(_PATTERN_COLUMNS)
        offset, size, used, times = columns
        names.check(group, groups, function, file)
        if max(size, default=0) > _MOST_BYTES or any(map(rshift, used, size)):
            of, bits = next((of, bits) for of, bits in zip(size, used) if of > _MOST_BYTES or bits >> of)
            raise FormatProblem(f"a pattern of {of} bytes cannot be {bits:#x}")
        self._check_sums("patterns", len(group), (), ())
        # Equal places are one object.
        made = {
            at: CodeLine(names.functions[at[0]], names.files[at[1]], at[2]) for at in set(zip(function, file, line))
        }
        by = [*map(made.__getitem__, zip(function, file, line))]
        if any(map(gt, group, islice(group, 1, None))):
            order = sorted(range(len(group)), key=group.__getitem__)
            group, offset, size, used, times = (
                array(column.typecode, map(column.__getitem__, order)) for column in (group, *columns)
            )
            by = [*map(by.__getitem__, order)]
        whole = Rows(Pattern, (offset, size, used, times, by))
        found: dict[int, Sequence[Pattern]] = {}
        start = 0
        for number, same in groupby(group):
            stop = start + sum(1 for _ in same)
            found[number] = whole[start:stop]
            start = stop
        return found


class _Names:
    def __init__(
        self, objects: list[str], files: list[str], functions: list[Function], block_numbers: int
    ) -> None:
        self._objects = objects
        self._block_numbers = block_numbers
        self.files = files
        self.functions = functions

    def function(self, number: int) -> Function:
        _check_number(number, len(self.functions), "function")
        return self.functions[number]

    def file(self, number: int) -> str:
        if number >= len(self.files):
            raise FormatProblem(f"file {number} has no name")
        return self.files[number]

    def check(self, group: array[int], groups: int, function: array[int], file: array[int]) -> None:
        """FormatProblem if a column has a number without a name. groups: the number of groups."""
        if not group or (
            min(group) > 0 and min(function) > 0 and max(group) <= groups and max(function) < len(self.functions)
            and max(file) < len(self.files)
        ):
            return
        for of, by, source in zip(group, function, file):
            _check_number(of, groups + 1, "group")
            self.function(by)
            self.file(source)

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
    """The numbers at the beginning of a text, and the rest. count: how many; line: the whole line, for messages."""
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
