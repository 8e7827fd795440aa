# SPDX-License-Identifier: GPL-2.0-or-later
"""Rust names in the legacy mangling, which is that of C++ with a hash. C++ demanglers undo it only in part.

These names have the parameters of generic functions, but not their arguments: `Vec<T>::push`. The arguments are in the
name that debug information has for the function itself: `push<u64>`.
"""

from __future__ import annotations

import re

_HASH = re.compile(r"::h[0-9a-f]{16}(?: \(\.llvm\.\d+\))?$")
# Escapes for characters that linkers do not allow.
_ESCAPE = re.compile(r"\$(?:u([0-9a-f]{2})|SP|BP|RF|LT|GT|LP|RP|C)\$")
_ESCAPES = {
    "$SP$": "@", "$BP$": "*", "$RF$": "&", "$LT$": "<", "$GT$": ">", "$LP$": "(", "$RP$": ")",
    "$C$": ",",
}


def has_rust_hash(name: str) -> bool:
    """Whether a demangled name ends with the hash of the legacy mangling."""
    return _HASH.search(name) is not None


def unescaped(name: str) -> str:
    """The name in Rust's own syntax, without the hash."""
    name = _HASH.sub("", name)
    if "$" not in name:
        return name
    # An escape at the beginning of a part follows an underscore, and two dots stand for two colons.
    name = re.sub(r"(?:^|(?<=::))_(?=\$)", "", name).replace("..", "::")
    return _ESCAPE.sub(_character, name)


def _character(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16)) if escape[1] else _ESCAPES[escape[0]]
    return character if character.isprintable() else escape[0]


def with_arguments(name: str, own: str) -> str:
    """The name in Rust's own syntax, with the arguments of a generic function. own: the function's name in debug
    information."""
    found = unescaped(name)
    last = found.rpartition("::")[2]
    return f"{found}::{own[len(last):]}" if own.startswith(f"{last}<") else found
