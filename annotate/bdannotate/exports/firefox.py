# SPDX-License-Identifier: GPL-2.0-or-later
"""Firefox Profiler's processed profile format: each event is a thread, and a path is a sample whose weight is its cost.

The time axis is artificial: the duration of a sample is its share of the event, and everything lasts a second. Thus,
the stack chart has the widths of the costs, in the order of the context tree.

The module writes version 70 of the format, which Firefox Profiler's repository describes in src/types/profile.ts and
docs-developer/CHANGELOG-formats.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bdcommon import __version__

from ..model.metrics import Metric
from .request import Request, counts_bytes
from .stacks import Path, Stack, StackFrame, stacks
from .texts import unicode_text

_VERSION = 70
_WHOLE_MS = 1000
_NONE = -1  # stands for nothing where the format has numbers of a fixed width; elsewhere, that is null
_LIBRARY = 1  # the kind of a resource that functions are from

_Column = Sequence[object]


def firefox(request: Request) -> Iterator[str]:
    found = list(stacks(request))
    tables = _Tables()
    numbers = [tables.stack(stack) for stack in found]
    threads = [
        _thread(request, index, metric, found, numbers)
        for index, metric in enumerate(request.metrics)
    ]
    document = {
        "meta": _meta(request),
        "libs": [],
        "shared": tables.shared(),
        "threads": threads,
    }
    yield from json.JSONEncoder(separators=(",", ":")).iterencode(document)
    yield "\n"


@dataclass(slots=True)
class _Tables:
    """The entries that are referred to by number, in the order of their first uses."""

    strings: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)
    functions: dict[StackFrame, int] = field(default_factory=dict)
    # A function with a line, and the number of inlined calls between it and the function around it.
    frames: dict[tuple[int, int, int], int] = field(default_factory=dict)
    # A stack and the frame below it; roots are below _NONE.
    stacks: dict[tuple[int, int], int] = field(default_factory=dict)
    # The stack of each path, and the number of inlined calls at its end.
    paths: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def stack(self, stack: Stack) -> int:
        new: list[Path] = []
        path: Path | None = stack.path
        while path is not None and path not in self.paths:
            new.append(path)
            path = path.above
        number, depth = (_NONE, 0) if path is None else self.paths[path]
        for path in reversed(new):
            depth = depth + 1 if path.frame.is_inlined else 0
            function = self.functions.setdefault(path.frame, len(self.functions))
            place = self.frames.setdefault((function, path.line, depth), len(self.frames))
            number = self.stacks.setdefault((number, place), len(self.stacks))
            self.paths[path] = number, depth
        return number

    def text(self, text: str) -> int:
        return self.strings.setdefault(unicode_text(text), len(self.strings))

    def shared(self) -> Mapping[str, object]:
        functions = self._functions()
        resources = self._resources()
        sources = self._sources()
        return {
            "stackTable": self._stacks(),
            "frameTable": self._frames(),
            "funcTable": functions,
            "resourceTable": resources,
            "nativeSymbols": _table(
                {"libIndex": [], "address": [], "name": [], "functionSize": []}
            ),
            "sources": sources,
            "sourceLocationTable": _table({"source": [], "line": [], "column": []}),
            "stringArray": list(self.strings),
        }

    def _stacks(self) -> Mapping[str, object]:
        offsets = [
            0 if above == _NONE else number - above
            for number, (above, _) in enumerate(self.stacks)
        ]
        return _table({"frame": [frame for _, frame in self.stacks], "prefixOffset": offsets})

    def _frames(self) -> Mapping[str, object]:
        count = len(self.frames)
        return _table({
            "address": [_NONE] * count,
            "lib": [_NONE] * count,
            "inlineDepth": [depth for _, _, depth in self.frames],
            "category": [None] * count,
            "subcategory": [None] * count,
            "func": [function for function, _, _ in self.frames],
            "nativeSymbol": [None] * count,
            "innerWindowID": [None] * count,
            "line": [line or None for _, line, _ in self.frames],
            "column": [None] * count,
            "originalLocation": [None] * count,
        })

    def _functions(self) -> Mapping[str, object]:
        count = len(self.functions)
        return _table({
            "name": [self.text(frame.label) for frame in self.functions],
            "isJS": [False] * count,
            "relevantForJS": [False] * count,
            "resource": [_number(self.objects, frame.object, _NONE) for frame in self.functions],
            "source": [
                _number(self.sources, frame.file if frame.file != "???" else "", None)
                for frame in self.functions
            ],
            "lineNumber": [frame.start or None for frame in self.functions],
            "columnNumber": [None] * count,
            "originalLocation": [None] * count,
        })

    def _resources(self) -> Mapping[str, object]:
        count = len(self.objects)
        return _table({
            "name": [self.text(name) for name in self.objects],
            "host": [None] * count,
            "type": [_LIBRARY] * count,
        })

    def _sources(self) -> Mapping[str, object]:
        count = len(self.sources)
        return _table({
            "id": [None] * count,
            "filename": [self.text(name) for name in self.sources],
            "startLine": [1] * count,
            "startColumn": [1] * count,
            "sourceMapURL": [None] * count,
            "content": [None] * count,
        })


def _number(known: dict[str, int], name: str, nothing: int | None) -> int | None:
    return known.setdefault(name, len(known)) if name else nothing


def _table(columns: Mapping[str, _Column]) -> Mapping[str, object]:
    return {"length": len(next(iter(columns.values()))), **columns}


def _meta(request: Request) -> Mapping[str, object]:
    threads = list(range(len(request.metrics)))
    return {
        "version": 34,  # that of Firefox's own format, which is not used here
        "preprocessedProfileVersion": _VERSION,
        "product": unicode_text(request.profile.parts[0].command) or "bdgrind",
        "importedFrom": f"bd_annotate {__version__}",
        "interval": 1,
        "startTime": 0,
        "profilingStartTime": 0,
        "profilingEndTime": _WHOLE_MS,
        "processType": 0,
        "stackwalk": 1,
        "categories": [{"name": "Other", "color": "grey", "subcategories": ["Other"]}],
        "markerSchema": [],
        "symbolicated": True,
        "symbolicationNotSupported": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "initialVisibleThreads": threads,
        "initialSelectedThreads": threads[:1],
    }


def _thread(
    request: Request, index: int, metric: Metric, found: Sequence[Stack], numbers: Sequence[int]
) -> Mapping[str, object]:
    chosen = [
        (number, stack.row[index]) for number, stack in zip(numbers, found) if stack.row[index] > 0
    ]
    total = sum(weight for _, weight in chosen)
    times: list[float] = []
    passed = 0
    for _, weight in chosen:
        times.append(_WHOLE_MS * passed / total)
        passed += weight
    process = request.profile.parts[0].pid or "0"
    samples: dict[str, object] = {
        **_table({
            "stack": [number for number, _ in chosen],
            "time": times,
            "weight": [weight for _, weight in chosen],
        }),
        "weightType": "bytes" if counts_bytes(metric) else "samples",
    }
    return {
        "name": f"{metric.name}: {unicode_text(metric.title)}",
        "processName": "bdgrind",
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": _WHOLE_MS,
        "pausedRanges": [],
        "isMainThread": index == 0,
        "pid": process,
        "tid": index + 1,
        "samples": samples,
        "markers": _table({
            "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [],
        }),
    }
