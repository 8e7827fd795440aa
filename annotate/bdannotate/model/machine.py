# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine as bd_calibrate measured it: the times of instructions and lines. docs/machines.md describes the file and
how each figure is measured."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Order(enum.Enum):
    """The order in which the lines of a buffer were visited."""

    IN_ORDER = "in-order"
    STRIDE = "stride"
    COLUMN = "column"
    INDEPENDENT = "independent"
    NEARBY = "nearby"
    CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure. least, median: those of all rounds."""

    value: float
    least: float
    median: float


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine. figures: by name, in the units of FIGURES. lines: pairs of the size of a buffer in bytes and the
    nanoseconds per line, the smallest buffer first."""

    name: str
    processor: str
    model: str  # the processor as numbers; may be empty
    measured: str
    caches: tuple[int, ...]  # bytes, the first level first
    figures: Mapping[str, Figure]
    lines: Mapping[Order, tuple[tuple[int, Figure], ...]]

    def figure(self, name: str) -> float:
        """The value of a figure."""
        return self.figures[name].value

    @property
    def transfer(self) -> float | None:
        """The nanoseconds until a core has a line that another one wrote; None for a machine with one core."""
        found = self.figures.get(TRANSFER)
        return found.value if found else None

    @property
    def cycle(self) -> float:
        """The nanoseconds of a clock cycle. Six of the eight instructions in the loop of `instruction-chained` take a
        cycle each."""
        return self.figure("instruction-chained") * 8 / 6


# A figure of machines with several cores. Files of older versions lack it.
TRANSFER = "transfer"
# The figures that every file has, with their units.
FIGURES = {
    "instruction": "ns", "instruction-free": "ns", "instruction-chained": "ns", "misprediction": "ns",
    "page-walk": "ns", "translations": "pages", "window": "instructions",
}
