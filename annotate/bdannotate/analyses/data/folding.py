# SPDX-License-Identifier: GPL-2.0-or-later
"""Patterns folded by the size of an element: equal patterns of different elements are added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...model.objects import Pattern


class Span(NamedTuple):
    """Bytes that were in one line. They may extend into the next elements."""

    start: int  # offset in the first element
    bytes: int  # how many


def folded(patterns: Iterable[Pattern], element: int) -> Mapping[tuple[Span, int], int]:
    """How often each span came with each set of used bytes, which are bits from the start of the span. element: its
    size in bytes."""
    found: Counter[tuple[int, int, int]] = Counter()
    for offset, size, used, times, _ in patterns:
        if size:
            found[offset % element, size, used] += times
    return {(Span(start, size), used): times for (start, size, used), times in found.items()}
