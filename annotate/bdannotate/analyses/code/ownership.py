# SPDX-License-Identifier: GPL-2.0-or-later
"""Which code its reader can change: what has source that is not a library's."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.profile import Function, Place

# Rust's library: as its makers, a toolchain with sources, and Debian name it.
_RUST_LIBRARY = r"/rustc/|/rust/deps/|.*/rustlib/src/rust/library/|/usr/src/rustc-[^/]*/library/"
# Headers that compilers and distributions bring, the folders of their builders, and what package
# managers download.
_FOREIGN = re.compile(
    rf"{_RUST_LIBRARY}|/usr/(?!src/|local/src/)|/build/|/opt/|/nix/store/"
    r"|.*/(?:\.cargo|\.rustup|\.conan2?|vcpkg_installed|_deps|node_modules|site-packages|pkg/mod)/"
)


def is_foreign(file: str) -> bool:
    """Whether a source file comes with a library, or it is not known where it is."""
    return file == "???" or _FOREIGN.match(file) is not None or not os.path.isabs(file)


@dataclass(frozen=True, slots=True)
class Folders:
    """Whose code files are, by the folders that they are in: what the user says comes first."""

    own: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def is_library(self, file: str) -> bool:
        """Of a file whose name is known."""
        if _is_below(file, self.own):
            return False
        return _is_below(file, self.libraries) or _FOREIGN.match(file) is not None


def _is_below(file: str, folders: Sequence[str]) -> bool:
    """Folders as they are given: from the root on, or any that are called so."""
    return any(
        file.startswith(f"{name}/") if name.startswith("/") else f"/{name}/" in f"/{file}"
        for name in (folder.rstrip("/") for folder in folders)
    )


def is_rust_library(file: str) -> bool:
    return re.match(_RUST_LIBRARY, file) is not None


_BRACKETS = re.compile(r"([<(])|[>)]")
_ALLOCATES = re.compile(r"(?<!de)alloc|str(?:n)?dup|memdup", re.IGNORECASE)


def allocates_for_callers(name: str) -> bool:
    """Whether the name says so, as that of a program's xmalloc(): bdgrind does not count it among the callers that
    distinguish heap blocks."""
    bare = _outside_brackets(name.partition("'")[0])
    return _ALLOCATES.search(bare.partition(" [")[0].rpartition("::")[2]) is not None


def _outside_brackets(name: str) -> str:
    """In one pass, as the name may be a stranger's. What closes without having been opened closes nothing."""
    kept: list[str] = []
    depth = start = 0
    for bracket in _BRACKETS.finditer(name):
        if depth == 0:
            kept.append(name[start:bracket.start()])
        depth = depth + 1 if bracket[1] else max(depth - 1, 0)
        start = bracket.end()
    return "".join(kept) + (name[start:] if depth == 0 else "")


# What comes with the compiler or the C library, and what Valgrind brings into every program.
_RUNTIME = re.compile(
    r"(?:ld|ld-linux|ld-musl|lib(?:c|m|mvec|pthread|dl|rt|gcc_s|stdc\+\+|c\+\+|c\+\+abi|gomp|omp"
    r"|gfortran|quadmath|atomic))(?:[-.][^/]*)?\.so(?:\..*)?|vgpreload_.*\.so"
)


def is_runtime(module: str) -> bool:
    """Whether an object file comes with the compiler or the C library."""
    return _RUNTIME.fullmatch(os.path.basename(module)) is not None


class Reach(enum.IntEnum):
    """How near a function is to who reads the report."""

    RUNTIME = 0  # it is not changed: what helps is to call it otherwise
    FOREIGN = 1
    NAMELESS = 2  # of the program, which has no symbol for it
    NAMED = 3  # of the program, but it is not known where its source is
    OWN = 4


class Ownership:
    """Answers for the functions of one profile. What is readable here, or belongs to the program
    itself, is the reader's own, unless it lies where libraries do."""

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
        """By all files that its code is from: what is inlined often comes first."""
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
        """Whether a library's function was compiled into the program, as those of templates are."""
        return (
            function.object in self._programs and function.file != "???"
            and self.reach(function) is Reach.FOREIGN
        )

    def _is_readable(self, file: str) -> bool:
        known = self._readable.get(file)
        if known is None:
            known = self._readable[file] = file.startswith("/") and os.path.isfile(file)
        return known
