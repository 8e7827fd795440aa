# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads profiles and the files beside them: parses them, checks sums, renames functions, and adds profiles up."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeVar

from ..model.check import sum_violations
from ..model.context_check import run_violation
from ..model.contexts import ContextTree, merge
from ..model.errors import UserError
from ..model.merge import Renaming, add, rename, rename_function
from ..model.object_merge import merge as merge_objects
from ..model.objects import Objects, at_own_lines, inlined_calls
from ..model.objects import run_violation as object_run_violation
from ..model.paths import Paths
from ..model.paths import merge as merge_paths
from ..model.paths import run_violation as paths_run_violation
from ..model.profile import Function, Profile
from ..model.threads import below_creators
from ..model.sharing import Sharing
from ..model.sharing import merge as merge_sharing
from ..model.sharing import run_violation as sharing_run_violation
from ..model.why import Why
from ..model.why_merge import merge as merge_why
from ..model.why import run_violation as why_run_violation
from .columns import no_file_beside
from .contexts import contexts_path, read_contexts
from .inlined import read_inlined_calls
from .kept import kept
from .object_files import newer_notes
from .objects import PREFIX, objects_path, read_parts
from .parser import Detail, parse
from .paths import PREFIX as PATHS_PREFIX
from .paths import paths_path
from .paths import read_parts as read_path_parts
from .progress import Progress
from .sharing import PREFIX as SHARING_PREFIX
from .sharing import read_sharing, sharing_path
from .why import PREFIX as WHY_PREFIX
from .why import read_parts as read_why_parts
from .why import why_path

_Part = TypeVar("_Part")
_DEFAULT_PATTERNS = ("bdgrind.out.*", "callgrind.out.*")


def default_profile() -> str:
    """The path of the newest profile in the current folder. UserError: there is none."""
    found = [
        path for pattern in _DEFAULT_PATTERNS for path in glob.glob(pattern)
        if not _is_empty(path)
    ]
    if not found:
        raise UserError("no profile was named, and there is no bdgrind.out.* here (see --help)")
    return max(found, key=lambda path: (os.stat(path).st_mtime_ns, path))


def load(path: str, detail: Detail, renaming: Renaming, threads: str = "below") -> Profile:
    """Loads the profile of a file. UserError: it cannot be read, is malformed, or contradicts itself."""
    def read() -> Profile:
        return parse(path, detail, Progress(f"reading {os.path.basename(path)}"))

    profile = kept(path, f"profile {detail}", read)
    for violation in sum_violations(profile):
        if not violation.is_harmless:
            raise UserError(violation.text)
    if threads == "below":
        profile = below_creators(profile)
    return rename(profile, renaming)


def load_sum(
    paths: Sequence[str], detail: Detail, renaming: Renaming, threads: str = "below"
) -> Profile:
    return sum_of(load(path, detail, renaming, threads) for path in with_costs(paths))


def with_costs(paths: Sequence[str]) -> Sequence[str]:
    """The paths without empty files, unless all are empty: with --separate-threads=yes, Callgrind leaves an empty file
    beside those of the threads."""
    return [path for path in paths if not _is_empty(path)] or paths[:1]


def sum_of(profiles: Iterable[Profile]) -> Profile:
    return reduce(add, profiles)


@dataclass(frozen=True, slots=True)
class Contexts:
    """The context tree beside a profile, or None. note: a sentence that says why a tree was left out, else empty."""

    tree: ContextTree | None
    note: str = ""


def load_contexts(path: str, profile: Profile, renaming: Renaming) -> Contexts:
    """Loads the context tree beside a profile, which `load` found at this path. A tree of an older run may be left
    beside a new profile, so that it is taken only if both are from the same run."""
    beside = contexts_path(path)
    if beside is None:
        return Contexts(None)
    tree = read_contexts(beside)  # not kept: that would take five times the room of the file
    violation = run_violation(tree, profile)
    if violation:
        return Contexts(None, f"{violation}: it is from another run and is left out")
    if renaming.files or renaming.functions:
        tree = merge([tree], lambda function: rename_function(function, renaming))
    return Contexts(tree)


def _read_beside(
    profiles: Sequence[str], path_of: Callable[[str], str | None], prefix: str,
    read: Callable[[str], list[_Part]], option: str, without: str,
    violation: Callable[[Sequence[_Part], Profile], str | None], whole: Profile,
) -> list[_Part]:
    """Reads the files beside all profiles. option: makes a run write such files. without: the end of the sentence if
    there is none. violation: says what is wrong with the parts beside the sum `whole`, if anything. UserError: a file
    is missing, damaged, or from another run."""
    found: list[_Part] = []
    for profile in profiles:
        path = path_of(profile)
        if path is None:
            other = no_file_beside(profile, prefix)
            raise UserError(
                f"{other}; a run with {option} writes a regular file" if other else
                f"{profile}: there is no file {prefix}{os.path.basename(profile)} beside it: {without}"
            )
        found += kept(path, prefix, partial(read, path))
    if problem := violation(found, whole):
        raise UserError(f"{problem}: remove or rename it")
    return found


def _names_of(whole: Profile, renaming: Renaming) -> Callable[[Function], Function]:
    """Maps the functions of a file to those of the sum."""

    def name(function: Function) -> Function:
        renamed = rename_function(function, renaming)
        return whole.cold_parts.get(renamed, renamed)

    return name


@dataclass(frozen=True, slots=True)
class LoadedObjects:
    """notes: sentences that say what is unknown about the objects, and why."""

    objects: Objects
    notes: tuple[str, ...]


def load_objects(
    profiles: Sequence[str], whole: Profile, renaming: Renaming, written: float | None = None
) -> LoadedObjects:
    """Loads the data objects beside all profiles, with the functions of their sum `whole`. written: when the profiles
    were written, in seconds since 1970."""
    found = _read_beside(
        profiles, objects_path, PREFIX, read_parts, "--objects=yes",
        "a run with --objects=yes records data objects", object_run_violation, whole,
    )
    inlined = read_inlined_calls(inlined_calls(found))

    objects = merge_objects([at_own_lines(one, inlined.chains) for one in found], _names_of(whole, renaming))
    return LoadedObjects(objects, (*inlined.notes, *newer_notes(inlined.chains, written)))


def load_why(profiles: Sequence[str], whole: Profile, renaming: Renaming) -> Why:
    """Loads why lines were loaded, from the files beside all profiles, with the functions of their sum `whole`."""
    found = _read_beside(
        profiles, why_path, WHY_PREFIX, read_why_parts, "--why=yes or --why=causes",
        "a run with --why=yes records why lines are loaded; --why=causes is enough for curves",
        why_run_violation, whole,
    )
    return merge_why(found, _names_of(whole, renaming))


def load_sharing(profiles: Sequence[str], whole: Profile, renaming: Renaming) -> Sharing:
    """Which lines cores take from each other, from the files beside all these profiles, whose sum `whole`
    is. Their functions are those that the sum has."""
    found = _read_beside(
        profiles, sharing_path, SHARING_PREFIX, read_sharing, "--cores=threads",
        "a run with --cores=threads records the lines that threads share",
        sharing_run_violation, whole,
    )
    return merge_sharing(found, _names_of(whole, renaming))


def load_paths(profiles: Sequence[str], whole: Profile, renaming: Renaming) -> Paths:
    """Loads paths within functions from the files beside all profiles, with the functions of their sum `whole`."""
    found = _read_beside(
        profiles, paths_path, PATHS_PREFIX, read_path_parts, "--paths=yes",
        "a run with --paths=yes, or --paths=FUNCTION, records the paths that calls take",
        paths_run_violation, whole,
    )
    return merge_paths(found, _names_of(whole, renaming))


def _is_empty(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) == 0
