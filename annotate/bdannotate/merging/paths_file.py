# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes paths within functions as docs/format.md describes them."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.paths import NodeKind, Paths, Step
from .column_writer import section
from .file_head import MergedHead, NameLists, event_lines, run_lines

_WHOLE = 1 << 64


def paths_text(paths: Paths, head: MergedHead) -> Iterator[bytes]:
    """The file. It has the same bytes for the same paths, whatever the order of their nodes. Cells are sums by path,
    without places."""
    roots = {paths.functions[function] for function, kind in zip(paths.function, paths.kind) if kind == NodeKind.ROOT}
    used = {paths.steps[number] for number in set(paths.step) if number}
    steps = sorted(step for step in used if step is not None)
    names = NameLists(dict.fromkeys(roots, 0), {piece.file for step in steps for piece in step.pieces})
    events = [event for event in head.events if event in paths.events]
    text = ["paths: 1\n", *run_lines(head), f"limit: {paths.limit}\n"]
    text.append(event_lines(events, head.titles, head.formulas))
    yield "".join([*text, names.text(), "places: 0\n"]).encode("utf-8", "surrogateescape")
    yield from section("steps", "begin last end ending reads writes", (step[:6] for step in steps))
    yield from section("pieces", "step file line instructions", (
        (number, names.files[piece.file], piece.line, piece.instructions)
        for number, step in enumerate(steps, 1) for piece in step.pieces
    ))
    order = _in_order(paths, names, {step: number for number, step in enumerate(steps, 1)})
    yield from section("nodes", "parent kind function step times", (
        (*row, paths.times[node]) for node, row in order.items()
    ))
    new = {node: number for number, node in enumerate(order, 1)}
    costs = [paths.cells.costs[paths.events.index(event)] for event in events]
    yield from section("cells", f"node place {' '.join(events)}", sorted(
        (new[node], 0, *(cost % _WHOLE for cost in row)) for node, row in zip(paths.cells.node, zip(*costs))
    ))


def _in_order(paths: Paths, names: NameLists, steps: dict[Step, int]) -> dict[int, tuple[int, int, int, int]]:
    """What is written of each node, without the number of paths that end there: level by level, from the functions
    on."""
    below: dict[int, list[int]] = {}
    for node in range(1, paths.nodes):
        below.setdefault(paths.parent[node], []).append(node)
    found: dict[int, tuple[int, int, int, int]] = {}
    level = {0: 0}  # nodes, and their new numbers
    while level:
        rows: list[tuple[tuple[int, int, int, int], int]] = []
        for parent, number in level.items():
            for node in below.get(parent, ()):
                kind, step = paths.kind[node], paths.steps[paths.step[node]]
                function = names.functions[paths.functions[paths.function[node]]] if kind == NodeKind.ROOT else 0
                rows.append(((number, kind, function, 0 if step is None else steps[step]), node))
        level = {}
        for row, node in sorted(rows):
            found[node] = row
            level[node] = len(found)
    return found
