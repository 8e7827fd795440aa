# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes data objects as docs/format.md describes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ..model.errors import UserError
from ..model.objects import VARIABLES, ObjectGroup, ObjectKind, Objects, Site
from ..model.profile import Function
from .column_writer import blocks, counted_blocks
from .file_head import MergedHead, NameLists, event_lines, run_lines, shown

_NO_FUNCTION = Function("", "", "")
_KINDS = {kind: number for number, kind in enumerate(ObjectKind)}


def objects_text(objects: Objects, head: MergedHead) -> Iterator[bytes]:
    """The file. It has the same bytes for the same objects, whatever their order."""
    try:
        yield from _text(objects, head)
    except OverflowError:
        raise UserError("sums of data objects' costs are of 64 bits and more") from None


def _text(objects: Objects, head: MergedHead) -> Iterator[bytes]:
    order = order_of_groups(objects)
    groups = [objects.groups[number] for number in order]
    names = _names(objects)
    sample = f"sample: {objects.one_in}\n" if objects.one_in > 1 else ""
    text = ["data-objects: 3\n", *run_lines(head), f"depth: {objects.depth}\nwhole-to: {objects.whole_to}\n{sample}"]
    text += [event_lines(head.events, head.titles, head.formulas), names.text(), f"groups: {len(groups)}\n"]
    text += [f"{' '.join(map(str, _words(group, names)))}\n" for group in groups]
    yield "".join([*text, "rows:\n"]).encode("utf-8", "surrogateescape")
    new = {old: number for number, old in enumerate(order, 1)}
    events = [objects.events.index(event) for event in head.events]
    rows = sorted(
        (new[row.group], names.functions[row.function], names.files[row.file], row.line,
         *(row.cost[event] for event in events))
        for row in objects.rows
    )
    yield from blocks(rows)
    totals = objects.totals()
    for number in (len(rows), *(totals[event] for event in events)):
        yield number.to_bytes(8, "little")
    yield from counted_blocks(_patterns(groups, names))


def order_of_groups(objects: Objects) -> list[int]:
    """The order in which groups are written, as their positions."""
    return sorted(range(len(objects.groups)), key=lambda number: group_key(objects.groups[number]))


class GroupKey(NamedTuple):
    """The key by which groups are sorted. No two groups have the same."""

    kind: int
    object: str
    name: str
    size: int
    function: Function
    has_no_function: bool
    sites: tuple[tuple[Site, ...], ...]  # which are where its places are


def group_key(group: ObjectGroup) -> GroupKey:
    kind, name, module, size, function, _, symbol = group.identity
    return GroupKey(
        _KINDS[kind], module, symbol or name, size, function or _NO_FUNCTION, function is None, group.sites
    )


def _names(objects: Objects) -> NameLists:
    functions = {row.function for row in objects.rows}
    files = {row.file for row in objects.rows}
    modules = {group.identity.object for group in objects.groups}
    for group in objects.groups:
        for site in chain.from_iterable(group.sites):
            functions.add(site.function)
            files.add(site.file)
        for pattern in group.patterns:
            functions.add(pattern.by.function)
            files.add(pattern.by.file)
        if (function := group.identity.function) is not None:
            modules.add(shown(function.object))
            files.add(shown(function.file))
    return NameLists(dict.fromkeys(functions, 0), files, modules)


def _words(group: ObjectGroup, names: NameLists) -> Iterator[object]:
    """The words of a group in its line."""
    identity = group.identity
    yield identity.kind.value
    if identity.kind in (ObjectKind.CODE, ObjectKind.FILE):
        yield names.objects[identity.object]
    elif identity.kind in VARIABLES:
        yield from (names.objects[identity.object], identity.size, identity.symbol or identity.name)
    elif identity.kind in (ObjectKind.HEAP, ObjectKind.MAPPING):
        yield from group.blocks or ()
        sites = group.sites[0] if group.sites else ()
        yield len(sites)
        for site in sites:
            yield from (names.functions[site.function], names.files[site.file], site.line, site.address)
    if (function := identity.function) is not None:
        yield from (names.objects[shown(function.object)], names.files[shown(function.file)], shown(function.name))


def _patterns(groups: list[ObjectGroup], names: NameLists) -> Iterator[tuple[int, ...]]:
    for number, group in enumerate(groups, 1):
        yield from sorted(
            (number, names.functions[by.function], names.files[by.file], by.line, offset, size, used, times)
            for offset, size, used, times, by in group.patterns
        )
