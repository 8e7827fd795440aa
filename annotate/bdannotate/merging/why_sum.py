# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, added up over ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..model.objects import Objects
from ..model.rows import Rows
from ..model.why import Inclusive, Order, Why
from ..model.why_merge import WhySum, with_fewer_reuses
from .objects_file import GroupKey, group_key
from .why_columns import PackedWhy, packed, unpacked


class RankWhy(NamedTuple):
    """The causes of one or more ranks.

    groups: the meaning of the numbers of groups, from 1; empty if the data of ranks are not merged.
    lacks_callees: whether there was no room for misses in calls.
    """

    packed: PackedWhy
    groups: tuple[GroupKey, ...]
    lacks_callees: bool


def why_of_part(why: Why, objects: Objects | None) -> RankWhy:
    """The causes of a part. objects: those of the same part of the same run."""
    return RankWhy(packed(_of_no_run(why)), keys_of_groups(objects), _lacks_callees(why))


def keys_of_groups(objects: Objects | None) -> tuple[GroupKey, ...]:
    """The meaning of the numbers of groups, from 1, in files beside the one with these objects."""
    groups = () if objects is None else objects.groups
    if objects is not None and objects.numbers:  # some had the same names after they were changed
        groups = tuple(groups[number] for number in objects.numbers[0])
    return tuple(map(group_key, groups))


def added(things: Sequence[RankWhy], most_reuses: int) -> RankWhy:
    """The sum over ranks. most_reuses: the maximum number of rows of reuses that are kept."""
    groups: dict[GroupKey, int] = {}
    sums = WhySum()
    for thing in things:
        sums.add(unpacked(thing.packed), [0, *(groups.setdefault(key, len(groups) + 1) for key in thing.groups)])
    why = sums.why()
    lacks_callees = any(thing.lacks_callees for thing in things)
    if lacks_callees:
        why = _without_callees(why)
    return RankWhy(packed(with_fewer_reuses(_of_no_run(why), most_reuses)), tuple(groups), lacks_callees)


def _of_no_run(why: Why) -> Why:
    """The causes without their run: only the name of the first file is kept."""
    return replace(why, parts=(replace(why.parts[0], pid="", part="", thread="", descriptions=()),))


def fit_to_write(why: Why, most_inclusive: int, most_orders: int) -> Why:
    """The causes with no more rows than such files may have. Misses in calls are left out first; if that is not enough,
    so are all inclusive misses. The rarest orders become one row without a place."""
    if len(why.inclusive or ()) > most_inclusive:
        why = _without_callees(why)
    if len(why.inclusive or ()) > most_inclusive:
        why = replace(why, inclusive=None)
    orders = why.orders or ()
    if len(orders) > most_orders:
        # Those that have no place already come last.
        ranked = sorted(orders, key=lambda order: (not order.place, -order.accesses, order))
        accesses = sum(order.accesses for order in ranked[most_orders - 1:])
        why = replace(why, orders=Rows.of(Order, [*ranked[: most_orders - 1], Order.without_place(accesses)]))
    return why


def _lacks_callees(why: Why) -> bool:
    """Whether there was no room for misses in calls: there are several functions, of which some call others, but no
    callees."""
    rows = tuple(why.inclusive or ())
    return not any(row.callee is not None for row in rows) and len({row.function for row in rows}) > 1


def _without_callees(why: Why) -> Why:
    return replace(
        why, inclusive=why.inclusive and Rows.of(Inclusive, (row for row in why.inclusive if row.callee is None))
    )
