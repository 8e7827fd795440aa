# SPDX-License-Identifier: GPL-2.0-or-later
"""Which line of one version of a source is which of another."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

# From here on, lines that are very frequent (braces, blanks) are no anchors: the matcher takes the
# square of their number.
_MANY_LINES = 3000


class LinePair(NamedTuple):
    """Numbers from 1 of the same line in both versions; None where one has no such line."""

    before: int | None
    after: int | None


def match_lines(before: Sequence[str], after: Sequence[str]) -> list[LinePair]:
    """All lines of both, in an order that is that of either. Indentation does not count."""
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
    return [LinePair(number, number) for number in range(1, length + 1)]
