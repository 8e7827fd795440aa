# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a context tree as docs/format.md describes it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from ..model.context_cut import in_order
from ..model.contexts import ContextTree, Kind
from ..reading.contexts import root_line
from .column_writer import blocks
from .file_head import MergedHead, NameLists, event_lines, run_lines

# Paths of few nodes have narrower columns; many small blocks have more heads of columns.
_BLOCK = 4096


def contexts_text(tree: ContextTree, head: MergedHead) -> Iterator[bytes]:
    """The file. It has the same bytes for the same tree, whatever the order of its nodes."""
    order = in_order(tree)
    used = set(tree.frame)
    lines = {
        frame.function: line for number, (frame, line) in enumerate(zip(tree.frames, tree.lines))
        if frame.kind is Kind.FUNCTION and number in used
    }
    has_places = any(place.file or place.line or place.address for place in tree.places)
    names = NameLists(lines, {tree.places[place].file for place in set(tree.place)})
    roots = [tree.frames[tree.frame[node]].function.name for node in order if tree.parent[node] < 0]
    text = ["contexts: 1\n", *run_lines(head)]
    text.append(f"recursion: {'folded' if tree.is_folded else 'apart'}\nlimit: {tree.limit}\n")
    text.append(event_lines(head.events, head.titles, head.formulas))
    text.append(f"columns: depth function calls{' file line address' if has_places else ''}\n{names.text()}")
    text.append(f"roots: {len(roots)}\n{''.join(map(root_line, roots))}nodes:\n")
    yield "".join(text).encode("utf-8", "surrogateescape")
    costs = [tree.costs[tree.events.index(event)] for event in head.events]
    yield from blocks(_rows(tree, order, costs, names, has_places), _BLOCK)
    for number in (len(tree), *(sum(column) for column in (tree.calls, *costs))):
        yield number.to_bytes(8, "little")


def _rows(
    tree: ContextTree, order: list[int], costs: list[array[int]], names: NameLists, has_places: bool
) -> Iterator[tuple[int, ...]]:
    numbers = [names.functions.get(frame.function, 0) for frame in tree.frames]  # 0: roots and *other* ones
    places = [(names.files.get(place.file, 0), place.line, place.address) for place in tree.places]
    depths = [0] * len(tree)
    root = 0
    for node in order:
        above = tree.parent[node]
        function = numbers[tree.frame[node]]
        if above < 0:
            function, root = root, root + 1
        else:
            depths[node] = depths[above] + 1
        where = places[tree.place[node]] if has_places else ()
        yield depths[node], function, tree.calls[node], *where, *(column[node] for column in costs)
