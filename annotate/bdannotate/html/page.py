# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the data into the page that annotate/web builds."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterator

from ..model.errors import UserError
from .page_data import PageData
from .tables import deflated

_TEMPLATE = os.path.join(os.path.dirname(__file__), "report.html")
_TITLE = "<title></title>"
_DATA = "<!-- data -->"


def page(data: PageData, title: str) -> Iterator[str]:
    """Yields the page in pieces. All data is in base64, so that no name can be taken for markup. UserError if the
    template cannot be read."""
    try:
        with open(_TEMPLATE, encoding="utf-8") as file:
            template = file.read()
    except OSError as error:
        raise UserError(f"{_TEMPLATE}: {error.strerror}: is the installation of bd_annotate complete?") from None
    before, _, after = template.partition(_DATA)
    yield before.replace(_TITLE, f"<title>{html.escape(title)}</title>", 1)
    yield _block("facts", _json(data.facts))
    yield from _columns(data, late=False)
    if data.sources is not None:
        yield _block("sources", _json(data.sources))
    yield from _columns(data, late=True)
    yield after


def _columns(data: PageData, late: bool) -> Iterator[str]:
    for name, table in data.tables.items():
        for number, (column, packed) in enumerate(table.columns.items()):
            if (column in table.late) == late:
                yield _block(f"table-{name}-{number}", packed)


def _json(data: object) -> bytes:
    return deflated(json.dumps(data).encode("ascii"))


def _block(name: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return f'<script type="application/octet-stream" id="{name}">{text}</script>\n'
