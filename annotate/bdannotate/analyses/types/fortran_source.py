# SPDX-License-Identifier: GPL-2.0-or-later
"""The type of the objects that an ALLOCATE statement in a Fortran source allocates.

This is not a compiler: it reads statements of one line, and declarations with `::` in the same file. If these declare
the name with different types, the type is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FILE = re.compile(r"\.(?:f|for|f90|f95|f03|f08)$", re.IGNORECASE)
_ALLOCATE = re.compile(r"\ballocate\s*\((.*)$", re.IGNORECASE)
_TYPE = re.compile(r"\s*type\s*\(\s*(\w+)\s*\)", re.IGNORECASE)
_NAME = re.compile(r"\s*(?:.*%)?\s*(\w+)\s*(?:\(|$)", re.DOTALL)


def is_fortran(file: str) -> bool:
    return _FILE.search(file) is not None


def allocated_type(lines: Sequence[str], line: int) -> tuple[str, str] | None:
    """The name of what a line allocates and its derived type, in lower case as in debug information; None if not known.
    line: its number, from 1."""
    match = _ALLOCATE.search(_without_comment(lines[line - 1]))
    if match is None:
        return None
    inside = _closed(match[1])
    if inside is None:
        return None
    kind, mark, objects = inside.rpartition("::")
    items = [item for item in _items(objects) if "=" not in item]
    names = [found[1].lower() for item in items if (found := _NAME.match(item))]
    if not names or len(names) < len(items):
        return None
    if mark:
        return (names[0], kind.strip().lower()) if kind.strip().isidentifier() else None
    types = {declared for name in names for declared in _declared(lines, name)}
    return (names[0], types.pop()) if len(types) == 1 and "" not in types else None


def _declared(lines: Sequence[str], name: str) -> Iterator[str]:
    """The derived types of all declarations of a name; empty for other types."""
    for line in lines:
        kind, mark, entities = _without_comment(line).partition("::")
        if not mark or _ALLOCATE.search(kind):
            continue
        for item in _items(entities):
            found = re.match(r"\s*(\w+)", item)
            if found and found[1].lower() == name:
                derived = _TYPE.match(kind)
                yield derived[1].lower() if derived else ""


def _without_comment(line: str) -> str:
    return line.partition("!")[0]


def _closed(text: str) -> str | None:
    """The text up to the bracket that closes one opened before it; None if there is none."""
    depth = 1
    for index, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[:index]
    return None


def _items(text: str) -> Iterator[str]:
    """The parts of a list between commas, but for those in brackets."""
    depth = start = 0
    for index, character in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]
