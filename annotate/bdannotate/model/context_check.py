# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of a context tree with the profile beside it.

  run        Both name the same processes and commands, if they name any.
  totals     Both have the same totals, in every event.
  functions  The self costs of a function's nodes add up to those of the function.
  arcs       Folding the tree by pairs of caller and callee gives the profile's calls and their
             inclusive costs. If recursion is folded, the tree does not have its levels: costs
             within recursion are not compared, and calls of recursive functions only by callee.

Paths that were not separated ("other" nodes) have no functions. If there are any, the tree may have less than the
profile of every function and call, but never more.
"""

from __future__ import annotations

from operator import add, eq, le

from .contexts import ContextTree, Kind
from .errors import shorten
from .graph import CallGraph, build
from .profile import Call, Function, Profile, Row, add_rows

_Arcs = dict[tuple[Function, Function], Call]


def context_violation(tree: ContextTree, profile: Profile) -> str | None:
    """The first difference, as a sentence; None if there is none."""
    violation = run_violation(tree, profile)
    if violation:
        return violation
    graph = build(profile)
    return _function_violation(tree, graph) or _arc_violation(tree, graph)


def run_violation(tree: ContextTree, profile: Profile) -> str | None:
    """The first difference in runs or totals, as a sentence; None if there is none. This takes no time, so it is
    checked whenever a tree is used. Both must be as they were read."""
    source = tree.parts[0].source
    for what, found, expected in (
        ("process", {part.pid for part in tree.parts}, {part.pid for part in profile.parts}),
        ("command", {part.command for part in tree.parts}, {part.command for part in profile.parts}),
    ):
        if "" not in found | expected and found != expected:
            these, those = (shorten(", ".join(sorted(names))) for names in (found, expected))
            return f"{source}: the tree is from {what} {these}, but the profile is from {those}"
    if tree.events != profile.events:
        return (
            f"{source} has {' '.join(tree.events)}, but the profile has {' '.join(profile.events)}"
        )
    totals = map(sum, zip(*(part.sums for part in tree.parts)))  # they were compared with the nodes' when it was read
    for event, mine, other in zip(tree.events, totals, profile.totals()):
        if mine != other:
            return _difference(tree, event, mine, other)
    return None


def _function_violation(tree: ContextTree, graph: CallGraph) -> str | None:
    self_costs: dict[Function, Row] = {}
    calls: dict[Function, int] = {}
    for node, row in enumerate(zip(*tree.costs)):
        kind, function = tree.frames[tree.frame[node]]
        if kind is Kind.FUNCTION:
            known = self_costs.get(function)
            self_costs[function] = add_rows(known, row) if known else row
            calls[function] = calls.get(function, 0) + tree.calls[node]
    zero = (0,) * len(tree.events)
    holds = le if _has_other(tree) else eq
    for function in {**dict.fromkeys(graph.functions), **dict.fromkeys(self_costs)}:
        known_costs = graph.functions.get(function)
        expected = known_costs.self_cost if known_costs else zero
        expected_calls = known_costs.calls if known_costs else 0
        found = self_costs.get(function, zero)
        for event, mine, other in zip(
            ("calls", *tree.events), (calls.get(function, 0), *found), (expected_calls, *expected)
        ):
            if not holds(mine, other):
                return _difference(tree, f"{event} of {function.name}", mine, other)
    return None


def _arc_violation(tree: ContextTree, graph: CallGraph) -> str | None:
    found = folded_by_pairs(tree)
    pairs = [(caller, callee) for caller, out in graph.callees.items() for callee in out]
    none = Call(0, (0,) * len(tree.events))
    holds = le if _has_other(tree) else eq
    for caller, callee in {**dict.fromkeys(pairs), **dict.fromkeys(found)}:
        if tree.is_folded and _is_within_recursion(graph, caller, callee):
            continue
        mine = found.get((caller, callee), none)
        other = graph.callees.get(caller, {}).get(callee, none)
        compared = list(zip(tree.events, mine.cost, other.cost))
        if not tree.is_folded or not _is_recursive(graph, callee):
            compared.append(("calls", mine.calls, other.calls))
        for event, count, expected in compared:
            if not holds(count, expected):
                what = f"{event} of the calls from {caller.name} to {callee.name}"
                return _difference(tree, what, count, expected)
    return None


def folded_by_pairs(tree: ContextTree) -> _Arcs:
    """The calls by caller and callee. In recursion, inclusive costs count once per open call."""
    inclusive = [tree.inclusive(event) for event in range(len(tree.events))]
    arcs: _Arcs = {}
    for node, row in enumerate(zip(*inclusive)):
        above = tree.parent[node]
        if above < 0:
            continue
        caller, callee = tree.frames[tree.frame[above]], tree.frames[tree.frame[node]]
        if caller.kind is callee.kind is Kind.FUNCTION:
            pair = caller.function, callee.function
            calls = tree.calls[node]
            known = arcs.get(pair)
            arcs[pair] = (
                Call(known.calls + calls, tuple(map(add, known.cost, row)))
                if known else Call(calls, row)
            )
    return arcs


def _is_within_recursion(graph: CallGraph, caller: Function, callee: Function) -> bool:
    known = graph.functions
    return caller in known and callee in known and graph.within_cycle(caller, callee)


def _is_recursive(graph: CallGraph, function: Function) -> bool:
    costs = graph.functions.get(function)
    return costs is not None and (costs.recursive or costs.cycle != 0)


def _has_other(tree: ContextTree) -> bool:
    return any(tree.frames[number].kind is Kind.OTHER for number in set(tree.frame))


def _difference(tree: ContextTree, what: str, mine: int, other: int) -> str:
    return f"{tree.parts[0].source}: {what}: the tree has {mine:,}, but the profile {other:,}"
