# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the file on paths within functions beside a profile (docs/format.md)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import gt

from ..model.errors import FormatProblem
from ..model.narrow import zeros
from ..model.paths import MOST_STEPS, Cells, Ending, NodeKind, Paths, Piece, Step, merge
from .columns import path_beside
from .sections import MOST_ROWS, SectionReader, Table, number_of

PREFIX = "paths."

_SECTIONS = {
    "steps": ("begin", "last", "end", "ending", "reads", "writes"),
    "pieces": ("step", "file", "line", "instructions"),
    "nodes": ("parent", "kind", "function", "step", "times"),
}
_CELLS = ("node", "place")
# The limit of --paths-nodes.
_MOST_NODES = 1 << 30
# Blocks of Valgrind have about a hundred instructions.
_MOST_PIECES = 1 << 12
_ENDINGS = frozenset(Ending)
_KINDS = frozenset(NodeKind)


def paths_path(profile: str) -> str | None:
    """The path of the file on paths beside a profile, or None. Both may be compressed."""
    return path_beside(profile, PREFIX)


def read_parts(path: str) -> list[Paths]:
    return _Reader.read(path)


def read_paths(path: str) -> Paths:
    """The paths of a file; the sum of its parts, if it has several."""
    return merge(read_parts(path))


class _Reader(SectionReader[Paths]):
    what = "a file on paths"
    plural = "files on paths"
    first_line = "paths"
    has_events = True

    def _part(self) -> Paths:
        headers, own, functions, places, names = self._places_head(("limit",))
        limit = number_of(own, "limit")
        if limit > _MOST_NODES:
            raise FormatProblem(f"limit: {limit:,} is more than {_MOST_NODES:,}, the most there can be")
        self.most_rows = max(MOST_ROWS, 2 * limit)
        self.sections = {**_SECTIONS, "cells": (*_CELLS, *headers.events)}
        found = self._sections()
        for name in self.sections:
            if name not in found:
                raise FormatProblem(f"'{name}:' is missing")
        steps = _steps(found["steps"], found["pieces"], names.files)
        nodes = _Nodes(found["nodes"], len(steps), len(functions), limit)
        return Paths(
            (headers.part(self._source, ()),), headers.events, limit, tuple(functions), steps,
            nodes.parent, nodes.kind, nodes.function, nodes.step, nodes.times,
            nodes.cells(found["cells"], len(places), limit),
        )


def _steps(steps: Table, pieces: Table, files: Sequence[str]) -> tuple[Step | None, ...]:
    found: list[list[Piece]] = [[] for _ in range(steps.number + 1)]
    for step, file, line, instructions in pieces.rows:
        _check(step, len(found), "step")
        _check(file, len(files), "file")
        if not instructions or len(found[step]) == _MOST_PIECES:
            raise FormatProblem(f"step {step:,} has a piece without instructions, or more than {_MOST_PIECES:,} pieces")
        found[step].append(Piece(files[file], line, instructions))
    made: list[Step | None] = [None]
    for (begin, last, end, ending, reads, writes), own in zip(steps.rows, found[1:]):
        if ending not in _ENDINGS or not begin <= last < end:
            raise FormatProblem(f"step {len(made):,} has an impossible end")
        made.append(Step(begin, last, end, Ending(ending), reads, writes, tuple(own)))
    return tuple(made)


class _Nodes:
    """The nodes of the tree, numbered from 1. function: for each node, the function of its root."""

    def __init__(self, table: Table, steps: int, functions: int, limit: int) -> None:
        self.parent, self.kind, own, self.step, self.times = map(_from_one, table.columns)
        self.function = array("I", bytes(4 * len(own)))
        depth = bytearray(len(own))
        separate = 0
        for node, (parent, kind, function, step) in enumerate(zip(self.parent, self.kind, own, self.step)):
            if node == 0:
                continue
            if kind not in _KINDS:
                raise FormatProblem(f"node {node:,} has the unknown kind {kind}")
            is_step = kind in (NodeKind.STEP, NodeKind.CHARGED)
            if parent >= node or (parent == 0) != (kind == NodeKind.ROOT) or self.kind[parent] == NodeKind.OTHER:
                raise FormatProblem(f"node {node:,} cannot be below node {parent:,}")
            _check(function, functions, "function")
            _check(step, steps, "step")
            if (step != 0) != is_step or (function != 0) != (kind == NodeKind.ROOT):
                name = NodeKind(kind).name.lower()
                raise FormatProblem(f"node {node:,} has a step or a function that no {name} node has, or lacks one")
            self.function[node] = function or self.function[parent]
            if is_step:
                separate += 1
                if depth[parent] == MOST_STEPS:
                    raise FormatProblem(f"it has a path of more than {MOST_STEPS} steps")
                depth[node] = depth[parent] + 1
        if separate > limit:
            raise FormatProblem(f"it has {separate:,} beginnings of paths, more than its limit of {limit:,}")

    def cells(self, table: Table, places: int, limit: int) -> Cells:
        node, place, *costs = table.columns
        _check(max(node, default=0), len(self.parent), "node")
        _check(max(place, default=0), places, "place")
        if 0 in node or any(map(gt, node, node[1:])):
            raise FormatProblem("its cells are not in the order of its nodes")
        separate = sum(1 for number in node if self.kind[number] != NodeKind.OTHER)
        if separate > limit:
            raise FormatProblem(f"it has {separate:,} cells, more than its limit of {limit:,}")
        return Cells(node, tuple(map(_signed, costs)))


def _from_one(column: array[int]) -> array[int]:
    found = zeros(1, column.itemsize)
    found.extend(column)
    return found


def _signed(column: array[int]) -> array[int]:
    """Numbers modulo 2^64, as numbers with a sign."""
    if column.itemsize < 8 or max(column, default=0) >> 63 == 0:
        return column
    return array("q", column.tobytes())


def _check(number: int, limit: int, what: str) -> None:
    if number >= limit:
        raise FormatProblem(f"there is no {what} {number:,}")
