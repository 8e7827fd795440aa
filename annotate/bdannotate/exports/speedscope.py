# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope's own JSON format: each event is a profile, and a path is a sample whose weight is its cost."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bdcommon import __version__

from ..model.metrics import Metric
from .request import Request, counts_bytes
from .stacks import Stack, StackFrame, require_size, stacks
from .texts import unicode_text

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(request: Request) -> Iterator[str]:
    require_size(request, "speedscope")
    found = list(stacks(request))
    numbers: dict[StackFrame, int] = {}
    samples = [
        [numbers.setdefault(frame, len(numbers)) for frame in stack.frames] for stack in found
    ]
    document = {
        "$schema": _SCHEMA,
        "exporter": f"bd_annotate {__version__}",
        "name": unicode_text(request.profile.parts[0].command),
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(frame) for frame in numbers]},
        "profiles": [
            _event(index, metric, found, samples) for index, metric in enumerate(request.metrics)
        ],
    }
    yield from json.JSONEncoder(ensure_ascii=True).iterencode(document)
    yield "\n"


def _frame(frame: StackFrame) -> dict[str, str]:
    known = {"name": unicode_text(frame.label)}
    if frame.file != "???":
        known["file"] = unicode_text(frame.file)
    return known


def _event(
    index: int, metric: Metric, found: list[Stack], samples: list[list[int]]
) -> dict[str, object]:
    weights = [stack.row[index] for stack in found]
    return {
        "type": "sampled",
        "name": f"{metric.name}: {unicode_text(metric.title)}",
        "unit": "bytes" if counts_bytes(metric) else "none",
        "startValue": 0,
        "endValue": sum(weight for weight in weights if weight > 0),
        "samples": [sample for sample, weight in zip(samples, weights) if weight > 0],
        "weights": [weight for weight in weights if weight > 0],
    }
