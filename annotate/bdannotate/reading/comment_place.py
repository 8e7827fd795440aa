# SPDX-License-Identifier: GPL-2.0-or-later
"""The function and file that comments are about, in the sections of comments that bdgrind writes behind the costs of a
part."""

from __future__ import annotations

from collections.abc import Callable

from ..model.errors import FormatProblem
from ..model.profile import Function, Place
from .names import NameTable


class CommentPlace:
    """The place in a section of comments. place: None before the first function."""

    def __init__(
        self, objects: NameTable, files: NameTable, functions: NameTable,
        identity: Callable[[str, str, str], Function],
    ) -> None:
        self.place: Place | None = None
        self._tables = {"ob": objects, "fl": files, "fi": files, "fn": functions}
        self._identity = identity
        self._names = {"ob": "", "fl": ""}

    def takes(self, key: str) -> bool:
        return key in self._tables

    def enter(self, key: str, value: str) -> bool:
        """Takes a name. Returns whether it is understood. key: one for which takes() is true."""
        try:
            name = self._tables[key].resolve(value)
        except FormatProblem:
            return False
        if key == "fn":
            self.place = Place(self._identity(self._names["ob"], self._names["fl"], name), self._names["fl"])
        elif key == "fi":
            self.place = Place(self.place.function, name) if self.place else None
        else:
            self._names[key] = name
        return True
