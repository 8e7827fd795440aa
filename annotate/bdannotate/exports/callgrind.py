# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile in callgrind format, for readers that understand less of it than KCachegrind.

The chosen events come first, as some readers show no others, followed by the profile's own. All counts are written,
also trailing zeros: the format allows to omit them, but speedscope shows NaN then. Costs are by line; instructions and
jumps are left out, and all parts become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bdcommon import __version__

from ..model.placements import is_of_placements
from ..model.profile import Call, CallSite, Function, Profile, Row, add_rows
from .request import Request


class _Names:
    """Name compression: each name is written once; after that, its number stands for it. An unknown name is written as
    "???", as otherwise that of the function before would apply."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def written(self, name: str) -> str:
        name = name or "???"
        number = self._numbers.get(name)
        if number is not None:
            return f"({number})"
        number = len(self._numbers) + 1
        self._numbers[name] = number
        return f"({number}) {name}"


@dataclass(slots=True)
class FunctionWriter:
    """Writes functions. row: returns the counts to write for a row of the profile."""

    row: Callable[[Row], Row]
    objects: _Names = field(default_factory=_Names)
    files: _Names = field(default_factory=_Names)
    functions: _Names = field(default_factory=_Names)

    def costs(self, line: int, costs: Row) -> str:
        return f"{line} {' '.join(map(str, self.row(costs)))}\n"

    def function(
        self, function: Function, lines: Mapping[str, Mapping[int, Row]],
        calls: Mapping[str, list[tuple[CallSite, Call]]],
    ) -> Iterator[str]:
        yield f"\nob={self.objects.written(function.object)}\n"
        yield f"fl={self.files.written(function.file)}\n"
        yield f"fn={self.functions.written(function.name)}\n"
        for file in sorted({*lines, *calls}, key=lambda file: (file != function.file, file)):
            if file != function.file:
                yield f"fi={self.files.written(file)}\n"
            for line, costs in sorted(lines.get(file, {}).items()):
                yield self.costs(line, costs)
            for site, call in sorted(calls.get(file, ())):
                yield from self.call(site, call)

    def call(self, site: CallSite, call: Call) -> Iterator[str]:
        callee = site.callee
        yield f"cob={self.objects.written(callee.object)}\n"
        yield f"cfi={self.files.written(callee.file)}\ncfn={self.functions.written(callee.name)}\n"
        yield f"calls={call.calls} 0\n{self.costs(site.line, call.cost)}"


def callgrind(request: Request) -> Iterator[str]:
    profile = request.profile
    chosen = [metric.name for metric in request.metrics]
    others = [index for index, name in enumerate(profile.events) if name not in chosen]
    writer = FunctionWriter(lambda costs: request.row(costs) + tuple(costs[index] for index in others))
    events = (*chosen, *(profile.events[index] for index in others))
    totals = profile.totals()
    yield from _head(profile, request, events)
    yield f"summary: {' '.join(map(str, writer.row(totals)))}\n"
    yield from all_functions(writer, profile)
    yield f"\ntotals: {' '.join(map(str, writer.row(totals)))}\n"


def all_functions(writer: FunctionWriter, profile: Profile) -> Iterator[str]:
    lines, calls = _by_function(profile)
    for function in sorted({*lines, *calls}):
        yield from writer.function(function, lines.get(function, {}), calls.get(function, {}))


def _head(profile: Profile, request: Request, events: tuple[str, ...]) -> Iterator[str]:
    first = profile.parts[0]
    yield f"# callgrind format\nversion: 1\ncreator: bd_annotate-{__version__}\n"
    for key, text in (("pid", first.pid), ("cmd", first.command)):
        if text:
            yield f"{key}: {text}\n"
    yield "part: 1\n\n"
    for name, text in dict.fromkeys(pair for part in profile.parts for pair in part.descriptions):
        # Counts of placements are those of parts.
        if not is_of_placements(name):
            yield f"desc: {name}: {text}\n"
    yield "\npositions: line\n"
    titles = {**profile.titles, **{metric.name: metric.title for metric in request.metrics}}
    for name, title in titles.items():
        formula = "" if name in events else profile.formulas.get(name, "")
        yield f"event: {name}{f' = {formula}' if formula else ''} : {title}\n"
    for name, formula in profile.formulas.items():
        if name not in titles and name not in events:
            yield f"event: {name} = {formula}\n"
    yield f"events: {' '.join(events)}\n"


_Lines = dict[Function, dict[str, dict[int, Row]]]
_Calls = dict[Function, dict[str, list[tuple[CallSite, Call]]]]


def _by_function(profile: Profile) -> tuple[_Lines, _Calls]:
    lines: _Lines = {}
    for place, rows in profile.lines.items():
        mine = lines.setdefault(place.function, {}).setdefault(place.file, {})
        for line, row in rows.items():
            mine[line] = add_rows(mine[line], row) if line in mine else row
    calls: _Calls = {}
    for site, call in profile.calls.items():
        calls.setdefault(site.caller, {}).setdefault(site.file, []).append((site, call))
    return lines, calls
