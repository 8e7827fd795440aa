# SPDX-License-Identifier: GPL-2.0-or-later
"""The profiles of a sum, or the parts of one, in the order that they are shown in, and what each is called."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..model.profile import Part, Profile
from ..views.json_values import text

_NUMBER = re.compile(r"(\d+)")
_MOST_DIGITS = 18  # what is longer is a name

_Key = tuple[tuple[int, int, str], ...]


def in_order(profiles: Sequence[Profile]) -> list[Profile]:
    """Of one process by part, which is by time, and thread; else by name, numbers in them as numbers: ranks are."""
    pids = {profile.parts[0].pid for profile in profiles}
    if len(pids) == 1 and "" not in pids:
        return sorted(profiles, key=lambda one: (_of_part(one.parts[0]), natural(one.parts[0].source)))
    return sorted(profiles, key=lambda one: natural(one.parts[0].source))


def parts_in_order(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=_of_part)


def part_name(part: Part) -> str:
    thread = f", thread {part.thread}" if part.thread else ""
    return text(f"part {part.part}{thread}")


def member_name(profile: Profile) -> str:
    """With its thread, if it is of one; and the part, if it is one."""
    first = profile.parts[0]
    name = os.path.basename(first.source)
    if len(profile.parts) == 1 and (first.thread or first.part not in ("", "1")):
        return text(f"{name}: {part_name(first)}")
    return text(name)


def _of_part(part: Part) -> tuple[_Key, _Key]:
    return natural(part.part), natural(part.thread)


def natural(name: str) -> _Key:
    """What sorts 2 before 10."""
    return tuple(
        (0, int(word), word) if word.isdigit() and word.isascii() and len(word) <= _MOST_DIGITS else (1, 0, word)
        for word in _NUMBER.split(name) if word
    )
