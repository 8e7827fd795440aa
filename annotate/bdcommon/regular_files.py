# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a file with an untrusted name may be opened. Opening or reading a device, a FIFO or a file of the kernel that
only seems regular could block, never end, or do something."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

# The folders of the kernel, whose files do not count as regular.
_KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
# A file system in memory within these, whose files are those of users.
_SHARED_MEMORY = ("/dev/shm",)


def is_regular_file(path: str) -> bool:
    """Whether a path leads to a regular file, also through symbolic links."""
    try:
        real = os.path.realpath(path)
        return not is_of_kernel(real) and stat.S_ISREG(os.stat(real).st_mode)
    except (OSError, ValueError):
        return False


def is_of_kernel(real: str) -> bool:
    """Whether a file is one of the kernel. real: its path without symbolic links."""
    return is_below(real, _KERNEL_FOLDERS) and not is_below(real, _SHARED_MEMORY)


def is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
