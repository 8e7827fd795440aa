# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints: what the numbers suggest, place by place, and no more than they support.

A place is a function that the reader can change, with all that it calls. The costs of library functions count for their
callers. A function is skipped if nearly all of its costs are those of other places, and if its lines were loaded to be
executed, as what helps data does not help code.
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
from .intervals import half_width
from .ranking import most_saved, ranking

_MAX_PLACES = 10
# With fewer lines, shares are due to chance.
_MIN_LINES = 100
# The minimum share of a place's loss that no other place has.
_OWN_SHARE = 0.2
# A function passes its loss on if at least this share of it is in places that do almost all of their work for it.
_PASSES_ON = 0.95
# Callers use the same code differently if their shares of bytes never used differ by at least this.
_DIFFERENT = 0.3
_CALLER_PART = 0.05  # the minimum share of a place's bytes or instructions that a caller must cause to be compared
# The accesses per line that are assumed where they are not counted, and too many to leave a cost of rare use.
_MANY_ACCESSES = 1000.0
# The maximum number of lines named with a place, and the minimum share of its own loss for all but the first.
_MAX_LINES = 3
_NOTABLE = 0.1
# The minimum share of a place's loss for a library function to be named.
_THROUGH = 0.5
# Calls back that have a smaller share of a library function's loss are not followed. This also limits the depth of the
# search, as libraries without symbols have long chains of calls.
_CALLBACK_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class LineUse:
    """How the L1 lines that a place loaded were used."""

    lines: int
    loaded: int  # bytes
    never_used: int  # bytes
    unused_share: float  # from 0 to 1
    used_per_line: float  # bytes
    line_size: float  # bytes
    accesses_per_line: float  # typical: the harmonic mean
    average_accesses: float  # 0: not known
    loads_per_line: float  # how often each line of memory was loaded on average, at least; 0: not known


@dataclass(frozen=True, slots=True)
class Symptom:
    """A kind of use of lines, with its description and advice."""

    fits: Callable[[LineUse], bool]
    brief: str  # description and advice in one line; empty if nothing is to be changed
    looks: str
    helps: str


class HotLine(NamedTuple):
    """A source line of a place."""

    file: str
    line: int
    share: float  # of the function's own loss


@dataclass(frozen=True, slots=True)
class Hint:
    """A place, how it uses lines, and what may help."""

    function: Function
    use: LineUse
    share: float  # of all bytes never used
    pattern: Symptom
    lines: tuple[HotLine, ...]  # the costliest first
    callers: tuple[tuple[Function, float], ...]  # with their shares of bytes never used; empty unless these differ
    through: Function | None  # the library function, or accessor, that has most of its loss
    bytes_per_call: tuple[int, int] | None  # moved from LL and from memory; None: not known
    below: Function | None  # the nearest caller with a name, if the function has none
    through_accessor: bool = False  # whether `through` is an accessor
    saved: float | None = None  # the share of the estimated cycles that could be saved, at most; None: not known
    # By how much its bytes never used may be off, as a share of them; 0: they are exact; None: not known, or by more.
    off: float | None = 0.0

    @property
    def line(self) -> HotLine | None:
        return self.lines[0] if self.lines else None


# The first one that fits is chosen. They only depend on L1, as the size of LL does not change how a line is used.
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
    """The hints for the places that reach the report's threshold, at most _MAX_PLACES: by what could be saved, or by
    the metric that the user chose. There are none for a sampled run of fewer than two bursts. by_loss: by bytes never
    used, whatever these cost. Raises UserError if the profile lacks events that hints need."""
    if data_use(report.metrics) is None or "Ir" not in report.metrics:
        names = MIXED.loss, MIXED.used, MIXED.lines, MIXED.rareness, "Ir"
        missing = [name for name in names if name not in report.profile.events]
        raise UserError(
            f"--hints needs the cache use that bdgrind counts; the profile lacks {' '.join(missing)}"
        )
    if has_too_few_bursts(report):
        return []
    return _Finder(report, _events(report), by_loss).hints()


def has_too_few_bursts(report: Report) -> bool:
    """Whether the run was sampled, in fewer than two bursts: all else is in its start."""
    intervals = report.profile.intervals
    return intervals is not None and intervals.total is None and intervals.bursts < 2


def can_hint(report: Report) -> bool:
    """Whether the profile has the events that hints need."""
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
        # The loss by which a place is judged, mostly its bytes never used.
        self._loss = (chosen.by if chosen else report.metrics[events.loss]).counter()
        self._saved = most_saved(report)
        self._is_chosen = by_loss or (chosen is not None and chosen.is_chosen)
        self._work = report.metrics["Ir"].counter()
        self._total = self._loss(report.totals)
        self._ownership = report.ownership
        self._shares: dict[Function, float] = {}
        self._reach = Reach.FOREIGN  # the minimum reach of places

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

    def _off(self, entry: FunctionRow, use: LineUse) -> float | None:
        """By how much the bytes never used may be off, as a share of them: 0 in an exact run; None if that is not
        known, or more than all of them."""
        intervals = self._report.profile.intervals
        if intervals is None:
            return 0.0
        widths = intervals.inclusive.get(entry.function)
        width = half_width(self._report.metrics[self._events.loss], widths, entry.inclusive)
        return None if width is None else width / max(use.never_used, 1)

    def _is_place(self, function: Function) -> bool:
        """Whether a function is a place. If the program's source is not known, functions without symbols are places,
        too: they can be changed as easily as the others, and otherwise the next caller with a symbol would have all of
        their costs."""
        if function in self._report.accessors and not self._report.selection.function:
            return False
        reach = self._ownership.reach(function)
        return reach >= self._reach or (reach is Reach.NAMELESS and self._reach is Reach.NAMED)

    def _candidates(self) -> list[FunctionRow]:
        """The functions that reach the threshold, the costliest first. Members of a cycle have their own parts."""
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
        # A function with several loops has no single symptom, but its worst loop may have one.
        lines, row = self._hottest_lines(entry)
        through = self._through(entry)
        if not lines and through in self._report.accessors:
            lines = self._calling_lines(entry, through)
        judged = use
        if lines and (at_line := self._use(row)) and at_line.lines >= _MIN_LINES:
            judged = at_line
        if callers:
            # The advice is about its use by the worst caller.
            worst = self._graph.callers[entry.function][callers[0][0]]
            judged = self._use(worst.cost) or use
        return Hint(
            entry.function, use, use.never_used / self._all_unused if self._all_unused else 0.0,
            next(pattern for pattern in _PATTERNS if pattern.fits(judged)),
            lines, callers, through, self._bytes_per_call(entry, use),
            self._named_caller(entry.function), through in self._report.accessors,
            self._saved(entry.inclusive) if self._saved else None,
            self._off(entry, use),
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
        # Each line of memory that was loaded into L1 was loaded into LL at least once.
        last = data_use(self._report.metrics, 2)
        in_memory = event(last.lines, self._report.totals) if last else 0
        average = event(events.accesses) / lines
        cost = event(events.rareness)  # 1000 / accesses of each line, rounded down
        most = average if events.accesses in self._report.metrics else _MANY_ACCESSES
        typical = min(1000 * lines / cost, most) if cost else most
        return LineUse(
            lines, loaded, never_used, never_used / loaded, used / lines, loaded / lines,
            typical, average, lines / in_memory if in_memory else 0.0,
        )

    def _passes_on(self, entry: FunctionRow) -> bool:
        """Whether nearly all of the loss is in other places: those that are called almost only from here, or those with
        other callers to compare."""
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
        """The share of a function's loss that is in places, from 0 to 1: all if it is one itself; for a library
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
        """The lines where the function itself loses most, and the costs of the first one. No lines unless its own loss
        is at least half of the inclusive one."""
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
        """The line with the costliest calls of `callee`; empty if there is none."""
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
        """The callers that load enough to count, the worst first, if their shares of bytes never used differ: then a
        caller is to be changed, not this function. Empty otherwise."""
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
