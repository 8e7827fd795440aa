# SPDX-License-Identifier: GPL-2.0-or-later
"""Ownership of code: the reader can change what has source that is not from a library."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.profile import Function, Place

# The paths of Rust's library in its official builds, in a toolchain with sources, and in Debian.
_RUST_LIBRARY = r"/rustc/|/rust/deps/|.*/rustlib/src/rust/library/|/usr/src/rustc-[^/]*/library/"
# Headers of compilers and distributions, the folders in which these are built, and downloads of package managers.
_FOREIGN = re.compile(
    rf"{_RUST_LIBRARY}|/usr/(?!src/|local/src/)|/build/|/opt/|/nix/store/"
    r"|.*/(?:\.cargo|\.rustup|\.conan2?|vcpkg_installed|_deps|node_modules|site-packages|pkg/mod)/"
)


def is_foreign(file: str) -> bool:
    """Whether a source file is from a library, or its place is not known."""
    return file == "???" or _FOREIGN.match(file) is not None or not os.path.isabs(file)


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders that the user says are the program's own, and those of libraries. They take precedence over the
    names of files."""

    own: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def is_library(self, file: str) -> bool:
        """Whether a file, whose name must be known, is from a library."""
        if _is_below(file, self.own):
            return False
        return _is_below(file, self.libraries) or _FOREIGN.match(file) is not None


def _is_below(file: str, folders: Sequence[str]) -> bool:
    """Whether a file is in one of the folders, or below. Relative folders match anywhere in its path."""
    return any(
        file.startswith(f"{name}/") if name.startswith("/") else f"/{name}/" in f"/{file}"
        for name in (folder.rstrip("/") for folder in folders)
    )


def is_rust_library(file: str) -> bool:
    """Whether a source file is from Rust's library."""
    return re.match(_RUST_LIBRARY, file) is not None


_BRACKETS = re.compile(r"([<(])|[>)]")
_ALLOCATES = re.compile(r"(?<!de)alloc|str(?:n)?dup|memdup", re.IGNORECASE)


def allocates_for_callers(name: str) -> bool:
    """Whether the name of a function says that it allocates for its callers, as xmalloc(). bdgrind does not count such
    functions among the callers that distinguish heap blocks."""
    bare = _outside_brackets(name.partition("'")[0])
    return _ALLOCATES.search(bare.partition(" [")[0].rpartition("::")[2]) is not None


def _outside_brackets(name: str) -> str:
    """The text outside of all brackets, in one pass, as the name may be from an untrusted profile. Closing brackets
    without an opening one are ignored."""
    kept: list[str] = []
    depth = start = 0
    for bracket in _BRACKETS.finditer(name):
        if depth == 0:
            kept.append(name[start:bracket.start()])
        depth = depth + 1 if bracket[1] else max(depth - 1, 0)
        start = bracket.end()
    return "".join(kept) + (name[start:] if depth == 0 else "")


# Libraries of the compiler and of C, and those that Valgrind loads into every program.
_RUNTIME = re.compile(
    r"(?:ld|ld-linux|ld-musl|lib(?:c|m|mvec|pthread|dl|rt|gcc_s|stdc\+\+|c\+\+|c\+\+abi|gomp|omp"
    r"|gfortran|quadmath|atomic))(?:[-.][^/]*)?\.so(?:\..*)?|vgpreload_.*\.so"
)


def is_runtime(module: str) -> bool:
    """Whether an object file is a library of the compiler, of C or of Valgrind."""
    return _RUNTIME.fullmatch(os.path.basename(module)) is not None


class Reach(enum.IntEnum):
    """How easily the reader of a report can change a function."""

    RUNTIME = 0  # only its calls can be changed
    FOREIGN = 1  # of another library
    NAMELESS = 2  # of the program, but without a symbol
    NAMED = 3  # of the program, but the place of its source is not known
    OWN = 4


class Ownership:
    """The ownership of the functions of one profile. Code is the reader's own if it is in the program's object file, or
    if its source is readable here, unless that is where libraries are."""

    def __init__(
        self, places: Mapping[Function, Sequence[Place]], folders: Folders = Folders()
    ) -> None:
        self.folders = folders
        self._places = places
        self._programs = {function.object for function in places if function.name == "main"}
        self._known: dict[Function, Reach] = {}
        self._readable: dict[str, bool] = {}

    def reach(self, function: Function) -> Reach:
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = self._find(function)
        return known

    def _find(self, function: Function) -> Reach:
        """The reach of a function by all files that its code is from, as the first one often is of inlined code."""
        of_program = function.object in self._programs
        foreign = Reach.RUNTIME if is_runtime(function.object) else Reach.FOREIGN
        if function.is_nameless:
            return Reach.NAMELESS if of_program else foreign
        files = {function.file, *(place.file for place in self._places.get(function, ()))}
        if files == {"???"}:
            return Reach.NAMED if of_program else foreign
        for file in files:
            if file != "???" and not self.folders.is_library(file):
                if of_program or self._is_readable(file):
                    return Reach.OWN
        return foreign

    def is_instance(self, function: Function) -> bool:
        """Whether a library function was compiled into the program, such as an instance of a template."""
        return (
            function.object in self._programs and function.file != "???"
            and self.reach(function) is Reach.FOREIGN
        )

    def _is_readable(self, file: str) -> bool:
        known = self._readable.get(file)
        if known is None:
            known = self._readable[file] = file.startswith("/") and os.path.isfile(file)
        return known
