# SPDX-License-Identifier: GPL-2.0-or-later
"""What several cores load: pages that one touched first and others miss, and lines that each loads for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ...model.objects import CodeLine, ObjectGroup, Objects
from ...model.sharing import CoreLoad, Sharing

# For a repair to be proposed, the minimum share of the misses in some pages that must be of other cores, and that of
# all misses.
_MOSTLY = 0.5
_NOTABLE = 0.02


@dataclass(frozen=True, slots=True)
class FirstTouch:
    """Pages of some data that a core touched first at some place, and who misses the last level there."""

    group: ObjectGroup | None  # None: not known
    core: int
    place: CodeLine | None  # None: not known
    pages: int
    misses: tuple[tuple[int, int], ...]  # by core, the one with most first
    is_better_spread: bool  # whether each core had better touch its own part first

    @property
    def total(self) -> int:
        return sum(count for _, count in self.misses)

    @property
    def of_others(self) -> int:
        """Misses by other cores than the one that touched the pages first."""
        return sum(count for core, count in self.misses if core != self.core)


@dataclass(frozen=True, slots=True)
class LoadedAgain:
    """Lines of some data that several cores load."""

    group: ObjectGroup | None  # None: not known
    lines: int  # that more than one core loads
    loads: int  # by further cores, each of a line for the first time
    places: tuple[CodeLine, ...]  # of further cores, the one with most loads first


@dataclass(frozen=True, slots=True)
class CoreLoadsReport:
    """touches: most misses by others first, without those that only their own core misses. again: most loads first."""

    page: int  # bytes
    line: int  # bytes
    pages: int
    misses: int  # of the last level
    of_others: int  # in pages that another core touched first
    touches: tuple[FirstTouch, ...]
    again: tuple[LoadedAgain, ...]


def report_loads(found: Sharing, objects: Objects | None) -> CoreLoadsReport | None:
    """What several cores load; None if that is not recorded."""
    if not found.page:
        return None
    groups = {id(load): _group_of(load, objects) for load in found.loads}
    touches = _touches(found.loads, groups, objects)
    return CoreLoadsReport(
        found.page, found.line, sum(load.pages for load in found.loads),
        sum(touch.total for touch in touches), sum(touch.of_others for touch in touches),
        tuple(sorted((one for one in touches if one.of_others), key=lambda one: -one.of_others)),
        _again(found.loads, groups, objects),
    )


def _group_of(load: CoreLoad, objects: Objects | None) -> int | None:
    here = objects.numbers[load.part] if objects and load.part < len(objects.numbers) else ()
    return here[load.group - 1] if 0 < load.group <= len(here) else None


def _group(number: int | None, objects: Objects | None) -> ObjectGroup | None:
    return objects.groups[number] if objects and number is not None else None


def _line_of(load: CoreLoad) -> CodeLine | None:
    return None if load.place is None else CodeLine(load.place.function, load.place.file, load.place.line)


def _touches(
    loads: Iterable[CoreLoad], groups: dict[int, int | None], objects: Objects | None
) -> list[FirstTouch]:
    pages: Counter[tuple[int | None, int, CodeLine | None]] = Counter()
    misses: dict[tuple[int | None, int, CodeLine | None], Counter[int]] = {}
    for load in loads:
        if not load.pages and not load.misses:
            continue
        key = groups[id(load)], load.core, _line_of(load)
        pages[key] += load.pages
        misses.setdefault(key, Counter()).update(dict(load.misses))
    least = _NOTABLE * sum(map(Counter.total, misses.values()))
    return [
        FirstTouch(
            _group(group, objects), core, place, pages[group, core, place], tuple(counts.most_common()),
            _is_better_spread(core, pages[group, core, place], counts, least),
        )
        for (group, core, place), counts in misses.items()
    ]


def _is_better_spread(core: int, pages: int, misses: Counter[int], least: float) -> bool:
    """Whether there are several pages, most of whose misses are those of several other cores than `core`. least: how
    many these must be."""
    others = [count for other, count in misses.items() if other != core]
    return pages > 1 and len(others) > 1 and sum(others) >= max(least, _MOSTLY * misses.total())


def _again(
    loads: Iterable[CoreLoad], groups: dict[int, int | None], objects: Objects | None
) -> tuple[LoadedAgain, ...]:
    second: Counter[int | None] = Counter()
    places: dict[int | None, Counter[CodeLine]] = {}
    counts: Counter[int | None] = Counter()
    for load in loads:
        group = groups[id(load)]
        if not load.second and not load.further:
            continue
        second[group] += load.second
        counts[group] += load.second + load.further
        place = _line_of(load)
        if place is not None:
            places.setdefault(group, Counter())[place] += load.second + load.further
    return tuple(
        LoadedAgain(
            _group(group, objects), second[group], number,
            tuple(place for place, _ in places.get(group, Counter[CodeLine]()).most_common()),
        )
        for group, number in counts.most_common()
    )
