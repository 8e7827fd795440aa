# SPDX-License-Identifier: GPL-2.0-or-later
"""From file names to profiles: parse, check the sums, change names, add up."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from ..model.check import sum_violations
from ..model.contexts import ContextTree, merge
from ..model.errors import UserError
from ..model.merge import Renaming, add, rename, rename_function
from ..model.profile import Profile
from ..model.threads import below_creators
from .contexts import contexts_path, read_contexts
from .parser import Detail, parse
from .progress import Progress

_DEFAULT_PATTERNS = ("bdgrind.out.*", "callgrind.out.*")


def default_profile() -> str:
    """The newest profile of the current folder."""
    found = [
        path for pattern in _DEFAULT_PATTERNS for path in glob.glob(pattern)
        if not _is_empty(path)
    ]
    if not found:
        raise UserError("no profile was named, and there is no bdgrind.out.* here (see --help)")
    return max(found, key=lambda path: (os.stat(path).st_mtime_ns, path))


def load(path: str, detail: Detail, renaming: Renaming, threads: str = "below") -> Profile:
    """One file's profile. A file that contradicts itself is an error."""
    profile = parse(path, detail, Progress(f"reading {os.path.basename(path)}"))
    for violation in sum_violations(profile):
        if not violation.is_harmless:
            raise UserError(violation.text)
    if threads == "below":
        profile = below_creators(profile)
    return rename(profile, renaming)


def load_sum(
    paths: Sequence[str], detail: Detail, renaming: Renaming, threads: str = "below"
) -> Profile:
    if len(paths) > 1:
        # With --separate-threads=yes, Callgrind leaves an empty file beside those of the threads.
        paths = [path for path in paths if not _is_empty(path)] or paths
    total = load(paths[0], detail, renaming, threads)
    for path in paths[1:]:
        total = add(total, load(path, detail, renaming, threads))
    return total


def load_contexts(profile: str, renaming: Renaming) -> ContextTree | None:
    """The context tree beside a profile, if there is one."""
    path = contexts_path(profile)
    if path is None:
        return None
    tree = read_contexts(path)
    if not renaming.files and not renaming.functions:
        return tree
    return merge([tree], lambda function: rename_function(function, renaming))


def _is_empty(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) == 0
