# SPDX-License-Identifier: GPL-2.0-or-later
"""The repair of false sharing: to give the data of each thread lines of its own."""

from __future__ import annotations

from dataclasses import replace

from ...model.work import Estimate
from ..data.sharing import Kind, SharedData, SharingReport
from .choice import Repairs
from .repair import Amount, Remedy, Repair

_LEAST_SHARE = 0.02  # of the time


def with_unshare(repairs: Repairs, found: SharingReport) -> Repairs:
    """The repairs with those of false sharing among them, sorted by what they save. Those that save less than
    _LEAST_SHARE of the time are left out."""
    time = repairs.time + found.cost * found.transfers
    made = [
        repair for data in found.data if (repair := _unshare(data, found, time)) is not None
    ]
    if not made:
        return repairs
    others = [
        (repair, repairs.alternatives.get(number, ())) for number, repair in enumerate(repairs.list)
    ]
    # As something can be gained now, the answer that nothing can goes. Open misses, without a known repair, stay last.
    open_ones = [one for one in others if one[0].is_open]
    closed = [one for one in others if one[0].remedy is not Remedy.NONE]
    pairs = [*closed, *((repair, ()) for repair in made)]
    pairs.sort(key=lambda one: one[0].saved, reverse=True)
    pairs += open_ones
    return replace(
        repairs, list=tuple(repair for repair, _ in pairs),
        alternatives={number: more for number, (_, more) in enumerate(pairs) if more},
    )


def _unshare(data: SharedData, found: SharingReport, time: float) -> Repair | None:
    """The repair of one object; None if it saves too little. time: nanoseconds of the run, transfers included."""
    saved = found.cost * (data.transfers - data.after)
    function = data.function
    if function is None or not time or saved < _LEAST_SHARE * time:
        return None
    places = [place for core in data.cores for place in core.places if place.line]
    file = places[0].file if places else ""
    lines = dict.fromkeys(place.line for place in places if place.file == file)
    writers = sum(1 for core in data.cores if core.written)
    number = len(data.lines)
    what = "lines" if number > 1 else "line"
    use = "no core uses a byte that another core writes" if data.kind is Kind.FALSE else (
        f"{100 * (data.transfers - data.after) / data.transfers:.0f}% of the transfers bring no byte that is used"
    )
    return Repair(
        Remedy.UNSHARE, function, file, tuple(lines), (), data.group, Amount(0, 0), Amount(0, 0), None,
        Estimate(saved, saved, saved),
        (f"{writers} cores write to {number} {what} of {found.line} bytes", use),
        (f"alignas({found.line})    // for what each thread writes",),
        "how often threads really collide: that depends on the slices in which they were interleaved",
        frozenset(), found.line, transfers=(data.transfers, data.after), time=time,
    )
