# SPDX-License-Identifier: GPL-2.0-or-later
"""The subject of a page: one profile, the sum of several, or a comparison of two."""

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


# Hints are about places with at least this share of the loss, in percent.
HINTS_FROM = 1.0


@dataclass(frozen=True, slots=True)
class Side:
    """The only profile, or one of two that are compared."""

    prefix: str  # of the names of its columns
    profile: Profile
    graph: CallGraph


@dataclass(frozen=True, slots=True)
class PageCode:
    """The table of instructions, and the texts that it refers to by number."""

    table: PackedTable
    texts: list[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """sides: (after,) or (after, before). The report is about the first one. Both have the same functions and cycles.
    members: the profiles of a sum; empty for a single profile."""

    report: Report
    sides: tuple[Side, ...]
    members: tuple[Profile, ...]
    tree: PageTree | None  # with a second set of cost columns if two profiles are compared
    matched: int  # functions whose names differ between the two profiles, but which are the same
    code: PageCode | None = None  # if the profile has instructions
    objects: PageObjects | None = None  # data objects
    why: PageWhy | None = None  # of the first side
    # The report that a terminal shows: with the cost of misses, if it is known, and with the lines of inlined code.
    # None: `report` has all that is known.
    costed: Report | None = None
    member_trees: tuple[ContextTree, ...] = ()  # of the members that have one, in the order of members
    sharing: SharingReport | None = None  # lines that cores take from each other
    paths: PathsReport | None = None  # paths within functions
    ranks: RanksReport | None = None  # of a merged profile
    structures: tuple[Structure, ...] = ()  # loops and inlined functions of the first side

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
    """A comparison, with the events that both profiles count."""
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
        # Lines move between versions, so that places of calls do not separate nodes.
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
    """The same subject with the cost of misses as events of functions, calls and lines, if it is a single run for which
    this is known. Contexts, data objects, instructions and parts do not have these events."""
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
    """The tree with columns for both sides, those of the other side 0, so that two such trees can be merged without
    mixing their costs. Calls become a column like events."""
    own = [tree.costs[tree.events.index(event)] for event in events] + [tree.calls]
    none = [array("Q", bytes(8 * len(tree)))] * len(own)
    names = [*events, "calls"]
    return replace(
        tree,
        events=(*names, *(f"before:{name}" for name in names)),
        costs=tuple([*own, *none] if first else [*none, *own]),
    )
