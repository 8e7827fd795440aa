# SPDX-License-Identifier: GPL-2.0-or-later
"""Which numbers a report shows and sorts by: metrics, each self or inclusive."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UserError
from .metrics import Metric, Number
from .model import Row


class Side(enum.Enum):
    SELF = "self"
    INCLUSIVE = "incl"


@dataclass(frozen=True, slots=True)
class Column:
    metric: Metric
    side: Side

    @property
    def name(self) -> str:
        return f"{self.metric.name}:{self.side.value}"

    def value(self, self_cost: Row, inclusive: Row) -> Number | None:
        return self.metric.value(self_cost if self.side is Side.SELF else inclusive)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by. What has less than `threshold` percent of its total is left out;
    for a ratio, which has no total, what is below the threshold itself."""

    column: Column
    threshold: float | None


# The first set whose metrics are all there is the default.
_DEFAULT_SETS: tuple[tuple[str, ...], ...] = (
    ("SpLoss1:incl", "SpLoss1:self", "Unused1:incl", "AccLine1:incl", "D1m:incl", "DLm:incl",
     "D1rate:incl", "Ir:incl"),
    ("SpLoss1:incl", "SpLoss1:self", "D1m:incl", "DLm:incl", "D1rate:incl", "Ir:incl"),
    ("Ir:incl", "Ir:self", "D1m:incl", "DLm:incl", "D1rate:incl", "LLrate:incl"),
    ("Ir:incl", "Ir:self", "Bm:incl", "Brate:incl"),
)


def default_columns(metrics: Mapping[str, Metric], has_calls: bool) -> list[Column]:
    """What tells where to look. Without calls, inclusive costs are self costs: shown once."""
    for names in (*_DEFAULT_SETS, tuple(f"{n}:{s}" for n in _first(metrics) for s in ("incl", "self"))):
        if all(name.partition(":")[0] in metrics for name in names):
            break
    columns: list[Column] = []
    for name in names:
        column = parse_column(name, metrics, Side.INCLUSIVE)
        if not has_calls:
            column = Column(column.metric, Side.SELF)
        if column not in columns:
            columns.append(column)
    return columns


def _first(metrics: Mapping[str, Metric]) -> list[str]:
    return [name for name, metric in metrics.items() if not metric.is_ratio][:2]


def parse_column(text: str, metrics: Mapping[str, Metric], default: Side) -> Column:
    key = parse_sort_key(text, metrics, default)
    if key.threshold is not None:
        raise UserError(f"'{text}': a threshold belongs to --sort")
    return key.column


def parse_sort_key(text: str, metrics: Mapping[str, Metric], default: Side) -> SortKey:
    """NAME, optionally followed by :self or :incl, and by :PERCENT."""
    name, *qualifiers = text.split(":")
    if name not in metrics:
        known = " ".join(metrics)
        raise UserError(f"event '{name}' is unknown; there are {known}")
    side = default
    threshold: float | None = None
    for qualifier in qualifiers:
        if qualifier in ("self", "incl"):
            side = Side(qualifier)
        else:
            try:
                threshold = float(qualifier)
            except ValueError:
                raise UserError(f"'{text}': '{qualifier}' is not self, incl or a percentage") from None
    return SortKey(Column(metrics[name], side), threshold)
