# SPDX-License-Identifier: GPL-2.0-or-later
"""What another layout of an array of structs within a type would load."""

from bdannotate.analyses.data.objects import DataUse
from bdannotate.analyses.types.field_use import field_uses
from bdannotate.analyses.types.inner_split import inner_split
from bdannotate.analyses.types.split import best_split
from bdannotate.analyses.types.typed_groups import TypedGroup
from bdannotate.model.data_types import Field, Repeats, Type
from bdannotate.model.objects import Identity, ObjectGroup, ObjectKind, Pattern
from heap_groups import STEP

POINTS = Repeats(8, 16, 100)
WORLD = Type("World", 1616, (
    Field("n", "int", 0, 4), Field("p[100].x", "double", 8, 8, POINTS), Field("p[100].y", "double", 16, 8, POINTS),
    Field("energy", "double", 1608, 8),
))


def advice(patterns, loaded, kind=WORLD, size=1616):
    group = ObjectGroup(Identity(ObjectKind.STATIC, "world", "/prog", size), patterns=tuple(patterns))
    typed = TypedGroup(kind, "", field_uses(kind, patterns), True)
    use = DataUse(loaded, 0, 0, 0, 0)
    assert best_split(typed, group, use, 64) is None
    return inner_split(typed, group, use, 64)


def test_an_array_in_a_variable_is_split():
    """Lines begin with n or y: x is used, at 8 of each 16 bytes."""
    every_x = sum(0xFF << 16 * element + 8 for element in range(4))
    found = advice([Pattern(64 * line, 64, every_x, 10, STEP) for line in range(25)], 25 * 64 * 10)
    assert [([field.name for field in part.fields], part.size) for part in found.parts] == [
        (["p[100].x"], 8), (["p[100].y"], 8)
    ]
    assert [part.fields[0].offset for part in found.parts] == [8, 16]
    # All but the 8 bytes before the array; half of each element.
    assert found.now == (25 * 64 - 8) * 10
    assert abs(found.in_order / found.now - 0.5) < 0.01


def test_what_is_loaded_for_the_rest_is_not_of_the_array():
    """n is loaded as often with the first three elements, and half of the array is counted."""
    assert advice([Pattern(0, 8, 0xF, 30, STEP), Pattern(8, 16, 0xFF, 10, STEP)], 400) is None
    found = advice([Pattern(0, 8, 0xF, 20, STEP), Pattern(8, 16, 0xFF, 10, STEP)], 640)
    assert (found.now, found.in_order) == (320, 160)


def test_arrays_in_the_elements_of_an_array_are_one_array():
    """Of three Worlds, a line has the last element of one and the first of the next."""
    patterns = [Pattern(1616 + 1592, 16 + 8 + 8 + 16, 0xFF | 0xFF << 32, 5, STEP)]
    group = ObjectGroup(Identity(ObjectKind.STATIC, "worlds", "/prog", 3 * 1616), patterns=tuple(patterns))
    typed = TypedGroup(WORLD, "", field_uses(WORLD, patterns), True)
    found = inner_split(typed, group, DataUse(48 * 5, 0, 0, 0, 0), 64)
    assert [([field.name for field in part.fields], part.loads) for part in found.parts] == [
        (["p[100].x"], 10), (["p[100].y"], 0)
    ]


def test_nothing_is_split_without_such_an_array_or_patterns():
    flat = Type("Flat", 16, (Field("x", "double", 0, 8), Field("y", "double", 8, 8)))
    assert advice([Pattern(0, 16, 0xFF, 3, STEP)], 48, flat, 16) is None
    assert advice([], 0) is None
    assert advice([Pattern(0, 0, 0, 3, STEP)], 48) is None
    used = [Pattern(8, 16, 0xFFFF, 3, STEP)]
    assert advice(used, 48) is None
