# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns as a page has them, read by other code than what wrote them."""

import base64
import zlib
from array import array

import pytest
from bdannotate.html.tables import Form, encoded_column
from html_pages import values_of
from hypothesis import given
from hypothesis import strategies as some

COUNTS = some.one_of(some.just(0), some.integers(0, 300), some.integers(0, 70_000), some.integers(0, (1 << 64) - 1))


def read(values, form=Form.PLAIN):
    data = zlib.decompress(base64.b64decode(encoded_column(values, form)))
    return data, list(values_of(data, len(values)))


@given(some.lists(COUNTS, max_size=300), some.sampled_from([Form.PLAIN, Form.STEPS, Form.RANKS]))
def test_any_column_is_read_as_it_was(values, form):
    assert read(values, form)[1] == values


@given(some.lists(some.integers(0, 1 << 20), max_size=200), some.integers(0, 200))
def test_with_many_zeros(values, zeros):
    mixed = [0] * zeros + values + [0] * zeros
    assert read(mixed)[1] == read(array("I", mixed))[1] == mixed


@pytest.mark.parametrize("values, form", [
    ([0] * 63, Form.PLAIN), ([0] * 64, Form.SPARSE), ([0] * 16 + [1] * 48, Form.SPARSE),
    ([0] * 15 + [1] * 49, Form.PLAIN),
])
def test_what_is_sparse(values, form):
    assert read(values)[0][2] == form


def test_what_is_below_0_and_beyond_64_bits():
    assert read([-5, 3])[1] == [0, 3]
    assert read([-5, 1 << 64, 1])[1] == [0, 2.0 ** 64, 1]
    assert read([])[1] == []


def test_addresses_that_rise_take_a_byte_each():
    data, values = read([0x400000 + 3 * row for row in range(1000)], Form.STEPS)
    assert values[999] == 0x400000 + 2997
    assert len(zlib.compress(data)) < 60
