# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads machine files, which bd_calibrate writes or which come with bd_annotate."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

from bdcommon.regular_files import is_regular_file

from ..model.errors import UserError
from ..model.machine import FIGURES, TRANSFER, Figure, Machine, Order

# The machine for estimates if no other is named.
REFERENCE = "amd-epyc-family-26-model-2"
_SHIPPED = Path(__file__).resolve().parent.parent / "machines"
_SUFFIX = ".machine"

_MOST_BYTES = 64 << 10
_MOST_TEXT = 100
_LARGEST = 1e9
_MOST_SIZE = 1 << 50
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNITS = {**FIGURES, TRANSFER: "ns"}
_KNOWN = ("name", "processor", "model", "measured", "cache", "figure", "line")


def shipped_machines() -> list[str]:
    return sorted(path.stem for path in _SHIPPED.glob(f"*{_SUFFIX}"))


@cache
def reference_machine() -> Machine:
    return machine_named(REFERENCE)


def machine_named(name: str) -> Machine:
    """The machine of a file, or one that comes with bd_annotate, by its name. UserError: there is none, or it is
    malformed."""
    path = Path(name)
    if name in shipped_machines() and not path.exists():
        path = _SHIPPED / f"{name}{_SUFFIX}"
    elif not path.exists():
        raise UserError(
            f"machine file {name} does not exist, and bd_annotate has no machine of this name; it has "
            f"{', '.join(shipped_machines())}"
        )
    if not is_regular_file(str(path)):
        raise UserError(f"machine file {name} is not a regular file")
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"machine file {name} cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise UserError(f"machine file {name} is larger than {_MOST_BYTES >> 10} KiB, the most that is read")
    return parse_machine(data.decode("utf-8", "replace"), name)


def parse_machine(text: str, source: str) -> Machine:
    """The machine that a text describes. source: the name of the file in messages. UserError: the text is malformed."""
    lines = text.split("\n")
    if lines[0].rstrip() != "machine: 1":
        if re.fullmatch(r"machine: \d{1,9}", lines[0].rstrip()):
            raise UserError(
                f"machine file {source} has another version than 1, the only one that this bd_annotate reads"
            )
        raise UserError(
            f"{source} is not a machine file: it does not begin with 'machine: 1'; bd_calibrate writes them"
        )
    reader = _Reader(source)
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and not line.startswith("#"):
            reader.add(line.strip(), number)
    return reader.machine()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._texts: dict[str, str] = {}
        self._caches: list[int] = []
        self._figures: dict[str, Figure] = {}
        self._lines: dict[Order, dict[int, Figure]] = {order: {} for order in Order}

    def add(self, line: str, number: int) -> None:
        what, colon, rest = line.partition(": ")
        if not colon or what not in _KNOWN:
            raise self._wrong(number, "begins with none of " + ", ".join(f"'{one}:'" for one in _KNOWN))
        words = rest.split()
        match what:
            case "cache":
                self._caches.append(self._size(words[1] if len(words) == 4 else "", number))
            case "figure":
                self._add_figure(words, number)
            case "line":
                if len(words) != 5:
                    raise self._wrong(number, "needs an order, a size and three figures")
                if words[0] in {order.value for order in Order}:
                    size = self._size(words[1], number)
                    self._add_line(Order(words[0]), size, self._figure(words[2:], number), number)
            case _:
                self._texts[what] = self._text(rest, number)

    def machine(self) -> Machine:
        if not _NAME.fullmatch(self._texts.get("name", "")):
            raise self._error("has no 'name:' of lower case letters, digits and hyphens")
        if missing := [name for name in FIGURES if name not in self._figures]:
            raise self._error(f"has no figure '{missing[0]}'")
        if not self._caches or self._caches != sorted(set(self._caches)):
            raise self._error("needs a 'cache:' line for each level, the smallest first")
        if missing := [order.value for order, sizes in self._lines.items() if len(sizes) < 2]:
            raise self._error(f"has fewer than two sizes for 'line: {missing[0]}'")
        return Machine(
            self._texts["name"], self._texts.get("processor", self._texts["name"]), self._texts.get("model", ""),
            self._texts.get("measured", ""), tuple(self._caches), self._figures,
            {order: tuple(sorted(sizes.items())) for order, sizes in self._lines.items()},
        )

    def _add_figure(self, words: list[str], number: int) -> None:
        if len(words) != 5:
            raise self._wrong(number, "needs a name, a unit and three figures")
        name, unit = words[:2]
        if name in _UNITS and unit != _UNITS[name]:
            raise self._wrong(number, f"is in {unit[:20]}, not in {_UNITS[name]}")
        if name in self._figures:
            raise self._wrong(number, f"repeats the figure '{name[:40]}'")
        figure = self._figure(words[2:], number)
        if name in _UNITS:
            if name != "page-walk" and figure.value <= 0:
                raise self._wrong(number, "must be more than 0")
            self._figures[name] = figure

    def _add_line(self, order: Order, size: int, figure: Figure, number: int) -> None:
        if size in self._lines[order]:
            raise self._wrong(number, f"repeats the size {size} of '{order.value}'")
        self._lines[order][size] = figure

    def _size(self, text: str, number: int) -> int:
        size = int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
        if not 0 < size <= _MOST_SIZE:
            raise self._wrong(number, "needs a size in bytes")
        return size

    def _figure(self, words: list[str], number: int) -> Figure:
        try:
            found = [float(word) for word in words]
        except ValueError:
            raise self._wrong(number, "has a figure that is not a number") from None
        if not all(math.isfinite(one) and 0 <= one <= _LARGEST for one in found):
            raise self._wrong(number, "has a figure that is negative or too large")
        return Figure(*found)

    def _text(self, text: str, number: int) -> str:
        if len(text) > _MOST_TEXT or not text.isprintable():
            raise self._wrong(number, f"has a text with more than {_MOST_TEXT} characters or with control characters")
        return text

    def _wrong(self, number: int, what: str) -> UserError:
        return UserError(f"machine file {self._source}, line {number}: the line {what}")

    def _error(self, what: str) -> UserError:
        return UserError(f"machine file {self._source} {what}")
