# SPDX-License-Identifier: GPL-2.0-or-later
"""Of what types heap blocks could be: what the functions that allocated them say by their names, and
the source lines. Whether there is such a type, and it fits, others look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...model.errors import shorten
from ...model.frames import Chains, Position
from ...model.objects import Identity, ObjectGroup, Site
from ..code.ownership import is_rust_library
from .source_types import Guess, Sources, guesses_by_source, why_no_guess

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


def agreed_guesses(group: ObjectGroup, chains: Chains, sources: Sources) -> list[Guess]:
    """Where what is inlined in one line allocates different types, none is that of the group."""
    ways = [
        list(_guesses(group.identity, sites, chains, sources)) for sites in group.sites or ((),)
    ]
    return [
        guess for guess in dict.fromkeys(ways[0])
        if all(any(guess.name == other.name for other in way) for way in ways)
    ]


def why_none(group: ObjectGroup, chains: Chains, sources: Sources) -> str:
    """Why agreed_guesses() knows nothing of that group."""
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
    """Innermost first. Beyond the first function that is not of the library, another one's type
    would be found, or that of a container that the function is called by."""
    if identity.function is not None:
        yield from _by_name(identity.function.name)
    is_beyond = False
    for position, own_file in _positions(sites, chains):
        if is_beyond:
            # Of a function that allocates for its caller, as xmalloc().
            yield from _with_arguments(guesses_by_source(position, sources, with_new=False), position)
        elif is_library(position.function, own_file):
            yield from _by_name(position.function)
        else:
            is_beyond = True
            yield from _by_name(position.function)
            yield from _with_arguments(guesses_by_source(position, sources, with_new=True), position)


def _with_arguments(guesses: Iterable[Guess], position: Position) -> Iterator[Guess]:
    """In a template, what its parameter T may stand for, by the name of the function: which parameter it is, only the
    template's source tells, so each argument is tried that is no type of that name."""
    for guess in guesses:
        yield guess
        if guess.pointer is not None or not _PARAMETER.fullmatch(guess.name):
            continue
        for argument in dict.fromkeys(_all_arguments(position.function)):
            reason = f"{guess.reason}, {guess.name} is {shorten(argument)} in {shorten(position.function)}"
            yield Guess(argument, reason, guess.is_single)


# What parameters of templates are called. A type of that name comes first.
_PARAMETER = re.compile(r"[A-Z][a-z]{0,2}\d?|\w+(?:Type|_type)|Elem(?:ent)?|Value|_[A-Z]\w{0,4}")
_VALUE = re.compile(r"-?\d.*|true|false|nullptr|\(.*|&.*")


def _all_arguments(name: str) -> Iterator[str]:
    """Types among the arguments of all templates in a name, the innermost template last."""
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


def is_library(name: str, file: str) -> bool:
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
