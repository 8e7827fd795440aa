# SPDX-License-Identifier: GPL-2.0-or-later
"""A report as SARIF 2.1.0, the format of findings for code scanning services and editors: hints and the costliest
lines, each with its place in the source.

Only findings with a line in a file are results. Files below the current folder have names relative to it, as expected
by services that run in a checkout; others have absolute names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote

from bdcommon import __version__
from bdcommon.console import printable

from ..analyses.code.report import Report
from ..analyses.hints import Hint, HotLine, can_hint, hints
from ..analyses.top_lines import TopLine, TopLines, top_lines
from ..model.numbers import percent, short_count
from .json_values import Json, text
from .names import Names

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
# Services show few findings well. Lines below the report's threshold are not listed anyway.
_MOST_LINES = 20

_RULES: dict[str, tuple[str, str]] = {
    "bdgrind/hint": (
        "WastefulAccess",
        "Cache lines loaded here are mostly unused, or loaded again and again.",
    ),
    "bdgrind/hot-line": (
        "CostlyLine", "This source line has a notable share of what the program's data costs the caches.",
    ),
}


def sarif(report: Report, names: Names) -> Json:
    """A report as SARIF. names: those of functions in the text report."""
    found = hints(report) if can_hint(report) else []
    results: list[Json] = [_hint(hint, hint.line, names) for hint in found if hint.line]
    ranked = top_lines(report)
    if ranked:
        results += _lines(ranked, report, names)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "bdgrind",
                "version": __version__,
                "rules": [
                    {
                        "id": rule,
                        "name": name,
                        "shortDescription": {"text": description},
                        "defaultConfiguration": {"level": _LEVELS[rule]},
                    }
                    for rule, (name, description) in _RULES.items()
                ],
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {_ROOT: {"uri": _uri(os.getcwd()) + "/"}},
            "results": results,
        }],
    }


_LEVELS = {"bdgrind/hint": "warning", "bdgrind/hot-line": "note"}


def _hint(hint: Hint, worst: HotLine, names: Names) -> Json:
    use = hint.use
    message = (
        f"{printable(names.label(hint.function))}: {short_count(use.never_used)} bytes were loaded into L1 and "
        f"never used, {100 * hint.share:.0f}% of the program's; {100 * use.unused_share:.0f}% of what was loaded here. "
        f"Looks like: {hint.pattern.looks}. Usually helps: {hint.pattern.helps}."
    )
    others: list[Json] = [_location(line.file, line.line) for line in hint.lines[1:]]
    return {
        **_result("bdgrind/hint", message, worst.file, worst.line),
        **({"relatedLocations": others} if others else {}),
    }


def _lines(found: TopLines, report: Report, names: Names) -> list[Json]:
    metrics = [found.metric, *([found.other_metric] if found.other_metric else [])]
    counts = [(metric, metric.counter()) for metric in metrics]

    def message(line: TopLine) -> str:
        costs = [
            f"{short_count(count(line.cost))} ({percent(count(line.cost), count(report.totals))}) of "
            f"{metric.name} ({metric.title})"
            for metric, count in counts if count(line.cost)
        ]
        return f"{printable(names.label(line.functions[0]))}: {', '.join(costs)}."

    lines: Sequence[TopLine] = (*found.lines, *found.others)
    return [
        _result("bdgrind/hot-line", message(line), line.file, line.line)
        for line in lines[:_MOST_LINES] if line.line
    ]


def _result(rule: str, message: str, file: str, line: int) -> dict[str, Json]:
    return {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "level": _LEVELS[rule],
        "message": {"text": text(message)},
        "locations": [_location(file, line)],
    }


def _location(file: str, line: int) -> Json:
    return {"physicalLocation": {
        "artifactLocation": _artifact(file), "region": {"startLine": line},
    }}


def _artifact(file: str) -> dict[str, Json]:
    here = os.getcwd()
    inside = os.path.normpath(file)
    if inside.startswith(here + "/"):
        inside = os.path.relpath(inside, here)
    if os.path.isabs(inside) or inside.startswith(".."):
        return {"uri": _uri(os.path.normpath(os.path.join(here, inside)))}
    return {"uri": quote(inside, safe="/", errors="surrogateescape"), "uriBaseId": _ROOT}


def _uri(path: str) -> str:
    return "file://" + quote(path, safe="/", errors="surrogateescape")
