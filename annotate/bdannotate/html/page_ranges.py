# SPDX-License-Identifier: GPL-2.0-or-later
"""The counts that each member of a sum adds to the page's tables, so that a reader can choose a range of members."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..model.contexts import ContextTree, merge
from ..model.graph import build
from .numbers import Numbers
from .page_tables import arcs_table, functions_table, lines_table, sites_table
from .schema import OF_MEMBERS
from .subject import Side, Subject
from .tables import PackedTable, Table, packed

# At most so many counts, in total; tables are added in the order of OF_MEMBERS until they are used up.
_MOST_COUNTS = 20_000_000

_WRITERS: Mapping[str, Callable[[Subject, Numbers], Table]] = {
    "functions": functions_table, "arcs": arcs_table, "lines": lines_table, "sites": sites_table,
}


def member_tables(
    subject: Subject, tables: Mapping[str, PackedTable], numbers: Numbers
) -> dict[str, PackedTable]:
    """For each of the tables, one with the same rows and with columns for each member, such as `0:self:Ir`. Tables
    that would be too large are left out. Empty if the subject has no members."""
    if not subject.members:
        return {}
    total = subject.sides[0]
    left = _MOST_COUNTS
    found: dict[str, PackedTable] = {}
    sides: tuple[Side, ...] = ()
    for name in OF_MEMBERS:
        table = tables.get(name)
        if table is None or (name == "tree" and len(subject.member_trees) < len(subject.members)):
            continue
        own = sum(1 for column in table.columns if ":" in column or column == "calls")
        left -= table.rows * own * len(subject.members)
        if left < 0:
            break
        if name == "tree" and subject.tree is not None:
            found[OF_MEMBERS[name]] = _tree(subject.tree.paths, subject.member_trees)
        elif name in _WRITERS:
            sides = sides or tuple(
                Side(f"{number}:", profile, build(profile, total.graph))
                for number, profile in enumerate(subject.members)
            )
            # The sum comes first and has all rows of its members, so that they add none.
            wide = _WRITERS[name](replace(subject, sides=(total, *sides)), numbers)
            found[OF_MEMBERS[name]] = _late(wide.rows, {
                column: values for column, values in wide.columns.items() if column[0].isdigit()
            })
    return found


def _tree(total: ContextTree, members: tuple[ContextTree, ...]) -> PackedTable:
    """The costs of each member, at the nodes of the sum's tree."""
    nothing = array("Q", bytes(8 * len(total)))
    empty = replace(total, costs=tuple(nothing for _ in total.events), calls=nothing)
    columns: dict[str, array[int]] = {}
    for number, member in enumerate(members):
        own = merge([empty, member])
        columns[f"{number}:calls"] = own.calls
        columns.update({f"{number}:self:{event}": costs for event, costs in zip(own.events, own.costs)})
    return _late(len(total), columns)


def _late(rows: int, columns: Mapping[str, Sequence[int]]) -> PackedTable:
    """Packs columns that the page reads late: it needs none of them until a reader chooses a range."""
    return packed(Table(rows, columns, frozenset(columns)))
