# SPDX-License-Identifier: GPL-2.0-or-later
"""The loops of the source. A why file names a loop by the block that a jump led back to; the loops of the function's
flow say which loop of the source that is. If it is none, the jump back repeated nothing, and its scope is no loop: code
may lie before the code that leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...model.flow import flows
from ...model.frames import Chains, Nest, nest_of
from ...model.profile import Function, Profile
from ...model.why import Scope, ScopeKind, Why
from ..code.ownership import is_foreign

class _Name(NamedTuple):
    """The name of a loop within its outer loop: its position, and the inlined calls that lead to it. If the position is
    not known, file is empty and line is the address."""

    file: str
    line: int
    calls: tuple[tuple[str, int], ...] = ()


# The function and the names of the nested loops, the outermost first.
_Key = tuple[Function, tuple[_Name, ...]]


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """A loop of the source. Copies of a loop that the compiler made count as one if they are in the same loops."""

    key: _Key
    address: int
    iterations: int = 0  # 0 if the flow is not known
    entries: int = 0  # likewise

    @property
    def function(self) -> Function:
        return self.key[0]

    @property
    def file(self) -> str:
        return self.where[0]

    @property
    def line(self) -> int:
        """The source line; 0 if not known."""
        return self.where[1]

    @property
    def where(self) -> tuple[str, int]:
        """The file and line in the program's own code: for a library's loop, those of the call. ("", 0): not known."""
        name = self.key[1][-1]
        if not name.file:
            return "", 0
        if is_foreign(name.file):
            own = [call for call in name.calls if not is_foreign(call[0])]
            return own[-1] if own else (name.file, name.line)
        return name.file, name.line

    @property
    def called_at(self) -> tuple[str, int]:
        """The file and line of the call of its function, if that was inlined; else its own."""
        name = self.key[1][-1]
        own = [call for call in name.calls if not is_foreign(call[0])]
        return own[-1] if own else self.where

    @property
    def positions(self) -> tuple[tuple[str, int], ...]:
        """The files and lines of the inlined calls that lead to it, the outermost first, and its own."""
        name = self.key[1][-1]
        return *name.calls, (name.file, name.line)

    @property
    def depth(self) -> int:
        """How deep the loop is nested; 1 for an outermost one."""
        return len(self.key[1])

    @property
    def trips(self) -> float:
        """The average iterations per entry; 0 if not known."""
        return self.iterations / self.entries if self.entries else 0.0

    def is_within(self, other: LoopPlace) -> bool:
        """Whether `other` is one of the loops around this one."""
        mine, theirs = self.key[1], other.key[1]
        return (
            self.function == other.function and len(mine) > len(theirs) and mine[: len(theirs)] == theirs
        )


def loop_places(loops: Sequence[LoopPlace]) -> list[tuple[str, int]]:
    """The files and lines that name the loops: those of the inlined calls if they distinguish the loops better."""
    places = [loop.where for loop in loops]
    called = [loop.called_at for loop in loops]
    return called if len(set(places)) < len(places) == len(set(called)) else places


def nests_of(profile: Profile, functions: frozenset[Function], chains: Chains) -> dict[Function, Nest]:
    """The loop nests of functions; empty if the profile has no jumps, no instructions or no `Ir`."""
    if not profile.instructions or not profile.jumps or "Ir" not in profile.events:
        return {}
    return {
        function: nest_of(function, flow, chains.get(function.object, {}))
        for function, flow in flows(profile, functions).items()
    }


class Loops:
    """The loops of a why file, by the numbers of their scopes."""

    def __init__(self, why: Why, nests: Mapping[Function, Nest], chains: Chains) -> None:
        self._nests = nests
        self._chains = chains
        places = [
            self._place(scope) if scope.kind is ScopeKind.LOOP else None for scope in why.scopes
        ]
        merged: dict[_Key, LoopPlace] = {}
        for place in places:
            if place is not None:
                known = merged.get(place.key)
                if known is None or known.iterations < place.iterations:
                    merged[place.key] = place
        self._places = [place and merged[place.key] for place in places]

    def addresses(self, loop: LoopPlace) -> list[int]:
        """The addresses of a loop's executed instructions, including those of inner loops; empty if not known."""
        nest = self._nests.get(loop.function)
        if nest is None:
            return []
        inside = {
            number for number in range(len(nest.loops))
            if any(_path(nest, at) == loop.key[1] for at in _around(nest, number))
        }
        return [address for address, number in nest.innermost.items() if number in inside]

    def all_addresses(self) -> dict[str, set[int]]:
        """The addresses of the executed instructions in functions with known loops, by object file."""
        found: dict[str, set[int]] = {}
        for function, nest in self._nests.items():
            found.setdefault(function.object, set()).update(nest.innermost)
        return found

    def of(self, scope: int) -> LoopPlace | None:
        """The loop of a scope; None if it is a call, or if what it jumped back to is in no loop."""
        return self._places[scope]

    def _place(self, scope: Scope) -> LoopPlace | None:
        where = scope.place
        nest = self._nests.get(where.function)
        if nest is not None and where.address in nest.outside:
            return None
        number = nest.innermost.get(where.address) if nest else None
        if nest is None or number is None:
            name = _Name(where.file, where.line) if where.line else _Name("", where.address)
            if chain := self._chains.get(where.function.object, {}).get(where.address):
                calls = tuple((position.file, position.line) for position in chain[:-1])
                name = _Name(chain[-1].file, chain[-1].line, calls)
            return LoopPlace((where.function, (name,)), where.address)
        loop = nest.loops[number]
        return LoopPlace(
            (where.function, _path(nest, number)), loop.address, loop.iterations, loop.entries
        )


def _around(nest: Nest, number: int) -> Iterator[int]:
    """The number of a loop in its nest, and those of the loops around it, the outermost last."""
    at: int | None = number
    while at is not None:
        yield at
        at = nest.loops[at].parent


def _path(nest: Nest, number: int) -> tuple[_Name, ...]:
    """The names of a loop and of the loops around it, the outermost first."""
    found = [
        _Name(loop.file, loop.line, loop.calls) if loop.line else _Name("", loop.address)
        for loop in (nest.loops[at] for at in _around(nest, number))
    ]
    return tuple(reversed(found))
