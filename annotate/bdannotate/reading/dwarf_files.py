# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the debug information of an object file: in the file itself; in a separate one, by build id or by the name in
.gnu_debuglink; in the section of type units of DWARF 4; and in the .dwo files of split DWARF 5.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from bdcommon.regular_files import is_regular_file

from ..model.errors import UserError, shorten
from .dwarf import DebugEntry, Dwarf
from .object_files import require_object_file

_DEBUG_FOLDER = "/usr/lib/debug"
_MOST_BYTES = 1 << 32  # of a file whose checksum is computed
_CHUNK_BYTES = 1 << 20
# The total size of compressed sections may be this much, or so many times that in the file.
_UNPACKED_BYTES = 64 << 20
_UNPACKED_RATIO = 50
_NO_DEBUG = "there is no debug information (compile with -g)"
# The sections of a .dwo file, by the attributes of pyelftools for such sections.
_SPLIT_SECTIONS = {
    f"debug_{name}_sec": f".debug_{name}.dwo"
    for name in ("info", "abbrev", "str", "str_offsets", "loclists", "rnglists")
}


class _ElfSection(Protocol):
    name: str
    compressed: int
    data_size: int

    def data(self) -> bytes: ...
    def __getitem__(self, name: str) -> object: ...
    def iter_notes(self) -> Iterator[dict[str, object]]: ...


class Elf(Protocol):
    """An ELF file of pyelftools."""

    elfclass: int

    def get_section_by_name(self, name: str) -> _ElfSection | None: ...
    def iter_sections(self) -> Iterator[_ElfSection]: ...
    def get_dwarf_info(self) -> Dwarf: ...


@contextmanager
def opened(path: str) -> Iterator[Elf]:
    require_object_file(path)
    with open(path, "rb") as stream:
        elf: Elf = importlib.import_module("elftools.elf.elffile").ELFFile(stream)
        _refuse_bombs(elf)
        yield elf


def _refuse_bombs(elf: Elf) -> None:
    """UserError if compressed sections unpack to more than is plausible: debug information shrinks to a third or a
    tenth."""
    packed = unpacked = 0
    for section in elf.iter_sections():
        if section.compressed or section.name.startswith(".zdebug_"):
            stated = section.data_size
            if section.name.startswith(".zdebug_"):
                # pyelftools unpacks it later, from a head of the letters ZLIB and 8 bytes.
                stated = int.from_bytes(section.data()[4:12], "big")
            size = section["sh_size"]
            packed += size if isinstance(size, int) else 0
            unpacked += stated
    if unpacked > max(_UNPACKED_BYTES, _UNPACKED_RATIO * packed):
        raise UserError(f"its sections unpack to {unpacked:,} bytes, more than {_UNPACKED_RATIO} times their size")


@contextmanager
def with_debug_information(path: str) -> Iterator[Elf]:
    """Opens the file with the debug information: the object file, or a separate one. UserError if there is none."""
    with opened(path) as elf:
        if elf.get_section_by_name(".debug_info") or elf.get_section_by_name(".zdebug_info"):
            yield elf
            return
        separate = _by_build_id(elf) or _by_link(elf, path)
    with opened(separate) as elf:
        yield elf


def _by_build_id(elf: Elf) -> str | None:
    section = elf.get_section_by_name(".note.gnu.build-id")
    for note in section.iter_notes() if section is not None else ():
        number = str(note["n_desc"])
        if note["n_type"] == "NT_GNU_BUILD_ID" and re.fullmatch(r"[0-9a-f]{4,}", number):
            path = os.path.join(_DEBUG_FOLDER, ".build-id", number[:2], f"{number[2:]}.debug")
            return path if is_regular_file(path) else None
    return None


def _by_link(elf: Elf, path: str) -> str:
    section = elf.get_section_by_name(".gnu_debuglink")
    if section is None:
        raise UserError(_NO_DEBUG)
    data = section.data()
    name = os.fsdecode(data.partition(b"\0")[0])
    if not name or "/" in name:
        raise UserError(_NO_DEBUG)
    folder = os.path.dirname(os.path.realpath(path))
    known = [
        os.path.join(folder, name), os.path.join(folder, ".debug", name),
        os.path.join(f"{_DEBUG_FOLDER}{folder}", name),
    ]
    there = [one for one in known if is_regular_file(one) and not os.path.samefile(one, path)]
    for one in there:
        if _checksum(one) == int.from_bytes(data[-4:], "little"):
            return one
    if there:
        raise UserError(f"{shorten(name)} is from another build")
    raise UserError(f"its debug information is in {shorten(name)}, which is missing")


def _checksum(path: str) -> int:
    found = 0
    with open(path, "rb") as stream:
        for _ in range(_MOST_BYTES // _CHUNK_BYTES):
            data = stream.read(_CHUNK_BYTES)
            if not data:
                break
            found = zlib.crc32(data, found)
    return found


def dwarf_of(elf: Elf) -> Dwarf:
    found = elf.get_dwarf_info()
    if found.debug_info_sec is None:
        raise UserError(_NO_DEBUG)
    return found


def type_units_of(elf: Elf) -> Dwarf | None:
    """The type units of DWARF 4, which have a section of their own; None if there are none."""
    if elf.get_section_by_name(".debug_types") is None:
        return None
    return _with_sections(elf, {"debug_info_sec": ".debug_types"})


def _with_sections(elf: Elf, names: dict[str, str]) -> Dwarf:
    found = elf.get_dwarf_info()
    descriptor = importlib.import_module("elftools.dwarf.dwarfinfo").DebugSectionDescriptor
    for attribute, name in names.items():
        # Compilers write a section for each type unit.
        data = b"".join(section.data() for section in elf.iter_sections() if section.name == name)
        if data:
            setattr(found, attribute, descriptor(io.BytesIO(data), name, 0, len(data), 0))
    return found


class SplitFiles:
    """The .dwo files of an object file."""

    def __init__(self, path: str, dwarf: Dwarf) -> None:
        self._folder = os.path.dirname(os.path.realpath(path))
        self._dwarf = dwarf

    def open(self, skeleton: DebugEntry) -> Dwarf:
        """The .dwo file of a unit, given its first entry. UserError: it is missing, or is of DWARF 4."""
        name = _text(skeleton, "DW_AT_dwo_name")
        if not name:
            raise UserError("it is split into .dwo files of DWARF 4, which are not read")
        where = os.path.join(_text(skeleton, "DW_AT_comp_dir"), name)
        beside = os.path.join(self._folder, os.path.basename(name))
        for path in (where, beside):
            if os.path.isabs(path) and is_regular_file(path):
                with opened(path) as elf:
                    found = _with_sections(elf, _SPLIT_SECTIONS)
                found.debug_addr_sec = self._dwarf.debug_addr_sec
                return found
        raise UserError(
            f"it is split into {shorten(os.path.basename(name))}, which is missing (.dwp is not read)"
        )


def _text(entry: DebugEntry, name: str) -> str:
    attribute = entry.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return os.fsdecode(value) if isinstance(value, bytes) else ""
