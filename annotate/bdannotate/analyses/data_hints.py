# SPDX-License-Identifier: GPL-2.0-or-later
"""Which data the hints are about: the objects that lose most, with the code that loads them.

An object is told of once: with the hint whose code loses most of it, or by itself where no hint has
much of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.graph import CallGraph
from ..model.objects import VARIABLES, ObjectKind, Objects
from ..model.profile import Function
from .data.objects import GroupRow, list_objects
from .hints import Hint
from .types.object_details import Details

_MOST_OBJECTS = 5
# Of all bytes never used, an object worth a hint has this share; and not by a few lines.
_NOTABLE = 0.05
_FEWEST_LINES = 100
# Of what an object loses, the code of a hint must lose so much.
_PART = 0.2
# A library function belongs to a hint that has nearly all that it costs.
_ALL = 0.9
# By itself: a library that is loaded has a file and stack frames that cannot be changed.
_REPAIRABLE = VARIABLES | {ObjectKind.HEAP, ObjectKind.MAPPING}
_NO_DATA = frozenset({ObjectKind.UNKNOWN, ObjectKind.UNUSED, ObjectKind.CODE})


@dataclass(frozen=True, slots=True)
class ObjectHint:
    details: Details
    share: float  # of all bytes never used


@dataclass(frozen=True, slots=True)
class DataHints:
    """By the function of a hint; and what no hint has. Those that lose most come first."""

    of_hints: Mapping[Function, Sequence[ObjectHint]]
    others: Sequence[ObjectHint]

    def most(self) -> DataHints:
        """The one that loses most."""
        everything = [
            *((function, hints[0]) for function, hints in self.of_hints.items()),
            *((None, hint) for hint in self.others[:1]),
        ]
        function, hint = max(everything, key=lambda one: one[1].share, default=(None, None))
        if hint is None:
            return self
        return DataHints({function: [hint]}, ()) if function else DataHints({}, [hint])


def notable_objects(objects: Objects) -> list[GroupRow]:
    found = list_objects(objects, 0, None)
    return [
        entry for entry in found.entries
        if entry.group.identity.kind not in _NO_DATA and entry.use.lines >= _FEWEST_LINES
        and entry.use.unused >= _NOTABLE * found.total.unused
    ][:_MOST_OBJECTS]


def data_hints(
    found: Sequence[Hint], details: Sequence[Details], unused: int, graph: CallGraph
) -> DataHints:
    """unused: how many bytes were never used in all."""
    code = {hint.function: _code(hint, graph) for hint in found}
    of_hints: dict[Function, list[ObjectHint]] = {}
    others: list[ObjectHint] = []
    for one in details:
        lost = one.entry.use.unused
        parts = {
            function: sum(by.use.unused for by in one.loaders if by.function in functions)
            for function, functions in code.items()
        }
        best = max(parts, key=lambda function: parts[function], default=None)
        told = ObjectHint(one, lost / unused if unused else 0.0)
        if best is not None and parts[best] >= _PART * lost:
            of_hints.setdefault(best, []).append(told)
        elif one.entry.group.identity.kind in _REPAIRABLE:
            others.append(told)
    return DataHints(of_hints, others)


def _code(hint: Hint, graph: CallGraph) -> set[Function]:
    """What loads for a hint, as far as it does so for no other."""
    found = {hint.function}
    if hint.through is not None:
        call = graph.callees[hint.function][hint.through]
        if call.calls >= _ALL * graph.functions[hint.through].calls:
            found.add(hint.through)
    return found
