# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of a report and the keys that it sorts by: metrics, each self or inclusive."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.errors import UserError
from ...model.metrics import Metric, Number
from ...model.profile import Row


class CostKind(enum.Enum):
    SELF = "self"
    INCLUSIVE = "incl"


class Form(enum.Enum):
    """Whether a count is shown with its share of the total. A ratio has no such share."""

    BOTH = ""
    COUNT = "#"
    SHARE = "%"


@dataclass(frozen=True, slots=True)
class Column:
    """A metric of self or inclusive costs, and how it is shown."""

    metric: Metric
    side: CostKind
    form: Form = Form.BOTH

    @property
    def name(self) -> str:
        return f"{self.metric.name}:{self.side.value}"

    def value(self, self_cost: Row, inclusive: Row) -> Number | None:
        return self.metric.value(self_cost if self.side is CostKind.SELF else inclusive)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by. threshold: the minimum percentage of its total for an entry to be listed or, for a ratio,
    which has no total, its minimum value; None: the selection's."""

    column: Column
    threshold: float | None


# The default is the first set whose metrics all exist, but for those that sampled profiles lack.
# If the page is narrow, the last columns are dropped first.
_DEFAULT_SETS: tuple[tuple[str, ...], ...] = (
    ("SpLossD1:incl", "SpLossD1:self", "UnusedD1:incl", "D1m#:incl", "DLm#:incl", "Ir%:incl",
     "AccLineD1:incl", "D1rate:incl"),
    ("SpLoss1:incl", "SpLoss1:self", "Unused1:incl", "D1m#:incl", "DLm#:incl", "Ir%:incl",
     "AccLine1:incl", "D1rate:incl"),
    ("SpLoss1:incl", "SpLoss1:self", "D1m#:incl", "DLm#:incl", "Ir%:incl", "D1rate:incl"),
    ("Ir:incl", "Ir:self", "D1m#:incl", "DLm#:incl", "D1rate:incl", "LLrate:incl"),
    ("Ir:incl", "Ir:self", "Bm#:incl", "Brate:incl"),
)
_NOT_SAMPLED = ("DLm", "LLrate", "AccLineD1", "AccLine1")


def choose_columns(
    names: Sequence[str], metrics: Mapping[str, Metric], side: CostKind, has_calls: bool
) -> list[Column]:
    """The columns with these names or, if there are none, the defaults. Without calls, inclusive costs equal self
    costs, and the defaults have only the latter."""
    if names:
        return [parse_column(name, metrics, side) for name in names]
    columns: list[Column] = []
    for name in _default_names(metrics):
        column = parse_column(name, metrics, side)
        if not has_calls or side is CostKind.SELF:
            column = Column(column.metric, CostKind.SELF, column.form)
        if column not in columns:
            columns.append(column)
    return columns


def with_keys_first(columns: Sequence[Column], keys: Sequence[SortKey]) -> list[Column]:
    """The columns, with those that a list is sorted by first. If the first key is inclusive, its self costs follow if
    any column shows self costs."""
    first = keys[0].column
    others = [key.column for key in keys[1:]]
    sides = {column.side for column in columns}
    if not first.metric.is_ratio and first.side is CostKind.INCLUSIVE and CostKind.SELF in sides:
        others.insert(0, Column(first.metric, CostKind.SELF))
    found = {(column.metric.name, column.side): column for column in (first, *others)}
    for column in columns:
        found.setdefault((column.metric.name, column.side), column)
    return list(found.values())


def without_rates(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns without rates, for lists that show each ratio twice: miss rates follow from misses."""
    return tuple(column for column in columns if not column.metric.name.endswith("rate"))


def _default_names(metrics: Mapping[str, Metric]) -> Sequence[str]:
    for names in _DEFAULT_SETS:
        known = [name for name in names if _bare(name) in metrics]
        if all(_bare(name) in _NOT_SAMPLED for name in names if name not in known):
            return known
    counts = [name for name, metric in metrics.items() if not metric.is_ratio][:3]
    return [f"{name}:{side.value}" for name in counts for side in (CostKind.INCLUSIVE, CostKind.SELF)]


def choose_keys(
    names: Sequence[str], columns: Sequence[Column], metrics: Mapping[str, Metric], side: CostKind
) -> list[SortKey]:
    """The keys with these names or, if there are none, the first column. side: that of names without one."""
    if names:
        return [parse_sort_key(name, metrics, side) for name in names]
    return [SortKey(columns[0], None)]


def parse_column(text: str, metrics: Mapping[str, Metric], default: CostKind) -> Column:
    """The column with the name NAME, optionally with % or #, and with :self or :incl. Raises UserError."""
    key = parse_sort_key(text, metrics, default)
    if key.threshold is not None:
        raise UserError(f"'{text}': a threshold belongs to --sort")
    return key.column


def parse_sort_key(text: str, metrics: Mapping[str, Metric], default: CostKind) -> SortKey:
    """The key for NAME, optionally with % or #, followed by :self or :incl, and by :PERCENT. default: the side of names
    without one. Raises UserError."""
    name, *qualifiers = text.split(":")
    form = Form(name[-1]) if name[-1:] in ("%", "#") else Form.BOTH
    name = _bare(name)
    if name not in metrics:
        raise UserError(f"event '{name}' is unknown; known are {' '.join(metrics)}")
    side = default
    threshold: float | None = None
    for qualifier in qualifiers:
        if qualifier in ("self", "incl"):
            side = CostKind(qualifier)
        else:
            try:
                threshold = float(qualifier)
            except ValueError:
                raise UserError(
                    f"'{text}': '{qualifier}' is not self, incl or a percentage"
                ) from None
    return SortKey(Column(metrics[name], side, form), threshold)


def _bare(name: str) -> str:
    return name.partition(":")[0].rstrip("%#")
