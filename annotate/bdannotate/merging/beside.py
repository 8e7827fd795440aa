# SPDX-License-Identifier: GPL-2.0-or-later
"""The files beside profiles, which are merged as well: how each kind is read, added up and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Protocol, TypeVar

from ..model.context_check import run_violation
from ..model.context_cut import cut
from ..model.contexts import ContextTree, merge
from ..model.errors import UserError
from ..model.merge import Renaming, rename_function
from ..model.object_merge import merge as merge_objects
from ..model.objects import Objects, with_events, with_fewer_patterns
from ..model.objects import run_violation as object_run_violation
from ..model.paths import run_violation as paths_run_violation
from ..model.profile import Function, Profile
from ..model.sharing import merge as merge_sharing
from ..model.sharing import run_violation as sharing_run_violation
from ..model.why import run_violation as why_run_violation
from ..model.why_merge import merge as merge_why
from ..reading.columns import path_beside
from ..reading.contexts import PREFIX as CONTEXTS
from ..reading.contexts import read_contexts
from ..reading.objects import PREFIX as OBJECTS
from ..reading.objects import read_parts as read_object_parts
from ..reading.paths import PREFIX as PATHS
from ..reading.paths import read_parts as read_path_parts
from ..reading.sharing import PREFIX as SHARING
from ..reading.sharing import read_sharing
from ..reading.why import PREFIX as WHY
from ..reading.why import read_parts as read_why_parts
from .contexts_file import contexts_text
from .file_head import MergedHead
from .objects_file import GroupKey, group_key, objects_text, order_of_groups
from .packed_patterns import with_packed_patterns
from .paths_file import paths_text
from .paths_sum import RankPaths, paths_of_file
from .paths_sum import added as paths_added
from .sharing_file import sharing_text
from .sharing_sum import RankSharing, sharing_of_part
from .sharing_sum import added as sharing_added
from .why_columns import unpacked
from .why_file import why_text
from .why_sum import RankWhy, added, fit_to_write, why_of_part

_Found = TypeVar("_Found")
_Rename = Callable[[Function], Function]
# As many as bdgrind keeps of a run.
MOST_PATTERNS = 1 << 19
MOST_REUSES = 1 << 16
MOST_INCLUSIVE = 1 << 19
MOST_ORDERS = 1 << 16
MOST_LINES = 1 << 16
MOST_ACCESSES = 1 << 18


class Beside(Protocol):
    """A kind of file beside profiles. The types of what its methods take and return (parts, things) differ from kind to
    kind.

    what: the name of the kind, in sentences.
    prefix: what the names of its files begin with.
    """

    what: str
    prefix: str

    def read(self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]) -> list[Any]:
        """The parts of the file beside `profile`, which was read from `path`. others: what was read of earlier kinds,
        by `what`. Raises UserError if the file is from another run."""

    def of_rank(self, parts: Sequence[Any]) -> Any:
        """The sum of all parts in the files of a rank."""

    def joined(self, things: Sequence[Any]) -> Any:
        """The sum over several ranks, cut to the size that such files may have."""

    def text(self, thing: Any, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        """The merged file. others: the sums of the other kinds, by `what`."""


class _Contexts:
    what = "context trees"
    prefix = CONTEXTS

    def read(
        self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]
    ) -> list[ContextTree]:
        tree = _of_this_run(read_contexts, run_violation, path, self.prefix, profile)
        (tree,) = _renamed([tree], renaming, lambda one, rename: merge([one], rename))
        return [replace(tree, parts=tree.parts[:1])]

    def of_rank(self, parts: Sequence[ContextTree]) -> ContextTree:
        return self.joined(parts) if len(parts) > 1 else parts[0]

    def joined(self, things: Sequence[ContextTree]) -> ContextTree:
        tree = merge(things)
        return cut(replace(tree, parts=tree.parts[:1]))

    def text(self, thing: ContextTree, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        return contexts_text(thing, head)


class _Objects:
    what = "data objects"
    prefix = OBJECTS

    def read(
        self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]
    ) -> list[Objects]:
        parts = _of_this_run(read_object_parts, object_run_violation, path, self.prefix, profile)
        return _renamed(
            parts, renaming, lambda part, rename: merge_objects([_renamed_sites(part, rename)], rename, True)
        )

    def of_rank(self, parts: Sequence[Objects]) -> Objects:
        return self._of_no_run(merge_objects(parts, by_site=True) if len(parts) > 1 else parts[0])

    def joined(self, things: Sequence[Objects]) -> Objects:
        first = things[0].events
        whole = merge_objects([with_events(one, first) for one in things], by_site=True)
        return self._of_no_run(with_fewer_patterns(whole, MOST_PATTERNS))

    def text(self, thing: Objects, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        return objects_text(thing, head)

    @staticmethod
    def _of_no_run(objects: Objects) -> Objects:
        """The objects without their process number. Ranks on several machines may have the same one, and blocks of
        different ranks exist side by side. Raises UserError if patterns add up to 64 bits or more."""
        part = replace(objects.parts[0], pid="", part="", thread="", descriptions=())
        try:
            return with_packed_patterns(replace(objects, parts=(part,), numbers=()))
        except OverflowError:
            raise UserError("patterns of used bytes add up to 64 bits and more") from None


class _Causes:
    what = "causes"
    prefix = WHY

    def read(
        self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]
    ) -> list[RankWhy]:
        parts = _of_this_run(read_why_parts, why_run_violation, path, self.prefix, profile)
        parts = _renamed(parts, renaming, lambda part, rename: merge_why([part], rename))
        objects: list[Objects] = others.get(_Objects.what, [])
        return [why_of_part(part, one) for part, one in zip_longest(parts, objects[: len(parts)])]

    def of_rank(self, parts: Sequence[RankWhy]) -> RankWhy:
        return self.joined(parts) if len(parts) > 1 else parts[0]

    def joined(self, things: Sequence[RankWhy]) -> RankWhy:
        return added(things, MOST_REUSES)

    def text(self, thing: RankWhy, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        fit = fit_to_write(unpacked(thing.packed), MOST_INCLUSIVE, MOST_ORDERS)
        return why_text(fit, thing.groups, head, _group_numbers(others))


class _Sharing:
    what = "shared lines"
    prefix = SHARING

    def read(
        self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]
    ) -> list[RankSharing]:
        parts = _of_this_run(read_sharing, sharing_run_violation, path, self.prefix, profile)
        parts = _renamed(parts, renaming, lambda part, rename: merge_sharing([part], rename))
        objects: list[Objects] = others.get(_Objects.what, [])
        return [sharing_of_part(part, one) for part, one in zip_longest(parts, objects[: len(parts)])]

    def of_rank(self, parts: Sequence[RankSharing]) -> RankSharing:
        return self.joined(parts)

    def joined(self, things: Sequence[RankSharing]) -> RankSharing:
        return sharing_added(things, MOST_LINES, MOST_ACCESSES)

    def text(self, thing: RankSharing, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        return sharing_text(thing, head, _group_numbers(others))


class _Paths:
    what = "paths"
    prefix = PATHS

    def read(
        self, path: str, profile: Profile, renaming: Renaming, others: Mapping[str, list[Any]]
    ) -> list[RankPaths]:
        parts = _of_this_run(read_path_parts, paths_run_violation, path, self.prefix, profile)
        return [paths_of_file(parts, profile, lambda one: rename_function(one, renaming))]

    def of_rank(self, parts: Sequence[RankPaths]) -> RankPaths:
        return self.joined(parts)

    def joined(self, things: Sequence[RankPaths]) -> RankPaths:
        return paths_added(things)

    def text(self, thing: RankPaths, head: MergedHead, others: Mapping[str, Any]) -> Iterator[bytes]:
        return paths_text(thing.paths, head)


MERGED_BESIDE: tuple[Beside, ...] = (_Contexts(), _Objects(), _Causes(), _Sharing(), _Paths())


def _renamed(
    parts: Sequence[_Found], renaming: Renaming, made: Callable[[_Found, _Rename], _Found]
) -> list[_Found]:
    """The parts of a file after functions are renamed; unchanged if nothing is. made: returns a part with the new
    names."""
    if not renaming.files and not renaming.functions:
        return list(parts)
    return [made(part, lambda function: rename_function(function, renaming)) for part in parts]


def _renamed_sites(objects: Objects, rename: _Rename) -> Objects:
    return replace(objects, groups=tuple(
        replace(group, sites=tuple(
            tuple(site._replace(function=rename(site.function)) for site in way) for way in group.sites
        )) for group in objects.groups
    ))


def _group_numbers(others: Mapping[str, Any]) -> dict[GroupKey, int]:
    """The numbers that groups have in the merged file of data objects."""
    objects: Objects | None = others.get(_Objects.what)
    groups = [] if objects is None else [objects.groups[place] for place in order_of_groups(objects)]
    return {group_key(group): number for number, group in enumerate(groups, 1)}


def _of_this_run(
    read: Callable[[str], _Found], violation: Callable[[_Found, Profile], str | None], path: str, prefix: str,
    profile: Profile,
) -> _Found:
    """The contents of the file beside a profile, which was read from `path`. violation: says why they are from another
    run. Raises UserError if they are, or if there is no file."""
    beside = path_beside(path, prefix)
    if beside is None:
        raise UserError(f"{written_beside(path, prefix)} is not there any more")
    found = read(beside)
    if problem := violation(found, profile):
        raise UserError(f"{problem}: remove or rename it")
    return found


def written_beside(profile: str, prefix: str) -> str:
    """The name of the file that is to be written beside a profile."""
    folder, name = os.path.split(profile)
    return os.path.join(folder, prefix + name)
