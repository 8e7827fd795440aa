# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as separate functions, for all code that knows functions and calls, but no loops.

`main › loop aos.cpp:21` is a loop of main, and `main › column` is what was inlined of column there. There is a call
from each frame to the frames directly in it, as often as these were entered, with their inclusive costs. Frames of a
function with the same name are one function. A frame that is not separate is part of the next outer one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from .frames import Chains, Frame, FrameCall, Kind, frames_by_function
from .objects import Objects, has_object
from .objects import CodeLine
from .profile import (
    Call, CallSite, Function, Place, Profile, Row, add_rows, subtract_rows,
)

SEPARATOR = " › "
_LOOP = re.compile(
    f"(.*){SEPARATOR}({Kind.LOOP.value}|{Kind.REGION.value}) (.*):(\\d+)", re.DOTALL
)

_NEARLY_ALL = 0.9  # the minimum share of a line's costs that a frame must have for data to be loaded by it


@dataclass(frozen=True, slots=True)
class Separation:
    """Which frames become functions."""

    loops: bool
    inlined: bool

    def wants(self, frame: Frame) -> bool:
        return self.inlined if frame.kind is Kind.INLINED else self.loops

    def __bool__(self) -> bool:
        return self.loops or self.inlined


@dataclass(slots=True)
class _Separated:
    separation: Separation
    lines: dict[Place, dict[int, Row]] = field(default_factory=dict)
    calls: dict[CallSite, Call] = field(default_factory=dict)

    def add_frame(self, root: Function, mine: Function, frame: Frame) -> None:
        for (file, line), row in frame.lines.items():
            self.add_line(Place(mine, file), line, row)
        for callee, file, line, call in frame.calls:
            self.add_call(CallSite(mine, callee, file, line), call)
        for inner in frame.frames:
            if not self.separation.wants(inner):
                self.add_frame(root, mine, inner)
                continue
            separate = _function(root, inner)
            site = CallSite(mine, separate, inner.file or root.file, inner.line)
            self.add_call(site, Call(inner.entries, inner.inclusive))
            self.add_frame(root, separate, inner)

    def add_line(self, place: Place, line: int, row: Row) -> None:
        known = self.lines.setdefault(place, {})
        known[line] = add_rows(known[line], row) if line in known else row

    def add_call(self, site: CallSite, call: Call) -> None:
        known = self.calls.get(site)
        self.calls[site] = known.plus(*call) if known else call


def separated(profile: Profile, chains: Chains, separation: Separation) -> Profile:
    """The profile with frames as functions, without instructions and jumps, which belong to the original functions."""
    places = {place.function for place in profile.instructions}
    frames = frames_by_function(profile, places, chains)
    found = _Separated(separation)
    for place, lines in profile.lines.items():
        if place.function not in frames:
            for line, row in lines.items():
                found.add_line(place, line, row)
    for function, frame in frames.items():
        found.add_frame(function, function, frame)
    for site, call in _other_calls(profile, frames).items():
        found.add_call(site, call)
    return replace(
        profile, lines=found.lines, calls=found.calls, instructions={}, instruction_calls={},
        hot={}, hot_calls={},
        jumps={},
    )


@dataclass(slots=True)
class FrameCode:
    """The code of a separate frame. root: its function. own: the addresses of its own instructions. addresses, calls:
    those of all frames in it, too."""

    root: Function
    own: set[int] = field(default_factory=set)
    addresses: set[int] = field(default_factory=set)
    calls: list[FrameCall] = field(default_factory=list)


def code_of_frames(frames: Mapping[Function, Frame], separation: Separation) -> dict[Function, FrameCode]:
    """The code of separate frames, by the functions that separated() makes of them."""
    found: dict[Function, FrameCode] = {}

    def visit(root: Function, frame: Frame, around: tuple[FrameCode, ...]) -> None:
        if around:
            around[-1].own.update(frame.addresses)
        for code in around:
            code.addresses.update(frame.addresses)
            code.calls += frame.calls
        for inner in frame.frames:
            within = around
            if separation.wants(inner):
                code = found.setdefault(_function(root, inner), FrameCode(root))
                # Instructions are the last frame's own. Among frames with the same name, each counts once.
                within = (*(one for one in around if one is not code), code)
            visit(root, inner, within)

    for function, frame in frames.items():
        visit(function, frame, ())
    return found


def _function(root: Function, frame: Frame) -> Function:
    """The function that stands for a frame. Its file is that of the loop or, for an inlined function, that of its
    costliest line."""
    if frame.kind is Kind.INLINED:
        own = max(sorted(frame.lines), key=lambda where: frame.lines[where], default=None)
        name = f"{root.name}{SEPARATOR}{frame.name}"
        return Function(root.object, own[0] if own else root.file, name)
    where = f"{os.path.basename(frame.file)}:{frame.line}" if frame.line else frame.name
    name = f"{root.name}{SEPARATOR}{frame.kind.value} {where}"
    return Function(root.object, frame.file or root.file, name)


def in_frames(objects: Objects, profile: Profile) -> Objects:
    """The data objects for a profile with separate frames, loaded by these frames. As objects have lines, but no
    instructions, a load counts for a frame only if that has nearly all of the line's data costs; otherwise it stays
    with the function."""
    events = [
        number for number, event in enumerate(profile.events)
        if has_object(event) and event in objects.events
    ]
    frames: dict[tuple[str, str, str, int], dict[Function, int]] = {}
    for (function, file), lines in profile.lines.items():
        root = function.name.partition(SEPARATOR)[0]
        for line, row in lines.items():
            mine = frames.setdefault((function.object, root, file, line), {})
            mine[function] = mine.get(function, 0) + sum(row[event] for event in events)

    @cache
    def frame(function: Function, file: str, line: int) -> Function:
        found = frames.get((function.object, function.name, file, line), {})
        most = max(sorted(found), key=lambda each: found[each], default=function)
        return most if found.get(most, 0) >= _NEARLY_ALL * sum(found.values()) else function

    def in_frame(by: CodeLine) -> CodeLine:
        return by._replace(function=frame(*by))

    return replace(
        objects,
        rows=tuple(
            row._replace(function=frame(row.function, row.file, row.line)) for row in objects.rows
        ),
        groups=tuple(
            replace(group, patterns=tuple(
                pattern._replace(by=in_frame(pattern.by)) for pattern in group.patterns
            )) if group.patterns else group
            for group in objects.groups
        ),
    )


class LoopName(NamedTuple):
    """The parts of the name of a loop that is a function."""

    function: str
    kind: str
    file: str
    line: int


def loop_name(function: Function) -> LoopName | None:
    """The parts of a function's name; None unless it is a loop with a line."""
    found = _LOOP.fullmatch(function.name)
    return LoopName(found[1], found[2], found[3], int(found[4][:9])) if found else None


def _other_calls(profile: Profile, frames: Mapping[Function, Frame]) -> dict[CallSite, Call]:
    """The calls that no instruction of a frame made: those of functions without frames, and those of threads, which are
    below the functions that created them."""
    made: dict[tuple[Function, Function], Call] = {}
    for key, call in profile.instruction_calls.items():
        pair = key.caller, key.callee
        made[pair] = made[pair].plus(*call) if pair in made else call
    left: dict[CallSite, Call] = {}
    for site, call in profile.calls.items():
        if site.caller not in frames:
            left[site] = call
            continue
        known = made.get((site.caller, site.callee), Call(0, profile.zero))
        covered = Call(
            min(known.calls, call.calls), tuple(min(pair) for pair in zip(known.cost, call.cost))
        )
        made[site.caller, site.callee] = Call(
            known.calls - covered.calls, subtract_rows(known.cost, covered.cost)
        )
        rest = Call(call.calls - covered.calls, subtract_rows(call.cost, covered.cost))
        if rest.calls or any(rest.cost):
            left[site] = rest
    return left
