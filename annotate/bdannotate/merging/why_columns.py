# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a file on why lines were loaded, in a twentieth of the memory, for ranks that wait to be joined."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..model.errors import UserError
from ..model.narrow import narrow
from ..model.profile import Function
from ..model.rows import Rows
from ..model.why import Cause, DataDistance, Depends, Distance, Inclusive, Order, Reuse, Stay, Why

_Columns = tuple["array[int]", ...]
_STRIDES = 3
_WHOLE = 1 << 64
_CAUSES = {int(cause): cause for cause in Cause}
_DEPENDS = {int(depends): depends for depends in Depends}


class PackedWhy(NamedTuple):
    """The file in columns.

    why: the file without its rows.
    functions: those that rows of `inclusive` refer to by number, from 1.
    """

    why: Why
    functions: tuple[Function, ...]
    columns: dict[str, _Columns]
    hits: PackedWhy | None = None


def packed(why: Why) -> PackedWhy:
    numbers: dict[Function | None, int] = {None: 0}
    columns = {
        "distances": _columns(why.distances), "reuses": _columns(why.reuses or ()),
        "orders": _columns(
            (*row[:12], *_flat(row.strides), *row[13:]) for row in why.orders or ()
        ),
        "stays": _columns(why.stays or ()), "data": _columns(why.data or ()),
        "inclusive": _columns(
            (
                numbers.setdefault(row.function, len(numbers)), numbers.setdefault(row.callee, len(numbers)),
                *row[2:],
            ) for row in why.inclusive or ()
        ),
    }
    functions = tuple(function for function in numbers if function is not None)
    return PackedWhy(why.without_rows(), functions, columns, None if why.hits is None else packed(why.hits))


def unpacked(found: PackedWhy) -> Why:
    columns, why = found.columns, found.why
    functions = (None, *found.functions)
    distances = Rows.of(Distance, zip(*columns["distances"]))
    reuses = tuple(Reuse._make((*row[:4], _CAUSES[row[4]], *row[5:])) for row in zip(*columns["reuses"]))
    orders = Rows.of(Order, (
        (*row[:12], _pairs(row[12:18]), _DEPENDS[row[18]], *row[19:]) for row in zip(*columns["orders"])
    ))
    inclusive = Rows.of(Inclusive, (
        (found.functions[row[0] - 1], functions[row[1]], *row[2:]) for row in zip(*columns["inclusive"])
    ))
    return replace(
        why, distances=distances,
        reuses=None if why.reuses is None else reuses,
        orders=None if why.orders is None else orders,
        stays=None if why.stays is None else tuple(Stay(*row) for row in zip(*columns["stays"])),
        data=None if why.data is None else Rows.of(DataDistance, zip(*columns["data"])),
        inclusive=None if why.inclusive is None else inclusive,
        hits=None if found.hits is None else unpacked(found.hits),
    )


def _columns(rows: Iterable[Sequence[int]]) -> _Columns:
    try:
        return tuple(map(narrow, zip(*rows)))
    except OverflowError:
        raise UserError("sums of causes are of 64 bits and more") from None


def _flat(strides: Sequence[tuple[int, int]]) -> list[int]:
    found = [number for step, times in strides for number in (step % _WHOLE, times)]
    return found + [0] * (2 * _STRIDES - len(found))


def _pairs(flat: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (step - _WHOLE if step >> 63 else step, times) for step, times in zip(flat[::2], flat[1::2]) if times
    )
