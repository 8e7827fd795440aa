# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the fields of a line: counts and positions. Everything malformed is a FormatProblem."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..model.errors import FormatProblem, shorten

_NEGATIVE = re.compile("-[0-9]+")
_HEXADECIMAL = re.compile("0x[0-9a-fA-F]{1,16}")


def count(word: str) -> int:
    if word.isascii() and word.isdigit():
        try:
            return int(word)
        except ValueError:
            raise FormatProblem("a number is too long") from None
    if word[:2] == "0x" and _HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    if word == ".":  # so Cachegrind writes that a line cannot have an event
        return 0
    raise FormatProblem(f"'{shorten(word)}' is not a number")


def cost(word: str) -> int:
    """A count, which may be negative: profiles that count memory have what a function has freed."""
    return -count(word[1:]) if _NEGATIVE.fullmatch(word) else count(word)


def cost_row(text: str) -> tuple[int, ...]:
    """All costs of a line. Nearly always, all are decimal: these are read three times faster."""
    words = text.split()
    # int() would also take plus signs, underscores and digits of other scripts.
    if text.isascii() and "+" not in text and "_" not in text:
        try:
            return tuple(map(int, words))
        except ValueError:
            pass
    return tuple(map(cost, words))


def some_costs(text: str, columns: Sequence[int]) -> tuple[int, ...]:
    """The costs in some columns of a line that `cost_row` has read before; 0 behind its end."""
    words = text.split()
    number = len(words)
    try:
        return tuple([int(words[column]) if column < number else 0 for column in columns])
    except ValueError:
        return tuple([cost(words[column]) if column < number else 0 for column in columns])


# The distance from the position before; or (position,), if the position is absolute.
Step = int | tuple[int]


@lru_cache(maxsize=1 << 16)  # a large profile has few
def step(word: str) -> Step:
    """The step that a word of a position stands for."""
    if word == "*":
        return 0
    if word[0] == "+":
        return count(word[1:])
    if word[0] == "-":
        return -count(word[1:])
    return (count(word),)


def moved(position: int, step: Step) -> int:
    return position + step if isinstance(step, int) else step[0]


def absolute(words: list[str], column: int | None, base: int) -> int:
    """The position in a column, given the one before; 0 if the file has no such column."""
    return 0 if column is None else moved(base, step(words[column]))
