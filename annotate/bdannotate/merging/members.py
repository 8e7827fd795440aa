# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files belong to which rank, the order of ranks, and which process reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..model.errors import UserError, shorten
from ..model.ranks import MERGED
from ..model.sample import SAMPLE
from ..reading.columns import path_beside
from ..reading.heads import FileHead
from .rank_tally import Head

# What the files beside profiles have, with their prefixes.
_BESIDE = (
    ("context trees", "contexts."), ("data objects", "objects."), ("causes", "why."), ("shared lines", "sharing."),
    ("paths", "paths."),
)
INSTRUCTIONS = "single instructions"
# What profiles may have besides costs by function, line and call, in the order of sentences.
MORE = (INSTRUCTIONS, *(what for what, _ in _BESIDE))
_DIGITS = re.compile(r"(\d+)")
_MOST_DIGITS = 9


class Dump(NamedTuple):
    """What distinguishes the parts of a run, as the heads of files say it."""

    pid: str
    part: str
    thread: str

    def of_rank(self, rank: int | None) -> str:
        """The name of the part in a sentence."""
        thread = f"thread {shorten(self.thread)} of " if self.thread else ""
        known = "" if rank is None else f" of rank {rank}"
        return f"{thread}part {shorten(self.part)} of process {shorten(self.pid)}{known}"


class Source(NamedTuple):
    """A file, and what its head says about its origin.

    dump: the first one of the file.
    more: which of MORE the file and the files beside it have.
    """

    path: str
    size: int
    rank: int | None
    host: str
    dump: Dump
    head: Head
    more: tuple[str, ...]


class Member(NamedTuple):
    """A rank, or a process without a rank.

    rank: its number; None if the profile has none.
    host: the node that it ran on; empty if not known.
    paths: its files. Without a rank, the first one gives it its name.
    programs: the programs that it ran, sorted by name.
    sample: what was sampled; empty if nothing was.
    """

    rank: int | None
    host: str
    paths: tuple[str, ...]
    size: int
    programs: tuple[str, ...]
    sample: str

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
    dump = Dump(*(headers.texts.get(key, "") for key in ("pid", "part", "thread")))
    return Source(path, os.path.getsize(path), number, host, dump, head, _more(path, headers.positions))


def _more(path: str, positions: Sequence[str]) -> tuple[str, ...]:
    beside = tuple(what for what, prefix in _BESIDE if path_beside(path, prefix))
    return ((INSTRUCTIONS,) if "instr" in positions else ()) + beside


def ordered(sources: Sequence[Source]) -> list[Source]:
    """The files by rank; then those without a rank. The files of a rank are sorted by name."""
    return sorted(sources, key=lambda source: (source.rank is None, source.rank or 0, _order(source.path)))


def members_of(sources: Sequence[Source]) -> list[Member]:
    """The members of ordered files. All files of a rank, such as parts and threads, are one member."""
    members: list[list[Source]] = []
    for source in sources:
        if members and source.rank is not None and source.rank == members[-1][0].rank:
            members[-1].append(source)
        else:
            members.append([source])
    return [
        Member(
            here[0].rank, here[0].host, tuple(source.path for source in here), sum(source.size for source in here),
            tuple(sorted({_program(source.head.command) for source in here})),
            next(filter(None, map(_sample, here)), ""),
        ) for here in members
    ]


def _sample(source: Source) -> str:
    """What was sampled, without what was counted."""
    return dict(source.head.descriptions).get(SAMPLE, "").partition(";")[0]


def _program(command: str) -> str:
    """The program without its arguments, in which the ranks of one program may differ."""
    return command.partition(" ")[0]


def shares(members: Sequence[Member], processes: int) -> list[range]:
    """Consecutive members for each process, with about as many bytes as any other process has."""
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
    """The key of a natural order: out.9 comes before out.10."""
    parts = _DIGITS.split(path)
    return [(int(part[-15:]), "") if place % 2 else (0, part) for place, part in enumerate(parts)], path
