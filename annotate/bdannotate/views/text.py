# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text: numbers, names, tables, and colours on terminals."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bdcommon.console import printable

from ..model.metrics import Number
from ..model.numbers import short_count
from ..model.profile import Function
from .file_names import FileNames
from .names import Names, fit

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


UNLIMITED = 1 << 20  # the width of a page for texts that a browser wraps


@dataclass(frozen=True, slots=True)
class Page:
    """How a text report is written."""

    width: int
    colour: bool = False
    exact: bool = False  # whether counts have all their digits
    percents: bool = True
    full_names: bool = False
    cut: bool = False  # whether nothing may be wider than the page
    names: Names = field(default_factory=Names)
    left_out: set[str] = field(default_factory=set)  # the headings of columns that had no room
    files: FileNames = field(default_factory=FileNames)

    def paint(self, text: str, style: str) -> str:
        """The text in a style, which is empty or a key of _CODES; unchanged if the page has no colours."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text

    def heading(self, text: str) -> str:
        return self.paint(text, "bold")

    def name(self, function: Function) -> str:
        """The name of a function on this page."""
        return printable(function.name if self.full_names else self.names.label(function))

    def file(self, name: str) -> str:
        """The name of a source file on this page."""
        return printable(name if self.full_names else self.files.short(name))

    def inlined_name(self, name: str) -> str:
        """The name, on this page, of a function that is only known by its name in debug information."""
        return printable(name if self.full_names else self.names.short(name))


class Cell(NamedTuple):
    text: str
    style: str = ""


def count(value: Number, page: Page) -> str:
    """A count as the page shows it: short, or with all digits."""
    if not page.exact:
        return short_count(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def shorten_middle(text: str, width: int) -> str:
    """The text in at most `width` characters, without its middle, as the end of a name matters, too."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[: max(width, 0)]
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]


def shorten_end(text: str, width: int) -> str:
    """The text in at most `width` characters, without its end."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def function_label(function: Function, page: Page, width: int, suffix: str = "") -> str:
    """The name of a function with a suffix, its file and its object file, in at most `width` characters: files are left
    out, and the name is shortened, if there is no room. With full names, everything is shown."""
    name = page.name(function)
    file = "" if function.file == "???" else printable(function.file)
    module = "" if function.object == "???" else printable(function.object)
    if page.full_names:
        parts = (name + suffix, file, f"[{module}]" if module else "")
        return "  ".join(part for part in parts if part)
    file, module = page.file(file) if file else "", os.path.basename(module)
    if name.startswith(f"{module}+0x"):
        module = ""  # it is in the name
    bracketed = f"[{module}]" if module else ""
    for where in (f"{file} {bracketed}" if file and module else "", file, bracketed):
        if where and len(name) + len(suffix) + 2 + len(where) <= width:
            return f"{name}{suffix}  {where}"
    return fit(name, width - len(suffix)) + suffix


@dataclass(frozen=True, slots=True)
class Table:
    """Right-aligned columns below headings of one or more lines, and a last, left-aligned column of any width. An empty
    row becomes an empty line. left_columns: the indices of other left-aligned columns."""

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
        room = page.width
        for index, cell in enumerate(row[: last + 1]):
            text = cell.text
            if index < len(widths):
                left = index in self.left_columns
                text = text.ljust(widths[index]) if left else text.rjust(widths[index])
            if page.cut and index >= len(widths):
                text = shorten_end(text, room)
            room -= len(text) + 2
            cells.append(page.paint(text.rstrip() if index == last else text, cell.style))
        return "  ".join(cells)


def left_width(table_rows: Sequence[Sequence[Cell]], headings: Sequence[Sequence[str]]) -> int:
    """The width of the columns with the gap behind them. The rest of the page is for names."""
    texts = [[cell.text for cell in row] for row in table_rows if row]
    rows = [*headings, *texts]
    return sum(2 + max(len(row[i]) for row in rows) for i in range(len(rows[0]))) if rows else 0


def wrapped(text: str, page: Page, indent: int = 0) -> list[str]:
    """The text as lines that leave room for `indent` blanks before them."""
    lines, width = [""], page.width - indent
    for word in printable(text).split(" "):
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [line if page.full_names else shorten_end(line, width) for line in lines if line]


def hanging(line: str, indent: str, page: Page) -> list[str]:
    """A text as lines, of which all but the first one are indented by two more columns."""
    return textwrap.wrap(
        line, page.width, initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_on_hyphens=False, break_long_words=page.cut,
    )
