# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, in several ranks together."""

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
    """groups: what the numbers of groups mean, from 1; none if the data of the ranks are not merged. lacks_callees:
    whether there was no room for misses in calls."""

    packed: PackedWhy
    groups: tuple[GroupKey, ...]
    lacks_callees: bool


def why_of_part(why: Why, objects: Objects | None) -> RankWhy:
    """objects: those of the same part of the same run."""
    return RankWhy(packed(_of_no_run(why)), keys_of_groups(objects), _lacks_callees(why))


def keys_of_groups(objects: Objects | None) -> tuple[GroupKey, ...]:
    """What the numbers of groups mean in the files beside one with these, from 1."""
    groups = () if objects is None else objects.groups
    if objects is not None and objects.numbers:  # some had the same names after they were changed
        groups = tuple(groups[number] for number in objects.numbers[0])
    return tuple(map(group_key, groups))


def added(things: Sequence[RankWhy], most_reuses: int) -> RankWhy:
    """most_reuses: so many rows of reuses are kept, at most."""
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
    """Of ranks as one, nothing but the name of the first file is kept."""
    return replace(why, parts=(replace(why.parts[0], pid="", part="", thread="", descriptions=()),))


def fit_to_write(why: Why, most_inclusive: int, most_orders: int) -> Why:
    """With no more rows than such files have: first, misses in calls are left out, and if that is not enough, those
    while functions were open, too; and the rarest orders are one row without a place."""
    if len(why.inclusive or ()) > most_inclusive:
        why = _without_callees(why)
    if len(why.inclusive or ()) > most_inclusive:
        why = replace(why, inclusive=None)
    orders = why.orders or ()
    if len(orders) > most_orders:
        # Those that have no place already come last.
        ranked = sorted(orders, key=lambda order: (not order.place, -order.accesses, order))
        accesses = sum(order.accesses for order in ranked[most_orders - 1:])
        why = replace(why, orders=(*ranked[: most_orders - 1], Order.without_place(accesses)))
    return why


def _lacks_callees(why: Why) -> bool:
    """Whether there was no room for them: of several functions, some call others."""
    rows = tuple(why.inclusive or ())
    return not any(row.callee is not None for row in rows) and len({row.function for row in rows}) > 1


def _without_callees(why: Why) -> Why:
    return replace(
        why, inclusive=why.inclusive and Rows.of(Inclusive, (row for row in why.inclusive if row.callee is None))
    )
