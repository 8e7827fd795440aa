# SPDX-License-Identifier: GPL-2.0-or-later
"""How the fields of a type were used, by whom, and for how many elements."""

from bdannotate.analyses.types.field_use import code_uses, field_uses, units, visits
from bdannotate.model.data_types import Field, Repeats, Type
from bdannotate.model.objects import Pattern
from heap_groups import STEP, place

# Elements of 24 bytes: a line that begins with byte 16 of one has the next one, and 24 bytes of a third.
KIND = Type("Vec", 24, (Field("x", "double", 0, 8), Field("n", "int", 8, 4), Field("y", "double", 16, 8)))


def test_how_fields_were_used():
    patterns = [
        Pattern(0, 24, 0x0000FF, 5, STEP),  # x
        Pattern(40, 32, 0x1, 3, STEP),  # the first byte is of y
        Pattern(48, 24, 0x001000, 2, STEP),  # the gap
        Pattern(0, 0, 0, 7, STEP),
    ]
    assert [(use.name, use.offset, use.size, use.loaded, use.used) for use in field_uses(KIND, patterns)] == [
        ("x", 0, 8, 10, 5), ("n", 8, 4, 10, 0), ("(padding)", 12, 4, 10, 2), ("y", 16, 8, 13, 3),
    ]


# Behind a number, 100 elements of 16 bytes, and another number.
POINTS = Repeats(8, 16, 100)
WORLD = Type("World", 1616, (
    Field("n", "int", 0, 4), Field("p[100].x", "double", 8, 8, POINTS), Field("p[100].w", "float", 16, 4, POINTS),
    Field("energy", "double", 1608, 8),
))


def test_fields_in_an_array_of_structs_are_of_all_its_elements():
    patterns = [
        Pattern(0, 64, 0xF, 1, STEP),  # n; three whole elements, and x of the fourth
        Pattern(64, 64, 0xFF | 0xFF << 56, 2, STEP),  # w and padding of that, three elements, x of another
        Pattern(64 + 1600, 0, 0, 7, STEP),
        Pattern(1600, 16, 0xFF01, 3, STEP),  # w of the last one, energy
        Pattern(2 * 1616 + 8, 16, 0xFFFF, 5, STEP),  # the first element of another World
    ]
    found = field_uses(WORLD, patterns)
    assert [(use.name, use.offset, use.size, use.loaded, use.used) for use in found] == [
        ("n", 0, 4, 1, 1), ("(padding)", 4, 4, 1, 0),
        ("p[100].x", 8, 8, 4 + 2 * 4 + 5, 2 + 5), ("p[100].w", 16, 4, 3 + 2 * 4 + 3 + 5, 2 + 3 + 5),
        ("(padding)", 20, 4, 3 + 2 * 4 + 3 + 5, 2 + 5), ("energy", 1608, 8, 3, 3),
    ]
    assert [use.repeats for use in found] == [None, None, POINTS, POINTS, POINTS, None]


def test_an_array_of_structs_is_one_unit():
    found = units(field_uses(WORLD, []))
    assert [([field.name for field in unit.fields], unit.offset, unit.size) for unit in found] == [
        (["n"], 0, 4), (["p[100].x", "p[100].w"], 8, 1600), (["energy"], 1608, 8),
    ]


def test_endless_arrays_of_structs_cost_nothing():
    array = Repeats(0, 1 << 20, 1 << 50)
    kind = Type("Large", 1 << 70, (Field("p[1].x", "int", 4, 4, array), Field("p[1].y", "int", 1 << 19, 4, array)))
    patterns = [Pattern((1 << 60) + (1 << 19), 8, 0x1, 3, STEP)]
    assert [(use.name, use.loaded, use.used) for use in field_uses(kind, patterns) if use.loaded] == [
        ("p[1].y", 3, 3), ("(padding)", 3, 0)
    ]


def test_gaps_at_the_end_and_of_virtual_bases():
    kind = Type("D", 16, (Field("own", "int", 8, 4),), has_virtual_bases=True)
    names = [(use.name, use.offset, use.size) for use in field_uses(kind, [])]
    assert names == [("(padding, virtual bases)", 0, 8), ("own", 8, 4), ("(padding, virtual bases)", 12, 4)]


def test_which_code_uses_which_fields():
    patterns = [
        Pattern(0, 24, 0x0000FF, 5, place("step", 7)),
        Pattern(0, 24, 0x0100FF, 2, place("step", 7)),
        Pattern(0, 24, 0x000001, 9, place("step", 8)),
        Pattern(0, 24, 0x000000, 4, place("make", 3)),
        Pattern(0, 0, 0, 70, place("print", 3)),
    ]
    assert [
        (use.by.function.name, use.by.line, use.parts, [(field.name, field.used) for field in use.fields])
        for use in code_uses(KIND, patterns)
    ] == [("step", 8, 9, [("x", 9)]), ("step", 7, 7, [("x", 7), ("y", 2)]), ("make", 3, 4, [])]


def test_what_shares_bytes_is_one_unit():
    kind = Type("U", 16, (Field("whole", "long", 0, 8), Field("half", "int", 4, 4), Field("own", "int", 8, 4)))
    found = units(field_uses(kind, []))
    assert [([field.name for field in unit.fields], unit.offset, unit.size) for unit in found] == [
        (["whole", "half"], 0, 8), (["own"], 8, 4),
    ]


def counted(kind, patterns):
    found = units(field_uses(kind, patterns))
    return {function.name: times for function, times in visits(kind.size, found, patterns).items()}


def test_visits_are_of_elements_by_function():
    patterns = [
        Pattern(0, 48, 0xFF0000FF, 5, place("step", 7)),
        Pattern(24, 24, 0xFF, 2, place("step", 8)),
        Pattern(0, 24, 0xF00, 3, place("make", 3)),
    ]
    # Bytes 0 to 7 are x; 24 to 31 are x of the second element.
    assert counted(KIND, patterns) == {"step": (5 + 5 + 2, 0, 0), "make": (0, 3, 0)}


def test_a_field_in_several_lines_was_visited_as_often_as_its_word_used_most():
    kind = Type("Large", 128, (Field("text[124]", "char", 4, 124),))
    patterns = [
        Pattern(0, 64, 0xF0, 6, STEP),  # its first bytes are in half a word
        Pattern(0, 64, 1 << 20, 2, STEP),
        Pattern(64, 64, 0xFF, 5, STEP),
    ]
    assert counted(kind, patterns) == {"step": (6,)}
