# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the context tree beside a profile (docs/format.md)."""

from __future__ import annotations

import re
from array import array

from ..model.contexts import (
    NO_PARENT, NOWHERE, OTHER, CallPlace, ContextTree, ContextFrame, Kind, merge,
)
from ..model.errors import FormatProblem, shorten
from ..model.narrow import extended
from ..model.profile import Function, Row
from .columns import ColumnReader, named_function, path_beside

PREFIX = "contexts."

_REQUIRED_COLUMNS = ("depth", "function", "calls")
_MOST_DIGITS = 19
_SITE_COLUMNS = ("file", "line", "address")


def contexts_path(profile: str) -> str | None:
    """The path of the context tree beside a profile, or None. Both may be compressed."""
    return path_beside(profile, PREFIX)


def read_contexts(path: str) -> ContextTree:
    """The tree of a file; the sum of its parts, if it has several. UserError: it cannot be read, or is damaged."""
    trees = _Reader.read(path)
    return trees[0] if len(trees) == 1 else merge(trees)


class _Reader(ColumnReader[ContextTree]):
    what = "a context tree"
    plural = "context trees"
    first_line = "contexts"

    def _part(self) -> ContextTree:
        headers, texts, objects, files = self._head(("recursion", "limit", "columns"))
        recursion = texts.get("recursion", "")
        if recursion not in ("folded", "apart"):
            raise FormatProblem("recursion: must be folded or apart")
        columns = tuple(texts.get("columns", "").split())
        if columns not in (_REQUIRED_COLUMNS, _REQUIRED_COLUMNS + _SITE_COLUMNS):
            raise FormatProblem(f"columns: '{shorten(' '.join(columns))}' is unknown")
        frames, lines = [OTHER], [0]
        for text in self._names(self._section("functions")):
            function, line = named_function(text, objects, files)
            frames.append(ContextFrame(Kind.FUNCTION, function))
            lines.append(line)
        functions = len(frames)
        for text in self._names(self._section("roots")):
            frames.append(ContextFrame(Kind.ROOT, Function("", "", _root(text))))
            lines.append(0)
        self._section("nodes")
        roots = len(frames) - functions
        limit = _limit(texts.get("limit", ""))
        nodes = _Nodes(functions, roots, files, columns, len(headers.events), limit)
        self._read_blocks(nodes)
        sums = self._check_end(nodes, headers.events)
        return ContextTree(
            (headers.part(self._source, sums),), headers.events, headers.titles,
            recursion == "folded", tuple(frames), tuple(lines), tuple(nodes.places),
            nodes.parent, nodes.frame, nodes.place, nodes.calls, tuple(nodes.costs), limit,
        )

    def _read_blocks(self, nodes: _Nodes) -> None:
        while count := self._block():
            nodes.add([self._column(count) for _ in range(nodes.columns)], count)

    def _check_end(self, nodes: _Nodes, events: tuple[str, ...]) -> Row:
        sums = tuple(sum(column) for column in (nodes.calls, *nodes.costs))
        self._check_sums("nodes", len(nodes.parent), ("calls", *events), sums)
        nodes.check_roots()
        return sums[1:]


class _Nodes:
    """The nodes of the blocks read so far."""

    def __init__(
        self, functions: int, roots: int, files: list[str], columns: tuple[str, ...], width: int, limit: int
    ) -> None:
        self._limit = limit
        self.columns = len(columns) + width
        self.parent = array("i")
        self.frame = array("I")
        self.place = array("I")
        self.calls = array("B")
        self.costs = [array("B") for _ in range(width)]
        self.places: dict[CallPlace, int] = {NOWHERE: 0}
        self._has_places = len(columns) > len(_REQUIRED_COLUMNS)
        self._functions = functions
        self._roots = roots
        self._roots_seen = 0
        self._files = files
        self._path: list[int] = []

    def add(self, columns: list[array[int]], count: int) -> None:
        self._add_paths(columns[0], columns[1])
        # Roots come on top of the limit, and each node can have an "other" node below it.
        if len(self.parent) > 2 * (self._limit + self._roots):
            raise FormatProblem(f"there are more nodes than its limit of {self._limit:,}")
        if self._has_places:
            self._add_places(*columns[3:6])
        else:
            self.place.frombytes(bytes(count * self.place.itemsize))
        self.calls = extended(self.calls, columns[2])
        self.costs = [extended(mine, column) for mine, column in zip(self.costs, columns[-len(self.costs):])]

    def check_roots(self) -> None:
        if self._roots_seen < self._roots:
            raise FormatProblem(f"{self._roots} roots are named, but only {self._roots_seen} occur")

    def _add_paths(self, depths: array[int], functions: array[int]) -> None:
        path, parent, frame = self._path, self.parent, self.frame
        for node, (depth, function) in enumerate(zip(depths, functions), len(parent)):
            if depth > len(path):
                raise FormatProblem(f"node {node} has depth {depth}, below one of depth {len(path) - 1}")
            del path[depth:]
            if depth:
                if function >= self._functions:
                    raise FormatProblem(f"node {node} is of function {function}, which has no name")
                parent.append(path[-1])
                frame.append(function)
            else:
                if function != self._roots_seen or function >= self._roots:
                    raise FormatProblem(f"node {node} is not root {self._roots_seen}, which is next")
                self._roots_seen += 1
                parent.append(NO_PARENT)
                frame.append(self._functions + function)
            path.append(node)

    def _add_places(self, files: array[int], lines: array[int], addresses: array[int]) -> None:
        for file, line, address in zip(files, lines, addresses):
            if file >= len(self._files):
                raise FormatProblem(f"a call is in file {file}, which has no name")
            place = CallPlace(self._files[file], line, address)
            self.place.append(self.places.setdefault(place, len(self.places)))


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise FormatProblem(f"limit: '{shorten(text)}' is not a number of nodes")
    return int(text)


def root_line(name: str) -> str:
    """The line of a root in a file, from the name of the root in a tree."""
    numbers = re.findall(r"\d+", name)
    return f"{'signal' if len(numbers) > 1 else 'thread'} {' '.join(numbers)}\n"


def _root(text: str) -> str:
    match text.split(" "):
        case ["thread", thread] if thread.isascii() and thread.isdigit():
            return f"thread {thread}"
        case ["signal", signal, thread] if (signal + thread).isascii() and (
            signal.isdigit() and thread.isdigit()
        ):
            return f"handler of signal {signal} in thread {thread}"
    raise FormatProblem(f"'{shorten(text)}' is not a root")
