# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrappers of allocators, whose names do not say that they allocate for others. Heap blocks of very different use then
have the same place, and only callers further out distinguish them. If the run is told the names of the wrappers, places
are their callers, as with a function called xmalloc."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...model.objects import CodeLine, ObjectKind
from ..code.ownership import allocates_for_callers, is_runtime
from ..code.startup import is_start
from .objects import GroupRow

# The minimum number of functions that call a wrapper, and its minimum share of the unused bytes of all heap blocks.
_FEWEST_CALLERS = 3
_LEAST_SHARE = 0.3
# How deep wrappers may be nested, as xstrdup() calls xmalloc().
_MOST_LEVELS = 4
_TEMPLATE = re.compile(r"<[^<>]*>")
_MARKED = "\0"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper. file and line: the call of the allocator in it. patterns: name patterns of the functions with that
    call, which are several if it is in a template."""

    file: str
    line: int
    function: str
    callers: int  # functions
    share: float  # of the bytes never used of all heap blocks
    patterns: tuple[str, ...]


def wrappers(entries: Sequence[GroupRow]) -> list[Wrapper]:
    """The wrappers, the innermost first, each of which calls the one before. entries: those of all groups."""
    heap = [entry for entry in entries if entry.group.identity.kind is ObjectKind.HEAP]
    total = sum(entry.use.unused for entry in heap)
    found: list[Wrapper] = []
    known: set[str] = set()
    while total and len(found) < _MOST_LEVELS:
        behind: dict[tuple[str, int], list[tuple[GroupRow, CodeLine]]] = {}
        for entry in heap:
            place = _innermost(entry.group.identity.places, known)
            if place is not None and place.line:
                behind.setdefault((place.file, place.line), []).append((entry, place))
        chosen: list[tuple[GroupRow, CodeLine]] = max(
            behind.values(), key=lambda here: sum(one.use.unused for one, _ in here), default=[]
        )
        callers = {caller for entry, place in chosen if (caller := _caller(entry.group.identity.places, place))}
        lost = sum(entry.use.unused for entry, _ in chosen)
        if len(callers) < _FEWEST_CALLERS or lost < _LEAST_SHARE * total:
            break
        places = [place for _, place in chosen]
        patterns = tuple(dict.fromkeys(_pattern(place.function.name) for place in places))
        known |= {place.function.name for place in places}
        found.append(Wrapper(
            places[0].file, places[0].line, places[0].function.name, len(callers), lost / total, patterns
        ))
    return found


def _innermost(places: Sequence[CodeLine], known: set[str]) -> CodeLine | None:
    """The innermost place that may be in a wrapper: not in a known one, in a function whose name says that it
    allocates, or in a runtime library. None if that is in main(), which allocates for itself."""
    for place in places:
        name = place.function.name
        if name in known or is_runtime(place.function.object) or allocates_for_callers(name):
            continue
        is_main = is_start(place.function) or name.partition("'")[0] == "main"
        return None if is_main else place
    return None


def _caller(places: Sequence[CodeLine], place: CodeLine) -> str:
    """The name of the function that calls the one at `place`; empty if it is not known, or the same, in recursion."""
    outer = next(iter(places[places.index(place) + 1 :]), None)
    if outer is None:
        return ""
    mine, its = (one.function.name.partition("'")[0] for one in (place, outer))
    return "" if mine == its else its


def _pattern(name: str) -> str:
    """The name pattern of a function, with `*` for the arguments of templates, which differ from use to use."""
    bare, _, _ = name.partition("'")
    while (shorter := _TEMPLATE.sub(_MARKED, bare)) != bare:
        bare = shorter
    return bare.replace(_MARKED, "<*>")


def place_text(found: Wrapper) -> str:
    return f"{os.path.basename(found.file)}:{found.line}"
