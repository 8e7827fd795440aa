# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile with the paths of two functions beside it, by docs/format.md, and what each path costs, counted by hand.

    10  int find(...) {
    12      if (key == wanted)       ┐ a block, which goes on to 13 or to 16
    13          hit(...)
    14          goto again           A: 10, 12, 13, 14       30 times
    16      else next = ...
    18      return                   B: 10, 12, 16, 18       70 times
                                     C: B, then a stub that is charged to its return, 5 times
"""

import struct

from column_files import blocks, head, place_lines

FUNCTIONS = [("prog", "/src/hash.c", 1, "main"), ("prog", "/src/hash.c", 10, "find")]
PLACES = [(2, "/src/hash.c", 13, 0x110), (2, "/src/hash.c", 14, 0x114), (2, "/src/hash.c", 16, 0x130)]
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1\n"
EVENTS = "Ir Dr Dw D1mr D1mw SpLoss1"
STEPS = "steps: begin last end ending reads writes"
PIECES = "pieces: step file line instructions"
NODES = "nodes: parent kind function step times"
CELLS = f"cells: node place {EVENTS}"
MINUS_ONE = (1 << 64) - 1
SECTIONS = {
    STEPS: [
        (0x100, 0x10C, 0x110, 4, 1, 1),  # 1: goes on to 13
        (0x100, 0x10C, 0x110, 3, 1, 1),  # 2: jumps to 16
        (0x110, 0x11C, 0x120, 0, 2, 0),
        (0x130, 0x137, 0x138, 2, 0, 1),
        (0x500, 0x504, 0x508, 5, 1, 0),  # 5: the stub
        (0x40, 0x80, 0x84, 2, 4, 2),  # 6: main
    ],
    PIECES: [
        (1, 1, 10, 3), (1, 1, 12, 2), (2, 1, 10, 3), (2, 1, 12, 2), (3, 1, 13, 2), (3, 1, 14, 1),
        (4, 1, 16, 2), (4, 1, 18, 1), (5, 0, 0, 2), (6, 1, 2, 5), (6, 1, 3, 15),
    ],
    NODES: [
        (0, 1, 1, 0, 0),  # 1: main
        (0, 1, 2, 0, 0),  # 2: find
        (2, 2, 0, 0, 1),  # 3: its other path
        (1, 0, 0, 6, 1),
        (2, 0, 0, 1, 0),
        (5, 0, 0, 3, 30),  # 6: A
        (2, 0, 0, 2, 0),
        (7, 0, 0, 4, 70),  # 8: B
        (8, 3, 0, 5, 5),  # 9: C
    ],
    CELLS: [
        (3, 0, 7, 1, 0, 0, 0, 0),
        (3, 2, 0, 0, 0, 1, 0, 0),
        (4, 0, 0, 0, 0, 9, 0, 0),
        (6, 1, 0, 0, 0, 60, 0, 600),
        (6, 2, 0, MINUS_ONE, 0, 10, 0, 40),  # an access that did not take place
        (8, 3, 0, 0, 0, 1, 20, 100),
    ],
}
MAIN = (20, 4, 2, 9, 0, 0)
A = (240, 89, 30, 70, 0, 640)
B = (560, 70, 140, 1, 20, 100)
C = (50, 10, 10, 0, 0, 0)
OTHER = (7, 1, 0, 1, 0, 0)
FIND = (857, 170, 180, 72, 20, 740)
PROFILE = f"""# callgrind format
version: 1
{HEAD}positions: line
events: {EVENTS}
ob=prog
fl=/src/hash.c
fn=main
2 {' '.join(map(str, MAIN))}
cfn=find
calls=106 10
3 {' '.join(map(str, FIND))}
fn=find
13 {' '.join(map(str, FIND))}
totals: 877 174 182 81 20 740
"""


def path_file(sections=SECTIONS, limit=1000, head_lines=HEAD, events=EVENTS):
    names, files = place_lines(FUNCTIONS)
    data = head([
        "paths: 1", *head_lines.splitlines(), f"limit: {limit}", f"events: {events}", *names, f"places: {len(PLACES)}",
        *(f"{function} {files.index(file)} {line} {address}" for function, file, line, address in PLACES),
    ])
    for title, rows in sections.items():
        data += head([title]) + blocks(rows, 4) + struct.pack("<Q", len(rows))
    return data


def beside(folder, data=None, profile=PROFILE):
    """The profile's path, with the paths beside it."""
    (folder / "paths.p.out").write_bytes(path_file() if data is None else data)
    (folder / "p.out").write_text(profile)
    return str(folder / "p.out")
