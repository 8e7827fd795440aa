# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a progress bar on standard error if reading takes longer than a second."""

from __future__ import annotations

import sys
import time

from bdcommon.console import printable

_BAR_WIDTH = 30
_FIRST_SECONDS = 1.0
_NEXT_SECONDS = 0.2


class Progress:
    """A progress bar. It is drawn only if standard error is a terminal, and removed at the end."""

    def __init__(self, label: str, enabled: bool | None = None) -> None:
        self._label = printable(label)
        watched = sys.stderr is not None and sys.stderr.isatty()
        self._enabled = watched if enabled is None else enabled
        self._due = time.monotonic() + _FIRST_SECONDS
        self._drawn = False

    def update(self, done: int, total: int) -> None:
        """done, total: bytes; if the total is unknown (0), done is a number of lines."""
        if not self._enabled or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + _NEXT_SECONDS
        self._drawn = True
        if total:
            filled = min(_BAR_WIDTH, _BAR_WIDTH * done // total)
            bar = "#" * filled + "-" * (_BAR_WIDTH - filled)
            text = f"{self._label} [{bar}] {100 * done // total:3d} %"
        else:
            text = f"{self._label} {done:,} lines"
        sys.stderr.write("\r\x1b[K" + text)
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False
