# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cores use which bytes of an element, as letters in its picture and as text."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from ..analyses.types.shared_bytes import ByteUse
from .cores import core_word, uses_text
from .json_values import Json
from .text import Page, hanging

_OTHERS = "*"


def letter_of(number: int) -> str:
    """The letter of one of the uses of an element's bytes. number: its place among them, from 0."""
    return ascii_letters[number] if number < len(ascii_letters) else _OTHERS


def letters_by_byte(users: Sequence[ByteUse]) -> dict[int, str]:
    return {byte: letter_of(number) for number, use in enumerate(users) for byte in use.bytes}


def users_title(cores: int) -> str:
    """A title for what the letters mean. cores: how many there are."""
    one = core_word(cores)
    return f"Which {one} uses which byte, in lines that {one}s take from each other"


def user_lines(users: Sequence[ByteUse], cores: int, page: Page) -> list[str]:
    """What each letter means. cores: how many there are."""
    known = users[: len(ascii_letters)]
    lines = [page.heading(users_title(cores))]
    for number, use in enumerate(known):
        lines += hanging(f"{letter_of(number)}: {uses_text(use.read, use.written, use.apart, cores)}", "  ", page)
    if len(users) > len(known):
        lines += hanging(f"{_OTHERS}: used in {len(users) - len(known)} other ways", "  ", page)
    return lines


def users_json(users: Sequence[ByteUse]) -> list[Json]:
    return [
        {"bytes": [*use.bytes], "read": [*use.read], "written": [*use.written], "apart": use.apart} for use in users
    ]
