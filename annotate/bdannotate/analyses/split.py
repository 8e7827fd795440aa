# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a type should be split in two: fields that are used often, and those that come along.

The price of a part is what is loaded for it: as often as its most used field was used, either its
bytes, where elements are used in the order of memory, or all the lines that it lies in, where each
is far from the one before. Which of the two holds, no pattern of a single line says; so both are
computed, and the split is the one that costs least in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ..model.objects import Group
from .objects import Use
from .types import FieldUse, TypedGroup

_LINE_BYTES = 64
_MOST_ALIGNMENT = 8
# What saves less is not worth a change of the program.
_LEAST_SAVING = 0.2


@dataclass(frozen=True, slots=True)
class Part:
    fields: tuple[FieldUse, ...]
    size: int  # in bytes, with the padding at its end
    loads: int  # how often it would be loaded, in patterns


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes loaded: now, and with the split if elements are used in the order of memory, and if
    each lies far from the one before."""

    hot: Part
    cold: Part
    now: int
    in_order: int
    scattered: int


def hot_cold_split(typed: TypedGroup, group: Group, use: Use) -> Split | None:
    """None where nothing would be saved, or nobody knows. Blocks with one element each are as far from
    each other as the allocator puts them, and their lines have others' bytes: no split is in order."""
    if group.blocks is None or group.blocks.smallest < 2 * typed.type.size:
        return None
    recorded = sum(pattern.bytes * pattern.times for pattern in group.patterns)
    units = _units([field for field in typed.fields if field.type and field.size])
    if not recorded or len(units) < 2:
        return None
    # The most used first; in the order of memory where there is no difference.
    units.sort(key=lambda unit: -max(field.used for field in unit))
    ways = [(_part(units[:count]), _part(units[count:])) for count in range(1, len(units))]
    hot, cold = min(ways, key=lambda way: (_in_order(way[0]) + _in_order(way[1]), way[0].size))
    scale = use.loaded / recorded
    in_order = _in_order(hot) + _in_order(cold)
    # A type that would cost as little in that order as it is has no fault: its order has.
    as_it_is = min(use.loaded, _in_order(_part(units)) * scale)
    if in_order * scale > as_it_is * (1 - _LEAST_SAVING):
        return None
    scattered = _scattered(hot) + _scattered(cold)
    return Split(hot, cold, use.loaded, round(in_order * scale), round(scattered * scale))


def _units(fields: Sequence[FieldUse]) -> list[list[FieldUse]]:
    """What shares bytes, as bit-fields and members of unions, stays together."""
    units: list[list[FieldUse]] = []
    end = 0
    for field in sorted(fields, key=lambda field: field.offset):
        if units and field.offset < end:
            units[-1].append(field)
        else:
            units.append([field])
        end = max(end, field.offset + field.size)
    return units


def _part(units: Sequence[Sequence[FieldUse]]) -> Part:
    fields = sorted((field for unit in units for field in unit), key=lambda field: field.offset)
    size = sum(
        max(field.offset + field.size for field in unit) - unit[0].offset for unit in units
    )
    alignment = max(gcd(field.offset, field.size, _MOST_ALIGNMENT) for field in fields)
    size = -(-size // alignment) * alignment
    return Part(tuple(fields), size, max(field.used for field in fields))


def _in_order(part: Part) -> int:
    return part.loads * part.size


def _scattered(part: Part) -> float:
    alignment = max(gcd(field.offset, field.size, _MOST_ALIGNMENT) for field in part.fields)
    return part.loads * (_LINE_BYTES + part.size - alignment)
