# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns as narrow as their values are, against plain lists."""

from array import array

import pytest
from bdannotate.model.narrow import Growing, extended, narrow, widened, zeros
from hypothesis import given
from hypothesis import strategies as some

COUNTS = some.one_of(
    some.integers(0, 3), some.integers(0, 255), some.integers(0, 70_000), some.integers(0, (1 << 64) - 1)
)


@pytest.mark.parametrize("largest, width", [
    (0, 1), (255, 1), (256, 2), (65535, 2), (65536, 4), ((1 << 32) - 1, 4), (1 << 32, 8), ((1 << 64) - 1, 8),
])
def test_as_few_bytes_as_the_largest_takes(largest, width):
    assert narrow([0, largest]).itemsize == width
    assert list(narrow([0, largest])) == [0, largest]


@given(some.lists(some.lists(COUNTS)))
def test_pieces(pieces):
    column = Growing()
    together = array("B")
    for piece in pieces:
        column.extend(piece)
        together = extended(together, narrow(piece))
    whole = [value for piece in pieces for value in piece]
    assert list(column.values) == list(together) == whole
    assert together.itemsize == column.values.itemsize == narrow(whole).itemsize


@pytest.mark.parametrize("wrong", [-1, 1 << 64])
def test_what_does_not_fit_is_a_list(wrong):
    column = Growing()
    for piece in ([1, 300], [wrong, 2], [3]):
        column.extend(piece)
    assert column.values == [1, 300, wrong, 2, 3]


@given(some.lists(some.integers(0, 255)), some.sampled_from([1, 2, 4, 8]))
def test_wider(values, width):
    found = widened(array("B", values), width)
    assert list(found) == values and found.itemsize == width
    assert list(zeros(len(values), width)) == [0] * len(values)
