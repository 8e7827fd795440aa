# SPDX-License-Identifier: GPL-2.0-or-later
"""Guesses at the types of heap blocks, from the names of the functions that allocated them and from the source lines.
Whether there is such a type and it fits is checked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...model.errors import shorten
from ...model.frames import Chains, Position
from ...model.objects import Identity, ObjectGroup, Site
from ..code.ownership import is_rust_library
from .source_types import Guess, Sources, guesses_by_source, why_no_guess

# Templates whose first argument is the type that they allocate.
_TYPED = frozenset({
    "std::allocator", "std::__new_allocator", "__gnu_cxx::new_allocator", "std::allocator_traits",
    "__gnu_cxx::__alloc_traits", "std::vector", "std::_Vector_base", "std::make_unique",
})
_LIBRARY = ("std::", "__gnu_cxx::", "operator new")
_RUST_TYPED = frozenset({
    "alloc::vec::Vec", "alloc::vec::from_elem", "alloc::boxed::Box", "alloc::collections::vec_deque::VecDeque",
})
# Functions of Rust's allocator, which call code without line numbers. The last two are of compilers before 2025.
_RUST_ALLOCATOR = ("__rustc::__r", "__rust_", "__rdl_")
_PARAMETERS = ("T", "[T]")
_VERSIONS = re.compile(r"(?<=::)(?:__1|__2|__8|__cxx11)::")
_STEM = re.compile(r"[\w:]+$")


def agreed_guesses(group: ObjectGroup, chains: Chains, sources: Sources) -> list[Guess]:
    """The types that all call sites of a group agree on. If functions that are inlined in one line allocate different
    types, the group has none of them."""
    ways = [
        list(_guesses(group.identity, sites, chains, sources)) for sites in group.sites or ((),)
    ]
    return [
        guess for guess in dict.fromkeys(ways[0])
        if all(any(guess.name == other.name for other in way) for way in ways)
    ]


def why_none(group: ObjectGroup, chains: Chains, sources: Sources) -> str:
    """Why agreed_guesses() finds no type for a group, as the end of a sentence."""
    ways = group.sites or ((),)
    names = dict.fromkeys(
        shorten(guess.name) for sites in ways for guess in _guesses(group.identity, sites, chains, sources)
    )
    if len(names) > 1:
        return f"different types are allocated in the same line: {', '.join(names)}"
    for position, own_file in (one for sites in ways for one in _positions(sites, chains)):
        if not is_library(position.function, own_file):
            return why_no_guess(position, sources)
    return "the functions that allocate it name no type"


def _guesses(
    identity: Identity, sites: Sequence[Site], chains: Chains, sources: Sources
) -> Iterator[Guess]:
    """The guesses by the calls that allocate, the innermost first. Beyond the first function that is not of the
    library, names would lead to other types, such as that of a container that calls the function."""
    if identity.function is not None:
        yield from _by_name(identity.function.name)
    is_beyond = False
    for position, own_file in _positions(sites, chains):
        if is_beyond:
            # The function before may allocate for its caller, as xmalloc() does.
            yield from _with_arguments(guesses_by_source(position, sources, with_new=False), position)
        elif is_library(position.function, own_file):
            yield from _by_name(position.function)
        else:
            is_beyond = True
            yield from _by_name(position.function)
            yield from _with_arguments(guesses_by_source(position, sources, with_new=True), position)


def _with_arguments(guesses: Iterable[Guess], position: Position) -> Iterator[Guess]:
    """The guesses, and the types that a template parameter such as T may stand for. Only the template's source shows
    which of its arguments that is, so all arguments in the name of the function are tried. A type that is called T
    comes first."""
    for guess in guesses:
        yield guess
        if guess.pointer is not None or not _PARAMETER.fullmatch(guess.name):
            continue
        for argument in dict.fromkeys(_all_arguments(position.function)):
            reason = f"{guess.reason}, {guess.name} is {shorten(argument)} in {shorten(position.function)}"
            yield Guess(argument, reason, guess.is_single)


# Usual names of template parameters.
_PARAMETER = re.compile(r"[A-Z][a-z]{0,2}\d?|\w+(?:Type|_type)|Elem(?:ent)?|Value|_[A-Z]\w{0,4}")
_VALUE = re.compile(r"-?\d.*|true|false|nullptr|\(.*|&.*")


def _all_arguments(name: str) -> Iterator[str]:
    """The arguments of all outermost templates in a name that may be types, the last one first."""
    depth, start = 0, 0
    found: list[str] = []
    for index, character in enumerate(name):
        if character in "<(":
            depth += 1
            start = index + 1 if depth == 1 else start
        elif character in ">)" or (character == "," and depth == 1):
            if depth == 1 and character != ")":
                found.append(name[start:index].strip())
                start = index + 1
            depth -= character in ">)"
    yield from (one for one in reversed(found) if one and not _VALUE.fullmatch(one))


def _positions(sites: Sequence[Site], chains: Chains) -> Iterator[tuple[Position, str]]:
    """The positions of call sites and of what is inlined there, the innermost first, up to main. Each comes with the
    file that the function is from."""
    for site in sites:
        chain = chains.get(site.function.object, {}).get(site.address)
        if chain:
            yield from ((position, position.file) for position in reversed(chain))
        else:
            yield Position(site.function.name, site.file, site.line), site.function.file
        if site.function.name == "main":
            return


def _by_name(name: str) -> Iterator[Guess]:
    """The types that the name of a library's function says it allocates."""
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
    """The same for Rust. If a name has only the parameter T, its argument follows the name of the function."""
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
    """The names of the outermost templates in a name, with the first argument of each."""
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


def is_library(name: str, file: str) -> bool:
    """Whether a function is from the C++ or the Rust library, or from Rust's allocator. file: the one it is from."""
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
