# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions of the costliest functions, as a table: a row for each, behind that of the frame that
it is in."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.report import FunctionRow
from ..analyses.structure import Structure
from ..model.frames import Frame, Kind
from ..views.json_values import text
from .numbers import Numbers
from .subject import Subject
from .tables import Table, table_of_rows

# So many functions have them, of those with this share of an event.
_MOST_FUNCTIONS = 200
_LEAST_SHARE = 0.002
_MOST_FRAMES = 20_000
_KINDS = (Kind.INLINED, Kind.LOOP, Kind.REGION)


def entries_with_frames(subject: Subject) -> list[FunctionRow]:
    """The functions whose frames are worth to be found, the costliest first."""
    side = subject.sides[0]
    if not side.profile.instructions or not side.profile.jumps:
        return []
    totals = side.profile.totals()
    of_code = {place.function for place in side.profile.instructions}
    shares = {
        function: max((count / total for count, total in zip(costs.self_cost, totals) if total), default=0.0)
        for function, costs in side.graph.functions.items() if function in of_code
    }
    chosen = [function for function, share in shares.items() if share >= _LEAST_SHARE]
    chosen.sort(key=lambda function: (-shares[function], function))
    of = side.graph.functions
    return [
        FunctionRow(function, of[function].self_cost, of[function].inclusive, of[function].calls)
        for function in chosen[:_MOST_FUNCTIONS]
    ]


def frames_table(found: Sequence[Structure], subject: Subject, numbers: Numbers) -> tuple[list[str], Table]:
    """The names of what is inlined, and the rows. A parent is one more than its row, or 0: the function itself."""
    names: dict[str, int] = {"": 0}
    events = subject.sides[0].profile.events
    rows: list[tuple[int, ...]] = []

    waiting = [
        (frame, numbers.function(structure.entry.function), 0)
        for structure in reversed(found) for frame in reversed(structure.frame.frames)
    ]
    while waiting and len(rows) < _MOST_FRAMES:
        frame, function, parent = waiting.pop()
        name = frame.name if frame.kind is Kind.INLINED else ""
        rows.append((
            function, parent, _KINDS.index(frame.kind), names.setdefault(name, len(names)),
            numbers.file(frame.file), frame.line, frame.entries, sum(part.iterations for part in frame.parts),
            *frame.self_cost, *frame.inclusive,
        ))
        waiting += [(inner, function, len(rows)) for inner in reversed(frame.frames)]
    columns = ["function", "parent", "kind", "name", "file", "line", "entries", "iterations"]
    columns += [f"{kind}:{event}" for kind in ("self", "incl") for event in events]
    return [text(name) for name in names], table_of_rows(columns, rows)

