# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions for continuous integration: `--fail-if 'SpLoss1 of main > 10M'`.

  [self|incl] METRIC [of FUNCTION] <,<=,>,>= [+|-]NUMBER[k|M|G|T][%]

Without a function, the condition is about the program's total; without self or incl, about inclusive costs. A number
with a sign is a change since the baseline. With %, a count is a share of the program's total, or a change in percent; a
share (such as Unused1) is always in percent.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..model.errors import UserError
from ..model.graph import CallGraph, build
from ..model.metrics import Metric, Number, metrics_of
from ..model.numbers import ratio, signed
from ..model.placements import lies_elsewhere, width_of
from ..model.profile import Function, Profile, Row
from .code.columns import CostKind

_CONDITION = re.compile(
    r"\s*(?:(self|incl)\s+)?([^\s<>=]+)(?:\s+of\s+(.+?))?\s*(<=|>=|<|>)\s*"
    r"([+-]?)\s*(\d+(?:\.\d*)?)\s*([kMGT]?)\s*(%?)\s*"
)
# The same, with something else after the number.
_UNIT = re.compile(r"(.*[<>]=?\s*[+-]?\s*\d+(?:\.\d*)?)\s*([^\s\d].*?)\s*")
_FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of --fail-if."""

    text: str
    side: CostKind
    metric: str
    function: str | None
    compare: str
    is_change: bool
    bound: float
    is_percent: bool


def parse_condition(text: str) -> Condition:
    """The condition that a text states. Raises UserError."""
    match = _CONDITION.fullmatch(text)
    if not match and (unit := _UNIT.fullmatch(text)):
        raise UserError(
            f"--fail-if '{text}': '{unit[2]}' is not a unit; numbers may end with k, M, G or T (thousands, not "
            f"1024), or with %: {unit[1].strip()}M"
        )
    if not match:
        raise UserError(
            f"--fail-if '{text}': must read [self|incl] METRIC [of FUNCTION] > [+]NUMBER[%]"
        )
    side, metric, function, compare, sign, number, factor, percent = match.groups()
    bound = float(number) * _FACTORS[factor] * (-1 if sign == "-" else 1)
    return Condition(
        text.strip(), CostKind(side or "incl"), metric, function, compare, bool(sign), bound,
        bool(percent),
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """What conditions need of a profile."""

    profile: Profile
    graph: CallGraph
    metrics: Mapping[str, Metric]
    totals: Row


def failures(
    conditions: list[Condition], profile: Profile, baseline: Profile | None,
    shown: Callable[[Function], Sequence[str]] = lambda function: (),
) -> list[str]:
    """A sentence for each condition that is true, so that the check fails. baseline: None if there is none. shown:
    returns the names that a function may have in reports. Raises UserError if a condition cannot be checked."""
    now = _measured(profile)
    before = _measured(baseline) if baseline else None
    found: list[str] = []
    for condition in conditions:
        found += _holding(condition, now, before, shown)
    return found


def _measured(profile: Profile) -> _Measured:
    return _Measured(profile, build(profile), metrics_of(profile), profile.totals())


def _holding(
    condition: Condition, now: _Measured, before: _Measured | None,
    shown: Callable[[Function], Sequence[str]],
) -> list[str]:
    metric = _metric(condition, now)
    if condition.is_change and before is None:
        raise UserError(f"--fail-if '{condition.text}': a change needs --baseline")
    if condition.is_percent and metric.is_ratio and not metric.is_share:
        raise UserError(f"--fail-if '{condition.text}': {metric.name} is not a share: leave out the %")
    found: list[str] = []
    for function in _functions(condition, now, shown):
        what = metric.name + (f" of {function.name}" if function else "")
        value = metric.value(_row(condition, now, function))
        if value is None:
            continue
        if condition.is_change and before is not None:
            old = _metric(condition, before).value(_row(condition, before, function)) or 0
            measure, text = _change(condition, metric, value, old)
            if function is None:
                text += _luck(now, before, metric, _metric(condition, before))
        else:
            measure, text = _level(condition, metric, value, now)
        if _COMPARE[condition.compare](measure, condition.bound):
            found.append(f"{what} {text}: {condition.text}")
    return found


def _metric(condition: Condition, measured: _Measured) -> Metric:
    metric = measured.metrics.get(condition.metric)
    if metric is None:
        source = measured.profile.parts[0].source
        raise UserError(
            f"--fail-if '{condition.text}': {source} has no event '{condition.metric}'; it has "
            f"{' '.join(measured.metrics)}"
        )
    return metric


def _functions(
    condition: Condition, measured: _Measured, shown: Callable[[Function], Sequence[str]]
) -> list[Function] | list[None]:
    """The functions with a condition's name or, if there are none, those that reports show under it. Raises UserError
    if there are none either, as that is more likely a mistake than a success."""
    if condition.function is None:
        return [None]
    found = sorted(f for f in measured.graph.functions if f.name == condition.function)
    if not found:
        found = sorted(f for f in measured.graph.functions if condition.function in shown(f))
    if not found:
        raise UserError(
            f"--fail-if '{condition.text}': there is no function '{condition.function}'"
        )
    return found


def _row(condition: Condition, measured: _Measured, function: Function | None) -> Row:
    if function is None:
        return measured.totals
    costs = measured.graph.functions.get(function)
    if costs is None:
        return measured.profile.zero
    return costs.self_cost if condition.side is CostKind.SELF else costs.inclusive


def _level(
    condition: Condition, metric: Metric, value: Number, now: _Measured
) -> tuple[Number, str]:
    """A value in the unit of the condition, and what to say about it."""
    if metric.is_ratio:
        return (100 * value if metric.is_share else value), f"is {ratio(metric, value)}"
    if not condition.is_percent:
        return value, f"is {value:,}"
    total = metric.value(now.totals) or 0
    share = 100 * value / total if total else 0.0
    return share, f"is {value:,}, {share:.1f}% of the total"


def _change(
    condition: Condition, metric: Metric, value: Number, old: Number
) -> tuple[Number, str]:
    """A change in the unit of the condition, and what to say about it."""
    if metric.is_ratio:
        text = f"went from {ratio(metric, old)} to {ratio(metric, value)}"
        return (value - old) * (100 if metric.is_share else 1), text
    text = f"went from {old:,} to {value:,}"
    if not condition.is_percent:
        return value - old, text
    change = 100 * (value - old) / abs(old) if old else float("inf") if value else 0.0
    return change, f"{text} ({signed(f'{change:.1f}%')})"


def _luck(now: _Measured, before: _Measured, metric: Metric, old: Metric) -> str:
    """A clause on a change of the total that another placement alone may make; empty if it is more, or not known."""
    width = width_of(before.profile, now.profile, old, metric)
    if width is None or abs(metric.counter()(now.totals) - old.counter()(before.totals)) > width:
        return ""
    reason = lies_elsewhere(before.profile, now.profile)
    return f", no more than {reason} may do (±{width:,.0f}, 95%)"
