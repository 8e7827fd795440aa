# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as functions of their own, for all that knows functions and calls but no loops.

`main › loop aos.cpp:21` is a loop of main's, `main › column` what was inlined of column there. A
call leads from each frame to the frames in it, as often as these were entered, with their inclusive
costs. Frames of a function with the same name are one function, as calls of a function are. A frame
that is not to be separate is part of the one around it.
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

_NEARLY_ALL = 0.9


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
    """Instructions and jumps are left out: they are those of the functions before."""
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
    """The instructions of a separate frame; those of all frames in it, too, and what these call."""

    root: Function
    own: set[int] = field(default_factory=set)
    addresses: set[int] = field(default_factory=set)
    calls: list[FrameCall] = field(default_factory=list)


def code_of_frames(frames: Mapping[Function, Frame], separation: Separation) -> dict[Function, FrameCode]:
    """By the functions that separated() makes of them."""
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
                # The last one is whose own they are; of frames with the same name, each counts once.
                within = (*(one for one in around if one is not code), code)
            visit(root, inner, within)

    for function, frame in frames.items():
        visit(function, frame, ())
    return found


def _function(root: Function, frame: Frame) -> Function:
    """Its file is the one that most of an inlined function's lines are from, if it has any."""
    if frame.kind is Kind.INLINED:
        own = max(sorted(frame.lines), key=lambda where: frame.lines[where], default=None)
        name = f"{root.name}{SEPARATOR}{frame.name}"
        return Function(root.object, own[0] if own else root.file, name)
    where = f"{os.path.basename(frame.file)}:{frame.line}" if frame.line else frame.name
    name = f"{root.name}{SEPARATOR}{frame.kind.value} {where}"
    return Function(root.object, frame.file or root.file, name)


def in_frames(objects: Objects, profile: Profile) -> Objects:
    """Data objects beside a profile with separate frames: what loaded them are the frames. Objects
    know lines and no instructions; so that is told where one frame has nearly all of what a line
    did to data."""
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
    """What the name of a loop's function is made of."""

    function: str
    kind: str
    file: str
    line: int


def loop_name(function: Function) -> LoopName | None:
    """None of what is no loop with a line."""
    found = _LOOP.fullmatch(function.name)
    return LoopName(found[1], found[2], found[3], int(found[4][:9])) if found else None


def _other_calls(profile: Profile, frames: Mapping[Function, Frame]) -> dict[CallSite, Call]:
    """Those that no instruction of a frame has made: of functions without frames, and of threads
    that stand below who created them."""
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
