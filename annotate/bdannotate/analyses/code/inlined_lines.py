# SPDX-License-Identifier: GPL-2.0-or-later
"""Costs at the lines that the reader would change: inlined code of a library, or of an accessor of a few lines, counts
for the line that calls it.

A profile by line charges an inlined instruction to the innermost line, `vector.h:99`, for all its callers. Which call
it was follows from its address, which is known for the costliest instructions: see `Profile.hot`. The costs of all
others are not moved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...model.frames import Chain, Chains, Position
from ...model.profile import Function, Place, Profile, Row, add_rows, subtract_rows
from .source_text import read_source

# The maximum number of lines of an accessor, which must not have a loop.
_MOST_LINES = 5
_LOOP = re.compile(r"\b(?:for|while|do|loop)\b")


@dataclass(frozen=True, slots=True)
class Inlined:
    """A line of a function that was inlined."""

    name: str  # as debug information has it
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class InlinedLines:
    """The costs of lines after costs of inlined code were moved to the lines that called it.

    lines: those of the profile, with the moved costs.
    moved: the costs that each file and line got, by where they are from.
    places: the places of functions, with the files that got costs; empty if nothing was moved.
    calls: the file and line to charge with calls that inlined code makes.
    """

    lines: Mapping[Place, Mapping[int, Row]]
    moved: Mapping[tuple[str, int], Mapping[Inlined, Row]] = field(default_factory=dict)
    places: Mapping[Function, Sequence[Place]] = field(default_factory=dict)
    calls: Mapping[tuple[Place, int], tuple[str, int]] = field(default_factory=dict)


def asked_for(
    profile: Profile, is_wanted: Callable[[Function], bool]
) -> dict[str, dict[int, int]]:
    """The addresses at which inlined calls must be known, each with its source line, by object file."""
    found: dict[str, dict[int, int]] = {}
    for places in (profile.hot, profile.hot_calls):
        for place, instructions in places.items():
            if is_wanted(place.function):
                mine = found.setdefault(place.function.object, {})
                for address, instruction in instructions.items():
                    mine[address] = instruction.line
    return found


def inlined_lines(
    profile: Profile, chains: Chains, is_library: Callable[[str], bool], include: Sequence[str] = ()
) -> InlinedLines:
    """The costs of lines, moved. is_library: returns whether a file is from a library. include: the folders to search
    sources in."""
    chooser = Chooser(chains, is_library, include)
    changed: dict[Place, dict[int, Row]] = {}
    moved: dict[tuple[str, int], dict[Inlined, Row]] = {}

    def rows(place: Place) -> dict[int, Row]:
        found = changed.get(place)
        if found is None:
            found = changed[place] = dict(profile.lines.get(place, {}))
        return found

    files = {place.function: dict[str, str]() for place in (*profile.hot, *profile.hot_calls)}
    for place in profile.lines:
        if place.function in files:
            files[place.function][os.path.normpath(place.file)] = place.file

    def caller(function: Function, chain: Chain) -> tuple[str, int] | None:
        position = chooser.caller(chain)
        if position is None or not position.line:
            return None
        return files[function].get(os.path.normpath(position.file), position.file), position.line

    for place, instructions in profile.hot.items():
        for address, (line, cost) in sorted(instructions.items()):
            chain = chains.get(place.function.object, {}).get(address)
            to = caller(place.function, chain) if chain and chain[-1].line == line else None
            left = rows(place).get(line) if to else None
            if not chain or not to or left is None or min(map(int.__sub__, left, cost)) < 0:
                continue
            rows(place)[line] = subtract_rows(left, cost)
            there = rows(Place(place.function, to[0]))
            there[to[1]] = add_rows(there[to[1]], cost) if to[1] in there else cost
            source = Inlined(chain[-1].function, place.file, line)
            known = moved.setdefault(to, {})
            known[source] = add_rows(known[source], cost) if source in known else cost
    places: dict[Function, list[Place]] = {}
    for place in {**profile.lines, **changed} if changed else ():
        places.setdefault(place.function, []).append(place)
    return InlinedLines(
        {**profile.lines, **changed}, moved, places, _calls(profile, chains, caller)
    )


def _calls(
    profile: Profile, chains: Chains,
    caller: Callable[[Function, Chain], tuple[str, int] | None],
) -> dict[tuple[Place, int], tuple[str, int]]:
    """The file and line to charge with the calls at a line; if there are several, by the one that executes most."""
    found: dict[tuple[Place, int], tuple[str, int]] = {}
    most: dict[tuple[Place, int], Row] = {}
    for place, instructions in profile.hot_calls.items():
        for address, (line, cost) in sorted(instructions.items()):
            chain = chains.get(place.function.object, {}).get(address)
            to = caller(place.function, chain) if chain and chain[-1].line == line else None
            if cost > most.get((place, line), ()):
                most[place, line] = cost
                if to:
                    found[place, line] = to
                else:
                    found.pop((place, line), None)
    return found


class Chooser:
    """Chooses the position of an inlining chain that is the reader's code. include: the folders to search sources
    in."""

    def __init__(
        self, chains: Chains, is_library: Callable[[str], bool], include: Sequence[str]
    ) -> None:
        self._is_library = is_library
        self._include = include
        self._last: dict[tuple[str, int], int] = {}  # the last known line of a function, by its file and first line
        for found in chains.values():
            for chain in found.values():
                for position in chain:
                    key = position.file, position.start
                    self._last[key] = max(position.line, self._last.get(key, 0))
        self._libraries: dict[str, bool] = {}
        self._accessors: dict[tuple[str, int], bool] = {}

    def caller(self, chain: Chain) -> Position | None:
        """The position that gets the costs of a chain; None: the innermost one keeps them."""
        depth = len(chain) - 1
        while depth and (self._of_library(chain[depth].file) or self._is_accessor(chain[depth])):
            depth -= 1
        # If all of it is from a library, a position further out says no more.
        if depth == len(chain) - 1 or (depth == 0 and self._of_library(chain[0].file)):
            return None
        return chain[depth]

    def _of_library(self, file: str) -> bool:
        known = self._libraries.get(file)
        if known is None:
            known = self._libraries[file] = self._is_library(file)
        return known

    def _is_accessor(self, position: Position) -> bool:
        key = position.file, position.start
        known = self._accessors.get(key)
        if known is None:
            lines = self._last[key] - position.start + 1
            known = position.start > 0 and 0 < lines <= _MOST_LINES and not self._has_loop(*key)
            self._accessors[key] = known
        return known

    def _has_loop(self, file: str, start: int) -> bool:
        source = read_source(file, self._include)
        if isinstance(source, str):
            return False
        return any(map(_LOOP.search, source.lines[start - 1 : self._last[file, start]]))
