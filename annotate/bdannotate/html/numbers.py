# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions and files as numbers, in a page."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.profile import Function


class Numbers:
    """Numbers for the names that the tables use."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = {function: number for number, function in enumerate(functions)}
        self.files: dict[str, int] = {}

    def function(self, function: Function) -> int:
        return self.functions.setdefault(function, len(self.functions))

    def file(self, name: str) -> int:
        return self.files.setdefault(name, len(self.files))
