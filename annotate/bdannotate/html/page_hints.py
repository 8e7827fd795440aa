# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints for the places that no repair covers, with the data that they load in vain, as in the text report."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.data.data_use import MIXED
from ..analyses.data_hints import DataHints, ObjectHint, data_hints
from ..analyses.hints import Hint, can_hint, hints
from ..analyses.misses.verdict import First, Verdict
from ..analyses.types.object_details import Details
from ..views.data_hints import data_texts, other_data
from ..views.hints import certainty
from ..views.json_values import text
from ..views.names import Names
from ..views.text import UNLIMITED, Page
from . import schema
from .numbers import Numbers
from .subject import Subject

# A hint that saves less than this share of the estimated cycles is left out.
_WORTH_IT = 0.01


def hints_for_page(subject: Subject, found: Verdict | None, numbers: Numbers) -> schema.Hints:
    """The hints that help enough to be worth it. Where a repair says more about a function, it has no hint."""
    report = subject.costed or subject.report
    told = _hints(subject, found)
    has_repairs = subject.why is not None and subject.why.repairs is not None
    details: Sequence[Details] = subject.objects.details if subject.objects and not has_repairs else ()
    loss = report.metrics.get(MIXED.loss)
    unused = loss.counter()(report.totals) if loss else 0
    data = data_hints(told, details, unused, report.graph)
    page = Page(width=UNLIMITED, names=Names(report.graph.functions))
    texts = data_texts(data, page)
    groups = _groups(subject)
    found_hints: list[schema.Hint] = []
    for hint in told:
        of_hint = data.of_hints.get(hint.function, ())
        sentences = [text(one) for one in texts[hint.function].sentences] if of_hint else []
        if sure := certainty(hint):
            sentences.insert(0, sure)
        found_hints.append(_hint(hint, [_data(one, groups) for one in of_hint], sentences, numbers))
    return {"places": found_hints, "others": _others(data, groups, page) if told or _is_of_misses(found) else []}


def _hints(subject: Subject, found: Verdict | None) -> list[Hint]:
    report, why = subject.costed or subject.report, subject.why
    if not can_hint(report) or not _is_of_misses(found) or (why and why.repairs and why.repairs.is_none):
        return []
    told = why.told if why and why.repairs else frozenset()
    return [
        hint for hint in hints(report)
        if hint.pattern.brief and hint.function not in told
        and (hint.saved is None or hint.saved >= _WORTH_IT)
    ]


def _is_of_misses(found: Verdict | None) -> bool:
    return found is None or found.first is not First.INSTRUCTIONS


def _groups(subject: Subject) -> dict[object, int]:
    if subject.objects is None:
        return {}
    return {group.identity: number for number, group in enumerate(subject.objects.objects.groups)}


def _data(one: ObjectHint, groups: dict[object, int]) -> schema.HintData:
    return {"group": groups.get(one.details.entry.group.identity), "share": one.share}


def _others(data: DataHints, groups: dict[object, int], page: Page) -> list[schema.OtherData]:
    """Data that loses much, though no single place has most of the loss."""
    return [
        {"data": _data(one, groups), "title": text(title), "sentences": [text(said) for said in sentences]}
        for one, (title, sentences) in zip(data.others, other_data(data, page))
    ]


def _hint(hint: Hint, data: list[schema.HintData], sentences: list[str], numbers: Numbers) -> schema.Hint:
    return {
        "function": numbers.function(hint.function),
        "share": hint.share,
        "saved": hint.saved,
        "brief": hint.pattern.brief,
        "looks": hint.pattern.looks,
        "helps": hint.pattern.helps,
        "unused": hint.use.unused_share,
        "neverUsed": hint.use.never_used,
        "usedPerLine": hint.use.used_per_line,
        "lineSize": hint.use.line_size,
        "accesses": hint.use.accesses_per_line,
        "loads": hint.use.loads_per_line,
        "lines": [(numbers.file(line.file), line.line, line.share) for line in hint.lines],
        "through": None if hint.through is None else numbers.function(hint.through),
        "below": None if hint.below is None else numbers.function(hint.below),
        "callers": [(numbers.function(caller), share) for caller, share in hint.callers],
        "data": data,
        "sentences": sentences,
    }
