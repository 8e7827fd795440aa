# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects as text: a table of them, and the details of one."""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.data.layout import ALWAYS
from ..analyses.data.object_labels import label, label_parts, label_pieces
from ..analyses.data.objects import DataUse, Listing, Loader
from ..analyses.data.ways import Reached, Way
from ..analyses.data.wrappers import Wrapper, place_text
from ..analyses.types.field_use import CodeUse, FieldUse
from ..analyses.types.object_details import Details
from ..analyses.types.shared_fields import SharedField
from ..analyses.types.typed_groups import TypedGroup
from ..model.numbers import bytes_text, percent, short_count
from ..model.objects import ObjectGroup
from ..model.profile import Function
from .advice import advice_sentences, listed
from .byte_users import user_lines
from .cores import core_word, uses_text
from .costs import cost_table, fitting
from .names import collapsed, cut_at
from .picture import picture
from .text import Cell, Page, Table, count, left_width, shorten_end, shorten_middle, wrapped

_HEADINGS = (
    ("L1 bytes", "never", "", "accesses", "LL"),
    ("loaded", "used", "share", "per line", "misses"),
)
_FIELD_HEADINGS: tuple[tuple[str, ...], ...] = (
    ("", "", "times", "used", ""),
    ("offset", "size", "loaded", "in", "field"),
)
_MOST_LOADERS = 10
_MOST_SHARED = 32
_SHORTEST_NAME = 20
_NOT_BY_DATA = (
    "These shares are of everything that a function and its callees lost for each caller, not of this data alone. "
    "--separate-callers3=FUNCTION records the callers of each load."
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


def wrapper_lines(found: Sequence[Wrapper], page: Page) -> list[str]:
    """A sentence on the options for a run that shows the callers of wrappers; nothing if there are none."""
    if not found:
        return []
    options = " ".join(f"--alloc-fn={shlex.quote(pattern)}" for one in found for pattern in one.patterns)
    behind = ", then ".join(
        f"{page.inlined_name(one.function)} ({printable(place_text(one))}) "
        f"for {one.callers} functions, {100 * one.share:.0f}%" for one in found
    )
    return wrapped(
        f"Most of the heap bytes never used were allocated in one place: {behind}. Run with {options} to see "
        "its callers instead.", page,
    )


def named_rows(
    headings: Sequence[Sequence[str]], title: str, cells: Sequence[Sequence[Cell]],
    names: Sequence[str], page: Page,
) -> list[str]:
    """A table with as many columns as leave room for the names. title: the heading of the names."""
    headings, cells = fitting(headings, cells, page, least=_SHORTEST_NAME)
    room = page.width - left_width(cells, headings)
    rows: list[Sequence[Cell]] = []
    labels: list[Cell] = []
    for row, (first, *more) in zip(cells, _labels(names, room, page)):
        rows += [row, *([Cell("")] * len(row) for _ in more)]
        labels += map(Cell, [first, *more])
    return cost_table(headings, title, rows, labels, page)


def object_details(found: Details, page: Page) -> list[str]:
    """All that is known about a group."""
    group = found.entry.group
    lines = [page.heading(short_label(label(group), page.width, page))]
    lines += _facts(group, found.entry.use, page)
    lines += _fact(f"no type: {found.no_type}", page) if found.no_type else []
    lines += ["", *_loaders(found.loaders, page)]
    if found.ways:
        lines += ["", *_ways(found.ways, page)]
    if found.layout is not None:
        lines += ["", *picture(found.layout, page, found.users)]
        lines += user_lines(found.users, found.cores, page) if found.users else []
    if found.typed is not None:
        lines += ["", *_fields(found.typed, page)]
    if found.shared:
        lines += ["", *_shared(found.shared, found.cores, page)]
    if found.typed is not None and found.typed.type.fields and found.uses:
        lines += ["", *_code_uses(found.uses, page)]
    if advice := advice_sentences(found):
        lines += ["", *(line for sentence in advice for line in wrapped(sentence, page))]
    return lines


def _use(use: DataUse, page: Page) -> list[Cell]:
    share = f"{100 * use.unused / use.loaded:.1f}%" if use.loaded else "-"
    per_line = f"{use.accesses / use.lines:.1f}" if use.lines else "-"
    return [
        Cell(count(use.loaded, page)), Cell(count(use.unused, page)), Cell(share), Cell(per_line),
        Cell(count(use.misses, page)),
    ]


def short_label(name: str, room: int, page: Page) -> str:
    """A name in at most `room` characters: template arguments go first. The part of a group's label that distinguishes
    it from others stays if there is room for it."""
    text, room = printable(name), max(room, _SHORTEST_NAME)
    if page.full_names or len(text) <= room:
        return text
    start, ending = label_parts(collapsed(text))
    left = room - len(ending)
    if left < _SHORTEST_NAME:
        return shorten_middle(f"{start}{ending}", room)
    return f"{shorten_end(start, left)}{ending}"


def _labels(names: Sequence[str], room: int, page: Page) -> list[list[str]]:
    """The lines of each label, shortened to `room` characters. Different labels that would look the same are cut where
    they differ."""
    whole = [_label_lines(name, room, page) for name in names]
    found = [[short_label(line, room, page) for line in lines] for lines in whole]
    alike: dict[tuple[str, ...], list[int]] = {}
    for index, lines in enumerate(found):
        if lines != whole[index]:
            alike.setdefault(tuple(lines), []).append(index)
    for indices in alike.values():
        for number in range(len(found[indices[0]])):
            others = {whole[index][number] for index in indices}
            if len(others) > 1:
                first = len(os.path.commonprefix(sorted(others)))
                for index in indices:
                    found[index][number] = cut_at(whole[index][number], first, max(room, _SHORTEST_NAME))
    return found


def _label_lines(name: str, room: int, page: Page) -> list[str]:
    """The lines of a label. If it does not fit, callers get separate lines, as they distinguish groups."""
    text = printable(name)
    if page.full_names or len(collapsed(text)) <= room:
        return [text]
    lines: list[str] = []
    for piece in label_pieces(text):
        if lines and len(collapsed(lines[-1])) + len(piece) <= room:
            lines[-1] += piece
        else:
            lines.append(f"  {piece.lstrip(', ')}" if lines else piece)
    return lines


def _facts(group: ObjectGroup, use: DataUse, page: Page) -> list[str]:
    lines: list[str] = []
    identity, blocks = group.identity, group.blocks
    if blocks is not None:
        size = (
            f"{blocks.smallest:,}" if blocks.smallest == blocks.largest
            else f"{blocks.smallest:,} to {blocks.largest:,}"
        )
        lines += _fact(
            f"{blocks.number:,} block{'s' if blocks.number != 1 else ''} of {size} bytes: "
            f"{short_count(blocks.bytes)} bytes in all, at most {short_count(blocks.most_alive)} alive at once", page,
        )
    if identity.size:
        lines += _fact(f"{identity.size:,} bytes in {os.path.basename(identity.object)}", page)
    if identity.function is not None and identity.places:
        room = page.width - len("  allocated by , called from")
        lines.append(f"  allocated by {short_label(page.name(identity.function), room, page)}, called from")
    for place in identity.places:
        where = f"  {os.path.basename(place.file)}:{place.line}" if place.line else "  ???"
        room = page.width - len("    ") - len(where)
        lines.append(f"    {short_label(page.name(place.function), room, page)}{printable(where)}")
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


def _ways(found: Sequence[Reached], page: Page) -> list[str]:
    """A line for each way: its share, the function and its callers."""
    lines = [page.heading("Calls through which it was loaded")]
    has_choice = any(len(one.ways) + one.others > 1 for one in found)
    for one in found:
        # The only way has all of it, so its share is not shown.
        is_only = len(one.ways) + one.others == 1
        for way in one.ways:
            share = "" if is_only else f"{100 * way.share:5.1f}%"
            lines += _way(one.function, way, f"{share:8}" if has_choice else "", page)
        if one.others:
            lines.append(f"        and {one.others} more caller{'s' if one.others > 1 else ''}")
    if has_choice:
        lines += wrapped(_NOT_BY_DATA, page)
    return lines


def _way(function: Function, way: Way, share: str, page: Page) -> list[str]:
    names = [page.name(one) for one in (function, *way.callers)]
    if way.is_recursive:
        names.append("(recursion)")
    elif way.further:
        names.append(f"({way.further} callers)")
    lines = [share + short_label(names[0], page.width - len(share), page)]
    for name in names[1:]:
        step = f" < {short_label(name, page.width - len(share) - len(' < '), page)}"
        if len(lines[-1]) + len(step) > page.width:
            lines.append(" " * len(share) + step[1:])
        else:
            lines[-1] += step
    return lines


def _fields(typed: TypedGroup, page: Page) -> list[str]:
    """The table of a type's fields with their use, and why the type is assumed."""
    found = typed.type
    size = f", {bytes_text(found.size)}"
    what = f"{short_label(found.name, page.width - len(size), page)}{size}"
    lines = [page.heading(what), *wrapped(typed.reason, page)]
    if not found.fields:
        return lines
    headings = _FIELD_HEADINGS
    rows = [[*_field_numbers(one), Cell(printable(_field_name(one)))] for one in typed.fields]
    if not typed.has_use:
        headings = tuple((*row[:2], row[-1]) for row in headings[-1:])
        rows = [[*row[:2], row[-1]] for row in rows]
        lines += wrapped("Its used bytes were not recorded.", page)
    room = page.width - left_width(rows, [row[:-1] for row in headings])
    rows = [[*row[:-1], Cell(row[-1].text if page.full_names else shorten_end(row[-1].text, room))]
            for row in rows]
    return [*lines, "", *Table(headings, rows).lines(page)]


def _shared(found: Sequence[SharedField], cores: int, page: Page) -> list[str]:
    """The cores that write and read each field."""
    one = core_word(cores)
    lines = [page.heading(f"Which {one} uses which field, in lines that {one}s take from each other")]
    for field in found[:_MOST_SHARED]:
        lines += _fact(f"{field.name}: {uses_text(field.only_read, field.written, field.apart, cores)}", page)
    if len(found) > _MOST_SHARED:
        lines.append(f"  and {len(found) - _MOST_SHARED} more")
    return lines


def _code_uses(found: Sequence[CodeUse], page: Page) -> list[str]:
    """The fields that each source line uses of what it loads, with the share of their loads in which they are used."""
    lines = [page.heading("Which code uses what it loads")]
    for use in found[:_MOST_LOADERS]:
        where = f"{os.path.basename(use.by.file)}:{use.by.line}  " if use.by.line else ""
        names = [
            field.name
            + ("" if field.share >= ALWAYS else f" {percent(field.used, field.loaded)}")
            for field in sorted(use.fields, key=lambda field: -field.share)
        ]
        number = "a part of a line" if use.parts == 1 else f"{short_count(use.parts)} parts of lines"
        by = f"{number} by {where}{page.name(use.by.function)}"
        lines += [
            short_label(by, page.width, page),
            *(f"    {line}" for line in wrapped(listed(names) or "nothing", page, indent=4)),
        ]
    if len(found) > _MOST_LOADERS:
        lines.append(f"and {len(found) - _MOST_LOADERS} more places")
    return lines


def _field_numbers(one: FieldUse) -> list[Cell]:
    share = percent(one.used, one.loaded)
    return [
        Cell(f"{one.offset:,}"), Cell(f"{one.size:,}"), Cell(short_count(one.loaded)), Cell(share)
    ]


def _field_name(one: FieldUse) -> str:
    return f"{one.name}  {one.type}" if one.type else one.name
