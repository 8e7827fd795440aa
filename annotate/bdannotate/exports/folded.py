# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks, a line each, as flamegraph.pl and inferno read them: names with semicolons
between them, and one count."""

from __future__ import annotations

from collections.abc import Iterator

from bdcommon.console import printable

from .request import Request
from .stacks import stacks


def folded(request: Request) -> Iterator[str]:
    for stack in stacks(request):
        if stack.row[0] > 0:
            names = (printable(frame.label).replace(";", ":") for frame in stack.frames)
            yield f"{';'.join(names)} {stack.row[0]}\n"
