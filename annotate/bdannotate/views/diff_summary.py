# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary at the top of a comparison, in five lines."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.comparison.diff import Diff
from ..analyses.comparison.diff_summary import SelfChange, Summary
from ..analyses.data.data_use import data_loss
from ..model.metrics import Metric
from ..model.numbers import percent, ratio, short_count, signed
from .headers import wrapped_pairs
from .names import fit
from .placements import change_text
from .text import Page

_MOST_NAMES = 3
_LONGEST_NAME = 36


def summary_lines(diff: Diff, page: Page) -> list[str]:
    found = diff.summary
    if found is None:
        return []
    total = f"{_from_to(found.before, found.after)} {found.metric.name}"
    loss = data_loss(diff.metrics)
    if loss and loss.name == found.metric.name:
        total += _unused(diff)
    rows = [(_capital(found.metric.heading), total), *_counts(diff, found.metric.name)]
    rows += [("Better", _changes(found.better, page)), ("Worse", _changes(found.worse, page))]
    if placed := change_text(diff.before, diff.after, diff.metrics):
        rows.append(("Placements", placed))
    if found.moves:
        rows.append(("Moved", _moves(found, page)))
    return wrapped_pairs(rows, page)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _from_to(before: int, after: int) -> str:
    if before == after:
        return f"{short_count(before)} (as before)"
    change = signed(percent(after - before, abs(before))) if before else "new"
    return f"{short_count(before)} -> {short_count(after)} ({change})"


def _counts(diff: Diff, shown: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for title, names in (("Misses", (("L1", "L1m"), ("LL", "LLm"))), ("Work", (("instructions", "Ir"),))):
        texts = [
            f"{name} {_from_to(*_both(diff.metrics[key], diff))}"
            for name, key in names if key in diff.metrics and key != shown
        ]
        rows += [(title, "; ".join(texts))] if texts else []
    return rows


def _both(metric: Metric, diff: Diff) -> tuple[int, int]:
    count = metric.counter()
    return count(diff.before_totals), count(diff.after_totals)


def _unused(diff: Diff) -> str:
    """The share of the loaded bytes that was never used, before and after; empty if not known."""
    name = next((name for name in ("UnusedD1", "Unused1") if name in diff.metrics), None)
    if name is None:
        return ""
    metric = diff.metrics[name]
    old, new = (ratio(metric, metric.value(row)) for row in (diff.before_totals, diff.after_totals))
    return f"; {old}" + ("" if old == new else f" -> {new}") + " of what was loaded"


def _changes(changes: Sequence[SelfChange], page: Page) -> str:
    if not changes:
        return "nothing by 1% of the total or more"
    texts = [
        f"{_name(change, page)} {signed(short_count(change.amount))}"
        for change in changes[:_MOST_NAMES]
    ]
    more = len(changes) - _MOST_NAMES
    return "; ".join(texts) + (f"; {more} more" if more > 0 else "")


def _name(change: SelfChange, page: Page) -> str:
    name = page.name(change.function)
    return name if page.full_names else fit(name, _LONGEST_NAME)


def _moves(found: Summary, page: Page) -> str:
    texts = [
        f"{short_count(move.amount)} from {fit(page.name(move.source), _LONGEST_NAME)} to "
        f"{fit(page.name(move.target), _LONGEST_NAME)}"
        for move in found.moves[:_MOST_NAMES]
    ]
    more = len(found.moves) - _MOST_NAMES
    return "; ".join(texts) + (f"; {more} more" if more > 0 else "")
