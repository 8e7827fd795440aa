# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops as the processor executes them, without what they wait for in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Estimate(NamedTuple):
    """least: by the least of all rounds of each figure. most: by their medians, and if nothing were hidden."""

    value: float = 0.0
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True, slots=True)
class Body:
    """What nearly each iteration of a loop executes that has no other loops in it."""

    object: str
    addresses: tuple[int, ...]  # in this order


@dataclass(frozen=True, slots=True)
class Cycles:
    """Of an iteration whose data hits L1. least: if no iteration needs results of the one before."""

    each: float
    least: float
