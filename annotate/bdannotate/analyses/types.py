# SPDX-License-Identifier: GPL-2.0-or-later
"""Of what types data objects are, and why.

A variable has a type. A heap block has none; what is known is who allocated it: the templates of the
C++ library, and the generic functions of Rust's, that were inlined or called there, and what the
source line says. A type that comes to
mind so must have a size that goes with the sizes of the blocks, or nothing is claimed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model.errors import shorten
from ..model.frames import Chains, Position
from ..model.objects import VARIABLES, Blocks, Group, Identity, ObjectKind, Site
from ..model.types import FoundTypes, Type, VariableName, WantedTypes
from .field_use import FieldUse, field_uses
from .fortran_source import allocated_type, is_fortran
from .objects import label
from .ownership import is_rust_library
from .source_text import SourceText, read_source

# What has the type that it allocates as its first argument.
_TYPED = frozenset({
    "std::allocator", "std::__new_allocator", "__gnu_cxx::new_allocator", "std::allocator_traits",
    "__gnu_cxx::__alloc_traits", "std::vector", "std::_Vector_base", "std::make_unique",
})
_LIBRARY = ("std::", "__gnu_cxx::", "operator new")
_RUST_TYPED = frozenset({
    "alloc::vec::Vec", "alloc::vec::from_elem", "alloc::boxed::Box", "alloc::collections::vec_deque::VecDeque",
})
# What these call has no lines. The last two are of compilers before 2025.
_RUST_ALLOCATOR = ("__rustc::__r", "__rust_", "__rdl_")
_PARAMETERS = ("T", "[T]")
_VERSIONS = re.compile(r"(?<=::)(?:__1|__2|__8|__cxx11)::")
_STEM = re.compile(r"[\w:]+$")
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*((?:(?:struct|class|union)\s+)?[A-Za-z_][\w:]*[\s*]*)\)")
_NEW = re.compile(r"\bnew\s+((?:(?:struct|class|union)\s+)?[A-Za-z_][\w:]*[\s*]*)(\[|[({;,)]|$)")


class Guess(NamedTuple):
    name: str
    reason: str
    is_single: bool = False  # a block has one element


class AskedType(NamedTuple):
    """What the user says of the objects whose names match."""

    pattern: re.Pattern[str]
    name: str
    option: str


@dataclass(frozen=True, slots=True)
class TypedGroup:
    type: Type
    reason: str
    fields: tuple[FieldUse, ...]
    has_use: bool  # whether anybody knows how they were used


@dataclass(frozen=True, slots=True)
class Typing:
    """What is to be looked up for some groups before their types can be told."""

    groups: Sequence[Group]
    guesses: Mapping[Identity, Sequence[Guess]]
    wanted: Mapping[str, WantedTypes]


def call_sites(groups: Sequence[Group]) -> dict[str, dict[int, int]]:
    """By object, the addresses at which blocks were allocated, with their lines: whoever was inlined
    there says more than the function around."""
    found: dict[str, dict[int, int]] = {}
    for sites in (sites for group in groups for sites in group.sites):
        for site in sites:
            if site.address:
                found.setdefault(site.function.object, {})[site.address] = site.line
            if not _is_library(site.function.name, site.function.file):
                break
    return found


def typing(
    groups: Sequence[Group], asked: Sequence[AskedType], chains: Chains, include: Sequence[str]
) -> Typing:
    sources = _Sources(include)
    guesses: dict[Identity, Sequence[Guess]] = {}
    names: dict[str, set[str]] = {}
    variables: dict[str, set[VariableName]] = {}
    for group in groups:
        identity = group.identity
        if identity.kind in VARIABLES:
            variables.setdefault(identity.object, set()).add(_variable(identity))
        elif identity.kind is ObjectKind.HEAP:
            here = [Guess(one.name, f"as {one.option} says") for one in _asked(group, asked)]
            here = here or _agreed(group, chains, sources)
            guesses[identity] = here
            if here:
                for path in _objects(group):
                    names.setdefault(path, set()).update(guess.name for guess in here)
    wanted = {
        path: WantedTypes(frozenset(names.get(path, ())), frozenset(variables.get(path, ())))
        for path in (*names, *variables)
    }
    return Typing(groups, guesses, wanted)


def types_of(
    asked: Sequence[AskedType], sought: Typing, found: FoundTypes
) -> tuple[dict[Identity, TypedGroup], list[str]]:
    """The types of those groups that have one, and sentences on what the user says and is not so."""
    types: dict[Identity, TypedGroup] = {}
    notes: list[str] = []
    for group in sought.groups:
        identity = group.identity
        if identity.kind in VARIABLES:
            known = found.variables.get((identity.object, _variable(identity)), ())
            if len(known) == 1:
                number, rest = divmod(identity.size, known[0].size)
                of_them = f"; the variable has {number:,} of them" if number > 1 and not rest else ""
                types[identity] = _typed(group, known[0], f"as it is declared{of_them}")
            continue
        paths = _objects(group)
        for guess in sought.guesses.get(identity, ()):
            all_known = [one for path in paths for one in found.named.get((path, guess.name), ())]
            known = tuple(dict.fromkeys(all_known))
            fitting = [one for one in known if group.blocks and _fits(one, guess, group.blocks)]
            if len(fitting) == 1:
                types[identity] = _typed(group, fitting[0], guess.reason)
            elif _asked(group, asked) and any((path, guess.name) in found.named for path in paths):
                notes.append(_refusal(group, guess.name, known, len(fitting)))
            if fitting:
                break
    return types, notes


def _variable(identity: Identity) -> VariableName:
    is_thread_local = identity.kind is ObjectKind.THREAD_LOCAL
    return VariableName(identity.symbol or identity.name, identity.size, is_thread_local)


def _typed(group: Group, found: Type, reason: str) -> TypedGroup:
    return TypedGroup(found, reason, field_uses(found, group.patterns), group.has_patterns)


def _asked(group: Group, asked: Sequence[AskedType]) -> list[AskedType]:
    return [one for one in asked if one.pattern.search(label(group))]


def _fits(found: Type, guess: Guess, blocks: Blocks) -> bool:
    if guess.is_single:
        return blocks.smallest == blocks.largest == found.size
    return blocks.divisor > 0 and blocks.divisor % found.size == 0


def _refusal(group: Group, name: str, known: Sequence[Type], fitting: int) -> str:
    start = f"{label(group)} is not taken for {name}: "
    if not known:
        return f"{start}the debug information of {_told(group)} has no such type"
    if fitting:
        return f"{start}there are {fitting} different types of that name"
    sizes = ", ".join(f"{size:,}" for size in sorted({one.size for one in known}))
    return f"{start}its size, {sizes}, does not divide the sizes of the blocks"


def _told(group: Group) -> str:
    return ", ".join(os.path.basename(path) for path in _objects(group)) or "no object"


def _objects(group: Group) -> list[str]:
    """The object files of the code that allocated; not of what called main."""
    found: dict[str, None] = {}
    for place in group.identity.places:
        found[place.function.object] = None
        if place.function.name == "main":
            break
    return [path for path in found if path.startswith("/")]


def _agreed(group: Group, chains: Chains, sources: _Sources) -> list[Guess]:
    """Where what is inlined in one line allocates different types, none is that of the group."""
    ways = [
        list(_guesses(group.identity, sites, chains, sources)) for sites in group.sites or ((),)
    ]
    return [
        guess for guess in dict.fromkeys(ways[0])
        if all(any(guess.name == other.name for other in way) for way in ways)
    ]


def _guesses(
    identity: Identity, sites: Sequence[Site], chains: Chains, sources: _Sources
) -> Iterator[Guess]:
    """Innermost first. Beyond the first function that is not of the library, another one's type
    would be found, or that of a container that the function is called by."""
    if identity.function is not None:
        yield from _by_name(identity.function.name)
    is_beyond = False
    for position, own_file in _positions(sites, chains):
        if is_beyond:
            # Of a function that allocates for its caller, as xmalloc().
            yield from _by_source(position, sources, with_new=False)
        elif _is_library(position.function, own_file):
            yield from _by_name(position.function)
        else:
            is_beyond = True
            yield from _by_name(position.function)
            yield from _by_source(position, sources, with_new=True)


def _positions(sites: Sequence[Site], chains: Chains) -> Iterator[tuple[Position, str]]:
    """With the file that the function is of."""
    for site in sites:
        chain = chains.get(site.function.object, {}).get(site.address)
        if chain:
            yield from ((position, position.file) for position in reversed(chain))
        else:
            yield Position(site.function.name, site.file, site.line), site.function.file
        if site.function.name == "main":
            return


def _by_name(name: str) -> Iterator[Guess]:
    yield from _by_rust_name(name)
    for stem, argument in _templates(name):
        if stem in _TYPED:
            inner = next((one for one in _templates(argument) if one[0] == "std::allocator"), None)
            kind = inner[1] if inner and stem.endswith("_traits") else argument
            is_single = stem == "std::make_unique"
            if is_single and kind.endswith("]"):
                kind, is_single = kind.rpartition("[")[0].strip(), False
            who = "std::allocator" if stem.endswith("_traits") else stem
            yield Guess(kind, f"allocated by {who}<{shorten(kind)}>", is_single)


def _by_rust_name(name: str) -> Iterator[Guess]:
    """Where a name has the parameter only, what it stands for follows behind the function."""
    stem, kind = next(_templates(name.removeprefix("<")), ("", ""))
    stem = stem.removesuffix("::")
    if stem not in _RUST_TYPED:
        return
    if kind in _PARAMETERS:
        _, _, arguments = name.rpartition("::<")
        kind = next(_templates(f"T<{arguments}"), ("", ""))[1]
        if not kind or kind in _PARAMETERS:
            return
    is_slice = kind.startswith("[") and kind.endswith("]")
    kind = kind[1:-1] if is_slice else kind
    is_single = stem == "alloc::boxed::Box" and not is_slice and "slice" not in name
    yield Guess(kind, f"allocated by {stem}<{shorten(kind)}>", is_single)


def _templates(name: str) -> Iterator[tuple[str, str]]:
    """What stands before angle brackets that are in no others, with the first argument in them."""
    depth = start = end = 0
    stem = ""
    for index, character in enumerate(name):
        if character in "<(":
            if depth == 0:
                found = _STEM.search(name[:index])
                stem = found[0] if found and character == "<" else ""
                start, end = index + 1, 0
            depth += 1
        elif character in ">)":
            depth -= 1
            if depth < 0:
                return
            if depth == 0 and stem:
                yield _VERSIONS.sub("", stem), name[start : end or index].strip()
        elif character == "," and depth == 1:
            end = end or index


def _is_library(name: str, file: str) -> bool:
    if is_rust_library(file) or name.startswith(_RUST_ALLOCATOR):
        return True
    depth = 0
    bare = ""
    for character in _VERSIONS.sub("", name):
        if character in "<(":
            if character == "(" and depth == 0:
                break
            depth += 1
        elif character in ">)":
            depth -= 1
        elif depth == 0:
            bare += character
    return any(part.startswith(_LIBRARY) for part in (bare, bare.rpartition(" ")[2]))


def _by_source(position: Position, sources: _Sources, with_new: bool) -> Iterator[Guess]:
    """Nothing where a line has several types: which call is meant is not known."""
    if is_fortran(position.file):
        yield from _by_fortran(position, sources)
        return
    text = sources.line(position.file, position.line)
    where = f"{os.path.basename(position.file)}:{position.line}"
    sizes = list(_SIZEOF.finditer(text))
    found = [Guess(_tidy(one[1]), f"{where} says {shorten(one[0])}") for one in sizes]
    for match in _NEW.finditer(text) if with_new else ():
        name, is_array = _tidy(match[1]), match[2] == "["
        reason = f"{where} says new {shorten(name)}{'[]' if is_array else ''}"
        found.append(Guess(name, reason, not is_array))
    others = len(re.findall(r"\bsizeof\b", text)) - len(sizes)
    if not others and len({guess.name for guess in found}) == 1:
        yield from found


def _by_fortran(position: Position, sources: _Sources) -> Iterator[Guess]:
    lines = sources.lines(position.file)
    found = allocated_type(lines, position.line) if 0 < position.line <= len(lines) else None
    if found is not None:
        where = f"{os.path.basename(position.file)}:{position.line}"
        yield Guess(found[1], f"{where} allocates {shorten(found[0])}, type({shorten(found[1])})")


def _tidy(name: str) -> str:
    return re.sub(r"\s+(?=\*)", "", name.strip())


class _Sources:
    def __init__(self, include: Sequence[str]) -> None:
        self._include = include
        self._known: dict[str, SourceText | str] = {}

    def lines(self, file: str) -> Sequence[str]:
        if not file:
            return ()
        if file not in self._known:
            self._known[file] = read_source(file, self._include)
        found = self._known[file]
        return () if isinstance(found, str) else found.lines

    def line(self, file: str, line: int) -> str:
        lines = self.lines(file) if line else ()
        return lines[line - 1] if 0 < line <= len(lines) else ""
