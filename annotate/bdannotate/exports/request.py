# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model.contexts import ContextTree
from ..model.errors import UserError
from ..model.frames import Chains
from ..model.metrics import Metric, metrics_of
from ..model.profile import Profile, Row

# What a report without options is sorted by, too.
_MAIN_EVENTS = ("SpLossD1", "SpLoss1", "Ir")

_COUNT_BYTES = ("SpLoss", "UsByte", "Loaded")


@dataclass(frozen=True, slots=True)
class Request:
    """metrics are counts, no ratios; one at least. threshold is in percent of the first one's
    total, for forms that can leave something out. The tree, if there is one, is of the same run.
    chains tell which inlined functions instructions are from, as far as that is known. counted: so many of the
    profile's events, the first ones, are counts; the others are estimates, which do not add up to the last digit."""

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
    """names are events and sums of events. Without any, the main event is taken; or all of them,
    the main one first."""
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
    """So that readers show them in kB and MB."""
    return metric.name.startswith(_COUNT_BYTES)
