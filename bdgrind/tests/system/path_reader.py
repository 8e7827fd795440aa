# SPDX-License-Identifier: GPL-2.0-or-later
"""A small reader of the files that --paths writes, for tests: docs/format.md. It is not bd_annotate's either."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

STEP, ROOT, OTHER, CHARGED = range(4)
_RECURSION = re.compile(r"'\d+$")

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Executed:
    """One that has been executed: of which function, how often, and the addresses of its blocks."""

    function: str
    times: int
    blocks: Row


@dataclass(slots=True)
class Paths:
    events: list[str]
    functions: list[str]  # from 1 on
    sections: dict[str, list[Row]]

    def function_of(self) -> list[str]:
        """Of each node, from 1 on."""
        found = [""]
        for parent, _, function, *_ in self.sections["nodes"]:
            found.append(found[parent] if parent else self.functions[function])
        return found

    def self_costs(self) -> dict[str, Counter[str]]:
        """Of each function: what its paths cost."""
        costs: dict[str, Counter[str]] = defaultdict(Counter)
        functions = self.function_of()
        nodes, steps = self.sections["nodes"], self.sections["steps"]
        instructions: Counter[int] = Counter()
        for step, _, _, count in self.sections["pieces"]:
            instructions[step] += count
        passed = [times for *_, times in nodes]
        for number in range(len(nodes), 0, -1):
            parent, kind, _, step, _ = nodes[number - 1]
            if kind not in (STEP, CHARGED):
                continue
            passed[parent - 1] += passed[number - 1]
            reads, writes = steps[step - 1][4:]
            for event, count in zip(("Ir", "Dr", "Dw"), (instructions[step], reads, writes)):
                costs[functions[number]][event] += passed[number - 1] * count
        for node, _, *counts in self.sections["cells"]:
            for event, count in zip(self.events, counts):
                costs[functions[node]][event] += count - (1 << 64) if count >> 63 else count
        return costs

    def paths(self) -> list[Executed]:
        functions, nodes, steps = self.function_of(), self.sections["nodes"], self.sections["steps"]
        blocks: list[Row] = [()]
        found = []
        for number, (parent, kind, _, step, times) in enumerate(nodes, 1):
            blocks.append((*blocks[parent], steps[step - 1][0]) if kind in (STEP, CHARGED) else ())
            if times:
                found.append(Executed(functions[number], times, blocks[number]))
        return found


def read_paths(path: Path) -> Paths:
    data = path.read_bytes()
    at = 0

    def line() -> str:
        nonlocal at
        end = data.index(b"\n", at)
        text = data[at:end].decode("utf-8", "surrogateescape")
        at = end + 1
        return text

    def number(width: int) -> int:
        nonlocal at
        at += width
        return int.from_bytes(data[at - width:at], "little")

    def column(count: int) -> list[int]:
        form = number(1)
        if form & 0x10:
            places = [number(2) for _ in range(number(2))]
            values = {place: number(form & 0xF) for place in places}
            return [values.get(i, 0) for i in range(count)]
        return [number(form) if form else 0 for _ in range(count)]

    assert line() == "paths: 1"
    events: list[str] = []
    functions = [""]
    while (text := line()) and not text.startswith("objects: "):
        if text.startswith("events: "):
            events = text.split()[1:]
    for key in ("objects", "files", "functions", "places"):
        name, _, count = text.partition(": ")
        assert name == key
        names = [line() for _ in range(int(count))]
        if key == "functions":
            functions += (_RECURSION.sub("", each.split(" ", 3)[3]) for each in names)
        if key != "places":
            text = line()
    sections: dict[str, list[Row]] = {}
    while at < len(data):
        name, _, columns = line().partition(": ")
        rows: list[Row] = []
        while size := number(2):
            rows += zip(*[column(size) for _ in columns.split()])
        assert number(8) == len(rows)
        sections[name] = rows
    assert list(sections) == ["steps", "pieces", "nodes", "cells"]
    return Paths(events, functions, sections)
