# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads in a profile's head what its tool simulated, for a name is no proof of it.

Callgrind, for one, simulates caches as soon as it is told their size: a geometry passed to all
tools alike once made the variant without caches one with them, 2.5 times as slow on `stencil`.
"""

from __future__ import annotations

from pathlib import Path

from bdbench.model import Geometry, Simulation, Variant

_MARK_OF_CACHES = "I1mr"
_MARK_OF_CACHE_USE = "SpLoss1"


def complaint(profile: Path, variant: Variant, geometry: Geometry) -> str:
    """Why this is not a profile that the variant should have written; empty if it is."""
    if not profile.is_file() or not profile.stat().st_size:
        return "no profile was written"
    descriptions, events = _head(profile)
    simulated = _simulation(events)
    if simulated is not variant.simulation:
        return f"it simulated {simulated.value} instead of {variant.simulation.value}"
    if simulated is not Simulation.NO_CACHES:
        for name, wanted in zip(("I1", "D1", "LL"), (geometry.i1, geometry.d1, geometry.ll)):
            size, ways, line_size = wanted.split(",")
            description = f"{name} cache: {size} B, {line_size} B, {ways}-way associative"
            if description not in descriptions:
                return f"its {name} is not {wanted}"
    return ""


def _head(profile: Path) -> tuple[set[str], set[str]]:
    """The texts of `desc:` lines with single spaces, and the events."""
    descriptions = set()
    with profile.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            keyword, _, text = line.partition(":")
            if keyword == "desc":
                descriptions.add(" ".join(text.split()))
            elif keyword == "events":
                return descriptions, set(text.split())
    return descriptions, set()


def _simulation(events: set[str]) -> Simulation:
    if _MARK_OF_CACHE_USE in events:
        return Simulation.CACHE_USE
    return Simulation.CACHES if _MARK_OF_CACHES in events else Simulation.NO_CACHES
