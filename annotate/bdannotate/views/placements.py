# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of placements: by how much another run may differ, and what a comparison makes of that."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.metrics import Metric
from ..model.numbers import signed
from ..model.placements import Placements, lies_elsewhere, placements_of, spread_of, width_of
from ..model.profile import Profile
from .json_values import Json

# The sums that are named where there is room for a few.
_NAMED = ("L1m", "L2m", "LLm", "CEst", "TEst")
_LEAST = 0.05  # percent that are shown as 0.1


def plus_minus_of(found: Placements | None, metric: Metric, profile: Profile) -> str:
    """By how much the total of a metric may differ in another run, such as "±2.1%"; empty if nothing is known, or if it
    is the same in all placements."""
    spread = spread_of(found, metric, profile)
    value = metric.counter()(profile.totals())
    return "" if spread is None or not value else _percent(spread.width, value)


def _percent(width: float, value: int) -> str:
    percent = 100 * width / abs(value)
    if 0 < percent < _LEAST:
        return "±<0.1%"
    return f"±{percent:.1f}%" if percent < 10 else f"±{percent:.0f}%"


def note_on(found: Placements) -> str:
    """What ± means in a report."""
    return f"{_start(found)}; ± is how far another run may be off (95%)"


def summary_of(found: Placements, metrics: Mapping[str, Metric], profile: Profile) -> str:
    """The same with the sums that matter."""
    texts = [
        f"{name} {text}" for name in _NAMED
        if name in metrics and (text := plus_minus_of(found, metrics[name], profile))
    ]
    start = _start(found)
    return f"{start}; another run may be off (95%) by {', '.join(texts)}" if texts else start


def _start(found: Placements) -> str:
    return f"{found.number} of {found.what()} at random, seeds {' to '.join(found.seeds)}"


def change_text(before: Profile, after: Profile, metrics: Mapping[str, Metric]) -> str:
    """Whether changes are more than what two runs differ by anyway; empty if neither profile has placements."""
    have = [placements_of(profile) is not None for profile in (before, after)]
    if not any(have):
        return ""
    if not all(have):
        return "only one of the profiles has any: whether changes of misses are luck is not known"
    reason = lies_elsewhere(before, after)
    smaller: list[str] = []
    larger: list[str] = []
    for name in _NAMED:
        if name not in metrics:
            continue
        metric = metrics[name]
        old, new = (metric.counter()(profile.totals()) for profile in (before, after))
        width = width_of(before, after, metric, metric)
        if width is None or not old:
            continue
        text = f"{name} {signed(f'{100 * (new - old) / abs(old):.1f}%')} ({_percent(width, old)})"
        (smaller if abs(new - old) <= width else larger).append(text)
    texts = [f"{', '.join(smaller)}: no more than {reason} do"] if smaller else []
    if larger:
        texts.append(f"{', '.join(larger)}: more than {'that' if smaller else f'{reason} do'}")
    return "; ".join(texts)


def placements_json(found: Placements | None, metrics: Mapping[str, Metric], profile: Profile) -> dict[str, Json]:
    """Empty if there are none."""
    if found is None:
        return {}
    spreads = {name: spread_of(found, metric, profile) for name, metric in metrics.items()}
    return {"placements": {
        "number": found.number,
        "seeds": [int(seed) for seed in found.seeds],
        "processes": [{event: list(row) for event, row in counts.items()} for counts in found.processes],
        "metrics": {
            name: {
                "mean": spread.mean, "deviation": spread.deviation, "least": spread.least, "most": spread.most,
                "width": spread.width,
            }
            for name, spread in spreads.items() if spread is not None
        },
    }}


def change_json(before: Profile, after: Profile, metrics: Mapping[str, Metric]) -> dict[str, Json]:
    """By metric, how far a change may come from another placement; empty unless both profiles say."""
    widths = {name: width_of(before, after, metric, metric) for name, metric in metrics.items()}
    known: dict[str, Json] = {name: width for name, width in widths.items() if width is not None}
    return {"placements": known} if known else {}
