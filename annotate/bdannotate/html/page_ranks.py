# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of each rank of a job, on a page."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.ranks import RanksReport
from ..model.narrow import Growing
from ..model.numbers import counted, percent
from ..model.profile import Function
from ..views.json_values import text
from ..views.names import Names
from ..views.ranks import alike_text, group_texts, heading
from ..views.text import UNLIMITED, Page
from . import schema
from .numbers import Numbers
from .tables import Table

# The summary names the rank with most only if it exceeds the mean by more than this share of the mean.
_WORTH_A_NOTE = 0.05


def ranks_for_page(
    found: RanksReport, functions: Sequence[Function], numbers: Numbers
) -> tuple[schema.Ranks, dict[str, Table]]:
    """functions: those of the page."""
    ranks = found.ranks
    page = Page(width=UNLIMITED, names=Names(functions))
    hosts: dict[str, int] = {"": 0}
    group_of = [0] * len(ranks.ranks)
    for number, group in enumerate(found.groups, 1):
        for place in group.members:
            group_of[place] = number
    columns: dict[str, Sequence[int]] = {
        "host": [hosts.setdefault(rank.host, len(hosts)) for rank in ranks.ranks],
        "group": group_of,
    }
    columns |= {f"self:{event}": column for event, column in zip(ranks.events, ranks.totals)}
    strips = Growing()
    for count in range(len(ranks.strips)):
        for of_counts in ranks.followed.values():
            strips.extend(of_counts[count])
    tables = {"ranks": Table(len(ranks.ranks), columns), "strips": Table(len(strips.values), {"cost": strips.values})}
    return {
        "names": [text(rank.name) for rank in ranks.ranks],
        "hosts": [text(host) for host in hosts],
        "counts": [{"name": text(name), "heading": text(heading(name, found))} for name in ranks.strips],
        "functions": [numbers.function(function) for function in ranks.followed],
        "alike": text(alike_text(found)),
        "groups": [text(told) for told in group_texts(found, page)],
        "says": text(_says(found)),
    }, tables


def _says(found: RanksReport) -> str:
    """Which rank has most of the first count that is not 0, if it has clearly more than the mean; else empty."""
    ranks = found.ranks.ranks
    for one in found.counts:
        if one.totals is None or not any(one.totals):
            continue
        mean = sum(one.totals) / len(ranks)
        most = max(one.totals)
        if most - mean <= _WORTH_A_NOTE * mean:
            return ""
        rank = ranks[one.totals.index(most)]
        where = f" on {rank.host}" if rank.host else ""
        return (
            f"Of {counted(len(ranks), 'rank')}, {rank.name}{where} has most of {heading(one.name, found)}: "
            f"{percent(most - mean, mean)} more than the mean of all."
        )
    return ""
