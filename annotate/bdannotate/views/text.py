# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text: numbers, names, tables, and colour where the reader is a person."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model.metrics import Metric, Number
from ..model.profile import Function

_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Page:
    """How a text report is written."""

    width: int
    colour: bool = False
    exact: bool = False  # counts with all their digits
    percents: bool = True
    full_names: bool = False

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text

    def heading(self, text: str) -> str:
        return self.paint(text, "bold")


class Cell(NamedTuple):
    text: str
    style: str = ""


def short_count(value: Number) -> str:
    """Three digits and a unit of thousands; up to 9,999 exactly."""
    if abs(value) < 10_000:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    for unit, suffix in _UNITS:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:.{digits}f}{suffix}"
    return f"{value:,}"


def count(value: Number, page: Page) -> str:
    if not page.exact:
        return short_count(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def signed(text: str) -> str:
    """A difference with its sign, unless it is none at the digits shown."""
    if not text.strip("-0.%"):
        return text.lstrip("-")
    return text if text.startswith("-") else "+" + text


def percent(part: Number, whole: Number) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def ratio(metric: Metric, value: Number | None) -> str:
    if value is None:
        return "-"
    if metric.is_share:
        return f"{100 * value:.1f}%"
    return f"{value:.1f}" if abs(value) < 10_000 else short_count(value)


def shorten_middle(text: str, width: int) -> str:
    """Cuts out the middle: the end of a long name tells as much as its beginning."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[: max(width, 0)]
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]


def shorten_end(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def printable(text: str) -> str:
    """Names come from files: they must not control the terminal. Bytes that were not UTF-8
    (surrogates here) go out as they came in."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else "?" for c in text)


def function_label(function: Function, page: Page, width: int, suffix: str = "") -> str:
    """The function's name, and where it is as far as there is room; all of it if so asked."""
    name = printable(function.name)
    file = "" if function.file == "???" else printable(function.file)
    module = "" if function.object == "???" else printable(function.object)
    if page.full_names:
        parts = (name + suffix, file, f"[{module}]" if module else "")
        return "  ".join(part for part in parts if part)
    file, module = os.path.basename(file), os.path.basename(module)
    bracketed = f"[{module}]" if module else ""
    for where in (f"{file} {bracketed}" if file and module else "", file, bracketed):
        if where and len(name) + len(suffix) + 2 + len(where) <= width:
            return f"{name}{suffix}  {where}"
    return shorten_middle(name, width - len(suffix)) + suffix


@dataclass(frozen=True, slots=True)
class Table:
    """Right-aligned columns under headings of one or more lines, and a last, left-aligned one
    without limit. Empty rows separate."""

    headings: Sequence[Sequence[str]]
    rows: Sequence[Sequence[Cell]]
    left_columns: frozenset[int] = frozenset()

    def lines(self, page: Page) -> list[str]:
        headings = [[Cell(text, "bold") for text in row] for row in self.headings]
        everything = [row for row in (*headings, *self.rows) if row]
        if not everything:
            return []
        count = len(everything[0]) - 1
        widths = [max(len(row[i].text) for row in everything) for i in range(count)]
        lines = [self._line(row, widths, page) for row in headings]
        if lines:
            longest = max(
                sum(widths) + 2 * count + len(row[-1].text) for row in everything
            )
            lines.append(page.paint("-" * min(longest, page.width), "dim"))
        return lines + [self._line(row, widths, page) for row in self.rows]

    def _line(self, row: Sequence[Cell], widths: Sequence[int], page: Page) -> str:
        if not row:
            return ""
        last = len(row) - 1
        while last > 0 and not row[last].text:
            last -= 1
        cells: list[str] = []
        for index, cell in enumerate(row[: last + 1]):
            text = cell.text
            if index < len(widths):
                left = index in self.left_columns
                text = text.ljust(widths[index]) if left else text.rjust(widths[index])
            cells.append(page.paint(text.rstrip() if index == last else text, cell.style))
        return "  ".join(cells)


def left_width(table_rows: Sequence[Sequence[Cell]], headings: Sequence[Sequence[str]]) -> int:
    """The width that these columns take, with the gap behind them: what is left is for names."""
    texts = [[cell.text for cell in row] for row in table_rows if row]
    rows = [*headings, *texts]
    return sum(2 + max(len(row[i]) for row in rows) for i in range(len(rows[0]))) if rows else 0
