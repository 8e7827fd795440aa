# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers that people read, computed from a row of costs: events, sums of events, and ratios.

Profiles have sums only. Shares and rates are computed here, from any row: that of a function, a line or a call, self or
inclusive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter, mul

from .errors import UserError
from .profile import Profile, Row

Number = int | float
SECOND = 1e-12  # seconds per picosecond
# The estimated time in picoseconds, its lower and its upper bound.
TIMES = ("TEst", "TLeast", "TMost")
# Picoseconds in which the processor waits for data; and the part of them for lines from memory.
TIME_WAIT, TIME_MEMORY = "TimeWait", "TimeMem"
_TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+)\s*\*?\s*)?([A-Za-z_][^\s+*-]*)\s*")


@dataclass(frozen=True, slots=True)
class Metric:
    """One event, a weighted sum of events, or the quotient of two such sums."""

    name: str
    heading: str  # at most about 10 characters
    title: str
    numerator: Row
    denominator: Row | None = None
    is_share: bool = False  # whether it is a quotient to be read as a percentage
    more_is_better: bool = False
    is_time: bool = False  # whether it is a sum of picoseconds; its value is in seconds

    @property
    def is_ratio(self) -> bool:
        return self.denominator is not None

    def value(self, row: Row) -> Number | None:
        """The metric's value for a row; None if the denominator of a ratio is 0."""
        top: int = sum(map(mul, self.numerator, row))
        if self.denominator is None:
            return top * SECOND if self.is_time else top
        bottom: int = sum(map(mul, self.denominator, row))
        return top / bottom if bottom else None

    def counter(self) -> Callable[[Row], int]:
        """A function that returns the numerator, for loops over many rows: several times as fast as value()."""
        weights = [(index, weight) for index, weight in enumerate(self.numerator) if weight]
        if len(weights) == 1 and weights[0][1] == 1:
            return itemgetter(weights[0][0])
        if len(weights) < 2:
            return lambda row: sum(weight * row[index] for index, weight in weights)
        factors = tuple(weight for _, weight in weights)
        counted = itemgetter(*(index for index, _ in weights))
        if set(factors) == {1}:
            return lambda row: sum(counted(row))
        return lambda row: sum(map(mul, factors, counted(row)))


# Weighted sums: name, heading, title, and weights by event. A sum is available if the profile has all of its events.
_SUMS: tuple[tuple[str, str, str, dict[str, int]], ...] = (
    ("DRefs", "data refs", "Data accesses", {"Dr": 1, "Dw": 1}),
    ("L1Refs", "L1 refs", "Instruction fetches and data accesses", {"Ir": 1, "Dr": 1, "Dw": 1}),
    ("D1m", "D1 misses", "Data misses of the first level", {"D1mr": 1, "D1mw": 1}),
    ("L1m", "L1 misses", "Misses of the first level", {"I1mr": 1, "D1mr": 1, "D1mw": 1}),
    ("D2m", "L2d misses", "Data misses of L2", {"D2mr": 1, "D2mw": 1}),
    ("L2m", "L2 misses", "Misses of L2", {"I2mr": 1, "D2mr": 1, "D2mw": 1}),
    ("DLm", "LLd misses", "Data misses of the last level", {"DLmr": 1, "DLmw": 1}),
    ("LLm", "LL misses", "Misses of the last level", {"ILmr": 1, "DLmr": 1, "DLmw": 1}),
    ("DT1m", "TLBd misses", "Data misses of the first-level TLB", {"DT1mr": 1, "DT1mw": 1}),
    ("DT2m", "data walks", "Page walks for data", {"DT2mr": 1, "DT2mw": 1}),
    ("DH2m", "huge walks", "Page walks for data with huge pages", {"DH2mr": 1, "DH2mw": 1}),
    ("T1m", "TLB misses", "Misses of the first-level TLBs", {"IT1mr": 1, "DT1mr": 1, "DT1mw": 1}),
    ("T2m", "page walks", "Page walks: misses of the second-level TLBs", {"IT2mr": 1, "DT2mr": 1, "DT2mw": 1}),
    ("H2m", "huge walks", "Page walks with huge pages", {"IH2mr": 1, "DH2mr": 1, "DH2mw": 1}),
    ("PfUse", "pf used", "Lines prefetched into LL and used later", {"IPfUse": 1, "DPfUse": 1}),
    ("PfLoss", "pf lost", "Lines prefetched into LL and never used", {"IPfLoss": 1, "DPfLoss": 1}),
    ("PfUseL2", "pf2 used", "Lines prefetched into L2 and used later", {"IPfUseL2": 1, "DPfUseL2": 1}),
    ("PfLossL2", "pf2 lost", "Lines prefetched into L2 and never used", {"IPfLossL2": 1, "DPfLossL2": 1}),
    ("Loaded1", "L1 loaded", "Bytes loaded into L1", {"SpLoss1": 1, "UsByte1": 1}),
    ("LoadedL2", "L2 loaded", "Bytes loaded into L2", {"SpLossL2": 1, "UsByteL2": 1}),
    ("Loaded2", "LL loaded", "Bytes loaded into LL", {"SpLoss2": 1, "UsByte2": 1}),
    ("LoadedD1", "D1 loaded", "Bytes of data loaded into D1", {"SpLossD1": 1, "UsByteD1": 1}),
    ("LoadedD2", "L2d loaded", "Bytes of data loaded into L2", {"SpLossD2": 1, "UsByteD2": 1}),
    ("LoadedDL", "LLd loaded", "Bytes of data loaded into LL", {"SpLossDL": 1, "UsByteDL": 1}),
    ("LoadedI1", "I1 loaded", "Bytes of code loaded into I1",
     {"SpLoss1": 1, "UsByte1": 1, "SpLossD1": -1, "UsByteD1": -1}),
    ("LoadedI2", "L2i loaded", "Bytes of code loaded into L2",
     {"SpLossL2": 1, "UsByteL2": 1, "SpLossD2": -1, "UsByteD2": -1}),
    ("LoadedIL", "LLi loaded", "Bytes of code loaded into LL",
     {"SpLoss2": 1, "UsByte2": 1, "SpLossDL": -1, "UsByteDL": -1}),
    ("SpLossI1", "unused code", "Bytes of code loaded into I1 and never used",
     {"SpLoss1": 1, "SpLossD1": -1}),
    ("SpLossI2", "unused L2i", "Bytes of code loaded into L2 and never used",
     {"SpLossL2": 1, "SpLossD2": -1}),
    ("SpLossIL", "unused LLi", "Bytes of code loaded into LL and never used",
     {"SpLoss2": 1, "SpLossDL": -1}),
    ("I1cap", "I1 capac.", "Instruction fetch misses of I1 by capacity",
     {"I1mr": 1, "I1first": -1, "I1conf": -1}),
    ("D1cap", "D1 capac.", "Data misses of D1 by capacity",
     {"D1mr": 1, "D1mw": 1, "D1first": -1, "D1conf": -1}),
    ("I2cap", "L2i capac.", "Instruction fetch misses of L2 by capacity",
     {"I2mr": 1, "I2first": -1, "I2conf": -1}),
    ("D2cap", "L2d capac.", "Data misses of L2 by capacity",
     {"D2mr": 1, "D2mw": 1, "D2first": -1, "D2conf": -1}),
    ("ILcap", "LLi capac.", "Instruction fetch misses of LL by capacity",
     {"ILmr": 1, "ILfirst": -1, "ILconf": -1}),
    ("DLcap", "LLd capac.", "Data misses of LL by capacity",
     {"DLmr": 1, "DLmw": 1, "DLfirst": -1, "DLconf": -1}),
    ("Wait", "wait", "Estimated cycles that misses of data cost",
     {"WaitFirst": 1, "WaitIn": 1, "WaitOut": 1}),
    ("Bm", "mispred.", "Mispredicted branches", {"Bcm": 1, "Bim": 1}),
    ("Branches", "branches", "Branches", {"Bc": 1, "Bi": 1}),
    # A miss of all levels costs as much as with two levels. A hit in LL costs something between.
    (
        "CEst", "cycle est.", "Estimated cycles: Ir + 10 L1m + 30 L2m + 70 LLm",
        {"Ir": 1, "I1mr": 10, "D1mr": 10, "D1mw": 10, "I2mr": 30, "D2mr": 30, "D2mw": 30,
         "ILmr": 70, "DLmr": 70, "DLmw": 70},
    ),
    (
        "CEst", "cycle est.", "Estimated cycles: Ir + 10 L1m + 100 LLm",
        {"Ir": 1, "I1mr": 10, "D1mr": 10, "D1mw": 10, "ILmr": 100, "DLmr": 100, "DLmw": 100},
    ),
)

# Shares: name, heading, title, numerator and denominator, which are events or sums from above.
_SHARES: tuple[tuple[str, str, str, str, str], ...] = (
    ("Unused1", "unused", "Share of the bytes loaded into L1 that was never used",
     "SpLoss1", "Loaded1"),
    ("UnusedL2", "unused L2", "Share of the bytes loaded into L2 that was never used",
     "SpLossL2", "LoadedL2"),
    ("Unused2", "unused LL", "Share of the bytes loaded into LL that was never used",
     "SpLoss2", "Loaded2"),
    ("UnusedD1", "unused", "Share of the bytes of data loaded into D1 that was never used",
     "SpLossD1", "LoadedD1"),
    ("UnusedD2", "unused L2d", "Share of the bytes of data loaded into L2 that was never used",
     "SpLossD2", "LoadedD2"),
    ("UnusedDL", "unused LLd", "Share of the bytes of data loaded into LL that was never used",
     "SpLossDL", "LoadedDL"),
    ("UnusedI1", "unused code", "Share of the bytes of code loaded into I1 that was never used",
     "SpLossI1", "LoadedI1"),
    ("UnusedI2", "unused L2i", "Share of the bytes of code loaded into L2 that was never used",
     "SpLossI2", "LoadedI2"),
    ("UnusedIL", "unused LLi", "Share of the bytes of code loaded into LL that was never used",
     "SpLossIL", "LoadedIL"),
    ("I1rate", "I1 miss", "Miss rate of instruction fetches in I1", "I1mr", "Ir"),
    ("D1rate", "D1 miss", "Miss rate of data accesses in D1", "D1m", "DRefs"),
    ("L1rate", "L1 miss", "Miss rate of the first level, all accesses", "L1m", "L1Refs"),
    ("L2rate", "L2 miss", "Misses of L2 per access, all accesses", "L2m", "L1Refs"),
    ("L2local", "L2 local", "Miss rate of L2: of L1 misses, those that miss L2", "L2m", "L1m"),
    ("LLrate", "LL miss", "Misses of the last level per access, all accesses", "LLm", "L1Refs"),
    ("LLlocal", "LL local", "Miss rate of the last level: of L2 misses, those that miss LL",
     "LLm", "L2m"),
    ("LLlocal", "LL local", "Miss rate of the last level: of L1 misses, those that miss LL",
     "LLm", "L1m"),
    ("Trate", "walk rate", "Page walks per access, all accesses", "T2m", "L1Refs"),
    ("Brate", "mispred.", "Share of branches mispredicted", "Bm", "Branches"),
)

# Quotients, likewise, with a factor for the numerator.
_QUOTIENTS: tuple[tuple[str, str, str, str, str, int], ...] = (
    ("AccLine1", "acc/line", "Accesses to a line while it was in L1, on average",
     "Access1", "EvLine1", 1),
    ("AccLineL2", "acc/L2 line", "Accesses to a line while it was in L2, on average",
     "AccessL2", "EvLineL2", 1),
    ("AccLine2", "acc/LL line", "Accesses to a line while it was in LL, on average",
     "Access2", "EvLine2", 1),
    ("AccLineD1", "acc/line", "Accesses to a line while it was in D1, on average",
     "AccessD1", "EvLineD1", 1),
    # A few lines with thousands of accesses, such as the stack's, hide all others in an average.
    ("AccTyp1", "typ. acc", "Accesses to a line while it was in L1, harmonic mean", "EvLine1", "AcCost1",
     1000),
    ("AccTypL2", "typ. L2 acc", "Accesses to a line while it was in L2, harmonic mean",
     "EvLineL2", "AcCostL2", 1000),
    ("AccTyp2", "typ. LL acc", "Accesses to a line while it was in LL, harmonic mean",
     "EvLine2", "AcCost2", 1000),
    ("UsLine1", "used/line", "Bytes used of a line while it was in L1", "UsByte1", "EvLine1", 1),
    ("UsLineL2", "used/L2 line", "Bytes used of a line while it was in L2",
     "UsByteL2", "EvLineL2", 1),
    ("UsLine2", "used/LL line", "Bytes used of a line while it was in LL",
     "UsByte2", "EvLine2", 1),
)

_HEADINGS = {
    "Ir": ("instr.", "Instructions executed"),
    "Dr": ("reads", "Data reads"),
    "Dw": ("writes", "Data writes"),
    "I1mr": ("I1 misses", "Instruction fetches that missed I1"),
    "D1mr": ("D1 rd miss", "Data reads that missed D1"),
    "D1mw": ("D1 wr miss", "Data writes that missed D1"),
    "I2mr": ("L2i misses", "Instruction fetches that missed L2"),
    "D2mr": ("L2 rd miss", "Data reads that missed L2"),
    "D2mw": ("L2 wr miss", "Data writes that missed L2"),
    "ILmr": ("LLi misses", "Instruction fetches that missed LL"),
    "DLmr": ("LL rd miss", "Data reads that missed LL"),
    "DLmw": ("LL wr miss", "Data writes that missed LL"),
    "SpLoss1": ("never used", "Bytes loaded into L1 and never used"),
    "SpLossL2": ("never used L2", "Bytes loaded into L2 and never used"),
    "SpLoss2": ("never used LL", "Bytes loaded into LL and never used"),
    "SpLossD1": ("never used", "Bytes of data loaded into D1 and never used"),
    "SpLossD2": ("never used L2", "Bytes of data loaded into L2 and never used"),
    "SpLossDL": ("never used LL", "Bytes of data loaded into LL and never used"),
    "I1first": ("I1 first", "Instruction fetch misses of I1 that were a line's first touch"),
    "I1conf": ("I1 confl.", "Instruction fetch misses of I1 by conflict"),
    "D1first": ("D1 first", "Data misses of D1 that were a line's first touch"),
    "D1conf": ("D1 confl.", "Data misses of D1 by conflict"),
    "I2first": ("L2i first", "Instruction fetch misses of L2 that were a line's first touch"),
    "I2conf": ("L2i confl.", "Instruction fetch misses of L2 by conflict"),
    "D2first": ("L2d first", "Data misses of L2 that were a line's first touch"),
    "D2conf": ("L2d confl.", "Data misses of L2 by conflict"),
    "ILfirst": ("LLi first", "Instruction fetch misses of LL that were a line's first touch"),
    "ILconf": ("LLi confl.", "Instruction fetch misses of LL by conflict"),
    "DLfirst": ("LLd first", "Data misses of LL that were a line's first touch"),
    "DLconf": ("LLd confl.", "Data misses of LL by conflict"),
    "IT1mr": ("TLB1 i miss", "Instruction fetches that missed the first-level TLB"),
    "DT1mr": ("TLB1 rd miss", "Data reads that missed the first-level TLB"),
    "DT1mw": ("TLB1 wr miss", "Data writes that missed the first-level TLB"),
    "IT2mr": ("TLB2 i miss", "Instruction fetches that missed the second-level TLB"),
    "DT2mr": ("TLB2 rd miss", "Data reads that missed the second-level TLB"),
    "DT2mw": ("TLB2 wr miss", "Data writes that missed the second-level TLB"),
    "IH1mr": ("huge1 i miss", "Instruction fetches that missed the first-level TLB with huge pages"),
    "DH1mr": ("huge1 rd miss", "Data reads that missed the first-level TLB with huge pages"),
    "DH1mw": ("huge1 wr miss", "Data writes that missed the first-level TLB with huge pages"),
    "IH2mr": ("huge2 i miss", "Instruction fetches that missed the second-level TLB with huge pages"),
    "DH2mr": ("huge2 rd miss", "Data reads that missed the second-level TLB with huge pages"),
    "DH2mw": ("huge2 wr miss", "Data writes that missed the second-level TLB with huge pages"),
    "IPfUse": ("pf i used", "Lines of code prefetched into LL and used later"),
    "IPfLoss": ("pf i lost", "Lines of code prefetched into LL and never used"),
    "DPfUse": ("pf d used", "Lines of data prefetched into LL and used later"),
    "DPfLoss": ("pf d lost", "Lines of data prefetched into LL and never used"),
    "IPfUseL2": ("pf2 i used", "Lines of code prefetched into L2 and used later"),
    "IPfLossL2": ("pf2 i lost", "Lines of code prefetched into L2 and never used"),
    "DPfUseL2": ("pf2 d used", "Lines of data prefetched into L2 and used later"),
    "DPfLossL2": ("pf2 d lost", "Lines of data prefetched into L2 and never used"),
    "AcCost1": ("rarely used", "1000 / accesses, added up over the lines that left L1"),
    "WaitFirst": ("wait", "Estimated cycles that first touches of lines of data cost"),
    "WaitIn": ("wait", "Estimated cycles that other misses of data in memory order cost"),
    "WaitOut": ("wait", "Estimated cycles that other misses of data cost"),
    "TEst": ("time est.", "Estimated time"),
    "TLeast": ("time least", "Estimated time, at least"),
    "TMost": ("time most", "Estimated time, at most"),
    "TimeWait": ("waits", "Estimated picoseconds in which the processor only waits for data"),
    "TimeMem": ("waits mem.", "Estimated picoseconds in which the processor only waits for data from memory"),
    "AcCostL2": ("rarely used L2", "1000 / accesses, added up over the lines that left L2"),
    "AcCost2": ("rarely used LL", "1000 / accesses, added up over the lines that left LL"),
}
# Callgrind calls these "1000 per access", as bdgrind once did. That reads as the opposite.
_MISLEADING_TITLES = frozenset({"AcCost1", "AcCostL2", "AcCost2"})


def metrics_of(profile: Profile) -> dict[str, Metric]:
    """All metrics of a profile by name, its events first."""
    return metrics_for(profile.events, profile.titles, profile.formulas)


def with_cycle_costs(profile: Profile, costs: tuple[int, ...]) -> Profile:
    """The profile with another CEst. costs: cycles of an instruction, of a miss of L1, of L2 if there are four numbers,
    and of LL. Raises UserError if they do not match the profile's caches."""
    needed = "Ir", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw"
    missing = [event for event in needed if event not in profile.events]
    if missing:
        raise UserError(f"--cycle-costs: {profile.parts[0].source} lacks {' '.join(missing)}")
    has_l2 = "D2mr" in profile.events
    if len(costs) == 4 and not has_l2:
        raise UserError(f"--cycle-costs: {profile.parts[0].source} has no L2, so it takes three numbers")
    formula = ("{} Ir + {} L1m + {} L2m + {} LLm" if len(costs) == 4 else "{} Ir + {} L1m + {} LLm").format(*costs)
    titles = {**profile.titles, "CEst": f"Estimated cycles: {formula}"}
    return replace(profile, titles=titles, formulas={**profile.formulas, "CEst": formula})


def metrics_for(
    events: tuple[str, ...], titles: Mapping[str, str], formulas: Mapping[str, str]
) -> dict[str, Metric]:
    """All metrics of rows with these events, by name. titles, formulas: by event, as a profile states them. Raises
    UserError for a formula that is not valid."""
    found: dict[str, Metric] = {}
    for event in events:
        heading, title = _HEADINGS.get(event, (event, event))
        own = _weights(events, {event: 1})
        if event not in _MISLEADING_TITLES:
            title = titles.get(event, title)
        found[event] = Metric(event, heading, title, own, is_time=event in TIMES and event in titles)
    for name, heading, title, weights in _SUMS:
        if name not in found and all(event in events for event in weights):
            found[name] = Metric(name, heading, title, _weights(events, weights))
    for name, formula in formulas.items():
        if name not in events:
            row = _formula(name, formula, found, len(events))
            heading = found[name].heading if name in found else name
            found[name] = Metric(name, heading, titles.get(name, f"{name} = {formula}"), row)
    for name, heading, title, top, bottom in _SHARES:
        if name not in found and top in found and bottom in found:
            over, under = found[top].numerator, found[bottom].numerator
            found[name] = Metric(name, heading, title, over, under, is_share=True)
    for name, heading, title, top, bottom, factor in _QUOTIENTS:
        if name not in found and top in found and bottom in found:
            over = tuple(factor * weight for weight in found[top].numerator)
            under = found[bottom].numerator
            found[name] = Metric(name, heading, title, over, under, more_is_better=True)
    return found


def _weights(events: tuple[str, ...], weights: Mapping[str, int]) -> Row:
    return tuple(weights.get(event, 0) for event in events)


def _formula(name: str, formula: str, known: Mapping[str, Metric], width: int) -> Row:
    """The weights of an event that a file defines by others, such as `10 L1m + 100 LLm`."""
    total = (0,) * width
    position = 0
    while position < len(formula):
        match = _TERM.match(formula, position)
        if not match or (position and not match[1]):
            raise UserError(f"event {name}: the formula '{formula}' is not a sum of events")
        sign, factor, event = match.groups()
        if event not in known or known[event].is_ratio:
            raise UserError(f"event {name}: '{event}' in the formula '{formula}' is unknown")
        weight = int(factor or 1) * (-1 if sign == "-" else 1)
        total = tuple(t + weight * n for t, n in zip(total, known[event].numerator))
        position = match.end()
    return total
