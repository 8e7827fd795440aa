# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes files of data objects, by docs/format.md and not by the reader's code."""

import struct

from column_files import blocks, head, place_lines


class ObjectFile:
    """Groups are lines of text; rows are (group, function, file, line, costs), patterns are (group,
    function, file, line, offset, bytes, used, times); functions are (object, file, line, name). All numbers
    start at 1."""

    def __init__(self, events, functions, groups, rows, patterns=(), head="", block=3):
        self.events = events
        self.functions = functions
        self.groups = groups
        self.rows = rows
        self.patterns = patterns
        self.head = head
        self.block = block

    def bytes(self):
        names, _ = place_lines(self.functions)
        data = head([
            "data-objects: 3", *self.head.splitlines(), "depth: 3", "whole-to: 65536",
            f"events: {' '.join(self.events)}", *names,
            f"groups: {len(self.groups)}", *self.groups, "rows:",
        ])
        data += blocks([(*row[:4], *row[4]) for row in self.rows], self.block)
        totals = [sum(counts) for counts in zip(*(row[4] for row in self.rows))]
        totals = totals or [0] * len(self.events)
        data += struct.pack(f"<{1 + len(totals)}Q", len(self.rows), *totals)
        return data + blocks(self.patterns, self.block) + struct.pack("<Q", len(self.patterns))
