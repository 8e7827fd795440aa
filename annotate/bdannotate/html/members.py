# SPDX-License-Identifier: GPL-2.0-or-later
"""The members of a sum (profiles, or the parts of one profile): the order in which they are shown, and their names."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..model.profile import Part, Profile
from ..views.json_values import text

_NUMBER = re.compile(r"(\d+)")
_MOST_DIGITS = 18  # a longer run of digits sorts as text

_Key = tuple[tuple[int, int, str], ...]


def in_order(profiles: Sequence[Profile]) -> list[Profile]:
    """Sorts the profiles of one process by part (the order in time), then by thread, and others by file name. Numbers
    in names, such as those of ranks, sort by value."""
    pids = {profile.parts[0].pid for profile in profiles}
    if len(pids) == 1 and "" not in pids:
        return sorted(profiles, key=lambda one: (_of_part(one.parts[0]), _natural(one.parts[0].source)))
    return sorted(profiles, key=lambda one: _natural(one.parts[0].source))


def parts_in_order(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=_of_part)


def part_name(part: Part) -> str:
    thread = f", thread {part.thread}" if part.thread else ""
    return text(f"part {part.part}{thread}")


def member_name(profile: Profile) -> str:
    """The name of the profile's file; with part and thread, if the profile is one part, of one thread or not the
    first."""
    first = profile.parts[0]
    name = os.path.basename(first.source)
    if len(profile.parts) == 1 and (first.thread or first.part not in ("", "1")):
        return text(f"{name}: {part_name(first)}")
    return text(name)


def _of_part(part: Part) -> tuple[_Key, _Key]:
    return _natural(part.part), _natural(part.thread)


def _natural(name: str) -> _Key:
    """A sort key that orders 2 before 10: digits of a name compare as numbers."""
    return tuple(
        (0, int(word), word) if word.isdigit() and word.isascii() and len(word) <= _MOST_DIGITS else (1, 0, word)
        for word in _NUMBER.split(name) if word
    )
