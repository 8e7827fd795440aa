# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a loop's time that is waiting for lines: processors do other work while lines are in flight.

A loop takes the time of its instructions or that of its lines, whichever is longer. The lines in flight at a time are
those in the instruction window; nothing behind a mispredicted branch is looked at before the line that the branch
depends on has come. Each step of a chain hides the instructions of one window at most, and all lines whose addresses
are in the same link come together. Nothing in the window waits for lines that are written to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .miss_costs import OVERLAPPING, WAITING, Access, Loads, MissCosts


@dataclass(frozen=True, slots=True)
class Overlap:
    """What is known of loads whatever a line costs, by their keys. alone: the lines that could overlap, but are waited
    for one at a time, at most: from memory, and from caches. waited: the steps of chains that are waited for."""

    alone: Mapping[int, tuple[float, float]]
    waited: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class LoopTime:
    """The work of a loop; or of a whole function, for its sites that are in no known loop. work: nanoseconds of its
    instructions, without those that hide lines of inner loops."""

    work: float
    instructions: int  # executed
    mispredicted: float  # branches

    def overlap(self, loads: Mapping[int, Loads], window: float) -> Overlap:
        """window: how many instructions are in a processor's window."""
        return Overlap(self._alone(loads, window), _steps_waited(loads))

    def waiting(
        self, loads: Mapping[int, Loads], costs: MissCosts, is_hidden: bool = True, overlap: Overlap | None = None
    ) -> dict[int, float]:
        """The nanoseconds of waiting, by the keys of `loads`. is_hidden: whether instructions hide part of the time.
        overlap: that of these loads, if it is known already."""
        overlap = overlap or self.overlap(loads, costs.window)
        alone, waited = overlap.alone, overlap.waited
        times: dict[int, float] = {}
        together: dict[int, float] = {}  # the same if all lines that can overlap do
        for key, one in loads.items():
            if key in alone:
                times[key], together[key] = costs.times_of(one, alone[key])
            else:
                times[key] = costs.time_of(one)
        _share_strides(loads, times, costs)
        for key, lines in waited.items():
            times[key] *= lines / max(loads[key].lines, 1e-9)
        if not is_hidden:
            return times
        most = self._hideable(loads, times, together, alone, costs.window, waited)
        total = sum(most.values())
        share = min(self.work / total, 1.0) if total > 0 else 0.0
        return {key: time - share * most[key] for key, time in times.items()}

    def _alone(self, loads: Mapping[int, Loads], window: float) -> dict[int, tuple[float, float]]:
        """The lines that could overlap, but are waited for one at a time, at most: one for each window, from memory if
        the window has any from there."""
        overlapping = {key: one for key, one in loads.items() if one.access in OVERLAPPING and one.blocks}
        far = sum(one.far for one in overlapping.values())
        near = sum(one.near_lines for one in overlapping.values())
        if not far + near:
            return {}

        def within(lines: float) -> float:
            """How many of these lines are in one window. A window that begins with a line has half a line more, on
            average, than one that begins anywhere."""
            return max(lines * window / self.instructions + 0.5, 1.0) if self.instructions else 1.0

        # Independent lines from memory are mixed at random; those of columns follow each other, iteration by iteration.
        independent = sum(one.far for one in overlapping.values() if one.access is Access.INDEPENDENT)
        columns = [one.far / within(one.lines) for one in overlapping.values() if one.access is not Access.INDEPENDENT]
        of_far = independent / within(independent) + max(columns, default=0.0)
        of_near = max((far + near) / within(far + near) - of_far, 0.0)
        mispredicted = min(self.mispredicted / (far + near), 1.0)
        of_far, of_near = max(of_far, mispredicted * far), max(of_near, mispredicted * near)
        return {
            key: (of_far * one.far / far if far else 0.0, of_near * one.near_lines / near if near else 0.0)
            for key, one in overlapping.items()
        }

    def _hideable(
        self, loads: Mapping[int, Loads], times: Mapping[int, float], together: Mapping[int, float],
        alone: Mapping[int, tuple[float, float]], window: float, waited: Mapping[int, float],
    ) -> dict[int, float]:
        """The nanoseconds of each of `loads` that instructions may hide, at most. together: the times of those that are
        in `alone` if they were not alone."""
        waiting = sum(waited.values())
        each = self.work / self.instructions if self.instructions else 0.0
        ahead = min(self.instructions / waiting, window) if waiting else 0.0
        by_branches = self.mispredicted >= sum(far + near for far, near in alone.values())
        found: dict[int, float] = {}
        for key, one in loads.items():
            if one.access in WAITING:
                found[key] = min(times[key], waited[key] * ahead * each)
            elif key in alone:
                # The window fills while one line is waited for; behind a mispredicted branch it stays empty.
                windows = 0.0 if by_branches else sum(alone[key])
                found[key] = min(times[key], max(windows * window * each, together[key]))
            else:
                found[key] = times[key]
        return found


def _share_strides(loads: Mapping[int, Loads], times: dict[int, float], costs: MissCosts) -> None:
    """Shorten the times of strides that go through the same elements, whose size is the step. Together they take no
    longer than all lines of these elements would take in order; that also limits a single site with a small step. The
    number of elements is the most lines that one instruction brings. If there are more lines than the elements have,
    they belong to several arrays, and the limit is the time of these lines in order."""
    elements: dict[float, list[int]] = {}
    for key, one in loads.items():
        if one.access is Access.STRIDE and one.step and one.lines:
            elements.setdefault(one.step, []).append(key)
    for step, keys in elements.items():
        in_order = {key: costs.time_of(replace(loads[key], access=Access.IN_ORDER)) for key in keys}
        most = max(step * max(in_order.values()), sum(in_order.values()))
        total = sum(times[key] for key in keys)
        if total > most:
            for key in keys:
                times[key] *= most / total


def _steps_waited(loads: Mapping[int, Loads]) -> dict[int, float]:
    """The steps of chains that are waited for, by the keys of `loads`. Lines whose addresses are all in what the same
    instruction loaded come together in one step. If they miss independently of each other, a step is waited for if any
    of them misses. Each of `loads` gets its share of these steps."""
    links: dict[int, list[int]] = {}
    for key, one in loads.items():
        if one.access in WAITING and one.link and one.steps:
            links.setdefault(one.link, []).append(key)
    found = {key: one.lines for key, one in loads.items() if one.access in WAITING}
    for keys in links.values():
        lines = sum(found[key] for key in keys)
        steps = max(loads[key].steps for key in keys)
        hits = math.prod(1 - min(found[key] / steps, 1.0) for key in keys)
        waited = max(steps * (1 - hits), max(found[key] for key in keys))
        for key in keys:
            found[key] *= min(waited / lines, 1.0) if lines else 1.0
    return found
