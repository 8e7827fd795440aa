# SPDX-License-Identifier: GPL-2.0-or-later
"""The sums over all ranks as a profile in callgrind format, by function, line and call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bdcommon import __version__

from ..exports.callgrind import FunctionWriter, all_functions
from ..model.profile import Call, Function, InstructionCost, Intervals, Place, Profile, Row
from .code_lines import code_functions
from .code_tally import CodeTally
from .file_head import event_lines
from .rank_tally import RankTally


def merged_profile(tally: RankTally) -> Profile:
    """The sum as a profile, without the parts that it consists of."""
    lines: dict[Place, dict[int, Row]] = {}
    for (place, line), rows in tally.lines.items():
        lines.setdefault(place, {})[line] = rows.sums()
    calls = {}
    for site, rows in tally.calls.items():
        sums = rows.sums()
        calls[site] = Call(sums[0], sums[tally.before_events:])
    return Profile(
        parts=(), events=tally.head.events, titles=tally.head.titles, formulas=tally.head.formulas, lines=lines,
        calls=calls, instructions={}, instruction_calls={}, jumps={}, origins=tally.origins,
        hot=_by_place(tally.hot), hot_calls=_by_place(tally.hot_calls), intervals=tally.widths.intervals(),
    )


def profile_text(
    profile: Profile, command: str, descriptions: tuple[tuple[str, str], ...], code: CodeTally | None = None
) -> Iterator[str]:
    """The sum in callgrind format. code: the sums of single instructions; None if not all ranks have them."""
    writer = FunctionWriter(_without_last_zeros)
    totals = " ".join(map(str, profile.totals()))
    yield f"# callgrind format\nversion: 1\ncreator: bd_annotate-{__version__}\ncmd: {command}\npart: 1\n\n"
    for name, text in descriptions:
        yield f"desc: {name}: {text}\n"
    yield f"\npositions: {'line' if code is None else 'instr line'}\n"
    yield event_lines(profile.events, profile.titles, profile.formulas)
    yield f"summary: {totals}\n"
    yield from all_functions(writer, profile) if code is None else code_functions(writer, profile, code)
    yield from _origins(writer, profile)
    yield from _hot_code(writer, profile)
    if profile.intervals is not None:
        yield from _intervals(writer, profile.intervals)
    yield f"\ntotals: {totals}\n"


def _origins(writer: FunctionWriter, profile: Profile) -> Iterator[str]:
    for origin in profile.origins:
        yield f"\n# threads: {origin.threads}\n"
        for function in (origin.root, *origin.creators):
            yield f"# ob={writer.objects.written(function.object)}\n# fl={writer.files.written(function.file)}\n"
            yield f"# fn={writer.functions.written(function.name)}\n"


def _hot_code(writer: FunctionWriter, profile: Profile) -> Iterator[str]:
    places = sorted({**profile.hot, **profile.hot_calls})
    if places:
        yield "\n# hot code:\n"
    for place in places:
        function, file = place
        yield f"# ob={writer.objects.written(function.object)}\n# fl={writer.files.written(function.file)}\n"
        yield f"# fn={writer.functions.written(function.name)}\n"
        if file != function.file:
            yield f"# fi={writer.files.written(file)}\n"
        yield from _addresses(writer, "at", profile.hot.get(place, {}))
        yield from _addresses(writer, "call", profile.hot_calls.get(place, {}))


def _intervals(writer: FunctionWriter, found: Intervals) -> Iterator[str]:
    """The intervals as bdgrind writes them. Where bdgrind states in how many bursts something has costs, this states in
    how many runs."""
    runs = sum(one.runs for one in found.seeds.values())

    def widths(row: Row) -> str:
        return f"{runs} {' '.join(map(str, row))}\n"

    yield f"\n# intervals: {found.bursts} bursts\n"
    if found.total is not None:
        yield f"# all={widths(found.total)}"
    places: dict[Function, list[Place]] = {}
    for place in found.lines:
        places.setdefault(place.function, []).append(place)
    for function in sorted({*found.own, *found.inclusive, *places}):
        yield f"# ob={writer.objects.written(function.object)}\n# fl={writer.files.written(function.file)}\n"
        yield f"# fn={writer.functions.written(function.name)}\n"
        if function in found.own:
            yield f"# self={widths(found.own[function])}"
        if function in found.inclusive:
            yield f"# sum={widths(found.inclusive[function])}"
        for place in sorted(places.get(function, ())):
            yield f"# fi={writer.files.written(place.file)}\n"
            for line, row in sorted(found.lines[place].items()):
                yield f"# line={line} {widths(row)}"


def _addresses(writer: FunctionWriter, key: str, rows: Mapping[int, InstructionCost]) -> Iterator[str]:
    for address, (line, cost) in sorted(rows.items()):
        yield f"# {key}={address:#x} {line} {' '.join(map(str, writer.row(cost)))}\n"


def _by_place(hot: Mapping[tuple[Place, int], InstructionCost]) -> dict[Place, dict[int, InstructionCost]]:
    found: dict[Place, dict[int, InstructionCost]] = {}
    for (place, address), instruction in hot.items():
        found.setdefault(place, {})[address] = instruction
    return found


def _without_last_zeros(row: Row) -> Row:
    width = len(row)
    while width > 1 and not row[width - 1]:
        width -= 1
    return row[:width]
