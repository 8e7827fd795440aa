# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole work of a merge, which each of its processes does: read a share of the files, join the tallies, write the
result."""

from __future__ import annotations

import os
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import IO, Any, Protocol

from bdcommon.regular_files import is_regular_file

from ..model.errors import UserError
from ..model.merge import Renaming
from ..model.profile import Function, Profile, Row
from ..reading.columns import path_beside
from ..reading.heads import read_head
from ..reading.load import load, sum_of, with_costs
from ..reading.parser import Detail
from .beside import MERGED_BESIDE, Beside
from .code_tally import CodeTally
from .faults import copied_part, copies, of_other_caches
from .members import INSTRUCTIONS, MORE, Member, Source, members_of, ordered, shares, source_of
from .processes import AllKnow, Processes
from .rank_blocks import RankBlocks
from .rank_tally import RankTally
from .ranks_file import Strip

# Which of a job's functions are followed through all ranks: so many by each of these counts, where there are some, and
# fewer in jobs of many ranks, for which a file has room for so many numbers.
_FOLLOWED = 24
_MOST_NUMBERS = 1 << 22
_FOLLOWED_BY = (("SpLossD1", "SpLoss1"), ("D1m", "L1m"), ("DLm", "LLm"), ("CEst", "Ir"))


class Merged:
    """What process 0 has in the end.

    beside: the sums of the files beside the profiles, by kind.
    left_out: the number of files that were left out.
    lacking: for each of the things that only some files have, one file that lacks it, as the end of a sentence.
    code: the sums of single instructions; None if not all profiles have them.
    """

    def __init__(
        self, tally: RankTally, beside: Sequence[tuple[Beside, Any]], members: Sequence[Member], totals: Sequence[Row],
        strip: Strip, left_out: int, lacking: Mapping[str, str], code: CodeTally | None,
    ) -> None:
        self.tally = tally
        self.beside = beside
        self.members = members
        self.totals = totals
        self.strip = strip
        self.left_out = left_out
        self.lacking = lacking
        self.code = code


def merged(
    processes: Processes, paths: Sequence[str], renaming: Renaming, skips: bool,
    note: Callable[[str], None], fault: Callable[[Sequence[str], Sequence[Beside]], str] = lambda paths, kinds: "",
) -> Merged | None:
    """The merged job; None in all processes but the first, which also says all notes.

    skips: files that cannot be read or merged are left out, with a note.
    fault: returns why the merged profile and files of these kinds beside it cannot be written, such as that one of
    the paths would be replaced; empty if they can.
    """
    sources, left_out = _sources(processes, paths)
    if left_out and not skips:
        raise AllKnow(left_out[0])
    if not sources:
        raise AllKnow(left_out[0] if left_out else "none of the files has any costs")
    processes.fail_if(copies(sources) if processes.number == 0 else "")
    if processes.number == 0:
        for text in left_out:
            note(text)
    members = members_of(sources)
    lacking = _lacking(sources)
    kinds = [kind for kind in MERGED_BESIDE if kind.what in sources[0].more and kind.what not in lacking]
    if kinds:
        beside = [path for kind in kinds for source in sources if (path := path_beside(source.path, kind.prefix))]
        processes.fail_if(fault([*paths, *beside], kinds) if processes.number == 0 else "")
    has_code = all(INSTRUCTIONS in source.more for source in sources)
    share = _Share(RankTally(sources[0].head), kinds, len(members), renaming, skips, has_code)
    processes.fail_if(_read(share, processes, members))
    read = processes.all_of((share.members, share.totals, share.left_out))
    if processes.number == 0:
        for one in read:
            for text in one[2]:
                note(text)
    if not any(one[0] for one in read):
        raise AllKnow("none of the files is left")
    share.number_from(sum(len(one[0]) for one in read[:processes.number]))
    _join(processes, share)
    ranks = sum(len(one[0]) for one in read)
    functions = processes.all_of(_followed(share.tally, share.followed_by, ranks) if processes.number == 0 else [])[0]
    strip = Strip(share.followed_by, functions)
    strip.rows = sum(processes.all_of(list(share.followed(functions))), [])
    if processes.number:
        return None
    known = [member for one in read for member in one[0]]
    return Merged(
        share.tally, [(kind, blocks.whole) for kind, blocks in share.beside], known,
        [row for one in read for row in one[1]], strip,
        len(left_out) + sum(len(member.paths) for member in members) - sum(len(member.paths) for member in known),
        lacking, share.code,
    )


def _lacking(sources: Sequence[Source]) -> dict[str, str]:
    """For each of the things that only some files have, the first file that lacks it, as the end of a sentence."""
    found: dict[str, str] = {}
    for what in MORE:
        without = [source.path for source in sources if what not in source.more]
        if without and len(without) < len(sources):
            found[what] = f"{without[0]} has none{'' if what == INSTRUCTIONS else ' beside it'}"
    return found


def _sources(processes: Processes, paths: Sequence[str]) -> tuple[list[Source], list[str]]:
    """The files that can be merged, judging by their heads, in their order; and why the others cannot, as sentences."""
    here = sorted(paths)[processes.number::processes.size]
    found: list[Source | str | None] = sum(processes.all_of(list(map(_source, here))), [])
    left_out = sorted(one for one in found if isinstance(one, str))
    sources = ordered([one for one in found if isinstance(one, Source)])
    if sources:
        others = of_other_caches(sources)
        sources = [source for source in sources if source.path not in others]
        left_out += others.values()
    return sources, left_out


def _read(share: _Share, processes: Processes, members: Sequence[Member]) -> str:
    """Read the share of this process, or as much of it as possible until any process fails. Returns why this process
    has failed; empty if it has not."""
    try:
        for member in shares(members, processes.size)[processes.number]:
            if processes.has_failed():
                break
            share.read(member, members[member])
    except UserError as error:
        processes.tell_failure()
        return str(error)
    return ""


def _source(path: str) -> Source | str | None:
    """The file and what its head says; or why it cannot be merged. None if the file is empty, as those are that
    Callgrind leaves beside the files of threads."""
    try:
        if os.path.exists(path) and not is_regular_file(path):
            return f"{path} is no regular file"
        if os.path.isfile(path) and os.path.getsize(path) == 0:
            return None
        return source_of(path, read_head(path))
    except UserError as error:
        return str(error)


class _Share:
    """What one process has read. members: the number of all members."""

    def __init__(
        self, tally: RankTally, kinds: Sequence[Beside], members: int, renaming: Renaming, skips: bool, has_code: bool
    ) -> None:
        self.tally = tally
        self.code = CodeTally() if has_code else None
        self.beside: list[tuple[Beside, RankBlocks[Any]]] = [
            (kind, RankBlocks(members, kind.joined)) for kind in kinds
        ]
        self.members: list[Member] = []
        self.totals: list[Row] = []
        self.left_out: list[str] = []
        names = [next((name for name in group if name in tally.counts), None) for group in _FOLLOWED_BY]
        self.followed_by = tuple(dict.fromkeys(name for name in names if name)) or tally.head.events[:1]
        self._renaming = renaming
        self._skips = skips
        self._detail = Detail.INSTRUCTIONS if has_code else Detail.LINES
        self._spool = _Spool([tally.counts.index(name) for name in self.followed_by])

    def read(self, number: int, member: Member) -> None:
        """Read a member. number: its position among all members."""
        things: dict[str, list[Any]] = {kind.what: [] for kind, _ in self.beside}

        def profiles() -> Iterator[Profile]:
            for path in with_costs(member.paths):
                profile = load(path, self._detail, self._renaming, "apart")
                here: dict[str, list[Any]] = {}
                for kind, _ in self.beside:
                    here[kind.what] = kind.read(path, profile, self._renaming, here)
                    things[kind.what] += here[kind.what]
                yield profile

        try:
            profile = self.tally.ordered(sum_of(profiles()))
            joined = [kind.of_rank(things[kind.what]) for kind, _ in self.beside]
        except UserError as error:
            if not self._skips:
                raise
            for _, blocks in self.beside:
                blocks.add(number, None)
            files = len(member.paths)
            others = f"; all {files} files of rank {member.rank} are left out" if files > 1 else ""
            self.left_out.append(f"{error}{others}")
            return
        if copy := copied_part(member, profile):
            raise UserError(copy)
        self._add(profile)
        for (_, blocks), thing in zip(self.beside, joined):
            blocks.add(number, thing)
        self.members.append(member)

    def _add(self, profile: Profile) -> None:
        costs = self.tally.add(profile, len(self.members))
        if self.code is not None:
            self.code.add(profile)
        self.totals.append(profile.totals())
        self._spool.add(costs)

    def number_from(self, first: int) -> None:
        """Number the ranks of this process from `first` on."""
        self.tally.shift(first)

    def followed(self, functions: Sequence[Function]) -> Iterator[list[Row]]:
        """The rows of these functions, for each rank."""
        return self._spool.rows(functions)


class _Joined(Protocol):
    """What one process hands on to another."""

    def pieces(self) -> Iterator[Any]: ...

    def take(self, piece: Any) -> None: ...


class _Spool:
    """The costs of all functions in each rank, in a file without a name: only when all ranks have been read is it known
    which functions are wanted."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._columns = columns
        self._numbers: dict[Function, int] = {}
        self._lengths: list[int] = []
        self._open: IO[bytes] | None = None

    @property
    def _file(self) -> IO[bytes]:
        if self._open is None:
            self._open = tempfile.TemporaryFile()
        return self._open

    def add(self, costs: Mapping[Function, Row]) -> None:
        try:
            self._write(costs)
        except OSError as error:
            where = f" in {tempfile.tempdir}" if tempfile.tempdir else ""
            raise UserError(f"a temporary file{where}: {error.strerror}") from None

    def _write(self, costs: Mapping[Function, Row]) -> None:
        numbers = self._numbers
        for function in costs:
            numbers.setdefault(function, len(numbers))
        self._lengths.append(len(numbers))
        for column in self._columns:
            values = array("q", bytes(8 * len(numbers)))
            try:
                for function, row in costs.items():
                    values[numbers[function]] = row[column]
            except OverflowError:
                raise UserError("a count is larger than 63 bits hold") from None
            values.tofile(self._file)
        self._file.flush()

    def rows(self, functions: Sequence[Function]) -> Iterator[list[Row]]:
        self._file.seek(0)
        numbers = [self._numbers.get(function, sys.maxsize) for function in functions]
        for length in self._lengths:
            columns = []
            for _ in self._columns:
                values = array("q")
                values.frombytes(self._file.read(8 * length))
                columns.append([values[number] if number < length else 0 for number in numbers])
            yield list(zip(*columns))


def _join(processes: Processes, share: _Share) -> None:
    """Join the shares of all processes in the first one, as a tree: in each step, half of the processes that remain
    hand theirs on."""
    takers: list[_Joined] = [share.tally, *(blocks for _, blocks in share.beside)]
    if share.code is not None:
        takers.append(share.code)
    step = 1
    while step < processes.size:
        if processes.number % (2 * step):
            for taker in takers:
                for piece in taker.pieces():
                    processes.send(processes.number - step, piece)
                processes.send(processes.number - step, None)
            return
        if processes.number + step < processes.size:
            for taker in takers:
                while (piece := processes.receive(processes.number + step)) is not None:
                    taker.take(piece)
        step *= 2


def _followed(tally: RankTally, names: Sequence[str], ranks: int) -> list[Function]:
    """The functions in which ranks differ most, by the maximum minus the mean: equally many by each count, and at least
    one."""
    room = _MOST_NUMBERS // (ranks * len(names))
    varying = [(function, dict(rows.varying(ranks))) for function, rows in sorted(tally.functions.items(), key=_key)]
    by_count: list[list[Function]] = []
    for name in names:
        place = tally.counts.index(name)
        here = [
            (function, one.most * ranks - one.sum)
            for function, counts in varying if (one := counts.get(place)) is not None
        ]
        here.sort(key=lambda item: -item[1])
        by_count.append([function for function, _ in here[:_FOLLOWED]])
    for most in range(_FOLLOWED, 0, -1):
        found = {function for functions in by_count for function in functions[:most]}
        if len(found) <= room:
            break
    return sorted(found)


_key = itemgetter(0)
