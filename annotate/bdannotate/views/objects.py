# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects as text: a table of them, and the details of one."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.object_details import Details
from ..analyses.field_use import CodeUse, FieldUse
from ..analyses.objects import Layout, Listing, Loader, Use, label
from ..analyses.split import Order, Part, Split
from ..analyses.types import TypedGroup
from ..model.numbers import percent, short_count
from ..model.objects import Group
from .costs import cost_table, fitting
from .names import fit
from .text import Cell, Page, Table, count, left_width, shorten_end

_HEADINGS = (
    ("L1 bytes", "never", "", "accesses", "LL"),
    ("loaded", "used", "share", "per line", "misses"),
)
_FIELD_HEADINGS: tuple[tuple[str, ...], ...] = (
    ("", "", "lines", "used", ""),
    ("offset", "size", "loaded", "in", "field"),
)
_MOST_LOADERS = 10
_MOST_NAMES = 8
_USED_ALWAYS = 0.95
_SHORTEST_NAME = 20
_ROW_BYTES = 64
_GROUP_BYTES = 8
_LEGEND = (
    "A character per byte: # used in 95 % of the loads and more, 9 to 1 in so many tenths, "
    "+ in less, . in none, a blank if never loaded. A | is where a cache line always begins, "
    "a : where one does at times."
)


def objects_table(found: Listing, page: Page) -> list[str]:
    cells = [_use(entry.use, page) for entry in found.entries]
    names = [label(entry.group) for entry in found.entries]
    if found.others:
        cells.append(_use(found.other_use, page))
        names.append(f"({found.others} other{'s' if found.others > 1 else ''})")
    cells.append(_use(found.total, page))
    names.append("all")
    return named_rows(_HEADINGS, "object", cells, names, page)


def named_rows(
    headings: Sequence[Sequence[str]], title: str, cells: Sequence[Sequence[Cell]],
    names: Sequence[str], page: Page,
) -> list[str]:
    """A table with as many columns as leave room for the names; the title stands above these."""
    headings, cells = fitting(headings, cells, page, least=_SHORTEST_NAME)
    room = page.width - left_width(cells, headings)
    labels = [Cell(short_label(name, room, page)) for name in names]
    return cost_table(headings, title, cells, labels, page)


def object_details(found: Details, page: Page) -> list[str]:
    group = found.entry.group
    lines = [page.heading(short_label(label(group), page.width, page))]
    lines += [*_facts(group, found.entry.use, page), "", *_loaders(found.loaders, page)]
    if found.layout is not None:
        lines += ["", *_picture(found.layout, page)]
    if found.typed is not None:
        lines += ["", *_fields(found.typed, page)]
    if found.typed is not None and found.typed.type.fields and found.uses:
        lines += ["", *_code_uses(found.uses, page)]
    if found.split is not None:
        lines += ["", *_advice(found.split, page)]
    if found.order is not None:
        lines += ["", *_wrapped(order_sentence(found.order), page)]
    return lines


def _use(use: Use, page: Page) -> list[Cell]:
    share = f"{100 * use.unused / use.loaded:.1f}%" if use.loaded else "-"
    per_line = f"{use.accesses / use.lines:.1f}" if use.lines else "-"
    return [
        Cell(count(use.loaded, page)), Cell(count(use.unused, page)), Cell(share), Cell(per_line),
        Cell(count(use.misses, page)),
    ]


def short_label(name: str, room: int, page: Page) -> str:
    """A name as it fits."""
    text = printable(name)
    return text if page.full_names else fit(text, max(room, _SHORTEST_NAME))


def _facts(group: Group, use: Use, page: Page) -> list[str]:
    lines: list[str] = []
    identity, blocks = group.identity, group.blocks
    if blocks is not None:
        size = (
            f"{blocks.smallest:,}" if blocks.smallest == blocks.largest
            else f"{blocks.smallest:,} to {blocks.largest:,}"
        )
        lines += _fact(
            f"{blocks.number:,} block{'s' if blocks.number != 1 else ''} of {size} bytes: "
            f"{short_count(blocks.bytes)} bytes in all, {short_count(blocks.most_alive)} alive at "
            "most", page,
        )
    if identity.size:
        lines += _fact(f"{identity.size:,} bytes in {os.path.basename(identity.object)}", page)
    if identity.function is not None and identity.places:
        room = page.width - len("  by , called from")
        lines.append(f"  by {short_label(identity.function.label, room, page)}, called from")
    for place in identity.places:
        where = f"{os.path.basename(place.file)}:{place.line}" if place.line else "???"
        name = page.name(place.function)
        lines.append(f"    {short_label(f'{name}  {where}', page.width - 4, page)}")
    if use.loaded:
        lines += _fact(
            f"{short_count(use.loaded)} bytes loaded into L1, {short_count(use.unused)} of them "
            f"never used ({100 * use.unused / use.loaded:.1f}%)", page,
        )
    return lines


def _fact(text: str, page: Page) -> list[str]:
    return textwrap.wrap(
        printable(text), page.width, initial_indent="  ", subsequent_indent="    ",
        break_on_hyphens=False, break_long_words=page.cut,
    )


def _loaders(who: Sequence[Loader], page: Page) -> list[str]:
    cells = [_use(one.use, page) for one in who[:_MOST_LOADERS]]
    names = []
    for one in who[:_MOST_LOADERS]:
        where = f"{os.path.basename(one.file)}:{one.line}  " if one.line else ""
        names.append(f"{where}{page.name(one.function)}")
    lines = named_rows(_HEADINGS, "loaded by", cells, names, page)
    if len(who) > _MOST_LOADERS:
        lines.append(f"and {len(who) - _MOST_LOADERS} more places")
    return lines


def _picture(picture: Layout, page: Page) -> list[str]:
    used = sum(1 for byte in picture.bytes if byte.used)
    loaded = sum(1 for byte in picture.bytes if byte.loaded)
    title, reason = f"An element of {picture.size:,} bytes", f"({picture.reason})"
    lines = [page.heading(title)]
    if len(f"{title} {reason}") <= page.width:
        lines[0] += f" {reason}"
    else:
        lines += _wrapped(reason, page)
    lines += _wrapped(
        f"{used:,} bytes were used, {loaded - used:,} loaded and never used, "
        f"{picture.size - loaded:,} never loaded", page,
    )
    most = max(byte.loaded for byte in picture.bytes)
    row_bytes = _ROW_BYTES
    while row_bytes > _GROUP_BYTES and 6 + row_bytes + row_bytes // _GROUP_BYTES > page.width:
        row_bytes //= 2
    for start in range(0, picture.size, row_bytes):
        text = f"{start:5} "
        for at in range(start, min(start + row_bytes, picture.size)):
            byte = picture.bytes[at]
            if at % _GROUP_BYTES == 0 or byte.borders:
                text += _border(byte.borders, most)
            text += _character(byte.loaded, byte.used)
        lines.append(text.rstrip())
    if picture.unmapped:
        what = (
            "One evicted line is" if picture.unmapped == 1
            else f"{short_count(picture.unmapped)} evicted lines are"
        )
        lines += _wrapped(f"{what} not in the picture", page)
    return lines


def _fields(typed: TypedGroup, page: Page) -> list[str]:
    """What a field's loads are is said in the legend."""
    found = typed.type
    size = f", {found.size:,} bytes"
    what = f"{short_label(found.name, page.width - len(size), page)}{size}"
    lines = [page.heading(what), *_wrapped(typed.reason, page)]
    if not found.fields:
        return lines
    headings = _FIELD_HEADINGS
    rows = [[*_field_numbers(one), Cell(printable(_field_name(one)))] for one in typed.fields]
    if not typed.has_use:
        headings = tuple((*row[:2], row[-1]) for row in headings[-1:])
        rows = [[*row[:2], row[-1]] for row in rows]
        lines += _wrapped("Nobody has seen which bytes of it are used.", page)
    room = page.width - left_width(rows, [row[:-1] for row in headings])
    rows = [[*row[:-1], Cell(row[-1].text if page.full_names else shorten_end(row[-1].text, room))]
            for row in rows]
    return [*lines, "", *Table(headings, rows).lines(page)]


def _code_uses(found: Sequence[CodeUse], page: Page) -> list[str]:
    """Fields with the share of the lines with them in which they are used."""
    lines = [page.heading("Which code uses what it loads")]
    for use in found[:_MOST_LOADERS]:
        where = f"{os.path.basename(use.by.file)}:{use.by.line}  " if use.by.line else ""
        names = [
            field.name
            + ("" if field.share >= _USED_ALWAYS else f" {percent(field.used, field.loaded)}")
            for field in sorted(use.fields, key=lambda field: -field.share)
        ]
        number = "a line" if use.lines == 1 else f"{short_count(use.lines)} lines"
        by = f"{number} by {where}{page.name(use.by.function)}"
        lines += [
            short_label(by, page.width, page),
            *(f"    {line}" for line in _wrapped(listed(names) or "nothing", page, indent=4)),
        ]
    if len(found) > _MOST_LOADERS:
        lines.append(f"and {len(found) - _MOST_LOADERS} more places")
    return lines


def _advice(split: Split, page: Page) -> list[str]:
    return [line for text in split_sentences(split) for line in _wrapped(text, page)]


def split_sentences(split: Split) -> list[str]:
    """What the parts of a type are, and what is loaded if each is an array of its own."""
    first, *others = split.parts
    parts = [f"{listed(_names(first))} ({first.size:,} bytes)"]
    for part in others:
        often = f"{percent(part.loads, first.loads)} as often" if part.loads else "never"
        parts.append(f"{listed(_names(part))} ({part.size:,} bytes), {often}")
    return [
        f"Used together: {'; '.join(parts)}.",
        f"In {len(parts)} arrays with the same index: {short_count(split.in_order)} bytes loaded "
        f"instead of {short_count(split.now)} if elements are used in the order of memory, "
        f"{short_count(split.scattered)} if each lies far from the one before. Which of it holds is "
        "not known, nor whether the order of use stays the same.",
    ]


def order_sentence(order: Order) -> str:
    names = listed([field.name for field in order.first])
    return (
        f"With {names} first and next to each other: {short_count(order.then)} bytes loaded instead of "
        f"{short_count(order.now)}, if all else stays the same."
    )


def _names(part: Part) -> list[str]:
    return [field.name for field in part.fields]


def listed(names: Sequence[str]) -> str:
    """The first few."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _field_numbers(one: FieldUse) -> list[Cell]:
    share = percent(one.used, one.loaded)
    return [
        Cell(f"{one.offset:,}"), Cell(f"{one.size:,}"), Cell(short_count(one.loaded)), Cell(share)
    ]


def _field_name(one: FieldUse) -> str:
    return f"{one.name}  {one.type}" if one.type else one.name


def _wrapped(text: str, page: Page, indent: int = 0) -> list[str]:
    """Lines with room for so many blanks before them."""
    lines, width = [""], page.width - indent
    for word in printable(text).split(" "):
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [line if page.full_names else shorten_end(line, width) for line in lines if line]


def _border(borders: int, most: int) -> str:
    return "|" if borders > 0.4 * most else ":" if borders else " "


def _character(loaded: int, used: int) -> str:
    if not loaded:
        return " "
    if not used:
        return "."
    share = used / loaded
    if share >= 0.95:
        return "#"
    return str(int(share * 10)) if share >= 0.1 else "+"


def legend(page: Page) -> list[str]:
    return [page.paint(line, "dim") for line in _wrapped(_LEGEND, page)]
