# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads where threads were created, which bdgrind writes into comments, so that other readers skip it."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..model.profile import Function, ThreadOrigin
from .names import NameTable

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class Origins:
    """The origins of the threads of one part."""

    def __init__(
        self,
        objects: NameTable,
        files: NameTable,
        functions: NameTable,
        identity: Callable[[str, str, str], Function],
    ) -> None:
        self._objects = objects
        self._files = files
        self._functions = functions
        self._identity = identity
        self._threads = 0  # 0 outside of such comments
        self._object = ""
        self._file = ""
        self._way: list[Function] = []
        self._found: list[ThreadOrigin] = []

    def comment(self, text: str) -> None:
        """Takes any line that is empty or a comment."""
        if not text.startswith("# "):
            self._end()
            return
        key, _, value = text[2:].partition("=")
        start, _, number = text[2:].partition(": ")
        if start == "threads":
            self._end()
            self._threads = int(number) if _NUMBER.fullmatch(number) else 0
        elif self._threads == 0:
            return
        elif key == "ob":
            self._object = self._objects.resolve(value)
        elif key == "fl":
            self._file = self._files.resolve(value)
        elif key == "fn":
            name = self._functions.resolve(value)
            self._way.append(self._identity(self._object, self._file, name))

    def finish(self) -> list[ThreadOrigin]:
        self._end()
        return self._found

    def _end(self) -> None:
        if len(self._way) > 1:
            root, *creators = self._way
            self._found.append(ThreadOrigin(root, tuple(creators), self._threads))
        self._threads = 0
        self._object = self._file = ""
        self._way = []
