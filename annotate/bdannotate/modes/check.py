# SPDX-License-Identifier: GPL-2.0-or-later
"""The mode --check: whether all costs of a profile, and of the files beside it, add up."""

from __future__ import annotations

from bdcommon import console

from ..model.check import check as check_sums
from ..model.context_check import context_violation
from ..model.contexts import Kind
from ..model.objects import object_violation
from ..model.paths import path_violation
from ..model.profile import Profile
from ..model.why import why_violation
from ..reading.contexts import contexts_path, read_contexts
from ..reading.objects import objects_path, read_objects
from ..reading.parser import Detail, parse
from ..reading.paths import paths_path, read_paths
from ..reading.progress import Progress
from ..reading.why import read_why, why_path
from .outputs import EXIT_FAILED, EXIT_GOOD


def check(path: str) -> int:
    profile = parse(path, Detail.FUNCTIONS, Progress("reading"))
    result = check_sums(profile)
    if result.violation:
        console.say(f"bd_annotate: {result.violation}")
        return EXIT_FAILED
    source = profile.parts[0].source
    what = f"{result.functions} functions, {len(profile.events)} events: all costs add up"
    lines = [f"{source}: {what}"]
    for title, found in (("roots", result.roots), ("called, and a root", result.also_called)):
        names = ", ".join(function.name for function in found[:8])
        if found:
            lines.append(f"  {title}: {len(found)} ({names}{', ...' if len(found) > 8 else ''})")
    console.write([f"{console.printable(line)}\n" for line in lines])
    contexts = contexts_path(path)
    status = _check_contexts(contexts, profile) if contexts else EXIT_GOOD
    objects = objects_path(path)
    status = max(status, _check_objects(objects, profile)) if objects else status
    why = why_path(path)
    status = max(status, _check_why(why, profile)) if why else status
    paths = paths_path(path)
    return max(status, _check_paths(paths, profile)) if paths else status


def _check_paths(path: str, profile: Profile) -> int:
    paths = read_paths(path)
    functions = len({paths.functions[number] for number in paths.function if number})
    what = f"{sum(1 for times in paths.times if times):,} paths of {functions:,} functions"
    return _compared(path, what, path_violation(paths, profile))


def _check_why(path: str, profile: Profile) -> int:
    why = read_why(path)
    what = f"{why.misses():,} lines missed by {len(why.places) - 1:,} instructions"
    return _compared(path, what, why_violation(why, profile))


def _check_objects(path: str, profile: Profile) -> int:
    objects = read_objects(path)
    what = f"{len(objects.groups)} objects, {len(objects.rows)} rows"
    return _compared(path, what, object_violation(objects, profile))


def _check_contexts(path: str, profile: Profile) -> int:
    tree = read_contexts(path)
    functions = sum(1 for frame in tree.frames if frame.kind is Kind.FUNCTION)
    what = f"{len(tree)} nodes of {functions} functions, height {tree.height()}"
    return _compared(path, what, context_violation(tree, profile))


def _compared(path: str, what: str, violation: str | None) -> int:
    """Print what a file has, or the contradiction between it and the profile, and return the exit status."""
    if violation:
        console.say(f"bd_annotate: {violation}")
        return EXIT_FAILED
    line = f"{path}: {what}: from the same run as the profile"
    console.write([f"{console.printable(line)}\n"])
    return EXIT_GOOD
