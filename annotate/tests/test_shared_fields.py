# SPDX-License-Identifier: GPL-2.0-or-later
"""Which fields each core uses: types and lines whose bytes are counted by hand."""

import json

import pytest
from bdannotate.analyses.data.sharing import report_sharing
from bdannotate.analyses.types.field_use import field_uses
from bdannotate.analyses.types.shared_fields import SharedField, shared_fields, with_fields
from bdannotate.analyses.types.typed_groups import TypedGroup
from bdannotate.html.numbers import Numbers
from bdannotate.html.page_sharing import sharing_for_page
from bdannotate.model.data_types import Field, Repeats, Type
from bdannotate.model.errors import ProfileError
from bdannotate.model.objects import HeapBlocks, Identity, ObjectGroup, ObjectKind, Objects
from bdannotate.model.sharing import CoreUse, SharedLine, SharedObject, Sharing
from bdannotate.reading.sharing import read_sharing
from bdannotate.views.cores import cores_text
from merging import merged
from test_merge_sharing import PLACES, about, sharing_file, write_rank
from test_sharing import ACCESSES, CORES, SECTIONS, beside, printed

WITH_OBJECT = "lines: address group object"
LONG = Type("long", 8)
# 24 bytes: a flag, padding, a pair of longs.
PAIR = Type("pair", 24, (Field("flag", "char", 0, 1), Field("first", "long", 8, 8), Field("last", "long", 16, 8)))
# 40 bytes: four ints, then two points, of which x and y are four bytes each, and a long.
BOTH = Type("both", 40, (
    Field("counts[4]", "int", 0, 16), Field("points[2].x", "int", 16, 4, Repeats(16, 8, 2)),
    Field("points[2].y", "int", 20, 4, Repeats(16, 8, 2)), Field("sum", "long", 32, 8),
))
# A union within: bytes 0 to 7 are either.
UNION = Type("value", 8, (Field("whole", "long", 0, 8), Field("half", "int", 0, 4)))
BLOCKS = HeapBlocks(3, 120, 0, 120, 120, 40, 40, 0)


def variable(size):
    return ObjectGroup(Identity(ObjectKind.STATIC, "data", "/prog", size))


def heap(smallest, largest):
    return ObjectGroup(Identity(ObjectKind.HEAP), BLOCKS._replace(smallest=smallest, largest=largest))


def bits(*ranges):
    return sum(1 << byte for first, last in ranges for byte in range(first, last + 1))


def told(group, kind, lines, start=0):
    """Of each core of the line: the fields that it reads and writes; and of each field, the cores that do."""
    found = Sharing((), 64, 64, tuple(lines), ())
    objects = Objects((), (), (group,), (), numbers=((0,),))
    typed = TypedGroup(kind, "", field_uses(kind, ()), False, start)
    report = with_fields(report_sharing(found, objects), {group.identity: typed})
    (data,) = report.data
    cores = {core.core: (core.fields_read, core.fields_written) for core in data.cores}
    return cores, {one.name: (one.read, one.written) for one in shared_fields(data, typed)}


def line(address, begin, *objects, **uses):
    """begin: of the only object, of which that is all that is known. objects: the first byte of each, and its bytes.
    uses: by core, as c2=(bytes read, bytes written)."""
    return SharedLine(
        0, address, 1, tuple(CoreUse(int(core[1:]), *masks, 0, 0, 0, 0) for core, masks in uses.items()), (), begin,
        (SharedObject(begin, 0),) if begin else tuple(SharedObject(*one) for one in objects),
    )


def test_elements_of_an_array_without_fields():
    cores, fields = told(variable(32), LONG, [
        line(0x1000, 0x1000, c1=(bits((0, 7)), bits((0, 7))), c2=(bits((8, 15), (31, 31)), bits((8, 8)))),
    ])
    assert cores == {1: ((), ("data[0]",)), 2: (("data[1]", "data[3]"), ("data[1]",))}
    assert fields == {"data": ((1, 2), (1, 2))}


def test_cores_that_use_one_field_of_different_elements():
    """Byte 32 of the second line is the flag of element 4; byte 33 is padding."""
    found = Sharing((), 64, 64, (
        line(0x1000, 0x1000, c1=(0, bits((0, 15))), c2=(bits((24, 24)), bits((40, 47)))),
        line(0x1040, 0x1000, c1=(bits((32, 32)), 0), c2=(bits((33, 33)), 0), c3=(bits((32, 32)), 0)),
    ), ())
    group = variable(240)
    (data,) = report_sharing(found, Objects((), (), (group,), (), numbers=((0,),))).data
    typed = TypedGroup(PAIR, "", field_uses(PAIR, ()), False)
    assert shared_fields(data, typed) == (
        SharedField("flag", (1, 2, 3), (1,), False), SharedField("(padding)", (2,), (1,), True),
        SharedField("first", (), (1,), False), SharedField("last", (), (2,), False),
    )


def test_consecutive_elements_are_one_and_what_is_behind_is_left_out():
    cores, _ = told(variable(40), LONG, [line(0x1000, 0x1008, c1=(0, bits((0, 63))))])
    assert cores == {1: ((), ("data[0-4]",))}  # of bytes 8 to 47


def test_a_variable_that_is_one_value_has_no_fields():
    cores, fields = told(variable(8), LONG, [line(0x1000, 0x1010, c1=(0, bits((16, 23))))])
    assert cores == {1: ((), ())}
    assert fields == {"data": ((), (1,))}


def test_fields_of_a_structure_that_begins_in_the_line_before():
    """Byte 0 of the line is byte 16 of the data."""
    behind = line(0x1000, 0xff0, c3=(bits((0, 7)), 0), c4=(0, bits((0, 63))))
    cores, _ = told(variable(24), PAIR, [behind])
    assert cores == {3: (("last",), ()), 4: ((), ("last",))}
    cores, fields = told(variable(24), PAIR, [
        behind, line(0xfc0, 0xff0, c3=(0, bits((48, 48))), c5=(bits((49, 55)), 0)),
    ])
    assert cores == {3: ((), ("flag",)), 5: (("(padding)",), ())}
    assert fields == {"flag": ((), (3,)), "(padding)": ((5,), ()), "last": ((3,), (4,))}


def test_elements_of_an_array_of_structures():
    """Element 1 begins at byte 24 of the line, element 2 at byte 48."""
    cores, _ = told(variable(240), PAIR, [
        line(0x1000, 0x1000, c1=(0, bits((8, 15))), c2=(bits((24, 24)), bits((32, 47), (56, 63)))),
    ])
    assert cores == {1: ((), ("data[0].first",)), 2: (("data[1].flag",), ("data[1].first", "data[1].last",
                                                                         "data[2].first"))}


def test_an_array_in_an_element_of_an_array_is_one():
    """Bytes 1 and 4 of element 0, which has eight, and byte 0 of element 1."""
    kind = Type("words", 8, (Field("bytes[8]", "char", 0, 8),))
    cores, _ = told(variable(80), kind, [line(0x1000, 0x1000, c1=(bits((1, 1), (4, 4)), 0), c2=(0, bits((8, 8))))])
    assert cores == {1: (("data[0].bytes",), ()), 2: ((), ("data[1].bytes",))}


def test_arrays_in_a_structure():
    cores, fields = told(variable(40), BOTH, [
        line(0x1000, 0x1000, c1=(0, bits((0, 11))), c2=(bits((28, 31)), bits((16, 19), (24, 27))),
             c3=(bits((39, 39)), 0)),
    ])
    assert cores == {
        1: ((), ("counts[0-2]",)), 2: (("points[1].y",), ("points[0-1].x",)), 3: (("sum",), ()),
    }
    assert fields == {
        "counts[4]": ((), (1,)), "points[2].x": ((), (2,)), "points[2].y": ((2,), ()), "sum": ((3,), ()),
    }


def test_members_of_a_union_are_all_named():
    cores, _ = told(variable(8), UNION, [line(0x1000, 0x1000, c1=(0, bits((0, 7))), c2=(0, bits((4, 7))))])
    assert cores == {1: ((), ("whole", "half")), 2: ((), ("whole",))}


@pytest.mark.parametrize(("sizes", "name"), [((40, 40), "sum"), ((80, 80), "[0].sum"), ((40, 80), "[0].sum")])
def test_blocks_of_the_heap(sizes, name):
    cores, _ = told(heap(*sizes), BOTH, [line(0x1000, 0x1010, c1=(0, bits((48, 55))))])
    assert cores == {1: ((), (name,))}


def test_several_blocks_in_a_line():
    """Blocks of 24 bytes at 32: the first begins 8 bytes before the line, the second at byte 24, the third at 56."""
    blocks = [(0x0ff8, 24), (0x1018, 24), (0x1038, 24)]
    cores, fields = told(heap(24, 24), PAIR, [line(
        0x1000, 0, *blocks, c1=(bits((0, 7)), bits((8, 23))), c2=(0, bits((24, 24), (32, 39))), c3=(bits((56, 56)), 0),
        c4=(bits((0, 63)), 0),
    )])
    assert cores == {
        1: (("first of block 1",), ("last of block 1",)), 2: ((), ("flag of block 2", "first of block 2")),
        3: (("flag of block 3",), ()),
        4: (("first of block 1", "last of block 1", "flag of block 2", "(padding) of block 2", "first of block 2",
             "last of block 2", "flag of block 3", "(padding) of block 3"), ()),
    }
    assert fields == {
        "flag": ((3, 4), (2,)), "(padding)": ((4,), ()), "first": ((1, 4), (2,)), "last": ((4,), (1,)),
    }


def test_blocks_of_several_sizes_end_where_they_do():
    """Two longs, then one, then what is in no known block."""
    use = {"c1": (0, bits((0, 15))), "c2": (0, bits((16, 31))), "c3": (0, bits((32, 63)))}
    cores, _ = told(heap(8, 16), LONG, [line(0x1000, 0, (0x1000, 16), (0x1010, 8), **use)])
    assert cores == {1: ((), ("[0-1] of block 1",)), 2: ((), ("[0] of block 2",)), 3: ((), ())}
    cores, _ = told(heap(8, 16), LONG, [line(0x1000, 0, (0x1000, 16), **use)])
    assert cores == {1: ((), ("[0-1]",)), 2: ((), ()), 3: ((), ())}


def test_blocks_of_one_value_are_named_by_their_place():
    cores, _ = told(heap(8, 8), LONG, [line(0x1000, 0, (0x1000, 8), (0x1020, 8), c1=(0, bits((32, 39))))])
    assert cores == {1: ((), ("block 2",))}


def test_what_has_been_of_two_blocks_in_turn_is_left_out():
    """Bytes 8 to 15 were the last ones of a pair of longs, and then the first ones of another one."""
    kind = Type("two", 16, (Field("one", "long", 0, 8), Field("other", "long", 8, 8)))
    cores, _ = told(heap(16, 16), kind, [line(0x1000, 0, (0x1000, 16), (0x1008, 16), c1=(0, bits((0, 23))))])
    assert cores == {1: ((), ("one of block 1", "other of block 2"))}


def test_where_blocks_of_another_size_have_been_nothing_is_named():
    """Only blocks of 40 bytes are of the type."""
    found = Sharing((), 64, 64, (line(0x1000, 0, (0x1000, 40), (0x1000, 24), c1=(0, bits((0, 39)))),), ())
    group = heap(24, 40)
    typed = TypedGroup(BOTH, "", field_uses(BOTH, ()), False, only=40)
    objects = Objects((), (), (group,), (), numbers=((0,),))
    (data,) = with_fields(report_sharing(found, objects), {group.identity: typed}).data
    assert data.cores[0].fields_written == ("[0].points.x", "[0].points.y", "[0].sum")


def test_elements_may_begin_behind_something_else():
    cores, _ = told(heap(48, 48), BOTH, [line(0x1000, 0x1000, c1=(0, bits((0, 7), (40, 47))))], start=8)
    assert cores == {1: ((), ("sum",))}


def test_without_the_beginning_of_the_object_nothing_is_known():
    cores, fields = told(variable(40), BOTH, [line(0x1000, 0, c1=(1, 1))])
    assert cores == {1: ((), ())} and fields == {}


def test_the_page_has_the_names(tmp_path):
    group = variable(40)
    found = Sharing((), 64, 64, (line(0x1000, 0x1000, c1=(bits((32, 39)), bits((0, 11)))),), ())
    typed = TypedGroup(BOTH, "", field_uses(BOTH, ()), False)
    told_of = report_sharing(found, Objects((), (), (group,), (), numbers=((0,),)))
    page = sharing_for_page(with_fields(told_of, {group.identity: typed}), [group], 1000, [], Numbers([]))
    (core,) = page["data"][0]["cores"]
    assert (core["fieldsRead"], core["fieldsWritten"]) == (["sum"], ["counts[0-2]"])


def test_names_of_cores():
    assert cores_text((1, 2, 3, 6), 64) == "threads 2-4, 7"
    assert cores_text((5,), 64) == "thread 6"
    assert cores_text((0, 2), 8) == "cores 0, 2"


def test_a_file_with_objects_and_one_without(tmp_path, capsys):
    lines = [(0x1000, 0, 0xff8), (0x2000, 0, 0)]
    path = beside(tmp_path, [(WITH_OBJECT, lines), *SECTIONS[1:]])
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert [one.object for one in found.lines] == [0xff8, 0]
    data = json.loads(printed(path, capsys, "--format=json"))["sharing"]["data"]
    assert data[0]["cores"][0]["fields_written"] == []
    beside(tmp_path)
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert [one.object for one in found.lines] == [0, 0]


OBJECTS = "objects: line address bytes"


def test_the_objects_of_a_line(tmp_path):
    lines = [(0x1000, 0, 0), (0x2000, 0, 0x2000)]
    objects = [(1, 0xff8, 24), (1, 0x1018, 24), (2, 0x2000, 8)]
    beside(tmp_path, [(WITH_OBJECT, lines), (OBJECTS, objects), *SECTIONS[1:]])
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert [one.objects for one in found.lines] == [((0xff8, 24), (0x1018, 24)), ((0x2000, 8),)]
    beside(tmp_path, [(WITH_OBJECT, lines), *SECTIONS[1:]])
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert [one.objects for one in found.lines] == [(), ((0x2000, 0),)]


@pytest.mark.parametrize("number", [0, 3])
def test_objects_are_of_known_lines(number, tmp_path):
    beside(tmp_path, [SECTIONS[0], (OBJECTS, [(number, 0x1000, 8)]), *SECTIONS[1:]])
    with pytest.raises(ProfileError, match=f"there is no line {number}"):
        read_sharing(str(tmp_path / "sharing.p.out"))


def test_ranks_with_the_same_object_keep_it(tmp_path):
    files = [[(0x1000, 0, 0x1008), (0x2000, 0, 0x2000), (0x3000, 0, 0x3010), (0x4000, 0, 0)],
             [(0x1000, 0, 0x1008), (0x2000, 0, 0x2020), (0x4000, 0, 0)]]
    objects = [[(1, 0x1008, 16), (2, 0x2000, 16), (3, 0x3010, 8), (4, 0x4000, 8), (4, 0x4020, 8)],
               [(1, 0x1008, 16), (2, 0x2020, 16), (3, 0x4000, 8), (3, 0x4020, 8)]]
    paths = []
    for number, lines in enumerate(files):
        rows = [(at, 1, 1, 1, 5, 0, 5, 5, 0) for at in range(1, len(lines) + 1)]
        data = sharing_file(about(number), PLACES, [
            (WITH_OBJECT, lines), (OBJECTS, objects[number]), (CORES, []), (ACCESSES, rows),
        ])
        paths.append(write_rank(tmp_path, f"out.{number}", about(number), data))
    merged(tmp_path, paths)
    (found,) = read_sharing(str(tmp_path / "sharing.all"))
    assert [(one.address, one.object, one.objects) for one in found.lines] == [
        (0x1000, 0x1008, ((0x1008, 16),)), (0x2000, 0, ()), (0x3000, 0x3010, ((0x3010, 8),)),
        (0x4000, 0, ((0x4000, 8), (0x4020, 8))),
    ]
