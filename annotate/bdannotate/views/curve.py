# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses over the size of the cache, as a table with a bar for each size, and what it says in words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ..analyses.curve import Curve, Knee, Point
from ..model.numbers import short_count
from .text import Cell, Page, Table

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_LONGEST_BAR = 32
_SHORTEST_BAR = 8
# From so many times on, the number itself says more.
_MOST_TIMES = 100
# Up to so many times, numbers are words.
_WORDS = ("", "", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def size_text(size: int) -> str:
    """As 32 KiB, or 1.2 MiB between the powers of two."""
    for unit, name in _UNITS:
        if size >= unit:
            scaled = size / unit
            return f"{scaled:.0f} {name}" if scaled >= 10 or size % unit == 0 else f"{scaled:.1f} {name}"
    return f"{size} B"


def curve_lines(found: Curve, page: Page) -> list[str]:
    most = found.points[0].misses
    if not most:
        return ["no line of data was loaded there"]
    numbers = 40  # what stands before the bars, at most
    length = max(min(_LONGEST_BAR, page.width - numbers), _SHORTEST_BAR)
    rows = [
        [
            Cell(size_text(point.size)), Cell(short_count(point.misses)),
            Cell(f"{100 * point.misses / most:.1f}%"), Cell(f"{short_count(point.loaded)}B"),
            Cell(_bar(point.misses / most, length)),
        ]
        for point in _until_flat(found.points)
    ]
    headings = [["cache", "misses", "of D1's", "loaded", ""]]
    lines = Table(headings, rows).lines(page)
    return [*lines, "", *textwrap.wrap(sentence(found), page.width)]


def _until_flat(points: Sequence[Point]) -> list[Point]:
    """Without the sizes at which nothing changes any more, but for two."""
    last = points[-1].misses
    end = next(number for number, point in enumerate(points) if point.misses == last)
    return list(points[: max(end + 2, 2)])


def _bar(share: float, length: int) -> str:
    return "#" * max(round(share * length), 1 if share else 0)


def sentence(found: Curve) -> str:
    """Where the knees are, and from which size on nothing is loaded twice."""
    first = found.points[0]
    if found.fits is None:
        if found.first_touches >= 0.9 * first.misses:
            return (
                f"A larger cache saves nothing: {100 * found.first_touches / first.misses:.0f}% of the "
                "misses are the first touch of a line."
            )
        return "A larger cache, up to 1 GiB, saves hardly anything."
    said: list[str] = []
    for knee in found.knees:
        if knee.after.size < found.fits.size:
            said.append(
                f"Between {_span(knee)}, {100 * (1 - knee.after.misses / knee.before.misses):.0f}% of "
                "the misses go."
            )
    fits = found.fits
    what = "first touches" if found.first_touches >= 0.9 * fits.misses else "misses"
    text = f"It fits in {size_text(fits.size)} ({short_count(fits.misses)} {what} are left)"
    below = [point for point in found.points if point.size < fits.size and fits.misses]
    if below and below[-1].misses >= 1.5 * fits.misses:
        times = below[-1].misses / fits.misses
        often = f"{_times(times)} the misses" if times < _MOST_TIMES else f"{short_count(below[-1].misses)} misses"
        text += f"; at {size_text(below[-1].size)} {often}"
    return " ".join([*said, f"{text}."])


def _span(knee: Knee) -> str:
    return f"{size_text(knee.before.size)} and {size_text(knee.after.size)}"


def _times(number: float) -> str:
    whole = round(number)
    if whole < len(_WORDS) and abs(number - whole) < 0.15:
        return _WORDS[whole] if whole == 2 else f"{_WORDS[whole]} times"
    return f"{number:.1f} times" if number < 10 else f"{number:,.0f} times"
