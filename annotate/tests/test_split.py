# SPDX-License-Identifier: GPL-2.0-or-later
"""How the fields of a type were used, and what to split."""

from bdannotate.analyses.objects import Use
from bdannotate.analyses.split import hot_cold_split
from bdannotate.analyses.types import TypedGroup, field_uses
from bdannotate.model.objects import Pattern
from bdannotate.model.types import Field, Type
from heap_groups import heap


def test_how_fields_were_used():
    # Elements of 24 bytes: a line that begins with byte 16 of one has the next one, and 24 bytes of a third.
    kind = Type("Vec", 24, (Field("x", "double", 0, 8), Field("n", "int", 8, 4), Field("y", "double", 16, 8)))
    group = heap([], (2400, 2400, 24), patterns=[
        Pattern(0, 24, 0x0000FF, 5),  # x
        Pattern(40, 32, 0x1, 3),  # the first byte is of y
        Pattern(48, 24, 0x001000, 2),  # the gap
    ])
    assert [(use.name, use.offset, use.size, use.loaded, use.used) for use in field_uses(kind, group)] == [
        ("x", 0, 8, 10, 5), ("n", 8, 4, 10, 0), ("(padding)", 12, 4, 10, 2), ("y", 16, 8, 13, 3),
    ]


def test_gaps_at_the_end_and_of_virtual_bases():
    kind = Type("D", 16, (Field("own", "int", 8, 4),), has_virtual_bases=True)
    names = [(use.name, use.offset, use.size) for use in field_uses(kind, heap([], (16, 16, 16)))]
    assert names == [("(padding, virtual bases)", 0, 8), ("own", 8, 4), ("(padding, virtual bases)", 12, 4)]


def split(fields, patterns, loaded, size):
    """fields: (name, offset, size)."""
    kind = Type("Vec", size, tuple(Field(name, "int", *where) for name, *where in fields))
    group = heap([], (10 * size, 10 * size, size), patterns=patterns)
    typed = TypedGroup(kind, "", field_uses(kind, group), True)
    return hot_cold_split(typed, group, Use(loaded, 0, 0, 0, 0))


def test_fields_that_are_never_used_are_split_off():
    # 64 bytes in a line: 8 of them used in 10 loads, 40 times as many lines as in the patterns.
    found = split([("x", 0, 8), ("rest", 8, 56)], [Pattern(0, 64, 0xFF, 10)], 40 * 640, 64)
    assert [(part.fields[0].name, part.size) for part in (found.hot, found.cold)] == [("x", 8), ("rest", 56)]
    assert (found.hot.loads, found.cold.loads) == (10, 0)
    # In order, the 8 bytes 10 times; else a line each.
    assert (found.now, found.in_order, found.scattered) == (25600, 40 * 80, 25600)


def test_fields_that_are_used_as_often_stay_together():
    all_used = [Pattern(0, 64, (1 << 64) - 1, 10)]
    assert split([("x", 0, 8), ("rest", 8, 56)], all_used, 640, 64) is None


def test_rarely_used_fields_cost_what_they_are_used():
    patterns = [Pattern(0, 64, 0xFF, 9), Pattern(0, 64, 0xFFFF, 1)]
    found = split([("x", 0, 8), ("y", 8, 8), ("rest", 16, 48)], patterns, 640, 64)
    assert [field.name for field in found.hot.fields] == ["x"]
    assert found.in_order == 10 * 8 + 1 * 56
    assert found.scattered == 10 * 64 + 1 * (64 + 48)


def test_a_type_whose_order_is_at_fault_is_not_split():
    # Of each line with 4 elements of 16 bytes, the first 12 bytes of one.
    fields = [("x", 0, 8), ("y", 8, 4), ("z", 12, 4)]
    assert split(fields, [Pattern(0, 64, 0xFFF, 10)], 640, 16) is None


def test_what_shares_bytes_is_not_split():
    union = [("whole", 0, 64), ("part", 0, 8)]
    assert split(union, [Pattern(0, 64, 0xFF, 10)], 640, 64) is None


def test_single_elements_are_not_split():
    kind = Type("Vec", 64, (Field("x", "int", 0, 8), Field("rest", "int", 8, 56)))
    group = heap([], (64, 64, 64), patterns=[Pattern(0, 64, 0xFF, 10)])
    typed = TypedGroup(kind, "", field_uses(kind, group), True)
    assert hot_cold_split(typed, group, Use(640, 0, 0, 0, 0)) is None


def test_nothing_is_split_without_patterns_or_fields():
    assert split([("x", 0, 8), ("y", 8, 8)], [], 640, 16) is None
    assert split([], [Pattern(0, 64, 0xFF, 10)], 640, 64) is None
