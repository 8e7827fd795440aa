# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of an element, with a character for each byte."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.data.layout import ALWAYS, Byte, Layout
from ..analyses.types.shared_bytes import ByteUse
from ..model.numbers import bytes_text, percent, short_count
from .byte_users import letters_by_byte
from .text import Page, wrapped

_ROW_BYTES = 64
_GROUP_BYTES = 8
_LEGEND = (
    f"One character per byte: # used in at least {100 * ALWAYS:.0f} % of its loads, 9 to 1 in that many tenths, + "
    "in fewer, . in none (- if padding), blank if never loaded. A cache line always begins at |, and sometimes at :."
)


def picture(found: Layout, page: Page, users: Sequence[ByteUse] = ()) -> list[str]:
    """The picture of an element, and sentences on its use. users: the cores that use its bytes, as a letter below each
    byte; empty if that is not known."""
    used = sum(1 for byte in found.bytes if byte.used)
    loaded = sum(1 for byte in found.bytes if byte.loaded)
    title, reason = f"An element of {bytes_text(found.size)}", f"({found.reason})"
    lines = [page.heading(title)]
    if len(f"{title} {reason}") <= page.width:
        lines[0] += f" {reason}"
    else:
        lines += wrapped(reason, page)
    lines += wrapped(
        f"{bytes_text(used)} {'was' if used == 1 else 'were'} used in at least one load, {loaded - used:,} in none, "
        f"{found.size - loaded:,} never loaded", page,
    )
    letters = letters_by_byte(users)
    row_bytes = _ROW_BYTES
    while row_bytes > _GROUP_BYTES and 6 + row_bytes + row_bytes // _GROUP_BYTES > page.width:
        row_bytes //= 2
    for start in range(0, found.size, row_bytes):
        text, below = f"{start:5} ", " " * 6
        for at in range(start, min(start + row_bytes, found.size)):
            byte = found.bytes[at]
            if at % _GROUP_BYTES == 0 or byte.borders:
                text += _border(byte)
                below += " "
            text += _character(byte)
            below += letters.get(at, " ")
        lines += [text.rstrip(), *([below.rstrip()] if below.strip() else [])]
    if not found.knows_borders:
        lines += wrapped("Where cache lines begin is not known: they are longer than 64 bytes.", page)
    if found.cut:
        lines += wrapped(
            f"In {percent(found.cut, found.loads)} of the loads, only part of the element was loaded: the "
            "rest lies in another line", page,
        )
    if found.unmapped:
        what = (
            "One part of an evicted line is" if found.unmapped == 1
            else f"{short_count(found.unmapped)} parts of evicted lines are"
        )
        lines += wrapped(f"{what} not in the picture", page)
    return lines


def sample_sentence(one_in: int) -> str:
    """A sentence on the sampling of used bytes, which is necessary if there are too many lines; costs are always exact.
    Empty if all lines were recorded. one_in: see Objects."""
    if one_in == 1:
        return ""
    return (
        f"Used bytes are sampled: all of the first 131,072 lines that were evicted, then one in {one_in}, counted "
        f"{one_in} times."
    )


def _border(byte: Byte) -> str:
    """The mark before a byte: whether a line always begins there, or sometimes, as if every second element began with a
    line; a blank if it never does."""
    if not byte.borders:
        return " "
    return "|" if byte.borders >= ALWAYS * byte.loaded else ":"


def _character(byte: Byte) -> str:
    if not byte.loaded:
        return " "
    if not byte.used:
        return "-" if byte.is_padding else "."
    if byte.share >= ALWAYS:
        return "#"
    return str(int(byte.share * 10)) if byte.share >= 0.1 else "+"


def legend(page: Page) -> list[str]:
    """What the characters of a picture mean."""
    return [page.paint(line, "dim") for line in wrapped(_LEGEND, page)]
