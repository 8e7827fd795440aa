# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof's form: a gzip-compressed protocol buffer, in which each path is a sample with a value per
event. The message is pprof's profile.proto; field numbers below are from there. A location is a
function with all that is inlined into it, a line each.

Python's library for protocol buffers would need code that protoc makes of that file; of the format
itself, numbers and byte strings are all that is used here.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bdcommon import __version__

from ..model.metrics import Metric
from ..model.profile import Profile
from .request import Request, counts_bytes
from .stacks import Stack, StackFrame, require_size, stacks
from .texts import unicode_text

_BYTES = 2  # the wire type, in protocol buffers, of a field with a length; that of a number is 0
_WRITTEN_AT_ONCE = 1 << 20


def pprof(request: Request) -> Iterator[bytes]:
    require_size(request, "pprof")
    data = b"".join(_messages(request))
    packed = gzip.compress(data, mtime=0)  # the same profile gives the same bytes
    for start in range(0, len(packed), _WRITTEN_AT_ONCE):
        yield packed[start : start + _WRITTEN_AT_ONCE]


def _messages(request: Request) -> Iterator[bytes]:
    tables = _Tables()
    if program := _program(request.profile):
        tables.objects[program] = 1  # pprof takes the first object for the program
    for metric in request.metrics:
        yield _message(1, tables.value_type(metric))
    for stack in stacks(request):
        places = [tables.location(place) for place in _locations(stack)]
        yield _message(2, _packed(1, reversed(places)) + _packed(2, stack.row))
    for number, name in enumerate(tables.objects, 1):
        # Names are known already, so pprof need not look for the object file.
        known = b"".join(_number(key, 1) for key in (7, 8, 9))
        yield _message(3, _number(1, number) + _number(5, tables.text(name)) + known)
    for number, place in enumerate(tables.locations, 1):
        mapping = tables.objects[place[0][0].object]
        lines = b"".join(
            _message(4, _number(1, tables.function(frame)) + _number(2, line))
            for frame, line in reversed(place)
        )
        yield _message(4, _number(1, number) + _number(2, mapping) + lines)
    for number, frame in enumerate(tables.functions, 1):
        label, file = tables.text(frame.label), tables.text(frame.file)
        yield _message(
            5, _number(1, number) + _number(2, label) + _number(3, label) + _number(4, file)
            + _number(5, frame.start),
        )
    comments = (request.profile.parts[0].command, f"bd_annotate {__version__}")
    yield _packed(13, [tables.text(comment) for comment in comments])
    yield _number(14, tables.text(request.metrics[0].name))
    for text in tables.texts:
        yield _message(6, unicode_text(text).encode())


def _program(profile: Profile) -> str:
    """The object file with main; without symbols, the one with the name of the command."""
    command = os.path.basename(profile.parts[0].command.split(" ")[0])
    named = ""
    for place in profile.lines:
        if place.function.name == "main":
            return place.function.object
        if command and os.path.basename(place.function.object) == command:
            named = place.function.object
    return named


# A function and the functions inlined into it, outermost first, each with a line.
_Location = tuple[tuple[StackFrame, int], ...]


def _locations(stack: Stack) -> list[_Location]:
    found: list[_Location] = []
    for place in stack.steps():
        around = found.pop() if place[0].is_inlined and found else ()
        found.append((*around, place))
    return found


@dataclass(slots=True)
class _Tables:
    """The entries that are referred to by number, in the order of their first uses: from 1, except for texts."""

    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    objects: dict[str, int] = field(default_factory=dict)
    functions: dict[StackFrame, int] = field(default_factory=dict)
    locations: dict[_Location, int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def function(self, frame: StackFrame) -> int:
        return self.functions.setdefault(frame, len(self.functions) + 1)

    def location(self, place: _Location) -> int:
        self.objects.setdefault(place[0][0].object, len(self.objects) + 1)
        return self.locations.setdefault(place, len(self.locations) + 1)

    def value_type(self, metric: Metric) -> bytes:
        unit = "bytes" if counts_bytes(metric) else "count"
        return _number(1, self.text(metric.name)) + _number(2, self.text(unit))


def _varint(number: int) -> bytes:
    """A number as a varint: seven bits per byte, the lowest first. Negative numbers are taken modulo 2^64."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _number(key: int, number: int) -> bytes:
    return _varint(key << 3) + _varint(number) if number else b""


def _message(key: int, data: bytes) -> bytes:
    return _varint(key << 3 | _BYTES) + _varint(len(data)) + data


def _packed(key: int, numbers: Iterable[int]) -> bytes:
    return _message(key, b"".join(map(_varint, numbers)))
