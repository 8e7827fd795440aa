# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks object files that a profile names. As profiles cannot be trusted, only regular files are opened."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bdcommon.regular_files import is_regular_file

from ..model.errors import UserError, shorten


def require_object_file(name: str) -> None:
    if not (name.startswith("/") and is_regular_file(name)):
        raise UserError("the file does not exist")


def newer_notes(names: Iterable[str], written: float | None) -> list[str]:
    """A sentence for each file that is newer than the profile. written: when the profile was written, in seconds since
    1970; None if this is unknown. All readers use the same sentence, so that it is printed once."""
    return [
        f"{shorten(name)} is newer than the profile: its lines and types may differ from those of the program that "
        "ran"
        for name in names if _is_newer(name, written)
    ]


def _is_newer(name: str, written: float | None) -> bool:
    try:
        return written is not None and os.stat(name).st_mtime > written
    except (OSError, ValueError):
        return False
