# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes types with their fields from entries of debug information."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ..model.errors import UserError
from ..model.data_types import Field, Repeats, Type
from .dwarf import MOST_STEPS, UNIT_TYPES, DebugEntry, Units, first_index, integer, name_of, uleb

_MOST_FIELDS = 4096
_MOST_BYTES = 1 << 22  # of a type, as some work takes a step for each byte
_MOST_MEMBERS = 1 << 16  # that are read for the fields of one type
_MOST_NAME = 1 << 12  # characters of the name of a field, with all structures around it; longer ones are cut
_QUALIFIERS = {
    "DW_TAG_const_type": "const ", "DW_TAG_volatile_type": "volatile ",
    "DW_TAG_restrict_type": "", "DW_TAG_atomic_type": "_Atomic ",
}
_POINTERS = {
    "DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
_RAW_BYTES = ("__aligned_membuf<", "__aligned_buffer<")
_OP_PLUS_UCONST = 0x23
# Static members, and virtual bases.
_NO_MEMBER = ("external", "declaration", "virtuality")


class TypeReader:
    """Makes types of one file. pointer: the size of a pointer, in bytes."""

    def __init__(self, units: Units, pointer: int) -> None:
        self._units = units
        self._pointer = pointer
        self._members = 0  # of this type, so far

    def type(self, entry: DebugEntry) -> Type | None:
        """The type of an entry; for an array, that of its elements. None if its size is unknown or too large."""
        name = ""
        for _ in range(MOST_STEPS):
            if entry.tag == "DW_TAG_typedef" and not name:
                name = self._units.qualified_name(entry)
            elif entry.tag not in (*_QUALIFIERS, "DW_TAG_typedef", "DW_TAG_array_type"):
                break
            target = self._units.follow(entry)
            if target is None:
                return None
            entry = target
        size = self._size(entry)
        if not 0 < size <= _MOST_BYTES:
            return None
        own = self._units.qualified_name(entry) or name or self._type_name(entry)
        self._members = 0
        fields = sorted(
            (field for field in self._fields(entry, 0, "", 0) if 0 <= field.offset <= size - field.size),
            key=lambda field: (field.offset, field.size),
        ) if entry.tag in UNIT_TYPES else []
        has_virtual = any(
            child.tag == "DW_TAG_inheritance" and "DW_AT_virtuality" in child.attributes
            for child in (self._units.children(entry) if entry.tag in UNIT_TYPES else ())
        )
        return Type(own, size, tuple(fields), has_virtual)

    def pointee(self, variable: DebugEntry) -> Type | None:
        """The type that a variable points to, or is an array of; None if it is neither, or points to void."""
        declared = self._units.follow(variable)
        pointer = self._unqualified(declared) if declared is not None else None
        if pointer is None or pointer.tag not in ("DW_TAG_pointer_type", "DW_TAG_array_type"):
            return None
        target = self._units.follow(pointer)
        return self.type(target) if target is not None else None

    def member(self, variable: DebugEntry, name: str) -> DebugEntry | None:
        """The member of this name in the structure that a variable or member is or points to; None if there is none.
        Members of bases and of unnamed structures are not found."""
        declared = self._units.follow(variable)
        kind = self._unqualified(declared) if declared is not None else None
        if kind is not None and kind.tag == "DW_TAG_pointer_type":
            target = self._units.follow(kind)
            kind = self._unqualified(target) if target is not None else None
        return next((
            child for child in (self._units.children(kind) if kind is not None else ())
            if child.tag == "DW_TAG_member" and name_of(child) == name
        ), None)

    def _fields(
        self, entry: DebugEntry, base: int, prefix: str, depth: int, repeats: Repeats | None = None
    ) -> Iterator[Field]:
        if depth > MOST_STEPS:
            raise UserError("a type contains itself")
        count = 0
        for child in self._units.children(entry):
            is_base = child.tag == "DW_TAG_inheritance"
            attributes = child.attributes
            if not is_base and child.tag != "DW_TAG_member":
                continue
            if any(f"DW_AT_{word}" in attributes for word in _NO_MEMBER):
                continue
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise UserError("a type has too many nested members")
            target = self._units.follow(child)
            if target is None:
                continue
            offset = base + _offset(child)
            name = "" if is_base else name_of(child)
            path = f"{prefix}{name}"[:_MOST_NAME]
            for field in self._field(child, target, offset, path, depth, repeats):
                count += 1
                if count > _MOST_FIELDS:
                    raise UserError("a type has too many fields")
                yield field

    def _field(
        self, member: DebugEntry, target: DebugEntry, offset: int, name: str, depth: int,
        repeats: Repeats | None,
    ) -> Iterator[Field]:
        if "DW_AT_bit_size" in member.attributes:
            first, bits = self._bits(member, target)
            start = offset + first // 8
            yield Field(
                f"{name}:{bits}", self._type_name(target), start,
                (first + bits + 7) // 8 - first // 8, repeats,
            )
            return
        element, lengths = self._element(target)
        inner = self._unqualified(element)
        held = self._held(inner)
        if held is not None and not lengths and self._size(held) <= self._size(target):
            yield from self._field(member, held, offset, name, depth + 1, repeats)
            return
        ranges = "".join(f"[{length or ''}]" for length in lengths)
        if inner.tag in UNIT_TYPES and not self._has_variants(inner):
            if not lengths:
                dot = "." if name and not name.endswith(".") else ""
                yield from self._fields(inner, offset, f"{name}{dot}", depth + 1, repeats)
                return
            # An array in an array of structures is one field.
            array = Repeats(offset, self._size(inner), prod(lengths))
            fields = [] if repeats or not array.stride or not array.number else list(
                self._fields(inner, offset, f"{name}{ranges}.", depth + 1, array)
            )
            if fields:
                yield from fields
                return
        yield Field(f"{name}{ranges}", self._type_name(element), offset, self._size(target), repeats)

    def _held(self, entry: DebugEntry) -> DebugEntry | None:
        """The type of the element that the nodes of C++ containers hold as raw bytes: the template argument of the
        buffer. None for other types."""
        if entry.tag not in UNIT_TYPES or not name_of(entry).startswith(_RAW_BYTES):
            return None
        for child in self._units.children(entry):
            if child.tag == "DW_TAG_template_type_param":
                return self._units.follow(child)
        return None

    def _has_variants(self, entry: DebugEntry) -> bool:
        """Whether the meaning of its bytes is known at run time only, as for enumerations of Rust."""
        return any(child.tag == "DW_TAG_variant_part" for child in self._units.children(entry))

    def _bits(self, member: DebugEntry, target: DebugEntry) -> tuple[int, int]:
        """The first bit of a bit field, counted from the offset of the member, and the number of bits."""
        attributes = member.attributes
        bits = integer(attributes["DW_AT_bit_size"].value)
        if "DW_AT_data_bit_offset" in attributes:
            return integer(attributes["DW_AT_data_bit_offset"].value), bits
        if "DW_AT_bit_offset" not in attributes:
            return 0, bits
        # Before DWARF 4, bits were counted from the highest one.
        storage = attributes.get("DW_AT_byte_size")
        width = 8 * (integer(storage.value) if storage else self._size(target))
        return width - integer(attributes["DW_AT_bit_offset"].value) - bits, bits

    def _unqualified(self, entry: DebugEntry) -> DebugEntry:
        for _ in range(MOST_STEPS):
            if entry.tag not in (*_QUALIFIERS, "DW_TAG_typedef"):
                break
            target = self._units.follow(entry)
            if target is None:
                break
            entry = target
        return entry

    def _element(self, entry: DebugEntry) -> tuple[DebugEntry, list[int]]:
        """The element of an array of arrays, and the length of each dimension; 0 if it is unknown."""
        lengths: list[int] = []
        for _ in range(MOST_STEPS):
            array = self._unqualified(entry)
            target = self._units.follow(array)
            if array.tag != "DW_TAG_array_type" or target is None:
                break
            lengths += self._lengths(array)
            entry = target
        return entry, lengths

    def _lengths(self, array: DebugEntry) -> list[int]:
        found: list[int] = []
        for child in self._units.children(array):
            if child.tag == "DW_TAG_subrange_type":
                count = child.attributes.get("DW_AT_count")
                first = child.attributes.get("DW_AT_lower_bound")
                last = child.attributes.get("DW_AT_upper_bound")
                start = first.value if first else first_index(array.cu.get_top_DIE())
                if len(found) == MOST_STEPS:
                    raise UserError("an array has too many dimensions")
                if count is not None and isinstance(count.value, int):
                    found.append(count.value)
                elif last is not None and isinstance(last.value, int) and isinstance(start, int):
                    found.append((last.value - start + 1) & 0xFFFF_FFFF_FFFF_FFFF)
                else:
                    found.append(0)
        return found

    def _size(self, entry: DebugEntry) -> int:
        """The size in bytes; 0 if it is unknown or impossibly large."""
        size = self._stated_size(entry)
        return size if 0 <= size < 1 << 63 else 0

    def _stated_size(self, entry: DebugEntry) -> int:
        factor = 1
        for _ in range(MOST_STEPS):
            size = entry.attributes.get("DW_AT_byte_size")
            if size is not None and isinstance(size.value, int):
                return factor * size.value
            if entry.tag in _POINTERS or entry.tag == "DW_TAG_ptr_to_member_type":
                return factor * self._pointer
            if entry.tag == "DW_TAG_array_type":
                for length in self._lengths(entry):
                    factor *= length
            target = self._units.follow(entry)
            if target is None:
                return 0
            entry = target
        return 0

    def _type_name(self, entry: DebugEntry) -> str:
        return self._whole_type_name(entry)[:_MOST_NAME]

    def _whole_type_name(self, entry: DebugEntry) -> str:
        before, behind = "", ""
        for _ in range(MOST_STEPS):
            if entry.tag in _POINTERS and name_of(entry):  # of Rust
                return f"{before}{name_of(entry)}{behind}"
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
                return f"{before}{name_of(entry) or _anonymous(entry)}{behind}"
            target = self._units.follow(entry)
            if target is None:
                return f"{before}void{behind}"
            entry = target
        raise UserError("a type contains itself")


def _anonymous(entry: DebugEntry) -> str:
    return entry.tag.removeprefix("DW_TAG_").removesuffix("_type").replace("_", " ")


def _offset(member: DebugEntry) -> int:
    location = member.attributes.get("DW_AT_data_member_location")
    if location is None:
        return 0
    if isinstance(location.value, int):
        return location.value
    if isinstance(location.value, Sequence):
        code, *operands = map(integer, location.value)
        if code == _OP_PLUS_UCONST:
            return uleb(operands)
    raise UserError("the position of a member is not understood")
