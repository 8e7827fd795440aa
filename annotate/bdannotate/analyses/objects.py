# SPDX-License-Identifier: GPL-2.0-or-later
"""What data objects cost: a list of them, and for one who loaded it and which bytes were used."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..model.merge import project
from ..model.objects import Group, Identity, ObjectKind, Objects, has_object
from ..model.profile import Function, Profile, Row, add_rows
from ..model.profile import Place as FilePlace
from .ownership import is_foreign

# Larger elements are no picture any more; and mostly they are no elements.
MOST_ELEMENT = 1024


@dataclass(frozen=True, slots=True)
class Use:
    """How the lines of one level were used, in bytes but for lines and accesses."""

    loaded: int
    unused: int
    lines: int
    accesses: int
    misses: int  # of the last level


@dataclass(frozen=True, slots=True)
class Entry:
    group: Group
    cost: Row
    use: Use


@dataclass(frozen=True, slots=True)
class Listing:
    """The costliest first. All entries and the others together are the total."""

    entries: tuple[Entry, ...]
    others: int  # how many are left out
    other_use: Use
    total: Use


@dataclass(frozen=True, slots=True)
class Loader:
    function: Function
    file: str
    line: int
    use: Use


@dataclass(frozen=True, slots=True)
class Byte:
    loaded: int
    used: int
    borders: int  # how often a cache line began here


@dataclass(frozen=True, slots=True)
class Layout:
    """Patterns folded by the size of an element."""

    size: int
    reason: str
    bytes: tuple[Byte, ...]
    unmapped: int  # lines that are not in the picture


def use_of(cost: Row, events: Sequence[str]) -> Use:
    count: Mapping[str, int] = dict(zip(events, cost))

    def one(name: str) -> int:
        return count.get(name, 0)

    return Use(
        one("SpLoss1") + one("UsByte1"), one("SpLoss1"), one("EvLine1"), one("Access1"),
        one("ILmr") + one("DLmr") + one("DLmw"),
    )


def list_objects(objects: Objects, threshold: float, limit: int | None) -> Listing:
    """By bytes never used. threshold is in percent of these, or of the bytes loaded."""
    events = objects.events
    entries = [
        Entry(group, cost, use_of(cost, events))
        for group, cost in zip(objects.groups, objects.costs())
    ]
    entries.sort(key=lambda entry: (-entry.use.unused, -entry.use.loaded, label(entry.group)))
    zero = (0,) * len(events)
    total = _sum(entries, zero)
    whole, share = use_of(total, events), threshold / 100

    def matters(use: Use) -> bool:
        return use.unused >= whole.unused * share or use.loaded >= whole.loaded * share

    entries = [entry for entry in entries if any(entry.cost)]
    shown = [entry for entry in entries if matters(entry.use)][:limit]
    known = set(map(id, shown))
    rest = [entry for entry in entries if id(entry) not in known]
    return Listing(
        tuple(shown), len(rest), use_of(_sum(rest, zero), events), use_of(total, events)
    )


def _sum(entries: Sequence[Entry], zero: Row) -> Row:
    total = zero
    for entry in entries:
        total = add_rows(total, entry.cost)
    return total


def loaders(objects: Objects, group: Group) -> list[Loader]:
    """Who loaded it, by bytes never used."""
    number = objects.groups.index(group)
    found = [
        Loader(row.function, row.file, row.line, use_of(row.cost, objects.events))
        for row in objects.rows if row.group == number
    ]
    found.sort(key=lambda one: (-one.use.unused, -one.use.loaded, one.function, one.file, one.line))
    return found


def as_profile(objects: Objects, profile: Profile) -> Profile:
    """For viewers of profiles: a function for each object, whose lines are those that loaded it.
    What has nothing to do with objects is left out."""
    names = [Function(_module(group.identity.kind), "", label(group)) for group in objects.groups]
    lines: dict[FilePlace, dict[int, Row]] = {}
    for row in objects.rows:
        known = lines.setdefault(FilePlace(names[row.group], row.file), {})
        known[row.line] = add_rows(known[row.line], row.cost) if row.line in known else row.cost
    found = replace(
        profile, parts=objects.parts, lines=lines, calls={}, instructions={}, instruction_calls={},
        jumps={}, origins=(),
    )
    return project(found, tuple(filter(has_object, objects.events)))


def _module(kind: ObjectKind) -> str:
    """What stands in place of an object file."""
    return f"({kind.value})"


_MODULES = frozenset(map(_module, ObjectKind))


def is_data(function: Function) -> bool:
    """Whether it is one of as_profile's, which are no code."""
    return function.object in _MODULES


def label(group: Group) -> str:
    """What a group is called: in lists, and where one is asked for by name."""
    identity = group.identity
    match identity.kind:
        case ObjectKind.UNKNOWN:
            return "(unknown)"
        case ObjectKind.UNUSED:
            return "(allocator's own, and free)"
        case ObjectKind.CODE:
            return f"code of {os.path.basename(identity.object)}"
        case ObjectKind.FILE:
            return f"file {os.path.basename(identity.object)}"
        case ObjectKind.STATIC:
            return f"variable {identity.name}"
        case ObjectKind.THREAD_LOCAL:
            return f"thread-local {identity.name}"
        case ObjectKind.STACK:
            return f"stack of {identity.function.label if identity.function else '???'}"
        case ObjectKind.MAPPING:
            return f"mapped {_where(identity)}"
        case ObjectKind.HEAP:
            return f"heap {_where(identity)}"


def _where(identity: Identity) -> str:
    """The innermost place in the user's own sources, or in a function from there whose call is in
    inlined code of a library; else the innermost that is known. Without lines, the innermost two with
    a name: many allocate by the same function."""
    known = [place for place in identity.places if place.line]
    own = [place for place in known if not is_foreign(place.file)]
    own = own or [place for place in known if not is_foreign(place.function.file)]
    place = next(iter(own or known), None)
    if place is not None:
        return f"{os.path.basename(place.file)}:{place.line}, {place.function.label}"
    if identity.places:
        functions = [place.function for place in identity.places]
        named = [function for function in functions if not function.is_nameless]
        inner, *outer = [function.label for function in named or functions]
        return f"for {outer[0]} by {inner}" if outer else f"by {inner}"
    return "at the start" if identity.function is None else f"by {identity.function.label}"


def layout(
    group: Group, size: int | None = None, reason: str = "as asked for"
) -> Layout | None:
    """How often each byte of an element was loaded and used. None where nobody knows what an
    element is, or none of them was loaded."""
    if not group.has_patterns:
        return None
    blocks = group.blocks
    if size is None and blocks is None:
        if group.identity.size <= MOST_ELEMENT:
            size, reason = group.identity.size, "the size of the variable"
    elif size is None and blocks is not None:
        if blocks.smallest == blocks.largest and blocks.largest <= MOST_ELEMENT:
            size, reason = blocks.largest, "the size of every block"
        elif blocks.smallest < blocks.largest and blocks.divisor <= MOST_ELEMENT:
            size, reason = blocks.divisor, "all sizes of blocks are multiples of it"
        elif blocks.divisor < blocks.smallest and blocks.divisor <= MOST_ELEMENT:
            size, reason = blocks.divisor, "what calloc was asked for"
    if not size:
        return None
    loaded, used, borders = [0] * size, [0] * size, [0] * size
    for offset, size_here, mask, times, _ in group.patterns:
        if offset:
            borders[offset % size] += times
        for byte in range(size_here):
            at = (offset + byte) % size
            loaded[at] += times
            if mask >> byte & 1:
                used[at] += times
    return Layout(size, reason, tuple(map(Byte, loaded, used, borders)), group.unmapped)
