# SPDX-License-Identifier: GPL-2.0-or-later
"""Details of object groups: the code that loaded them, the bytes that were used, and better layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...model.graph import CallGraph
from ...model.objects import Objects
from ...model.profile import Function
from ..data.layout import MOST_ELEMENT, Layout, layout, typed_layout
from ..data.objects import GroupRow, Loader, loaders
from ..data.sharing import SharingReport
from ..data.ways import Reached, ways_to
from .field_use import CodeUse, code_uses
from .inner_split import inner_split
from .pack import Packed, packed
from .shared_bytes import ByteUse, shared_bytes
from .shared_fields import SharedField, shared_fields
from .split import Order, Split, best_split, better_order
from .type_fit import elements_of
from .typed_groups import GroupTypes, TypedGroup


# The calls that lead to a function are shown if it loaded at least this share of the group's bytes.
_NOTABLE = 0.05
_MOST_FUNCTIONS = 4


@dataclass(frozen=True, slots=True)
class Details:
    """What is known about one object group."""

    entry: GroupRow
    loaders: tuple[Loader, ...]
    layout: Layout | None
    typed: TypedGroup | None
    uses: tuple[CodeUse, ...]  # of the type's fields
    # What other layouts would load; None if they save too little. split and order are None, too, if D1's line size is
    # not known.
    split: Split | None
    order: Order | None
    packed: Packed | None
    no_type: str  # why it has no type; empty if it has one, or none was looked for
    line_bytes: int | None  # of D1; None: not known
    ways: tuple[Reached, ...] = ()  # the calls that lead to the functions that loaded most of it
    shared: tuple[SharedField, ...] = ()  # the fields that cores use in lines that they take from each other
    users: tuple[ByteUse, ...] = ()  # the cores that use the bytes of the layout, in the same lines
    cores: int = 0  # how many there are, if `shared` or `users` has any


def object_details(
    objects: Objects, meant: Sequence[GroupRow], types: GroupTypes,
    element_size: int | None = None,
) -> list[Details]:
    """The details of the groups `meant`. element_size: the size in bytes by which the user wants layouts to be folded;
    None: that of the type, if it is known."""
    found: list[Details] = []
    line = objects.line_bytes
    for entry in meant:
        group = entry.group
        typed = types.known.get(group.identity)
        elements = group if typed is None else elements_of(group, typed.start, typed.only)
        if typed is None or element_size is not None or typed.type.size > MOST_ELEMENT:
            picture = layout(elements, line, element_size)
        else:
            picture = typed_layout(elements, line, typed.type)
        who = tuple(loaders(objects, group))
        if typed is None:
            found.append(Details(
                entry, who, picture, None, (), None, None, None, types.missing.get(group.identity, ""), line,
            ))
            continue
        split, order = None, None
        if line:
            split = best_split(typed, elements, entry.use, line) or inner_split(typed, elements, entry.use, line)
            # A field with an open end must stay last.
            if not typed.has_open_end:
                loaded_by: dict[Function, int] = {}
                for one in who:
                    loaded_by[one.function] = loaded_by.get(one.function, 0) + one.use.loaded
                order = better_order(typed, elements, entry.use, loaded_by, line)
        found.append(Details(
            entry, who, picture, typed, tuple(code_uses(typed.type, elements.patterns)), split, order,
            packed(typed, elements, entry.use), "", line,
        ))
    return found


def with_ways(found: Details, graph: CallGraph, events: Sequence[str]) -> Details:
    """The details with the calls that lead to the functions that load most of the group."""
    least = _NOTABLE * found.entry.use.loaded
    functions = dict.fromkeys(one.function for one in found.loaders if one.use.loaded >= least)
    return replace(found, ways=tuple(ways_to(list(functions)[:_MOST_FUNCTIONS], graph, events)))


def with_sharing(found: Details, sharing: SharingReport) -> Details:
    """The details with the cores that use its bytes and fields."""
    identity = found.entry.group.identity
    data = next((one for one in sharing.data if one.group is not None and one.group.identity == identity), None)
    if data is None:
        return found
    return replace(
        found, shared=() if found.typed is None else shared_fields(data, found.typed),
        users=() if found.layout is None else shared_bytes(data, found.layout.size, found.typed), cores=sharing.cores,
    )
