# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the statistics over ranks, in the file beside a merged profile that docs/format.md describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from bdcommon import __version__

from ..model.errors import UserError
from ..model.profile import Function, Row
from ..model.ranks import Spread
from .column_writer import section
from .file_head import NameLists, shown
from .members import Member
from .rank_rows import RankRows
from .rank_tally import RankTally

_STATISTICS = "count sum squares squares-high least least-at most most-at"
_LOW = (1 << 64) - 1


class Strip:
    """The self costs of some functions in each rank, by the names of a few counts."""

    def __init__(self, counts: Sequence[str], functions: Sequence[Function]) -> None:
        self.counts = counts
        self.functions = functions
        self.rows: list[list[Row]] = []  # of each rank, by function


def ranks_text(
    tally: RankTally, members: Sequence[Member], command: str, totals: Sequence[Row], strip: Strip
) -> Iterator[bytes]:
    """The file. totals: the events of each rank."""
    try:
        yield from _text(tally, members, command, totals, strip)
    except OverflowError:
        raise UserError(
            "there are counts below 0, or of 64 bits and more, of which there are no statistics over ranks"
        ) from None


def _text(
    tally: RankTally, members: Sequence[Member], command: str, totals: Sequence[Row], strip: Strip
) -> Iterator[bytes]:
    functions: set[Function] = {*tally.functions, *tally.inclusive}
    functions.update(line.place.function for line in tally.lines)
    files = {shown(line.place.file) for line in tally.lines}
    files.update(shown(site.file) for site in tally.calls)
    names = NameLists(dict.fromkeys(functions, 0), files)
    head = ["ranks: 1", f"creator: bd_annotate-{__version__}", f"cmd: {command}", "part: 1"]
    head += [f"event: {name} : {title}" for name, title in tally.head.titles.items()]
    head += [f"events: {' '.join(tally.head.events)}", f"counts: {' '.join(tally.counts)}"]
    head += [f"strips: {' '.join(strip.counts)}", f"{names.text()}members: {len(members)}"]
    head += [f"{'-' if member.rank is None else member.rank} {member.host or '-'} {member.name}" for member in members]
    yield ("\n".join(head) + "\n").encode("utf-8", "surrogateescape")
    ranks = len(members)
    yield from section("totals", "member count sum", (
        (member, count, number) for member, row in enumerate(totals)
        for count, number in enumerate(row, tally.before_events) if number
    ))
    numbers = names.functions
    yield from section("functions", f"function {_STATISTICS}", _rows(
        (((numbers[function],), rows) for function, rows in sorted(tally.functions.items(), key=_key)), ranks
    ))
    yield from section("inclusive", f"function {_STATISTICS}", _rows(
        (((numbers[function],), rows) for function, rows in sorted(tally.inclusive.items(), key=_key)), ranks
    ))
    yield from section("lines", f"function file line {_STATISTICS}", _rows(
        (
            ((numbers[place.function], names.files[shown(place.file)], line), rows)
            for (place, line), rows in sorted(tally.lines.items(), key=_key)
        ), ranks, tally.before_events,
    ))
    yield from section("calls", f"caller callee file line {_STATISTICS}", _rows(
        (
            ((numbers[site.caller], numbers[site.callee], names.files[shown(site.file)], site.line), rows)
            for site, rows in sorted(tally.calls.items(), key=_key)
        ), ranks,
    ))
    yield from section("strips", "member function strip number", (
        (member, numbers[function], place, number)
        for member, here in enumerate(strip.rows) for function, row in zip(strip.functions, here)
        for place, number in enumerate(row) if number
    ))


def _rows(
    things: Iterable[tuple[tuple[int, ...], RankRows]], ranks: int, before: int = 0
) -> Iterator[tuple[int, ...]]:
    """The statistics of what differs between ranks, each behind the numbers that say whose they are. before: the number
    of counts that these rows leave out."""
    for key, rows in things:
        for place, found in rows.varying(ranks):
            yield (*key, place + before, *_columns(found))


_key = itemgetter(0)


def _columns(found: Spread) -> tuple[int, ...]:
    return (
        found.sum, found.squares & _LOW, found.squares >> 64, found.least, found.least_at, found.most, found.most_at
    )
