# SPDX-License-Identifier: GPL-2.0-or-later
"""The type that a source line allocates, by its text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...model.data_types import PointerName
from ...model.errors import shorten
from ...model.frames import Position
from ..code.source_text import SourceText, read_source
from .fortran_source import allocated_type, is_fortran

_NAME = r"(?:(?:struct|class|union)\s+)?[A-Za-z_][\w:]*(?:<[^;(){}]*>)?[\s*]*"
_SIZEOF = re.compile(rf"\bsizeof\s*\(\s*({_NAME})\)")
# A variable, or a member of one: `s`, `s->p`, `s.p->q`. If an operator follows, it is part of the operand of sizeof.
_POINTER = r"([A-Za-z_]\w*(?:\s*(?:->|\.)\s*[A-Za-z_]\w*)*)"
_SIZEOF_POINTEE = re.compile(
    rf"\bsizeof\b\s*(?:\*\s*{_POINTER}|\(\s*\*\s*{_POINTER}\s*\)"
    rf"|\(\s*{_POINTER}\s*\[\s*0\s*\]\s*\))(?!\w|\s*(?:->|[.\[(]))"
)
_NEW = re.compile(rf"\bnew\s+({_NAME})(\[|[({{;,)]|$)")
_NO_CODE = re.compile(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?(?:\*/|$)')
# A call extends to its closing bracket. Longer ones than this contain more than a size.
_MOST_LINES = 8


class Guess(NamedTuple):
    """A type that heap blocks may have."""

    name: str
    reason: str
    is_single: bool = False  # whether a block has one element
    pointer: PointerName | None = None  # if set, the type is what this variable points to; name is for messages only


def guesses_by_source(position: Position, sources: Sources, with_new: bool) -> list[Guess]:
    """The type that the statement at a position allocates; empty if it names several types, as it is not known which
    call is meant. with_new: whether `new` counts, not only `sizeof`."""
    if is_fortran(position.file):
        return list(_by_fortran(position, sources))
    found, others = _in_statement(position, sources, with_new)
    return found if not others and len({guess.name for guess in found}) == 1 else []


def why_no_guess(position: Position, sources: Sources) -> str:
    """Why guesses_by_source() finds no type at a position, as the end of a sentence."""
    where = _where(position)
    if not position.line:
        return f"{shorten(position.function)} has no source lines (compile with -g)"
    problem = sources.problem(position.file)
    if problem:
        return f"the source {where}: {problem}"
    if is_fortran(position.file):
        return f"{where} does not allocate a type that this file declares"
    found, others = _in_statement(position, sources, True)
    names = list(dict.fromkeys(shorten(guess.name) for guess in found))
    if len(names) > 1:
        return f"{where} names several types: {', '.join(names)}"
    if others:
        return f"{where} has a sizeof that is neither of a type nor of what a variable points to"
    return f"{where} has neither new T nor sizeof(T)"


def _in_statement(position: Position, sources: Sources, with_new: bool) -> tuple[list[Guess], int]:
    """The types that a statement names, and how many of its `sizeof` are of something else."""
    text = _statement(sources.lines(position.file), position.line)
    where = _where(position)
    sizes = list(_SIZEOF.finditer(text))
    found = [Guess(_tidy(one[1]), f"{where} says {shorten(one[0])}") for one in sizes]
    pointees = list(_SIZEOF_POINTEE.finditer(text))
    for match in pointees:
        variable = "".join((match[1] or match[2] or match[3]).split())
        reason = f"{where} says {shorten(' '.join(match[0].split()))}, and {shorten(variable)} is declared so"
        name, *members = re.split(r"->|\.", variable)
        pointer = PointerName(position.function, name, tuple(members))
        found.append(Guess(f"*{variable}", reason, pointer=pointer))
    for match in _NEW.finditer(text) if with_new else ():
        name, is_array = _tidy(match[1]), match[2] == "["
        reason = f"{where} says new {shorten(name)}{'[]' if is_array else ''}"
        found.append(Guess(name, reason, not is_array))
    return found, len(re.findall(r"\bsizeof\b", text)) - len(sizes) - len(pointees)


def _statement(lines: Sequence[str], line: int) -> str:
    """The text of a line and those behind it until all of its brackets are closed, without comments and strings. Lines
    count from 1; empty for line 0."""
    text = ""
    for more in lines[line - 1 : line - 1 + _MOST_LINES] if line else ():
        text = f"{text} {_NO_CODE.sub(' ', more)}"
        if text.count("(") <= text.count(")"):
            break
    return text.strip()


def _where(position: Position) -> str:
    return f"{os.path.basename(position.file)}:{position.line}"


def _by_fortran(position: Position, sources: Sources) -> Iterator[Guess]:
    lines = sources.lines(position.file)
    found = allocated_type(lines, position.line) if 0 < position.line <= len(lines) else None
    if found is not None:
        where = _where(position)
        yield Guess(found[1], f"{where} allocates {shorten(found[0])}, type({shorten(found[1])})")


def _tidy(name: str) -> str:
    return re.sub(r"\s+(?=\*)", "", name.strip())


class Sources:
    """The source files that were read, each once. include: the folders to search them in."""

    def __init__(self, include: Sequence[str]) -> None:
        self._include = include
        self._known: dict[str, SourceText | str] = {}

    def lines(self, file: str) -> Sequence[str]:
        """The lines of a file; empty if it cannot be read."""
        found = self._text(file)
        return () if isinstance(found, str) else found.lines

    def problem(self, file: str) -> str:
        """Why a file cannot be read; empty if it can."""
        found = self._text(file)
        return found if isinstance(found, str) else ""

    def _text(self, file: str) -> SourceText | str:
        if not file:
            return "not found"
        if file not in self._known:
            self._known[file] = read_source(file, self._include)
        return self._known[file]
