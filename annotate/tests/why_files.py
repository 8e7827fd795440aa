# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes files on why lines were loaded, by docs/format.md and not by the reader's code."""

import math
import struct

from column_files import blocks, head, place_lines

DISTANCES = "place bucket misses llmisses"
REUSES = "place before evictor scope cause misses llmisses distance"
ORDERS = (
    "place scope inner accesses straddle-line straddle-page same near forward backward far runs stride1 "
    "times1 stride2 times2 stride3 times3 depends on weight"
)
DATA = "group bucket misses llmisses"
INCLUSIVE = "function callee bucket misses llmisses"
STAYS = "place group lines unused late never"
CACHES = {"line": 64, "d1-lines": 512, "ll-lines": 131072, "sets": 64}


def bucket(distance):
    """Of a distance in lines; None: never touched before."""
    if distance is None:
        return 0
    return 1 + math.floor(4 * math.log2(max(distance, 1)) + 1e-9)


class WhyFile:
    """functions are (object, file, line, name), places (function, file, line, address), scopes lines of
    text; sections a list of (name, columns, rows). All numbers start at 1."""

    def __init__(self, functions, places, scopes=(), sections=(), head="", block=3, sample="10 100", **caches):
        self.functions = functions
        self.places = places
        self.scopes = scopes
        self.sections = sections
        self.head = head
        self.block = block
        self.sample = sample  # of how many accesses the order is known, and of how many
        self.caches = CACHES | caches

    def bytes(self):
        names, files = place_lines(self.functions, [place[1] for place in self.places])
        data = head([
            "why: 1", *self.head.splitlines(), *(f"{key}: {value}" for key, value in self.caches.items()),
            "history-sample: 1", f"order-sample: {self.sample}", *names,
            f"places: {len(self.places)}",
            *(f"{function} {files.index(file)} {line} {address}"
              for function, file, line, address in self.places),
            f"scopes: {len(self.scopes)}", *self.scopes,
        ])
        for name, columns, rows in self.sections:
            rows = [tuple(value % 2**64 for value in row) for row in rows]
            data += head([f"{name}: {columns}"]) + blocks(rows, self.block)
            data += struct.pack("<Q", len(rows))
        return data
