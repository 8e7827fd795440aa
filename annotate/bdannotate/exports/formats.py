# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of formats. A new one is a module with a function like these, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..model.contexts import ContextTree, Kind
from ..model.numbers import short_count
from .callgrind import callgrind
from .dot import dot, dot_contexts
from .firefox import firefox
from .folded import folded, size_note
from .pprof import pprof
from .request import Request
from .speedscope import speedscope
from .stacks import certain_share


@dataclass(frozen=True, slots=True)
class Format:
    """A format. note: returns what the format cannot show of a profile, or an empty text."""

    pieces: Callable[[Request], Iterator[str]] | Callable[[Request], Iterator[bytes]]
    note: Callable[[Request], str]
    is_one_event: bool = False
    needs_lines: bool = False
    has_paths: bool = False  # whether it has paths, which a context tree knows exactly
    has_inlined: bool = False  # whether inlined functions are separate frames
    is_binary: bool = False
    all_events: bool = False  # whether it has all events if the user chose none
    has_negative: bool = False  # whether it can have negative costs, such as those of code that frees memory


def _nothing(request: Request) -> str:
    return ""


def _room(request: Request) -> str:
    share = _share_of_others(request, request.tree) if request.tree else 0
    return (
        f"{100 * share:.0f}% of {request.metrics[0].name} is in '(other paths)': the run had "
        "more paths than --context-tree-nodes" if share else ""
    )


def _uncertain(request: Request) -> str:
    if request.tree:
        return _room(request)
    share = certain_share(request)
    if share >= 1:
        return ""
    return (
        f"paths are certain for {100 * share:.0f}% of {request.metrics[0].name}: they end where a function has "
        "several callers, as the profile does not say for which of them it called others (a run with "
        "--context-tree=yes does)"
    )


def _of_folded(request: Request) -> str:
    return "; ".join(filter(None, (_uncertain(request), size_note(request))))


def _share_of_others(request: Request, tree: ContextTree) -> float:
    columns = [tree.costs[tree.events.index(event)] for event in request.profile.events]
    others = [
        row for number, row in zip(tree.frame, zip(*columns))
        if tree.frames[number].kind is Kind.OTHER
    ]
    total = request.row(request.profile.totals())[0]
    return sum(request.row(row)[0] for row in others) / total if total else 0.0


def notes(form: Format, request: Request) -> list[str]:
    """Sentences on what the format cannot show of this profile."""
    found = [form.note(request)]
    if not form.has_negative:
        metric = request.metrics[0]
        left_out = sum(
            min(metric.value(row) or 0, 0) for lines in request.profile.lines.values() for row in lines.values()
        )
        if left_out:
            found.append(
                f"{short_count(left_out)} of {metric.name} is left out: this form cannot have costs below 0 (pprof "
                "and callgrind can)"
            )
    return [note for note in found if note]


FORMATS: Mapping[str, Format] = {
    "callgrind": Format(callgrind, _nothing, needs_lines=True, has_negative=True),
    "dot": Format(dot, _nothing, is_one_event=True, has_negative=True),
    "dot-contexts": Format(dot_contexts, _room, is_one_event=True, has_paths=True),
    "firefox": Format(firefox, _uncertain, has_paths=True, has_inlined=True),
    "folded": Format(folded, _of_folded, is_one_event=True, has_paths=True),
    "pprof": Format(
        pprof, _uncertain, has_paths=True, has_inlined=True, is_binary=True, all_events=True, has_negative=True
    ),
    "speedscope": Format(speedscope, _uncertain, has_paths=True),
}
