# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes which cache lines cores take from each other, as docs/format.md describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.sharing import CORE_EVENTS
from .column_writer import section
from .file_head import MergedHead, NameLists, run_lines
from .objects_file import GroupKey
from .sharing_sum import RankSharing

_USES = "line core read written unknown false true migrating"
_ACCESSES = "line core place bytes reads writes lost invalidated atomics"
_LOADS = "core place group pages lines second further"
_PAGE_MISSES = "load core misses"
_TOTALS = " ".join(("core", *CORE_EVENTS))


def sharing_text(found: RankSharing, head: MergedHead, groups: Mapping[GroupKey, int]) -> Iterator[bytes]:
    """The file. It has the same bytes for the same sums, whatever their order. groups: the numbers in the file of data
    objects beside it."""
    places = sorted(found.places)
    names = NameLists({place.function: 0 for place in places}, {place.file for place in places})
    text = [
        "sharing: 1\n", *run_lines(head), f"line: {found.line}\ncores: {found.cores}\n",
        f"coherence: {found.protocol.value}\n" if found.protocol else "",
        f"page: {found.page}\n" if found.page else "",
        f"ll-lines: {found.ll_lines}\n" if found.ll_lines else "", names.text(), f"places: {len(places)}\n",
    ]
    text += (
        f"{names.functions[place.function]} {names.files[place.file]} {place.line} {place.address}\n"
        for place in places
    )
    yield "".join(text).encode("utf-8", "surrogateescape")
    place_number = {place: number for number, place in enumerate(places, 1)}
    new_place = [0, *(place_number[place] for place in found.places)]
    keys = [
        (address, groups.get(found.groups[group - 1], 0) if group else 0, begin, found.groups[group - 1:group])
        for address, group, begin in zip(*found.lines)
    ]
    order = sorted(range(len(keys)), key=lambda number: keys[number])
    new_line = {0: 0, **{old + 1: number for number, old in enumerate(order, 1)}}
    yield from section("lines", "address group object", (keys[number][:3] for number in order))
    yield from section("objects", "line address bytes", sorted(
        (new_line[line], *more) for line, *more in zip(*found.objects)
    ))
    yield from section("cores", _USES, sorted((new_line[line], *more) for line, *more in zip(*found.uses)))
    if found.totals:
        yield from section("totals", _TOTALS, ((core, *counts) for core, counts in found.totals))
    yield from section("accesses", _ACCESSES, sorted(
        (new_line[line], core, new_place[place], *counts) for line, core, place, *counts in zip(*found.accesses)
    ))
    if found.ll_lines:
        yield from section("ll-cores", "core lines held", found.ll_cores)
        yield from section("ll-evictions", "evictor core lines again", found.ll_evictions)
    if not found.page:
        return
    loads = [
        (core, new_place[place], groups.get(found.groups[group - 1], 0) if group else 0, number, *counts)
        for number, (core, place, group, *counts) in enumerate(zip(*found.loads), 1)
    ]
    loads.sort()
    new_load = {old: number for number, (_, _, _, old, *_) in enumerate(loads, 1)}
    yield from section("loads", _LOADS, ((*row[:3], *row[4:]) for row in loads))
    yield from section("page-misses", _PAGE_MISSES, sorted(
        (new_load[load], core, count) for load, core, count in zip(*found.page_misses)
    ))
