# SPDX-License-Identifier: GPL-2.0-or-later
"""How cores share the last level: how much of it each holds, and who drives out whose lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...model.sharing import LastLevelEviction, Sharing

# For a conflict to be named: the minimum share of a core's lines that another one drives out, and the minimum share of
# all loads of the last level that bring such lines back.
_MANY = 0.25
_NOTABLE = 0.02


@dataclass(frozen=True, slots=True)
class CoreInLastLevel:
    """What a core has of the last level, and what it loses."""

    core: int
    loaded: int  # lines
    share: float  # of the last level, that its lines take, in the mean of all times that a line is loaded
    driven_out: int  # lines
    by_others: int  # of these, those that another core drove out
    again: int  # of these, those that this core was the next to load
    most_by: tuple[int, int] | None  # of other cores, the one that drove out most, and how many; None: none did


@dataclass(frozen=True, slots=True)
class Conflict:
    """A core drives out lines of another one."""

    evictor: int
    core: int
    lines: int
    lost: int  # lines of that core that anyone drove out
    again: int  # of `lines`, those that the core was the next to load


@dataclass(frozen=True, slots=True)
class LastLevelReport:
    """cores: by number. conflicts: the notable ones, most lines loaded again first."""

    lines: int  # that the last level has
    loaded: int
    cores: tuple[CoreInLastLevel, ...]
    evictions: tuple[LastLevelEviction, ...]
    conflicts: tuple[Conflict, ...]


def report_last_level(found: Sharing) -> LastLevelReport | None:
    """How cores share the last level; None if that is not recorded."""
    if not found.ll_lines:
        return None
    loaded = sum(one.lines for one in found.ll_cores)
    lost: Counter[int] = Counter()
    for one in found.ll_evictions:
        lost[one.core] += one.lines
    held = {one.core: (one.lines, one.held) for one in found.ll_cores}
    cores = [
        _core(core, *held.get(core, (0, 0)), loaded * found.ll_lines, found.ll_evictions)
        for core in sorted({*held, *lost})
    ]
    conflicts = [
        Conflict(one.evictor, one.core, one.lines, lost[one.core], one.again) for one in found.ll_evictions
        if one.evictor != one.core and one.again >= max(_NOTABLE * loaded, 1) and one.lines >= _MANY * lost[one.core]
    ]
    conflicts.sort(key=lambda one: (-one.again, one.core, one.evictor))
    return LastLevelReport(found.ll_lines, loaded, tuple(cores), found.ll_evictions, tuple(conflicts))


def _core(
    core: int, loaded: int, held: int, whole: int, evictions: tuple[LastLevelEviction, ...]
) -> CoreInLastLevel:
    """held: its lines in the last level each time that one was loaded, added up. whole: as many as fit, all times."""
    mine = [one for one in evictions if one.core == core]
    others = [one for one in mine if one.evictor != core]
    most = max(others, key=lambda one: (one.lines, -one.evictor), default=None)
    return CoreInLastLevel(
        core, loaded, held / whole if whole else 0.0, sum(one.lines for one in mine),
        sum(one.lines for one in others), sum(one.again for one in others),
        None if most is None or not most.lines else (most.evictor, most.lines),
    )
