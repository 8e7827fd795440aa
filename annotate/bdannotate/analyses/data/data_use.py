# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of the events that say how data was used, and whether they are about code instead.

This is the only place that chooses them. A profile that separates instructions and data has events for the lines of D1;
otherwise those of L1 are used, which are sums of both.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from ...model.metrics import Metric
from ...model.profile import Row


@dataclass(frozen=True, slots=True)
class UseEvents:
    """The names of the events of one level."""

    loss: str  # bytes loaded and never used
    used: str  # bytes used
    lines: str  # lines that left the cache
    accesses: str  # accesses to these lines; sampled runs do not count them
    rareness: str  # AcCost, high if lines are hardly used
    is_mixed: bool  # whether lines of instructions are included


def _events(ending: str, is_mixed: bool) -> UseEvents:
    return UseEvents(
        f"SpLoss{ending}", f"UsByte{ending}", f"EvLine{ending}", f"Access{ending}",
        f"AcCost{ending}", is_mixed,
    )


# By level, in the order of preference.
_LEVELS = {
    1: (_events("D1", False), _events("1", True)),
    2: (_events("DL", False), _events("2", True)),
}
MIXED = _events("1", True)


def data_use(available: Container[str], level: int = 1) -> UseEvents | None:
    """The first events of a level that are all available, but for the accesses; None if there are none. level: 1, or 2
    for LL."""
    for events in _LEVELS[level]:
        names = (events.loss, events.used, events.lines, events.rareness)
        if all(name in available for name in names):
            return events
    return None


def data_loss(metrics: Mapping[str, Metric]) -> Metric | None:
    """The metric by which a report on data ranks; None if there is none."""
    for events in _LEVELS[1]:
        if events.loss in metrics:
            return metrics[events.loss]
    return None


# The metrics of the lines of one cache level, without the level's name.
_OF_LINES = ("SpLoss", "UsByte", "EvLine", "Access", "AcCost", "Loaded", "AccLine", "AccTyp", "UsLine", "Unused")
_MISSES: Mapping[str, tuple[str, ...]] = {
    "D1": ("Dr", "Dw", "DRefs", "D1mr", "D1mw", "D1m", "D1rate", "D1first", "D1cap", "D1conf",
           "Wait", "WaitFirst", "WaitIn", "WaitOut"),
    "D2": ("D2mr", "D2mw", "D2m", "D2first", "D2cap", "D2conf"),
    "DL": ("DLmr", "DLmw", "DLm", "DLfirst", "DLcap", "DLconf"),
    "I1": ("I1mr", "I1rate", "I1first", "I1cap", "I1conf"),
    "I2": ("I2mr", "I2first", "I2cap", "I2conf"),
    "IL": ("ILmr", "ILfirst", "ILcap", "ILconf"),
    "1": ("L1m", "L1rate", "L1Refs"),
    "L2": ("L2m", "L2rate", "L2local"),
    "2": ("LLm", "LLrate", "LLlocal"),
}
_LEVEL_OF = {
    name: level
    for level, misses in _MISSES.items()
    for name in (*misses, *(f"{counted}{level}" for counted in _OF_LINES))
}
# The levels to use instead if a run counts the lines of code and data together. There are none for code.
_INSTEAD = {"D1": "1", "D2": "L2", "DL": "2"}


def share_beside(metric: Metric, metrics: Mapping[str, Metric]) -> Metric | None:
    """The metric of the share of bytes never used, of the lines that a metric is about. If it is about no level, that
    of data in D1. None if the profile does not have it."""
    level = _LEVEL_OF.get(metric.name, "D1")
    return metrics.get(f"Unused{level}") or metrics.get(f"Unused{_INSTEAD.get(level)}")


def mostly_code(metrics: Mapping[str, Metric]) -> Callable[[Row], bool]:
    """A function that returns whether the L1 lines of a row were mostly loaded to be executed, so that their use says
    nothing about data."""
    loss = data_loss(metrics)
    is_mixed = loss is not None and loss.name == MIXED.loss
    if not is_mixed or not {"I1mr", "D1m"} <= metrics.keys():
        return lambda row: False
    code, data = metrics["I1mr"].counter(), metrics["D1m"].counter()
    return lambda row: code(row) > data(row)
