# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers that stand for functions and files in a page."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.profile import Function


class Numbers:
    """Numbers functions and files in the order in which they are first asked for, from 0; `functions` come first."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = {function: number for number, function in enumerate(functions)}
        self.files: dict[str, int] = {}

    def function(self, function: Function) -> int:
        return self.functions.setdefault(function, len(self.functions))

    def file(self, name: str) -> int:
        return self.files.setdefault(name, len(self.files))
