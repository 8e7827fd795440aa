# SPDX-License-Identifier: GPL-2.0-or-later
"""What data objects cost: a list of them, and for one who loaded it."""

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
    """How the lines of one level were used, in bytes but for lines and accesses."""

    loaded: int
    unused: int
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
    """The costliest first. All entries and the others together are the total."""

    entries: tuple[GroupRow, ...]
    others: int  # how many are left out
    other_use: DataUse
    total: DataUse


@dataclass(frozen=True, slots=True)
class Loader:
    function: Function
    file: str
    line: int
    use: DataUse


def use_of(cost: Row, events: Sequence[str]) -> DataUse:
    count: Mapping[str, int] = dict(zip(events, cost))

    def one(name: str) -> int:
        return count.get(name, 0)

    return DataUse(
        one("SpLoss1") + one("UsByte1"), one("SpLoss1"), one("EvLine1"), one("Access1"),
        one("ILmr") + one("DLmr") + one("DLmw"),
    )


def list_objects(objects: Objects, threshold: float, limit: int | None) -> Listing:
    """Data by bytes never used; then code, which is not to lead a list of data. threshold is in percent of
    these, or of the bytes loaded."""
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


