# SPDX-License-Identifier: GPL-2.0-or-later
"""Patterns folded by the size of an element: what is the same in all elements is counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...model.objects import Pattern


class Span(NamedTuple):
    """Some bytes that were in one line: where in an element they begin, and how many they are. They may
    go on into the next elements."""

    start: int
    bytes: int


def folded(patterns: Iterable[Pattern], element: int) -> Mapping[tuple[Span, int], int]:
    """How often each span came with which bytes used, a bit for each."""
    found: Counter[tuple[int, int, int]] = Counter()
    for offset, size, used, times, _ in patterns:
        if size:
            found[offset % element, size, used] += times
    return {(Span(start, size), used): times for (start, size, used), times in found.items()}
