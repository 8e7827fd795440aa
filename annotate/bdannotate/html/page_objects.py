# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects as a page has them: their groups as facts; who loaded them, and which of their bytes
were used, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..analyses.objects import Layout, label, layout
from ..model.objects import Group, Objects
from ..views.json_report import Json, text
from .page_tables import Numbers
from .tables import Table, table_of_rows


def objects_of_page(objects: Objects, numbers: Numbers) -> tuple[Json, dict[str, Table]]:
    """The facts, and tables: per group its costs; per group and line of code its costs; and the
    bytes of all layouts, one after the other."""
    pictures = [layout(group) for group in objects.groups]
    return _facts(objects, pictures, numbers), _tables(objects, pictures, numbers)


def _tables(
    objects: Objects, pictures: Sequence[Layout | None], numbers: Numbers
) -> dict[str, Table]:
    costs = [f"self:{event}" for event in objects.events]
    return {
        "data": table_of_rows(costs, objects.costs()),
        "dataRows": table_of_rows(["group", "function", "file", "line", *costs], [
            (row.group, numbers.function(row.function), numbers.file(row.file), row.line, *row.cost)
            for row in objects.rows
        ]),
        "dataBytes": table_of_rows(["loaded", "used", "borders"], [
            (byte.loaded, byte.used, byte.borders)
            for picture in pictures if picture
            for byte in picture.bytes
        ]),
    }


def _facts(objects: Objects, pictures: Sequence[Layout | None], numbers: Numbers) -> Json:
    first = accumulate((picture.size if picture else 0 for picture in pictures), initial=0)
    return {
        "events": list(objects.events),
        "groups": [
            _group(group, picture, row, numbers)
            for group, picture, row in zip(objects.groups, pictures, first)
        ],
    }


def _group(group: Group, picture: Layout | None, first: int, numbers: Numbers) -> Json:
    identity, blocks = group.identity, group.blocks
    return {
        "kind": identity.kind.value,
        "label": text(label(group)),
        "object": text(identity.object),
        "size": identity.size,
        "function": numbers.function(identity.function) if identity.function else None,
        "places": [
            [numbers.function(place.function), numbers.file(place.file), place.line]
            for place in identity.places
        ],
        "blocks": {
            "number": blocks.number, "bytes": blocks.bytes, "freed": blocks.freed,
            "mostAlive": blocks.most_alive, "smallest": blocks.smallest, "largest": blocks.largest,
        } if blocks else None,
        "layout": {
            "size": picture.size, "reason": picture.reason, "first": first,
            "unmapped": picture.unmapped,
        } if picture else None,
    }
