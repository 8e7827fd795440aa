# SPDX-License-Identifier: GPL-2.0-or-later
"""The strongly connected components of a graph: nodes that can all reach each other.

Nodes are numbers from 0, as the graph of a large program is searched several times: names of functions would have to be
hashed at each step, which takes three times as long.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

_CLOSED = -1


def strongly_connected(
    nodes: Iterable[Node], edges: Mapping[Node, Iterable[Node]]
) -> list[list[Node]]:
    """The components of a graph; callees come before their callers. edges: must lead to `nodes` only."""
    listed = list(nodes)
    numbers = {node: number for number, node in enumerate(listed)}
    targets = [[numbers[target] for target in edges.get(node, ())] for node in listed]
    return [[listed[number] for number in group] for group in components(targets)]


def components(
    targets: Sequence[Sequence[int]], without: frozenset[int] = frozenset()
) -> list[list[int]]:
    """The components of a graph without some of its nodes, found by Tarjan's algorithm. A component comes after those
    that it leads to. The search has its own stack, as chains of calls are deeper than Python's."""
    order = [0] * len(targets)  # in which nodes were reached, from 1; 0: not yet; or _CLOSED
    lowest = [0] * len(targets)
    open_nodes: list[int] = []
    groups: list[list[int]] = []
    reached = 0
    for node in without:
        order[node] = _CLOSED
    for start in range(len(targets)):
        if order[start]:
            continue
        reached += 1
        order[start] = lowest[start] = reached
        open_nodes.append(start)
        work = [(start, iter(targets[start]))]
        while work:
            node, remaining = work[-1]
            for target in remaining:
                known = order[target]
                if not known:
                    reached += 1
                    order[target] = lowest[target] = reached
                    open_nodes.append(target)
                    work.append((target, iter(targets[target])))
                    break
                if known != _CLOSED and known < lowest[node]:
                    lowest[node] = known
            else:
                work.pop()
                if work and lowest[node] < lowest[work[-1][0]]:
                    lowest[work[-1][0]] = lowest[node]
                if lowest[node] == order[node]:
                    group: list[int] = []
                    while not group or group[-1] != node:
                        group.append(open_nodes.pop())
                        order[group[-1]] = _CLOSED
                    groups.append(group)
    return groups
