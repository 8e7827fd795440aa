# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of hints: its name, the use of its fields, and what a split would do."""

from __future__ import annotations

import os

from bdcommon.console import printable

from ..analyses.data.layout import ALWAYS, Layout
from ..analyses.data.object_labels import label
from ..analyses.data.objects import Loader
from ..analyses.data_hints import DataHints, ObjectHint
from ..analyses.types.object_details import Details
from ..analyses.types.typed_groups import TypedGroup
from ..model.errors import shorten
from ..model.numbers import bytes_text, short_count
from ..model.profile import Function
from .advice import advice_sentences, listed
from .hints import DataText
from .names import fit
from .objects import short_label
from .text import Page, shorten_end

_MAX_LOADERS = 3
_NAME_WIDTH = 50


def data_texts(found: DataHints, page: Page) -> dict[Function, DataText]:
    """The sentences on data that follow the numbers of each hint, by its function."""
    return {
        function: DataText(
            [sentence for one in hints for sentence in _sentences(one, page, f"Data: {_name(one)}. ")],
            any(one.details.split or one.details.order or one.details.packed for one in hints),
        )
        for function, hints in found.of_hints.items()
    }


def other_data(found: DataHints, page: Page) -> list[tuple[str, list[str]]]:
    """The title and the sentences of each object that no hint has."""
    return [(_name(one), _sentences(one, page, "")) for one in found.others]


def brief_data(found: DataHints, page: Page) -> dict[Function, str]:
    """A line for each hint, by its function, on the data that loses most there."""
    return {
        function: _named("   ", hints[0], f": {_brief(hints[0].details)}", page)
        for function, hints in found.of_hints.items()
    }


def brief_others(found: DataHints, page: Page) -> list[str]:
    """A line for each object that no hint has."""
    return [
        _named("-  ", one, f": {100 * one.share:.0f}% of the loss, {_brief(one.details)}", page)
        for one in found.others
    ]


def _named(mark: str, one: ObjectHint, rest: str, page: Page) -> str:
    """A line with a mark, the object's name, shortened if need be, and the rest."""
    name = label(one.details.entry.group)
    return shorten_end(
        f"{mark}{short_label(name, page.width - len(mark) - len(rest), page)}{rest}", page.width
    )


def _name(one: ObjectHint) -> str:
    return printable(label(one.details.entry.group))


def _brief(details: Details) -> str:
    use, layout = details.entry.use, details.layout
    unused = f"{100 * use.unused / use.loaded:.0f}% of {short_count(use.loaded)} bytes unused"
    if layout is None or _used(layout) == layout.size:
        return unused
    return f"{unused}; {_used(layout)} of every {layout.size:,} are used"


def _used(layout: Layout) -> int:
    return sum(1 for byte in layout.bytes if byte.used)


def _sentences(one: ObjectHint, page: Page, start: str) -> list[str]:
    details = one.details
    use = details.entry.use
    who = _loaders(details.loaders, use.unused, page)
    sentences = [
        f"{start}Never used: {short_count(use.unused)} of {short_count(use.loaded)} bytes loaded "
        f"({100 * use.unused / use.loaded:.1f}%), {100 * one.share:.1f}% of the program's; loaded by {who}."
    ]
    if details.typed is not None and details.typed.has_use and details.typed.fields:
        sentences.append(_fields(details.typed))
    elif details.layout is not None and _used(details.layout) < details.layout.size:
        layout = details.layout
        loaded = sum(1 for byte in layout.bytes if byte.loaded)
        used = _used(layout)
        sentences.append(
            f"Bytes: of the {layout.size:,} of an element ({layout.reason}), {used:,} were used in at least one "
            f"load, {loaded - used:,} in none, {layout.size - loaded:,} never loaded."
        )
    advice = [*map(printable, advice_sentences(details))]
    if not advice and details.typed is not None and details.typed.has_use and len(details.typed.fields) > 1:
        advice.append(
            f"No other layout of {printable(shorten(details.typed.type.name))} would load much less: what matters "
            "is how much of it is used, and the order of the elements."
        )
    return sentences + advice


def _loaders(who: tuple[Loader, ...], unused: int, page: Page) -> str:
    texts = [
        f"{_place(one)}{fit(page.name(one.function), _NAME_WIDTH)} "
        f"({100 * one.use.unused / unused:.0f}%)"
        for one in who[:_MAX_LOADERS] if one.use.unused
    ]
    more = sum(1 for one in who if one.use.unused) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _place(one: Loader) -> str:
    return f"{os.path.basename(printable(one.file))}:{one.line} " if one.line else ""


def _fields(typed: TypedGroup) -> str:
    fields = [field for field in typed.fields if field.type]
    used = sorted((field for field in fields if field.used), key=lambda field: -field.share)
    never = [shorten(field.name) for field in fields if not field.used]
    texts = [
        shorten(field.name) + ("" if field.share >= ALWAYS else f" in {100 * field.share:.1f}%")
        for field in used
    ]
    return printable(
        f"Fields of {shorten(typed.type.name)}, {bytes_text(typed.type.size)} ({typed.reason}): "
        + (f"used when loaded: {listed(texts)}" if used else "none were used")
        + (f"; never: {listed(never)}." if never else ".")
    )
