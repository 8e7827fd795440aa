# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of Rust that were mangled as C++'s are, with a hash, which tools for C++ undo in part only.

They have the parameters of what is generic, but not what these stand for: `Vec<T>::push`. That is
in the name which debug information has for the function alone: `push<u64>`.
"""

from __future__ import annotations

import re

_HASH = re.compile(r"::h[0-9a-f]{16}(?: \(\.llvm\.\d+\))?$")
# Characters that linkers do not know.
_ESCAPE = re.compile(r"\$(?:u([0-9a-f]{2})|SP|BP|RF|LT|GT|LP|RP|C)\$")
_ESCAPES = {
    "$SP$": "@", "$BP$": "*", "$RF$": "&", "$LT$": "<", "$GT$": ">", "$LP$": "(", "$RP$": ")",
    "$C$": ",",
}


def has_rust_hash(name: str) -> bool:
    return _HASH.search(name) is not None


def unescaped(name: str) -> str:
    """In Rust's own syntax, without the hash."""
    name = _HASH.sub("", name)
    if "$" not in name:
        return name
    # An underscore stands before an escape that begins a part, two dots for two colons.
    name = re.sub(r"(?:^|(?<=::))_(?=\$)", "", name).replace("..", "::")
    return _ESCAPE.sub(_character, name)


def _character(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16)) if escape[1] else _ESCAPES[escape[0]]
    return character if character.isprintable() else escape[0]


def with_arguments(name: str, own: str) -> str:
    """own: the name that debug information has for the function alone."""
    found = unescaped(name)
    last = found.rpartition("::")[2]
    return f"{found}::{own[len(last):]}" if own.startswith(f"{last}<") else found
