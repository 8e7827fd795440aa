# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict and the hints as JSON, by the schema that docs/annotate-json.md describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analyses.code.report import Report
from ..analyses.hint_changes import HintChanges
from ..analyses.hints import Hint
from ..analyses.misses.verdict import verdict
from ..model.profile import Function
from .json_values import Json, text


def verdict_json(report: Report) -> Json:
    """The verdict on a report; None if the profile lacks events that the estimate needs."""
    found = verdict(report.profile, report.metrics, report.totals)
    if found is None:
        return None
    return {
        "cycles": found.cycles,
        "cycle_costs": None if found.waits else list(found.factors),
        "shares": {
            "instructions": found.instructions,
            "code": found.l1_code,
            "first_touches": found.waits.first_touches,
            "in_order": found.waits.in_order,
            "out_of_order": found.waits.out_of_order,
        } if found.waits else {
            "instructions": found.instructions,
            "L1_data": found.l1_data,
            "L1_code": found.l1_code,
            **({} if found.l2 is None else {"L2": found.l2}),
            "LL": found.last_level,
            "first_touches": found.first_touches,
        },
        "first": found.first.value,
        "wasted": found.wasted,
        "fits_last_level": found.fits_last_level,
        "time": None if found.time is None else {
            "of": text(found.time.what),
            "seconds": found.time.seconds,
            "least": found.time.least,
            "most": found.time.most,
            "waiting": found.time.waiting,
        },
    }


def hints_json(found: Sequence[Hint], index: Mapping[Function, int]) -> Json:
    """The hints. index: the numbers of the report's functions."""
    return [_hint(hint, index) for hint in found]


def hint_changes_json(found: HintChanges) -> Json:
    index: dict[Function, int] = {}
    return {
        "gone": [_hint(hint, index) for hint in found.gone],
        "new": [_hint(hint, index) for hint in found.new],
        "remaining": [_hint(hint, index) for hint in found.remaining],
        "never_used": [
            {**_function(function, index), "before": before, "after": after}
            for function, (before, after) in found.amounts.items()
        ],
    }


def _hint(hint: Hint, index: Mapping[Function, int]) -> dict[str, Json]:
    use = hint.use
    return {
        **_function(hint.function, index),
        "share": hint.share,
        **({} if hint.off == 0 else {"off": hint.off}),
        "saved_at_most": hint.saved,
        "lines_loaded": use.lines,
        "loaded": use.loaded,
        "never_used": use.never_used,
        "used_per_line": use.used_per_line,
        "accesses_per_line": use.accesses_per_line,
        "looks": hint.pattern.looks,
        "helps": hint.pattern.helps,
        "lines": [
            {"file": text(line.file), "line": line.line, "share": line.share} for line in hint.lines
        ],
        "callers": [{**_function(caller, index), "unused": share} for caller, share in hint.callers],
        "through": _function(hint.through, index) if hint.through else None,
        "below": _function(hint.below, index) if hint.below else None,
    }


def _function(function: Function, index: Mapping[Function, int]) -> dict[str, Json]:
    known = {"function_id": index[function]} if function in index else {}
    return {"function": text(function.name), **known}
