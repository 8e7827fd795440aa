# SPDX-License-Identifier: GPL-2.0-or-later
"""The nested loops of a control flow.

Code that can be left and come back to is a strongly connected component of the flow. A component that is entered at one
block only is a natural loop, and that block is its header: all ways from outside lead through it, so it dominates the
others. Without the jumps back to the header, the components that are left are the inner loops. A component that is
entered at several blocks is an irreducible region; all of these blocks count as headers, so that inner loops do not
depend on an order. (Natural loops with the same header are one loop, as usual.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .components import strongly_connected
from .flow import Flow


@dataclass(frozen=True, slots=True)
class Region:
    """A loop or an irreducible region.

    parent: the index of the outer region, which comes first in the list; None if there is none.
    blocks: those of inner regions are included.
    closing: the block whose jump back was made most often, preferably among those that decide whether the loop goes on.
    Instead of jumping, control may just go on from there to a header right behind it.
    entries: how often it was entered.
    passed: how often its header was executed; of several, the one that was executed most often.
    left: how often a loop was left from its header; 0 if the rest of it only jumps back.
    """

    parent: int | None
    headers: tuple[int, ...]
    blocks: frozenset[int]
    closing: int
    entries: int
    passed: int
    left: int

    @property
    def is_irreducible(self) -> bool:
        return len(self.headers) > 1


def find_regions(flow: Flow) -> list[Region]:
    """The regions of a flow, outer ones before inner ones, in the order of their first blocks."""
    everything = range(len(flow.blocks))
    predecessors: list[dict[int, int]] = [{} for _ in everything]
    for source, ways in enumerate(flow.successors):
        for target, count in ways.items():
            predecessors[target][source] = count
    entry = flow.entry
    found: list[Region] = []
    work: list[tuple[int | None, frozenset[int], frozenset[int]]] = [
        (None, frozenset(everything), frozenset())
    ]
    while work:
        parent, blocks, headers = work.pop()
        within = _without(flow.successors, blocks, headers)
        groups = strongly_connected(sorted(blocks), within)
        for group in sorted(groups, key=min):
            if len(group) > 1 or group[0] in within[group[0]]:
                inside = frozenset(group)
                region = _region(flow, predecessors, inside, entry, parent)
                work.append((len(found), inside, frozenset(region.headers)))
                found.append(region)
    return found


def _without(
    successors: Sequence[Mapping[int, int]], blocks: frozenset[int], headers: frozenset[int]
) -> dict[int, list[int]]:
    """The ways between these blocks, without those to headers."""
    return {
        block: [
            target for target in successors[block] if target in blocks and target not in headers
        ]
        for block in blocks
    }


def _region(
    flow: Flow, predecessors: Sequence[Mapping[int, int]], inside: frozenset[int], entry: int,
    parent: int | None,
) -> Region:
    def is_entered(block: int) -> bool:
        return any(source not in inside for source in predecessors[block])

    headers = [block for block in sorted(inside) if is_entered(block)]
    if entry in inside and entry not in headers:
        headers.append(entry)
    if not headers:
        headers = [max(sorted(inside), key=lambda block: flow.entered[block])]
    entries = 0
    passed = [flow.entered[header] for header in headers]
    closing: dict[int, int] = {}
    for index, header in enumerate(headers):
        entries += flow.entered[header]
        for source, count in predecessors[header].items():
            passed[index] += count
            if source in inside:
                closing[source] = closing.get(source, 0) + count
            else:
                entries += count
    left = 0
    # If all other blocks only jump back, the header is the whole loop, with the test at its end.
    is_whole = all(_is_jump(flow, block) for block in inside if block != headers[0])
    if len(headers) == 1 and headers[0] not in closing and not is_whole:
        ways = flow.successors[headers[0]].items()
        left = sum(count for target, count in ways if target not in inside)
    latch = max(
        sorted(closing),
        key=lambda block: (
            leaves(flow, inside, block), jumps(flow, block), closing[block]
        ),
    )
    return Region(parent, tuple(headers), inside, latch, entries, max(passed), left)


def leaves(flow: Flow, region: frozenset[int], block: int) -> bool:
    """Whether control went from this block of the region to one outside of it."""
    return any(target not in region for target in flow.successors[block])


def jumps(flow: Flow, block: int) -> bool:
    """Whether control did anything else at the end of the block than go on to the next one in memory."""
    return any(target != block + 1 for target in flow.successors[block])


def _is_jump(flow: Flow, block: int) -> bool:
    """Whether the block is a jump and nothing else."""
    first, last = flow.blocks[block]
    return first == last and jumps(flow, block)
