# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops in control flow, nested.

What can be left and come back to is a strongly connected component of the flow. A component that is
entered at one block only is a natural loop, and that block its header: no way from outside leads
past it, so it dominates the others. Of what is left without the jumps back to the header, the
components are the loops within. A component that is entered at several blocks is an irreducible
region. All of its entries are taken for headers then, so that the loops within do not depend on an
order. (Natural loops with the same header are one loop, as usual.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .components import strongly_connected
from .flow import Flow


@dataclass(frozen=True, slots=True)
class Region:
    """blocks include those of the regions within. Regions stand behind the one around them.
    entries counts how often it was entered, passed how often its header was executed; of an
    irreducible region, the header that was executed most often. left counts how often a loop was
    left from its header, unless the rest of it just jumps back. closing is the block whose jump
    back was made most often, of those that decide whether the loop goes on if there are any.
    Control may just go on from there to a header right behind it."""

    parent: int | None  # in the list of regions
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
    """Outer ones before inner ones, in the order of their first blocks."""
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
    """The ways between these blocks, but for those to headers."""
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
    # A header that only needs to be jumped back to is the whole loop, with the test at its end.
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
    """Whether control did anything at the end of the block but go on right behind it."""
    return any(target != block + 1 for target in flow.successors[block])


def _is_jump(flow: Flow, block: int) -> bool:
    """Whether the block is a jump and nothing else."""
    first, last = flow.blocks[block]
    return first == last and jumps(flow, block)
