# SPDX-License-Identifier: GPL-2.0-or-later
"""Units and entries of debug information (DWARF 2 to 5), as pyelftools reads them.

Files cannot be trusted: pyelftools raises any exception for damaged ones, and all walks here go forward only, so that
they end. As pyelftools is slow, the bytes of a unit are searched before its entries are read.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from ..model.errors import UserError
from ..model.data_types import CPP_LIBRARIES

# Damaged debug information may have loops.
MOST_STEPS = 64
UNIT_TYPES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
NAMED_TYPES = (*UNIT_TYPES, "DW_TAG_typedef", "DW_TAG_base_type", "DW_TAG_enumeration_type")
# The scopes of libraries are large: they are read only to find types of the libraries.
_RUST_LIBRARIES = ("std::", "core::", "alloc::", "hashbrown::")
_CPP = (0x04, 0x1A, 0x21, 0x2B)  # DW_AT_language for the versions of C++
_RUST = 0x1C
# Ada, Cobol, Fortran, Pascal, Modula-2 and PL/I, whose arrays begin with 1 by default.
_FROM_ONE = (
    0x03, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0D, 0x0E, 0x0F, 0x22, 0x23, 0x2D, 0x2E, 0x2F,
)
_SCOPES = (*UNIT_TYPES, "DW_TAG_namespace", "DW_TAG_module")
_MOST_ENTRIES = 3_000_000
_ENTRY_BYTES = 256  # a text or block of this size takes as long to read as an entry
_MOST_UNITS = 1 << 15
MOST_NAME = 1 << 14  # characters; longer names are cut
_MOST_SCOPES = 64  # scopes within each other
_MOST_ULEB_BYTES = 10
# The kinds of units, by the numbers of DWARF 5 and the names of pyelftools.
_TYPE_UNITS = (2, 6, "DW_UT_type", "DW_UT_split_type")
_SKELETONS = (4, "DW_UT_skeleton")
_GNU_DWO_ID = b"\xb1\x42"  # the attribute's number, as tables of abbreviations have it
_SPLIT_UNITS = (5, 6, "DW_UT_split_compile", "DW_UT_split_type")
_ID_BYTES = 8
_LARGE_LENGTH = b"\xff\xff\xff\xff"  # the first bytes of a unit of 64-bit DWARF


class _Attribute(Protocol):
    form: str
    value: object
    raw_value: object

    def _replace(self, **changes: object) -> _Attribute: ...


class DebugEntry(Protocol):
    """A debugging information entry of pyelftools."""

    tag: str
    offset: int
    size: int
    has_children: bool
    attributes: dict[str, _Attribute]
    cu: Unit
    stream: _Stream

    def is_null(self) -> bool: ...
    def get_DIE_from_attribute(self, name: str) -> DebugEntry: ...  # noqa: N802


class _Structs(Protocol):
    Dwarf_dw_form: dict[str, object]

    def Dwarf_uleb128(self, name: str) -> object: ...  # noqa: N802


class Unit(Protocol):
    header: Mapping[str, object]
    cu_offset: int
    cu_die_offset: int
    size: int
    structs: _Structs
    dwarfinfo: Dwarf

    def __getitem__(self, name: str) -> int: ...
    def get_top_DIE(self) -> DebugEntry: ...  # noqa: N802


class _Stream(Protocol):
    def seek(self, offset: int) -> int: ...
    def read(self) -> bytes: ...


class _Section(Protocol):
    stream: _Stream


class Dwarf(Protocol):
    debug_info_sec: _Section | None
    debug_abbrev_sec: _Section | None
    debug_str_sec: _Section | None
    debug_str_offsets_sec: _Section | None
    debug_addr_sec: _Section | None

    def iter_CUs(self) -> Iterator[Unit]: ...  # noqa: N802
    def get_addr(self, cu: Unit, index: int) -> int: ...


class Source:
    """The sections of a file that refer to each other."""

    def __init__(self, dwarf: Dwarf, signatures: dict[int, tuple[Unit, int]]) -> None:
        self.strings = section_bytes(dwarf.debug_str_sec)
        self.string_offsets = section_bytes(dwarf.debug_str_offsets_sec)
        self.addresses = section_bytes(dwarf.debug_addr_sec)
        self.info = section_bytes(dwarf.debug_info_sec)
        # Whether units may be skeletons of GNU, before DWARF 5.
        self.may_have_skeletons = _GNU_DWO_ID in section_bytes(dwarf.debug_abbrev_sec)
        self.scopes: dict[int, str] = {}  # the scopes of the types that walks have met, by offset
        self.walked: set[int] = set()  # the offsets of the units that walks have read
        self.signatures = signatures  # type units by signature, and the offset of the type in each

    def raw(self, unit: Unit) -> bytes:
        return self.info[unit.cu_offset : unit.cu_offset + unit.size]


class Units:
    """The units of one file. types: the section of type units of DWARF 4. split: opens the .dwo file of a unit, given
    its first entry."""

    def __init__(
        self, dwarf: Dwarf, types: Dwarf | None, split: Callable[[DebugEntry], Dwarf]
    ) -> None:
        self._entry_class = importlib.import_module("elftools.dwarf.die").DIE
        self._error_class = importlib.import_module("elftools.common.exceptions").DWARFError
        _share_structs()
        self._entries = self._units = 0
        # Weak, as there may be thousands of .dwo files.
        self._sources: weakref.WeakKeyDictionary[Dwarf, Source] = weakref.WeakKeyDictionary()
        self._split = split
        self._whole: list[Unit] = []
        self._skeletons: list[Unit] = []
        signatures: dict[int, tuple[Unit, int]] = {}
        for one in (dwarf, types) if types is not None else (dwarf,):
            for unit in self._read(one, one is types, signatures):
                (self._skeletons if self._is_skeleton(unit) else self._whole).append(unit)
        self.problem = ""  # why some units cannot be read

    def _read(
        self, dwarf: Dwarf, only_types: bool, signatures: dict[int, tuple[Unit, int]]
    ) -> list[Unit]:
        """Reads units and corrects where their entries begin: pyelftools does not know the longer heads."""
        source = self._sources[dwarf] = Source(dwarf, signatures)
        units: list[Unit] = []
        for unit in dwarf.iter_CUs():
            self._units += 1
            if self._units > _MOST_UNITS:
                raise UserError("its debug information has too many units")
            units.append(unit)
            raw = source.raw(unit)
            kind = unit.header.get("unit_type")
            offset_bytes, start = (8, 12) if raw.startswith(_LARGE_LENGTH) else (4, 4)
            # Version, kind, size of addresses, and offset of abbreviations.
            start += 3 + offset_bytes + (1 if unit["version"] >= 5 else 0)
            if only_types or kind in _TYPE_UNITS:
                behind = start + _ID_BYTES
                signature = int.from_bytes(raw[start:behind], "little")
                at = int.from_bytes(raw[behind : behind + offset_bytes], "little")
                signatures[signature] = unit, at
                start = behind + offset_bytes
            elif kind in (*_SKELETONS, *_SPLIT_UNITS):
                start += _ID_BYTES
            unit.cu_die_offset = unit.cu_offset + start
            # The form of GCC's names in .dwo files; pyelftools knows the other forms.
            unit.structs.Dwarf_dw_form.setdefault("DW_FORM_strx", unit.structs.Dwarf_uleb128(""))
        return units

    def __iter__(self) -> Iterator[Unit]:
        yield from self._whole
        for skeleton in self._skeletons:
            yield from self._opened(skeleton)

    def _is_skeleton(self, unit: Unit) -> bool:
        if unit.header.get("unit_type") in _SKELETONS:
            return True
        if not self.source(unit).may_have_skeletons:
            return False
        top = unit.get_top_DIE()  # which reads a table of abbreviations: most of the time for files of many units
        return not top.has_children and "DW_AT_GNU_dwo_id" in top.attributes

    def at(self, addresses: Sequence[bytes], operations: Sequence[bytes]) -> Iterator[Unit]:
        """The units that may have a variable at one of these addresses: one of these operations occurs in their bytes,
        or one of the addresses in their part of the table of addresses."""
        for unit in self._whole:
            raw = self.source(unit).raw(unit)
            if any(one in raw for one in operations) or self._has_any(addresses, unit):
                yield unit
        for skeleton in self._skeletons:
            if self._has_any(addresses, skeleton):
                yield from self._opened(skeleton)

    def _has_any(self, addresses: Sequence[bytes], unit: Unit) -> bool:
        table = self._addresses(unit)
        return any(address in table for address in addresses)

    def _addresses(self, unit: Unit) -> bytes:
        return _part(unit, "DW_AT_addr_base", self.source(unit).addresses) or b""

    def string_offsets(self, unit: Unit) -> bytes:
        """The unit's part of the table of offsets of strings; the whole table if that part is not known."""
        table = self.source(unit).string_offsets
        return _part(unit, "DW_AT_str_offsets_base", table) or table

    def _opened(self, skeleton: Unit) -> list[Unit]:
        top = skeleton.get_top_DIE()
        try:
            dwarf = self._split(top)
        except UserError as error:
            self.problem = self.problem or str(error)
            return []
        units = self._read(dwarf, False, {})
        head = slice(skeleton.cu_die_offset - skeleton.cu_offset - _ID_BYTES, None)
        wanted = self.source(skeleton).raw(skeleton)[head][:_ID_BYTES]
        for unit in units:
            raw = self.source(unit).raw(unit)
            here = raw[unit.cu_die_offset - unit.cu_offset - _ID_BYTES :][:_ID_BYTES]
            if unit.header.get("unit_type") not in _TYPE_UNITS and here != wanted:
                self.problem = self.problem or "its .dwo files are from another build"
                return []
            self._add_bases(unit, top, 8 if raw.startswith(_LARGE_LENGTH) else 0)
        return units

    def _add_bases(self, unit: Unit, skeleton: DebugEntry, more: int) -> None:
        """Adds the attributes in which pyelftools looks for tables. A .dwo file has one of each, behind a head; the
        skeleton says where addresses are."""
        try:
            unit.get_top_DIE()
        except self._error_class:
            pass  # its names need what is added here
        attributes = unit.get_top_DIE().attributes
        some = next(iter(attributes.values()), None)
        if some is None:
            return
        bases: dict[str, object] = {
            "DW_AT_str_offsets_base": 8 + more, "DW_AT_loclists_base": 12 + more,
            "DW_AT_rnglists_base": 12 + more,
        }
        address = skeleton.attributes.get("DW_AT_addr_base")
        if address is not None:
            bases["DW_AT_addr_base"] = address.value
        for name, value in bases.items():
            attributes[name] = some._replace(
                name=name, form="DW_FORM_sec_offset", value=value, raw_value=value
            )

    def source(self, unit: Unit) -> Source:
        return self._sources[unit.dwarfinfo]

    def follow(self, entry: DebugEntry, name: str = "DW_AT_type") -> DebugEntry | None:
        """The type of an entry, or the entry that another attribute refers to; None without this attribute."""
        attribute = entry.attributes.get(name)
        if attribute is None:
            return None
        self._spend(1)
        if attribute.form == "DW_FORM_ref_sig8":
            return self._of_signature(entry.cu, integer(attribute.raw_value))
        target = entry.get_DIE_from_attribute(name)
        signature = target.attributes.get("DW_AT_signature")
        if signature is None:
            return target
        return self._of_signature(entry.cu, integer(signature.raw_value)) or target

    def _of_signature(self, unit: Unit, signature: int) -> DebugEntry | None:
        found, at = self.source(unit).signatures.get(signature, (None, 0))
        if found is None:
            return None
        offset = found.cu_offset + at
        if offset not in self.source(found).scopes:
            for _ in self.walk(found.get_top_DIE(), "", False):
                pass
        return self._entry(found, offset)

    def _entry(self, unit: Unit, offset: int) -> DebugEntry:
        """Reads an entry. pyelftools itself would keep all entries of the file in memory."""
        entry: DebugEntry = self._entry_class(unit, unit.get_top_DIE().stream, offset)
        return entry

    def _spend(self, entries: int) -> None:
        self._entries += entries
        if self._entries > _MOST_ENTRIES:
            raise UserError("its debug information is too large")

    def children(self, entry: DebugEntry) -> Iterator[DebugEntry]:
        if not entry.has_children:
            return
        unit = entry.cu
        end = unit.cu_offset + unit.size
        at, depth = entry.offset + entry.size, 1
        while at < end:
            child = self._entry(unit, at)
            texts = sum(
                len(one.value) for one in child.attributes.values() if isinstance(one.value, bytes | list)
            )
            self._spend(1 + (texts + child.size) // _ENTRY_BYTES)
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
        self, entry: DebugEntry, scope: str, everywhere: bool, skipped: tuple[str, ...] = (),
        only: tuple[str, ...] = (), depth: int = 0,
    ) -> Iterator[tuple[DebugEntry, str]]:
        """Yields all entries below one, with their scopes. everywhere: also those in functions. skipped: scopes that
        are not read; only: if not empty, the only outermost scopes that are. Scopes within too many others are left
        out."""
        if depth > _MOST_SCOPES:
            return
        scopes = self.source(entry.cu).scopes
        self.source(entry.cu).walked.add(entry.cu.cu_offset)
        for child in self.children(entry):
            here = scope
            declared = child.attributes.get("DW_AT_specification")
            if declared is not None and child.tag in UNIT_TYPES:
                # It is defined outside of its scope, as in GCC's type units.
                offset = child.cu.cu_offset + integer(declared.raw_value)
                if offset not in scopes:  # its scope was not read
                    continue
                here = scopes[offset]
            if child.tag in NAMED_TYPES:
                scopes[child.offset] = here
            yield child, here
            if child.tag in _SCOPES:
                name = name_of(child)
                inner = f"{here}{name}::"[-MOST_NAME:] if name else here
                is_other = bool(only) and not here and inner not in only
                if inner not in skipped and not is_other:
                    yield from self.walk(child, inner, everywhere, skipped, (), depth + 1)
            elif everywhere and child.tag in ("DW_TAG_subprogram", "DW_TAG_lexical_block"):
                yield from self.walk(child, scope, everywhere, (), (), depth + 1)

    def qualified_name(self, entry: DebugEntry) -> str:
        """The name with the scopes around it, if a walk has met it; empty if it has no name. Of a unit that no walk has
        begun with, the scopes that are no library's are read."""
        own = name_of(entry)
        if not own:
            return ""
        source = self.source(entry.cu)
        if entry.offset not in source.scopes and entry.cu.cu_offset not in source.walked:
            top = entry.cu.get_top_DIE()
            for _ in self.walk(top, "", False, libraries(top)):
                pass
        return f"{source.scopes.get(entry.offset, '')}{own}"


def _part(unit: Unit, base: str, table: bytes) -> bytes | None:
    """A unit's part of a table of DWARF 5, in which an attribute says where that begins; None if it is not known."""
    start = unit.get_top_DIE().attributes.get(base) if table else None
    if start is None:
        return None
    at = integer(start.value)
    # In 32-bit DWARF, the part begins with its length, not counting itself, and 4 more bytes.
    length = int.from_bytes(table[max(at - 8, 0) : max(at - 4, 0)], "little")
    return table[at : at + length - 4] if length > 4 else None


def _share_structs() -> None:
    """Have pyelftools make the parsers of a kind of unit once, not twice for each unit (before its version 0.31)."""
    module = importlib.import_module("elftools.dwarf.dwarfinfo")
    if not hasattr(module.DWARFStructs, "cache_info"):
        setattr(module, "DWARFStructs", functools.lru_cache(maxsize=64)(module.DWARFStructs))


def language_of(top: DebugEntry) -> object:
    """The language of a unit, from its first entry; None if it states none."""
    found = top.attributes.get("DW_AT_language")
    return found.value if found is not None else None


def is_cpp(top: DebugEntry) -> bool:
    return language_of(top) in _CPP


def first_index(top: DebugEntry) -> int:
    """The first index of arrays in the language of a unit, given its first entry."""
    return 1 if language_of(top) in _FROM_ONE else 0


def libraries(top: DebugEntry) -> tuple[str, ...]:
    return _RUST_LIBRARIES if language_of(top) == _RUST else CPP_LIBRARIES


def section_bytes(section: _Section | None) -> bytes:
    if section is None:
        return b""
    section.stream.seek(0)
    return section.stream.read()


def name_of(entry: DebugEntry) -> str:
    """The name of an entry without scopes; empty if it has none."""
    found = entry.attributes.get("DW_AT_name")
    if found is None or not isinstance(found.value, bytes):
        return ""
    return as_name(found.value)


def as_name(text: bytes) -> str:
    return text[:MOST_NAME].decode("utf-8", "surrogateescape")


def integer(value: object) -> int:
    if not isinstance(value, int):
        raise UserError("a number is malformed")
    return value


def uleb(operands: Sequence[int]) -> int:
    number = 0
    for index, byte in enumerate(operands[:_MOST_ULEB_BYTES]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return number
