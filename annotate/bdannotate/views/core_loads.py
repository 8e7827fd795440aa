# SPDX-License-Identifier: GPL-2.0-or-later
"""What several cores load, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..analyses.data.core_loads import CoreLoadsReport, FirstTouch, LoadedAgain
from ..analyses.data.object_labels import label
from ..analyses.data.sharing import SharingReport
from ..model.numbers import short_count
from ..model.objects import CodeLine, ObjectGroup
from .json_values import Json, text
from .objects import short_label
from .sharing import core_label, place_label
from .text import Page, hanging

TOUCHES_TITLE = "Pages that one core touches first, and others load"
AGAIN_TITLE = "Lines that several cores load"
_LONGEST_NAME = 48
_MOST_CORES = 4
_MOST_PLACES = 2
_NOTABLE = 0.01  # the minimum share of a row that is shown without --limit=all


def touch_lines(found: CoreLoadsReport, sharing: SharingReport, limit: int | None, page: Page) -> list[str]:
    """Pages by who touched them first, as lines. limit: the maximum number of rows; None: all, however small."""
    lines = hanging(touch_summary(found), "", page)
    shown, rest = _shown(found.touches, [touch.of_others for touch in found.touches], limit)
    for touch in shown:
        told = f"{data_label(touch.group, page)}: {touch_text(touch, sharing, page)}"
        lines += ["", *hanging(told, "", page)]
    return lines + _more(len(found.touches) - len(shown), rest, "misses by others")


def again_lines(found: CoreLoadsReport, limit: int | None, page: Page) -> list[str]:
    """Data whose lines several cores load, as lines. limit: the maximum number of rows; None: all, however small."""
    shown, rest = _shown(found.again, [one.loads for one in found.again], limit)
    told = [f"{data_label(one.group, page)}: {again_text(one, found.line, page)}" for one in shown]
    lines = [line for one in told for line in hanging(one, "", page)]
    return lines + _more(len(found.again) - len(shown), rest, "loads")


_Row = TypeVar("_Row")


def _shown(rows: Sequence[_Row], counts: Sequence[int], limit: int | None) -> tuple[Sequence[_Row], int]:
    """The first rows that have a notable share of all, and what the others have. counts: in descending order."""
    number = len(rows)
    if limit is not None:
        number = min(limit, sum(count >= _NOTABLE * sum(counts) for count in counts))
    return rows[:number], sum(counts[number:])


def _more(hidden: int, count: int, what: str) -> list[str]:
    return ["", f"{hidden:,} more, with {count:,} {what}: --limit=all"] if hidden else []


def touch_summary(found: CoreLoadsReport) -> str:
    """A sentence on all pages."""
    return (
        f"{_share(found.of_others, found.misses)} misses of the last level are in pages that another core touched "
        f"first, of {found.pages:,} pages of {found.page:,} bytes."
    )


def touch_text(touch: FirstTouch, sharing: SharingReport, page: Page) -> str:
    """What there is to say of pages of some data."""
    name = core_label(touch.core, sharing)
    where = "" if touch.place is None else f" in {place_label(touch.place, page)}"
    others = [
        f"{core_label(core, sharing)} {100 * count / touch.total:.0f}%"
        for core, count in touch.misses if core != touch.core
    ]
    more = f" and {len(others) - _MOST_CORES} more" if len(others) > _MOST_CORES else ""
    advice = "; initialise in parallel" if touch.is_better_spread else ""
    return (
        f"{_number(touch.pages, 'page')}, first touched by {name}{where}; "
        f"{_share(touch.of_others, touch.total)} misses of the last level there are by others: "
        f"{', '.join(others[:_MOST_CORES])}{more}{advice}"
    )


def again_text(one: LoadedAgain, line: int, page: Page) -> str:
    """What there is to say of data whose lines several cores load. line: bytes of a line."""
    places = ", ".join(place_label(place, page) for place in one.places[:_MOST_PLACES])
    return (
        f"{_number(one.lines, 'line')}, loaded {_number(one.loads, 'more time')}, "
        f"{short_count(one.loads * line)} bytes{f'; {places}' if places else ''}"
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / whole if whole else 0:.0f}%)"


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def data_label(group: ObjectGroup | None, page: Page) -> str:
    """The name of some data."""
    return "data" if group is None else short_label(label(group), _LONGEST_NAME, page)


def loads_json(found: CoreLoadsReport | None) -> dict[str, Json]:
    """The members of the JSON of sharing; none if they are not recorded."""
    if found is None:
        return {}
    return {
        "first_touch": {
            "page": found.page, "pages": found.pages, "misses": found.misses, "of_others": found.of_others,
            "data": [
                {
                    "object": _object(touch.group), "core": touch.core, "place": _place(touch.place),
                    "pages": touch.pages, "misses": [{"core": core, "misses": count} for core, count in touch.misses],
                    "spread": touch.is_better_spread,
                }
                for touch in found.touches
            ],
        },
        "loaded_again": [
            {
                "object": _object(one.group), "lines": one.lines, "loads": one.loads,
                "bytes": one.loads * found.line, "places": [_place(place) for place in one.places],
            }
            for one in found.again
        ],
    }


def _object(group: ObjectGroup | None) -> Json:
    return None if group is None else text(label(group))


def _place(place: CodeLine | None) -> Json:
    if place is None:
        return None
    return {"function": text(place.function.name), "file": text(place.file), "line": place.line}
