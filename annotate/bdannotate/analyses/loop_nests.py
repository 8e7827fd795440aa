# SPDX-License-Identifier: GPL-2.0-or-later
"""The loops that a file on why lines were loaded names by the block that a jump led back to, as the
source has them: by the loops of the function's flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..model.flow import flows
from ..model.frames import Chains, Nest, nest_of
from ..model.profile import Function, Profile
from ..model.why import Scope, ScopeKind, Why

# The loops around, the outermost first, each by file and line or else by address.
_Key = tuple[Function, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """iterations and entries are 0 where the flow is not known. Loops of which the compiler made several
    are the same if they are in the same loops."""

    key: _Key
    address: int
    iterations: int = 0
    entries: int = 0

    @property
    def function(self) -> Function:
        return self.key[0]

    @property
    def file(self) -> str:
        return self.key[1][-1][0]

    @property
    def line(self) -> int:
        """0 where it is not known."""
        return self.key[1][-1][1] if self.file else 0

    @property
    def depth(self) -> int:
        return len(self.key[1])

    @property
    def trips(self) -> float:
        """Iterations each time that it is entered."""
        return self.iterations / self.entries if self.entries else 0.0

    def is_within(self, other: LoopPlace) -> bool:
        mine, theirs = self.key[1], other.key[1]
        return (
            self.function == other.function and len(mine) > len(theirs) and mine[: len(theirs)] == theirs
        )


def nests_of(profile: Profile, functions: frozenset[Function], chains: Chains) -> dict[Function, Nest]:
    """None of any without jumps and instructions in the profile."""
    if not profile.instructions or not profile.jumps or "Ir" not in profile.events:
        return {}
    return {
        function: nest_of(function, flow, chains.get(function.object, {}))
        for function, flow in flows(profile, functions).items()
    }


class Loops:
    """Of all scopes of a file, by their numbers."""

    def __init__(self, why: Why, nests: Mapping[Function, Nest]) -> None:
        self._nests = nests
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

    def of(self, scope: int) -> LoopPlace | None:
        return self._places[scope]

    def _place(self, scope: Scope) -> LoopPlace:
        where = scope.place
        nest = self._nests.get(where.function)
        number = nest.innermost.get(where.address) if nest else None
        if nest is None or number is None:
            name = (where.file, where.line) if where.line else ("", where.address)
            return LoopPlace((where.function, (name,)), where.address)
        loop = nest.loops[number]
        path: list[tuple[str, int]] = []
        at: int | None = number
        while at is not None:
            one = nest.loops[at]
            path.append((one.file, one.line) if one.line else ("", one.address))
            at = one.parent
        return LoopPlace(
            (where.function, tuple(reversed(path))), loop.address, loop.iterations, loop.entries
        )
