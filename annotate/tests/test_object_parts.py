# SPDX-License-Identifier: GPL-2.0-or-later
"""Heap blocks of several profiles: parts of a process one after the other, processes side by side."""

import pytest
from bdannotate.model.object_merge import merge
from bdannotate.reading.objects import read_objects
from object_files import ObjectFile
from test_objects import EVENTS, FUNCTIONS, GROUPS, HEAP, ROWS, write


def of_run(part, counts, pid=7, thread=""):
    """A part of a run: its blocks, those freed, and the bytes alive and most alive."""
    number, freed, alive, most = counts
    head = f"creator: bdgrind-1\npid: {pid}\ncmd: prog\npart: {part}" + (f"\nthread: {thread}" if thread else "")
    group = HEAP.replace("3 48 1 32 48", f"{number} {16 * number} {freed} {alive} {most}")
    return ObjectFile(EVENTS, FUNCTIONS, [*GROUPS[:1], group], ROWS[:1], (), head).bytes()


def alive_of(folder, *parts):
    """Blocks, those freed, bytes alive at the end, and at most."""
    found = read_objects(str(write(folder, b"\n".join(parts)))).groups[1].blocks
    return found.number, found.freed, found.alive, found.most_alive


TEN = (10, 0, 160, 160), (0, 0, 160, 160), (0, 10, 0, 160), (0, 0, 0, 0)  # allocated, alive, freed, and gone


def test_parts_of_a_process_follow_each_other(tmp_path):
    parts = [of_run(number, counts) for number, counts in enumerate(TEN, 1)]
    assert alive_of(tmp_path, *parts) == (10, 10, 0, 160)
    assert alive_of(tmp_path, parts[3], *parts[:3]) == (10, 10, 0, 160)
    assert alive_of(tmp_path, *parts[1::-1]) == (10, 0, 160, 160)
    # 9 comes before 10.
    assert alive_of(tmp_path, of_run(10, TEN[3]), of_run(9, TEN[0])) == (10, 0, 0, 160)


@pytest.mark.parametrize("other", [{"pid": 8}, {"thread": 2}, {}])
def test_processes_and_threads_live_side_by_side(tmp_path, other):
    """And so do two runs whose processes have the same number: both have a first part."""
    parts = [of_run(1, TEN[0]), of_run(1, TEN[0], **other), of_run(2, TEN[2])]
    assert alive_of(tmp_path, *parts) == (20, 10, 160, 320)


def test_instructions_of_a_line_allocate_side_by_side(tmp_path):
    """Their blocks are one group, of which no part follows another one."""
    head = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1"
    first = HEAP.replace("3 48 1 32 48 16 16 16 0", "20 320 0 320 320 16 16 16 16")
    second = HEAP.replace("3 48 1 32 48 16 16 16 0", "5 80 1 64 80 16 16 16 0").replace(" 22 100 ", " 22 108 ")
    assert len({first, second, HEAP}) == 3
    file = ObjectFile(EVENTS, FUNCTIONS, [*GROUPS[:1], first, second], ROWS[:1], (), head)
    found = read_objects(str(write(tmp_path, file.bytes())))
    blocks = merge([found]).groups[1].blocks
    assert (blocks.number, blocks.freed, blocks.alive, blocks.most_alive, blocks.usual) == (25, 1, 384, 400, 16)
