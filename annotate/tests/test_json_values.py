# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON in pieces is what the library makes of the whole."""

from __future__ import annotations

import json

import pytest
from bdannotate.views.json_values import Json, to_json

VALUES: list[Json] = [
    None,
    3,
    "\u20ac\n",
    [],
    [1, [2, {"a": []}]],
    {},
    {"a": 1},
    {"a": [], "b": [1], "c": [1, "two", None], "d": {"e": [1, 2]}, '"\u20ac': [[], {}]},
]


@pytest.mark.parametrize("value", VALUES, ids=json.dumps)
def test_pieces_are_the_librarys(value: Json) -> None:
    assert "".join(to_json(value)) == json.dumps(value) + "\n"


def test_an_entry_of_a_list_is_a_piece() -> None:
    pieces = list(to_json({"rows": [{"n": number} for number in range(100)]}))
    assert max(map(len, pieces)) < 15
