# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tables say, apart from how they look."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from bdbench.model import Campaign, Metric
from bdbench.summary import QUESTIONS, Spread, Summary
from bdbench.variants import BASELINE, OWN_IN_FULL, PEERS

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under one line of headings; the first column is text, the rest numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def circumstances(campaign: Campaign) -> list[str]:
    """What a reader must know to judge the numbers."""
    lines = [
        f"Machine: {campaign.machine}",
        f"Valgrind: {campaign.valgrind}",
        f"Simulated caches: {' '.join(campaign.geometry.args())}",
        f"Scale {campaign.scale:g}, rounds: {campaign.rounds}, runs: {len(campaign.samples)}",
    ]
    elsewhere = [sample.elsewhere_cpus for sample in campaign.samples]
    if elsewhere:
        lines.append(
            f"Processors kept busy by other programs: median {statistics.median(elsewhere):.2f}, "
            f"most in one run {max(elsewhere):.2f}"
        )
    lines += [f"{v.name}: {v.about} ({' '.join(_options(v.args, v.assumed))})"
              for v in campaign.variants]
    lines += [f"Absent: {sentence}" for sentence in campaign.absent]
    if campaign.missing_runs():
        lines.append(f"INTERRUPTED: {campaign.missing_runs()} runs are missing")
    lines += [
        f"FAILED: {s.guest} under {s.variant}, round {s.round + 1}: {s.failure}"
        for s in campaign.failures()
    ]
    return lines


def all_tables(campaign: Campaign) -> list[Table]:
    """Medians first, then ratios, then the targets; for a sweep, growth instead of targets."""
    summary = Summary(campaign)
    tables = [_medians(campaign, summary, metric) for metric in Metric]
    if campaign.sweep:
        return [*tables, *(_growth(campaign, summary, metric) for metric in Metric)]
    peers = [v.name for v in campaign.variants if v.name in PEERS]
    own = [v.name for v in campaign.variants if v.name not in PEERS]
    if BASELINE in peers and len(peers) > 1:
        others = [name for name in peers if name != BASELINE]
        tables += [
            _ratios(campaign, summary, metric, f"{metric.value}, ratio to {BASELINE}",
                    [(name, name, BASELINE) for name in others])
            for metric in Metric
        ]
    for of in own:
        against = [*peers, *(name for name in own if name == "bdgrind" and name != of)]
        tables += [
            _ratios(campaign, summary, metric, f"{metric.value}, ratio of {of} to",
                    [(to, of, to) for to in against])
            for metric in (tuple(Metric) if of in OWN_IN_FULL else (Metric.CPU,))
            if against
        ]
    targets = _targets(campaign, summary)
    return [*tables, targets] if targets.rows else tables


def _options(args: tuple[str, ...], assumed: tuple[str, ...]) -> tuple[str, ...]:
    return (*args, *assumed) or ("no options",)


def _medians(campaign: Campaign, summary: Summary, metric: Metric) -> Table:
    names = [variant.name for variant in campaign.variants]
    rows = []
    for guest in campaign.guests:
        values = (summary.values(guest, name, metric) for name in names)
        rows.append((guest, *(_number(v.median) if v else NOTHING for v in values)))
    return Table(f"{metric.value} in {metric.unit}, median", ("", *names), tuple(rows))


def _ratios(
    campaign: Campaign,
    summary: Summary,
    metric: Metric,
    title: str,
    columns: list[tuple[str, str, str]],
) -> Table:
    """Columns are (heading, of, to)."""
    rows = [
        (guest, *(_ratio(summary.ratio(guest, of, to, metric)) for _, of, to in columns))
        for guest in campaign.guests
    ]
    means = (_ratio(summary.mean_ratio(of, to, metric)) for _, of, to in columns)
    rows.append(("geometric mean", *means))
    headings = (heading for heading, _, _ in columns)
    return Table(f"{title}: median (least-most)", ("", *headings), tuple(rows))


def _growth(campaign: Campaign, summary: Summary, metric: Metric) -> Table:
    names = [variant.name for variant in campaign.variants]
    rows = []
    for guest in campaign.guests:
        cells = [guest]
        for name in names:
            first = summary.values(campaign.guests[0], name, metric)
            here = summary.values(guest, name, metric)
            cells.append(_number(here.median / first.median) if first and here else NOTHING)
        rows.append(tuple(cells))
    title = f"{metric.value} as a multiple of the first row's"
    return Table(title, ("", *names), tuple(rows))


def _targets(campaign: Campaign, summary: Summary) -> Table:
    rows = []
    for question in QUESTIONS:
        if not campaign.has(question.of, question.to):
            continue
        mean = summary.mean_ratio(question.of, question.to, question.metric)
        worst = summary.worst_ratio(question.of, question.to, question.metric)
        if not mean or not worst:
            continue
        met = mean.median <= question.target
        target = f"{question.target:g}"
        if question.target_each is not None:
            met = met and worst[1] <= question.target_each
            target += f", each {question.target_each:g}"
        rows.append((
            f"{question.metric.value} {question.of} / {question.to}",
            _ratio(mean),
            f"{worst[0]} {worst[1]:.2f}",
            target,
            "met" if met else "missed",
        ))
    header = ("", "geometric mean", "worst", "target", "")
    return Table("Targets", header, tuple(rows))


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def _ratio(ratio: Spread | None) -> str:
    if ratio is None:
        return NOTHING
    if ratio.least == ratio.most:
        return f"{ratio.median:.2f}"
    return f"{ratio.median:.2f} ({ratio.least:.2f}-{ratio.most:.2f})"
