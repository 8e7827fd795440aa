# SPDX-License-Identifier: GPL-2.0-or-later
"""All that is known of some groups of objects: who loaded them, which bytes were used, what to split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.objects import Identity, Objects
from .field_use import CodeUse, code_uses
from .objects import MOST_ELEMENT, Entry, Layout, Loader, layout, loaders
from .split import Order, Split, best_split, better_order
from .types import TypedGroup


@dataclass(frozen=True, slots=True)
class Details:
    entry: Entry
    loaders: tuple[Loader, ...]
    layout: Layout | None
    typed: TypedGroup | None
    uses: tuple[CodeUse, ...]  # of the type's fields
    split: Split | None
    order: Order | None


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
        who = tuple(loaders(objects, group))
        if typed is None:
            found.append(Details(entry, who, picture, None, (), None, None))
            continue
        found.append(Details(
            entry, who, picture, typed, tuple(code_uses(typed.type, group.patterns)),
            best_split(typed, group, entry.use), better_order(typed, group, entry.use),
        ))
    return found
