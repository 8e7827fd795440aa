# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page is about: one profile, or the sum of many, or two to be compared."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..analyses.code.report import Report, make_report, make_selection
from ..analyses.code.structure import Structure
from ..analyses.comparison.diff import matching_functions
from ..analyses.data.sharing import SharingReport
from ..analyses.paths import PathsReport
from ..analyses.ranks import RanksReport
from ..model.contexts import ContextTree, merge, merged
from ..model.graph import CallGraph, build
from ..model.merge import add, common_events, map_functions, project
from ..model.profile import Function, Profile
from .members import in_order
from .page_objects import PageObjects
from .page_tree import PageTree, page_tree
from .page_why import PageWhy
from .tables import PackedTable


# Hints are given of places with so many percent of the loss.
HINTS_FROM = 1.0


@dataclass(frozen=True, slots=True)
class Side:
    """One of the profiles that are compared, or the only one."""

    prefix: str  # of its columns' names
    profile: Profile
    graph: CallGraph


@dataclass(frozen=True, slots=True)
class PageCode:
    """Instructions, and the texts that they refer to."""

    table: PackedTable
    texts: list[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """sides are (after,) or (after, before): what stands first is what is reported on. All have
    the same functions and cycles. members are the single profiles of a sum, if there are many."""

    report: Report
    sides: tuple[Side, ...]
    members: tuple[Profile, ...]
    tree: PageTree | None  # with a second set of cost columns where two are compared
    matched: int
    code: PageCode | None = None  # if it has instructions
    objects: PageObjects | None = None  # data objects
    why: PageWhy | None = None  # of what is reported on
    # What is reported on with what misses cost, where that is known, and with the lines of what was inlined: the
    # report that a terminal shows. None: nothing more than `report` is known.
    costed: Report | None = None
    member_trees: tuple[ContextTree, ...] = ()  # of the members, in their order, if all have one
    sharing: SharingReport | None = None  # lines that cores take from each other
    paths: PathsReport | None = None  # within functions
    ranks: RanksReport | None = None  # of a profile that was merged
    structures: tuple[Structure, ...] = ()  # loops and inlined functions, of what is reported on

    @property
    def functions(self) -> list[Function]:
        return list(self.sides[0].graph.functions)


def of_sum(profiles: Sequence[Profile], trees: Sequence[ContextTree | None]) -> Subject:
    total = profiles[0]
    for profile in profiles[1:]:
        total = add(total, profile)
    report = _report(total)
    members = tuple(in_order(profiles)) if len(profiles) > 1 else ()
    side = Side("", total, report.graph)
    tree_of = {id(profile): tree for profile, tree in zip(profiles, trees)}
    of_members = tuple(tree for member in members if (tree := tree_of[id(member)]) is not None)
    return Subject(report, (side,), members, page_tree(merged(trees)), 0, member_trees=of_members)


def of_two(
    before: Profile, after: Profile, trees: tuple[ContextTree | None, ContextTree | None],
    objects: PageObjects | None,
) -> Subject:
    """The page shows the events that both count."""
    events = common_events(before, after)
    before, after = project(before, events), project(after, events)
    pairs = matching_functions(before, after)
    if pairs:
        before = map_functions(before, lambda function: pairs.get(function, function))
    both = build(add(before, after))
    sides = Side("", after, build(after, both)), Side("before:", before, build(before, both))
    tree = None
    old, new = trees
    if old is not None and new is not None and set(events) <= set(old.events) & set(new.events):
        # What calls from where has moved with the lines.
        renamed = merge([old], lambda function: pairs.get(function, function), with_places=False)
        new = merge([new], with_places=False)
        tree = merge([_wide(new, events, first=True), _wide(renamed, events, first=False)])
    return Subject(_report(after), sides, (), page_tree(tree), len(pairs), objects=objects)


def without_code(subject: Subject) -> Subject:
    """The same without the instructions and jumps of its profiles."""

    def plain(profile: Profile) -> Profile:
        return replace(profile, instructions={}, jumps={})

    def of_plain(report: Report) -> Report:
        return replace(report, profile=plain(report.profile))

    return replace(
        subject, report=of_plain(subject.report), members=tuple(map(plain, subject.members)),
        sides=tuple(replace(side, profile=plain(side.profile)) for side in subject.sides),
        costed=None if subject.costed is None else of_plain(subject.costed),
    )


def with_waits(subject: Subject) -> Subject:
    """The same with what misses cost among its events, where that is known of a single run: functions, calls and
    lines have it. Contexts, data objects, instructions and parts do not."""
    costs = None if subject.why is None else subject.why.costs
    side = subject.sides[0]
    if (
        costs is None or len(subject.sides) > 1 or subject.members or len(side.profile.parts) > 1
        or costs.events[: len(side.profile.events)] != side.profile.events
    ):
        return subject
    report = _report(costs, subject.costed.graph if subject.costed is not None else None)
    return replace(subject, report=report, sides=(Side("", costs, build(costs, side.graph)),))


def _report(profile: Profile, graph: CallGraph | None = None) -> Report:
    return make_report(profile, make_selection(profile, (), (), HINTS_FROM, None, None), graph=graph)


def _wide(tree: ContextTree, events: tuple[str, ...], first: bool) -> ContextTree:
    """The tree with the columns of both sides, one of which is empty: the two trees can then be
    merged and still be distinguished. Calls are a column like others."""
    own = [tree.costs[tree.events.index(event)] for event in events] + [tree.calls]
    none = [array("Q", bytes(8 * len(tree)))] * len(own)
    names = [*events, "calls"]
    return replace(
        tree,
        events=(*names, *(f"before:{name}" for name in names)),
        costs=tuple([*own, *none] if first else [*none, *own]),
    )
