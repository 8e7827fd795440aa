# SPDX-License-Identifier: GPL-2.0-or-later
"""What to split a type into, and in which order its fields should be."""

import pytest
from bdannotate.analyses.data.objects import DataUse
from bdannotate.analyses.types.field_use import field_uses
from bdannotate.analyses.types.pack import packed
from bdannotate.analyses.types.split import best_split, better_order
from bdannotate.analyses.types.typed_groups import TypedGroup
from bdannotate.model.data_types import Field, Type
from bdannotate.model.objects import Identity, ObjectGroup, ObjectKind, Pattern
from heap_groups import heap, place

ALL = (1 << 64) - 1


def typed(fields, patterns, size):
    """fields: (name, offset, size)."""
    kind = Type("Vec", size, tuple(Field(name, "int", *where) for name, *where in fields))
    return TypedGroup(kind, "", field_uses(kind, patterns), True)


def by(function, *patterns):
    return [Pattern(*pattern, place(function, 7)) for pattern in patterns]


def split(fields, patterns, loaded, size, line=64):
    group = heap([], (10 * size, 10 * size, size), patterns=patterns)
    return best_split(typed(fields, patterns, size), group, DataUse(loaded, 0, 0, 0, 0), line)


def parts(found):
    return [([field.name for field in part.fields], part.size, part.loads) for part in found.parts]


def test_fields_that_are_never_used_are_split_off():
    # 64 bytes in a line: 8 of them used in 10 loads, 40 times as many lines as in the patterns.
    found = split([("x", 0, 8), ("rest", 8, 56)], by("step", (0, 64, 0xFF, 10)), 40 * 640, 64)
    assert parts(found) == [(["x"], 8, 10), (["rest"], 56, 0)]
    # In order, the 8 bytes 10 times; else a line each.
    assert (found.now, found.in_order, found.in_order_most, found.scattered) == (25600, 40 * 80, 40 * 80, 25600)


def sparse(once_in):
    """z is used in one element of so many."""
    patterns = by("so", (64, 64, 1, 6400), (0, 64, 0xFF, 6400 // once_in))
    found = split([("z", 0, 8), ("rest", 8, 56), ("on", 64, 1), ("gap", 65, 63)], patterns, 6400 * 64, 128)
    assert [field.name for field in found.parts[0].fields] == ["on"]
    scale = 64 * 6400 / sum(pattern.bytes * pattern.times for pattern in patterns)
    return round(found.in_order / scale), round(found.in_order_most / scale)


def test_what_is_used_in_some_elements_costs_lines_of_all_if_they_are_spread():
    # The flag is a byte. 8 bytes of those elements that have it; all lines of 8 bytes each.
    assert sparse(2) == (6400 + 3200 * 8, 6400 + 6400 * 8)
    # No more than a line for each.
    assert sparse(16) == (6400 + 400 * 8, 6400 + 400 * 64)


def test_fields_that_are_used_as_often_stay_together():
    assert split([("x", 0, 8), ("rest", 8, 56)], by("step", (0, 64, ALL, 10)), 640, 64) is None


def test_rarely_used_fields_cost_what_they_are_used():
    patterns = by("step", (0, 64, 0xFF, 9), (0, 64, 0xFFFF, 1))
    found = split([("x", 0, 8), ("y", 8, 8), ("rest", 16, 48)], patterns, 640, 64)
    # Two arrays are enough: that y is loaded with what is never used costs 48 bytes more.
    assert parts(found) == [(["x", "y"], 16, 10), (["rest"], 48, 0)] or found.in_order <= 9 * 8 + 64 + 32
    assert found.in_order < 200


def test_what_different_functions_use_is_apart():
    fields = [("x", 0, 8), ("mass", 8, 8), ("y", 16, 8), ("charge", 24, 8), ("name", 32, 32)]
    patterns = [*by("move", (0, 64, 0xFF00FF, 100)), *by("weigh", (0, 64, 0xFF00FF00, 100))]
    found = split(fields, patterns, 200 * 64, 64)
    assert parts(found) == [(["x", "y"], 16, 100), (["mass", "charge"], 16, 100), (["name"], 32, 0)]
    assert (found.now, found.in_order) == (12800, 200 * 16)
    assert found.scattered == 200 * (64 + 16 - 8)


def test_what_is_used_by_one_function_more_is_with_the_others():
    """A third array for so little is not worth it: here it is 4 % of what is loaded."""
    fields = [("x", 0, 8), ("mass", 8, 8), ("rest", 16, 48)]
    patterns = [*by("move", (0, 64, 0xFFFF, 100)), *by("weigh", (0, 64, 0xFF00, 30))]
    found = split(fields, patterns, 130 * 64, 64)
    assert parts(found) == [(["x", "mass"], 16, 130), (["rest"], 48, 0)]
    assert found.in_order == 130 * 16


def test_many_fields_do_not_take_forever():
    fields = [(f"f{number}", 8 * number, 8) for number in range(200)]
    patterns = by("use", *(
        (8 * number - 8 * number % 64, 64, 0xFF << 8 * number % 64, (number + 1) ** 3) for number in range(200)
    ))
    found = split(fields, patterns, sum(64 * number ** 3 for number in range(1, 201)), 1600)
    assert 2 <= len(found.parts) <= 64
    assert sum(len(part.fields) for part in found.parts) == 200


def test_a_type_whose_order_is_at_fault_is_not_split():
    # Of each line with 4 elements of 16 bytes, the first 12 bytes of one.
    fields = [("x", 0, 8), ("y", 8, 4), ("z", 12, 4)]
    assert split(fields, by("step", (0, 64, 0xFFF, 10)), 640, 16) is None


def test_what_shares_bytes_is_not_split():
    union = [("whole", 0, 64), ("part", 0, 8)]
    assert split(union, by("step", (0, 64, 0xFF, 10)), 640, 64) is None


@pytest.mark.parametrize("kind", [ObjectKind.STATIC, ObjectKind.THREAD_LOCAL])
def test_variables_are_split_if_they_have_several_elements(kind):
    fields, patterns = [("x", 0, 8), ("rest", 8, 56)], tuple(by("step", (0, 64, 0xFF, 10)))

    def found(size):
        variable = ObjectGroup(Identity(kind, "table", "/prog", size), None, patterns)
        return best_split(typed(fields, patterns, 64), variable, DataUse(640, 0, 0, 0, 0), 64)

    assert found(64) is None
    assert parts(found(128)) == [(["x"], 8, 10), (["rest"], 56, 0)]


def test_single_elements_are_not_split():
    patterns = by("step", (0, 64, 0xFF, 10))
    group = heap([], (64, 64, 64), patterns=patterns)
    assert best_split(typed([("x", 0, 8), ("rest", 8, 56)], patterns, 64), group, DataUse(640, 0, 0, 0, 0), 64) is None


def test_what_only_comes_along_with_others_is_not_split():
    assert split([("x", 0, 8), ("rest", 8, 56)], by("step", (0, 64, 0xFF, 10)), 0, 64) is None


def test_nothing_is_split_without_patterns_or_fields():
    assert split([("x", 0, 8), ("y", 8, 8)], [], 640, 16) is None
    assert split([], by("step", (0, 64, 0xFF, 10)), 640, 64) is None


def test_what_is_far_apart_costs_lines_of_the_simulated_size():
    # Parts of 64 bytes, as patterns are, of lines of 128 bytes.
    patterns = by("step", (0, 64, 0xFF, 10), (64, 64, 0, 10))
    found = split([("x", 0, 8), ("rest", 8, 120)], patterns, 10 * 128, 128, line=128)
    assert (found.in_order, found.in_order_most, found.scattered) == (80, 80, 10 * 128)
    assert (found.misses_saved(80), found.misses_saved(12 * 128)) == (9, -2)
    patterns = by("step", (0, 32, 0xFF, 10))
    found = split([("x", 0, 8), ("rest", 8, 120)], patterns, 10 * 32, 128, line=32)
    assert (found.in_order, found.in_order_most, found.scattered) == (80, 80, 10 * 32)


# --- Order

LIST = [("key", 0, 8), ("name", 8, 112), ("next", 120, 8)]


def order(fields, patterns, size, blocks=None, loaded=6400, loaded_by=("find", "walk"), line=64):
    group = heap([], blocks or (size, size, size), patterns=patterns)
    functions = {place(name, 0).function: loaded for name in loaded_by}
    return better_order(typed(fields, patterns, size), group, DataUse(loaded, 0, 0, 0, 0), functions, line)


def test_what_is_used_together_comes_first():
    """key and next are 120 bytes apart: always in two lines, of three if the block begins in the last 16
    bytes of one. Next to each other, they are in one."""
    found = order(LIST, by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50)), 128)
    assert [field.name for field in found.fields] == ["key", "next", "name"]
    assert [field.name for field in found.first] == ["key", "next"]
    assert (found.now, found.then) == (6400, 50 * 64)


@pytest.mark.parametrize("line", [16, 32, 128])
def test_an_order_is_of_lines_of_the_simulated_size(line):
    patterns = by("find", (0, min(line, 64), 0xFF, 50), (120, 8, 0xFF, 50))
    found = order(LIST, patterns, 128, loaded=100 * line, line=line)
    assert (found.now, found.then, found.misses_saved) == (100 * line, 50 * line, 50)


def test_what_was_loaded_says_what_an_order_saves():
    """Blocks that were visited in memory order: the end of each is in one line with the beginning of
    the next one, so 50 visits have loaded 62 lines, and not 100."""
    patterns = by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50))
    assert order(LIST, patterns, 128, loaded=55 * 64) is None
    assert order(LIST, patterns, 128, loaded=62 * 64).then == 50 * 64


def test_who_visits_in_the_order_of_memory_does_not_lose_by_an_order():
    """By the model the walk of 30 elements would load 75 lines, now and then; it has loaded 33."""
    patterns = [
        *by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50)),
        *by("walk", (0, 64, 1 << 20, 30), (64, 64, 1 << 36, 30)),
    ]
    group = heap([], (128, 128, 128), patterns=patterns)
    loaded = {place("find", 0).function: 100 * 64, place("walk", 0).function: 33 * 64}
    found = better_order(typed(LIST, patterns, 128), group, DataUse(133 * 64, 0, 0, 0, 0), loaded, 64)
    assert (found.now, found.then) == (133 * 64, 50 * 64 + 33 * 64)


def test_what_is_used_seldom_need_not_be_first():
    fields = [("key", 0, 8), ("name", 8, 112), ("next", 120, 8), ("rare", 128, 8)]
    patterns = by("find", (0, 64, 0xFF, 100), (64, 64, 0xFF << 56, 100), (128, 8, 0xFF, 20))
    found = order(fields, patterns, 136, loaded=220 * 64)
    assert [field.name for field in found.first] == ["key", "next"]


# --- Padding

HOLES = [("flag", 0, 1), ("value", 8, 8), ("kind", 16, 4), ("next", 24, 8)]  # 32 bytes, 11 of them padding


def test_large_alignments_first_leave_the_least_padding():
    patterns = by("find", (0, 64, 0xFF, 50))
    group = heap([], (3200, 3200, 32), patterns=patterns)
    found = packed(typed(HOLES, patterns, 32), group, DataUse(6400, 0, 0, 0, 0))
    assert [field.name for field in found.fields] == ["value", "next", "kind", "flag"]
    # 8 + 8 + 4 + 1, up to a multiple of 8.
    assert (found.size_now, found.size, found.now, found.then) == (32, 24, 6400, 4800)


def test_single_blocks_shrink_as_the_allocator_rounds():
    """A block of 32 bytes takes 48 of the C library's, one of 24 takes 32: both with 8 bytes before it."""
    patterns = by("find", (0, 32, 0xFF, 50))
    found = packed(typed(HOLES, patterns, 32), heap([], (32, 32, 32), patterns=patterns), DataUse(4800, 0, 0, 0, 0))
    assert (found.size, found.then) == (24, 3200)
    fields = [("flag", 0, 1), ("value", 8, 8), ("kind", 16, 4), ("next", 24, 8), ("more", 32, 8)]
    # 40 bytes take 48, as 32 do.
    blocks = heap([], (40, 40, 40), patterns=patterns)
    assert packed(typed(fields, patterns, 40), blocks, DataUse(4800, 0, 0, 0, 0)) is None


def test_what_has_no_padding_does_not_shrink():
    patterns = by("find", (0, 64, 0xFF, 50))
    group = heap([], (1280, 1280, 128), patterns=patterns)
    assert packed(typed(LIST, patterns, 128), group, DataUse(1, 0, 0, 0, 0)) is None


def test_what_is_in_no_pattern_is_taken_to_be_like_the_others():
    patterns = by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50), (0, 0, 0, 300))
    assert order(LIST, patterns, 128, loaded=25600).then == 4 * 50 * 64


def test_what_came_along_with_lines_for_others_costs_nothing():
    patterns = [
        *by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50)), *by("malloc", (0, 48, 1, 70), (0, 0, 0, 9)),
    ]
    assert order(LIST, patterns, 128).then == 50 * 64
    assert order(LIST, patterns, 128, loaded_by=()) is None


def test_what_lies_in_two_lines_at_times_is_loaded_as_often():
    """Of 4 places that a block may begin at, 40 bytes in a row lie in two lines at 32 and at 48."""
    fields = [("head", 0, 24), ("name", 24, 120), ("tail", 144, 16)]
    patterns = by("find", (0, 64, (1 << 24) - 1, 40), (128, 32, 0xFFFF << 16, 40))
    assert order(fields, patterns, 160, loaded=40 * 3 * 64).then == 40 * 64 * 3 // 2


def test_in_a_good_order_nothing_is_changed():
    good = [("key", 0, 8), ("next", 8, 8), ("name", 16, 112)]
    assert order(good, by("find", (0, 64, 0xFFFF, 50)), 128) is None


def test_what_different_functions_use_need_not_be_together():
    patterns = [*by("find", (0, 64, 0xFF, 50)), *by("walk", (64, 64, 0xFF << 56, 50))]
    assert order(LIST, patterns, 128) is None


def test_an_order_is_of_blocks_with_one_element():
    patterns = by("find", (0, 64, 0xFF, 50), (64, 64, 0xFF << 56, 50))
    assert order(LIST, patterns, 128, (128, 256, 128)) is None
    assert order(LIST, [], 128) is None


def test_smaller_fields_come_behind_larger_ones():
    fields = [("flag", 0, 1), ("name", 8, 112), ("key", 120, 8), ("count", 128, 4), ("rest", 132, 60)]
    patterns = by("find", (0, 64, 1, 50), (64, 64, 0xFF << 56, 50), (128, 64, 0xF, 48))
    found = order(fields, patterns, 192)
    assert [field.name for field in found.fields][:2] == ["key", "flag"]
