# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cores use which bytes of an element: in lines whose bytes are counted by hand, in the terminal's picture, in
JSON and on a page."""

import json
import random
from collections import defaultdict

import pytest
from bdannotate.analyses.data.sharing import report_sharing
from bdannotate.analyses.types.field_use import field_uses
from bdannotate.analyses.types.shared_bytes import ByteUse, shared_bytes
from bdannotate.analyses.types.shared_fields import fields_of
from bdannotate.analyses.types.typed_groups import TypedGroup
from bdannotate.model.objects import Objects
from bdannotate.model.sharing import Sharing
from bdannotate.views.byte_users import letter_of
from html_pages import report
from test_objects import HEAD, beside as objects_beside
from test_shared_fields import BOTH, PAIR, WITH_OBJECT, bits, heap, line, variable
from test_sharing import CORES, SECTIONS, beside as sharing_beside, printed

# The group of data objects 3, a variable of 64 bytes, begins 8 bytes into the line. Byte 12 to 15 of it are written by
# two threads, bytes 0 to 3 by one that another one reads, byte 20 is only read.
TABLE = [
    (WITH_OBJECT, [(0x1000, 3, 0x1008)]),
    (CORES, [(1, 1, bits((28, 28)), bits((8, 11), (20, 23)), 0, 9, 0, 0),
             (1, 2, bits((8, 8), (9, 11)), bits((20, 23)), 0, 9, 0, 0), (1, 5, bits((28, 28)), 0, 0, 9, 0, 0)]),
    (SECTIONS[2][0], [(1, 1, 1, 1, 0, 100, 0, 0, 0)]),
]


def users(group, lines, size, typed=None):
    objects = Objects((), (), (group,), (), numbers=((0,),))
    (data,) = report_sharing(Sharing((), 64, 64, tuple(lines), ()), objects).data
    return shared_bytes(data, size, typed)


def of_type(kind, start=0):
    return TypedGroup(kind, "", field_uses(kind, ()), False, start)


def test_a_byte_of_one_core_and_one_of_two():
    assert users(variable(24), [line(0x1000, 0x1000, c2=(0, bits((0, 7))), c3=(bits((0, 0)), bits((8, 15))))], 24) == (
        ByteUse((0,), (3,), (2,), False), ByteUse((1, 2, 3, 4, 5, 6, 7), (), (2,), False),
        ByteUse(tuple(range(8, 16)), (), (3,), False),
    )


def test_elements_are_folded_and_may_be_used_by_one_core_each():
    words = [line(0x1000, 0x1000, c1=(0, bits((0, 7))), c2=(bits((8, 11)), bits((8, 8))))]
    assert users(variable(64), words, 8) == (
        ByteUse((0,), (), (1, 2), True), ByteUse((1, 2, 3), (2,), (1,), True), ByteUse((4, 5, 6, 7), (), (1,), False),
    )
    other = line(0x1040, 0x1000, c3=(bits((0, 0)), 0), c1=(bits((0, 0)), 0))
    assert users(variable(128), [*words, other], 8)[0] == ByteUse((0,), (3,), (1, 2), False)


def test_what_lies_beside_the_data_is_left_out():
    """Bytes 60 to 63 of the first line, and 0 to 3 of the second."""
    lines = [line(0x1000, 0x103c, c1=(0, bits((0, 63)))), line(0x1040, 0x103c, c1=(0, bits((0, 63))))]
    assert users(variable(8), lines, 8) == (ByteUse(tuple(range(8)), (), (1,), False),)
    assert users(variable(8), lines[1:], 8) == (ByteUse((4, 5, 6, 7), (), (1,), False),)
    # Behind 8 bytes, a block of 48 has one element of 40.
    assert users(heap(48, 48), [line(0x1000, 0x1000, c1=(0, bits((0, 63))))], 40, of_type(BOTH, 8)) == (
        ByteUse(tuple(range(40)), (), (1,), False),)


def test_without_the_beginning_of_the_data_nothing_is_known():
    assert users(variable(8), [line(0x1000, 0, c1=(0, 1))], 8) == ()


def test_blocks_of_a_line_are_folded_together():
    """Two blocks of 16 bytes, each of a thread, then one that a third one reads."""
    block = line(0x1000, 0, (0x1000, 16), (0x1020, 16), c1=(0, bits((0, 7))), c2=(bits((44, 47)), bits((32, 39))))
    assert users(heap(16, 16), [block], 16) == (
        ByteUse(tuple(range(8)), (), (1, 2), True), ByteUse((12, 13, 14, 15), (2,), (), False),
    )


@pytest.mark.parametrize("seed", range(20))
def test_with_several_blocks_it_is_the_same(seed):
    """A reference that asks of each byte which blocks it has been in."""
    dice = random.Random(seed)
    size = dice.choice([4, 8, 12, 16, 24])
    blocks = [
        (dice.randrange(0x0fd0, 0x1040), size * dice.randint(1, 3)) for _ in range(dice.randint(1, 4))
    ]
    masks = {f"c{core}": (dice.getrandbits(64), dice.getrandbits(64) & dice.getrandbits(64)) for core in range(3)}
    read, written, at = (defaultdict(set) for _ in range(3))
    for name, uses in masks.items():
        for bit in range(64):
            begins = {begin for begin, length in blocks if begin <= 0x1000 + bit < begin + length}
            if len(begins) == 1:
                for cores, mask in zip((read, written), uses):
                    if mask >> bit & 1:
                        cores[(0x1000 + bit - min(begins)) % size].add(int(name[1:]))
                        at[bit, min(begins)].add(int(name[1:]))
    found = users(heap(size, 3 * size), [line(0x1000, 0, *blocks, **masks)], size)
    assert {byte: set(one.written) for one in found for byte in one.bytes if one.written} == {
        byte: cores for byte, cores in written.items() if cores
    }
    assert {byte: {*one.read, *one.written} for one in found for byte in one.bytes} == {
        byte: read[byte] | written[byte] for byte in {*read, *written}
    }
    for one in found:
        for byte in one.bytes:
            shared = any(
                len(cores) > 1 for (bit, begin), cores in at.items() if (0x1000 + bit - begin) % size == byte
            )
            assert one.apart == (len(one.read) + len(one.written) > 1 and not shared)


@pytest.mark.parametrize("seed", range(20))
def test_byte_by_byte_it_is_the_same(seed):
    """A reference that looks at each byte by itself."""
    dice = random.Random(seed)
    size, begin = dice.randint(1, 70), 0x1000 - dice.randint(0, 90)
    whole = size * dice.randint(1, 5)
    lines = [
        line(address, begin, **{
            f"c{core}": (dice.getrandbits(64) & dice.getrandbits(64), dice.getrandbits(64) & dice.getrandbits(64))
            for core in range(dice.randint(0, 3))
        }) for address in range(0x0f80, 0x1200, 64)
    ]
    read, written, at = (defaultdict(set) for _ in range(3))
    for one in lines:
        for use in one.uses:
            for bit in range(64):
                offset = one.address + bit - begin
                if 0 <= offset < whole:
                    for cores, mask in ((read, use.read), (written, use.written)):
                        if mask >> bit & 1:
                            cores[offset % size].add(use.core)
                            at[offset].add(use.core)
    expected = defaultdict(list)
    for byte in range(size):
        if read[byte] | written[byte]:
            apart = len(read[byte] | written[byte]) > 1 and all(
                len(at[offset]) < 2 for offset in range(byte, whole, size)
            )
            key = tuple(sorted(read[byte] - written[byte])), tuple(sorted(written[byte])), apart
            expected[key].append(byte)
    assert users(variable(whole), lines, size) == tuple(
        ByteUse(tuple(those), *key) for key, those in expected.items()
    )


def test_fields_of_bytes():
    typed = of_type(PAIR)
    assert fields_of((0, 8, 9), typed) == ("flag", "first")
    assert fields_of(range(1, 24), typed) == ("(padding)", "first", "last")
    assert fields_of((16, 24, 20), of_type(BOTH)) == ("points[2].x", "points[2].y")


def test_letters_end():
    assert [letter_of(number) for number in (0, 25, 26, 51, 52, 900)] == ["a", "z", "A", "Z", "*", "*"]


def with_patterns(folder):
    """A profile with such a line, whose variable has a picture."""
    objects_beside(folder, patterns=[(3, 1, 1, 7, 0, 64, (1 << 32) - 1, 3)])
    text = (folder / "p.out").read_text()
    return sharing_beside(folder, TABLE, f"{HEAD}\n", text)


def test_the_terminals_picture_has_letters(tmp_path, capsys):
    shown = printed(with_patterns(tmp_path), capsys, "--object=table", "--width=80").splitlines()
    at = next(number for number, one in enumerate(shown) if one.startswith("    0 "))
    assert shown[at:at + 7] == [
        "    0 |######## ######## ######## ######## ........ ........ ........ ........",
        "       aaaa         bbbb     c",
        "Which thread uses which byte, in lines that threads take from each other",
        "  a: written by thread 2, read by thread 3",
        "  b: written by threads 2-3",
        "  c: read by threads 2, 6",
        "",
    ]


def test_in_json_the_layout_has_them(tmp_path, capsys):
    found = json.loads(printed(with_patterns(tmp_path), capsys, "--object=table", "--format=json"))
    (layout,) = [group["layout"] for group in found["objects"]["groups"] if group["layout"]]
    assert layout["users"] == [
        {"bytes": [0, 1, 2, 3], "read": [2], "written": [1], "apart": False},
        {"bytes": [12, 13, 14, 15], "read": [], "written": [1, 2], "apart": False},
        {"bytes": [20], "read": [1, 5], "written": [], "apart": False},
    ]


def test_a_page_has_them(tmp_path):
    data = report(tmp_path, with_patterns(tmp_path)).facts["data"]
    assert data["userTitle"] == "Which thread uses which byte, in lines that threads take from each other"
    (layout,) = [group["layout"] for group in data["groups"] if group["layout"] and group["layout"]["users"]]
    assert layout["users"] == [
        {"letter": "a", "bytes": [[0, 3]], "fields": [], "isWritten": True,
         "by": "written by thread 2, read by thread 3"},
        {"letter": "b", "bytes": [[12, 15]], "fields": [], "isWritten": True, "by": "written by threads 2-3"},
        {"letter": "c", "bytes": [[20, 20]], "fields": [], "isWritten": False, "by": "read by threads 2, 6"},
    ]


def test_without_a_file_on_sharing_nothing_is_said_of_it(tmp_path, capsys):
    path = with_patterns(tmp_path)
    (tmp_path / "sharing.p.out").unlink()
    assert "thread" not in printed(path, capsys, "--object=table", "--width=80")
    assert "users" not in printed(path, capsys, "--object=table", "--format=json")
    data = report(tmp_path, path).facts["data"]
    assert data["userTitle"] == "" and all(not one["layout"]["users"] for one in data["groups"] if one["layout"])
