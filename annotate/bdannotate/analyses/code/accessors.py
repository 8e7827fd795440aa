# SPDX-License-Identifier: GPL-2.0-or-later
"""Accessors: functions of a few instructions that were not inlined. Their costs are due to their callers."""

from __future__ import annotations

from ...model.graph import CallGraph
from ...model.profile import Function, Profile

# The maximum average number of instructions per call, which is less than any loop that matters takes.
_MOST_INSTRUCTIONS = 20
_FEWEST_CALLS = 1000
_MOST_LINES = 5


def accessors(profile: Profile, graph: CallGraph) -> frozenset[Function]:
    """The accessors of a profile: leaves of the call graph, of a few lines each."""
    if "Ir" not in profile.events:
        return frozenset()
    work = profile.events.index("Ir")
    found = {
        function for function, costs in graph.functions.items()
        if costs.calls >= _FEWEST_CALLS and costs.self_cost[work] <= _MOST_INSTRUCTIONS * costs.calls
        and not graph.callees.get(function) and not function.is_nameless
    }
    spans: dict[Function, tuple[int, int]] = {}
    for place, rows in profile.lines.items():
        if place.function in found and place.file == place.function.file and any(rows):
            numbers = [line for line in rows if line]
            spans[place.function] = min(numbers), max(numbers)
    return frozenset(
        function for function, (first, last) in spans.items() if last - first < _MOST_LINES
    )
