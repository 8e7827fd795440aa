# SPDX-License-Identifier: GPL-2.0-or-later
"""Which bytes of a line that cores take from each other are in elements of the data."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.objects import ObjectGroup
from ...model.sharing import SharedLine
from .typed_groups import TypedGroup


def parts_of_elements(
    line: SharedLine, mask: int, group: ObjectGroup, typed: TypedGroup | None
) -> Iterator[tuple[int, int]]:
    """Those of the bytes of a line that are in elements, which are bits of `mask`: the offset of the line's first one
    from the first element, and from there on a bit for each byte. typed: the type of the elements, if it is known."""
    if not line.object:
        return
    first = line.address - line.object - (typed.start if typed else 0)
    if first < 0:
        mask >>= -first
        first = 0
    end = _end_of_elements(group, typed)
    if end is not None:
        mask &= (1 << max(end - first, 0)) - 1
    if mask:
        yield first, mask


def number_of_elements(group: ObjectGroup, typed: TypedGroup) -> int | None:
    """How many elements each of the objects has; None if they differ in that."""
    if group.blocks is None:
        return max(group.identity.size // typed.type.size, 1)
    if typed.has_open_end or typed.only or group.blocks.smallest != group.blocks.largest:
        return None
    return max((group.blocks.largest - typed.start) // typed.type.size, 1)


def _end_of_elements(group: ObjectGroup, typed: TypedGroup | None) -> int | None:
    """How many bytes the elements of an object have; None if objects differ in that."""
    if typed is not None:
        number = number_of_elements(group, typed)
        return None if number is None else number * typed.type.size
    if group.blocks is None:
        return group.identity.size
    return group.blocks.largest if group.blocks.smallest == group.blocks.largest else None
