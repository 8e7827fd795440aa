# SPDX-License-Identifier: GPL-2.0-or-later
"""The head of a report: what was profiled and how, what is shown, and the totals."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from bdcommon.console import printable

from ..model.metrics import Metric, metrics_of
from ..model.numbers import ratio
from ..model.placements import PLACEMENTS, is_of_event, placements_of
from ..model.profile import Part, Profile, Row
from .costs import fitting
from .intervals import estimates, plus_minus
from .placements import summary_of
from .text import Cell, Page, Table, shorten_middle

# Descriptions that each part repeats, or that say nothing about a finished run.
_DULL = {("Trigger", "Program termination")}
_DULL_NAMES = {"Timerange"}
_MANY = 6
# The maximum number of lines of a text: a command may have a page of arguments.
_WRAPPED_LINES = 2


def metadata(profile: Profile) -> list[tuple[str, str]]:
    """The names and texts of what is known about a run."""
    first = profile.parts[0]
    rows = [("Profile", source_text(profile.parts)), ("Command", first.command)]
    for name, text in descriptions(profile.parts):
        if name != PLACEMENTS:
            rows.append((name, text))
    placed = placements_of(profile)
    if placed is not None:
        rows.append((PLACEMENTS, summary_of(placed, metrics_of(profile), profile)))
    if profile.intervals is not None:
        rows.append(("Estimates", estimates(profile.intervals)))
    return [(name, text) for name, text in rows if text]


def pairs(rows: Sequence[tuple[str, str]], page: Page) -> list[str]:
    """Names and texts in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    return [
        page.heading(printable(name).ljust(width)) + "  "
        + (text if page.full_names else shorten_middle(text, page.width - width - 2))
        for name, text in ((name, printable(text)) for name, text in rows)
    ]


def wrapped_pairs(rows: Sequence[tuple[str, str]], page: Page) -> list[str]:
    """The same, with long texts wrapped in their column."""
    width = max((len(name) for name, _ in rows), default=0)
    lines: list[str] = []
    for name, text in rows:
        pieces = textwrap.wrap(
            printable(text), max(page.width - width - 2, 20), break_on_hyphens=False
        )
        for index, piece in enumerate(pieces[:_WRAPPED_LINES]):
            start = printable(name) if index == 0 else ""
            lines.append(page.heading(start.ljust(width)) + "  " + piece)
    return lines


def source_text(parts: Sequence[Part]) -> str:
    """The files of a profile, and the program, processes and threads that they are from."""
    sources = list(dict.fromkeys(part.source for part in parts))
    text = ", ".join(sources[:_MANY])
    if len(sources) > _MANY:
        text += f", ... ({len(sources)} files)"
    creators = list(dict.fromkeys(part.creator for part in parts if part.creator))
    facts = [", ".join(creators[:_MANY])] if creators else []
    pids = list(dict.fromkeys(part.pid for part in parts if part.pid))
    if pids:
        facts.append(f"pid {pids[0]}" if len(pids) == 1 else f"{len(pids)} processes")
    threads = {(part.pid, part.thread) for part in parts if part.thread}
    if len(threads) > 1:
        facts.append(f"{len(threads)} threads")
    if len(parts) > len(sources):
        facts.append(f"{len(parts)} parts")
    return f"{text} ({', '.join(facts)})" if facts else text


def descriptions(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """The names and texts of the `desc:` lines, each once. If one differs between parts, its text has all variants."""
    texts: dict[str, list[str]] = {}
    for part in parts:
        for name, text in part.descriptions:
            if text and name not in _DULL_NAMES and (name, text) not in _DULL and not is_of_event(name):
                known = texts.setdefault(name, [])
                if text not in known:
                    known.append(text)
    return [
        (name, "; ".join(known[:_MANY]) + ("; ..." if len(known) > _MANY else ""))
        for name, known in texts.items()
    ]


# The headings of the table of caches; and for each cache, its name, and the metrics of its row in their order.
_CACHE_HEADINGS = (
    "", "accesses", "misses", "rate", "bytes loaded", "never used", "share", "acc/line",
    "used/line", "",
)
_CACHES = (
    ("I1", ("Ir", "I1mr", "I1rate")),
    ("D1", ("DRefs", "D1m", "D1rate")),
    ("L1", ("L1Refs", "L1m", "L1rate", "Loaded1", "SpLoss1", "Unused1", "AccLine1", "UsLine1")),
    ("L2", ("L1m", "L2m", "L2local", "LoadedL2", "SpLossL2", "UnusedL2", "AccLineL2", "UsLineL2")),
    ("LL", ("L1m", "LLm", "LLlocal", "Loaded2", "SpLoss2", "Unused2", "AccLine2", "UsLine2")),
)
_ALWAYS_LISTED = frozenset({"Ir", "Dr", "Dw"})


def totals_tables(profile: Profile, metrics: Mapping[str, Metric], page: Page) -> list[str]:
    """The table of all events that the table of caches does not cover, followed by that table."""
    totals = profile.totals()
    rows, covered = _cache_rows(profile.events, totals, metrics)
    listed = [
        [Cell(f"{total:,}"), Cell(event), Cell(printable(metrics[event].title))]
        for event, total in zip(profile.events, totals)
        if event in _ALWAYS_LISTED or event not in covered or profile.intervals is not None
    ]
    headings = [["total", "event", ""]]
    if profile.intervals is not None:
        # All events are listed, as the table of caches has no room for this column.
        headings[0].insert(1, "±")
        for row, event in zip(listed, profile.events):
            row.insert(1, Cell(plus_minus(metrics[event], profile.intervals.total, totals)))
    lines = Table(headings, listed, frozenset({len(headings[0]) - 2})).lines(page)
    if rows:
        used = [i for i in range(len(_CACHE_HEADINGS)) if any(row[i].text for row in rows)]
        headings = [[_CACHE_HEADINGS[i] for i in used] + [""]]
        cells = [[row[i] for i in used] + [Cell("")] for row in rows]
        headings, cells = fitting(headings, cells, page, kept=1, least=0)
        lines += ["", *Table(headings, cells).lines(page)]
    return lines


def _cache_rows(
    events: Sequence[str], totals: Row, metrics: Mapping[str, Metric]
) -> tuple[list[list[Cell]], set[str]]:
    rows: list[list[Cell]] = []
    covered: set[str] = set()
    for cache, names in _CACHES:
        if names[1] not in metrics:
            continue
        if cache == "LL" and "L2m" in metrics:
            names = ("L2m", *names[1:])  # misses of L2 are the accesses of LL
        cells = [Cell(cache, "bold")]
        for name in names:
            metric = metrics.get(name)
            if metric is None:
                cells.append(Cell(""))
                continue
            cells.append(Cell(metric_text(metric, totals)))
            covered |= {event for event, weight in zip(events, metric.numerator) if weight}
            if metric.denominator:
                covered |= {event for event, w in zip(events, metric.denominator) if w}
        rows.append(cells + [Cell("")] * (len(_CACHE_HEADINGS) - len(cells)))
    return rows, covered


def metric_text(metric: Metric, row: Row) -> str:
    """The value of a metric as a text, with all digits of a count."""
    value = metric.value(row)
    if metric.is_ratio or value is None:
        return ratio(metric, value)
    return f"{value:,}"
