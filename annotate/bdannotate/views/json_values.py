# SPDX-License-Identifier: GPL-2.0-or-later
"""What JSON is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: Json) -> Iterator[str]:
    """In pieces: a report can be large."""
    yield from json.JSONEncoder(ensure_ascii=True).iterencode(value)
    yield "\n"


def text(name: str) -> str:
    """JSON is Unicode: bytes of a name that are not UTF-8 become replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
