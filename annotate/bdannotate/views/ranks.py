# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences between ranks, and the groups that behave alike, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..analyses.ranks import ALIKE, CountOverRanks, Imbalance, RanksReport
from ..model.metrics import metrics_for
from ..model.numbers import counted, percent, short_count
from ..model.profile import CallSite, Function
from ..model.ranks import Rank, Spread
from .json_values import Json, text
from .names import fit
from .text import Cell, Page, Table, function_label, left_width, shorten_end, wrapped

_HEADINGS = ["most - mean", "mean", "most", "at", "least", "deviation"]
_LEAST_ROOM = 24
_RANK_ROOM = 12
_RANKS_ROOM = 64
_SPAN = 2  # up to this many consecutive ranks are listed one by one


def rank_sections(found: RanksReport, limit: int | None, page: Page) -> list[tuple[str, list[str]]]:
    """The titles and lines of the sections. limit: the maximum number of functions, and of calls; None: no limit."""
    sections = [(_title(found), _groups(found, page))]
    for one in found.counts:
        by = heading(one.name, found)
        if any(each.thing not in found.above for each in one.functions):
            sections.append((f"Ranks by {by}: functions", _functions(one, found, limit, page)))
            calls = _calls(one, found, limit, page)
            sections += [(f"Ranks by {by}: calls", calls)] if calls else []
    return sections


def _title(found: RanksReport) -> str:
    hosts = {rank.host for rank in found.ranks.ranks if rank.host}
    where = f" of {counted(len(hosts), 'host')}" if hosts else ""
    return counted(len(found.ranks.ranks), "rank") + where


def heading(name: str, found: RanksReport) -> str:
    """The heading of a count."""
    metrics = metrics_for(found.ranks.events, {}, {})
    return metrics[name].heading if name in metrics else name


def _groups(found: RanksReport, page: Page) -> list[str]:
    if len(found.ranks.ranks) == 1:
        return ["There is only one rank."]
    lines: list[str] = []
    for one in found.counts:
        if one.totals and any(one.totals):
            lines += wrapped(_spread_of_totals(one, found), page)
    lines += wrapped(alike_text(found), page)
    for number, text in enumerate(group_texts(found, page), 1):
        line = f"{number}. {text}"
        lines.append(shorten_end(line, page.width) if page.cut else line)
    return lines


def alike_text(found: RanksReport) -> str:
    """The line above the list of groups, with their number; or a sentence that all ranks behave alike."""
    by = heading(found.grouped_by, found)
    if len(found.groups) == 1 and not found.ungrouped:
        return f"All ranks behave alike: they are within {100 * ALIKE:.0f}% of each other by {by.removesuffix('.')}."
    many = "" if not found.ungrouped else f"; {found.ungrouped:,} more ranks are in none of them"
    return f"{len(found.groups)} groups that behave alike (within {100 * ALIKE:.0f}% by {by}){many}:"


def group_texts(found: RanksReport, page: Page) -> list[str]:
    """The ranks of each group, and how they differ from others; empty if there is only one group."""
    if len(found.groups) == 1 and not found.ungrouped:
        return []
    texts: list[str] = []
    for group in found.groups:
        difference = ""
        if group.differs:
            function, mean, everywhere = group.differs
            difference = f": {page.name(function)} {short_count(mean)} instead of {short_count(everywhere)}"
        members = spans([found.ranks.ranks[place].name for place in group.members])
        texts.append(f"{len(group.members):,} ({shorten_end(members, 32)}){difference}")
    return texts


def _spread_of_totals(one: CountOverRanks, found: RanksReport) -> str:
    totals = one.totals or (0,)
    mean = sum(totals) / len(totals)
    least, most = min(totals), max(totals)
    names = found.ranks.ranks
    return (
        f"{heading(one.name, found)}: {short_count(round(mean))} on average, "
        f"least {short_count(least)} ({names[totals.index(least)].name}), "
        f"most {short_count(most)} ({names[totals.index(most)].name}), {percent(most - mean, mean)} above the mean"
    )


def _functions(one: CountOverRanks, found: RanksReport, limit: int | None, page: Page) -> list[str]:
    functions = [each for each in one.functions if each.thing not in found.above]
    shown = functions[:limit]
    cells = [_cells(each.spread, found, page) for each in shown]
    room = max(_LEAST_ROOM, page.width - left_width(cells, [_HEADINGS]))
    labels = [function_label(each.thing, page, room) for each in shown]
    return _table(cells, labels, "function", len(functions) - len(shown), page)


def _calls(one: CountOverRanks, found: RanksReport, limit: int | None, page: Page) -> list[str]:
    calls = [each for each in one.calls if not {each.thing.caller, each.thing.callee} & found.above]
    shown = calls[:limit]
    cells = [_cells(each.spread, found, page) for each in shown]
    room = max(_LEAST_ROOM, page.width - left_width(cells, [_HEADINGS]))
    labels = [_call_label(each.thing, page, room) for each in shown]
    return _table(cells, labels, "call", len(calls) - len(shown), page)


def _call_label(site: CallSite, page: Page, room: int) -> str:
    """The names of a call in `room` characters. The callee's name gets the room that the caller's leaves."""
    line = f":{site.line}" if site.line else ""
    caller, callee = page.name(site.caller), page.name(site.callee)
    if page.full_names:
        return f"{caller}{line} -> {callee}"
    room -= len(line) + len(" -> ")
    caller = fit(caller, max(room - len(callee), room // 2))
    return f"{caller}{line} -> {fit(callee, max(1, room - len(caller)))}"


def _cells(spread: Spread, found: RanksReport, page: Page) -> list[Cell]:
    ranks = len(found.ranks.ranks)
    at = found.ranks.ranks[spread.most_at].name
    return [
        Cell(short_count(round(spread.above_mean(ranks)))),
        Cell(short_count(round(spread.mean(ranks)))),
        Cell(short_count(spread.most)),
        Cell(at if page.full_names else shorten_end(at, _RANK_ROOM)),
        Cell(short_count(spread.least)),
        Cell(short_count(round(spread.deviation(ranks)))),
    ]


def _table(
    cells: Sequence[list[Cell]], labels: Sequence[str], title: str, hidden: int, page: Page
) -> list[str]:
    if not cells:
        return []
    lines = Table([[*_HEADINGS, title]], [[*row, Cell(label)] for row, label in zip(cells, labels)]).lines(page)
    return lines + ([f"{hidden:,} more: --limit=all"] if hidden else [])


def spans(names: Sequence[str]) -> str:
    """The names of ranks, which must be in order; consecutive numbers as ranges, such as 0-3,8."""
    if not all(name.isascii() and name.isdigit() for name in names):
        return ",".join(names)
    numbers = list(map(int, names))
    starts = [0] + [place for place, (before, after) in enumerate(pairwise(numbers), 1) if after != before + 1]
    return _runs([range(numbers[start], numbers[stop - 1] + 1) for start, stop in pairwise([*starts, len(numbers)])])


def missing_ranks(ranks: Sequence[int]) -> str:
    """A clause on the ranks that are missing from 0 to the last one; empty if none is. ranks: must be sorted."""
    runs = [range(before + 1, after) for before, after in pairwise([-1, *ranks]) if after > before + 1]
    if not runs:
        return ""
    missing = "ranks {} are missing" if sum(map(len, runs)) > 1 else "rank {} is missing"
    known = "there are ranks {}" if len(ranks) > 1 else "there is rank {}"
    return (
        f"{missing.format(shorten_end(_runs(runs), _RANKS_ROOM))}: "
        f"{known.format(shorten_end(spans(list(map(str, ranks))), _RANKS_ROOM))}"
    )


def _runs(runs: Iterable[range]) -> str:
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > _SPAN else ",".join(map(str, run)) for run in runs)


def ranks_json(found: RanksReport) -> Json:
    number = len(found.ranks.ranks)
    return {
        "ranks": [_rank(rank) for rank in found.ranks.ranks],
        "totals": [list(row) for row in zip(*found.ranks.totals)],
        "counts": [
            {
                "count": one.name,
                "functions": [
                    {**_function(each.thing), **_spread(each, number)} for each in one.functions
                ],
                "calls": [
                    {
                        "caller": _function(each.thing.caller), "callee": _function(each.thing.callee),
                        "file": text(each.thing.file), "line": each.thing.line or None, **_spread(each, number),
                    }
                    for each in one.calls
                ],
            }
            for one in found.counts
        ],
        "grouped_by": found.grouped_by or None,
        "groups": [
            {
                "ranks": list(group.members),
                "differs": None if group.differs is None else {
                    **_function(group.differs[0]), "mean": group.differs[1], "mean_of_all": group.differs[2],
                },
            }
            for group in found.groups
        ],
        "ungrouped": found.ungrouped,
        "followed": {
            "counts": list(found.ranks.strips),
            "functions": [
                {**_function(function), "by_rank": [list(row) for row in zip(*columns)]}
                for function, columns in found.ranks.followed.items()
            ],
        },
    }


def _rank(rank: Rank) -> Json:
    return {"name": text(rank.name), "host": text(rank.host) or None}


def _function(function: Function) -> dict[str, Json]:
    return {"name": text(function.name), "file": text(function.file), "object": text(function.object)}


def _spread(one: Imbalance[Function] | Imbalance[CallSite], ranks: int) -> dict[str, Json]:
    spread = one.spread
    return {
        "sum": spread.sum, "mean": spread.mean(ranks), "deviation": spread.deviation(ranks), "least": spread.least,
        "least_at": spread.least_at, "most": spread.most, "most_at": spread.most_at,
    }
