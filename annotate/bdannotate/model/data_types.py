# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of data, from the debug information of the program that ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


# The beginnings of the names of types that come with a C++ compiler.
CPP_LIBRARIES = ("std::", "__gnu_cxx::")


class Repeats(NamedTuple):
    """An array of structs that a field is in."""

    start: int  # its offset in bytes
    stride: int  # bytes from one element to the next
    number: int  # of elements

    @property
    def end(self) -> int:
        """The offset behind the array, in bytes."""
        return self.start + self.stride * self.number


class Field(NamedTuple):
    """A member that has no members itself, or an array of such. offset, size: in bytes; of a bit-field, those of the
    bytes that contain it; in an array of structs, those in the first element."""

    name: str  # with the names of the members around it: at.x, corners[3].x
    type: str
    offset: int
    size: int
    repeats: Repeats | None = None


@dataclass(frozen=True, slots=True)
class Type:
    """A type. fields: in memory order, without padding. The type of an array, of any dimensions, is that of its
    elements."""

    name: str
    size: int  # in bytes
    fields: tuple[Field, ...] = ()
    has_virtual_bases: bool = False  # these are in no field, as their offsets are known at run time only


class VariableName(NamedTuple):
    """A global or thread-local variable."""

    symbol: str
    size: int  # in bytes
    is_thread_local: bool = False  # if so, its address is an offset in a thread's block


class PointerName(NamedTuple):
    """A variable of a function that is a pointer, or that leads to one by its members."""

    function: str  # the demangled name
    variable: str
    members: tuple[str, ...] = ()  # of the variable, or of what it points to, and so on


@dataclass(frozen=True, slots=True)
class WantedTypes:
    """The types to look for in an object file."""

    names: frozenset[str] = frozenset()
    variables: frozenset[VariableName] = frozenset()
    pointers: frozenset[PointerName] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundTypes:
    """The types that were found, by object file and name. If there are several of a name, they differ. pointees: the
    types that pointers point to. notes: sentences on what could not be read, and why. problems: the reasons only, by
    object file."""

    named: Mapping[tuple[str, str], tuple[Type, ...]]
    variables: Mapping[tuple[str, VariableName], tuple[Type, ...]]
    notes: tuple[str, ...] = ()
    pointees: Mapping[tuple[str, PointerName], tuple[Type, ...]] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
