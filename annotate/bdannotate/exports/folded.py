# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks, one per line, as flamegraph.pl and inferno read them: names with semicolons between them, and one
count."""

from __future__ import annotations

from collections.abc import Iterator

from bdcommon.console import printable

from ..model.errors import UserError
from .request import Request
from .stacks import Path, StackFrame, stacks

_MOST_BYTES = 1 << 30
_NOTABLE_BYTES = 64 << 20


def folded(request: Request) -> Iterator[str]:
    size = folded_bytes(request)
    if size > _MOST_BYTES:
        raise UserError(
            f"--export=folded would be {size >> 20:,} MiB, as each path has the names of all its functions; at most "
            f"{_MOST_BYTES >> 20:,} are written: use --export=firefox, whose paths share them, or run with "
            "--context-tree-recursion=folded or a smaller --context-tree-nodes"
        )
    for stack in stacks(request):
        if stack.row[0] > 0:
            names = map(_name, stack.frames)
            yield f"{';'.join(names)} {stack.row[0]}\n"


def size_note(request: Request) -> str:
    size = folded_bytes(request)
    return f"--export=folded is {size >> 20:,} MiB of this profile" if size > _NOTABLE_BYTES else ""


def folded_bytes(request: Request) -> int:
    """The approximate size of what will be written, without writing it."""
    known: dict[Path, int] = {}
    names: dict[StackFrame, int] = {}
    total = 0
    for stack in stacks(request):
        if stack.row[0] <= 0:
            continue
        new: list[Path] = []
        path: Path | None = stack.path
        while path is not None and path not in known:
            new.append(path)
            path = path.above
        size = known[path] if path is not None else 0
        for path in reversed(new):
            if path.frame not in names:
                names[path.frame] = len(_name(path.frame).encode("utf-8", "surrogateescape"))
            size += names[path.frame] + 1
            known[path] = size
        total += size + len(str(stack.row[0])) + 1
    return total


def _name(frame: StackFrame) -> str:
    return printable(frame.label).replace(";", ":")
