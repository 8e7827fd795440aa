# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses by the size of the cache, as a table with a bar for each size, and in words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from bdcommon.console import printable

from ..analyses.misses.curve import Curve, Knee, Point
from ..model.numbers import short_count, size_text
from .text import Cell, Page, Table

_LONGEST_BAR = 32
_SHORTEST_BAR = 8
# From this ratio on, the number of misses is shown instead.
_MOST_TIMES = 100
# The words for small ratios.
_WORDS = ("", "", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True)
class NamedCurve:
    """The curve of the program, of functions or of data.

    name: what the user asked for; empty: the program.
    functions, data: the number of functions, or of object groups, that it is about.
    curve: for functions, the misses of all that they call or, if not is_inclusive, of what no others call.
    only_called: how many functions no others call.
    own: for functions, the misses of their own code.
    """

    name: str
    curve: Curve
    functions: int = 0
    is_inclusive: bool = True
    only_called: int = 0
    own: Curve | None = None
    data: int = 0


def curve_title(found: NamedCurve) -> str:
    """The heading of a curve."""
    title = "misses of data by the size of the cache"
    if not found.name:
        return title.capitalize()
    name = printable(found.name)
    if found.data:
        return f"{name}{f' ({found.data} groups)' if found.data > 1 else ''}: {title}"
    functions = f" ({found.functions} functions)" if found.functions > 1 else ""
    if found.is_inclusive:
        return f"{name}{functions} with its calls: {title}"
    if found.only_called:
        functions = f" ({found.functions + found.only_called} functions)"
    return f"{name}{functions}: {title}"


def curve_lines(asked: NamedCurve, page: Page) -> list[str]:
    """The table of a curve, one line per size, and its sentences. For functions, it has those of their own code if
    these differ."""
    found = asked.curve
    of_d1, most = found.d1.misses, max(point.misses for point in found.points)
    if not most:
        return ["no data was loaded there"]
    own = asked.own if asked.own and asked.own.points != found.points else None
    numbers = 40 + (10 if own else 0)  # the maximum width of the columns before the bars
    length = max(min(_LONGEST_BAR, page.width - numbers), _SHORTEST_BAR)
    rows = [
        [
            Cell(size_text(point.size)), Cell(short_count(point.misses)),
            Cell(f"{100 * point.misses / of_d1:.1f}%" if of_d1 else ""), Cell(f"{short_count(point.loaded)}B"),
            *([Cell(short_count(own.points[number].misses))] if own else []),
            Cell(_bar(point.misses / most, length)),
        ]
        for number, point in enumerate(_until_flat(found.points))
    ]
    headings = [["cache", "misses", "of D1's", "loaded", *(["itself"] if own else []), ""]]
    lines = Table(headings, rows).lines(page)
    said = sentence(found)
    if asked.functions and not asked.is_inclusive:
        said += " " + _without_paths(asked)
    return [*lines, "", *textwrap.wrap(said, page.width)]


def _without_paths(asked: NamedCurve) -> str:
    if asked.functions > 1:
        return "Callees are included if only these functions call them."
    return "Callees are included if nothing else calls them; a run with --context-tree=yes has all."


def _until_flat(points: Sequence[Point]) -> list[Point]:
    """The points without the larger sizes at which nothing changes any more; two of those are kept."""
    last = points[-1].misses
    end = next(number for number, point in enumerate(points) if point.misses == last)
    return list(points[: max(end + 2, 2)])


def _bar(share: float, length: int) -> str:
    return "#" * max(round(share * length), 1 if share else 0)


def sentence(found: Curve) -> str:
    """Sentences on the knees of a curve, and on the size that the data fits in."""
    first = found.points[0]
    if found.fits is None:
        if first.misses and found.first_touches >= 0.9 * first.misses:
            return (
                f"A larger cache saves nothing: {100 * found.first_touches / first.misses:.0f}% of the misses are "
                "first touches of a line."
            )
        return "A larger cache, up to 1 GiB, saves almost nothing."
    said: list[str] = []
    for knee in found.knees:
        if knee.after.size < found.fits.size:
            said.append(
                f"Between {_span(knee)}, {100 * (1 - knee.after.misses / knee.before.misses):.0f}% of the misses "
                "disappear."
            )
    fits = found.fits
    what = "first touches" if found.first_touches >= 0.9 * fits.misses else "misses"
    left = f"{short_count(fits.misses)} {what} remain" if fits.misses else "no misses remain"
    text = f"The data fits in {size_text(fits.size)} ({left})"
    below = [point for point in found.points if point.size < fits.size and fits.misses]
    if below and below[-1].misses >= 1.5 * fits.misses:
        times = below[-1].misses / fits.misses
        often = f"{_times(times)} the misses" if times < _MOST_TIMES else f"{short_count(below[-1].misses)} misses"
        text += f"; a cache of {size_text(below[-1].size)} has {often}"
    return " ".join([*said, f"{text}."])


def _span(knee: Knee) -> str:
    return f"{size_text(knee.before.size)} and {size_text(knee.after.size)}"


def _times(number: float) -> str:
    whole = round(number)
    if whole < len(_WORDS) and abs(number - whole) < 0.15:
        return _WORDS[whole] if whole == 2 else f"{_WORDS[whole]} times"
    return f"{number:.1f} times" if number < 10 else f"{number:,.0f} times"
