# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of source files, with only as many of their folders as make them different."""

from __future__ import annotations

import os
from collections.abc import Iterable

# Names that say nothing without the folder around.
_GENERIC = frozenset({
    "__init__.py", "include", "index.js", "lib", "lib.rs", "library", "main.rs", "mod.f90", "mod.rs",
    "source", "src",
})
_MOST_FOLDERS = 4


class FileNames:
    """Short names of files, unique within a profile. everything: all of its files."""

    def __init__(self, everything: Iterable[str] = ()) -> None:
        self._everything = everything
        self._alike: dict[str, list[list[str]]] | None = None
        self._short: dict[str, str] = {}

    def short(self, file: str) -> str:
        """The short name of a file."""
        known = self._short.get(file)
        if known is None:
            known = self._short[file] = self._choose(file)
        return known

    def _choose(self, file: str) -> str:
        parts = _parts(file)
        if not parts:
            return file
        others = [other for other in self._others(parts[-1]) if other != parts]
        length = 1
        while length < min(len(parts), 1 + _MOST_FOLDERS) and (
            parts[-length] in _GENERIC
            or any(other[-length:] == parts[-length:] for other in others)
        ):
            length += 1
        return "/".join(parts[-length:])

    def _others(self, name: str) -> list[list[str]]:
        if self._alike is None:
            self._alike = {}
            for file in set(self._everything):
                self._alike.setdefault(os.path.basename(file), []).append(_parts(file))
        return self._alike.get(name, [])


def _parts(file: str) -> list[str]:
    return [part for part in os.path.normpath(file).split("/") if part] if file else []
