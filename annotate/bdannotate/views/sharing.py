# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other, as text and as JSON."""

from __future__ import annotations

import os

from bdcommon.console import printable

from ..analyses.data.object_labels import label
from ..analyses.data.sharing import CoreBytes, Kind, SharedData, SharingReport
from ..model.numbers import short_count
from ..model.objects import CodeLine
from ..model.sharing import CORE_EVENTS
from .cores import core_of, core_table, runs
from .json_values import Json, text
from .names import fit
from .objects import short_label
from .text import Page, hanging

SHARING_TITLE = "Lines that threads take from each other"
CORES_TITLE = "What each core's own caches load"
_LONGEST_NAME = 48
_MOST_CORES = 8
_MOST_PLACES = 2
_MOST_FIELDS = 4
KINDS = {
    Kind.FALSE: "false sharing",
    Kind.TRUE: "true sharing",
    Kind.MIGRATING: "migrating",
    Kind.MIXED: "false and true sharing",
    Kind.UNKNOWN: "sharing of unknown kind",
}


def sharing_lines(found: SharingReport, limit: int | None, page: Page) -> list[str]:
    """The sharing of a run as lines. limit: the maximum number of objects; None: no limit."""
    if not found.transfers:
        return ["No core took a line that another core had modified."]
    lines: list[str] = []
    shown = found.data[:limit]
    for data in shown:
        lines += hanging(_summary(data, found, page), "", page)
        for core in data.cores[:_MOST_CORES]:
            lines += hanging(_core(core, found, page), "  ", page)
        if len(data.cores) > _MOST_CORES:
            lines.append(f"  and {len(data.cores) - _MOST_CORES} more")
        lines.append("")
    if hidden := len(found.data) - len(shown):
        lines += [f"{hidden} more: --limit=all", ""]
    if found.rest:
        lines += hanging(
            f"{found.rest:,} more transfers are of lines that moved fewer than four times each, or that "
            "there was no room to record.", "", page,
        )
    if found.written_back:
        lines += ["", *hanging(
            f"{found.written_back:,} of these lines were written to the level that all cores share, as another core "
            "read them (MESI).", "", page,
        )]
    return lines if lines[-1] else lines[:-1]


def core_lines(found: SharingReport, page: Page) -> list[str]:
    """Accesses to data, and what they load into each core's D1, as lines. found.totals must not be empty."""
    heads = ("accesses", "D1 misses", "bytes loaded", "never used", "had by others")
    numbers: list[tuple[int, ...]] = [
        (one.of("Dr", "Dw"), one.of("D1mr", "D1mw"), one.of("UsByteD1", "SpLossD1"), one.of("SpLossD1"),
         one.of("D1copy"))
        for one in found.totals
    ]
    numbers.append((*map(sum, zip(*numbers)),))
    names = [*(core_label(one.core, found) for one in found.totals), "all"]
    lines = core_table(names, heads, [tuple(f"{value:,}" for value in row) for row in numbers])
    if max(map(len, lines)) > page.width:
        lines = core_table(names, heads, [tuple(map(short_count, row)) for row in numbers])
    return [*lines, "", *hanging(
        "Had by others: D1 misses of lines that the D1 of another core had at that time.", "", page,
    )]


def brief_sharing(
    found: SharingReport, instructions: int, page: Page, with_option: bool = True
) -> str | None:
    """A clause for the first screen; None if a change would save too little. instructions: those of the run.
    with_option: whether to name the option of bd_annotate that shows more."""
    notable = found.notable(instructions)
    if not notable:
        return None
    names = ", ".join(data_name(data, page, 24) for data in notable[:2])
    return (
        f"{short_count(found.transfers)} lines taken from other cores, {100 * found.false / found.transfers:.0f}% by "
        f"false sharing ({names}{', ...' if len(notable) > 2 else ''}){': --sharing' if with_option else ''}"
    )


def _summary(data: SharedData, found: SharingReport, page: Page) -> str:
    number = len(data.lines)
    atomic = f"; {short_count(data.atomics)} by atomic instructions" if data.atomics else ""
    after = "none" if not data.after else f"about {short_count(data.after)}"
    advice = f"; {after} with each thread's bytes aligned to {found.line}" if data.transfers > data.after else ""
    return (
        f"{data_name(data, page, _LONGEST_NAME)}: {number} line{'s' if number > 1 else ''}, {KINDS[data.kind]}, "
        f"{_transfers(data.transfers)} ({100 * data.transfers / found.transfers:.0f}%){atomic}{advice}"
    )


def data_name(data: SharedData, page: Page, room: int) -> str:
    """The name of shared data in at most `room` characters."""
    if data.group is not None:
        return short_label(label(data.group), room, page)
    return f"line at {data.lines[0].address:#x}"


def _core(core: CoreBytes, found: SharingReport, page: Page) -> str:
    uses = [
        f"{verb} {spans(mask)}{f' ({_few(fields)})' if fields else ''}"
        for verb, mask, fields in (
            ("reads", core.read & ~core.written, core.fields_read), ("writes", core.written, core.fields_written),
        ) if mask
    ]
    use = f"{core_name(core, found)}: {', '.join(uses) or 'bytes not known'}; {_transfers(core.transfers)}"
    places = ", ".join(place_label(place, page) for place in core.places[:_MOST_PLACES])
    return f"{use}; {places}" if places else use


def _few(fields: tuple[str, ...]) -> str:
    """The names of fields, if there are not too many."""
    shown = [fit(printable(name), _LONGEST_NAME) for name in fields[:_MOST_FIELDS]]
    more = f" and {len(fields) - _MOST_FIELDS} more" if len(fields) > _MOST_FIELDS else ""
    return f"{', '.join(shown)}{more}"


def core_name(core: CoreBytes, found: SharingReport) -> str:
    """The name of a core; that of its thread if each thread has its own core."""
    return core_label(core.core, found)


def core_label(core: int, found: SharingReport) -> str:
    """The name of the core of this number, from 0; that of its thread if each thread has its own core."""
    return core_of(core, found.cores)


def _transfers(number: int) -> str:
    return "1 transfer" if number == 1 else f"{short_count(number)} transfers"


def place_label(place: CodeLine, page: Page) -> str:
    """The name of a place in the code, such as "count (prog.c:23)"."""
    name = fit(page.name(place.function), _LONGEST_NAME)
    return f"{name} ({printable(os.path.basename(place.file))}:{place.line})" if place.line else name


def spans(mask: int) -> str:
    """The bits of a mask as a text, such as "bytes 0-7, 12"."""
    found = [str(start) if end == start else f"{start}-{end}" for start, end in runs(mask)]
    return f"{'bytes' if len(found) > 1 or '-' in found[0] else 'byte'} {', '.join(found)}"


def sharing_json(found: SharingReport) -> dict[str, Json]:
    return {
        "transfers": found.transfers, "saved": found.false, "other": found.rest, "line": found.line,
        "seconds": found.cost * 1e-9,
        "coherence": None if found.protocol is None else found.protocol.value, "written_back": found.written_back,
        "data": [_data(data) for data in found.data],
        "cores": [
            {"core": one.core, "events": {event: one.of(event) for event in CORE_EVENTS}} for one in found.totals
        ],
    }


def _data(data: SharedData) -> Json:
    return {
        "object": text(label(data.group)) if data.group is not None else None,
        "address": data.lines[0].address, "lines": len(data.lines), "kind": data.kind.value,
        "transfers": data.transfers, "after": data.after, "invalidated": data.invalidated, "atomics": data.atomics,
        "cores": [_core_json(core) for core in data.cores],
    }


def _core_json(core: CoreBytes) -> Json:
    return {
        "core": core.core, "read": _bytes(core.read), "written": _bytes(core.written), "transfers": core.transfers,
        "fields_read": [text(name) for name in core.fields_read],
        "fields_written": [text(name) for name in core.fields_written],
        "places": [
            {"function": text(place.function.name), "file": text(place.file), "line": place.line}
            for place in core.places
        ],
    }


def _bytes(mask: int) -> Json:
    return [byte for byte in range(64) if mask >> byte & 1]
