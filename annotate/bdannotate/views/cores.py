# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of cores, and of the threads that have one of their own; tables by core."""

from __future__ import annotations

from collections.abc import Sequence

_EACH_ITS_OWN = 64  # so many cores stand for one for each thread


def core_table(names: Sequence[str], heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines: a row for each name, below the heads of its columns, which are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    room = max(map(len, names), default=0)
    return [
        "  ".join((name.ljust(room), *(value.rjust(width) for value, width in zip(row, widths)))).rstrip()
        for name, row in zip(["", *names], [heads, *rows])
    ]


def core_of(core: int, cores: int) -> str:
    """The name of a core. core: its number from 0. cores: how many there are."""
    return cores_text((core,), cores)


def cores_text(those: Sequence[int], cores: int) -> str:
    """Some cores as a text, such as "threads 2-4, 7". those: their numbers from 0, at least one. cores: how many there
    are."""
    what, first = core_word(cores), 0 if cores < _EACH_ITS_OWN else 1
    parts = [
        str(low + first) if low == high else f"{low + first}-{high + first}"
        for low, high in runs(sum(1 << core for core in {*those}))
    ]
    return f"{what}{'s' if len(those) > 1 else ''} {', '.join(parts)}"


def uses_text(read: Sequence[int], written: Sequence[int], is_apart: bool, cores: int) -> str:
    """Which cores use something, such as "written by thread 2, read by threads 3-4". read: those that only read it.
    written: those that write it. is_apart: whether they are several, but none uses a byte that another one does.
    cores: how many there are."""
    uses = (("written", written), ("read", read))
    who = ", ".join(f"{verb} by {cores_text(those, cores)}" for verb, those in uses if those)
    return f"{who}, never at the same address" if is_apart else who


def core_word(cores: int) -> str:
    """What cores are called: "thread" where each thread has a core of its own."""
    return "core" if cores < _EACH_ITS_OWN else "thread"


def runs(mask: int) -> list[tuple[int, int]]:
    """The first and the last bit of each run of consecutive bits that are set."""
    found: list[tuple[int, int]] = []
    start = 0
    while mask >> start:
        if not mask >> start & 1:
            start += 1
            continue
        end = start
        while mask >> (end + 1) & 1:
            end += 1
        found.append((start, end))
        start = end + 1
    return found
