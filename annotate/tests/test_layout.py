# SPDX-License-Identifier: GPL-2.0-or-later
"""Which bytes of an element were used, and the picture of it."""

from dataclasses import replace

import pytest
from bdannotate.analyses.data.layout import layout, typed_layout
from bdannotate.model.data_types import Field, Type
from bdannotate.model.objects import HeapBlocks, Identity, ObjectGroup, ObjectKind, Pattern
from bdannotate.views.picture import picture
from bdannotate.views.text import Page
from heap_groups import STEP as BY

ALL = (1 << 64) - 1


def heap(blocks, *patterns):
    return ObjectGroup(Identity(ObjectKind.HEAP), HeapBlocks(*blocks), patterns)


@pytest.mark.parametrize(
    ("blocks", "size"),
    [
        ((1, 40, 0, 40, 40, 40, 40, 40), 40),  # one size
        ((3, 700, 0, 0, 0, 100, 400, 100), 100),  # a vector that has grown
        ((1, 4000, 0, 0, 0, 4000, 4000, 8), 8),  # calloc
        ((1, 4000, 0, 0, 0, 4000, 4000, 4000), None),
        ((1, 4000, 0, 0, 0, 4000, 4000, 1), None),  # calloc that is asked for bytes
        ((3, 700, 0, 0, 0, 8, 400, 8), None),  # any sizes
        ((3, 700, 0, 0, 0, 16, 400, 16), 16),
    ],
)
def test_the_size_of_an_element(blocks, size):
    found = layout(heap(blocks, Pattern(0, 8, 1, 1, BY)), 64)
    assert (found and found.size) == size


def grown(*patterns):
    """A vector whose blocks were of 1,024 and of 2,048 bytes."""
    return heap((2, 3072, 1, 2048, 2048, 1024, 2048, 1024), *patterns)


def test_what_sizes_have_in_common_may_be_several_elements():
    each = [Pattern(64 * number, 64, 0xFF, 10, BY) for number in range(32)]
    now_and_then = [Pattern(64 * number, 64, 0xFFFF, 1, BY) for number in (0, 5)]
    found = layout(grown(*each, *now_and_then), 64)
    assert (found.size, [byte.used for byte in found.bytes]) == (64, 8 * [322] + 8 * [2] + 48 * [0])
    assert found.reason == "all sizes of blocks are multiples of it, and consecutive elements look the same"


@pytest.mark.parametrize("odd", [
    Pattern(64, 64, 0x80FF, 10, BY),  # one byte is used here only
    Pattern(64, 64, 0xF, 100, BY),  # some are used less often
])
def test_halves_that_differ_are_one_element(odd):
    found = layout(grown(*(Pattern(64 * number, 64, 0xFF, 10, BY) for number in range(0, 32, 2)), *(
        odd._replace(offset=64 * number) for number in range(1, 32, 2)
    )), 64)
    assert (found.size, found.reason) == (128, "all sizes of blocks are multiples of it, and consecutive elements "
                                               "look the same")


def test_a_byte_that_was_never_loaded_is_like_no_other():
    found = layout(grown(*(Pattern(128 * number, 64, ALL, 10, BY) for number in range(16))), 64)
    assert found.size == 128


def test_a_byte_is_told_of_as_one():
    byte = ObjectGroup(Identity(ObjectKind.STATIC, "flag", "prog", 1), None, (Pattern(0, 1, 1, 4, BY),))
    assert picture(layout(byte, 64), Page(80))[:2] == [
        "An element of 1 byte (the size of the variable)",
        "1 byte was used in at least one load, 0 in none, 0 never loaded",
    ]


def test_the_size_of_an_element_may_be_given():
    found = layout(heap((1, 4000, 0, 0, 0, 4000, 4000, 4000), Pattern(60, 8, 0x81, 2, BY)), 64, 20)
    assert [byte.used for byte in found.bytes] == [2] + 6 * [0] + [2] + 12 * [0]
    assert [byte.loaded for byte in found.bytes] == 8 * [2] + 12 * [0]
    assert found.bytes[0].borders == 2


def test_a_small_variable_is_an_element():
    variable = ObjectGroup(Identity(ObjectKind.STATIC, "table", "prog", 16), None, (Pattern(8, 8, 3, 4, BY),))
    found = layout(variable, 64)
    assert (found.size, found.reason) == (16, "the size of the variable")
    assert [(byte.loaded, byte.used) for byte in found.bytes] == 8 * [(0, 0)] + 2 * [(4, 4)] + 6 * [(4, 0)]
    assert layout(ObjectGroup(Identity(ObjectKind.STATIC, "table", "prog", 1025), None, variable.patterns), 64) is None


def drawn(found):
    """The rows of the picture, of 64 bytes each."""
    return [line for line in picture(found, Page(80)) if line[:5].strip().isdigit() and line[5] == " "]


def test_elements_whose_every_second_one_begins_with_a_line_have_no_place_where_one_always_begins():
    """An aligned array of 96-byte elements: lines begin at 0 and 64 of one, and at 32 of the next one."""
    patterns = [Pattern(64 * number, 64, ALL, 1, BY) for number in range(300)]
    found = layout(heap((1, 28800, 0, 0, 0, 28800, 28800, 96), *patterns), 64)
    assert [at for at, byte in enumerate(found.bytes) if byte.borders] == [0, 32, 64]
    assert drawn(found) == [
        "    0 :######## ######## ######## ########:######## ######## ######## ########",
        "   64 :######## ######## ######## ########",
    ]


def test_a_line_always_begins_where_nearly_all_loads_of_a_byte_have_it():
    elements = (1, 6400, 0, 0, 0, 6400, 6400, 64)
    found = layout(heap(elements, Pattern(0, 64, ALL, 95, BY), Pattern(32, 64, ALL, 5, BY)), 64)
    assert drawn(found) == ["    0 |######## ######## ######## ########:######## ######## ######## ########"]
    found = layout(heap(elements, Pattern(64, 64, ALL, 94, BY), Pattern(32, 64, ALL, 6, BY)), 64)
    assert drawn(found) == ["    0 :######## ######## ######## ########:######## ######## ######## ########"]


def test_where_longer_lines_begin_is_not_known():
    """Their patterns are parts of 64 bytes."""
    elements = heap((1, 12800, 0, 0, 0, 12800, 12800, 128), Pattern(0, 64, ALL, 9, BY), Pattern(64, 64, 0, 9, BY))
    found = layout(elements, 128)
    assert not found.knows_borders and not any(byte.borders for byte in found.bytes)
    assert drawn(found) == [
        "    0  ######## ######## ######## ######## ######## ######## ######## ########",
        "   64  ........ ........ ........ ........ ........ ........ ........ ........",
    ]
    assert "longer than 64 bytes" in picture(found, Page(80))[-1]


def test_a_line_may_begin_where_a_block_does():
    short = layout(heap((9, 576, 0, 0, 0, 64, 64, 64), Pattern(0, 16, 1, 9, BY), Pattern(16, 48, 1, 9, BY)), 64)
    assert [at for at, byte in enumerate(short.bytes) if byte.borders] == [16]
    assert layout(heap((9, 576, 0, 0, 0, 64, 64, 64), Pattern(0, 64, 1, 9, BY)), 64).bytes[0].borders == 9


KIND = Type("item", 16, (Field("key", "long", 0, 8), Field("flag", "bool", 8, 1)))


def test_padding_is_drawn_as_such():
    """Where it was used, as by a copy of all bytes, that is shown."""
    group = heap((9, 144, 0, 0, 0, 16, 16, 16), Pattern(0, 16, 0x01FF, 99, BY), Pattern(0, 16, 0x3FF, 1, BY))
    assert drawn(typed_layout(group, 64, KIND)) == ["    0  ######## #+------"]
    assert drawn(typed_layout(group, 64, replace(KIND, has_virtual_bases=True)))[0].endswith("......")


def test_elements_that_lie_in_two_lines_are_counted():
    """Of 24 bytes each: in a line of 64, two and the beginning of a third one, and the rest of that one."""
    group = heap((1, 2400, 0, 0, 0, 2400, 2400, 24), Pattern(0, 64, 1, 5, BY), Pattern(64, 64, 1, 3, BY))
    found = layout(group, 64)
    assert (found.loads, found.cut) == (5 * 3 + 3 * 4, 5 * 1 + 3 * 2)
    text = " ".join(picture(found, Page(80)))
    assert "In 40.7% of the loads, only part of the element was loaded: the rest lies in another line" in text


@pytest.mark.parametrize(("size", "line", "pattern"), [
    (80, 64, Pattern(0, 64, 1, 5, BY)),  # there is no room
    (24, 128, Pattern(0, 64, 1, 5, BY)),  # it may be a part of a line
    (32, 64, Pattern(0, 64, 1, 5, BY)),
    (16, 64, Pattern(16, 48, 1, 5, BY)),
])
def test_no_element_is_said_to_be_cut_that_is_not(size, line, pattern):
    assert layout(heap((1, 9600, 0, 0, 0, 9600, 9600, size), pattern), line).cut == 0


def test_a_small_part_of_an_element_is_one():
    found = layout(heap((9, 576, 0, 0, 0, 48, 48, 48), Pattern(0, 16, 1, 9, BY), Pattern(16, 32, 1, 7, BY)), 64)
    assert (found.loads, found.cut) == (16, 16)


def test_what_is_the_same_in_many_elements_is_folded_at_once():
    patterns = [Pattern(24 * number, 40, 0xF00000F, 2, BY) for number in range(50)]
    found = layout(heap((1, 2400, 0, 0, 0, 2400, 2400, 24), *patterns), 64)
    assert [byte.loaded for byte in found.bytes] == 16 * [200] + 8 * [100]
    assert [byte.used for byte in found.bytes] == 4 * [200] + 20 * [0]
