# SPDX-License-Identifier: GPL-2.0-or-later
"""The labels of object groups, which are unique within a profile.

Mostly the kind and one place suffice: `heap sim.c:11, main`. If several groups have the same label, the first detail in
which they differ follows: a caller further out, the object file, the source file or the size; if they differ in none of
these, a number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...model.objects import CodeLine, Identity, ObjectGroup, ObjectKind, Objects
from ...model.profile import Function
from ..code.ownership import allocates_for_callers, is_foreign, is_runtime
from ..code.startup import is_start

# Returns the name by which reports show a function.
Namer = Callable[[Function], str]


_BY = " by "
# Followed by the caller that distinguishes groups of the same name.
_FROM = " from "
_PARTS = re.compile(
    rf"(.+?)((?:{_FROM}.+?)?(?: in \S.*?)?(?:, [\d,]+(?: to [\d,]+)? bytes)?(?: #\d+)?)", re.DOTALL
)


class _Start(NamedTuple):
    """The beginning of a label, which may not be unique."""

    text: str
    place: CodeLine | None = None  # the place that it names
    callers: tuple[CodeLine, ...] = ()  # the callers of that place, the innermost first


def label(group: ObjectGroup) -> str:
    """The label of a group, in lists and for options that take names of data. It is not unique unless the group came
    from labelled() or named()."""
    return group.label or _start(group.identity, plain_name).text


def label_parts(text: str) -> tuple[str, str]:
    """A label as the beginning, which others may share, and the details that distinguish it from them."""
    found = _PARTS.fullmatch(text)
    return (found[1], found[2]) if found else (text, "")


def label_pieces(text: str) -> list[str]:
    """A label as the place, the function that was called there, and the details, without empty ones."""
    start, ending = label_parts(text)
    heading, by, callee = start.partition(_BY)
    return [piece for piece in (heading, f"{by}{callee}", ending) if piece]


def plain_name(function: Function) -> str:
    """A Namer that returns the label of the function."""
    return function.label


def labelled(objects: Objects, name: Namer) -> Objects:
    """The objects with unique labels for all groups."""
    return replace(objects, groups=tuple(named(objects.groups, name)))


def named(groups: Sequence[ObjectGroup], name: Namer) -> Iterator[ObjectGroup]:
    """The groups with labels that are unique among them."""
    wrappers = _wrappers(groups)
    starts = [_start(group.identity, name, wrappers) for group in groups]
    labels = [start.text for start in starts]
    for same in _same(labels):
        callers = {
            number: [_caller(place, name) for place in starts[number].callers] for number in same
        }
        for number, caller in _first_difference(same, callers, 0).items():
            labels[number] += f"{_FROM}{caller}" if caller else ""
    for detail in (_module, _source, _size, _path):
        for same in _same(labels):
            details = [detail(groups[number], starts[number].place) for number in same]
            if len(set(details)) > 1:
                for number, text in zip(same, details):
                    labels[number] += text
    taken = set(labels)
    for same in _same(labels):
        following = 1
        for number in same:
            while (numbered := f"{labels[number]} #{following}") in taken:
                following += 1
            labels[number] = numbered
            taken.add(numbered)
    return (replace(group, label=text) for group, text in zip(groups, labels))


def _same(labels: Sequence[str]) -> list[list[int]]:
    """The indices of labels that occur several times, one list for each label."""
    found: dict[str, list[int]] = {}
    for number, text in enumerate(labels):
        found.setdefault(text, []).append(number)
    return [same for same in found.values() if len(same) > 1]


def _first_difference(
    same: Sequence[int], callers: dict[int, list[str]], depth: int
) -> dict[int, str]:
    """The first callers, from `depth` on, in which groups differ; all callers before are the same. Empty for groups
    that have no such caller. same: the groups; callers: by group, the innermost first."""
    if not any(depth < len(callers[number]) for number in same):
        return dict.fromkeys(same, "")
    found: dict[str, list[int]] = {}
    for number in same:
        found.setdefault("".join(callers[number][depth : depth + 1]), []).append(number)
    chosen: dict[int, str] = {}
    for caller, some in found.items():
        further = _first_difference(some, callers, depth + 1) if len(some) > 1 else {}
        here = caller if len(found) > 1 else ""
        chosen.update((number, further.get(number) or here) for number in some)
    return chosen


def _caller(place: CodeLine, name: Namer) -> str:
    where = f" {os.path.basename(place.file)}:{place.line}" if place.line else ""
    return f"{name(place.function)}{where}"


def _module(group: ObjectGroup, place: CodeLine | None) -> str:
    return _in(os.path.basename(_object(group.identity, place)))


def _path(group: ObjectGroup, place: CodeLine | None) -> str:
    return _in(_object(group.identity, place))


def _object(identity: Identity, place: CodeLine | None) -> str:
    function = place.function if place else identity.function
    return identity.object or (function.object if function else "")


def _source(group: ObjectGroup, place: CodeLine | None) -> str:
    function = group.identity.function
    return _in(place.file if place else function.file if function else "")


def _in(where: str) -> str:
    return f" in {where}" if where not in ("", "???") else ""


def _size(group: ObjectGroup, _place: CodeLine | None) -> str:
    """The size of a variable or of the blocks, as the end of a label."""
    identity, blocks = group.identity, group.blocks
    if blocks is None:
        return f", {identity.size:,} bytes" if identity.size else ""
    if blocks.smallest == blocks.largest:
        return f", {blocks.largest:,} bytes"
    return f", {blocks.smallest:,} to {blocks.largest:,} bytes"


def _wrappers(groups: Iterable[ObjectGroup]) -> frozenset[Function]:
    """The functions that allocate for several others, and whose names say so."""
    users: dict[Function, set[Function]] = {}
    for group in groups:
        known = [place.function for place in group.identity.places if place.line]
        user = next((function for function in known if not allocates_for_callers(function.name)), None)
        if user is None or group.identity.kind is not ObjectKind.HEAP:
            continue
        for function in known[: known.index(user)]:
            users.setdefault(function, set()).add(user)
    return frozenset(function for function, found in users.items() if len(found) > 1)


def _start(identity: Identity, name: Namer, wrappers: frozenset[Function] = frozenset()) -> _Start:
    match identity.kind:
        case ObjectKind.UNKNOWN:
            return _Start("(unknown)")
        case ObjectKind.UNUSED:
            return _Start("(allocator's own, and free)")
        case ObjectKind.CODE:
            return _Start(f"code of {os.path.basename(identity.object)}")
        case ObjectKind.FILE:
            return _Start(f"file {os.path.basename(identity.object)}")
        case ObjectKind.STATIC:
            return _Start(f"variable {identity.name}")
        case ObjectKind.THREAD_LOCAL:
            return _Start(f"thread-local {identity.name}")
        case ObjectKind.STACK:
            return _Start(f"stack of {name(identity.function) if identity.function else '???'}")
        case ObjectKind.MAPPING:
            found = _where(identity, name, frozenset())
            return found._replace(text=f"mapped {found.text}")
        case ObjectKind.HEAP:
            found = _where(identity, name, wrappers)
            return found._replace(text=f"heap {found.text}")


def _where(identity: Identity, name: Namer, wrappers: frozenset[Function]) -> _Start:
    """The text for the place where something was allocated: the innermost one in the user's own sources, or in a
    function from there whose call is in inlined library code. Wrappers, which allocate for several others, are skipped.
    If there is none, the innermost place with a line, unless code without lines is further in. Otherwise, the two
    innermost functions with names, as many places allocate by the same function."""
    places = _to_main(identity.places)
    known = [place for place in places if place.line]
    own = [place for place in known if not is_foreign(place.file)]
    own = own or [place for place in known if not is_foreign(place.function.file)]
    users = [place for place in own if place.function not in wrappers]
    place = next(iter(users or own), None) or _innermost_line(places)
    if place is not None:
        where = f"{os.path.basename(place.file)}:{place.line}, {name(place.function)}"
        return _Start(where, place, places[places.index(place) + 1 :])
    if places:
        with_names = [place for place in places if not place.function.is_nameless]
        inner, *outer = with_names or places
        by, last = f"by {name(inner.function)}", (outer or [inner])[0]
        text = f"for {name(outer[0].function)} {by}" if outer else by
        return _Start(text, inner, places[places.index(last) + 1 :])
    return _Start(
        "at the start" if identity.function is None else f"by {name(identity.function)}"
    )


def _innermost_line(places: Iterable[CodeLine]) -> CodeLine | None:
    """The innermost place with a line; None if code without lines, other than a runtime library, is further in."""
    for place in places:
        if place.line:
            return place
        if not is_runtime(place.function.object):
            return None
    return None


def _to_main(places: Sequence[CodeLine]) -> tuple[CodeLine, ...]:
    """The places up to main, as its callers are the same for all."""
    found: list[CodeLine] = []
    for place in places:
        if found and is_start(place.function):
            break
        found.append(place)
        if place.function.name.partition("'")[0] == "main":
            break
    return tuple(found)
