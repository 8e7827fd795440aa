# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other, as a page has them."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.data.core_loads import CoreLoadsReport
from ..analyses.data.last_level import LastLevelReport
from ..analyses.data.sharing import CoreBytes, SharedData, SharingReport
from ..model.objects import Identity, ObjectGroup
from ..model.profile import Function
from ..views.core_loads import again_text, data_label, touch_summary, touch_text
from ..views.cores import runs
from ..views.json_values import text
from ..views.last_level import EXPLANATION, LAST_LEVEL_HEADS, conflict_text, last_level_row
from ..views.names import Names
from ..views.sharing import KINDS, brief_sharing, core_label, core_name, data_name
from ..views.text import Page
from . import schema
from .numbers import Numbers

_MOST_DATA = 100
_MOST_PLACES = 4


def sharing_for_page(
    found: SharingReport, groups: Sequence[ObjectGroup], instructions: int, functions: Sequence[Function],
    numbers: Numbers,
) -> schema.Sharing:
    """groups: those of the page's data. instructions: how many the run executed."""
    # Nothing is to be cut or wrapped: the page does that.
    page = Page(width=1 << 20, names=Names(functions))
    number_of = {group.identity: number for number, group in enumerate(groups)}
    return {
        "line": found.line,
        "cost": found.cost * 1e-9,
        "transfers": found.transfers,
        "rest": found.rest,
        "more": max(len(found.data) - _MOST_DATA, 0),
        "says": text(brief_sharing(found, instructions, page, with_option=False) or ""),
        "data": [_data(data, found, number_of, page, numbers) for data in found.data[:_MOST_DATA]],
        "loads": None if found.loads is None else _loads(found.loads, found, number_of, page),
        "lastLevel": None if found.last_level is None else _last_level(found.last_level, found),
    }


def _last_level(last: LastLevelReport, found: SharingReport) -> schema.LastLevel:
    return {
        "heads": [*LAST_LEVEL_HEADS],
        "rows": [
            (core_label(one.core, found), [*last_level_row(one, found, lambda number: f"{number:,}")])
            for one in last.cores
        ],
        "says": [conflict_text(one, found) for one in last.conflicts],
        "key": EXPLANATION,
    }


def _loads(
    loads: CoreLoadsReport, found: SharingReport, number_of: dict[Identity, int], page: Page
) -> schema.CoreLoads:
    def about(group: ObjectGroup | None, says: str) -> schema.LoadedData:
        return {
            "label": text(data_label(group, page)),
            "group": None if group is None else number_of.get(group.identity),
            "says": text(says),
        }

    return {
        "says": touch_summary(loads),
        "touches": [about(one.group, touch_text(one, found, page)) for one in loads.touches[:_MOST_DATA]],
        "again": [about(one.group, again_text(one, found.line, page)) for one in loads.again[:_MOST_DATA]],
        "more": (max(len(loads.touches) - _MOST_DATA, 0), max(len(loads.again) - _MOST_DATA, 0)),
    }


def _data(
    data: SharedData, found: SharingReport, number_of: dict[Identity, int], page: Page, numbers: Numbers
) -> schema.SharedData:
    return {
        "label": text(data_name(data, page, page.width)),
        "group": None if data.group is None else number_of.get(data.group.identity),
        "lines": len(data.lines),
        "kind": KINDS[data.kind],
        "transfers": data.transfers,
        "after": data.after,
        "atomics": data.atomics,
        "cores": [_core(core, found, numbers) for core in data.cores],
    }


def _core(core: CoreBytes, found: SharingReport, numbers: Numbers) -> schema.SharingCore:
    return {
        "name": core_name(core, found),
        "read": runs(core.read & ~core.written),
        "written": runs(core.written),
        "fieldsRead": list(map(text, core.fields_read)),
        "fieldsWritten": list(map(text, core.fields_written)),
        "transfers": core.transfers,
        "places": [
            (numbers.function(place.function), numbers.file(place.file), place.line)
            for place in core.places[:_MOST_PLACES]
        ],
    }
