# SPDX-License-Identifier: GPL-2.0-or-later
"""What the numbers suggest, place by place, and no more than they support.

A place is a function that the reader can change, with all it calls. What a library does with the
data that it is given counts for who called it. A function is skipped where nearly all of its costs
are those of other places, and where its lines were loaded to be executed: what helps data does not
help code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..model.errors import UserError
from ..model.metrics import Metric
from ..model.profile import Function, Row
from .code.ownership import Reach
from .code.report import FunctionRow, Report
from .data.data_use import MIXED, UseEvents, data_use, mostly_code
from .ranking import most_saved, ranking

_MAX_PLACES = 10
# Below this many lines, shares are chance.
_MIN_LINES = 100
# Of its loss, a place must have so much that no other place has.
_OWN_SHARE = 0.2
_PASSES_ON = 0.95
# Callers whose shares differ by this much use the same code differently.
_DIFFERENT = 0.3
_CALLER_PART = 0.05
# Lines that are named with a place, beside the first one those with this share of its own.
_MAX_LINES = 3
_NOTABLE = 0.1
# A library function with this share of a place's loss is worth naming.
_THROUGH = 0.5
# Calls back that have less of a library function's loss are not followed. It also bounds how deep
# the search goes: libraries without symbols have long chains of calls.
_CALLBACK_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class LineUse:
    """How the L1 lines that a place loaded were used."""

    lines: int
    loaded: int
    never_used: int
    unused_share: float
    used_per_line: float
    line_size: float
    accesses_per_line: float  # typically: the harmonic mean
    average_accesses: float
    loads_per_line: float  # at least so often was each line of memory loaded, on average


@dataclass(frozen=True, slots=True)
class Symptom:
    fits: Callable[[LineUse], bool]
    brief: str  # looks and help in a line; none where there is nothing to change
    looks: str
    helps: str


class HotLine(NamedTuple):
    file: str
    line: int
    share: float  # of what the function itself has never used


@dataclass(frozen=True, slots=True)
class Hint:
    function: Function
    use: LineUse
    share: float  # of all bytes never used
    pattern: Symptom
    lines: tuple[HotLine, ...]  # where most of its own is, the costliest first
    callers: tuple[tuple[Function, float], ...]  # with their shares, where these differ
    through: Function | None  # the library function, or accessor, that has most of it
    bytes_per_call: tuple[int, int] | None  # moved from LL and from memory
    below: Function | None  # of a function without a name, the nearest caller that has one
    through_accessor: bool = False
    saved: float | None = None  # at most, of the estimated cycles

    @property
    def line(self) -> HotLine | None:
        return self.lines[0] if self.lines else None


# The first that fits is taken. They go by what L1 has seen alone: what LL has room for changes nothing
# of what a line is used for.
_PATTERNS = (
    Symptom(
        lambda use: use.unused_share >= 0.5 and use.accesses_per_line < 4,
        "few bytes of each line: use memory in order, or group what is used together",
        "few bytes of each line are used, in few accesses: strides larger than a line, indices or pointers "
        "scattered over memory, or objects that are mostly unused",
        "for strides, exchange the loops so that the innermost one walks along memory; for indices and pointers, "
        "store together what is used together, or use it in memory order; for objects, keep what is used here apart "
        "from the rest",
    ),
    Symptom(
        lambda use: use.unused_share >= 0.3 and use.accesses_per_line >= 4,
        "used and unused bytes share lines: keep together what is used together",
        "some bytes of each line are used repeatedly, their neighbours not at all",
        "keep what is used together in the same lines, and the rest elsewhere: hot fields of objects, small "
        "objects, parts of rows",
    ),
    Symptom(
        lambda use: use.unused_share >= 0.3,
        "only part of each line: group what is used together, mind the padding",
        "only part of each line is used, and only briefly",
        "store together what is used together; for objects, check the order of fields and the padding",
    ),
    Symptom(
        lambda use: use.accesses_per_line <= use.line_size / 4,
        "lines are used only briefly: fuse passes over the same data, or touch less",
        "most of each line is used, in few accesses: a stream, or repeated passes",
        "if the same data comes again, do more with it while it is in the cache: fuse passes, or work in tiles; for "
        "a stream, only touching less data helps, such as with smaller types",
    ),
    Symptom(
        lambda use: True,
        "",
        "lines are used well",
        "nothing about the use of lines stands out here",
    ),
)


def hints(report: Report, by_loss: bool = False) -> list[Hint]:
    """The places by what they may cost more than they must, or by what the report is sorted by: those
    that the report's threshold lets through. by_loss: those that lose most, whatever that is worth."""
    if data_use(report.metrics) is None or "Ir" not in report.metrics:
        names = MIXED.loss, MIXED.used, MIXED.lines, MIXED.accesses, MIXED.rareness, "Ir"
        missing = [name for name in names if name not in report.profile.events]
        raise UserError(
            f"--hints needs the cache use that bdgrind counts; the profile lacks {' '.join(missing)}"
        )
    return _Finder(report, _events(report), by_loss).hints()


def can_hint(report: Report) -> bool:
    return data_use(report.metrics) is not None and "Ir" in report.metrics


def _events(report: Report) -> UseEvents:
    return data_use(report.metrics) or MIXED


class _Finder:
    def __init__(self, report: Report, events: UseEvents, by_loss: bool) -> None:
        self._report = report
        self._graph = report.graph
        self._events = events
        self._all_unused = report.metrics[events.loss].counter()(report.totals)
        chosen = None if by_loss else ranking(report)
        # What a place is judged by; mostly its bytes never used.
        self._loss = (chosen.by if chosen else report.metrics[events.loss]).counter()
        self._saved = most_saved(report)
        self._is_chosen = by_loss or (chosen is not None and chosen.is_chosen)
        self._work = report.metrics["Ir"].counter()
        self._total = self._loss(report.totals)
        self._ownership = report.ownership
        self._shares: dict[Function, float] = {}
        self._reach = Reach.FOREIGN  # of those that hints are given for

    def hints(self) -> list[Hint]:
        candidates = self._candidates()
        self._reach = max(
            (self._ownership.reach(entry.function) for entry in candidates), default=self._reach
        )
        is_code = mostly_code(self._report.metrics)
        found: list[Hint] = []
        for entry in candidates:
            use = self._use(entry.inclusive)
            if use is None or use.lines < _MIN_LINES or is_code(entry.inclusive):
                continue
            if self._is_place(entry.function) and not self._passes_on(entry):
                found.append(self._hint(entry, use))
        if not self._is_chosen:
            found.sort(key=lambda hint: -(hint.saved or 0.0))
        found.sort(key=lambda hint: -self._ownership.reach(hint.function))
        return found[:_MAX_PLACES]

    def _is_place(self, function: Function) -> bool:
        """Of a program whose source is not known, also what it has no symbols for: it is as near
        as the rest of it, and else all that it costs would be that of the next caller with one."""
        if function in self._report.accessors and not self._report.selection.function:
            return False
        reach = self._ownership.reach(function)
        return reach >= self._reach or (reach is Reach.NAMELESS and self._reach is Reach.NAMED)

    def _candidates(self) -> list[FunctionRow]:
        """From the costliest to the threshold. Of a cycle's members, their own parts."""
        pattern = self._report.selection.function
        startup = frozenset() if pattern else self._report.startup
        least = max(self._total * (self._report.selection.threshold or 0.0) / 100, 1)
        entries = [
            FunctionRow(function, costs.self_cost, costs.own_part, costs.calls)
            for function, costs in self._graph.functions.items()
            if self._loss(costs.own_part) >= least and function not in startup
            and (not pattern or pattern.matches(function))
        ]
        entries.sort(key=lambda entry: entry.function)
        entries.sort(key=lambda entry: (self._loss(entry.inclusive), entry.inclusive), reverse=True)
        return entries

    def _hint(self, entry: FunctionRow, use: LineUse) -> Hint:
        callers = self._differing_callers(entry)
        # What a function does in several loops is no pattern, but the worst of them may be.
        lines, row = self._hottest_lines(entry)
        through = self._through(entry)
        if not lines and through in self._report.accessors:
            lines = self._calling_lines(entry, through)
        judged = use
        if lines and (at_line := self._use(row)) and at_line.lines >= _MIN_LINES:
            judged = at_line
        if callers:
            # What its worst caller makes of it is what the advice is about.
            worst = self._graph.callers[entry.function][callers[0][0]]
            judged = self._use(worst.cost) or use
        return Hint(
            entry.function, use, use.never_used / self._all_unused if self._all_unused else 0.0,
            next(pattern for pattern in _PATTERNS if pattern.fits(judged)),
            lines, callers, through, self._bytes_per_call(entry, use),
            self._named_caller(entry.function), through in self._report.accessors,
            self._saved(entry.inclusive) if self._saved else None,
        )

    def _use(self, row: Row) -> LineUse | None:
        def event(name: str, of: Row = row) -> int:
            metric = self._report.metrics.get(name)
            return _count(metric, of) if metric else 0

        events = self._events
        lines, used, never_used = event(events.lines), event(events.used), event(events.loss)
        loaded = used + never_used
        if not lines or not loaded:
            return None
        # Every line of memory that came into L1 came into LL at least once.
        last = data_use(self._report.metrics, 2)
        in_memory = event(last.lines, self._report.totals) if last else 0
        average = event(events.accesses) / lines
        cost = event(events.rareness)  # 1000 / accesses of each line, rounded down
        typical = min(1000 * lines / cost, average) if cost else average
        return LineUse(
            lines, loaded, never_used, never_used / loaded, used / lines, loaded / lines,
            typical, average, lines / in_memory if in_memory else 0.0,
        )

    def _passes_on(self, entry: FunctionRow) -> bool:
        """Whether nearly all is lost in other places: those called from nowhere else, or such as
        have their own callers to compare."""
        loss = self._loss(entry.inclusive)
        elsewhere = belonging = 0.0
        for callee, call in self._graph.callees.get(entry.function, {}).items():
            if self._graph.within_cycle(entry.function, callee):
                continue
            lost = self._loss(call.cost)
            elsewhere += lost * self._share_of_places(callee)
            if not self._is_place(callee):
                continue
            if self._work(call.cost) >= _PASSES_ON * self._work(
                self._graph.functions[callee].inclusive
            ):
                belonging += lost
        return belonging >= _PASSES_ON * loss or loss - elsewhere < _OWN_SHARE * loss

    def _share_of_places(self, function: Function) -> float:
        """How much of what a function loses is lost in places: all, if it is one; of a library
        function, what it loses by calling back."""
        known = self._shares.get(function)
        if known is not None:
            return known
        if self._is_place(function):
            return 1.0
        self._shares[function] = 0.0  # for recursion
        loss = self._loss(self._graph.functions[function].inclusive)
        found = sum(
            self._loss(call.cost) * self._share_of_places(callee)
            for callee, call in self._graph.callees.get(function, {}).items()
            if self._loss(call.cost) >= _CALLBACK_SHARE * loss
        )
        self._shares[function] = min(found / loss, 1.0) if loss else 0.0
        return self._shares[function]

    def _through(self, entry: FunctionRow) -> Function | None:
        found = [
            (self._loss(call.cost), callee)
            for callee, call in self._graph.callees.get(entry.function, {}).items()
            if self._share_of_places(callee) < _THROUGH
        ]
        lost, callee = max(found, default=(0, entry.function))
        return callee if lost and lost >= _THROUGH * self._loss(entry.inclusive) else None

    def _hottest_lines(self, entry: FunctionRow) -> tuple[tuple[HotLine, ...], Row]:
        """Where the function itself loses most, if that is where most is lost; and the costs of
        the first line."""
        own = self._loss(entry.self_cost)
        if not own or own < 0.5 * self._loss(entry.inclusive):
            return (), self._report.profile.zero
        inlined = self._report.inlined
        rows: dict[tuple[str, int], Row] = {
            (place.file, line): row
            for place in inlined.places.get(entry.function, self._report.places[entry.function])
            for line, row in inlined.lines[place].items() if line
        }
        ranked = sorted(rows, key=lambda where: (-self._loss(rows[where]), where))[:_MAX_LINES]
        lines = [HotLine(*where, self._loss(rows[where]) / own) for where in ranked]
        found = [line for index, line in enumerate(lines) if line.share >= (_NOTABLE if index else 0)]
        if not found or not found[0].share:
            return (), self._report.profile.zero
        return tuple(found), rows[ranked[0]]

    def _calling_lines(self, entry: FunctionRow, callee: Function | None) -> tuple[HotLine, ...]:
        """The line that calls it at most cost."""
        found = [
            (self._loss(call.cost), site.file, site.line)
            for site, call in self._report.profile.calls.items()
            if site.caller == entry.function and site.callee == callee and site.line
        ]
        lost, file, line = max(found, default=(0, "", 0))
        return (HotLine(file, line, lost / self._loss(entry.inclusive)),) if lost else ()

    def _named_caller(self, function: Function) -> Function | None:
        seen: set[Function] = set()
        while function.is_nameless:
            seen.add(function)
            callers = [
                (self._loss(call.cost), caller)
                for caller, call in self._graph.callers.get(function, {}).items()
                if caller not in seen and caller not in self._report.startup
            ]
            if not callers:
                return None
            function = max(callers)[1]
        return function if seen else None

    def _bytes_per_call(self, entry: FunctionRow, use: LineUse) -> tuple[int, int] | None:
        metrics = self._report.metrics
        if not entry.calls or not {"D1m", "DLm"} <= metrics.keys():
            return None
        size = round(use.line_size)
        first, last = (_count(metrics[name], entry.inclusive) for name in ("D1m", "DLm"))
        return size * first // entry.calls, size * last // entry.calls

    def _differing_callers(self, entry: FunctionRow) -> tuple[tuple[Function, float], ...]:
        """The callers that load enough to count, if the shares they cause differ: then the place
        to change is a caller, not this function."""
        found: list[tuple[Function, float]] = []
        total = self._use(entry.inclusive)
        for caller, call in self._graph.callers.get(entry.function, {}).items():
            use = self._use(call.cost)
            if use is None or total is None or self._graph.within_cycle(caller, entry.function):
                continue
            part = max(
                use.loaded / total.loaded,
                self._work(call.cost) / max(1, self._work(entry.inclusive)),
            )
            if part >= _CALLER_PART:
                found.append((caller, use.unused_share))
        found.sort(key=lambda item: (-item[1], item[0]))
        if len(found) < 2 or found[0][1] - found[-1][1] < _DIFFERENT:
            return ()
        return tuple(found)


def _count(metric: Metric, row: Row) -> int:
    return int(metric.value(row) or 0)
