# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns as a page has them, read by other code than what wrote them."""

import zlib
from array import array

import pytest
from bdannotate.html.tables import Form, Table, packed
from bdannotate.html.whole_sums import rest_of_sum
from html_pages import values_of
from hypothesis import given
from hypothesis import strategies as some

COUNTS = some.one_of(some.just(0), some.integers(0, 300), some.integers(0, 70_000), some.integers(0, (1 << 64) - 1))


def read(values, form=Form.PLAIN):
    table = packed(Table(len(values), {"calls": values}, forms={"calls": form}))
    data = zlib.decompress(table.columns["calls"])
    return data, list(values_of(data, len(values)))


def forms_of(table):
    return {name: Form(zlib.decompress(data)[2]) for name, data in table.columns.items()}


def columns_of(table, parts=None):
    """All of a packed table."""
    data = [zlib.decompress(one) for one in table.columns.values()]

    def column(number):
        return values_of(data[number], table.rows, column, lambda: parts(names[number]))

    names = list(table.columns)
    return {name: list(column(number)) for number, name in enumerate(names)}


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


@given(some.data())
def test_sums_of_whole_columns_are_those_of_their_rows(data):
    rows = data.draw(some.integers(1, 9))

    def column(codes):
        code = data.draw(some.sampled_from(codes))
        most = min((1 << 8 * array(code).itemsize) - 1, 1 << 53)
        least_or_most = some.sampled_from([0, most])
        return array(code, data.draw(some.lists(least_or_most | some.integers(0, most), min_size=rows, max_size=rows)))

    weights = data.draw(some.lists(some.integers(-1 << 15, 1 << 15), min_size=1, max_size=3))
    parts = [(column("BHI"), weight) for weight in weights]
    expected = [sum(weight * part[row] for part, weight in parts) for row in range(rows)]
    values = column("BHIQ")
    if data.draw(some.booleans()) and 0 <= min(expected) and max(expected) < 1 << 32:
        values = array("I", expected)
    left = [value - one for value, one in zip(values, expected)]
    found = rest_of_sum(values, parts)
    assert (found is None) == (not any(left))
    assert found is None or list(found) == left


def test_what_is_below_0_and_beyond_64_bits():
    assert read([-5, 3])[1] == [0, 3]
    assert read([-5, 1 << 64, 1])[1] == [0, 2.0 ** 64, 1]
    assert read([])[1] == []


def test_addresses_that_rise_take_a_byte_each():
    data, values = read([0x400000 + 3 * row for row in range(1000)], Form.STEPS)
    assert values[999] == 0x400000 + 2997
    assert len(zlib.compress(data)) < 60


# What few rows have, and what many have, so that there are equal values; and what a page does not add up exactly.
MIXED = some.one_of(some.just(0), some.integers(0, 3), some.integers(0, 90_000), some.integers((1 << 53) - 2, 1 << 53))
EVENTS = (
    "Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "AcCost1", "SpLoss1", "EvLine1", "UsByte1", "Access1",
    "EvLineD1", "UsByteD1", "TEst",
)


@given(some.data())
def test_any_table_is_read_as_it_was(data):
    rows = data.draw(some.integers(0, 200))
    names = ["frame", "calls", *(f"{kind}:{event}" for kind in ("self", "before:self", "incl") for event in EVENTS)]
    columns = {name: [0] * rows for name in names}
    for name in data.draw(some.sets(some.sampled_from(names))):
        columns[name] = data.draw(some.lists(MIXED, min_size=rows, max_size=rows))
    assert columns_of(packed(Table(rows, columns))) == columns


def lines_of_cache(rows=100):
    """Lines that were loaded, of 64 bytes, and what was used of them."""
    columns = {f"self:{event}": [0] * rows for event in EVENTS}
    for row in range(0, rows, 2):
        columns["self:I1mr"][row], columns["self:D1mr"][row], columns["self:D1mw"][row] = row % 5, row % 7, row % 3
        lines = columns["self:EvLine1"][row] = row % 5 + row % 7 + row % 3
        columns["self:SpLoss1"][row] = lines * 64 - lines * 9
        columns["self:UsByte1"][row] = lines * 9
        columns["self:Access1"][row] = lines * 3
    return columns


def test_what_others_tell_is_not_written():
    columns = lines_of_cache()
    table = packed(Table(100, columns))
    forms = forms_of(table)
    assert (forms["self:EvLine1"], forms["self:UsByte1"]) == (Form.SUM, Form.SUM)
    assert (forms["self:SpLoss1"], forms["self:Access1"]) == (Form.ORDERED, Form.ORDERED)
    assert len(table.columns["self:UsByte1"]) < 40
    assert columns_of(table) == columns


def test_lines_that_are_not_the_sum_of_misses_stand_in_the_rest():
    columns = lines_of_cache()
    columns["self:EvLine1"][4] -= 3
    columns["self:EvLine1"][5] += 1
    table = packed(Table(100, columns))
    assert forms_of(table)["self:EvLine1"] == Form.SUM
    assert columns_of(table) == columns


def test_lines_of_another_cache_are_no_sums():
    columns = lines_of_cache()
    columns["self:EvLine1"] = [3 * row for row in range(100)]
    table = packed(Table(100, columns))
    assert forms_of(table)["self:EvLine1"] == Form.PLAIN
    assert columns_of(table) == columns


def test_what_is_read_with_a_first_picture_is_not_late():
    names = [f"self:{event}" for event in EVENTS]
    table = packed(Table(100, lines_of_cache(), frozenset(names) - {"self:SpLoss1"}))
    needed = {f"self:{event}" for event in ("SpLoss1", "EvLine1", "I1mr", "D1mr", "D1mw", "Ir")}
    assert set(names) - table.late <= needed
    assert {"self:SpLoss1", "self:EvLine1", "self:I1mr", "self:D1mr", "self:D1mw"} <= set(names) - table.late


PAIRS = some.lists(some.tuples(some.integers(0, 5), some.integers(0, 5)), max_size=40)


@given(PAIRS, some.lists(COUNTS, min_size=40, max_size=40))
def test_sums_of_rows_of_another_table(pairs, counts):
    keys = list(dict.fromkeys(pairs))
    sums = [sum(count for pair, count in zip(pairs, counts) if pair == key) for key in keys]
    parts = Table(len(pairs), {
        "caller": [one for one, _ in pairs], "callee": [other for _, other in pairs], "incl:Ir": counts[: len(pairs)],
    })
    columns = {"caller": [one for one, _ in keys], "callee": [other for _, other in keys], "incl:Ir": sums}
    table = packed(Table(len(keys), columns), parts, ("caller", "callee"))
    found = columns_of(table, lambda name: sums)
    assert found == {**columns, "incl:Ir": [float(one) for one in sums] if max(sums, default=0) >> 64 else sums}
    is_exact = max([*sums, *counts[: len(pairs)]], default=0) < 1 << 53
    # Of nothing there are no parts: the page has no table of them then.
    assert (forms_of(table)["incl:Ir"] == Form.GROUPED) == (is_exact and bool(sums))
    if sums:
        other = packed(Table(len(keys), {**columns, "incl:Ir": [sums[0] + 1, *sums[1:]]}), parts, ("caller", "callee"))
        assert forms_of(other)["incl:Ir"] != Form.GROUPED
