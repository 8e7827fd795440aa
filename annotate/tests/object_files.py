# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes files of data objects, by docs/format.md and not by the reader's code."""

import struct

from context_files import column


class ObjectFile:
    """Groups are lines of text; rows are (group, function, file, line, costs), patterns are (group,
    offset, bytes, used, times); functions are (object, file, line, name). All numbers start at 1."""

    def __init__(self, events, functions, groups, rows, patterns=(), head="", block=3):
        self.events = events
        self.functions = functions
        self.groups = groups
        self.rows = rows
        self.patterns = patterns
        self.head = head
        self.block = block

    def bytes(self):
        objects = list(dict.fromkeys(function[0] for function in self.functions))
        files = list(dict.fromkeys(function[1] for function in self.functions))
        lines = [
            "data-objects: 1", *self.head.splitlines(), "depth: 3", "patterns-to: 65536",
            f"events: {' '.join(self.events)}",
            f"objects: {len(objects)}", *objects, f"files: {len(files)}", *files,
            f"functions: {len(self.functions)}",
            *(
                f"{objects.index(module) + 1} {files.index(file) + 1} {line} {name}"
                for module, file, line, name in self.functions
            ),
            f"groups: {len(self.groups)}", *self.groups, "rows:",
        ]
        data = "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
        data += self.blocks([(*row[:4], *row[4]) for row in self.rows])
        totals = [sum(counts) for counts in zip(*(row[4] for row in self.rows))]
        totals = totals or [0] * len(self.events)
        data += struct.pack(f"<{1 + len(totals)}Q", len(self.rows), *totals)
        return data + self.blocks(self.patterns) + struct.pack("<Q", len(self.patterns))

    def blocks(self, rows):
        data = b""
        for start in range(0, len(rows), self.block):
            block = rows[start : start + self.block]
            data += struct.pack("<H", len(block)) + b"".join(map(column, zip(*block)))
        return data + struct.pack("<H", 0)
