# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that are kept as columns are those that were given."""

import pickle
from array import array
from typing import NamedTuple

from bdannotate.model.code import Code, Instructions, instruction_rows
from bdannotate.model.profile import Function, InstructionCost, Place
from bdannotate.model.rows import CountRows, RowColumns, Rows, TableColumns
from bdannotate.reading.fields import cost_row, some_costs
from hypothesis import given
from hypothesis import strategies as some


class Pair(NamedTuple):
    name: str
    count: int


ROWS = some.lists(some.builds(Pair, some.text(max_size=2), some.integers(0, 9)))
INDICES = some.none() | some.integers(-7, 7)


@given(ROWS, INDICES, INDICES, some.none() | some.integers(-3, 3).filter(bool))
def test_they_are_a_sequence_of_tuples(rows, start, stop, step):
    made = Rows.of(Pair, rows)
    assert made == rows and list(made) == rows and len(made) == len(rows) and bool(made) == bool(rows)
    assert all(type(row) is Pair for row in made)
    assert [made[number] for number in range(-len(rows), len(rows))] == rows + rows
    part = made[start:stop:step]
    assert part == rows[start:stop:step] and len(part) == len(rows[start:stop:step])
    assert part[start:stop] == rows[start:stop:step][start:stop]
    assert made != [*rows, Pair("more", 1)]


@given(some.lists(some.none() | some.builds(Pair, some.text(max_size=2), some.integers(0, 9))))
def test_some_may_be_missing(rows):
    found = pickle.loads(pickle.dumps(RowColumns(Pair, rows))).rows()
    assert found == tuple(rows) and all(row is None or type(row) is Pair for row in found)


@given(ROWS, some.data())
def test_a_table_is_the_same_in_the_same_order(keys, data):
    table = {key: data.draw(some.builds(Pair, some.text(max_size=2), some.integers())) for key in keys}
    found = pickle.loads(pickle.dumps(TableColumns(Pair, Pair, table))).table()
    assert list(found.items()) == list(table.items())
    assert all(type(row) is Pair for item in found.items() for row in item)


def test_a_part_has_columns_of_its_own():
    part = Rows(Pair, (["a", "b", "c"], array("B", [1, 2, 3])))[1:]
    assert [list(column) for column in part.columns] == [["b", "c"], [2, 3]]


PLACE = Place(Function("prog", "a.c", "f"), "a.c")


COSTS = some.integers(0, 9) | some.sampled_from(["7", "8"])


@given(some.lists(some.tuples(some.integers(0, 5), some.integers(1, 9), COSTS)))
def test_instructions_without_objects_are_those_with_objects(lines):
    code = Code()
    code.add(
        [address for address, _, _ in lines], [line for _, line, _ in lines],
        [cost if isinstance(cost, str) else (cost,) for _, _, cost in lines],
    )
    sums = {}
    for address, line, cost in lines:
        sums[address] = line, int(cost) + (sums[address][1] if address in sums else 0)
    found = Instructions({PLACE: code}, lambda text: (int(text),), lambda text, columns: (int(text),))
    assert {address: (line, *cost) for address, line, cost in instruction_rows(found, PLACE)} == sums
    assert len(list(instruction_rows(found, PLACE))) == len(sums)
    objects = {PLACE: {address: InstructionCost(line, (cost,)) for address, (line, cost) in sums.items()}}
    assert found[PLACE] == objects[PLACE]
    assert {address: (line, *cost) for address, line, cost in instruction_rows(objects, PLACE)} == sums


@given(some.lists(some.tuples(some.integers(0, 255), some.integers(0, 2 ** 40)), min_size=1), INDICES, INDICES)
def test_rows_of_counts_are_those_of_their_columns(rows, start, stop):
    made = CountRows([array("B", [row[0] for row in rows]), array("Q", [row[1] for row in rows])])
    assert list(made) == rows and len(made) == len(rows) and list(made[start:stop]) == rows[start:stop]
    assert [made[number] for number in range(-len(rows), len(rows))] == rows + rows
    assert made.sums() == (sum(row[0] for row in rows), sum(row[1] for row in rows))


@given(some.lists(some.lists(some.builds(Pair, some.text(max_size=2), some.integers(0, 9)), min_size=1)))
def test_pieces_are_the_rows_in_turn(pieces):
    made = Rows.of(Pair, [row for piece in pieces for row in piece])
    assert list(made.pieces(map(len, pieces))) == pieces


@given(some.lists(some.sampled_from(["0", "7", "123456789012345678901", ".", "-5", "0x1f"]), max_size=9))
def test_some_costs_are_those_of_the_whole_row(words):
    text = " ".join(words)
    row = (*cost_row(text), 0, 0)
    columns = [len(words) + 1, *range(len(words)), 0]
    assert some_costs(text, columns) == tuple(row[column] for column in columns)
