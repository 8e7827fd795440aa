# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of data objects from one profile to another.

Groups are the same if the same functions allocated them in the same lines, or if they have the same name. Lines move:
if both versions of a source can be read, their texts show how. Otherwise the groups of the same functions are matched
by their order if there are as many of them on both sides, or else by line only, as it is not known which one is new.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...model.objects import CodeLine, Identity, ObjectGroup, Objects
from ...model.profile import Function, Row, add_rows
from ..data.object_labels import Namer, label, named, plain_name
from ..data.objects import DataUse, use_of


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """A group with its costs. group: the one after, if there is one; else the one before. before, after: None if there
    is no such group."""

    group: ObjectGroup
    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class ObjectChanges:
    """The changes of all groups after, in their order, followed by those of groups that are gone."""

    events: tuple[str, ...]  # those that both profiles have
    changes: tuple[ObjectChange, ...]


@dataclass(frozen=True, slots=True)
class ObjectDiff:
    """The changes to list, the largest first. All changes and the others add up to the totals, `before` and `after`."""

    events: tuple[str, ...]  # those that both profiles have
    changes: tuple[ObjectChange, ...]
    others: int  # how many are left out
    other_before: Row
    other_after: Row
    before: Row
    after: Row

    def use(self, cost: Row | None) -> DataUse:
        """The use that costs show; nothing for None."""
        return use_of(cost or (0,) * len(self.events), self.events)


# Returns the lines of a source file before, with the same lines of one after.
LineMap = Callable[[str, str], Mapping[int, int]]


def object_changes(
    before: Objects, after: Objects, same: Mapping[Function, Function], lines: LineMap,
    name: Namer = plain_name,
) -> ObjectChanges:
    """The changes of all groups. same: the functions before that are others after. Groups that are gone and new ones
    get different labels."""
    events = tuple(event for event in after.events if event in before.events)
    costs = [_projected(objects, events) for objects in (before, after)]
    matched = _matching_groups(before.groups, after.groups, _Renamed(same, lines))
    changes = [
        ObjectChange(
            group, costs[0][matched[number]] if number in matched else None, costs[1][number]
        )
        for number, group in enumerate(after.groups)
    ]
    found = set(matched.values())
    changes += [
        ObjectChange(group, costs[0][number], None)
        for number, group in enumerate(before.groups) if number not in found
    ]
    groups = named([change.group for change in changes], name)
    return ObjectChanges(events, tuple(
        replace(change, group=group) for change, group in zip(changes, groups)
    ))


def listed_changes(found: ObjectChanges, threshold: float, limit: int | None) -> ObjectDiff:
    """The changes to list. threshold: the minimum percentage of the bytes never used, or of those loaded, on the side
    that has more. limit: the maximum number of changes; None: no limit."""
    events, changes = found.events, list(found.changes)
    zero = (0,) * len(events)

    def sums(some: Sequence[ObjectChange]) -> tuple[Row, Row]:
        old = new = zero
        for change in some:
            old, new = add_rows(old, change.before or zero), add_rows(new, change.after or zero)
        return old, new

    def amounts(change: ObjectChange) -> tuple[int, int]:
        old, new = (use_of(cost or zero, events) for cost in (change.before, change.after))
        return abs(new.unused - old.unused), abs(new.loaded - old.loaded)

    totals = sums(changes)
    uses = [use_of(total, events) for total in totals]
    most = max(use.unused for use in uses), max(use.loaded for use in uses)
    changes.sort(key=lambda change: label(change.group))
    changes.sort(key=amounts, reverse=True)
    shown = [
        change for change in changes
        if any(
            amount and amount >= whole * threshold / 100
            for amount, whole in zip(amounts(change), most)
        )
    ][:limit]
    known = set(map(id, shown))
    rest = [change for change in changes if id(change) not in known]
    number = sum(1 for change in rest if any(change.before or ()) or any(change.after or ()))
    return ObjectDiff(events, tuple(shown), number, *sums(rest), *totals)


def _projected(objects: Objects, events: Sequence[str]) -> list[Row]:
    """The costs of all groups in these events."""
    places = [objects.events.index(event) for event in events]
    return [tuple(cost[place] for place in places) for cost in objects.costs()]


def _matching_groups(
    before: Sequence[ObjectGroup], after: Sequence[ObjectGroup], renamed: _Renamed
) -> dict[int, int]:
    """The numbers of groups after, with those of the same groups before."""
    old = {number: renamed.identity(group.identity) for number, group in enumerate(before)}
    new = {number: group.identity for number, group in enumerate(after)}
    by_text = {
        number: identity for number, group in enumerate(before)
        if (identity := renamed.moved(group.identity)) is not None
    }
    pairs = _paired(by_text, new, lambda identity: identity)
    for key in (_without_lines, lambda identity: identity, _names_only):
        taken = set(pairs.values())
        pairs |= _paired(
            {number: identity for number, identity in old.items() if number not in taken},
            {number: identity for number, identity in new.items() if number not in pairs}, key,
        )
    return pairs


def _paired(
    old: Mapping[int, Identity], new: Mapping[int, Identity], key: Callable[[Identity], Hashable]
) -> dict[int, int]:
    """The numbers of new groups with those of old ones that have the same key. Groups of a key are matched by their
    order if there are as many old as new ones; otherwise not at all."""
    mine, others = _grouped(old, key), _grouped(new, key)
    return {
        other: one
        for what in mine.keys() & others.keys() if len(mine[what]) == len(others[what])
        for one, other in zip(mine[what], others[what])
    }


def _grouped(
    identities: Mapping[int, Identity], key: Callable[[Identity], Hashable]
) -> dict[Hashable, list[int]]:
    """The numbers of groups by key, each list in the order of their lines."""
    def order(number: int) -> tuple[list[int], int, int]:
        identity = identities[number]
        return [place.line for place in identity.places], identity.size, number

    groups: dict[Hashable, list[int]] = {}
    for number in sorted(identities, key=order):
        groups.setdefault(key(identities[number]), []).append(number)
    return groups


def _without_lines(identity: Identity) -> Identity:
    """The identity without lines, and without the size of a variable, which may have grown."""
    places = tuple(place._replace(line=0) for place in identity.places)
    return identity._replace(places=places, size=0)


def _names_only(identity: Identity) -> Identity:
    """The identity without folders, source files, lines and sizes."""
    def bare(function: Function) -> Function:
        return Function("", "", function.name)

    return identity._replace(
        object=os.path.basename(identity.object), size=0,
        function=identity.function and bare(identity.function),
        places=tuple(CodeLine(bare(place.function), "", 0) for place in identity.places),
    )


class _Renamed:
    """The names after of functions and files before. An object or source file is the one after that most of its renamed
    functions are in."""

    def __init__(self, same: Mapping[Function, Function], lines: LineMap) -> None:
        self._same = same
        self._lines = lines
        self._known: dict[str, Mapping[int, int]] = {}
        self._objects = _most_votes([(old.object, new.object) for old, new in same.items()])
        self._files = _most_votes([(old.file, new.file) for old, new in same.items()])

    def identity(self, identity: Identity) -> Identity:
        return identity._replace(
            object=self._objects.get(identity.object, identity.object),
            function=identity.function and self._function(identity.function),
            places=tuple(
                CodeLine(self._function(place.function), self._files.get(place.file, place.file),
                      place.line)
                for place in identity.places
            ),
        )

    def moved(self, identity: Identity) -> Identity | None:
        """The identity with its lines after; None if these are not known from the sources."""
        maps = [self._line_map(place.file) for place in identity.places]
        lines = [
            place.line if not known else known.get(place.line)
            for place, known in zip(identity.places, maps)
        ]
        if not any(maps) or None in lines:
            return None
        identity = self.identity(identity)
        return identity._replace(places=tuple(
            place._replace(line=line) for place, line in zip(identity.places, lines) if line is not None
        ))

    def _line_map(self, file: str) -> Mapping[int, int]:
        if file not in self._known:
            self._known[file] = self._lines(file, self._files.get(file, file))
        return self._known[file]

    def _function(self, function: Function) -> Function:
        return self._same.get(function, function)


def _most_votes(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The most frequent second name of each first one."""
    votes = sorted(Counter(pairs).items(), key=lambda vote: (-vote[1], vote[0]))
    found: dict[str, str] = {}
    for (old, new), _ in votes:
        found.setdefault(old, new)
    return found
