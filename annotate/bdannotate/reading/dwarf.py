# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information as units and the entries in them, from pyelftools: DWARF 2 to 5.

Files may be a stranger's: pyelftools raises whatever it stumbles over, and all walks here go
forward. It is slow, so what stands somewhere in a unit is looked for in the unit's bytes first.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ..model.errors import UserError

# Debug information has loops where it is wrong.
MOST_STEPS = 64
UNIT_TYPES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
NAMED_TYPES = (*UNIT_TYPES, "DW_TAG_typedef", "DW_TAG_base_type", "DW_TAG_enumeration_type")
# The scopes of libraries are large, and looked into only for their own types.
_LIBRARIES = ("std::", "__gnu_cxx::")
_RUST_LIBRARIES = ("std::", "core::", "alloc::", "hashbrown::")
_CPP = (0x04, 0x1A, 0x21, 0x2B)  # C++ of any year, as DW_AT_language has it
_RUST = 0x1C
_SCOPES = (*UNIT_TYPES, "DW_TAG_namespace")
_MOST_ENTRIES = 3_000_000
# The others have longer heads, which pyelftools does not know.
_WHOLE_UNITS = (None, 1, 3, "DW_UT_compile", "DW_UT_partial")


class _Attribute(Protocol):
    form: str
    value: object
    raw_value: object


class Entry(Protocol):
    """As pyelftools has them: a debugging information entry."""

    tag: str
    offset: int
    size: int
    has_children: bool
    attributes: Mapping[str, _Attribute]
    cu: Unit
    stream: _Stream

    def is_null(self) -> bool: ...
    def get_DIE_from_attribute(self, name: str) -> Entry: ...  # noqa: N802


class Unit(Protocol):
    header: Mapping[str, object]
    cu_offset: int
    size: int

    def __getitem__(self, name: str) -> int: ...
    def get_top_DIE(self) -> Entry: ...  # noqa: N802


class _Stream(Protocol):
    def seek(self, offset: int) -> int: ...
    def read(self) -> bytes: ...


class _Section(Protocol):
    stream: _Stream


class Dwarf(Protocol):
    debug_info_sec: _Section | None
    debug_str_sec: _Section | None
    debug_str_offsets_sec: _Section | None
    debug_addr_sec: _Section | None

    def iter_CUs(self) -> Iterator[Unit]: ...  # noqa: N802
    def get_addr(self, cu: Unit, index: int) -> int: ...


class Units:
    """The units of one file, without those that have types only, or refer to a .dwo file."""

    def __init__(self, dwarf: Dwarf) -> None:
        units = list(dwarf.iter_CUs())
        # Of those without a type, DWARF 4 and before, nobody knows yet.
        self._units = [unit for unit in units if unit.header.get("unit_type") in _WHOLE_UNITS]
        self._info = section_bytes(dwarf.debug_info_sec)
        self._entry_class = importlib.import_module("elftools.dwarf.die").DIE
        self._entries = 0
        self._scopes: dict[int, str] = {}  # of types that a walk has come by, by offset
        self.is_split = len(self._units) < len(units) or any(
            not top.has_children and any(name.endswith("dwo_name") for name in top.attributes)
            for top in (unit.get_top_DIE() for unit in self._units)
        )

    def __iter__(self) -> Iterator[Unit]:
        return iter(self._units)

    def raw(self, unit: Unit) -> bytes:
        return self._info[unit.cu_offset : unit.cu_offset + unit.size]

    def _entry(self, unit: Unit, offset: int) -> Entry:
        """Without pyelftools keeping it, as it would for the whole file."""
        entry: Entry = self._entry_class(unit, unit.get_top_DIE().stream, offset)
        return entry

    def children(self, entry: Entry) -> Iterator[Entry]:
        if not entry.has_children:
            return
        unit = entry.cu
        end = unit.cu_offset + unit.size
        at, depth = entry.offset + entry.size, 1
        while at < end:
            child = self._entry(unit, at)
            self._entries += 1
            if self._entries > _MOST_ENTRIES:
                raise UserError("its debug information is too large")
            at += child.size
            if child.is_null():
                depth -= 1
                if depth == 0:
                    return
                continue
            if depth == 1:
                yield child
            if child.has_children:
                sibling = child.attributes.get("DW_AT_sibling")
                behind = unit.cu_offset + integer(sibling.raw_value) if sibling else 0
                if behind > at:
                    at = behind
                else:
                    depth += 1

    def walk(
        self, entry: Entry, scope: str, everywhere: bool, skipped: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
    ) -> Iterator[tuple[Entry, str]]:
        """All entries below, with the scope that they stand in; those in functions only if so
        asked. skipped: scopes that are not looked into; only: the outermost that are, if any."""
        for child in self.children(entry):
            if child.tag in NAMED_TYPES:
                self._scopes[child.offset] = scope
            yield child, scope
            if child.tag in _SCOPES:
                name = name_of(child)
                inner = f"{scope}{name}::" if name else scope
                is_other = bool(only) and not scope and inner not in only
                if inner not in skipped and not is_other:
                    yield from self.walk(child, inner, everywhere, skipped)
            elif everywhere and child.tag in ("DW_TAG_subprogram", "DW_TAG_lexical_block"):
                yield from self.walk(child, scope, everywhere)

    def qualified_name(self, entry: Entry) -> str:
        """With the scopes around it, as far as a walk has come by them; empty if it has none."""
        own = name_of(entry)
        return f"{self._scopes.get(entry.offset, '')}{own}" if own else ""


def language_of(top: Entry) -> object:
    """Of a unit, by its first entry."""
    found = top.attributes.get("DW_AT_language")
    return found.value if found is not None else None


def is_cpp(top: Entry) -> bool:
    return language_of(top) in _CPP


def libraries(top: Entry) -> tuple[str, ...]:
    return _RUST_LIBRARIES if language_of(top) == _RUST else _LIBRARIES


def section_bytes(section: _Section | None) -> bytes:
    if section is None:
        return b""
    section.stream.seek(0)
    return section.stream.read()


def follow(entry: Entry) -> Entry | None:
    """To its type, if it has one."""
    return entry.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in entry.attributes else None


def name_of(entry: Entry) -> str:
    """Its own; empty if it has none."""
    found = entry.attributes.get("DW_AT_name")
    if found is None or not isinstance(found.value, bytes):
        return ""
    return found.value.decode("utf-8", "surrogateescape")


def integer(value: object) -> int:
    if not isinstance(value, int):
        raise UserError("a number is none")
    return value


def uleb(operands: Sequence[int]) -> int:
    number = 0
    for index, byte in enumerate(operands):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return number
