# SPDX-License-Identifier: GPL-2.0-or-later
"""The text that merged files begin with: docs/format.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bdcommon import __version__

from ..model.profile import Function


class MergedHead(NamedTuple):
    """What all files of a merge say about it."""

    command: str
    descriptions: tuple[tuple[str, str], ...]
    events: tuple[str, ...]
    titles: Mapping[str, str]
    formulas: Mapping[str, str]


def run_lines(head: MergedHead) -> Iterator[str]:
    yield f"creator: bd_annotate-{__version__}\ncmd: {head.command}\npart: 1\n"
    for name, text in head.descriptions:
        yield f"desc: {name}: {text}\n"


def event_lines(events: Iterable[str], titles: Mapping[str, str], formulas: Mapping[str, str]) -> str:
    found = []
    for name in {**dict.fromkeys(formulas), **titles}:
        formula, title = formulas.get(name, ""), titles.get(name, "")
        found.append(f"event: {name}{f' = {formula}' if formula else ''}{f' : {title}' if title else ''}\n")
    return f"{''.join(found)}events: {' '.join(events)}\n"


def shown(name: str) -> str:
    """The head as lines of a profile."""
    return name or "???"


class NameLists:
    """The lists of object files, source files and functions, and the numbers by which rows refer to them; 0 is no file
    and no object.

    lines: the line in which each function begins, or 0.
    files, objects: further names.
    """

    def __init__(self, lines: Mapping[Function, int], files: Iterable[str] = (), objects: Iterable[str] = ()) -> None:
        self.objects = _numbers({*objects, *(shown(function.object) for function in lines)})
        self.files = _numbers({*files, *(shown(function.file) for function in lines)})
        self.functions = {function: number for number, function in enumerate(sorted(lines), 1)}
        self._lines = lines

    def text(self) -> str:
        lists = {"objects": [*self.objects][1:], "files": [*self.files][1:], "functions": [
            f"{self.objects[shown(function.object)]} {self.files[shown(function.file)]} {line} {shown(function.name)}"
            for function, line in ((function, self._lines[function]) for function in self.functions)
        ]}
        return "".join(
            f"{line}\n" for name, lines in lists.items() for line in (f"{name}: {len(lines)}", *lines)
        )


def _numbers(names: set[str]) -> dict[str, int]:
    """The names by number, from 1; 0 is no name."""
    return {"": 0, **{name: number for number, name in enumerate(sorted(names - {""}), 1)}}
