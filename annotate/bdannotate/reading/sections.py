# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads files beside a profile that list places in the code and have sections of rows (docs/format.md)."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ..model.errors import FormatProblem, shorten
from ..model.narrow import extended, zeros
from ..model.profile import Function
from ..model.rows import maker
from ..model.why import Instruction, Scope, ScopeKind
from .columns import ColumnReader, named_function
from .headers import Headers

# Far more than bdgrind writes: unless the head states a limit, it writes some hundred thousand rows at most.
MOST_ROWS = 1 << 22
_MOST_COLUMNS = 64
_MOST_DIGITS = 18
# Numbers of places with at most so many characters are short enough to convert unchecked.
_SHORT = 26

_instruction = maker(Instruction)

_Part = TypeVar("_Part")


class Table(NamedTuple):
    """The columns of a section, all of the same length."""

    columns: tuple[array[int], ...]

    @property
    def rows(self) -> Iterator[tuple[int, ...]]:
        return zip(*self.columns)

    @property
    def number(self) -> int:
        """The number of rows."""
        return len(self.columns[0]) if self.columns else 0


class SectionHead(NamedTuple):
    """The head of a part. own: the lines that only this kind of file has. Functions and places are numbered from 1; 0
    stands for none."""

    headers: Headers
    own: dict[str, str]
    functions: list[Function]
    places: list[Instruction | None]
    names: PlaceNames


class SectionReader(ColumnReader[_Part]):
    """sections: the columns of the known sections, by name. optional: columns that are 0 if a file lacks them.
    most_rows: the most rows of a section."""

    sections: Mapping[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()
    has_events = False
    most_rows = MOST_ROWS

    def _places_head(self, own: Container[str]) -> SectionHead:
        """Reads the head up to the list of places. own: the keys that only this kind of file has."""
        headers, texts, objects, files = self._head(own)
        functions = [Function("", "", "")]
        functions += (named_function(text, objects, files)[0] for text in self._names(self._section("functions")))
        names = PlaceNames(files, functions)
        places: list[Instruction | None] = [None]
        places += map(names.place, self._names(self._section("places")))
        return SectionHead(headers, texts, functions, places, names)

    def _sections(self) -> dict[str, Table]:
        """Reads all sections that follow, by name."""
        found: dict[str, Table] = {}
        while section := self._next_section():
            name, table = section
            if name in found:
                raise FormatProblem(f"{name}: appears twice")
            found[name] = table
        return found

    def _next_section(self) -> tuple[str, Table] | None:
        """Reads the name and the known columns of the next section; None at the end of the part: the file ends, or a
        new part begins."""
        if not self._has_more():
            return None
        key, value = self._key_value()
        if key == self.first_line:
            # The next part; it is read again from there.
            self._ahead = f"{key}: {value}\n".encode("utf-8", "surrogateescape")
            return None
        columns = value.split()
        if len(columns) > _MOST_COLUMNS or len(set(columns)) < len(columns):
            raise FormatProblem(f"{shorten(key)}: has too many columns, or one twice")
        wanted = self.sections.get(key, ())
        for name in wanted:
            if name not in columns and name not in self.optional:
                raise FormatProblem(f"{key}: has no column {name}")
        chosen = [columns.index(name) if name in columns else None for name in wanted]
        table = [zeros(0) for _ in chosen]
        number = 0
        while count := self._block():
            number += count
            if number > self.most_rows:
                raise FormatProblem(f"{shorten(key)}: has more than {self.most_rows:,} rows")
            block = [self._column(count) for _ in columns]
            table = [
                extended(known, zeros(count) if index is None else block[index]) for known, index in zip(table, chosen)
            ]
        self._check_sums(f"rows of {shorten(key)}", number, (), ())
        return key, Table(tuple(table))


class PlaceNames:
    """Reads places and scopes from the lists of such a file."""

    def __init__(self, files: list[str], functions: list[Function]) -> None:
        self.files = files
        self._functions = functions

    def place(self, text: str) -> Instruction:
        if len(text) <= _SHORT and text.isascii() and text.replace(" ", "").isdigit():
            try:
                function, file, line, address = map(int, text.split(" "))
                return _instruction((self._functions[function], self.files[file], line, address))
            except (ValueError, IndexError):
                pass
        return self._place(text, text.split(" "))

    def scope(self, text: str) -> Scope:
        match text.split(" "):
            case ["call", function]:
                return Scope(ScopeKind.CALL, self._place(text, [function, "0", "0", "0"]))
            case ["loop", *words]:
                return Scope(ScopeKind.LOOP, self._place(text, words))
        raise FormatProblem(f"'{shorten(text)}' is not a scope")

    def _place(self, text: str, words: Sequence[str]) -> Instruction:
        if len(words) != 4 or not all(
            word.isascii() and word.isdigit() and len(word) <= 20 for word in words
        ):
            raise FormatProblem(f"'{shorten(text)}' is not an instruction's place")
        function, file, line, address = map(int, words)
        if function >= len(self._functions) or file >= len(self.files):
            raise FormatProblem(f"'{shorten(text)}' is in a function or file that has no name")
        return Instruction(self._functions[function], self.files[file], line, address)


def number_of(own: Mapping[str, str], key: str, missing: int | None = None) -> int:
    """The number in a line of the head, above 0. missing: its value if there is no such line. FormatProblem: it is
    none."""
    text = own.get(key, "" if missing is None else str(missing))
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text)):
        raise FormatProblem(f"{key}: '{shorten(text)}' is not a number above 0")
    return int(text)
