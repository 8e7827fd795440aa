# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON values, and how they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: Json) -> Iterator[str]:
    """A value as text, in pieces, as a report can be large: the fields of an object, and each entry of those that are
    lists. (json's own iterencode() takes several times as long as dumps(), which is not written in Python.)"""
    if not isinstance(value, dict):
        yield json.dumps(value) + "\n"
        return
    before = "{"
    for name, field in value.items():
        yield f"{before}{json.dumps(name)}: "
        before = ", "
        if isinstance(field, list) and field:
            yield "[" + json.dumps(field[0])
            for entry in field[1:]:
                yield ", " + json.dumps(entry)
            yield "]"
        else:
            yield json.dumps(field)
    yield "}\n" if value else "{}\n"


def text(name: str) -> str:
    """A name as Unicode, as JSON requires: bytes that are not UTF-8 become replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
