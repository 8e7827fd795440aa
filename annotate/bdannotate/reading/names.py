# SPDX-License-Identifier: GPL-2.0-or-later
"""Resolves compressed names: "(12) name" defines 12, "(12)" uses it, and any other text is a name itself."""

from __future__ import annotations

import re

from ..model.errors import FormatProblem

_COMPRESSED = re.compile(r"\((\d+)\)\s*(.*)", re.ASCII | re.DOTALL)


class NameTable:
    """The names of one kind (objects, files or functions) in one part."""

    def __init__(self) -> None:
        self._by_reference: dict[str, str] = {}

    def resolve(self, text: str) -> str:
        known = self._by_reference.get(text)
        if known is not None:
            return known
        match = _COMPRESSED.fullmatch(text)
        if not match:
            if not text.strip():
                raise FormatProblem("the name is missing")
            return text.strip()
        reference = f"({match[1]})"
        name = match[2].rstrip()
        known = self._by_reference.get(reference)
        if not name:
            if known is None:
                raise FormatProblem(f"{reference} is used before it is defined")
            return known
        if known is not None and known != name:
            raise FormatProblem(f"{reference} is already defined as '{known}'")
        self._by_reference[reference] = name
        return name
