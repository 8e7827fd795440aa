# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the errors of a sampled run, which bdgrind writes into comments behind the hot code. Comments that are not
understood are skipped."""

from __future__ import annotations

import re

from ..model.profile import Function, Intervals, Place, Row, SeedRuns
from .comment_place import CommentPlace

_TITLE = re.compile(r"# intervals: (\d{1,9}) bursts", re.ASCII)
_ROW = re.compile(r"\d{1,9}(?: \d{1,20})+", re.ASCII)


class IntervalComments:
    """The intervals of one part."""

    def __init__(self, at: CommentPlace) -> None:
        self._at = at
        self._bursts: int | None = None
        self._is_open = False
        self._total: Row | None = None
        self._own: dict[Function, Row] = {}
        self._inclusive: dict[Function, Row] = {}
        self._lines: dict[Place, dict[int, Row]] = {}

    def comment(self, text: str, width: int) -> None:
        """Takes any line that is empty or a comment. width: the number of events."""
        if title := _TITLE.fullmatch(text):
            self._bursts = int(title[1])
            self._is_open = True
            return
        if not self._is_open:
            return
        key, equals, value = text[2:].partition("=")
        self._is_open = text.startswith("# ") and bool(equals) and self._take(key, value, width)

    def finish(self, seed: str) -> Intervals | None:
        """The intervals of the part; None if it has none. seed: that of the run."""
        if self._bursts is None:
            return None
        seeds = {seed: SeedRuns(1, self._bursts)}
        return Intervals(self._bursts, self._total, self._own, self._inclusive, self._lines, seeds)

    def _take(self, key: str, value: str, width: int) -> bool:
        """Takes a comment of the section. Returns whether it is understood."""
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
