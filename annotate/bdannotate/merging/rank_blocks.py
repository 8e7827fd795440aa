# SPDX-License-Identifier: GPL-2.0-or-later
"""The files beside profiles, joined block by block: the result does not depend on which process has read which ranks,
even if each sum is cut to a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

_Thing = TypeVar("_Thing")
# So many ranks are a block, so many blocks a larger one, and so on.
_ACROSS = 8


class BlockPiece(NamedTuple, Generic[_Thing]):
    """The sum of a block.

    level: 0 for a single rank.
    number: that of the block on its level.
    found: None if all of its ranks were left out.
    """

    level: int
    number: int
    found: _Thing | None


class RankBlocks(Generic[_Thing]):
    """The sums of complete blocks. For each level and each end of a series of ranks, it holds at most seven pieces, so
    memory grows with the logarithm of the number of ranks. joined: adds up things in the order of their ranks."""

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
        """Hand out everything for another process; nothing is left here."""
        while self._waiting:
            yield from self._waiting.popitem()[1]


def _place(piece: BlockPiece[_Thing]) -> int:
    return piece.number
