# SPDX-License-Identifier: GPL-2.0-or-later
"""Hot paths within functions, on a page."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.paths import FunctionPaths, PathsReport, PathSum, Stretch
from ..model.metrics import Metric
from ..model.profile import Function, Row, sum_rows
from ..views.json_values import text
from ..views.names import Names
from ..views.paths import mark_text, parting_text
from ..views.text import UNLIMITED, Page
from . import schema
from .numbers import Numbers

_COLUMNS = (("SpLossD1", "SpLoss1"), ("DLm",), ("Ir",))


def paths_for_page(found: PathsReport, functions: Sequence[Function], numbers: Numbers) -> schema.Paths:
    """functions: those of the page."""
    page = Page(width=UNLIMITED, full_names=True, names=Names(functions))
    names = [next((name for name in group if name in found.metrics), None) for group in _COLUMNS]
    metrics = list(dict.fromkeys([found.metric, *(found.metrics[name] for name in names if name)]))
    hot, dense, _ = found.groups(path.cost for path in found.hot)
    width = len(found.events)
    colder, other = (
        PathSum(sum(group.number for group in groups), sum_rows((group.cost for group in groups), width))
        for groups in ([one.colder for one in found.functions], [one.other for one in found.functions])
    )
    return {
        "columns": [metric.name for metric in metrics],
        "totals": _costs(found.totals, metrics),
        "mark": text(mark_text(found)),
        "hot": _row(hot.number, hot.cost, metrics),
        "dense": _row(dense.number, dense.cost, metrics),
        "colder": _row(colder.number, colder.cost, metrics),
        "other": _row(other.number, other.cost, metrics),
        "unfollowed": _row(0, found.unfollowed, metrics),
        "functions": [_function(one, found, metrics, page, numbers) for one in found.functions if one.hot],
    }


def _function(
    one: FunctionPaths, found: PathsReport, metrics: Sequence[Metric], page: Page, numbers: Numbers
) -> schema.PathsOf:
    return {
        "function": numbers.function(one.function),
        "whole": _row(one.executed, one.cost, metrics),
        "hot": [
            {
                "row": _row(path.times, path.cost, metrics),
                "dense": found.is_dense(path.cost),
                "trail": [_stretch(stretch, numbers) for stretch in path.trail],
                # The page adds the texts of lines from its sources, so that these sentences have none.
                "parts": [
                    text(parting_text(one.branches[branch], way, one.function, lambda *_: "", page))
                    for branch, way in path.partings
                ],
            }
            for path in one.hot
        ],
        "colder": _row(one.colder.number, one.colder.cost, metrics),
        "other": _row(one.other.number, one.other.cost, metrics),
    }


def _stretch(one: Stretch, numbers: Numbers) -> tuple[int, int, int]:
    return (numbers.file(one.file) if one.file else -1), one.first, one.last


def _row(number: int, cost: Row, metrics: Sequence[Metric]) -> schema.PathRow:
    return {"number": number, "costs": _costs(cost, metrics)}


def _costs(cost: Row, metrics: Sequence[Metric]) -> list[int]:
    return [metric.counter()(cost) for metric in metrics]
