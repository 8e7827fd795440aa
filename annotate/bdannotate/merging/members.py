# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files are of which rank, in which order ranks stand, and which process reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..model.errors import UserError
from ..reading.heads import FileHead
from .rank_tally import Head

# What the merged profile says of itself.
MERGED = "Ranks"
_DIGITS = re.compile(r"(\d+)")
_MOST_DIGITS = 9


class Source(NamedTuple):
    """A file, and what its head says of where it is from."""

    path: str
    size: int
    rank: int | None
    host: str
    head: Head


class Member(NamedTuple):
    """A rank: its number if the profile has one; the node that it ran on, or nothing; and its files, of which the
    first names it if it has no number."""

    rank: int | None
    host: str
    paths: tuple[str, ...]
    size: int

    @property
    def name(self) -> str:
        return os.path.basename(self.paths[0]) if self.rank is None else str(self.rank)


def source_of(path: str, found: FileHead) -> Source:
    headers = found.headers
    if found.described(MERGED):
        raise UserError(f"{path}: it has been merged already; name the files that it was made of")
    rank = found.described("Rank")
    number = int(rank) if rank.isascii() and rank.isdigit() and len(rank) <= _MOST_DIGITS else None
    head = Head(
        found.source, headers.texts.get("cmd", ""), tuple(headers.descriptions), headers.events, headers.titles,
        headers.formulas,
    )
    host = "_".join(found.described("Host").split())
    return Source(path, os.path.getsize(path), number, host, head)


def members_of(sources: Sequence[Source]) -> list[Member]:
    """By the ranks' numbers; behind them files without one, by name. All files of a rank, such as parts and threads,
    are one member."""
    by_rank: dict[int, list[Source]] = {}
    others: list[Member] = []
    for source in sorted(sources, key=lambda source: _order(source.path)):
        if source.rank is None:
            others.append(Member(None, source.host, (source.path,), source.size))
        else:
            by_rank.setdefault(source.rank, []).append(source)
    ranks = [
        Member(rank, here[0].host, tuple(source.path for source in here), sum(source.size for source in here))
        for rank, here in sorted(by_rank.items())
    ]
    return ranks + others


def shares(members: Sequence[Member], processes: int) -> list[range]:
    """Of each process: consecutive ones, about as many bytes as those of any other process."""
    whole = sum(member.size + 1 for member in members)
    found: list[range] = []
    done = first = 0
    for process in range(1, processes + 1):
        last = first
        while last < len(members) and 2 * done + members[last].size + 1 <= 2 * whole * process // processes:
            done += members[last].size + 1
            last += 1
        if process == processes:
            last = len(members)
        found.append(range(first, last))
        first = last
    return found


def _order(path: str) -> tuple[list[tuple[int, str]], str]:
    """As people count: out.9 before out.10."""
    parts = _DIGITS.split(path)
    return [(int(part[-15:]), "") if place % 2 else (0, part) for place, part in enumerate(parts)], path
