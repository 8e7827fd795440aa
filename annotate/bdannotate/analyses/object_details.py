# SPDX-License-Identifier: GPL-2.0-or-later
"""All that is known of some groups of objects: who loaded them, which bytes were used, what to split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.objects import Identity, Objects
from .objects import MOST_ELEMENT, Entry, Layout, Loader, layout, loaders
from .split import Split, hot_cold_split
from .types import TypedGroup


@dataclass(frozen=True, slots=True)
class Details:
    entry: Entry
    loaders: tuple[Loader, ...]
    layout: Layout | None
    typed: TypedGroup | None
    split: Split | None


def object_details(
    objects: Objects, meant: Sequence[Entry], types: Mapping[Identity, TypedGroup],
    element_size: int | None = None,
) -> list[Details]:
    """element_size, in bytes, is what the user says that the layouts are folded by."""
    found: list[Details] = []
    for entry in meant:
        group = entry.group
        typed = types.get(group.identity)
        if typed is None or element_size is not None or typed.type.size > MOST_ELEMENT:
            picture = layout(group, element_size)
        else:
            picture = layout(group, typed.type.size, "the size of its type")
        split = hot_cold_split(typed, group, entry.use) if typed else None
        found.append(Details(entry, tuple(loaders(objects, group)), picture, typed, split))
    return found
