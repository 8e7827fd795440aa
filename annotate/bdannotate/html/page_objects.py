# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects on a page: their groups (facts), and which code loaded them and which of their bytes were used
(tables)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from ..analyses.comparison.object_diff import ObjectChange, ObjectChanges
from ..analyses.data.layout import ALWAYS, Layout, layout
from ..analyses.data.object_labels import label
from ..analyses.data.sharing import SharedData, SharingReport
from ..analyses.types.object_details import Details
from ..analyses.types.shared_bytes import shared_bytes
from ..analyses.types.shared_fields import fields_of, shared_fields
from ..model.metrics import Metric
from ..model.objects import CodeLine, Identity, ObjectGroup, Objects
from ..views.advice import advice_sentences
from ..views.byte_users import letter_of, users_title
from ..views.cores import runs, uses_text
from ..views.json_values import text
from ..views.picture import sample_sentence
from . import schema
from .numbers import Numbers
from .tables import Table, table_of_rows


@dataclass(frozen=True, slots=True)
class PageObjects:
    objects: Objects
    details: Sequence[Details]  # of some groups
    changes: ObjectChanges | None = None  # since the profile before, if two are compared
    sharing: SharingReport | None = None  # None: not known
    shared: Sequence[Details] = ()  # of groups besides whose lines cores take from each other


# The first set whose events are known is shown: that of data alone, if the profile separates it from code.
_COLUMNS = (
    ("LoadedD1", "SpLossD1", "UnusedD1", "AccLineD1", "D1m", "DLm"),
    ("Loaded1", "SpLoss1", "Unused1", "AccLine1", "D1m", "LLm"),
)


def data_columns(
    metrics: Mapping[str, Metric], events: Sequence[str], of_data: Container[str]
) -> list[str]:
    """The metrics that the page shows for data: those whose events data has (of_data). The loss comes second."""
    def is_known(name: str) -> bool:
        metric = metrics.get(name)
        rows = () if metric is None else (metric.numerator, metric.denominator or ())
        return metric is not None and all(
            event in of_data for row in rows for event, weight in zip(events, row) if weight
        )

    known = next((names for names in _COLUMNS if all(map(is_known, names[:3]))), _COLUMNS[1])
    return [name for name in known if is_known(name)]


def objects_for_page(
    found: PageObjects, columns: Sequence[str], numbers: Numbers
) -> tuple[schema.Data, dict[str, Table]]:
    """The facts and the tables: the costs of each group; the costs of each group by line of code; and the bytes of all
    layouts, one after the other."""
    of_group = {one.entry.group.identity: one for one in (*found.shared, *found.details)}
    groups = list(found.objects.groups)
    details = [of_group.get(group.identity) for group in groups]
    if found.changes is not None:
        # The groups of the profile after come first, in the same order, but with names that are unique among all
        # groups; then those that are gone.
        groups = [change.group for change in found.changes.changes]
        details += [None] * (len(groups) - len(details))
    line = found.objects.line_bytes
    pictures = [one.layout if one else layout(group, line) for group, one in zip(groups, details)]
    facts = _facts(found, columns, groups, details, pictures, numbers)
    return facts, _tables(found, pictures, numbers)


def _tables(
    found: PageObjects, pictures: Sequence[Layout | None], numbers: Numbers
) -> dict[str, Table]:
    objects, changes = found.objects, found.changes
    costs = [f"self:{event}" for event in objects.events]
    return {
        "data": table_of_rows(costs, objects.costs()) if changes is None else _changes(changes),
        "dataRows": _rows(objects, costs, numbers),
        "dataBytes": table_of_rows(["loaded", "used", "borders"], [
            (byte.loaded, byte.used, byte.borders)
            for picture in pictures if picture
            for byte in picture.bytes
        ]),
    }


def _rows(objects: Objects, costs: Sequence[str], numbers: Numbers) -> Table:
    """The costs of groups by line of code. costs: the names of the cost columns."""
    group, function, file, line, *counts = objects.columns()
    places = [(numbers.function(one), numbers.file(other)) for one, other in zip(function, file)]
    functions, files = zip(*places) if places else ((), ())
    # All columns are tuples, so that two tables can be compared.
    columns = [tuple(group), functions, files, tuple(line), *map(tuple, counts)]
    return Table(len(places), dict(zip(["group", "function", "file", "line", *costs], columns)))


def _changes(found: ObjectChanges) -> Table:
    zero = (0,) * len(found.events)
    names = [f"{side}self:{event}" for side in ("", "before:") for event in found.events]
    return table_of_rows(names, [
        (*(change.after or zero), *(change.before or zero)) for change in found.changes
    ])


def _facts(
    found: PageObjects, columns: Sequence[str], groups: Sequence[ObjectGroup], details: Sequence[Details | None],
    pictures: Sequence[Layout | None], numbers: Numbers,
) -> schema.Data:
    first = accumulate((picture.size if picture else 0 for picture in pictures), initial=0)
    changes = found.changes
    users = _Users(found.sharing)
    return {
        "always": ALWAYS,
        "columns": [text(name) for name in columns],
        "sample": sample_sentence(found.objects.one_in),
        "events": list(changes.events if changes else found.objects.events),
        "groups": [
            _group(
                group, picture, row, users.of_bytes(group, picture, one),
                _type(one, users.of_fields(group, one), numbers) if one else None, numbers,
            )
            for group, one, picture, row in zip(groups, details, pictures, first)
        ],
        "userTitle": users.title,
        "changes": [_state(change) for change in changes.changes] if changes else [],
    }


def _state(change: ObjectChange) -> Literal["new", "gone"] | None:
    return "new" if change.before is None else "gone" if change.after is None else None


class _Users:
    """Which cores use which bytes and fields of data, in lines that they take from each other."""

    def __init__(self, sharing: SharingReport | None) -> None:
        self.title = ""
        self._cores = 0
        self._data: dict[Identity, SharedData] = {}
        if sharing is not None:
            self.title = users_title(sharing.cores)
            self._cores = sharing.cores
            self._data = {one.group.identity: one for one in sharing.data if one.group is not None}

    def of_bytes(
        self, group: ObjectGroup, picture: Layout | None, details: Details | None
    ) -> list[schema.BytesUsed]:
        data = self._data.get(group.identity)
        if data is None or picture is None:
            return []
        typed = details.typed if details else None
        return [
            {
                "letter": letter_of(number),
                "bytes": runs(sum(1 << byte for byte in use.bytes)),
                "fields": [text(name) for name in fields_of(use.bytes, typed)] if typed else [],
                "isWritten": bool(use.written),
                "by": uses_text(use.read, use.written, use.apart, self._cores),
            }
            for number, use in enumerate(shared_bytes(data, picture.size, typed))
        ]

    def of_fields(self, group: ObjectGroup, details: Details | None) -> list[str]:
        """For each field by which cores, or nothing; nothing for gaps, which have no names of their own. Empty if it is
        not known of any."""
        data = self._data.get(group.identity)
        if data is None or details is None or details.typed is None:
            return []
        by = {
            one.name: uses_text(one.only_read, one.written, one.apart, self._cores)
            for one in shared_fields(data, details.typed)
        }
        return [by.get(field.name, "") if field.type else "" for field in details.typed.fields] if by else []


def _type(details: Details, users: list[str], numbers: Numbers) -> schema.DataType | None:
    typed, split = details.typed, details.split
    if typed is None:
        return None
    known = {(field.name, field.offset): number for number, field in enumerate(typed.fields)}
    return {
        "name": text(typed.type.name),
        "size": typed.type.size,
        "reason": text(typed.reason),
        "hasUse": typed.has_use,
        "fields": [
            (text(field.name), text(field.type), field.offset, field.size, field.loaded, field.used)
            for field in typed.fields
        ],
        "uses": [
            (_place(use.by, numbers), use.parts, [
                (known[field.name, field.offset], field.loaded, field.used) for field in use.fields
            ])
            for use in (details.uses if typed.fields else ())
        ],
        "parts": [
            [known[field.name, field.offset] for field in part.fields] for part in split.parts
        ] if split else [],
        "advice": [text(sentence) for sentence in advice_sentences(details)],
        "users": users,
    }


def _place(place: CodeLine, numbers: Numbers) -> schema.Place:
    return numbers.function(place.function), numbers.file(place.file), place.line


def _group(
    group: ObjectGroup, picture: Layout | None, first: int, users: list[schema.BytesUsed],
    found: schema.DataType | None, numbers: Numbers,
) -> schema.DataGroup:
    identity, blocks = group.identity, group.blocks
    return {
        "kind": identity.kind.value,
        "label": text(label(group)),
        "object": text(identity.object),
        "size": identity.size,
        "function": numbers.function(identity.function) if identity.function else None,
        "places": [_place(place, numbers) for place in identity.places],
        "blocks": {
            "number": blocks.number, "bytes": blocks.bytes, "freed": blocks.freed,
            "mostAlive": blocks.most_alive, "smallest": blocks.smallest, "largest": blocks.largest,
        } if blocks else None,
        "layout": {
            "size": picture.size, "reason": picture.reason, "first": first,
            "unmapped": picture.unmapped, "knowsBorders": picture.knows_borders,
            "loads": picture.loads, "cut": picture.cut, "users": users,
        } if picture else None,
        "type": found,
    }
