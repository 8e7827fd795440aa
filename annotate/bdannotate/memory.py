# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory that is free goes back to the system, where much of it has been used for a while."""

from __future__ import annotations

import ctypes
import resource

# Kilobytes of a process that has little to give back.
_LITTLE = 256 << 10


def give_back() -> None:
    """The GNU C library keeps freed blocks below others that are in use, and Python's own small objects are never made
    of them. Other libraries have no such function; there, nothing happens."""
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < _LITTLE:
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass
