# SPDX-License-Identifier: GPL-2.0-or-later
"""Why files cannot be merged with each other, or into the file that is to be written, as sentences."""

from __future__ import annotations

import filecmp
import os
from collections import Counter
from collections.abc import Sequence

from ..model.errors import shorten
from ..model.profile import CACHE_NAMES, Profile
from .members import Dump, Member, Source

_Identity = tuple[int, int]


def fault_of_names(paths: Sequence[str], outputs: Sequence[str]) -> str:
    """Why the merge would add a file twice or lose one, or could not be written; empty if there is no such reason.
    outputs: as in fault_of_outputs."""
    if twice := [path for path, times in sorted(Counter(paths).items()) if times > 1]:
        return f"{twice[0]} is named twice"
    known: dict[_Identity, str] = {}
    for path in paths:
        identity = _identity(path)
        if identity is None:
            continue  # why it cannot be read is said of its head
        if identity in known:
            return f"{known[identity]} and {path} are the same file"
        known[identity] = path
    return fault_of_outputs(paths, outputs)


def fault_of_outputs(inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """Why the outputs could not be written, or would replace one of the inputs; empty if there is no such reason.
    outputs: the profile to write, and the files beside it."""
    known: dict[_Identity, str] = {}
    for path in inputs:
        identity = _identity(path)
        if identity is not None:
            known.setdefault(identity, path)
    output, *beside = outputs
    for path in outputs:
        if os.path.exists(path) and not os.path.isfile(path):
            return f"{path} is no regular file: --merge writes {output}, and {' and '.join(beside)} beside it"
        identity = _identity(path)
        same = None if identity is None else known.get(identity)
        if same == path:
            return f"{path} would be written, but is one of the files to merge"
        if same is not None:
            return f"{path} would be written, but is the same file as {same}, which is to be merged"
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            return f"{path}: there is no folder {folder}"
        if not os.access(folder, os.W_OK):
            return f"{path}: the folder {folder} is not writable"
    written: dict[str, str] = {}
    for path in outputs:
        other = written.setdefault(os.path.realpath(path), path)
        if other != path:
            return f"{other} and {path}, which would be written, are the same file"
    return ""


def _identity(path: str) -> _Identity | None:
    """The device and inode of the file that a path leads to; None if they are not known."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def of_other_caches(sources: Sequence[Source]) -> dict[str, str]:
    """The files that cannot be merged because their caches are not those of most files, or of the first one if no
    caches are those of most; and why."""
    usual, _ = Counter(map(_caches, sources)).most_common(1)[0]
    model = next(source for source in sources if _caches(source) == usual)
    return {
        source.path: f"{source.path} has other caches than {model.path}: {_difference(_caches(source), usual)}"
        for source in sources if _caches(source) != usual
    }


def _caches(source: Source) -> tuple[str, ...]:
    """The caches that a head describes, by CACHE_NAMES."""
    known = dict(source.head.descriptions)
    return tuple(" ".join(known.get(name, "").split()) for name in CACHE_NAMES)


def _difference(caches: Sequence[str], usual: Sequence[str]) -> str:
    return "; ".join(
        f"{name} {shorten(here)} instead of {shorten(there) or 'none'}" if here else
        f"no {name} instead of {shorten(there)}"
        for name, here, there in zip(CACHE_NAMES, caches, usual) if here != there
    )


def copies(sources: Sequence[Source]) -> str:
    """Which two files begin with the same part of a run, as a sentence; empty if there are none. Processes that have no
    rank may be from several machines: theirs are the same part only if the whole files are equal."""
    known: dict[tuple[int | None, str, Dump, int], list[Source]] = {}
    for source in sources:
        if not source.dump.pid:
            continue
        key = source.rank, source.host, source.dump, source.size if source.rank is None else 0
        alike = known.setdefault(key, [])
        for other in alike:
            if source.rank is not None or filecmp.cmp(other.path, source.path, shallow=False):
                return _both(other.path, source.path, source.dump, source.rank)
        alike.append(source)
    return ""


def copied_part(member: Member, profile: Profile) -> str:
    """Which two files of a member have the same part, wherever in the files it is; empty if there are none."""
    known: dict[Dump, str] = {}
    for part in profile.parts:
        dump = Dump(part.pid, part.part, part.thread)
        other = known.setdefault(dump, part.source)
        if dump.pid and other != part.source:
            return _both(other, part.source, dump, member.rank)
    return ""


def _both(one: str, other: str, dump: Dump, rank: int | None) -> str:
    return f"{one} and {other} are both {dump.of_rank(rank)}"
