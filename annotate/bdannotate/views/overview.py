# SPDX-License-Identifier: GPL-2.0-or-later
"""The head of the first screen: what was profiled, how bad it is, and which level to look at first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping


from ..analyses.code.report import Report
from ..analyses.data.data_use import data_loss
from ..analyses.misses.verdict import First, Time, Verdict, Waits, verdict
from ..analyses.misses.waits import FIRST_TOUCHES, IN_ORDER, MADE, OUT_OF_ORDER
from ..analyses.top_lines import TopLine, TopLines
from ..model.metrics import TIMES, Metric
from ..model.numbers import percent, ratio, seconds_text, short_count
from ..model.placements import is_of_placements, placements_of
from ..model.profile import CACHE, CACHE_NAMES, Profile
from .headers import descriptions, source_text
from .intervals import estimates, plus_minus
from .names import fit
from .placements import note_on, plus_minus_of
from .text import Page, shorten_middle

# What bursts are too short for.
_NOT_SAMPLED = "LL, causes and repairs; a run without --sample, with --why=yes, has them"
# The description with functions that options take for allocators, but that are not.
_MISNAMED = "Objects"
# Descriptions that are shown elsewhere, or are of no use on the first screen.
_NOT_LISTED = frozenset({
    *CACHE_NAMES, "Geometry", "TLBs", "Huge TLBs", "TLB geometry", "Options", _MISNAMED,
})
_MOST_MISNAMED = 3
_NAMES = 10  # the width of names and the gap behind them
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def overview(report: Report, lines: TopLines | None, page: Page) -> list[tuple[str, str]]:
    """Names and texts."""
    profile = report.profile
    rows = [
        ("Profile", source_text(profile.parts)),
        ("Command", shorten_middle(profile.parts[0].command, page.width - _NAMES)),
        ("Caches", _caches(profile)),
        ("L2", _without_l2(report)),
    ]
    rows += [
        (name, text) for name, text in descriptions(profile.parts)
        if name not in _NOT_LISTED and not is_of_placements(name)
    ]
    placed = placements_of(profile)
    rows.append(("Placements", "" if placed is None else note_on(placed)))
    if profile.intervals is not None:
        rows.append(("Estimates", estimates(profile.intervals)))
        rows.append(("Missing", _NOT_SAMPLED))
    rows += _misnamed(profile)
    found = verdict(profile, report.metrics, report.totals)
    rows += [("Counted", _events(report)), *_levels(report, found)]
    rows += [("Prefetch", _prefetches(report)), ("Pages", _pages(report))]
    rows += [("Causes", _causes(report))]
    if found:
        if found.time is None:
            rows.append(("Estimate", _estimate(found, report)))
        else:
            rows.append(("Time", _time(found, found.time, report)))
        rows += [("First", first(found, report, lines, page))]
    return [(name, text) for name, text in rows if text]


def _misnamed(profile: Profile) -> list[tuple[str, str]]:
    """Rows on functions that options take for allocators, as the last part of the run describes them: a later part has
    seen more calls."""
    found = [text for name, text in profile.parts[-1].descriptions if name == _MISNAMED]
    return [(_MISNAMED, text) for text in found[:_MOST_MISNAMED]]


def _caches(profile: Profile) -> str:
    known = dict(profile.parts[0].descriptions)
    texts: list[str] = []
    lines: list[str] = []
    for name in CACHE_NAMES:
        if match := CACHE.fullmatch(known.get(name, "")):
            size, line, ways = match.groups()
            texts.append(f"{name.split()[0]} {_size(int(size))} {ways}-way")
            lines.append(line)
    if len(set(lines)) > 1:
        return ", ".join(f"{text} {line} B" for text, line in zip(texts, lines))
    return f"{', '.join(texts)}; lines of {lines[0]} B" if texts else ""


# The description of the machine's L2 in a run that does not simulate it.
_NO_L2 = re.compile(r"its L2 of (\d+) B, \d+ B, (\d+)-way is not simulated")


def _without_l2(report: Report) -> str:
    """A clause on the L2 that was not simulated, and the option that does so; empty if misses cost too little for that
    to matter."""
    found = _NO_L2.search(dict(report.profile.parts[0].descriptions).get("Geometry", ""))
    judged = verdict(report.profile, report.metrics, report.totals)
    if not found or judged is None or judged.first in (First.INSTRUCTIONS, First.FIRST_TOUCHES):
        return ""
    size, ways = map(int, found.groups())
    return f"{_size(size)} {ways}-way, not simulated (--machine=native simulates it)"


def _size(size: int) -> str:
    for unit, suffix in _UNITS:
        if size >= unit and size % (unit // 4) == 0:
            return f"{size / unit:g} {suffix}"
    return f"{size} B"


# The events that are covered by other rows.
_COVERED = frozenset({
    "I1mr", "D1mr", "D1mw", "I2mr", "D2mr", "D2mw", "ILmr", "DLmr", "DLmw",
    *(f"{name}{level}" for name in ("AcCost", "SpLoss", "EvLine", "UsByte", "Access")
      for level in ("1", "L2", "2", "D1", "I1", "D2", "I2", "DL", "IL")),
    *(f"{level}{cause}" for level in ("I1", "D1", "I2", "D2", "IL", "DL") for cause in ("first", "conf")),
    *(f"{what}{pages}{level}m{kind}" for what, kind in (("I", "r"), ("D", "r"), ("D", "w"))
      for pages in ("T", "H") for level in ("1", "2")),
    *(f"{kind}Pf{what}{level}" for kind in "ID" for what in ("Use", "Loss") for level in ("L2", "")),
    *MADE,
})


def _events(report: Report) -> str:
    return ", ".join(
        f"{short_count(total)}{_plus_minus(report, event)} {event}"
        for event, total in zip(report.profile.events, report.totals)
        if event not in _COVERED
    )


def _levels(report: Report, found: Verdict | None) -> list[tuple[str, str]]:
    """The rows of the cache levels. LL comes first if it is known that lines from memory are waited for most."""
    metrics = report.metrics
    rows: list[tuple[str, str]] = []
    # Use the metrics of data if they are separate from those of code.
    l1, l2, ll = ("D1", "D2", "DL") if "UnusedD1" in metrics else ("1", "L2", "2")
    for name, misses, rate, code, loaded, unused in (
        ("L1", "D1m", "D1rate", "I1mr", f"Loaded{l1}", f"Unused{l1}"),
        ("L2", "D2m", "", "I2mr", f"Loaded{l2}", f"Unused{l2}"),
        ("LL", "DLm", "", "ILmr", f"Loaded{ll}", f"Unused{ll}"),
    ):
        if misses not in metrics:
            continue
        text = f"{_count(report, misses)} data misses"
        if rate in metrics:
            text += f" ({ratio(metrics[rate], metrics[rate].value(report.totals))})"
        text += f", {_count(report, code)} code" if code in metrics else ""
        if unused in metrics:
            share = ratio(metrics[unused], metrics[unused].value(report.totals))
            text += f"; {_count(report, loaded, 'B')} loaded, {share} unused"
        rows.append((name, text))
    return rows[::-1] if found is not None and _costs_more_in_memory(found) else rows


# The minimum share of the time that memory must cost to decide which level comes first.
_NOTABLE = 0.01


def _costs_more_in_memory(found: Verdict) -> bool:
    waits = found.waits
    if waits is None or waits.memory < _NOTABLE:
        return False
    return 2 * waits.memory > waits.first_touches + waits.in_order + waits.out_of_order


def _prefetches(report: Report) -> str:
    """How many lines prefetchers loaded, by level, and the share that was used later; empty if none were simulated."""
    texts: list[str] = []
    for level, suffix in (("L2", "L2"), ("LL", "")):
        use, loss = (report.metrics.get(f"Pf{what}{suffix}") for what in ("Use", "Loss"))
        if use is None or loss is None:
            continue
        used = use.value(report.totals) or 0
        lines = used + (loss.value(report.totals) or 0)
        share = f", {percent(used, lines)} used later" if lines else ""
        texts.append(f"{short_count(lines) if lines else 'no'} line{'' if lines == 1 else 's'} into {level}{share}")
    return "; ".join(texts)


def _pages(report: Report) -> str:
    """The page walks, and whose TLBs they are counted for; empty if the run did not simulate TLBs."""
    if "T2m" not in report.metrics or "H2m" not in report.metrics:
        return ""
    whose = dict(report.profile.parts[0].descriptions).get("TLB geometry", "")
    behind = f"; TLBs {whose.removeprefix('those ')}" if whose else ""
    return f"{_count(report, 'T2m')} page walks, {_count(report, 'H2m')} with huge pages{behind}"


_CAUSES = (("first", "first touch"), ("cap", "capacity"), ("conf", "conflict"))


def _causes(report: Report) -> str:
    """The causes of data misses by level; empty if the run did not record them."""
    texts: list[str] = []
    for level, name in (("D1", "D1"), ("L2", "D2"), ("LL", "DL")):
        if f"{name}cap" not in report.metrics:
            continue
        misses = report.metrics[f"{name}m"].value(report.totals)
        if not misses:
            continue
        shares = [
            f"{100 * count / misses:.0f}% {cause}"
            for event, cause in _CAUSES
            if (count := report.metrics[f"{name}{event}"].value(report.totals))
        ]
        texts.append(f"{level} {', '.join(shares)}")
    return "; ".join(texts)


def _count(report: Report, name: str, unit: str = "") -> str:
    return short_count(report.metrics[name].value(report.totals) or 0) + unit + _plus_minus(report, name)


def _plus_minus(report: Report, name: str) -> str:
    """How far the total of a metric may be off, after a blank; empty if not known."""
    metric, found = report.metrics[name], report.profile.intervals
    if found is None or found.total is None:
        text = plus_minus_of(placements_of(report.profile), metric, report.profile)
    else:
        text = plus_minus(metric, found.total, report.totals)
    return f" {text}" if text else ""


def _estimate(found: Verdict, report: Report) -> str:
    one, *misses = found.factors
    levels = ("L1", "LL") if len(misses) == 2 else ("L1", "L2", "LL")
    formula = " + ".join(f"{cost} {level}m" for cost, level in zip(misses, levels))
    l2 = "" if found.l2 is None else f"{100 * found.l2:.0f}% L2, "
    return (
        f"{short_count(found.cycles)} cycles{_plus_minus(report, 'CEst')} "
        f"({'' if one == 1 else f'{one} '}Ir + {formula}): "
        f"{100 * found.instructions:.0f}% instr., {100 * (found.l1_data + found.l1_code):.0f}% L1, {l2}"
        f"{100 * found.last_level:.0f}% LL"
    )


def _time(found: Verdict, time: Time, report: Report) -> str:
    """The estimated time, its range, and what it is spent on."""
    where = time.what.removeprefix("Estimated time ")
    off = plus_minus_of(placements_of(report.profile), report.metrics[TIMES[0]], report.profile)
    about = " ".join(filter(None, (seconds_text(time.seconds), off)))
    text = f"about {about} {where} ({seconds_text(time.least)} to {seconds_text(time.most)})"
    if found.waits is None:
        return text
    waits = found.waits
    parts = (
        ("instr.", found.instructions), ("misses out of order", waits.out_of_order),
        ("in order", waits.in_order), ("first touches", waits.first_touches), ("code", found.l1_code),
    )
    return f"{text}: {', '.join(f'{100 * share:.0f}% {name}' for name, share in parts)}"


def first(
    found: Verdict, report: Report, lines: TopLines | None, page: Page, with_options: bool = True
) -> str:
    """What to look at first, by the verdict, and the line that has most of it. with_options: whether to name the
    options of bd_annotate that list it."""
    metric = _metric_of(found, report.metrics)
    at = _at(most_at(lines, metric, report), page)

    def listed(option: str) -> str:
        return option if with_options else ""

    if found.waits is not None and found.first is not First.L1_CODE:
        return _first_of_waits(found, found.waits, at, listed)
    if found.first is First.L1_DATA:
        text = _cost(found.wasted, "its data misses cost", found.l1_data)
        return f"L1: {text}{at}{_others(found)}"
    if found.first is First.L2:
        text = _cost(found.wasted, "its misses cost", found.l2 or 0.0)
        return f"L2: {text}{at}{listed(' (--sort=D2m)')}{_others(found)}"
    if found.first is First.LAST_LEVEL:
        text = _cost(found.wasted, "its misses cost", found.last_level - found.first_touches)
        return f"LL: {text}{at}{listed(' (--sort=DLm)')}{_others(found)}"
    if found.first is First.FIRST_TOUCHES:
        cost = _cost(None, "first touches cost", found.first_touches)
        return f"LL: {cost}{at}: only less data helps{listed(' (--sort=DLm)')}"
    if found.first is First.L1_CODE:
        metrics = report.metrics
        share = percent(metrics["I1mr"].value(report.totals) or 0,
                        metrics["L1m"].value(report.totals) or 0)
        return f"code: {share} of L1 misses{listed(' (--sort=I1mr)')}; try -fprofile-use, or -Os" + (
            "" if found.waits else _others(found)
        )
    return f"instructions: misses cost little here{listed('; see --sort=Ir')}"


def first_place(found: Verdict, report: Report, lines: TopLines | None) -> tuple[TopLine, float] | None:
    """The line that `first` names, with its share."""
    return most_at(lines, _metric_of(found, report.metrics), report)


def _first_of_waits(found: Verdict, waits: Waits, at: str, listed: Callable[[str], str]) -> str:
    """The same by waits, the times that repairs are also based on."""
    if found.first is First.INSTRUCTIONS:
        cost = f"misses cost {100 * found.misses:.0f}% of the time"
        return f"instructions: {cost}{at}{listed('; see --sort=Ir')}"
    what, share, end = {
        First.OUT_OF_ORDER: ("misses out of order cost", waits.out_of_order, ""),
        First.IN_ORDER: ("misses in order cost", waits.in_order, ""),
        First.FIRST_TOUCHES: ("first touches cost", waits.first_touches, ": only less data helps"),
    }[found.first]
    return f"data: {what} {100 * share:.0f}% of the time{at}{end}"


_WAITS = {First.OUT_OF_ORDER: OUT_OF_ORDER, First.IN_ORDER: IN_ORDER, First.FIRST_TOUCHES: FIRST_TOUCHES}


def _metric_of(found: Verdict, metrics: Mapping[str, Metric]) -> Metric | None:
    """What the verdict is about; None of code and of instructions, which no line of data is to blame for."""
    if found.waits is not None and found.first is not First.L1_CODE:
        return metrics[_WAITS.get(found.first, TIMES[0])]
    if found.first is First.L1_DATA:
        return data_loss(metrics) if found.wasted else metrics["D1m"]
    if found.first is First.L2:
        return metrics["D2m"]
    return metrics["DLm"] if found.first in (First.LAST_LEVEL, First.FIRST_TOUCHES) else None


def _others(found: Verdict) -> str:
    """Why a level that costs more by the estimate does not come first; empty if there is none."""
    l1 = found.l1_data + found.l1_code
    if found.first is First.LAST_LEVEL:
        return f"; L1 costs more ({100 * l1:.0f}%), but wastes less" if l1 > found.last_level else ""
    if found.fits_last_level:
        share = f": its {100 * found.last_level:.0f}% are first touches" if found.last_level > l1 else ""
        return f"; all data fits LL{share}"
    if found.last_level <= l1:
        return ""
    if found.first_touches > found.last_level / 2:
        return f"; LL costs more ({100 * found.last_level:.0f}%), but mostly for first touches"
    return f"; LL costs more ({100 * found.last_level:.0f}%), but wastes less"


def _cost(wasted: float | None, misses: str, share: float) -> str:
    what, part = ("data never used costs", wasted) if wasted else (misses, share)
    return f"{what} {100 * part:.0f}% of the cycles"


# The minimum share of the total for a line to be named.
_MOST = 0.2
_LONGEST_NAME = 40


def most_at(lines: TopLines | None, metric: Metric | None, report: Report) -> tuple[TopLine, float] | None:
    """The listed line that has most of a metric, with its share; None if that is too small."""
    if lines is None or metric is None:
        return None
    count = metric.counter()
    line = max((*lines.lines, *lines.others), key=lambda line: count(line.cost), default=None)
    total = count(report.totals)
    if line is None or count(line.cost) < _MOST * total:
        return None
    return line, count(line.cost) / total


def _at(found: tuple[TopLine, float] | None, page: Page) -> str:
    if found is None:
        return ""
    line, share = found
    place = (
        f"{page.file(line.file)}:{line.line}" if line.line
        else fit(page.name(line.functions[0]), _LONGEST_NAME)
    )
    return f", {100 * share:.0f}% at {place}"
