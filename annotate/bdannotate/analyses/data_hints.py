# SPDX-License-Identifier: GPL-2.0-or-later
"""The data that hints are about: the objects with most bytes never used, and the code that loads them.

Each object appears once: with the hint whose code loses most of it, or by itself if no hint has a large part.
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
# The minimum share of all bytes never used, and the minimum number of lines, of an object in a hint.
_NOTABLE = 0.05
_FEWEST_LINES = 100
# The minimum share of an object's loss that the code of a hint must have for the object to appear with the hint.
_PART = 0.2
# A library function belongs to a hint that makes at least this share of its calls.
_ALL = 0.9
# The kinds of objects that appear by themselves. Others, such as files and stack frames of libraries, cannot be
# changed.
_REPAIRABLE = VARIABLES | {ObjectKind.HEAP, ObjectKind.MAPPING}
_NO_DATA = frozenset({ObjectKind.UNKNOWN, ObjectKind.UNUSED, ObjectKind.CODE})


@dataclass(frozen=True, slots=True)
class ObjectHint:
    """An object that is worth a hint."""

    details: Details
    share: float  # of all bytes never used


@dataclass(frozen=True, slots=True)
class DataHints:
    """The objects by the function of a hint, and those without one. Those that lose most come first."""

    of_hints: Mapping[Function, Sequence[ObjectHint]]
    others: Sequence[ObjectHint]

    def most(self) -> DataHints:
        """Only the object that loses most."""
        everything = [
            *((function, hints[0]) for function, hints in self.of_hints.items()),
            *((None, hint) for hint in self.others[:1]),
        ]
        function, hint = max(everything, key=lambda one: one[1].share, default=(None, None))
        if hint is None:
            return self
        return DataHints({function: [hint]}, ()) if function else DataHints({}, [hint])


def notable_objects(objects: Objects) -> list[GroupRow]:
    """The objects that are worth a hint, those that lose most first."""
    found = list_objects(objects, 0, None)
    return [
        entry for entry in found.entries
        if entry.group.identity.kind not in _NO_DATA and entry.use.lines >= _FEWEST_LINES
        and entry.use.unused >= _NOTABLE * found.total.unused
    ][:_MOST_OBJECTS]


def data_hints(
    found: Sequence[Hint], details: Sequence[Details], unused: int, graph: CallGraph
) -> DataHints:
    """The objects by hint. details: those of notable objects. unused: the bytes never used in all."""
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
        hint = ObjectHint(one, lost / unused if unused else 0.0)
        if best is not None and parts[best] >= _PART * lost:
            of_hints.setdefault(best, []).append(hint)
        elif one.entry.group.identity.kind in _REPAIRABLE:
            others.append(hint)
    return DataHints(of_hints, others)


def _code(hint: Hint, graph: CallGraph) -> set[Function]:
    """The function of a hint, and the library function that it calls if hardly any other code calls that."""
    found = {hint.function}
    if hint.through is not None:
        call = graph.callees[hint.function][hint.through]
        if call.calls >= _ALL * graph.functions[hint.through].calls:
            found.add(hint.through)
    return found
