# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a loop's time is waiting for lines: processors do other things while lines are on their way.

A loop takes the time of its instructions, or that of its lines if that is longer. As many lines are on their way at a
time as the window of instructions has; what stands behind a branch that is mispredicted is not looked at before the
line that it depends on has come. Of a chain, each step hides the instructions of the window at most. Lines that are
written to are waited for by nothing in the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .miss_costs import OVERLAPPING, WAITING, Access, Loads, MissCosts


@dataclass(frozen=True, slots=True)
class LoopTime:
    """Of a loop, or of the code of a function of which no loops are known. work: nanoseconds of its instructions, as
    far as they hide no lines of loops within."""

    work: float
    instructions: int
    mispredicted: float

    def waiting(self, loads: Mapping[int, Loads], costs: MissCosts, is_hidden: bool = True) -> dict[int, float]:
        """Nanoseconds, by the keys of what is loaded. is_hidden: whether instructions hide any of it."""
        alone = self._alone(loads, costs)
        times = {key: costs.time_of(one, alone.get(key, (0.0, 0.0))) for key, one in loads.items()}
        self._share_strides(loads, times, costs)
        if not is_hidden:
            return times
        most = self._hideable(loads, times, alone, costs)
        total = sum(most.values())
        share = min(self.work / total, 1.0) if total > 0 else 0.0
        return {key: time - share * most[key] for key, time in times.items()}

    def _share_strides(self, loads: Mapping[int, Loads], times: dict[int, float], costs: MissCosts) -> None:
        """What a stride takes longer than lines in order is that a prefetcher looks a few steps of its instruction
        ahead, and no further. It does so for several instructions at a time: the longest is waited for, and the
        others share the bandwidth."""
        longer = {
            key: max(times[key] - costs.time_of(replace(one, access=Access.IN_ORDER)), 0.0)
            for key, one in loads.items() if one.access is Access.STRIDE
        }
        total = sum(longer.values())
        if total > 0:
            at_once = 1 - max(longer.values()) / total
            for key, one in longer.items():
                times[key] -= at_once * one

    def _alone(self, loads: Mapping[int, Loads], costs: MissCosts) -> dict[int, tuple[float, float]]:
        """How many of the lines that could overlap are waited for one at a time, at most: one for each window, from
        memory, where it has any from there, and from caches."""
        overlapping = {key: one for key, one in loads.items() if one.access in OVERLAPPING and one.blocks}
        far = sum(one.far for one in overlapping.values())
        near = sum(one.near_lines for one in overlapping.values())
        if not far + near:
            return {}

        def within(lines: float) -> float:
            """In a window. One that begins with a line has, on average, half a line more than one that begins
            anywhere."""
            return max(lines * costs.window / self.instructions + 0.5, 1.0) if self.instructions else 1.0

        # Independent lines come from memory as it happens; those of columns, one round of a loop after the other.
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
        self, loads: Mapping[int, Loads], times: Mapping[int, float], alone: Mapping[int, tuple[float, float]],
        costs: MissCosts,
    ) -> dict[int, float]:
        """How much of each may be hidden, at most."""
        waiting = sum(one.lines for one in loads.values() if one.access in WAITING)
        each = self.work / self.instructions if self.instructions else 0.0
        ahead = min(self.instructions / waiting, costs.window) if waiting else 0.0
        by_branches = self.mispredicted >= sum(far + near for far, near in alone.values())
        found: dict[int, float] = {}
        for key, one in loads.items():
            if one.access in WAITING:
                found[key] = min(times[key], one.lines * ahead * each)
            elif key in alone:
                # While one line is waited for, the window gets full; behind a mispredicted branch, nothing is in it.
                windows = 0.0 if by_branches else sum(alone[key])
                found[key] = min(times[key], max(windows * costs.window * each, costs.time_of(one)))
            else:
                found[key] = times[key]
        return found
