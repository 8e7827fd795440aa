# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of data, as the debug information of the program that ran has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


# How names of types begin that come with a C++ compiler.
CPP_LIBRARIES = ("std::", "__gnu_cxx::")


class Repeats(NamedTuple):
    """An array of structs that a field is in: where it begins, how far its elements are apart, in
    bytes, and how many they are."""

    start: int
    stride: int
    number: int

    @property
    def end(self) -> int:
        return self.start + self.stride * self.number


class Field(NamedTuple):
    """A member that is not made of others, or an array of such; offset and size are in bytes. Of a
    bit-field, they are those of the bytes that have its bits; in an array of structs, those of its
    first element."""

    name: str  # with those of the members around it: at.x, corners[3].x
    type: str
    offset: int
    size: int
    repeats: Repeats | None = None


@dataclass(frozen=True, slots=True)
class Type:
    """fields are in memory order, without padding. Of an array of any sizes, they are those of
    an element, and so are name and size."""

    name: str
    size: int  # in bytes
    fields: tuple[Field, ...] = ()
    has_virtual_bases: bool = False  # these are in no field: where they lie is known at run time only


class VariableName(NamedTuple):
    symbol: str
    size: int  # in bytes
    is_thread_local: bool = False  # its address is its place in a thread's block


class PointerName(NamedTuple):
    """A variable that points to something, by the name that it has in a function; or a member that does."""

    function: str  # as demanglers write it
    variable: str
    members: tuple[str, ...] = ()  # of the variable, or of what it points to, and so on


@dataclass(frozen=True, slots=True)
class WantedTypes:
    """What is to be looked for in an object file."""

    names: frozenset[str] = frozenset()
    variables: frozenset[VariableName] = frozenset()
    pointers: frozenset[PointerName] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundTypes:
    """By object file and name. Several types of a name differ. notes say in sentences what could not
    be read, and why; problems the reason alone, by object file. pointees are what variables point to."""

    named: Mapping[tuple[str, str], tuple[Type, ...]]
    variables: Mapping[tuple[str, VariableName], tuple[Type, ...]]
    notes: tuple[str, ...] = ()
    pointees: Mapping[tuple[str, PointerName], tuple[Type, ...]] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
