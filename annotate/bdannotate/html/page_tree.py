# SPDX-License-Identifier: GPL-2.0-or-later
"""The context tree of a page. Its costs are most of a large page, and take most memory while it is written: they are
packed before anything else is read."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..analyses.code.report import Report
from ..model.contexts import ContextTree, Kind
from .tables import Form, PackedTable, Table, packed

# Most pages begin with an icicle (flame graph) of one of these events.
_FIRST = ("SpLoss1", "SpLossD1", "UsByteD1")


@dataclass(frozen=True, slots=True)
class PageTree:
    """paths: the nodes without their costs. table: all columns but `within`."""

    paths: ContextTree
    table: PackedTable

    def other(self) -> int | None:
        """The frame that stands for the paths that the tree had no room for; None if the tree has all paths."""
        frames = self.paths.frames
        number = next((number for number, frame in enumerate(frames) if frame.kind is Kind.OTHER), None)
        return None if number is None or number not in self.paths.frame else number


def page_tree(tree: ContextTree | None) -> PageTree | None:
    """Packs a tree; None stays None. If two profiles are compared, calls are among the tree's events."""
    if tree is None:
        return None
    columns: dict[str, Sequence[int]] = {
        # The page counts from 1, so that 0 can say that there is no parent.
        "parent": array("I", [parent + 1 for parent in tree.parent]),
        "frame": tree.frame,
        "place": tree.place,
    }
    if "calls" not in tree.events:
        columns["calls"] = tree.calls
    for name, costs in zip(tree.events, tree.costs):
        prefix, _, event = name.rpartition(":")
        prefix += ":" if prefix else ""
        columns[f"{prefix}calls" if event == "calls" else f"{prefix}self:{event}"] = costs
    first = frozenset(name for name in columns if name.rpartition(":")[2] in _FIRST)
    table = packed(Table(len(tree), columns, forms={"parent": Form.RANKS}, alone=first))
    return PageTree(replace(tree, calls=array("B"), costs=()), table)


def tree_table(tree: PageTree, within: Sequence[int] | None, report: Report, sides: Sequence[str]) -> PackedTable:
    """The packed tree with column `within` (if known), and with the costs that the report does not show first marked as
    late. within: see `frames_of_calls`. sides: the prefixes of the sides' columns."""
    table = tree.table
    more: Mapping[str, bytes] = {}
    if within is not None:
        more = packed(Table(table.rows, {"within": within})).columns
    shown = {f"{side}self:{event}" for side in sides for event in _shown(report)}
    late = {name for name in table.columns if "self:" in name and name not in shown}
    return replace(table, columns={**table.columns, **more}).with_late(late | more.keys())


def _shown(report: Report) -> set[str]:
    """The events behind the columns that the report shows first."""
    return {
        event
        for column in report.selection.columns
        for weights in (column.metric.numerator, column.metric.denominator or ())
        for event, weight in zip(report.profile.events, weights) if weight
    }
