# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: what is to be exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model.contexts import ContextTree
from ..model.errors import UserError
from ..model.frames import Chains
from ..model.metrics import Metric, metrics_of
from ..model.profile import Profile, Row

# The main event is the first of these that a profile has, as in reports without options.
_MAIN_EVENTS = ("SpLossD1", "SpLoss1", "Ir")

_COUNT_BYTES = ("SpLoss", "UsByte", "Loaded")


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be exported.

    metrics: counts, not ratios; at least one.
    threshold: in percent of the first metric's total, for formats that can leave something out.
    tree: that of the same run; None: there is none.
    chains: the inlining chains of instructions, as far as they are known.
    counted: how many of the profile's events, from the first one on, are counts. The others are estimates, which do not
    add up to the last digit.
    """

    profile: Profile
    metrics: tuple[Metric, ...]
    threshold: float
    tree: ContextTree | None = None
    chains: Chains = field(default_factory=dict)
    counted: int | None = None

    def row(self, costs: Row) -> Row:
        """The chosen counts of a row of the profile."""
        return tuple(metric.counter()(costs) for metric in self.metrics)


def make_request(
    profile: Profile, names: Sequence[str], threshold: float, tree: ContextTree | None = None,
    all_events: bool = False, chains: Chains | None = None, counted: int | None = None,
) -> Request:
    """The request for events. names: those of events and of sums of events; empty: the main event or, with
    `all_events`, all events, the main one first. Raises UserError for a name that is not known."""
    known = {name: metric for name, metric in metrics_of(profile).items() if not metric.is_ratio}
    for name in names:
        if name not in known:
            raise UserError(f"event '{name}' is unknown or a ratio; known are {' '.join(known)}")
    if len(set(names)) < len(names):
        raise UserError("--events names an event twice")
    main = next((name for name in _MAIN_EVENTS if name in known), profile.events[0])
    if not names:
        others = [event for event in profile.events if event != main] if all_events else []
        names = (main, *others)
    return Request(profile, tuple(known[name] for name in names), threshold, tree, chains or {}, counted)


def counts_bytes(metric: Metric) -> bool:
    """Whether a metric is in bytes, so that readers show it in kB and MB."""
    return metric.name.startswith(_COUNT_BYTES)
