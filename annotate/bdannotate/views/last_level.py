# SPDX-License-Identifier: GPL-2.0-or-later
"""How cores share the last level, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable

from ..analyses.data.last_level import Conflict, CoreInLastLevel, LastLevelReport
from ..analyses.data.sharing import SharingReport
from ..model.numbers import short_count
from .cores import core_table
from .json_values import Json
from .sharing import core_label
from .text import Page, hanging

LAST_LEVEL_TITLE = "How cores share the last level"
LAST_LEVEL_HEADS = ("holds", "loaded", "driven out", "by others", "again", "most by")
EXPLANATION = (
    "Holds: the mean share of the last level, over all loads of a line. By others: of the lines driven out, those that "
    "another core drove out. Again: of these, those that the core was the next to load."
)
_MOST_CONFLICTS = 4


def last_level_lines(found: LastLevelReport, sharing: SharingReport, limit: int | None, page: Page) -> list[str]:
    """The last level by core, as lines. limit: if not None, few conflicts are named."""
    names = [core_label(one.core, sharing) for one in found.cores]

    def table(number: Callable[[int], str]) -> list[str]:
        return core_table(names, LAST_LEVEL_HEADS, [last_level_row(one, sharing, number) for one in found.cores])

    lines = table(lambda number: f"{number:,}")
    if max(map(len, lines)) > page.width:
        lines = table(short_count)
    conflicts = found.conflicts if limit is None else found.conflicts[:_MOST_CONFLICTS]
    told = [line for one in conflicts for line in hanging(conflict_text(one, sharing), "", page)]
    return [*lines, "", *(told + [""] if told else []), *hanging(EXPLANATION, "", page)]


def last_level_row(one: CoreInLastLevel, sharing: SharingReport, number: Callable[[int], str]) -> tuple[str, ...]:
    """A value for each of LAST_LEVEL_HEADS."""
    most = ""
    if one.most_by is not None:
        core, lines = one.most_by
        most = f"{core_label(core, sharing)}, {100 * lines / one.driven_out:.0f}%"
    return (
        f"{100 * one.share:.1f}%", number(one.loaded), number(one.driven_out), number(one.by_others),
        number(one.again), most,
    )


def conflict_text(one: Conflict, sharing: SharingReport) -> str:
    """A sentence."""
    name = core_label(one.evictor, sharing)
    other = core_label(one.core, sharing)
    return (
        f"{name[0].upper()}{name[1:]} drives out {100 * one.lines / one.lost:.0f}% of the lines of {other} that leave "
        f"the last level; {other} loads {one.again:,} of these {one.lines:,} again."
    )


def last_level_json(found: LastLevelReport | None) -> dict[str, Json]:
    """The member of the JSON of sharing; none if it is not recorded."""
    if found is None:
        return {}
    return {
        "last_level": {
            "lines": found.lines, "loaded": found.loaded,
            "cores": [
                {
                    "core": one.core, "loaded": one.loaded, "share": one.share, "driven_out": one.driven_out,
                    "by_others": one.by_others, "again": one.again,
                }
                for one in found.cores
            ],
            "evictions": [
                {"evictor": one.evictor, "core": one.core, "lines": one.lines, "again": one.again}
                for one in found.evictions
            ],
        }
    }
