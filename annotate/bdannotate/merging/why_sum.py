# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded, in several ranks together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..model.objects import Objects
from ..model.why import Order, Why, merge, with_fewer_reuses
from .objects_file import GroupKey, group_key


class RankWhy(NamedTuple):
    """groups: what the numbers of groups mean, from 1; none if the data of the ranks are not merged."""

    why: Why
    groups: tuple[GroupKey, ...]


def why_of_part(why: Why, objects: Objects | None) -> RankWhy:
    """objects: those of the same part of the same run."""
    if objects is None:
        return RankWhy(why, ())
    groups = objects.groups
    if objects.numbers:  # some had the same names after they were changed
        groups = tuple(groups[number] for number in objects.numbers[0])
    return RankWhy(why, tuple(map(group_key, groups)))


def added(things: Sequence[RankWhy], most_reuses: int) -> RankWhy:
    """most_reuses: so many rows of reuses are kept, at most."""
    first = things[0]
    part = replace(first.why.parts[0], pid="", part="", thread="", descriptions=())
    if len(things) == 1:
        return RankWhy(with_fewer_reuses(replace(first.why, parts=(part,)), most_reuses), first.groups)
    groups: dict[GroupKey, int] = {}
    numbers = [[0, *(groups.setdefault(key, len(groups) + 1) for key in thing.groups)] for thing in things]
    why = merge([thing.why for thing in things], groups=numbers)
    if any(_lacks_callees(thing.why) for thing in things):
        why = _without_callees(why)
    return RankWhy(with_fewer_reuses(replace(why, parts=(part,)), most_reuses), tuple(groups))


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
    rows = why.inclusive or ()
    return not any(row.callee is not None for row in rows) and len({row.function for row in rows}) > 1


def _without_callees(why: Why) -> Why:
    return replace(why, inclusive=why.inclusive and tuple(row for row in why.inclusive if row.callee is None))
