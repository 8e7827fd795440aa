# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict on a run: the share of the estimated cycles that misses cost, and where to look first.

First comes the level whose unused bytes cost most cycles, as its misses can be saved by loading less. A stream misses
as often in LL as in L1, at a tenfold price, but uses all that it loads. If no level wastes a notable share, the level
whose misses cost most comes first. First touches come last, as only less data would save them.

In a run with --why=yes, waiting is known by the order of addresses (waits.py), and all shares are of the estimated
time. Repairs are based on the same times, so what comes first is what they are about: misses out of order, or those in
order if they cost more.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from ...model.metrics import SECOND, TIME_MEMORY, TIME_WAIT, TIMES, Metric, Number
from ...model.profile import CACHE, Profile, Row
from .waits import EVENTS, FIRST_TOUCHES, IN_ORDER, OUT_OF_ORDER, has_waits

# The minimum share of the estimate that is worth a change of the program.
NOTABLE = 0.1
# The minimum share of all misses together that is worth a change, even if no level has a notable share.
_ALL_NOTABLE = 0.2


class First(enum.Enum):
    """Where to look first."""

    L1_DATA = "L1"
    OUT_OF_ORDER = "out of order"
    IN_ORDER = "in order"
    L1_CODE = "code"
    L2 = "L2"
    LAST_LEVEL = "LL"
    FIRST_TOUCHES = "first touches"
    INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting by the order of addresses, as shares of the estimated time. The orders do not include first touches."""

    first_touches: float
    in_order: float
    out_of_order: float
    memory: float  # for lines from memory, part of the other three


@dataclass(frozen=True, slots=True)
class Time:
    """Estimated seconds on a machine. least: if instructions never wait for each other, by the fastest measured rounds.
    most: if each instruction waits for the one before, and nothing is done while lines come."""

    seconds: float
    least: float
    most: float
    waiting: float  # the share of `seconds` in which the processor only waits for data
    what: str  # the title, "Estimated time on ..."


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shares of the estimated cycles, from 0 to 1. The estimate ignores overlap and prefetching. If there are waits,
    which include both, all shares are of the estimated time, data has no shares by level, and `l1_code` is the cost of
    code in all levels."""

    cycles: int
    factors: tuple[int, ...]  # cycles of an instruction, of a miss of L1, of L2 if there is one, and of LL
    instructions: float
    l1_data: float
    l1_code: float
    last_level: float
    first_touches: float  # the part of last_level that is known to be the first touches of lines
    first: First
    wasted: float | None  # the share that unused bytes cost at the level `first`; None if that is not why it is first
    fits_last_level: bool  # whether every miss there is the first touch of a line
    waits: Waits | None = None
    time: Time | None = None
    l2: float | None = None  # what misses of L2 cost; None: there is no L2, or there are waits

    @property
    def misses(self) -> float:
        """The share that all misses cost."""
        return 1 - self.instructions


def verdict(profile: Profile, metrics: Mapping[str, Metric], totals: Row) -> Verdict | None:
    """The verdict on a run with these totals; None if the profile lacks events that the estimate needs."""
    needed = ("Ir", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
    if any(event not in profile.events for event in needed) or "CEst" not in metrics:
        return None
    count = dict(zip(profile.events, totals))
    weight = dict(zip(profile.events, metrics["CEst"].numerator))
    cycles = metrics["CEst"].value(totals) or 0
    if not cycles:
        return None
    last_misses = count["ILmr"] + count["DLmr"] + count["DLmw"]
    first_touches = _first_touches(profile, count, last_misses)
    has_l2 = "D2mr" in count
    factors = (weight["Ir"], weight["D1mr"], *([weight["D2mr"]] if has_l2 else []), weight["DLmr"])
    instructions = weight["Ir"] * count["Ir"] / cycles
    fits = first_touches >= last_misses
    if has_waits(profile.events):
        time = _time(metrics, totals)
        all_waits = sum(count[event] for event in EVENTS)
        waiting = time.waiting / all_waits if all_waits else 0.0  # the share of time per cycle of waiting
        memory = SECOND * count[TIME_MEMORY] / time.seconds if time.seconds else 0.0
        waits = Waits(
            waiting * count[FIRST_TOUCHES], waiting * count[IN_ORDER], waiting * count[OUT_OF_ORDER], memory
        )
        code = (1 - time.waiting) * (weight["I1mr"] * count["I1mr"] + weight["ILmr"] * count["ILmr"]) / max(
            cycles - all_waits, 1
        )
        instructions = 1 - time.waiting - code
        first, _ = _first({
            First.OUT_OF_ORDER: waits.out_of_order, First.IN_ORDER: waits.in_order, First.L1_CODE: code,
            First.FIRST_TOUCHES: waits.first_touches,
        }, {})
        return Verdict(
            int(cycles), factors, instructions, 0.0, code, 0.0, waits.first_touches, first, None, fits, waits,
            time,
        )
    costs: dict[First, int] = {
        First.L1_DATA: weight["D1mr"] * (count["D1mr"] + count["D1mw"]),
        First.L1_CODE: weight["I1mr"] * count["I1mr"],
        First.L2: weight["D2mr"] * (count["I2mr"] + count["D2mr"] + count["D2mw"]) if has_l2 else 0,
        First.LAST_LEVEL: weight["DLmr"] * (last_misses - first_touches),
        First.FIRST_TOUCHES: weight["DLmr"] * first_touches,
    }
    shares = {part: cost / cycles for part, cost in costs.items()}
    first, wasted = _first(shares, {
        part: share * _unused(part, metrics, totals) for part, share in shares.items()
    })
    return Verdict(
        int(cycles), factors, instructions,
        shares[First.L1_DATA],
        shares[First.L1_CODE],
        shares[First.LAST_LEVEL] + shares[First.FIRST_TOUCHES],
        shares[First.FIRST_TOUCHES],
        first, wasted, fits, l2=shares[First.L2] if has_l2 else None,
    )


def _time(metrics: Mapping[str, Metric], totals: Row) -> Time:
    seconds, least, most = (float(metrics[name].value(totals) or 0) for name in TIMES)
    waiting = SECOND * (metrics[TIME_WAIT].value(totals) or 0)
    least, most = min(least, seconds), max(most, seconds)
    return Time(seconds, least, most, waiting / seconds if seconds else 0.0, metrics[TIMES[0]].title)


def _first(shares: Mapping[First, float], wasted: Mapping[First, float]) -> tuple[First, float | None]:
    """What comes first, and the share that is wasted there if that is why. Among equals, the first in `shares` wins."""
    most_wasted = max(shares, key=lambda part: wasted.get(part, 0.0))
    if wasted.get(most_wasted, 0.0) >= NOTABLE:
        return most_wasted, wasted[most_wasted]
    avoidable: list[First] = [part for part in shares if part is not First.FIRST_TOUCHES]
    largest = max(avoidable, key=lambda part: shares[part])
    if shares[largest] < NOTABLE:
        largest = max(shares, key=lambda part: shares[part])
    is_little = shares[largest] < NOTABLE and sum(shares.values()) < _ALL_NOTABLE
    return First.INSTRUCTIONS if is_little else largest, None


# The metrics of the share of loaded bytes that were never used, by level: preferably that of data alone.
_UNUSED = {
    First.L1_DATA: ("UnusedD1", "Unused1"),
    First.L1_CODE: ("UnusedI1",),
    First.L2: ("UnusedD2", "UnusedL2"),
    First.LAST_LEVEL: ("UnusedDL", "Unused2"),
}


def _unused(part: First, metrics: Mapping[str, Metric], totals: Row) -> Number:
    name = next((name for name in _UNUSED.get(part, ()) if name in metrics), None)
    return metrics[name].value(totals) or 0 if name else 0


def _first_touches(profile: Profile, count: Mapping[str, int], misses: int) -> int:
    """How many misses of the last level are known to be first touches: the counted ones or, if they are not counted and
    LL has room for everything, all misses."""
    counted = count.get("ILfirst", 0) + count.get("DLfirst", 0)
    if "DLfirst" in count:
        return min(counted, misses)
    match = CACHE.fullmatch(dict(profile.parts[0].descriptions).get("LL cache", ""))
    return misses if match is not None and misses * int(match[2]) <= int(match[1]) else 0
