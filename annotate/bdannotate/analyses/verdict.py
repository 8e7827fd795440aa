# SPDX-License-Identifier: GPL-2.0-or-later
"""How bad is it, and where to look first: what misses cost of the estimated cycles.

First comes what would help most: the level at which bytes that are never used cost most cycles, as
misses that load less could be saved. A stream misses as often in LL as in L1, at a tenfold price, but
uses all that it loads. Where no such waste is notable, the level whose misses cost most is first.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from ..model.metrics import Metric, Number
from ..model.profile import CACHE, Profile, Row

# What costs less of the estimate is not worth a change of the program.
NOTABLE = 0.1


class First(enum.Enum):
    L1_DATA = "L1"
    L1_CODE = "code"
    LAST_LEVEL = "LL"
    INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shares of the estimated cycles. All of it is an estimate: no overlap, no prefetching."""

    cycles: int
    factors: tuple[int, int, int]  # of an instruction, of a miss of L1 and of LL
    instructions: float
    l1_data: float
    l1_code: float
    last_level: float
    fits_last_level: bool  # every miss there is the first touch of a line
    first: First
    wasted: float | None  # what never used bytes cost at this level, if that makes it the first


def verdict(profile: Profile, metrics: Mapping[str, Metric], totals: Row) -> Verdict | None:
    """None for a profile without the misses that the estimate needs."""
    needed = ("Ir", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
    if any(event not in profile.events for event in needed) or "CEst" not in metrics:
        return None
    count = dict(zip(profile.events, totals))
    weight = dict(zip(profile.events, metrics["CEst"].numerator))
    last_misses = count["ILmr"] + count["DLmr"] + count["DLmw"]
    parts = {
        First.L1_DATA: weight["D1mr"] * (count["D1mr"] + count["D1mw"]),
        First.L1_CODE: weight["I1mr"] * count["I1mr"],
        First.LAST_LEVEL: weight["DLmr"] * last_misses,
    }
    cycles = metrics["CEst"].value(totals) or 0
    if not cycles:
        return None
    fits = _fits_last_level(profile, last_misses)
    wasted = {part: parts[part] * _unused(part, metrics, totals) for part in parts}
    candidates = [part for part in parts if not (fits and part is First.LAST_LEVEL)]
    largest = max(candidates, key=lambda part: parts[part])
    most_wasted = max(candidates, key=lambda part: wasted[part])
    is_waste = wasted[most_wasted] >= NOTABLE * cycles
    if is_waste:
        largest = most_wasted
    return Verdict(
        int(cycles),
        (weight["Ir"], weight["D1mr"], weight["DLmr"]),
        weight["Ir"] * count["Ir"] / cycles,
        parts[First.L1_DATA] / cycles,
        parts[First.L1_CODE] / cycles,
        parts[First.LAST_LEVEL] / cycles,
        fits,
        largest if parts[largest] >= NOTABLE * cycles else First.INSTRUCTIONS,
        wasted[largest] / cycles if is_waste else None,
    )


# The share of what was loaded there that was never used; of data alone, where that is known.
_UNUSED = {
    First.L1_DATA: ("UnusedD1", "Unused1"),
    First.L1_CODE: ("UnusedI1",),
    First.LAST_LEVEL: ("UnusedDL", "Unused2"),
}


def _unused(part: First, metrics: Mapping[str, Metric], totals: Row) -> Number:
    name = next((name for name in _UNUSED[part] if name in metrics), None)
    return metrics[name].value(totals) or 0 if name else 0


def _fits_last_level(profile: Profile, misses: int) -> bool:
    match = CACHE.fullmatch(dict(profile.parts[0].descriptions).get("LL cache", ""))
    return match is not None and misses * int(match[2]) <= int(match[1])
