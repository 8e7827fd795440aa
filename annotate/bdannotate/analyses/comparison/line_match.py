# SPDX-License-Identifier: GPL-2.0-or-later
"""The matching of lines between two versions of a source."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

# From this number of lines in both versions on, very frequent lines (braces, blanks) are not anchors, as the matcher's
# time grows with the square of their number.
_MANY_LINES = 3000


class LinePair(NamedTuple):
    """The numbers, from 1, of the same line in both versions; None if one has no such line."""

    before: int | None
    after: int | None


def match_lines(before: Sequence[str], after: Sequence[str]) -> list[LinePair]:
    """All lines of both versions, paired, in the order of either. Indentation is ignored."""
    old, new = ([line.strip() for line in lines] for lines in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > _MANY_LINES)
    pairs: list[LinePair] = []
    for tag, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
        if tag == "equal":
            pairs += map(
                LinePair, range(old_start + 1, old_stop + 1), range(new_start + 1, new_stop + 1)
            )
            continue
        pairs += [LinePair(number + 1, None) for number in range(old_start, old_stop)]
        pairs += [LinePair(None, number + 1) for number in range(new_start, new_stop)]
    return pairs


def match_by_number(length: int) -> list[LinePair]:
    """The pairs of lines 1 to `length` with themselves."""
    return [LinePair(number, number) for number in range(1, length + 1)]
