# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of the lines to show of many consecutive ones: the notable ones, and some around each."""

from __future__ import annotations

from collections.abc import Iterable


def windows(notable: Iterable[int], context: int, first: int, last: int) -> list[range]:
    """The ranges of positions within [first, last] that are at most `context` away from a notable one. Ranges that
    touch are joined, and so are those with a gap of a single position, as its mark would take as much room."""
    found: list[range] = []
    for position in sorted(set(notable)):
        if not first <= position <= last:
            continue
        start = max(first, position - context)
        stop = min(last, position + context) + 1
        if found and start <= found[-1].stop + 1:
            found[-1] = range(found[-1].start, max(stop, found[-1].stop))
        else:
            found.append(range(start, stop))
    return found
