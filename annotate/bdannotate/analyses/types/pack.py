# SPDX-License-Identifier: GPL-2.0-or-later
"""What a type would load without padding between its fields. An order by alignment, the largest first, leaves least."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.objects import ObjectGroup
from ..data.objects import DataUse
from .field_use import FieldUse, units
from .split import alignment_of, is_array
from .typed_groups import TypedGroup

# The minimum share by which the type must shrink.
_LEAST_SAVING = 0.05
# The bytes that the C library's malloc adds to a block, and those that the sizes of its blocks are multiples of.
_HEADER, _ALLOCATED = 8, 16


@dataclass(frozen=True, slots=True)
class Packed:
    """The fields in an order with the least padding. Sizes and loads are in bytes."""

    fields: tuple[FieldUse, ...]
    size_now: int  # of an element
    size: int
    now: int  # loaded
    then: int  # loaded in the new order, at least: if elements are used in memory order


def packed(typed: TypedGroup, group: ObjectGroup, use: DataUse) -> Packed | None:
    """The type without padding; None if that saves too little, or if the last field must stay last."""
    found = units(typed.fields)
    if typed.has_open_end or typed.type.has_virtual_bases or len(found) < 2:
        return None
    order = sorted(found, key=lambda unit: (-alignment_of(unit), unit.offset))
    end = 0
    for unit in order:
        end += -end % alignment_of(unit) + unit.size
    end += -end % alignment_of(order[0])
    size = typed.type.size
    if is_array(group, size):
        share = end / size
    else:
        share = _allocated(end) / _allocated(size)
    if share > 1 - _LEAST_SAVING:
        return None
    fields = tuple(field for unit in order for field in unit.fields)
    return Packed(fields, size, end, use.loaded, round(use.loaded * share))


def _allocated(size: int) -> int:
    return -(-(size + _HEADER) // _ALLOCATED) * _ALLOCATED
