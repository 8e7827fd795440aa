# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that allocate for all others, though their names do not say so: heap blocks of very different use then have
one place, and only a deeper chain of callers distinguishes them. If the run is told of them, places are those that call
them, as they are behind a function called xmalloc."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...model.objects import CodeLine, ObjectKind
from ..code.ownership import allocates_for_callers, is_runtime
from ..code.startup import is_start
from .objects import GroupRow

# How many functions call it, and its share of the bytes never used of all heap blocks.
_FEWEST_CALLERS = 3
_LEAST_SHARE = 0.3
# Wrappers of wrappers, as xstrdup() of xmalloc().
_MOST_LEVELS = 4
_TEMPLATE = re.compile(r"<[^<>]*>")
_MARKED = "\0"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """file and line: of the call of an allocator. patterns: of the names of the functions it is in."""

    file: str
    line: int
    function: str
    callers: int  # functions
    share: float  # of the bytes never used of all heap blocks
    patterns: tuple[str, ...]


def wrappers(entries: Sequence[GroupRow]) -> list[Wrapper]:
    """entries: of all groups. The innermost comes first; later ones are found behind those before."""
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
    """The call of an allocator, but for wrappers that are known or say that they are: not in main(), which allocates
    for itself, nor in a runtime library."""
    for place in places:
        name = place.function.name
        if name in known or is_runtime(place.function.object) or allocates_for_callers(name):
            continue
        is_main = is_start(place.function) or name.partition("'")[0] == "main"
        return None if is_main else place
    return None


def _caller(places: Sequence[CodeLine], place: CodeLine) -> str:
    """The function that calls the one at that place; empty if it is not known, or the same, in recursion."""
    outer = next(iter(places[places.index(place) + 1 :]), None)
    if outer is None:
        return ""
    mine, its = (one.function.name.partition("'")[0] for one in (place, outer))
    return "" if mine == its else its


def _pattern(name: str) -> str:
    """A template's arguments differ from one use to the next."""
    bare, _, _ = name.partition("'")
    while (shorter := _TEMPLATE.sub(_MARKED, bare)) != bare:
        bare = shorter
    return bare.replace(_MARKED, "<*>")


def place_text(found: Wrapper) -> str:
    return f"{os.path.basename(found.file)}:{found.line}"
