# SPDX-License-Identifier: GPL-2.0-or-later
"""Context trees in an order that does not depend on how they were made, and with fewer nodes."""

from __future__ import annotations

import re
from array import array

from .contexts import NO_PARENT, NOWHERE, OTHER, ContextFrame, ContextSum, ContextTree, Kind
from .profile import Function

_NUMBERS = re.compile(r"\d+")
# The integer that stands for a share of 1. Sums of integers do not depend on their order.
_WHOLE = 1 << 64


def in_order(tree: ContextTree) -> list[int]:
    """All nodes, parents before their children. Siblings are sorted by their names and by the places that they were
    called from; threads by their numbers, followed by signal handlers."""
    frames = sorted(range(len(tree.frames)), key=lambda number: _key(tree.frames[number]))
    places = sorted(range(len(tree.places)), key=lambda number: tree.places[number])
    rank, place_rank = _inverse(frames), _inverse(places)
    # In reverse, as the node that is pushed last is popped first.
    siblings = sorted(
        range(len(tree)), key=lambda node: (rank[tree.frame[node]], place_rank[tree.place[node]]), reverse=True
    )
    children: dict[int, list[int]] = {}
    for node in siblings:
        children.setdefault(tree.parent[node], []).append(node)
    found = []
    waiting = children.get(NO_PARENT, [])
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += children.get(node, ())
    return found


def cut(tree: ContextTree) -> ContextTree:
    """The tree with at most `tree.limit` nodes of functions: those that, with all below them, have most of the costs
    (the sum of the shares of all events). All others are added up in *other* nodes below those that are kept."""
    is_function = [frame.kind is Kind.FUNCTION for frame in tree.frames]
    functions = sum(is_function[frame] for frame in tree.frame)
    if functions <= tree.limit:
        return tree
    shares = _shares(tree)
    order = in_order(tree)
    # A parent has at least the share of its children and precedes them, so it is kept if they are.
    largest = sorted((node for node in order if is_function[tree.frame[node]]), key=lambda node: -shares[node])
    kept = set(largest[: tree.limit])
    sums = ContextSum(tree.events)
    frames = [sums.frame(frame, line) for frame, line in zip(tree.frames, tree.lines)]
    places = list(map(sums.place, tree.places))
    other, nowhere = sums.frame(OTHER, 0), sums.place(NOWHERE)
    others: set[int] = set()
    numbers = array("i", bytes(array("i").itemsize * len(tree)))
    for node in order:
        above = tree.parent[node]
        parent = NO_PARENT if above < 0 else numbers[above]
        kind = tree.frames[tree.frame[node]].kind
        if kind is Kind.ROOT or node in kept:
            numbers[node] = sums.node(parent, frames[tree.frame[node]], places[tree.place[node]])
        elif parent in others:
            numbers[node] = parent
        else:
            numbers[node] = sums.node(parent, other, nowhere)
            others.add(numbers[node])
    sums.add_counts(tree, numbers)
    return sums.tree(tree.parts, tree.titles)


def _shares(tree: ContextTree) -> list[int]:
    """The sums of the shares of all events, for each node with all below it."""
    found = [0] * len(tree)
    for costs in tree.costs:
        if total := sum(costs):
            weight = _WHOLE // total
            found = [share + weight * count for share, count in zip(found, costs)]
    return tree.summed_up(found)


def _key(frame: ContextFrame) -> tuple[int, bool, list[int], Function]:
    numbers = list(map(int, _NUMBERS.findall(frame.function.name))) if frame.kind is Kind.ROOT else []
    return frame.kind, len(numbers) > 1, numbers, frame.function


def _inverse(order: list[int]) -> list[int]:
    found = [0] * len(order)
    for rank, number in enumerate(order):
        found[number] = rank
    return found
