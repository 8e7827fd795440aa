# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and numbers as plain text, with colour where asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .metrics import Metric, Number

_SUFFIXES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def short_count(value: Number) -> str:
    """Three digits and a unit of thousands; up to 9,999 exactly."""
    if abs(value) < 10_000:
        return f"{value:,}"
    for unit, suffix in _SUFFIXES:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:.{digits}f}{suffix}"
    return f"{value:,}"


def percent(part: Number, whole: Number) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def ratio(metric: Metric, value: Number | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f}%" if metric.is_share else f"{value:.1f}"


def shorten_middle(text: str, width: int) -> str:
    """Cuts out the middle: the end of a long name tells as much as its beginning."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[:width]
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]


def printable(text: str) -> str:
    """Names come from files: they must not control the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else "?" for c in text)


@dataclass(frozen=True, slots=True)
class Table:
    """Right-aligned columns under headings of several lines, and a last, left-aligned one."""

    headings: Sequence[Sequence[str]]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        everything = [*self.headings, *self.rows]
        count = len(everything[0]) - 1 if everything else 0
        widths = [max(len(row[i]) for row in everything) for i in range(count)]
        lines = [self._line(row, widths) for row in self.headings]
        if lines:
            lines.append("-" * max(len(line) for line in lines))
        return lines + [self._line(row, widths) for row in self.rows]

    @staticmethod
    def _line(row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        return "  ".join([*cells, row[-1]]).rstrip()
