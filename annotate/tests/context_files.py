# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes context trees, by docs/format.md and not by the reader's code."""

import random
import struct

from column_files import blocks, head, place_lines


class ContextFile:
    """Nodes are (depth, function, calls, costs) in preorder, or with (file, line, address) behind;
    functions are (object, file, line, name). Numbers of names start at 1; a root's "function" is
    its own number, from 0."""

    def __init__(self, events, functions, roots, nodes, recursion="folded", block=7, head="", limit=1000000):
        self.events = events
        self.functions = functions
        self.roots = roots
        self.nodes = nodes
        self.recursion = recursion
        self.block = block
        self.head = head
        self.limit = limit

    def bytes(self):
        sites = [node[4][0] for node in self.nodes if len(node) > 4]
        names, files = place_lines(self.functions, sites)
        columns = "depth function calls" + (" file line address" if sites else "")
        data = head([
            "contexts: 1", *self.head.splitlines(), f"recursion: {self.recursion}",
            f"limit: {self.limit}", f"events: {' '.join(self.events)}", f"columns: {columns}",
            *names, f"roots: {len(self.roots)}", *self.roots, "nodes:",
        ])
        rows = [
            (depth, function, calls, *((files.index(site[0][0]), *site[0][1:]) if site else ()),
             *costs)
            for depth, function, calls, costs, *site in self.nodes
        ]
        data += blocks(rows, self.block)
        totals = [sum(values) for values in zip(*(row[3:] for row in self.nodes_without_sites()))]
        calls = sum(node[2] for node in self.nodes)
        totals = totals or [0] * len(self.events)
        return data + struct.pack(f"<{2 + len(totals)}Q", len(self.nodes), calls, *totals)

    def nodes_without_sites(self):
        return [(*node[:3], *node[3]) for node in self.nodes]


def of_paths(events, contexts, recursion, **more):
    """The file of a trace's contexts: {path of functions: [calls, costs]}, below one thread."""
    functions = sorted({path[-1] for path in contexts})
    numbers = {function: number for number, function in enumerate(functions, 1)}
    nodes = [(0, 0, 0, (0,) * len(events))]
    for path in sorted(contexts, key=lambda path: [numbers[function] for function in path]):
        calls, costs = contexts[path]
        nodes.append((len(path), numbers[path[-1]], calls, tuple(costs)))
    named = [(module, file, 1, name) for module, file, name in functions]
    return ContextFile(events, named, ["thread 1"], nodes, recursion, **more)


def large(nodes, events=25, functions=9000, seed=1):
    """A tree of the size and sparsity of a compiler's: three events everywhere, seven at a third
    of the nodes, nine at a seventh."""
    chance = random.Random(seed)
    rows = [(0, 0, 0, (0,) * events)]
    depth = 1
    for _ in range(nodes - 1):
        calls = int(chance.paretovariate(0.8)) % 10**7
        costs = [calls * chance.randrange(5, 60), calls * chance.randrange(20), calls]
        costs += [0] * (events - 3)
        if chance.random() < 0.35:
            rare = range(3, 19) if chance.random() < 0.4 else range(3, 10)
            for event in rare:
                costs[event] = chance.randrange(64 + calls // 10)
        rows.append((depth, 1 + int(chance.expovariate(10 / functions)) % functions, calls, costs))
        depth = min(max(1, depth + chance.choice((1, 1, 1, 0, 0, -1, -1, -2))), 120)
    named = [("cc1plus", f"file{n % 300}.cc", n, f"function_{n}") for n in range(functions)]
    names = [f"E{number}" for number in range(events)]
    return ContextFile(names, named, ["thread 1"], rows, block=8192)
