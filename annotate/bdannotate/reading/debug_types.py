# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the types of variables, and types by name, in the debug information of object files."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from ..model.errors import UserError, is_out_of_memory, shorten
from ..model.data_types import FoundTypes, PointerName, Type, VariableName, WantedTypes
from .bounded import bounded
from .dwarf import (
    MOST_NAME, NAMED_TYPES, DebugEntry, Source, Unit, Units, as_name, integer, is_cpp, libraries, name_of, uleb,
)
from .dwarf_files import Elf, SplitFiles, dwarf_of, type_units_of, with_debug_information
from .dwarf_types import TypeReader
from .object_files import newer_notes
from .pyelftools import require_pyelftools

_OP_ADDR = 0x03
_OP_CONST = {0x0A: 2, 0x0C: 4, 0x0E: 8}  # by operation, the bytes of its operand
_OP_ADDRX = (0xA1, 0xFB)  # the operations of DWARF 5, and of GNU before it
_OP_CONSTX = (0xA2, 0xFC)
# The operations that follow an offset in a thread's block: of DWARF 3, and of GNU before it.
_OP_OF_THREAD = (0x9B, 0xE0)
_SPACES = re.compile(r"\s+(?=\W)|(?<=\W)\s+")
_CONSTS = re.compile(r"(?:const\s+)+")
_PIECES = re.compile(r"[<(,>)*&]|[^<(,>)*&]+")
_INTEGER_WORDS = ("unsigned", "signed", "short", "long", "char", "int", "__int128", "double")
_NUMBER_WORDS = re.compile(r"\b(?:{0})(?: (?:{0}))*\b".format("|".join(_INTEGER_WORDS)))
_NUMBER = re.compile(r"\b(\d+)[uUlL]+\b")
_VARIABLES = ("DW_TAG_variable", "DW_TAG_formal_parameter")
# An argument of all shared pointers, as demanglers and GCC write it, and as clang does.
_LOCK_POLICY = "(__gnu_cxx::_Lock_policy)2", "__gnu_cxx::_S_atomic"
_KEYWORD = re.compile(r"^(?:struct|class|union|enum)\s+")


class _SymbolTable(Protocol):
    """A section of pyelftools, which reads all names when it is first asked for one."""

    def get_symbol_by_name(self, name: str) -> Sequence[Mapping[str, Any]] | None: ...


def read_types(
    wanted: Mapping[str, WantedTypes], changed: Container[str] = (), written: float | None = None
) -> FoundTypes:
    """Finds types in object files. wanted: by object file. changed: object files that have changed since the run, whose
    types are not read. written: when the profile was written, in seconds since 1970. Notes name the files without
    types, and those that are newer than the profile and so may have changed."""
    named: dict[tuple[str, str], tuple[Type, ...]] = {}
    variables: dict[tuple[str, VariableName], tuple[Type, ...]] = {}
    pointees: dict[tuple[str, PointerName], tuple[Type, ...]] = {}
    problems: dict[str, str] = {}
    notes: list[str] = []
    try:
        require_pyelftools()
    except UserError as error:
        said = f"types of data are not known: {error}"
        return FoundTypes({}, {}, (said,) if wanted else (), problems=dict.fromkeys(wanted, str(error)))
    for path, what in sorted(wanted.items()):
        try:
            if path in changed:
                raise UserError("it is not the file that ran: its code is on other lines")
            found = bounded(partial(_read, path, what), "its debug information")
        except UserError as error:
            problems[path] = str(error)
            notes.append(f"types of {shorten(path)} are not known: {error}")
            continue
        named |= {(path, name): types for name, types in found.named.items()}
        variables |= {(path, variable): types for variable, types in found.variables.items()}
        pointees |= {(path, pointer): types for pointer, types in found.pointees.items()}
        notes += newer_notes([path], written)
    return FoundTypes(named, variables, tuple(notes), pointees, problems)


class _Found(NamedTuple):
    """The types found in one file."""

    named: dict[str, tuple[Type, ...]]
    variables: dict[VariableName, tuple[Type, ...]]
    pointees: dict[PointerName, tuple[Type, ...]]


def _read(path: str, wanted: WantedTypes) -> _Found:
    try:
        with with_debug_information(path) as elf:
            return _in_file(elf, path, wanted)
    except UserError:
        raise
    except OSError as error:
        raise UserError(error.strerror or "it cannot be read") from None
    except Exception as error:  # pyelftools documents no exceptions, and raises many
        if is_out_of_memory(error):
            raise
        reason = shorten(str(error) or type(error).__name__)
        raise UserError(f"its debug information cannot be read ({reason})") from None


def _in_file(elf: Elf, path: str, wanted: WantedTypes) -> _Found:
    dwarf = dwarf_of(elf)
    units = Units(dwarf, type_units_of(elf), SplitFiles(path, dwarf).open)
    debug = _Debug(units, elf.elfclass // 8, _thread_segment(elf))
    tables = _symbol_tables(elf) if wanted.variables else []
    variables = {
        variable: _different(
            debug.variable(address, variable.is_thread_local)
            for address in sorted(_addresses(tables, variable))
        )
        for variable in sorted(wanted.variables)
    }
    named = debug.named(sorted(wanted.names))
    pointees = {pointer: debug.pointee(pointer) for pointer in sorted(wanted.pointers)}
    if not any((*variables.values(), *named.values(), *pointees.values())):
        if units.problem:
            raise UserError(units.problem)
        if not debug.has_types():
            raise UserError("its debug information has no types (compile with -g, not with -g1)")
    return _Found(named, variables, pointees)


def _different(types: Iterator[Type | None]) -> tuple[Type, ...]:
    return tuple(dict.fromkeys(found for found in types if found is not None))


def _thread_segment(elf: object) -> tuple[int, int]:
    """The address and the size, in bytes, of the segment that each thread has a copy of; (0, 0) if there is none."""
    for segment in elf.iter_segments():  # type: ignore[attr-defined]
        if segment["p_type"] == "PT_TLS":
            return int(segment["p_vaddr"]), int(segment["p_memsz"])
    return 0, 0


def _symbol_tables(elf: object) -> list[_SymbolTable]:
    sections = (elf.get_section_by_name(name) for name in (".symtab", ".dynsym"))  # type: ignore[attr-defined]
    return [section for section in sections if section is not None and section["sh_type"] != "SHT_NOBITS"]


def _addresses(tables: Iterable[_SymbolTable], variable: VariableName) -> set[int]:
    """The addresses of the symbols with this name and size; if there are none, of larger ones: a variable that lies in
    two mappings (at the end of what comes from the file) has two parts in a profile."""
    exact: set[int] = set()
    larger: set[int] = set()
    kind = "STT_TLS" if variable.is_thread_local else "STT_OBJECT"
    for table in tables:
        for symbol in table.get_symbol_by_name(variable.symbol.partition("@")[0]) or ():
            if symbol["st_info"]["type"] == kind and symbol["st_size"] >= variable.size:
                found = exact if symbol["st_size"] == variable.size else larger
                found.add(int(symbol["st_value"]))
    return exact or larger


def _alike(name: str) -> str:
    """A form of a type's name that all compilers share: they differ in spaces, the place of const, the words of
    integers and the suffixes of numbers."""
    name = _SPACES.sub("", _KEYWORD.sub("", name.strip())).replace(*_LOCK_POLICY)
    name = _SPACES.sub("", _with_const_behind(name))
    return _NUMBER.sub(r"\1", _NUMBER_WORDS.sub(_number, name))


def _with_const_behind(name: str) -> str:
    """Writes `const T*` as `T const*`, in brackets, too, and const only once. A type ends before a pointer or the next
    argument."""
    pieces: list[str] = []
    waiting = [False]  # for each open bracket, whether a const belongs behind the type that follows
    begins = True
    for piece in _PIECES.findall(name):
        if piece in "<(":
            waiting.append(False)
        elif piece in "*&,>)":
            if waiting[-1]:
                pieces.append(" const")
                waiting[-1] = False
            if piece in ">)" and len(waiting) > 1:
                waiting.pop()
        elif begins and (consts := _CONSTS.match(piece)):
            piece = piece[consts.end() :]
            waiting[-1] = True
        pieces.append(piece)
        begins = piece in ("<", "(", ",")
    return "".join(pieces) + " const" * any(waiting)


def _number(match: re.Match[str]) -> str:
    """Makes `long unsigned int` (GCC) and `unsigned long` (others) the same."""
    words = match[0].split()
    kind = [word for word in words if word in ("char", "short", "long", "__int128", "double")] or ["int"]
    is_signed_char = "signed" in words and "char" in words
    sign = "unsigned " if "unsigned" in words else "signed " if is_signed_char else ""
    return sign + " ".join(kind)


class _Wanted:
    """The name of a type or function to search for."""

    def __init__(self, name: str) -> None:
        self.name = _alike(name)
        self._last = _last_part(self.name)
        # The part that is the same for all compilers. All names of a type of numbers contain the first word.
        start = re.split("[<, ]", self._last, maxsplit=1)[0]
        mark = self._last[len(start) :][:1]
        self._begins_with_stem = mark != " " and start not in _INTEGER_WORDS
        stem = f"{start}{mark or chr(0)}" if self._begins_with_stem else start
        self._stem = stem.encode("utf-8", "surrogateescape")
        self._source: Source | None = None
        self._offsets: Sequence[bytes] = ()

    def offsets(self, source: Source) -> Sequence[bytes]:
        """The offsets of names like it in the table of strings, as 4 bytes each."""
        if source is not self._source:
            self._source = source
            self._offsets = [at.to_bytes(4, "little") for at in self._places(source.strings)]
        return self._offsets

    def is_in(self, raw: bytes) -> bool:
        """Whether a name like it stands in these bytes."""
        return any(True for _ in self._places(raw))

    def _places(self, raw: bytes) -> Iterator[int]:
        """Where names like it begin; or, if they need not begin with the stem, where the stem is."""
        at = raw.find(self._stem)
        while at >= 0:
            if not self._begins_with_stem or self._is_like(raw, at):
                yield at
            at = raw.find(self._stem, at + 1)

    def _is_like(self, raw: bytes, at: int) -> bool:
        text = raw[at : at + MOST_NAME].partition(b"\0")[0]
        # All compilers write the same number of these, and counting is fast.
        if any(text.count(mark) != self._last.count(mark.decode()) for mark in (b"<", b",")):
            return False
        return _alike(as_name(text)) == self._last

    def is_name(self, own: str, scope: str) -> bool:
        """Whether an entry has this name. own: the entry's name, as _alike() returns it; scope: the scopes around
        it."""
        return own == self._last and f"::{_alike(scope)}{own}".endswith(f"::{self.name}")


class _Debug:
    """The debug information of one file."""

    def __init__(self, units: Units, pointer: int, thread: tuple[int, int]) -> None:
        self._pointer = pointer
        self._thread_start, self._thread_size = thread
        self._units = units
        self._types = TypeReader(units, pointer)

    def variable(self, address: int, is_thread_local: bool = False) -> Type | None:
        """The type of the variable at an address; None if there is none."""
        numbers = [address, *((address + self._thread_start,) if is_thread_local else ())]
        addresses = [number.to_bytes(self._pointer, "little") for number in numbers]
        operations = {_OP_ADDR: self._pointer} | (_OP_CONST if is_thread_local else {})
        ends = [bytes((code,)) for code in _OP_OF_THREAD] if is_thread_local else [b""]
        texts = [
            bytes((code,)) + address.to_bytes(size, "little") + end
            for code, size in operations.items() if address < 1 << 8 * size for end in ends
        ]
        for unit in self._units.at(addresses, texts):
            # Walk to the end: the scopes of types must be known, and may come later.
            here = [
                entry for entry, _ in self._units.walk(unit.get_top_DIE(), "", True)
                if entry.tag == "DW_TAG_variable" and self._location(entry) == (address, is_thread_local)
            ]
            for entry in here:
                for name in ("DW_AT_specification", "DW_AT_abstract_origin"):
                    if "DW_AT_type" not in entry.attributes:
                        entry = self._units.follow(entry, name) or entry
                found = self._units.follow(entry)
                return self._types.type(found) if found is not None else None
        return None

    def named(self, names: Iterable[str]) -> dict[str, tuple[Type, ...]]:
        """For each name, all types that have it, or whose names end in :: and the name. In C++, the first definition is
        enough, as all must be the same."""
        found: dict[str, dict[Type, None]] = {name: {} for name in names}
        wanted = {name: _Wanted(name) for name in found if not name.endswith("*")}
        for name in found.keys() - wanted.keys():
            found[name][Type(name, self._pointer)] = None
        for unit in self._units:
            if not wanted:
                break
            here = [(name, one) for name, one in wanted.items() if self._mentions(unit, one)]
            if not here:
                continue
            top = unit.get_top_DIE()
            known = libraries(top)
            of_library = [one.name.startswith(known) for _, one in here]
            skipped, only = () if any(of_library) else known, known if all(of_library) else ()
            for entry, scope in self._units.walk(top, "", False, skipped, only):
                if entry.tag not in NAMED_TYPES or "DW_AT_declaration" in entry.attributes:
                    continue
                own = _alike(name_of(entry))
                for name, one in here:
                    if one.is_name(own, scope) and (kind := self._types.type(entry)) is not None:
                        found[name][kind] = None
                        if is_cpp(top):
                            wanted.pop(name, None)
        return {name: tuple(types) for name, types in found.items()}

    def pointee(self, pointer: PointerName) -> tuple[Type, ...]:
        """The types that the variables of a name, or members of these, point to or are arrays of, in all functions of a
        name; if these have no such variables, those outside of functions in the same units."""
        name, variable = _bare_function(pointer.function), pointer.variable
        if not name:
            return ()
        function = _Wanted(name)
        inner: list[DebugEntry] = []
        outer: list[DebugEntry] = []
        for unit in self._units:
            if not self._mentions(unit, function):
                continue
            top = unit.get_top_DIE()
            entries = list(self._units.walk(top, "", False, libraries(top)))
            scopes = {entry.offset: scope for entry, scope in entries}
            functions = [
                entry for entry, _ in entries
                if entry.tag == "DW_TAG_subprogram" and self._is_named(entry, function, scopes)
            ]
            inner += [
                entry for one in functions for entry, _ in self._units.walk(one, "", True)
                if entry.tag in _VARIABLES and name_of(entry) == variable
            ]
            outer += [
                entry for entry, _ in entries
                if functions and entry.tag == "DW_TAG_variable" and name_of(entry) == variable
            ]
        return _different(self._pointee(entry, pointer.members) for entry in inner or outer)

    def _pointee(self, variable: DebugEntry, members: Sequence[str]) -> Type | None:
        found: DebugEntry | None = variable
        for name in members:
            found = self._types.member(found, name) if found is not None else None
        return self._types.pointee(found) if found is not None else None

    def _is_named(self, entry: DebugEntry, wanted: _Wanted, scopes: Mapping[int, str]) -> bool:
        """Whether a function has this name. One that is defined outside of its class has name and scope in its
        declaration."""
        declared = self._units.follow(entry, "DW_AT_specification") or entry
        return wanted.is_name(_alike(name_of(declared)), scopes.get(declared.offset, ""))

    def has_types(self) -> bool:
        """Whether there are types at all: information on lines alone has none."""
        return any(
            entry.tag in NAMED_TYPES
            for unit in self._units for entry in self._units.children(unit.get_top_DIE())
        )

    def _mentions(self, unit: Unit, wanted: _Wanted) -> bool:
        """Whether a unit may contain this name: its bytes, or by chance the same ones, occur in it."""
        source = self._units.source(unit)
        raw, offsets = source.raw(unit), wanted.offsets(source)
        if any(offset in raw for offset in offsets) or wanted.is_in(raw):
            return True
        if unit["version"] < 5 or not any(offset in source.string_offsets for offset in offsets):
            return False
        own = self._units.string_offsets(unit)
        return any(offset in own for offset in offsets)

    def _location(self, entry: DebugEntry) -> tuple[int, bool] | None:
        """The address of a variable, or its offset in a thread's block, and whether it is the latter; None if it has
        neither."""
        location = entry.attributes.get("DW_AT_location")
        operation = location.value if location is not None else None
        if not isinstance(operation, Sequence) or not operation:
            return None
        code, *operands = map(integer, operation)
        is_thread_local = len(operands) > 1 and operands[-1] in _OP_OF_THREAD
        sizes = {_OP_ADDR: self._pointer} | (_OP_CONST if is_thread_local else {})
        if code in sizes and len(operands) == sizes[code] + is_thread_local:
            return int.from_bytes(bytes(operands[: sizes[code]]), "little"), is_thread_local
        if code in _OP_ADDRX or (code in _OP_CONSTX and is_thread_local):
            number = operands[:-1] if is_thread_local else operands
            address = entry.cu.dwarfinfo.get_addr(entry.cu, uleb(number))
            if is_thread_local and address >= self._thread_size:
                address -= self._thread_start  # GCC 12 adds the start; DWARF does not
            return address, is_thread_local
        return None


def _bare_function(name: str) -> str:
    """The name of a function without its parameters and result, and without suffixes of compilers and profiles such as
    `.part.0`, ` [clone .isra.0]` and `'2`."""
    name = name.replace("(anonymous namespace)::", "").partition(" [")[0]
    start = depth = 0
    for index, character in enumerate(name):
        if depth == 0 and character in "('.":
            return name[start:index].strip()
        depth += (character == "<") - (character == ">")
        if depth == 0 and character == " ":
            start = index + 1
    return name[start:]


def _last_part(name: str) -> str:
    """The part of a name behind the last :: outside of brackets."""
    depth = 0
    for index in range(len(name) - 1, 0, -1):
        if name[index] in ">)":
            depth += 1
        elif name[index] in "<(":
            depth -= 1
        elif name[index - 1 : index + 1] == "::" and depth == 0:
            return name[index + 1 :]
    return name
