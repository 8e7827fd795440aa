# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions of a report's functions, with their costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...model.frames import Chains, Frame, Kind, frames_by_function
from ...model.graph import CallGraph
from ...model.metrics import Number
from ...model.profile import Function, Profile, Row
from .columns import Column, CostKind
from .report import FunctionRow, Report, key_limits, rank

@dataclass(frozen=True, slots=True)
class Structure:
    """A function of the report with its loops and inlined functions. The frame's inclusive costs are at most those of
    the entry."""

    entry: FunctionRow
    frame: Frame


def wanted_lines(profile: Profile, functions: Iterable[Function]) -> dict[str, dict[int, int]]:
    """The addresses that functions executed, each with its source line, by object file."""
    chosen = frozenset(functions)
    found: dict[str, dict[int, int]] = {}
    for place in profile.instructions:
        if place.function in chosen:
            mine = found.setdefault(place.function.object, {})
            for address, instruction in profile.instructions[place].items():
                mine[address] = instruction.line
    return found


def structures(
    profile: Profile, graph: CallGraph, entries: Iterable[FunctionRow], chains: Chains
) -> list[Structure]:
    """The structures of the entries that are functions and whose frames are known."""
    chosen = [entry for entry in entries if not entry.is_group]
    found = frames_by_function(profile, (entry.function for entry in chosen), chains)
    made: list[Structure] = []
    for entry in chosen:
        if entry.function not in found:
            continue
        frame = found[entry.function]
        if graph.functions[entry.function].cycle:
            frame = _limited(frame, entry.inclusive)
        made.append(Structure(entry, frame))
    return made


def _limited(frame: Frame, limit: Row) -> Frame:
    """The frame with inclusive costs of at most `limit`. In a cycle of functions, the calls of a frame may cost more
    than the whole function."""
    inclusive = tuple(min(counts) for counts in zip(frame.inclusive, limit))
    frames = tuple(_limited(inner, limit) for inner in frame.frames)
    return replace(frame, inclusive=inclusive, frames=frames)


@dataclass(frozen=True, slots=True)
class Branch:
    """A frame as a report shows it. left_out: how many inlined calls are not shown between this frame and the next
    outer one, as each only made the next call."""

    frame: Frame
    depth: int  # 0: the function
    is_hottest: bool  # whether it, and each frame around it but the function, is the costliest in the next outer one
    hidden: int  # how many of the frames directly within it are below the threshold
    left_out: int = 0


def branches(report: Report, structure: Structure) -> list[Branch]:
    """The branches of a structure in the order in which they are shown, the costliest first."""
    key = report.selection.keys[0].column
    column = Column(key.metric, CostKind.INCLUSIVE)
    least = 0 if report.selection.function else key_limits(report.selection, report.totals)[0][1]
    return list(_branches(structure.frame, column, least, 0, True))


def _branches(
    frame: Frame, column: Column, least: Number, depth: int, is_hottest: bool, left_out: int = 0
) -> Iterator[Branch]:
    def value(inner: Frame) -> Number:
        return rank(column.value(inner.self_cost, inner.inclusive))

    shown = sorted(frame.frames, key=lambda inner: (inner.file, inner.line, inner.address))
    shown.sort(key=value, reverse=True)
    shown = [inner for inner in shown if abs(value(inner)) >= least]
    yield Branch(frame, depth, is_hottest, len(frame.frames) - len(shown), left_out)
    for index, inner in enumerate(shown):
        passed = 0
        if frame.kind is Kind.INLINED:
            while (only := _only_call(inner)) is not None:
                inner, passed = only, passed + 1
        yield from _branches(
            inner, column, least, depth + 1, is_hottest and index == 0, passed
        )


def _only_call(frame: Frame) -> Frame | None:
    """The inlined call that is all that an inlined function does; None if it does more."""
    if frame.kind is not Kind.INLINED or len(frame.frames) != 1:
        return None
    (inner,) = frame.frames
    return inner if inner.kind is Kind.INLINED and inner.inclusive == frame.inclusive else None
