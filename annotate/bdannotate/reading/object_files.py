# SPDX-License-Identifier: GPL-2.0-or-later
"""Object files that a profile names. It may be a stranger's: only regular files are opened."""

from __future__ import annotations

import os
import stat

from ..model.errors import UserError


def require_object_file(name: str) -> None:
    try:
        is_file = name.startswith("/") and stat.S_ISREG(os.stat(name).st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise UserError("there is no such file")


def is_newer(name: str, written: float | None) -> bool:
    """Than a profile, written in seconds since 1970; None if nobody knows when."""
    try:
        return written is not None and os.stat(name).st_mtime > written
    except (OSError, ValueError):
        return False
