# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs with data objects, and what bd_annotate says of them."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import SMALL_CACHES, Run, run_tool

from bdannotate.cli import main as bd_annotate

YES = "--objects=yes"


def run(folder: Path, command: Sequence[str | Path], *options: str, **more: Any) -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options], **more)


def annotate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """In this process, as harness.check() does it: what the script would print, and its status."""
    words = [str(argument) for argument in arguments]
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        status = bd_annotate(words)
    for stream in streams:
        stream.seek(0)
    output, errors = (stream.read() for stream in streams)
    return subprocess.CompletedProcess(words, status, output, errors)


def objects(profile: Path, *options: str) -> dict[str, Any]:
    completed = annotate("--objects", *options, "--format=json", profile)
    assert completed.returncode == 0, completed.stderr
    found: dict[str, Any] = json.loads(completed.stdout)["objects"]
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
