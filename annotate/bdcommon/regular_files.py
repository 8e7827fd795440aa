# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a file that a stranger names may be opened: to open or to read a device, a FIFO or a file of the
kernel's that is regular in name only would block, never end, or do something."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

# The kernel's own: their files are none, whatever they say.
_KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
# But for this one, a file system in memory, whose files are everyone's.
_SHARED_MEMORY = ("/dev/shm",)


def is_regular_file(path: str) -> bool:
    """Also through links."""
    try:
        real = os.path.realpath(path)
        return not is_of_kernel(real) and stat.S_ISREG(os.stat(real).st_mode)
    except (OSError, ValueError):
        return False


def is_of_kernel(real: str) -> bool:
    """real: without links."""
    return is_below(real, _KERNEL_FOLDERS) and not is_below(real, _SHARED_MEMORY)


def is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
