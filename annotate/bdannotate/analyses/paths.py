# SPDX-License-Identifier: GPL-2.0-or-later
"""Which paths within functions have most of the misses, where they lead, and where they part.

Hot is what has a share of the misses, dense is what has more of them for each instruction than the program has, after
Ammons, Ball and Larus (PLDI 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.metrics import Metric, metrics_for
from ..model.paths import Ending, NodeKind, Paths, Step
from ..model.profile import Function, Profile, Row, add_rows, subtract_rows, sum_rows

# What paths are ranked by: data misses, else misses of any kind, else instructions.
_RANKED_BY = ("D1m", "L1m", "Ir")


class Spot(NamedTuple):
    """An instruction. line: 0 if it is not known."""

    file: str
    line: int
    address: int


class Way(NamedTuple):
    """Where a path goes on. spot: None where it ends, in the way that `ending` says. is_hidden: with code that is not
    shown."""

    spot: Spot | None
    ending: Ending = Ending.PLAIN
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a path goes another way than other hot paths of its function. at: the branch; None: where paths begin."""

    at: Spot | None
    to: Way
    others: tuple[Way, ...]


class Stretch(NamedTuple):
    """Lines that follow each other, first to last; without a file, addresses of code whose lines are not known, the
    last one behind it."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class HotPath:
    node: int
    times: int
    cost: Row
    trail: tuple[Stretch, ...]
    partings: tuple[Parting, ...]


@dataclass(slots=True)
class Group:
    """Some paths or functions."""

    number: int
    cost: Row

    def add(self, row: Row, number: int = 1) -> None:
        self.number += number
        self.cost = add_rows(self.cost, row)


@dataclass(frozen=True, slots=True)
class FunctionPaths:
    """hot: the costliest first. colder: its other paths. other: those that have not been separated; their number is
    how many there were, not how many differ. They all cost what the function costs itself."""

    function: Function
    hot: tuple[HotPath, ...]
    colder: Group
    other: Group

    @property
    def executed(self) -> int:
        """Paths that differ."""
        return len(self.hot) + self.colder.number

    @property
    def cost(self) -> Row:
        width = len(self.other.cost)
        return sum_rows([self.colder.cost, self.other.cost, *(path.cost for path in self.hot)], width)


@dataclass(frozen=True, slots=True)
class PathsReport:
    """All functions whose paths are known, those with the costliest hot paths first. metric: what they are ranked by;
    threshold: the percentage of `base` from which on a path is hot. base: that of all functions, or of those that
    were asked for. unfollowed: what other functions cost."""

    events: tuple[str, ...]
    metrics: Mapping[str, Metric]
    metric: Metric
    threshold: float
    base: int
    is_of_some: bool
    totals: Row
    limit: int
    functions: tuple[FunctionPaths, ...]
    unfollowed: Row
    counter: Callable[[Row], int] = field(repr=False)

    def is_dense(self, cost: Row) -> bool | None:
        """Whether it has more for each instruction than the program; None if that says nothing."""
        if "Ir" not in self.events or self.metric.name == "Ir":
            return None
        place = self.events.index("Ir")
        return self.counter(cost) * self.totals[place] > self.counter(self.totals) * cost[place]

    def is_hot(self, cost: Row) -> bool:
        return _is_hot(self.counter(cost), self.base, self.threshold)

    def groups(self, costs: Iterable[Row]) -> tuple[Group, Group, Group]:
        """All, those that are dense, and the others."""
        zero = (0,) * len(self.events)
        found = Group(0, zero), Group(0, zero), Group(0, zero)
        for cost in costs:
            found[0].add(cost)
            found[1 if self.is_dense(cost) else 2].add(cost)
        return found

    @property
    def hot(self) -> list[HotPath]:
        return [path for function in self.functions for path in function.hot]


def ranked_by(sort: Sequence[str], metrics: Mapping[str, Metric]) -> Metric:
    """sort: names of metrics. A ratio has no share of anything."""
    for name in sort:
        if name not in metrics:
            raise UserError(f"paths do not have {name}; known are {' '.join(metrics)}")
        if not metrics[name].is_ratio:
            return metrics[name]
    return metrics[next((name for name in _RANKED_BY if name in metrics), next(iter(metrics)))]


def report_paths(
    paths: Paths, profile: Profile, graph: CallGraph, sort: Sequence[str], threshold: float,
    is_wanted: Callable[[Function], bool] | None = None,
) -> PathsReport:
    """profile: the one of which these are, whose graph that is. sort: the names of metrics to rank by, the first that
    is not a ratio. threshold: in percent."""
    metrics = metrics_for(paths.events, profile.titles, profile.formulas)
    metric = ranked_by(sort, metrics)
    places = [profile.events.index(event) for event in paths.events]
    zero = (0,) * len(paths.events)
    totals = tuple(profile.totals()[place] for place in places)
    whole = totals
    if is_wanted is not None:
        own = (costs.self_cost for function, costs in graph.functions.items() if is_wanted(function))
        here = sum_rows(own, len(profile.events))
        whole = tuple(here[place] for place in places)
    count = metric.counter()
    base = count(whole)
    found: dict[int, tuple[list[tuple[int, Row]], Group, Group]] = {
        number: ([], Group(0, zero), Group(0, zero))
        for number in sorted(set(paths.function))
        if number and (is_wanted is None or is_wanted(paths.functions[number]))
    }
    for node, row in paths.costs():
        if paths.function[node] not in found:
            continue
        hot, colder, other = found[paths.function[node]]
        times = paths.times[node]
        if paths.kind[node] == NodeKind.OTHER:
            other.add(row, times)
        elif times and _is_hot(count(row), base, threshold):
            hot.append((node, row))
        else:
            colder.add(row, 1 if times else 0)
    functions = [
        FunctionPaths(paths.functions[number], _hot_paths(paths, hot, count), colder, other)
        for number, (hot, colder, other) in found.items()
    ]
    functions.sort(key=lambda one: (-sum(count(path.cost) for path in one.hot), -count(one.cost), one.function))
    followed = sum_rows((one.cost for one in functions), len(zero))
    return PathsReport(
        paths.events, metrics, metric, threshold, base, is_wanted is not None, totals, paths.limit, tuple(functions),
        subtract_rows(whole, followed), count,
    )


def _is_hot(value: int, base: int, threshold: float) -> bool:
    return base > 0 and 100 * value >= Fraction(threshold) * base


def _hot_paths(
    paths: Paths, hot: Sequence[tuple[int, Row]], count: Callable[[Row], int]
) -> tuple[HotPath, ...]:
    ranked = sorted(hot, key=lambda one: (-count(one[1]), one[0]))
    routes = [_route(paths, node) for node, _ in ranked]
    partings = _partings(routes)
    return tuple(
        HotPath(node, paths.times[node], row, _trail(route), tuple(here))
        for (node, row), route, here in zip(ranked, routes, partings)
    )


class _Leg(NamedTuple):
    """A step of a path. is_hidden: code that is not shown."""

    number: int
    step: Step
    is_hidden: bool

    @property
    def key(self) -> tuple[int, bool]:
        return self.number, self.is_hidden

    @property
    def begin(self) -> Way:
        piece = self.step.pieces[0] if self.step.pieces else None
        spot = Spot(piece.file, piece.line, self.step.begin) if piece else Spot("", 0, self.step.begin)
        return Way(spot, is_hidden=self.is_hidden)

    @property
    def last(self) -> Spot:
        piece = self.step.pieces[-1] if self.step.pieces else None
        return Spot(piece.file, piece.line, self.step.last) if piece else Spot("", 0, self.step.last)

    def after(self, instructions: int, address: int) -> Spot:
        """The instruction behind so many."""
        passed = 0
        for piece in self.step.pieces:
            passed += piece.instructions
            if passed > instructions:
                return Spot(piece.file, piece.line, address)
        return Spot("", 0, address)


_Route = tuple[_Leg, ...]


def _route(paths: Paths, node: int) -> _Route:
    legs = ((number, paths.steps[number], is_hidden) for number, is_hidden in paths.steps_to(node))
    return tuple(_Leg(number, step, is_hidden) for number, step, is_hidden in legs if step is not None)


def _trail(route: _Route) -> tuple[Stretch, ...]:
    found: list[Stretch] = []
    for leg in route:
        if leg.is_hidden:
            continue
        if not any(piece.line for piece in leg.step.pieces):
            before = found[-1] if found else None
            if before and not before.file and before.last == leg.step.begin:
                found[-1] = before._replace(last=leg.step.end)
            else:
                found.append(Stretch("", leg.step.begin, leg.step.end))
            continue
        for piece in leg.step.pieces:
            if not piece.line:
                continue
            before = found[-1] if found else None
            if before and before.file == piece.file and before.last <= piece.line <= before.last + 1:
                found[-1] = before._replace(last=piece.line)
            else:
                found.append(Stretch(piece.file, piece.line, piece.line))
    return tuple(found)


def _partings(routes: Sequence[_Route]) -> list[list[Parting]]:
    """Of each route, from all others that have been the same so far: in the order in which they come."""
    found: list[list[Parting]] = [[] for _ in routes]
    pending = [(list(range(len(routes))), 0)]
    while pending:
        members, depth = pending.pop()
        by_step: dict[tuple[int, bool] | None, list[int]] = {}
        for member in members:
            leg = routes[member][depth] if depth < len(routes[member]) else None
            by_step.setdefault(leg and leg.key, []).append(member)
        if len(by_step) > 1:
            at = routes[members[0]][depth - 1].last if depth else None
            _part(found, at, {member: _way(routes[member], depth) for member in members})
            for here in _by_begin(routes, members, depth):
                _part_within(found, routes, here, depth)
        pending += [(here, depth + 1) for key, here in by_step.items() if key is not None and len(here) > 1]
    return found


def _way(route: _Route, depth: int) -> Way:
    if depth < len(route):
        return route[depth].begin
    return Way(None, route[-1].step.ending if route else Ending.PLAIN)


def _part(found: Sequence[list[Parting]], at: Spot | None, ways: Mapping[int, Way]) -> None:
    different = tuple(dict.fromkeys(ways.values()))
    if len(different) < 2:
        return
    for member, way in ways.items():
        others = tuple(other for other in different if other != way)
        known = found[member]
        if known and known[-1].at == at and at is not None:
            # An exit that leads to several places.
            others = tuple(dict.fromkeys((*known.pop().others, *others)))
        known.append(Parting(at, way, others))


def _by_begin(routes: Sequence[_Route], members: Sequence[int], depth: int) -> Iterator[list[int]]:
    """Those that go on with the same block."""
    by_begin: dict[tuple[int, bool], list[int]] = {}
    for member in members:
        if depth < len(routes[member]):
            leg = routes[member][depth]
            by_begin.setdefault((leg.step.begin, leg.is_hidden), []).append(member)
    yield from by_begin.values()


def _part_within(found: Sequence[list[Parting]], routes: Sequence[_Route], members: list[int], depth: int) -> None:
    """Where they leave the block: exit by exit."""
    while members:
        first = min((routes[member][depth] for member in members), key=lambda leg: leg.step.last)
        leaving = [member for member in members if routes[member][depth].step.last == first.step.last]
        staying = [member for member in members if member not in set(leaving)]
        if len({routes[member][depth].key for member in members}) > 1:
            ways = {member: _way(routes[member], depth + 1) for member in leaving}
            for member in staying:
                spot = routes[member][depth].after(first.step.instructions, first.step.end)
                ways[member] = Way(spot)
            _part(found, first.last, ways)
        members = staying
