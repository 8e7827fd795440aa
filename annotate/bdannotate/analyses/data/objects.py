# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of data objects: a list of them, and the code that loaded one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...model.merge import project
from ...model.objects import ObjectGroup, ObjectKind, Objects, has_object
from ...model.profile import Function, Profile, Row, add_rows
from ...model.profile import Place as FilePlace
from .object_labels import label


@dataclass(frozen=True, slots=True)
class DataUse:
    """How the lines of data were used in L1."""

    loaded: int  # bytes
    unused: int  # bytes
    lines: int
    accesses: int
    misses: int  # of the last level


@dataclass(frozen=True, slots=True)
class GroupRow:
    group: ObjectGroup
    cost: Row
    use: DataUse


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of groups, the costliest first. All entries and the others add up to the total."""

    entries: tuple[GroupRow, ...]
    others: int  # how many are left out
    other_use: DataUse
    total: DataUse


@dataclass(frozen=True, slots=True)
class Loader:
    """A source line that loaded a group."""

    function: Function
    file: str
    line: int
    use: DataUse


def use_of(cost: Row, events: Sequence[str]) -> DataUse:
    """The use that costs show. events: those of the costs; missing ones count as 0."""
    count: Mapping[str, int] = dict(zip(events, cost))

    def one(name: str) -> int:
        return count.get(name, 0)

    return DataUse(
        one("SpLoss1") + one("UsByte1"), one("SpLoss1"), one("EvLine1"), one("Access1"),
        one("ILmr") + one("DLmr") + one("DLmw"),
    )


def list_objects(objects: Objects, threshold: float, limit: int | None) -> Listing:
    """The data by bytes never used, then code, which should not lead a list of data. threshold: the minimum percentage
    of all bytes never used, or of all bytes loaded. limit: the maximum number of entries; None: no limit."""
    events = objects.events
    entries = [
        GroupRow(group, cost, use_of(cost, events))
        for group, cost in zip(objects.groups, objects.costs())
    ]
    entries.sort(key=lambda entry: (_is_code(entry), -entry.use.unused, -entry.use.loaded, label(entry.group)))
    zero = (0,) * len(events)
    total = _sum(entries, zero)
    whole, share = use_of(total, events), threshold / 100

    def matters(use: DataUse) -> bool:
        return use.unused >= whole.unused * share or use.loaded >= whole.loaded * share

    entries = [entry for entry in entries if any(entry.cost)]
    shown = [entry for entry in entries if matters(entry.use)][:limit]
    known = set(map(id, shown))
    rest = [entry for entry in entries if id(entry) not in known]
    return Listing(
        tuple(shown), len(rest), use_of(_sum(rest, zero), events), use_of(total, events)
    )


def _is_code(entry: GroupRow) -> bool:
    return entry.group.identity.kind is ObjectKind.CODE


def _sum(entries: Sequence[GroupRow], zero: Row) -> Row:
    total = zero
    for entry in entries:
        total = add_rows(total, entry.cost)
    return total


def loaders(objects: Objects, group: ObjectGroup) -> list[Loader]:
    """The source lines that loaded a group, those with most bytes never used first."""
    number = objects.groups.index(group)
    found = [
        Loader(row.function, row.file, row.line, use_of(row.cost, objects.events))
        for row in objects.rows if row.group == number
    ]
    found.sort(key=lambda one: (-one.use.unused, -one.use.loaded, one.function, one.file, one.line))
    return found


def as_profile(objects: Objects, profile: Profile) -> Profile:
    """The objects as a profile, for viewers of profiles: each group is a function, whose lines are those that loaded
    it. Events that objects do not have are left out."""
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
    """What stands for the object file in such a profile."""
    return f"({kind.value})"


_MODULES = frozenset(map(_module, ObjectKind))


def is_data(function: Function) -> bool:
    """Whether a function is one of as_profile(), and so not code."""
    return function.object in _MODULES


