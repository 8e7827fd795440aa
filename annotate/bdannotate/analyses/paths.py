# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths within functions that have most of the misses, the lines that they take, and where they part.

A path is hot if it has a certain share of the misses, and dense if it has more misses per instruction than the program,
after Ammons, Ball and Larus (PLDI 1997).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.metrics import Metric, metrics_for
from ..model.paths import Ending, NodeKind, Paths, Step
from ..model.profile import Function, Profile, Row, add_rows, subtract_rows, sum_rows

# The metrics that paths are ranked by, in the order of preference: data misses, misses of any kind, instructions.
_RANKED_BY = ("D1m", "L1m", "Ir")


class Spot(NamedTuple):
    """An instruction. line: 0 if not known."""

    file: str
    line: int
    address: int


class Way(NamedTuple):
    """How a path goes on. spot: the next instruction; None if the path ends, as `ending` says. is_hidden: whether the
    code there is not shown."""

    spot: Spot | None
    ending: Ending = Ending.PLAIN
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """A point at which hot paths of a function part that were the same so far. at: the last common instruction; None at
    the beginning of paths. ways: two or more. shared_lines: the files and lines to which several of these lead."""

    at: Spot | None
    ways: tuple[Way, ...]
    shared_lines: frozenset[tuple[str, int]]


class Parting(NamedTuple):
    """The way that a path takes. branch, way: indices into `FunctionPaths.branches` and `Branch.ways`."""

    branch: int
    way: int


class Stretch(NamedTuple):
    """Consecutive lines, from first to last. If file is empty, addresses of code whose lines are not known, from first
    to behind last."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class HotPath:
    """A hot path: the lines that it takes, and its way at each branch."""

    node: int  # its number among the nodes of the paths
    times: int
    cost: Row
    trail: tuple[Stretch, ...]
    partings: tuple[Parting, ...]


@dataclass(slots=True)
class PathSum:
    """The number of some paths or functions, and the sum of their costs."""

    number: int
    cost: Row

    def add(self, row: Row, number: int = 1) -> None:
        self.number += number
        self.cost = add_rows(self.cost, row)


@dataclass(frozen=True, slots=True)
class FunctionPaths:
    """The paths of a function. All together have the function's self cost.

    hot: the costliest first.
    branches: those of the hot paths.
    colder: the other paths.
    other: paths that were not separated. Their number is how often they were executed, not how many differ.
    """

    function: Function
    hot: tuple[HotPath, ...]
    branches: tuple[Branch, ...]
    colder: PathSum
    other: PathSum

    @property
    def executed(self) -> int:
        """The number of different paths that were separated."""
        return len(self.hot) + self.colder.number

    @property
    def cost(self) -> Row:
        width = len(self.other.cost)
        return sum_rows([self.colder.cost, self.other.cost, *(path.cost for path in self.hot)], width)


@dataclass(frozen=True, slots=True)
class PathsReport:
    """The paths of a run.

    metric: the one that they are ranked by.
    threshold: the minimum percentage of `base` for a path to be hot.
    base: the metric's value of all functions, or of those that the user asked for.
    is_of_some: whether the user asked for functions.
    limit: how many nodes there could be before new paths were merged.
    functions: those whose paths are known, the ones with the costliest hot paths first.
    unfollowed: the costs of functions whose paths are not known.
    """

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
        """Whether costs are dense; None if that is not known or the metric is instructions."""
        if "Ir" not in self.events or self.metric.name == "Ir":
            return None
        place = self.events.index("Ir")
        return self.counter(cost) * self.totals[place] > self.counter(self.totals) * cost[place]

    def is_hot(self, cost: Row) -> bool:
        return _is_hot(self.counter(cost), self.base, self.threshold)

    def groups(self, costs: Iterable[Row]) -> tuple[PathSum, PathSum, PathSum]:
        """The sums of all costs, of the dense ones and of the others."""
        zero = (0,) * len(self.events)
        found = PathSum(0, zero), PathSum(0, zero), PathSum(0, zero)
        for cost in costs:
            found[0].add(cost)
            found[1 if self.is_dense(cost) else 2].add(cost)
        return found

    @property
    def hot(self) -> list[HotPath]:
        return [path for function in self.functions for path in function.hot]


def ranked_by(name: str | None, metrics: Mapping[str, Metric]) -> Metric:
    """The metric to rank by. name: None if the user did not choose one. Raises UserError if paths do not have it."""
    if name is None:
        return metrics[next((known for known in _RANKED_BY if known in metrics), next(iter(metrics)))]
    if name not in metrics:
        raise UserError(f"paths do not have {name}; known are {' '.join(metrics)}")
    return metrics[name]


def report_paths(
    paths: Paths, profile: Profile, graph: CallGraph, metric_name: str | None, threshold: float,
    is_wanted: Callable[[Function], bool] | None = None,
) -> PathsReport:
    """The report on the paths of a run. profile, graph: those of the same run. metric_name: the metric to rank by,
    which must not be a ratio; None: the default. threshold: in percent. is_wanted: returns whether the user asked for a
    function; None: all. Raises UserError if paths and profile differ."""
    metrics = metrics_for(paths.events, profile.titles, profile.formulas)
    metric = ranked_by(metric_name, metrics)
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
    found: dict[int, tuple[list[tuple[int, Row]], PathSum, PathSum]] = {
        number: ([], PathSum(0, zero), PathSum(0, zero))
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
        FunctionPaths(paths.functions[number], *_hot_paths(paths, hot, count), colder, other)
        for number, (hot, colder, other) in found.items()
    ]
    functions.sort(key=lambda one: (-sum(count(path.cost) for path in one.hot), -count(one.cost), one.function))
    _check_sums(functions, graph, paths, places)
    followed = sum_rows((one.cost for one in functions), len(zero))
    return PathsReport(
        paths.events, metrics, metric, threshold, base, is_wanted is not None, totals, paths.limit, tuple(functions),
        subtract_rows(whole, followed), count,
    )


def _check_sums(
    functions: Iterable[FunctionPaths], graph: CallGraph, paths: Paths, places: Sequence[int]
) -> None:
    """Raise UserError unless the paths of each function cost what its profile says. places: the indices of the paths'
    events in the profile's."""
    for one in functions:
        known = graph.functions.get(one.function)
        if one.cost != tuple(known.self_cost[place] if known else 0 for place in places):
            raise UserError(
                f"{paths.parts[0].source}: the paths of {one.function.name} do not cost what the profile says that it "
                "costs; --check says more"
            )


def _is_hot(value: int, base: int, threshold: float) -> bool:
    return base > 0 and 100 * value >= Fraction(threshold) * base


def _hot_paths(
    paths: Paths, hot: Sequence[tuple[int, Row]], count: Callable[[Row], int]
) -> tuple[tuple[HotPath, ...], tuple[Branch, ...]]:
    ranked = sorted(hot, key=lambda one: (-count(one[1]), one[0]))
    routes = [_route(paths, node) for node, _ in ranked]
    branches = _Branches(routes)
    made = tuple(
        HotPath(node, paths.times[node], row, _trail(route), tuple(here))
        for (node, row), route, here in zip(ranked, routes, branches.partings)
    )
    return made, tuple(branches.list)


class _Leg(NamedTuple):
    """A step of a path. is_hidden: whether its code is not shown."""

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
        """The instruction at `address`, which follows that many instructions of the step."""
        passed = 0
        for piece in self.step.pieces:
            passed += piece.instructions
            if passed > instructions:
                return Spot(piece.file, piece.line, address)
        return Spot("", 0, address)


_Route = tuple[_Leg, ...]


def _route(paths: Paths, node: int) -> _Route:
    """The steps of the path that ends at a node."""
    legs = ((number, paths.steps[number], is_hidden) for number, is_hidden in paths.steps_to(node))
    return tuple(_Leg(number, step, is_hidden) for number, step, is_hidden in legs if step is not None)


def _trail(route: _Route) -> tuple[Stretch, ...]:
    """The lines that a path takes, without hidden code."""
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


class _Branches:
    """The branches at which routes part. partings: those of each route, in the order in which it takes them."""

    def __init__(self, routes: Sequence[_Route]) -> None:
        self._routes = routes
        self.list: list[Branch] = []
        self.partings: list[list[Parting]] = [[] for _ in routes]
        pending = [(list(range(len(routes))), 0)]
        while pending:
            members, depth = pending.pop()
            by_step: dict[tuple[int, bool] | None, list[int]] = {}
            for member in members:
                leg = routes[member][depth] if depth < len(routes[member]) else None
                by_step.setdefault(leg and leg.key, []).append(member)
            if len(by_step) > 1:
                at = routes[members[0]][depth - 1].last if depth else None
                self._add(at, {member: self._way(member, depth) for member in members})
                for here in self._by_begin(members, depth):
                    self._add_exits(here, depth)
            pending += [(here, depth + 1) for key, here in by_step.items() if key is not None and len(here) > 1]

    def _add(self, at: Spot | None, way_of: Mapping[int, Way]) -> None:
        ways = {way: place for place, way in enumerate(dict.fromkeys(way_of.values()))}
        if len(ways) > 1:
            for member, way in way_of.items():
                self.partings[member].append(Parting(len(self.list), ways[way]))
            lines = Counter(way.spot[:2] for way in ways if way.spot)
            shared = frozenset(line for line, number in lines.items() if number > 1)
            self.list.append(Branch(at, tuple(ways), shared))

    def _way(self, member: int, depth: int) -> Way:
        route = self._routes[member]
        if depth < len(route):
            return route[depth].begin
        return Way(None, route[-1].step.ending if route else Ending.PLAIN)

    def _by_begin(self, members: Sequence[int], depth: int) -> Iterator[list[int]]:
        """The members that go on with the same block, one list for each block."""
        by_begin: dict[tuple[int, bool], list[int]] = {}
        for member in members:
            if depth < len(self._routes[member]):
                leg = self._routes[member][depth]
                by_begin.setdefault((leg.step.begin, leg.is_hidden), []).append(member)
        yield from by_begin.values()

    def _add_exits(self, members: list[int], depth: int) -> None:
        """Add the branches at which members leave the same block, exit by exit."""
        while len({self._routes[member][depth].key for member in members}) > 1:
            first = min((self._routes[member][depth] for member in members), key=lambda leg: leg.step.last)
            staying = [member for member in members if self._routes[member][depth].step.last > first.step.last]
            gone = set(members).difference(staying)
            ways = {member: self._way(member, depth + 1) for member in members if member in gone}
            for member in staying:
                ways[member] = Way(self._routes[member][depth].after(first.step.instructions, first.step.end))
            self._add(first.last, ways)
            members = staying
