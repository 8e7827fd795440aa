# SPDX-License-Identifier: GPL-2.0-or-later
"""What a repair is: a change of the program, the evidence for it, and what it would save."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model.objects import ObjectGroup
from ...model.profile import Function
from ...model.work import Estimate
from ..misses.loop_nests import LoopPlace
from ..misses.site import Site
from ..misses.verdict import NOTABLE


class Remedy(enum.Enum):
    INTERCHANGE = "interchange"
    TILE = "tile"
    FUSE = "fuse"
    SPLIT = "split"
    PACK = "pack"
    PAD = "pad"
    ALIGN = "align"
    PREFETCH = "prefetch"
    COLOCATE = "colocate"
    HUGE_PAGES = "huge-pages"
    UNSHARE = "unshare"
    SMALLER_WORKING_SET = "smaller-working-set"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Amount:
    """What the sites of a repair load, now or after it: lines, and those of LL."""

    lines: int
    last_level: int

    def plus(self, other: Amount) -> Amount:
        return Amount(self.lines + other.lines, self.last_level + other.last_level)

    def at_most(self, other: Amount) -> Amount:
        return Amount(min(self.lines, other.lines), min(self.last_level, other.last_level))


@dataclass(frozen=True, slots=True)
class Repair:
    """loops are those that are changed, in the order in which they are named. Lines are those of the
    loops, or of the code that loads. evidence and unknown are sentences, code is schematic."""

    remedy: Remedy
    function: Function
    file: str
    lines: tuple[int, ...]
    loops: tuple[LoopPlace, ...]
    group: ObjectGroup | None  # the data that it is about
    before: Amount
    after: Amount
    walks: tuple[int, int] | None  # page walks before and after, of huge pages
    saved: Estimate  # nanoseconds
    evidence: tuple[str, ...]
    code: tuple[str, ...]
    unknown: str
    sites: frozenset[int]  # numbers of the instructions
    line: int  # bytes of a line
    condition: str = ""  # when it can be made, where that is not known
    transfers: tuple[int, int] | None = None  # between cores, before and after
    time: float = 0.0  # nanoseconds that the program takes now
    saved_by_misses: float | None = None  # nanoseconds of `saved`, where instructions wait less, too
    cost: float = 0.0  # of none, nanoseconds of it that misses out of order cost
    cost_at_most: float = 0.0  # the same, if instructions hide nothing; 0 where no place is named for that
    is_doubtful: bool = False  # of none, whether others follow which may save something, but hardly do by the estimate

    @property
    def shares(self) -> Estimate:
        """Of all the program's time."""
        return Estimate(*(min(one / self.time, 1.0) if self.time else 0.0 for one in self.saved))

    @property
    def share(self) -> float:
        """Of all the program's time, what it saves; of none, what misses out of order cost."""
        if self.remedy is Remedy.NONE:
            return self.cost / self.time if self.time else 0.0
        return self.shares.value

    @property
    def share_at_most(self) -> float:
        """Of all the program's time, what `cost_at_most` is; 0 where it is no more than `share`."""
        most = min(self.cost_at_most / self.time, 1.0) if self.time else 0.0
        return most if most > self.share else 0.0

    @property
    def is_open(self) -> bool:
        """Whether misses cost much, together or in a place, and no repair of them is known."""
        return self.remedy is Remedy.NONE and (self.share >= NOTABLE or len(self.evidence) > 1)


def amount(sites: Iterable[Site]) -> Amount:
    total = Amount(0, 0)
    for site in sites:
        total = total.plus(Amount(site.lines, site.last_level))
    return total


def code_lines(sites: Sequence[Site], in_loop: bool = False) -> tuple[str, tuple[int, ...]]:
    """The file with most of the time, and its lines there, the costliest first. in_loop: those in the innermost loops,
    not in helpers that these call."""
    places = [site.loop_line if in_loop else site.where for site in sites]
    times: dict[str, float] = {}
    for site, (file, _) in zip(sites, places):
        times[file] = times.get(file, 0.0) + site.time
    file = max(sorted(times), key=lambda name: times[name])
    ranked = sorted(zip(sites, places), key=lambda one: -one[0].time)
    return file, tuple(dict.fromkeys(line for _, (name, line) in ranked if name == file and line))
