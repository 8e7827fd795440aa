# SPDX-License-Identifier: GPL-2.0-or-later
"""The matching of loops between two profiles in which loops are functions that are named by line.

A line added above moves all loops of a function, so that their names become those of other loops, or of none. The loops
of a function and file are matched by their order if there are as many of them on both sides. Otherwise they are matched
by name only, as it is not known which one is new.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from ...model.profile import Function
from ...model.separate import LoopName, loop_name

_Loops = dict[Function, LoopName]


def matching_loops(
    before: Iterable[Function], after: Iterable[Function]
) -> dict[Function, Function]:
    """The loops before whose function is another one after, with that one. Their files may have other names, too, or be
    in other folders."""
    old, new = _loops(before), _loops(after)
    pairs: dict[Function, Function] = {}
    keys: tuple[Callable[[Function, LoopName], Hashable], ...] = (
        lambda function, name: (name[:3], function.object, function.file),
        lambda _, name: name[:3],
        lambda _, name: name[:2],
    )
    for key in keys:
        old_groups, new_groups = _grouped(old, key), _grouped(new, key)
        for group in old_groups.keys() & new_groups.keys():
            ones, others = old_groups[group], new_groups[group]
            if len(ones) == len(others):
                pairs.update(zip(ones, others))
        old = {loop: name for loop, name in old.items() if loop not in pairs}
        known = set(pairs.values())
        new = {loop: name for loop, name in new.items() if loop not in known}
    return {loop: other for loop, other in pairs.items() if loop != other}


def _loops(functions: Iterable[Function]) -> _Loops:
    named = ((function, loop_name(function)) for function in functions)
    return {function: name for function, name in named if name}


def _grouped(
    loops: _Loops, key: Callable[[Function, LoopName], Hashable]
) -> dict[Hashable, list[Function]]:
    """The loops by key, each list in the order of their lines."""
    groups: dict[Hashable, list[Function]] = {}
    for function in sorted(loops, key=lambda function: (loops[function].line, function)):
        groups.setdefault(key(function, loops[function]), []).append(function)
    return groups
