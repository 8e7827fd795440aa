# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariants of a profile, for every event. Everything is recomputed, not trusted.

  sums    The self costs add up to what the file states as `summary:` and `totals:`.
  placed  The first of several placements of pages has the misses of these sums.
  roots   The inclusive costs of the roots add up to the totals. A root is a function that is
          entered without a recorded call: the first one of a thread or signal handler.
  calls   The calls of a function cost exactly its self cost plus the calls that it makes.
          A cycle of functions counts as one function, and its calls are those from outside.

A function can be both called and a root (a handler that the program also calls). Then its callers' costs do not cover
it, in any event of the uncovered runs, and certainly not in instructions, as every run has some. Therefore, if an event
is not covered although the instructions are, it was lost on the way to the callers, which is an error. This does not
apply if the counts begin in mid-run, after a dump or a zeroing: an uncovered run before may have loaded lines that are
evicted only now.

Estimates from a sample are rounded one by one. Self costs are rounded so that they still add up; each may be off by
one, and the cost of each call by one half. In the sum of many ranks, this applies to each rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .components import strongly_connected
from .graph import CallGraph, build
from .placements import first_violation
from .profile import Function, Part, Profile, Row, add_rows, subtract_rows, sum_rows
from .ranks import merged_ranks
from .sample import is_estimate

REFERENCE_EVENT = "Ir"

_RANGE = re.compile(r"Basic block (\d+) - (\d+)")


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check. violation: a sentence; None if all invariants are true."""

    violation: str | None
    functions: int  # how many there are
    roots: tuple[Function, ...]  # that are never called
    also_called: tuple[Function, ...]  # roots that are also called


def check(profile: Profile) -> Checked:
    """Check all invariants of a profile."""
    graph = build(profile)
    roots: list[Function] = []
    also_called: list[Function] = []
    wrong_sum = next(sum_violations(profile), None)
    violation = (
        wrong_sum.text if wrong_sum
        else first_violation(profile) or _call_violation(profile, graph, roots, also_called)
    )
    return Checked(violation, len(graph.functions), tuple(roots), tuple(also_called))


@dataclass(frozen=True, slots=True)
class SumViolation:
    """A sum that the file states, but that its costs do not add up to. Callgrind's `summary:` is harmless: with cache
    simulation, it includes some instructions that are charged to no function, and it lacks cache use. Its `totals:`
    then show that the file is complete."""

    text: str
    is_harmless: bool


def sum_violations(profile: Profile) -> Iterator[SumViolation]:
    """The sums that are wrong: in each part, `totals:` before `summary:`, and the first event only."""
    for part in profile.parts:
        has_totals = any(total.key == "totals" for total in part.stated_totals)
        harmless = has_totals and part.creator.startswith("callgrind")
        for total in sorted(part.stated_totals, key=lambda total: total.key, reverse=True):
            for event, stated, found in zip(profile.events, total.row, part.sums):
                if stated != found:
                    text = (
                        f"{part.source}:{total.line}: {total.key}: states {event} {stated:,}, "
                        f"but the costs add up to {found:,}"
                    )
                    yield SumViolation(text, harmless and total.key == "summary")
                    break


def _call_violation(
    profile: Profile, graph: CallGraph, roots: list[Function], also_called: list[Function]
) -> str | None:
    reference = (
        profile.events.index(REFERENCE_EVENT) if REFERENCE_EVENT in profile.events else 0
    )
    width = len(profile.events)
    source = profile.parts[0].source
    estimated = is_estimate(profile.parts)
    ranks = merged_ranks(profile.parts)
    # It is not known when the counts of ranks began.
    from_the_start = not estimated and not ranks and _is_from_the_start(profile.parts)
    each = max(ranks, 1)
    rounded = _rounded_rows(profile) if estimated else {}
    root_cost = profile.zero
    falling = _falling(profile)
    for group in strongly_connected(sorted(graph.functions), graph.callees):
        members = frozenset(group)
        inclusive = sum_rows((graph.functions[member].own_part for member in group), width)
        incoming = [
            call.cost
            for member in group
            for caller, call in graph.callers.get(member, {}).items()
            if caller not in members
        ]
        uncovered = subtract_rows(inclusive, sum_rows(incoming, width))
        slack = each * (len(incoming) + sum(rounded.get(member, 0) for member in group)) if estimated else 0
        uncovered = tuple(0 if abs(count) <= slack else count for count in uncovered)
        wrong = _wrong_event(uncovered, reference, bool(incoming) and from_the_start, falling)
        if wrong is not None:
            return (
                f"{source}: {profile.events[wrong]} of {_describe(group)}: its callers account for "
                f"{inclusive[wrong] - uncovered[wrong]:,}, but its self cost and its calls for {inclusive[wrong]:,}"
            )
        if not incoming or any(uncovered):
            root_cost = add_rows(root_cost, uncovered)
            (also_called if incoming else roots).append(min(group))
    slack = each * (sum(rounded.values()) + len(profile.calls)) if estimated else 0
    for event, total, found in zip(profile.events, profile.totals(), root_cost):
        if abs(total - found) > slack:
            return f"{source}: {event}: the roots cost {found:,}, but the total is {total:,}"
    return None


def _rounded_rows(profile: Profile) -> dict[Function, int]:
    """How many rounded numbers the inclusive cost of each function is the sum of, for each event."""
    rows: dict[Function, int] = {}
    for place, lines in profile.lines.items():
        rows[place.function] = rows.get(place.function, 0) + max(len(lines), 1)
    for site in profile.calls:
        rows[site.caller] = rows.get(site.caller, 0) + 1
    return rows


def _falling(profile: Profile) -> frozenset[int]:
    """The indices of events that some code gives back, such as memory. A root may have negative costs of these."""
    return frozenset(
        event
        for lines in profile.lines.values()
        for row in lines.values() if min(row, default=0) < 0
        for event, cost in enumerate(row) if cost < 0
    )


def _wrong_event(
    uncovered: Row, reference: int, must_be_covered: bool, falling: frozenset[int]
) -> int | None:
    """The index of the first event that the callers' costs do not explain; None if there is none."""
    for event, count in enumerate(uncovered):
        if event in falling:
            continue
        if count < 0 or (count > 0 and must_be_covered and uncovered[reference] == 0):
            return event
    return None


def _is_from_the_start(parts: tuple[Part, ...]) -> bool:
    """Whether the parts of each thread follow each other without a gap."""
    ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for part in parts:
        text = dict(part.descriptions).get("Timerange", "")
        if match := _RANGE.fullmatch(text):
            thread = ranges.setdefault((part.pid, part.thread), [])
            thread.append((int(match[1]), int(match[2])))
    for counted in ranges.values():
        end = 0
        for first, last in sorted(counted):
            if first != end:
                return False
            end = last
    return True


def _describe(group: list[Function]) -> str:
    function = min(group)
    name = f"{function.name} ({function.file})"
    return name if len(group) == 1 else f"the cycle of {name} and {len(group) - 1} more"
