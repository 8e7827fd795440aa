# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of variables, and types by name, from the debug information of the program that ran.

pyelftools reads it: DWARF 2 to 5, also compressed, in the object file or in a separate one that
stands under its build id in /usr/lib/debug. It is slow, so only units are looked at in which the
name or the address that is wanted stands somewhere. Files may be a stranger's: pyelftools
raises whatever it stumbles over, and all walks here go forward.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..model.errors import UserError, shorten
from ..model.types import Field, FoundTypes, Type, VariableName, WantedTypes
from .object_files import require_object_file

_DEBUG_FOLDER = "/usr/lib/debug/.build-id"
# Debug information has loops where it is wrong.
_MOST_STEPS = 64
_MOST_FIELDS = 4096
_MOST_ENTRIES = 3_000_000
_UNIT_TYPES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_NAMED_TYPES = (*_UNIT_TYPES, "DW_TAG_typedef", "DW_TAG_base_type", "DW_TAG_enumeration_type")
_SCOPES = (*_UNIT_TYPES, "DW_TAG_namespace")
_QUALIFIERS = {
    "DW_TAG_const_type": "const ", "DW_TAG_volatile_type": "volatile ",
    "DW_TAG_restrict_type": "", "DW_TAG_atomic_type": "_Atomic ",
}
_POINTERS = {
    "DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
# The others have longer heads, which pyelftools does not know.
_WHOLE_UNITS = (None, 1, 3, "DW_UT_compile", "DW_UT_partial")
_CPP = (0x04, 0x1A, 0x21, 0x2B)  # C++ of any year, as DW_AT_language has it
_OP_ADDR = 0x03
_OP_PLUS_UCONST = 0x23
_OP_ADDRX = (0xA1, 0xFB)  # of DWARF 5, and of GNU before it
# Static members, and virtual bases.
_NO_MEMBER = ("external", "declaration", "virtuality")
# The scopes of the C++ library are large, and looked into only for its own types.
_LIBRARIES = ("std::", "__gnu_cxx::")
_SPACES = re.compile(r"\s+(?=>)|(?<=,)\s+")
_CONST = re.compile(r"([\w:]+) const\b")
_KEYWORD = re.compile(r"^(?:struct|class|union|enum)\s+")


class _Attribute(Protocol):
    form: str
    value: object
    raw_value: object


class _Entry(Protocol):
    """As pyelftools has them: a debugging information entry."""

    tag: str
    offset: int
    size: int
    has_children: bool
    attributes: Mapping[str, _Attribute]
    cu: _Unit
    stream: _Stream

    def is_null(self) -> bool: ...
    def get_DIE_from_attribute(self, name: str) -> _Entry: ...  # noqa: N802


class _Unit(Protocol):
    header: Mapping[str, object]
    cu_offset: int
    size: int

    def __getitem__(self, name: str) -> int: ...
    def get_top_DIE(self) -> _Entry: ...  # noqa: N802


class _Stream(Protocol):
    def seek(self, offset: int) -> int: ...
    def read(self) -> bytes: ...


class _Section(Protocol):
    stream: _Stream


class _Dwarf(Protocol):
    debug_info_sec: _Section | None
    debug_str_sec: _Section | None
    debug_str_offsets_sec: _Section | None
    debug_addr_sec: _Section | None

    def iter_CUs(self) -> Iterator[_Unit]: ...  # noqa: N802
    def get_addr(self, cu: _Unit, index: int) -> int: ...


def read_types(wanted: Mapping[str, WantedTypes]) -> FoundTypes:
    """wanted is by object file."""
    named: dict[tuple[str, str], tuple[Type, ...]] = {}
    variables: dict[tuple[str, VariableName], tuple[Type, ...]] = {}
    notes: list[str] = []
    for path, what in sorted(wanted.items()):
        try:
            found = _read(path, what)
        except UserError as error:
            notes.append(f"types of {shorten(path)} are not known: {error}")
            continue
        named |= {(path, name): types for name, types in found[0].items()}
        variables |= {(path, variable): types for variable, types in found[1].items()}
    return FoundTypes(named, variables, tuple(notes))


_Found = tuple[dict[str, tuple[Type, ...]], dict[VariableName, tuple[Type, ...]]]


def _read(path: str, wanted: WantedTypes) -> _Found:
    try:
        elffile = importlib.import_module("elftools.elf.elffile")
    except ImportError:
        raise UserError("that needs pyelftools (package python3-pyelftools)") from None
    require_object_file(path)
    try:
        with open(path, "rb") as stream:
            elf = elffile.ELFFile(stream)
            if elf.get_section_by_name(".debug_info") or elf.get_section_by_name(".zdebug_info"):
                return _in_file(elf, wanted)
            separate = _separate_file(elf)
        if separate is None:
            raise UserError("there is no debug information (compile with -g)")
        with open(separate, "rb") as stream:
            return _in_file(elffile.ELFFile(stream), wanted)
    except UserError:
        raise
    except OSError as error:
        raise UserError(error.strerror or "it cannot be read") from None
    except Exception as error:  # pyelftools documents none, and raises many
        reason = shorten(str(error) or type(error).__name__)
        raise UserError(f"its debug information cannot be read ({reason})") from None


def _separate_file(elf: object) -> str | None:
    section = elf.get_section_by_name(".note.gnu.build-id")  # type: ignore[attr-defined]
    for note in section.iter_notes() if section is not None else ():
        number = str(note["n_desc"])
        if note["n_type"] == "NT_GNU_BUILD_ID" and re.fullmatch(r"[0-9a-f]{4,}", number):
            path = os.path.join(_DEBUG_FOLDER, number[:2], f"{number[2:]}.debug")
            return path if os.path.isfile(path) else None
    return None


def _in_file(elf: object, wanted: WantedTypes) -> _Found:
    dwarf: _Dwarf = elf.get_dwarf_info()  # type: ignore[attr-defined]
    if dwarf.debug_info_sec is None:
        raise UserError("there is no debug information (compile with -g)")
    pointer = int(elf.elfclass) // 8  # type: ignore[attr-defined]
    debug = _Debug(dwarf, pointer)
    variables = {
        variable: _different(
            debug.variable(address)
            for address in sorted(_addresses(elf, variable))
        )
        for variable in sorted(wanted.variables)
    }
    named = debug.named(sorted(wanted.names))
    if debug.is_split and not any((*variables.values(), *named.values())):
        raise UserError("its debug information is split into .dwo files, which are not read")
    return named, variables


def _different(types: Iterator[Type | None]) -> tuple[Type, ...]:
    return tuple(dict.fromkeys(found for found in types if found is not None))


def _addresses(elf: object, variable: VariableName) -> set[int]:
    """Of the symbols of this name and size. Of one that lies in two mappings, as at the end of what
    comes from the file, a profile has two parts; so where there is none, of larger ones."""
    exact: set[int] = set()
    larger: set[int] = set()
    for table in (".symtab", ".dynsym"):
        section = elf.get_section_by_name(table)  # type: ignore[attr-defined]
        if section is None or section["sh_type"] == "SHT_NOBITS":
            continue
        for symbol in section.get_symbol_by_name(variable.symbol.partition("@")[0]) or ():
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"] >= variable.size:
                found = exact if symbol["st_size"] == variable.size else larger
                found.add(int(symbol["st_value"]))
    return exact or larger


def _bytes(section: _Section | None) -> bytes:
    if section is None:
        return b""
    section.stream.seek(0)
    return section.stream.read()


def _alike(name: str) -> str:
    """Compilers differ in the spaces of template arguments, and in where const stands."""
    return _CONST.sub(r"const \1", _SPACES.sub("", _KEYWORD.sub("", name)))


class _Wanted:
    """The name of a type."""

    def __init__(self, name: str, strings: bytes) -> None:
        self.name = _alike(name)
        self._last = _last_part(self.name)
        start = self._last.partition("<")[0].encode("utf-8", "surrogateescape")
        self.stem = start + (b"<" if "<" in self._last else b"\0")
        self.offsets = [
            match.start().to_bytes(4, "little")
            for match in re.finditer(re.escape(self.stem), strings)
        ]

    def is_name(self, own: str, scope: str) -> bool:
        """own is that of an entry, as _alike() makes it."""
        return own == self._last and f"::{_alike(scope)}{own}".endswith(f"::{self.name}")


class _Debug:
    """The debug information of one file."""

    def __init__(self, dwarf: _Dwarf, pointer: int) -> None:
        self._dwarf = dwarf
        self._pointer = pointer
        units = list(dwarf.iter_CUs())
        # Of those without a type, DWARF 4 and before, nobody knows yet.
        self._units = [unit for unit in units if unit.header.get("unit_type") in _WHOLE_UNITS]
        self._info = _bytes(dwarf.debug_info_sec)
        self._strings = _bytes(dwarf.debug_str_sec)
        self._string_offsets = _bytes(dwarf.debug_str_offsets_sec)
        self._address_table = _bytes(dwarf.debug_addr_sec)
        self._entry_class = importlib.import_module("elftools.dwarf.die").DIE
        self._entries = 0
        self._scopes: dict[int, str] = {}  # of types that a walk has come by, by offset
        self.is_split = len(self._units) < len(units) or any(
            not top.has_children and any(name.endswith("dwo_name") for name in top.attributes)
            for top in (unit.get_top_DIE() for unit in self._units)
        )

    def variable(self, address: int) -> Type | None:
        """The type of what lies there."""
        number = address.to_bytes(self._pointer, "little")
        in_table = number in self._address_table
        for unit in self._units:
            if bytes((_OP_ADDR,)) + number not in self._raw(unit) and not in_table:
                continue
            # To the end: scopes have to be known, and can stand behind.
            here = [
                entry for entry, _ in self._walk(unit.get_top_DIE(), "", True)
                if entry.tag == "DW_TAG_variable" and self._address(entry) == address
            ]
            for entry in here:
                for name in ("DW_AT_specification", "DW_AT_abstract_origin"):
                    if "DW_AT_type" not in entry.attributes and name in entry.attributes:
                        entry = entry.get_DIE_from_attribute(name)
                found = _follow(entry)
                return self._type(found) if found is not None else None
        return None

    def named(self, names: Iterable[str]) -> dict[str, tuple[Type, ...]]:
        """By name, all that have it, or whose names end in it behind ::. In C++, one that is defined
        stands for all, as they have to be the same."""
        found: dict[str, dict[Type, None]] = {name: {} for name in names}
        wanted = {name: _Wanted(name, self._strings) for name in found if not name.endswith("*")}
        for name in found.keys() - wanted.keys():
            found[name][Type(name, self._pointer)] = None
        for unit in self._units:
            here = [(name, one) for name, one in wanted.items() if self._mentions(unit, one)]
            if not here:
                continue
            only_library = all(one.name.startswith(_LIBRARIES) for _, one in here)
            skipped = () if any(one.name.startswith(_LIBRARIES) for _, one in here) else _LIBRARIES
            top = unit.get_top_DIE()
            for entry, scope in self._walk(top, "", False, skipped, only_library):
                if entry.tag not in _NAMED_TYPES or "DW_AT_declaration" in entry.attributes:
                    continue
                own = _alike(_name(entry))
                for name, one in here:
                    if one.is_name(own, scope) and (kind := self._type(entry)) is not None:
                        found[name][kind] = None
                        if _is_cpp(top):
                            wanted.pop(name, None)
        return {name: tuple(types) for name, types in found.items()}

    def _mentions(self, unit: _Unit, wanted: _Wanted) -> bool:
        """Whether its name stands in there, or by chance something like it."""
        raw = self._raw(unit)
        return (
            wanted.stem in raw or any(offset in raw for offset in wanted.offsets)
            or (unit["version"] >= 5
                and any(offset in self._string_offsets for offset in wanted.offsets))
        )

    def _raw(self, unit: _Unit) -> bytes:
        return self._info[unit.cu_offset : unit.cu_offset + unit.size]

    def _entry(self, unit: _Unit, offset: int) -> _Entry:
        """Without pyelftools keeping it, as it would for the whole file."""
        entry: _Entry = self._entry_class(unit, unit.get_top_DIE().stream, offset)
        return entry

    def _children(self, entry: _Entry) -> Iterator[_Entry]:
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
                behind = unit.cu_offset + _int(sibling.raw_value) if sibling else 0
                if behind > at:
                    at = behind
                else:
                    depth += 1

    def _walk(
        self, entry: _Entry, scope: str, everywhere: bool, skipped: tuple[str, ...] = (),
        only_library: bool = False,
    ) -> Iterator[tuple[_Entry, str]]:
        """All entries below, with the scope that they stand in; those in functions only if so
        asked. skipped: scopes that are not looked into."""
        for child in self._children(entry):
            if child.tag in _NAMED_TYPES:
                self._scopes[child.offset] = scope
            yield child, scope
            if child.tag in _SCOPES:
                name = _name(child)
                inner = f"{scope}{name}::" if name else scope
                is_other = only_library and not scope and inner not in _LIBRARIES
                if inner not in skipped and not is_other:
                    yield from self._walk(child, inner, everywhere, skipped)
            elif everywhere and child.tag in ("DW_TAG_subprogram", "DW_TAG_lexical_block"):
                yield from self._walk(child, scope, everywhere)

    def _address(self, entry: _Entry) -> int | None:
        location = entry.attributes.get("DW_AT_location")
        operation = location.value if location is not None else None
        if not isinstance(operation, Sequence) or not operation:
            return None
        code, *operands = map(_int, operation)
        if code == _OP_ADDR and len(operands) == self._pointer:
            return int.from_bytes(bytes(operands), "little")
        if code in _OP_ADDRX:
            return self._dwarf.get_addr(entry.cu, _uleb(operands))
        return None

    def _type(self, entry: _Entry) -> Type | None:
        """Of an array, that of its elements; None where the size is not known."""
        name = ""
        for _ in range(_MOST_STEPS):
            if entry.tag == "DW_TAG_typedef" and not name:
                name = self._qualified(entry)
            elif entry.tag not in (*_QUALIFIERS, "DW_TAG_typedef", "DW_TAG_array_type"):
                break
            target = _follow(entry)
            if target is None:
                return None
            entry = target
        size = self._size(entry)
        if size < 1:
            return None
        own = self._qualified(entry) or name or self._type_name(entry)
        fields = sorted(
            self._fields(entry, 0, "", 0), key=lambda field: (field.offset, field.size)
        ) if entry.tag in _UNIT_TYPES else []
        has_virtual = any(
            child.tag == "DW_TAG_inheritance" and "DW_AT_virtuality" in child.attributes
            for child in (self._children(entry) if entry.tag in _UNIT_TYPES else ())
        )
        return Type(own, size, tuple(fields), has_virtual)

    def _qualified(self, entry: _Entry) -> str:
        name = _name(entry)
        return f"{self._scopes.get(entry.offset, '')}{name}" if name else ""

    def _fields(self, entry: _Entry, base: int, prefix: str, depth: int) -> Iterator[Field]:
        if depth > _MOST_STEPS:
            raise UserError("a type contains itself")
        count = 0
        for child in self._children(entry):
            is_base = child.tag == "DW_TAG_inheritance"
            attributes = child.attributes
            if not is_base and child.tag != "DW_TAG_member":
                continue
            if any(f"DW_AT_{word}" in attributes for word in _NO_MEMBER):
                continue
            target = _follow(child)
            if target is None:
                continue
            offset = base + _offset(child)
            name = "" if is_base else _name(child)
            for field in self._field(child, target, offset, f"{prefix}{name}", depth):
                count += 1
                if count > _MOST_FIELDS:
                    raise UserError("a type has too many fields")
                yield field

    def _field(
        self, member: _Entry, target: _Entry, offset: int, name: str, depth: int
    ) -> Iterator[Field]:
        if "DW_AT_bit_size" in member.attributes:
            first, bits = self._bits(member, target)
            start = offset + first // 8
            yield Field(
                f"{name}:{bits}", self._type_name(target), start,
                (first + bits + 7) // 8 - first // 8,
            )
            return
        element, lengths = self._element(target)
        inner = self._unqualified(element)
        if inner.tag in _UNIT_TYPES and not lengths:
            dot = "." if name and not name.endswith(".") else ""
            yield from self._fields(inner, offset, f"{name}{dot}", depth + 1)
            return
        ranges = "".join(f"[{length or ''}]" for length in lengths)
        yield Field(f"{name}{ranges}", self._type_name(element), offset, self._size(target))

    def _bits(self, member: _Entry, target: _Entry) -> tuple[int, int]:
        """The first bit, behind the member's offset, and how many."""
        attributes = member.attributes
        bits = _int(attributes["DW_AT_bit_size"].value)
        if "DW_AT_data_bit_offset" in attributes:
            return _int(attributes["DW_AT_data_bit_offset"].value), bits
        if "DW_AT_bit_offset" not in attributes:
            return 0, bits
        # Before DWARF 4, bits were counted from the highest one.
        storage = attributes.get("DW_AT_byte_size")
        width = 8 * (_int(storage.value) if storage else self._size(target))
        return width - _int(attributes["DW_AT_bit_offset"].value) - bits, bits

    def _unqualified(self, entry: _Entry) -> _Entry:
        for _ in range(_MOST_STEPS):
            if entry.tag not in (*_QUALIFIERS, "DW_TAG_typedef"):
                break
            target = _follow(entry)
            if target is None:
                break
            entry = target
        return entry

    def _element(self, entry: _Entry) -> tuple[_Entry, list[int]]:
        """That of an array of arrays, and how many there are in each dimension; 0 if nobody knows."""
        lengths: list[int] = []
        for _ in range(_MOST_STEPS):
            array = self._unqualified(entry)
            target = _follow(array)
            if array.tag != "DW_TAG_array_type" or target is None:
                break
            lengths += self._lengths(array)
            entry = target
        return entry, lengths

    def _lengths(self, array: _Entry) -> list[int]:
        found: list[int] = []
        for child in self._children(array):
            if child.tag == "DW_TAG_subrange_type":
                count = child.attributes.get("DW_AT_count")
                last = child.attributes.get("DW_AT_upper_bound")
                if count is not None and isinstance(count.value, int):
                    found.append(count.value)
                elif last is not None and isinstance(last.value, int):
                    found.append((last.value + 1) & 0xFFFF_FFFF_FFFF_FFFF)
                else:
                    found.append(0)
        return found

    def _size(self, entry: _Entry) -> int:
        """In bytes; 0 if it is not known."""
        factor = 1
        for _ in range(_MOST_STEPS):
            size = entry.attributes.get("DW_AT_byte_size")
            if size is not None and isinstance(size.value, int):
                return factor * size.value
            if entry.tag in _POINTERS or entry.tag == "DW_TAG_ptr_to_member_type":
                return factor * self._pointer
            if entry.tag == "DW_TAG_array_type":
                for length in self._lengths(entry):
                    factor *= length
            target = _follow(entry)
            if target is None:
                return 0
            entry = target
        return 0

    def _type_name(self, entry: _Entry) -> str:
        before, behind = "", ""
        for _ in range(_MOST_STEPS):
            if entry.tag in _POINTERS:
                behind = f"{_POINTERS[entry.tag]}{f' {before}'.rstrip()}{behind}"
                before = ""
            elif entry.tag in _QUALIFIERS:
                before += _QUALIFIERS[entry.tag]
            elif entry.tag == "DW_TAG_array_type":
                behind = "[]" + behind
            elif entry.tag == "DW_TAG_subroutine_type":
                return f"{before}function{behind}"
            elif entry.tag == "DW_TAG_ptr_to_member_type":
                return f"{before}pointer to member{behind}"
            else:
                return f"{before}{_name(entry) or _anonymous(entry)}{behind}"
            target = _follow(entry)
            if target is None:
                return f"{before}void{behind}"
            entry = target
        raise UserError("a type contains itself")


def _anonymous(entry: _Entry) -> str:
    return entry.tag.removeprefix("DW_TAG_").removesuffix("_type").replace("_", " ")


def _is_cpp(top: _Entry) -> bool:
    language = top.attributes.get("DW_AT_language")
    return language is not None and language.value in _CPP


def _follow(entry: _Entry) -> _Entry | None:
    return entry.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in entry.attributes else None


def _name(entry: _Entry) -> str:
    name = entry.attributes.get("DW_AT_name")
    if name is None or not isinstance(name.value, bytes):
        return ""
    return name.value.decode("utf-8", "surrogateescape")


def _offset(member: _Entry) -> int:
    location = member.attributes.get("DW_AT_data_member_location")
    if location is None:
        return 0
    if isinstance(location.value, int):
        return location.value
    if isinstance(location.value, Sequence):
        code, *operands = map(_int, location.value)
        if code == _OP_PLUS_UCONST:
            return _uleb(operands)
    raise UserError("where a member lies is not understood")


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise UserError("a number is none")
    return value


def _uleb(operands: Sequence[int]) -> int:
    number = 0
    for index, byte in enumerate(operands):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return number


def _last_part(name: str) -> str:
    """What stands behind the last :: outside of angle brackets."""
    depth = 0
    for index in range(len(name) - 1, 0, -1):
        if name[index] == ">":
            depth += 1
        elif name[index] == "<":
            depth -= 1
        elif name[index - 1 : index + 1] == "::" and depth == 0:
            return name[index + 1 :]
    return name
