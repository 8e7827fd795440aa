# SPDX-License-Identifier: GPL-2.0-or-later
"""The types of data objects, and why they are assumed.

A variable has a type. A heap block has none, but the code that allocated it is known: the templates of the C++ library
and the generic functions of Rust's library that were inlined or called there, and the source line. A type that these
suggest must have a size that fits the sizes of the blocks; otherwise, the blocks have no type.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...model.data_types import FoundTypes, PointerName, Type, VariableName, WantedTypes
from ...model.errors import shorten
from ...model.frames import Chains
from ...model.objects import VARIABLES, Identity, ObjectGroup, ObjectKind
from ..code.ownership import is_runtime
from ..data.object_labels import label
from .field_use import FieldUse, field_uses
from .source_types import Guess, Sources
from .type_fit import Fit, elements_of, fit
from .type_guesses import agreed_guesses, why_none


class AskedType(NamedTuple):
    """A type that the user gives for the objects whose names match."""

    pattern: re.Pattern[str]
    name: str
    option: str


@dataclass(frozen=True, slots=True)
class TypedGroup:
    """The type of a group's elements, and how its fields were used."""

    type: Type
    reason: str  # why it is assumed, as the end of a sentence
    fields: tuple[FieldUse, ...]
    has_use: bool  # whether it is known how the fields were used
    start: int = 0  # the offset of the first element in a block, in bytes
    has_open_end: bool = False  # whether the last field extends to the end of the block
    only: int = 0  # the size in bytes of the blocks that have this type; 0: all


@dataclass(frozen=True, slots=True)
class GroupTypes:
    """The types of heap blocks and variables. missing: why they have none, as the end of a sentence."""

    known: Mapping[Identity, TypedGroup] = field(default_factory=dict)
    missing: Mapping[Identity, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Typing:
    """What must be looked up in debug information to find the types of groups. reasons: why nothing is looked up for a
    group of heap blocks. wanted: by object file."""

    groups: Sequence[ObjectGroup]
    guesses: Mapping[Identity, Sequence[Guess]]
    reasons: Mapping[Identity, str]
    wanted: Mapping[str, WantedTypes]


def call_sites(groups: Sequence[ObjectGroup]) -> dict[str, dict[int, int]]:
    """The addresses of the calls that allocated blocks, with their source lines, by object file. The functions that
    were inlined there say more than the function around, and have variables of their own."""
    found: dict[str, dict[int, int]] = {}
    for sites in (sites for group in groups for sites in group.sites):
        for site in sites:
            if site.address:
                found.setdefault(site.function.object, {})[site.address] = site.line
            if site.function.name == "main":
                break
    return found


def typing(
    groups: Sequence[ObjectGroup], asked: Sequence[AskedType], chains: Chains, include: Sequence[str]
) -> Typing:
    """What must be looked up for the types of groups. asked: the types that the user gives. include: the folders to
    search source files in."""
    sources = Sources(include)
    guesses: dict[Identity, Sequence[Guess]] = {}
    reasons: dict[Identity, str] = {}
    wanted: dict[str, _Wanted] = defaultdict(_Wanted)
    for group in groups:
        identity = group.identity
        if identity.kind in VARIABLES:
            wanted[identity.object].variables.add(_variable(identity))
        elif identity.kind is ObjectKind.HEAP:
            here = [Guess(one.name, f"as {one.option} says") for one in _asked(group, asked)]
            here = here or agreed_guesses(group, chains, sources)
            guesses[identity] = here
            if not here:
                reasons[identity] = why_none(group, chains, sources)
            for path in _objects(group):
                for guess in here:
                    wanted[path].add(guess)
    return Typing(groups, guesses, reasons, {path: one.all() for path, one in wanted.items()})


class _Wanted:
    """Collects what is to be looked up in one object file."""

    def __init__(self) -> None:
        self.variables: set[VariableName] = set()
        self._names: set[str] = set()
        self._pointers: set[PointerName] = set()

    def add(self, guess: Guess) -> None:
        if guess.pointer is not None:
            self._pointers.add(guess.pointer)
        else:
            self._names.add(guess.name)

    def all(self) -> WantedTypes:
        return WantedTypes(frozenset(self._names), frozenset(self.variables), frozenset(self._pointers))


def types_of(
    asked: Sequence[AskedType], sought: Typing, found: FoundTypes
) -> tuple[GroupTypes, list[str]]:
    """The types of the groups, and sentences about types that the user gave, but that do not fit."""
    types: dict[Identity, TypedGroup] = {}
    missing: dict[Identity, str] = {}
    notes: list[str] = []
    for group in sought.groups:
        identity = group.identity
        if identity.kind in VARIABLES:
            result = _of_variable(group, found)
        elif identity.kind is ObjectKind.HEAP:
            result = _of_blocks(group, sought, found)
        else:
            continue
        if isinstance(result, TypedGroup):
            types[identity] = result
            continue
        missing[identity] = result
        is_asked = identity.kind is ObjectKind.HEAP and bool(_asked(group, asked))
        if is_asked and not _problem(_objects(group), found):
            notes.append(f"{label(group)} is not shown as {result}")
    return GroupTypes(types, missing), notes


def _of_variable(group: ObjectGroup, found: FoundTypes) -> TypedGroup | str:
    identity = group.identity
    known = found.variables.get((identity.object, _variable(identity)), ())
    if len(known) == 1:
        number, rest = divmod(identity.size, known[0].size)
        of_them = f"; the variable has {number:,} of them" if number > 1 and not rest else ""
        return _typed(group, Fit(known[0]), f"as it is declared{of_them}")
    problem = _problem([identity.object], found)
    if problem or known:
        return problem or f"there are {len(known)} variables of that name, with different types"
    return f"the debug information of {_base_names([identity.object])} has no such variable"


def _of_blocks(group: ObjectGroup, sought: Typing, found: FoundTypes) -> TypedGroup | str:
    """The type of the first guess that fits; or the reason why the first guess that names a type does not."""
    paths = _objects(group)
    reasons: list[tuple[bool, str]] = []
    for guess in sought.guesses.get(group.identity, ()):
        known = _known(guess, paths, found)
        fitting = [one for one in (fit(found_type, guess, group) for found_type in known) if one]
        if len(fitting) == 1:
            return _typed(group, fitting[0], f"{guess.reason}{fitting[0].note}")
        reasons.append((bool(known), _refusal(guess, paths, known, len(fitting))))
        if fitting:
            break
    if not reasons:
        return sought.reasons[group.identity]
    of_known = next((reason for is_known, reason in reasons if is_known), "")
    return of_known or _problem(paths, found) or reasons[0][1]


def _known(guess: Guess, paths: Sequence[str], found: FoundTypes) -> Sequence[Type]:
    """All types that a guess may mean."""
    if guess.pointer is not None:
        here = [found.pointees.get((path, guess.pointer), ()) for path in paths]
    else:
        here = [found.named.get((path, guess.name), ()) for path in paths]
    return tuple(dict.fromkeys(one for types in here for one in types))


def _problem(paths: Sequence[str], found: FoundTypes) -> str:
    """Why no types are known in object files; empty if there is no problem."""
    return next(
        (f"{_base_names([path])}: {found.problems[path]}" for path in paths if path in found.problems), ""
    )


def _variable(identity: Identity) -> VariableName:
    is_thread_local = identity.kind is ObjectKind.THREAD_LOCAL
    return VariableName(identity.symbol or identity.name, identity.size, is_thread_local)


def _typed(group: ObjectGroup, found: Fit, reason: str) -> TypedGroup:
    uses = field_uses(found.type, elements_of(group, found.start, found.only).patterns)
    return TypedGroup(
        found.type, reason, uses, group.has_patterns, found.start, found.has_open_end, found.only
    )


def _asked(group: ObjectGroup, asked: Sequence[AskedType]) -> list[AskedType]:
    return [one for one in asked if one.pattern.search(label(group))]


def _refusal(guess: Guess, paths: Sequence[str], known: Sequence[Type], fitting: int) -> str:
    start = f"{shorten(guess.name)} ({guess.reason}): "
    if not known:
        what = "type" if guess.pointer is None else "variable there, or not the type that it points to"
        return f"{start}the debug information of {_base_names(paths)} has no such {what}"
    if fitting > 1:
        return f"{start}there are {fitting} different types of that name"
    sizes = ", ".join(f"{size:,}" for size in sorted({one.size for one in known}))
    fault = "is not that of every block" if guess.is_single else "does not divide the sizes of the blocks"
    return f"{start}its size, {sizes}, {fault}"


def _base_names(paths: Sequence[str]) -> str:
    return ", ".join(shorten(os.path.basename(path)) for path in paths) or "no object"


def _objects(group: ObjectGroup) -> list[str]:
    """The object files of the code that allocated a group. Callers of main are left out, and so are the C and C++
    libraries unless there are no others: what they allocate for a program has the program's types."""
    found: dict[str, None] = {}
    for place in group.identity.places:
        found[place.function.object] = None
        if place.function.name == "main":
            break
    paths = [path for path in found if path.startswith("/")]
    return [path for path in paths if not is_runtime(path)] or paths
