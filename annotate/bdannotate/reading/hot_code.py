# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the addresses of the costliest instructions and calls, which bdgrind writes into comments: a profile by line
has no others. Comments that are not understood are skipped."""

from __future__ import annotations

import re

from ..model.costs import Costs
from .comment_place import CommentPlace
from .fields import cost_row

_TITLE = "# hot code:"
_ROW = re.compile(r"(0x[0-9a-f]{1,16}) (\d{1,9})((?: \d+)*)", re.ASCII)
# More than bdgrind writes: each row has at least a thousandth of the program's cost in one of a few events.
_MOST_ROWS = 20_000


class HotCode:
    """The hot code of one part."""

    def __init__(self, at: CommentPlace, costs: Costs) -> None:
        self._at = at
        self._costs = costs
        self._is_open = False
        self._rows = 0

    def comment(self, text: str, width: int) -> None:
        """Takes any line that is empty or a comment. width: the number of events."""
        if text == _TITLE:
            self._is_open = True
            return
        key, equals, value = text[2:].partition("=")
        if not self._is_open or not text.startswith("# ") or not equals:
            self._is_open = False
            return
        if key in ("at", "call"):
            self._row(key, value, width)
            return
        self._is_open = self._at.takes(key) and self._at.enter(key, value)

    def _row(self, key: str, value: str, width: int) -> None:
        found = _ROW.fullmatch(value)
        costs = cost_row(found[3]) if found else ()
        if not found or not self._at.place or len(costs) > width or self._rows >= _MOST_ROWS:
            self._is_open = False
            return
        self._rows += 1
        add = self._costs.add_hot if key == "at" else self._costs.add_hot_call
        add(self._at.place, int(found[1], 16), int(found[2]), costs + (0,) * (width - len(costs)))
