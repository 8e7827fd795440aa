# SPDX-License-Identifier: GPL-2.0-or-later
"""What bd_annotate --structure says of a run, and what must hold for any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import annotated

Json = dict[str, Any]
# A frame: kind, how it is known, entries, iterations of each part, self and inclusive instructions,
# frames within.
Frame = tuple[str, str, int, tuple[int, ...], int, int, list["Frame"]]


def structure(profile: Path) -> tuple[Json, dict[str, Json]]:
    """The report, and the frames of each function by its name."""
    report = json.loads(annotated("--structure", "--format=json", profile))
    names = {function["id"]: function["name"] for function in report["functions"]}
    return report, {names[frame["function"]]: frame for frame in report["structure"]}


def by_text(frame: Json, source: list[str], ir: int) -> Frame:
    """A loop is known by the text of its line, an inlined function by its name."""
    is_loop = frame["kind"] not in ("function", "inlined")
    return (
        frame["kind"],
        source[frame["line"] - 1].strip() if is_loop else frame["name"],
        frame["entries"],
        tuple(part["iterations"] for part in frame["parts"]),
        frame["self"][ir],
        frame["inclusive"][ir],
        [by_text(inner, source, ir) for inner in frame["frames"]],
    )


def violations(frame: Json, around: list[int]) -> list[str]:
    found = [
        f"{frame['kind']} {frame['name']} {frame['line']}: {mine} of {outer}"
        for mine, outer in zip(frame["inclusive"], around)
        if mine > outer
    ]
    return found + [
        text for inner in frame["frames"] for text in violations(inner, frame["inclusive"])
    ]


def self_costs(frame: Json) -> list[int]:
    rows = [frame["self"], *(self_costs(inner) for inner in frame["frames"])]
    return [sum(counts) for counts in zip(*rows)]


def check_conservation(report: Json, frames: dict[str, Json]) -> None:
    functions = {function["name"]: function for function in report["functions"]}
    for name, frame in frames.items():
        assert self_costs(frame) == functions[name]["self"], name
        assert violations(frame, functions[name]["inclusive"]) == [], name
