# SPDX-License-Identifier: GPL-2.0-or-later
"""The last lines of the first screen: what to look at next, as commands for this profile."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Sequence

from bdcommon.console import printable

from ..analyses.code.report import Report, numbered
from ..analyses.hints import Hint
from ..model.profile import Function
from .text import Page

_START = "Next  "
# The characters with a meaning in regular expressions.
_ESCAPED = re.compile(r"([\\.^$*+?{}\[\]|()])")
_BACKSLASH = r"\\\1"


def next_steps(
    report: Report, found: Sequence[Hint], has_objects: bool, page: Page, listed: Container[Function],
    repaired: Function | None = None, wants_why: bool = False,
) -> list[str]:
    """Complete commands to be copied. Those that do not fit the page are left out. has_objects: whether it is known
    which data was loaded. listed: the functions whose numbers the reader sees. repaired: the function of the first
    repair; None: there are none. wants_why: whether to suggest a run that finds repairs."""
    sources = list(dict.fromkeys(part.source for part in report.profile.parts))
    if any(not source.isprintable() or source == "standard input" for source in sources):
        return []  # the names cannot be typed
    files = " ".join(map(shlex.quote, sources))
    place = repaired or _place(report, found)
    room = page.width - len(_START) if page.cut else None
    commands: list[tuple[str, str]] = []
    if place and report.profile.calls:
        commands.append((_with_function("--tree=both", place, files, report, page, listed), "its callers"))
        if _has_lines(report, place):
            commands.append((_with_function("--annotate", place, files, report, page, listed), "its lines"))
    elif place and _has_lines(report, place):
        commands.append((f"bd_annotate --annotate {files}", "the lines"))
    if has_objects:
        commands.append((f"bd_annotate --objects {files}", "which data"))
    if found or repaired:
        commands.append((f"bd_annotate --hints {files}", "why"))
    if wants_why and (command := report.profile.parts[0].command).isprintable():
        run = f"valgrind --tool=bdgrind --why=yes --objects=yes {command}"
        short = "valgrind --tool=bdgrind --why=yes --objects=yes ..."
        fits = room is None or len(run) <= room
        commands.append((run if command and fits else short, "repairs"))
    if report.profile.calls and len(sources) == 1:
        commands.append((f"kcachegrind {files}", "the map"))
    lines: list[str] = []
    for command, what in commands:
        text = f"{command}  # {what}"
        if room is None or len(command) <= room:
            start = " " * len(_START) if lines else page.heading(_START)
            lines.append(start + (text if room is None or len(text) <= room else command))
    return lines


def _with_function(
    option: str, function: Function, files: str, report: Report, page: Page, listed: Container[Function]
) -> str:
    """A command about a function: by the number of its row if that is listed, or else by its name as shown, if the page
    has room for that."""
    number = next((
        number for number, entry in enumerate(numbered(report.entries), 1)
        if entry.function == function
    ), None) if report.selection.has_numbers else None
    by_number = None if number is None else f"bd_annotate {option} --function={number} {files}"
    if by_number and function in listed:
        return by_number
    name = printable(function.label)
    if function.is_nameless:
        start = name.rfind("+")
        pattern = _ESCAPED.sub(_BACKSLASH, name[start:] if start >= 0 else printable(function.name)) + "$"
    else:
        pattern = f"^{_ESCAPED.sub(_BACKSLASH, page.name(function))}$"
    by_name = f"bd_annotate {option} {shlex.quote(f'--function={pattern}')} {files}"
    return by_number if by_number and page.cut and len(by_name) > page.width - len(_START) else by_name


def _place(report: Report, found: Sequence[Hint]) -> Function | None:
    if found:
        hint = found[0]
        return hint.callers[0][0] if hint.callers else hint.function
    for entry in report.entries:
        if not entry.is_group:
            return entry.function
    return None


def _has_lines(report: Report, function: Function) -> bool:
    return any(place.file != "???" for place in report.places[function])
