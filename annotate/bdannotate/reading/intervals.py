# SPDX-License-Identifier: GPL-2.0-or-later
"""How far the numbers of a sampled run may be off, as bdgrind writes it into comments behind the hot code. What is not
understood there is passed over, as comments are."""

from __future__ import annotations

import re

from ..model.profile import Function, Intervals, Place, Row, SeedRuns
from .comment_place import CommentPlace

_TITLE = re.compile(r"# intervals: (\d{1,9}) bursts", re.ASCII)
_ROW = re.compile(r"\d{1,9}(?: \d{1,20})+", re.ASCII)


class IntervalComments:
    """Those of one part."""

    def __init__(self, at: CommentPlace) -> None:
        self._at = at
        self._bursts: int | None = None
        self._is_open = False
        self._total: Row | None = None
        self._own: dict[Function, Row] = {}
        self._inclusive: dict[Function, Row] = {}
        self._lines: dict[Place, dict[int, Row]] = {}

    def comment(self, text: str, width: int) -> None:
        """Takes any line that is empty or a comment; width: the number of events."""
        if title := _TITLE.fullmatch(text):
            self._bursts = int(title[1])
            self._is_open = True
            return
        if not self._is_open:
            return
        key, equals, value = text[2:].partition("=")
        self._is_open = text.startswith("# ") and bool(equals) and self._take(key, value, width)

    def finish(self, seed: str) -> Intervals | None:
        """Of a run with this seed."""
        if self._bursts is None:
            return None
        seeds = {seed: SeedRuns(1, self._bursts)}
        return Intervals(self._bursts, self._total, self._own, self._inclusive, self._lines, seeds)

    def _take(self, key: str, value: str, width: int) -> bool:
        """Whether it is understood."""
        if self._at.takes(key):
            return self._at.enter(key, value)
        number = ""
        if key == "line":
            number, _, value = value.partition(" ")
        if not _ROW.fullmatch(value):
            return False
        row = tuple(map(int, value.split()))[1:]
        if len(row) != width:
            return False
        place = self._at.place
        if key == "all":
            self._total = row
        elif place is None:
            return False
        elif key == "self":
            self._own[place.function] = row
        elif key == "sum":
            self._inclusive[place.function] = row
        elif key == "line" and number.isascii() and number.isdigit() and len(number) < 10:
            self._lines.setdefault(place, {})[int(number)] = row
        else:
            return False
        return True
