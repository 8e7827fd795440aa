# SPDX-License-Identifier: GPL-2.0-or-later
"""A repair: a change of the program, the evidence for it, and what it would save."""

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
    """The kind of a repair. NONE stands for the answer that no repair is known."""

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
    """How many lines the sites of a repair load, before or after it."""

    lines: int  # that D1 misses
    last_level: int  # of these, LL

    def plus(self, other: Amount) -> Amount:
        return Amount(self.lines + other.lines, self.last_level + other.last_level)

    def at_most(self, other: Amount) -> Amount:
        return Amount(min(self.lines, other.lines), min(self.last_level, other.last_level))


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the program. loops: those to change, in the order in which they are named. lines: those of the loops,
    or of the code that loads. evidence, unknown: sentences. code: a sketch of the change."""

    remedy: Remedy
    function: Function
    file: str
    lines: tuple[int, ...]
    loops: tuple[LoopPlace, ...]
    group: ObjectGroup | None  # the data that it is about
    before: Amount
    after: Amount
    walks: tuple[int, int] | None  # page walks before and after; only with huge pages
    saved: Estimate  # nanoseconds
    evidence: tuple[str, ...]
    code: tuple[str, ...]
    unknown: str  # what the profile does not show; empty for Remedy.NONE
    sites: frozenset[int]  # the numbers of the instructions that the repair is about
    line: int  # bytes of a line
    condition: str = ""  # when the change is possible, if that is not known
    transfers: tuple[int, int] | None = None  # between cores, before and after; None: not about sharing
    time: float = 0.0  # nanoseconds that the program takes now
    saved_by_misses: float | None = None  # the part of saved.value that is due to fewer misses; None: all
    cost: float = 0.0  # nanoseconds that misses out of order cost; only of Remedy.NONE
    cost_at_most: float = 0.0  # the same if instructions hide nothing; 0 if no place is named for it
    is_doubtful: bool = False  # of NONE: whether repairs follow that save little by the estimate, but may save more

    @property
    def shares(self) -> Estimate:
        """The shares of the program's time that the repair saves, from 0 to 1."""
        return Estimate(*(min(one / self.time, 1.0) if self.time else 0.0 for one in self.saved))

    @property
    def share(self) -> float:
        """The share of the program's time that the repair saves; of Remedy.NONE, that misses out of order cost."""
        if self.remedy is Remedy.NONE:
            return self.cost / self.time if self.time else 0.0
        return self.shares.value

    @property
    def share_at_most(self) -> float:
        """The share of the program's time that `cost_at_most` is; 0 if it is no more than `share`."""
        most = min(self.cost_at_most / self.time, 1.0) if self.time else 0.0
        return most if most > self.share else 0.0

    @property
    def is_open(self) -> bool:
        """Whether misses without a known repair cost a notable share, together or in one place."""
        return self.remedy is Remedy.NONE and (self.share >= NOTABLE or len(self.evidence) > 1)


def amount(sites: Iterable[Site]) -> Amount:
    """What the sites load in all."""
    total = Amount(0, 0)
    for site in sites:
        total = total.plus(Amount(site.lines, site.last_level))
    return total


def code_lines(sites: Sequence[Site], in_loop: bool = False) -> tuple[str, tuple[int, ...]]:
    """The file whose sites take most time, and the source lines of its sites, the costliest first. in_loop: name the
    lines in the innermost loops, instead of those in helpers that they call."""
    places = [site.loop_line if in_loop else site.where for site in sites]
    times: dict[str, float] = {}
    for site, (file, _) in zip(sites, places):
        times[file] = times.get(file, 0.0) + site.time
    file = max(sorted(times), key=lambda name: times[name])
    ranked = sorted(zip(sites, places), key=lambda one: -one[0].time)
    return file, tuple(dict.fromkeys(line for _, (name, line) in ranked if name == file and line))
