# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences on what other layouts of a type would do."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.types.object_details import Details
from ..analyses.types.pack import Packed
from ..analyses.types.split import FieldGroup, Order, Split
from ..model.numbers import bytes_text, percent, short_count

_MOST_NAMES = 8
_ALL_BUT = 0.95  # the minimum ratio of two numbers that are shown as one


def advice_sentences(found: Details) -> list[str]:
    """The sentences; none if no other layout would save anything."""
    if found.line_bytes is None and found.typed is not None and found.typed.has_use:
        return [
            "What another layout would load is not known: the profile does not say how long a line of D1 is, or its "
            "parts disagree."
        ]
    return [
        *(_split_sentences(found.split) if found.split else ()),
        *([_order_sentence(found.order)] if found.order else ()),
        *([_packed_sentence(found.packed)] if found.packed else ()),
    ]


def _split_sentences(split: Split) -> list[str]:
    """The parts of a type, and what is loaded if each of them is an array."""
    first, *others = split.parts
    saved = split.misses_saved
    far = saved(split.scattered)
    parts = [f"{listed(_names(first))} ({bytes_text(first.size)})"]
    for part in others:
        often = f"{percent(part.loads, first.loads)} as often" if part.loads else "never"
        parts.append(f"{listed(_names(part))} ({bytes_text(part.size)}), {often}")
    return [
        f"Used together: {'; '.join(parts)}.",
        f"Split into {len(parts)} arrays with the same index: {_range(split.in_order, split.in_order_most)} bytes "
        f"loaded instead of {short_count(split.now)} if elements are visited in memory order, "
        f"{short_count(split.scattered)} if each lies far from the one before. The order of the visits is not "
        "known, nor whether it stays the same.",
        f"L1 misses saved: {_range(saved(split.in_order_most), saved(split.in_order))} in memory order, "
        f"{short_count(far) if far > 0 else 'none'} if elements lie far apart. How many LL misses are saved is not "
        "known.",
    ]


def _range(least: int, most: int) -> str:
    """A range of counts; only the larger one if they are nearly the same."""
    text = short_count(most)
    return text if least >= _ALL_BUT * most else f"{short_count(least)} to {text}"


def _order_sentence(order: Order) -> str:
    names = listed([field.name for field in order.first])
    return (
        f"With {names} first, side by side: {short_count(order.then)} bytes loaded instead of "
        f"{short_count(order.now)}, and {short_count(order.misses_saved)} L1 misses saved, if all else stays the "
        "same. How many LL misses are saved is not known."
    )


def _packed_sentence(packed: Packed) -> str:
    names = listed([field.name for field in packed.fields])
    return (
        f"In the order {names}, it shrinks from {packed.size_now:,} to {packed.size:,} bytes, with less padding: "
        f"{short_count(packed.then)} bytes loaded instead of {short_count(packed.now)} where elements are visited "
        "in memory order."
    )


def _names(part: FieldGroup) -> list[str]:
    return [field.name for field in part.fields]


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
