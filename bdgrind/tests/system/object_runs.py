# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs with data objects, and what bd_annotate says of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import SMALL_CACHES, Run, annotated, run_tool

YES = "--objects=yes"


def run(folder: Path, command: Sequence[str | Path], *options: str, **more: Any) -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options], **more)


def objects(profile: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(annotated("--objects", *options, "--format=json", profile))["objects"]
    return found


def walked(found: dict[str, Any]) -> Counter[str]:
    """The lines of D1 that walk() has loaded, by what the object is called, without line numbers and callers."""
    event = found["events"].index("EvLineD1")
    lines: Counter[str] = Counter()
    for row in found["rows"]:
        if row["function"] != "walk":
            continue
        label = re.sub(r"\w+\.c:\d+, | from \w+ \w+\.c:\d+$", "", found["groups"][row["group"]]["label"])
        lines[label] += row["self"][event]
    return lines
