# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine as bd_calibrate has measured it: what instructions and lines take there. docs/machines.md describes the
file and how each figure is measured."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Order(enum.Enum):
    """How the lines of a buffer follow each other."""

    IN_ORDER = "in-order"
    STRIDE = "stride"
    COLUMN = "column"
    INDEPENDENT = "independent"
    NEARBY = "nearby"
    CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class Figure:
    """The least and the median are those of all rounds."""

    value: float
    least: float
    median: float


@dataclass(frozen=True, slots=True)
class Machine:
    """figures: by name, in the units of the file. lines: nanoseconds for a line, by the bytes of others behind which
    it lies, the smallest first."""

    name: str
    processor: str
    model: str  # the same in numbers; may be empty
    measured: str
    caches: tuple[int, ...]  # bytes, the first level first
    figures: Mapping[str, Figure]
    lines: Mapping[Order, tuple[tuple[int, Figure], ...]]

    def figure(self, name: str) -> float:
        return self.figures[name].value

    @property
    def transfer(self) -> float | None:
        """Nanoseconds until a core has a line that another one has written; None of a machine with one core."""
        found = self.figures.get(TRANSFER)
        return found.value if found else None

    @property
    def cycle(self) -> float:
        """Nanoseconds: of the eight instructions of the loop whose instructions are chained, six need a cycle each."""
        return self.figure("instruction-chained") * 8 / 6


# What the file of a machine with several cores has besides; files of older versions lack it.
TRANSFER = "transfer"
# What every file has, with its unit.
FIGURES = {
    "instruction": "ns", "instruction-free": "ns", "instruction-chained": "ns", "misprediction": "ns",
    "page-walk": "ns", "translations": "pages", "window": "instructions",
}
