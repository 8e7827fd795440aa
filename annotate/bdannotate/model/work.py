# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops as the processor executes them, without the time that they wait for memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Estimate(NamedTuple):
    """An estimate and its bounds, in one unit. least: by the fastest measured rounds of the machine's figures, or if
    instructions never wait for each other. most: by the median rounds, and if instructions hide no waiting."""

    value: float = 0.0
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True, slots=True)
class Body:
    """The instructions that nearly each iteration of an innermost loop executes."""

    object: str
    addresses: tuple[int, ...]  # ascending


@dataclass(frozen=True, slots=True)
class Cycles:
    """The cycles of an iteration whose data hits L1. least: if no iteration needs results of the one before."""

    each: float
    least: float
