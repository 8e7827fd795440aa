# SPDX-License-Identifier: GPL-2.0-or-later
"""What ranks have beside their profiles, put together piece by piece: the result does not depend on which process has
read which ranks, also where each sum is cut to a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

_Thing = TypeVar("_Thing")
# So many ranks are a block, so many blocks a larger one, and so on.
_ACROSS = 8


class BlockPiece(NamedTuple, Generic[_Thing]):
    """Of a block: its level (0: a single rank), its number among those of the level, and what it has; None if all of
    its ranks were left out."""

    level: int
    number: int
    found: _Thing | None


class RankBlocks(Generic[_Thing]):
    """At most seven pieces for each level and end of consecutive ranks are held: memory grows with the logarithm of
    their number. joined: adds up some things in the order of their ranks."""

    def __init__(self, ranks: int, joined: Callable[[Sequence[_Thing]], _Thing]) -> None:
        self._joined = joined
        self._blocks = [ranks]  # how many there are, by level
        while self._blocks[-1] > 1:
            self._blocks.append(-(-self._blocks[-1] // _ACROSS))
        self._waiting: dict[tuple[int, int], list[BlockPiece[_Thing]]] = {}
        self.whole: _Thing | None = None

    def add(self, rank: int, found: _Thing | None) -> None:
        self.take(BlockPiece(0, rank, found))

    def take(self, piece: BlockPiece[_Thing]) -> None:
        level, number, found = piece
        if self._blocks[level] == 1:
            self.whole = found
            return
        above = level + 1, number // _ACROSS
        here = self._waiting.setdefault(above, [])
        here.append(piece)
        if len(here) < min(_ACROSS, self._blocks[level] - above[1] * _ACROSS):
            return
        del self._waiting[above]
        things = [one.found for one in sorted(here, key=_place) if one.found is not None]
        if len(things) > 1:
            things = [self._joined(things)]
        self.take(BlockPiece(*above, things[0] if things else None))

    def pieces(self) -> Iterator[BlockPiece[_Thing]]:
        """All of it, for another process; what is taken out is not kept here."""
        while self._waiting:
            yield from self._waiting.popitem()[1]


def _place(piece: BlockPiece[_Thing]) -> int:
    return piece.number
