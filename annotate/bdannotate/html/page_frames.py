# SPDX-License-Identifier: GPL-2.0-or-later
"""The loops and inlined functions of the costliest functions, as a table in which each frame follows the one around
it; and from which of them each node of the context tree is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..analyses.code.report import FunctionRow
from ..analyses.code.startup import above_main
from ..analyses.code.structure import Structure
from ..model.contexts import ContextTree
from ..model.contexts import Kind as NodeKind
from ..model.frames import Frame, Kind
from ..model.profile import Function, Profile, Row
from ..views.json_values import text
from .numbers import Numbers
from .subject import Subject
from .tables import Table, table_of_rows

# Frames are found for at most so many functions with this self share of an event, and for as many others whose
# inclusive share is as large.
_MOST_FUNCTIONS = 200
_LEAST_SHARE = 0.002
_MOST_FRAMES = 20_000
_KINDS = (Kind.INLINED, Kind.LOOP, Kind.REGION)


def entries_with_frames(subject: Subject) -> list[FunctionRow]:
    """The functions whose frames are worth finding, the costliest first."""
    side = subject.sides[0]
    if not side.profile.instructions or not side.profile.jumps:
        return []
    totals = side.profile.totals()
    of_code = {place.function for place in side.profile.instructions}
    of = side.graph.functions

    def costliest(shares: dict[Function, float]) -> list[Function]:
        chosen = [function for function, share in shares.items() if share >= _LEAST_SHARE]
        return sorted(chosen, key=lambda function: (-shares[function], function))[:_MOST_FUNCTIONS]

    def share(costs: Row) -> float:
        return max((count / total for count, total in zip(costs, totals) if total), default=0.0)

    own = costliest({function: share(of[function].self_cost) for function in of if function in of_code})
    known = {*own, *above_main(side.graph)}
    # Paths lead through the loops of functions that call much, even if those cost little themselves.
    more = costliest({
        function: share(of[function].inclusive) for function in of if function in of_code and function not in known
    }) if subject.tree is not None else []
    return [
        FunctionRow(function, of[function].self_cost, of[function].inclusive, of[function].calls)
        for function in (*own, *more)
    ]


@dataclass(frozen=True, slots=True)
class FramesTable:
    """inlined: the names of inlined functions, and of loops without lines. The table numbers a parent by its row, from
    1; 0 is the function itself. `of_code` maps the address of each instruction of a function to such a number."""

    inlined: list[str]
    table: Table
    of_code: dict[Function, dict[int, int]]


def frames_table(found: Sequence[Structure], subject: Subject, numbers: Numbers) -> FramesTable:
    names: dict[str, int] = {"": 0}
    events = subject.sides[0].profile.events
    rows: list[tuple[int, ...]] = []

    of_code: dict[Function, dict[int, int]] = {}
    waiting: list[tuple[Frame, Function, int]] = []
    for structure in reversed(found):
        function = structure.entry.function
        of_code[function] = dict.fromkeys(structure.frame.addresses, 0)
        waiting += [(frame, function, 0) for frame in reversed(structure.frame.frames)]
    while waiting:
        frame, function, row = waiting.pop()
        # If there is no room for a frame, its code belongs to the frame around it.
        if len(rows) < _MOST_FRAMES:
            # The name of a loop is its address if it has no line; else it is empty.
            rows.append((
                numbers.function(function), row, _KINDS.index(frame.kind), names.setdefault(frame.name, len(names)),
                numbers.file(frame.file), frame.line, frame.entries, sum(part.iterations for part in frame.parts),
                *frame.self_cost, *frame.inclusive,
            ))
            row = len(rows)
        of_code[function].update(dict.fromkeys(frame.addresses, row))
        waiting += [(inner, function, row) for inner in reversed(frame.frames)]
    columns = ["function", "parent", "kind", "name", "file", "line", "entries", "iterations"]
    columns += [f"{kind}:{event}" for kind in ("self", "incl") for event in events]
    return FramesTable([text(name) for name in names], table_of_rows(columns, rows), of_code)


def frames_of_calls(tree: ContextTree, frames: FramesTable, profile: Profile) -> list[int]:
    """For each node of the tree, the innermost loop or inlined function of its caller that calls it: the row of that
    frame, from 1; 0 if the caller itself does, or if this is not known.

    If the tree has the calling instruction of a node, its frame is that of the instruction. Else the node stands for
    all calls from its caller to its function on that path. Its frame is then the innermost one around all instructions
    from which the caller calls the function in the profile, if the profile has all of these calls."""
    parents = [0, *frames.table.columns["parent"]]
    functions = [frame.function if frame.kind is NodeKind.FUNCTION else None for frame in tree.frames]
    rows_of = [None if function is None else frames.of_code.get(function) for function in functions]
    of_pairs = _frames_of_pairs(frames, profile, parents)
    known: dict[tuple[int, int, int], int] = {}
    found: list[int] = []
    for above, number, place in zip(tree.parent, tree.frame, tree.place):
        rows = None if above < 0 else rows_of[tree.frame[above]]
        if rows is None:
            found.append(0)
            continue
        key = tree.frame[above], number, place
        if key not in known:
            address, caller, callee = tree.places[place].address, functions[key[0]], functions[number]
            if address:
                known[key] = rows.get(address, 0)
            elif caller is not None and callee is not None:
                known[key] = of_pairs.get((caller, callee), 0)
            else:
                known[key] = 0
        found.append(known[key])
    return found


def _frames_of_pairs(
    frames: FramesTable, profile: Profile, parents: Sequence[int]
) -> dict[tuple[Function, Function], int]:
    """By caller and callee, the innermost frame that makes all calls between them; only pairs for which it is known."""
    left: dict[tuple[Function, Function], int] = {}
    for site, call in profile.calls.items():
        if site.caller in frames.of_code:
            pair = site.caller, site.callee
            left[pair] = left.get(pair, 0) + call.calls
    found: dict[tuple[Function, Function], int] = {}
    for (caller, callee, address), call in profile.instruction_calls.items():
        if caller not in frames.of_code:
            continue
        pair = caller, callee
        row = frames.of_code[caller].get(address, 0)
        found[pair] = _common(found[pair], row, parents) if pair in found else row
        left[pair] = left.get(pair, 0) - call.calls
    return {pair: row for pair, row in found.items() if row and left[pair] == 0}


def _common(one: int, other: int, parents: Sequence[int]) -> int:
    """The innermost frame around both. A frame has a smaller number than the frames in it."""
    while one != other:
        if one > other:
            one = parents[one]
        else:
            other = parents[other]
    return one

