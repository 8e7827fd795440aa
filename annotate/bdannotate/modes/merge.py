# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of many ranks as one file, with statistics beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bdcommon import console

from ..merging.job import Merged, merged
from ..merging.members import MERGED
from ..merging.merged_profile import merged_profile, profile_text
from ..merging.processes import Processes, with_processes
from ..merging.ranks_file import ranks_text
from ..model.errors import UserError
from ..options import Options
from ..reading.columns import path_beside
from ..reading.ranks import PREFIX
from .inputs import Inputs
from .outputs import EXIT_GOOD, write_file

# What lies beside profiles and is not merged, with its prefix.
_BESIDE = (
    ("context trees", "contexts."), ("data objects", "objects."), ("causes", "why."), ("shared lines", "sharing."),
    ("paths", "paths."),
)


def merge(paths: Sequence[str], options: Options) -> int:
    if options.output is None:
        raise UserError("--merge needs -o FILE, the file to write")
    output: str = options.output
    if "-" in paths:
        raise UserError("--merge reads files, not standard input")
    if twice := [path for path in sorted(set(paths)) if paths.count(path) > 1]:
        raise UserError(f"{twice[0]} is named twice")
    if os.path.exists(output) and not os.path.isfile(output):
        beside = f"{PREFIX}{os.path.basename(output)}"
        raise UserError(f"{output} is no regular file: --merge writes one, and {beside} beside it")

    def work(processes: Processes) -> None:
        found = merged(processes, paths, Inputs(options).renaming, options.skip_unreadable, _note)
        if found is not None:
            _write(output, found)

    with_processes(work)
    return EXIT_GOOD


def _write(output: str, found: Merged) -> None:
    tally, members = found.tally, found.members
    profile = merged_profile(tally)
    command = tally.head.command
    folder, name = os.path.split(output)
    # The statistics first: what is beside a profile of other sums is left out with a note.
    write_file(os.path.join(folder, PREFIX + name), ranks_text(tally, members, command, found.totals, found.strip))
    write_file(output, profile_text(profile, command, _descriptions(found)))
    hosts = {member.host for member in members if member.host}
    where = f" of {len(hosts):,} hosts" if hosts else ""
    files = sum(len(member.paths) for member in members)
    console.write([f"{output}: {len(members):,} ranks{where} from {files:,} files; bd_annotate --ranks {output}\n"])
    others = [what for what, prefix in _BESIDE if path_beside(members[0].paths[0], prefix)]
    if others:
        _note(f"{' and '.join(others)} beside the files are not merged: report on single ranks for these")


# What is of one run alone.
_OF_ONE_RUN = ("Rank", "Host", "Timerange", "Trigger")


def _descriptions(found: Merged) -> tuple[tuple[str, str], ...]:
    known = [pair for pair in found.tally.head.descriptions if pair[0] not in _OF_ONE_RUN]
    known.append((MERGED, f"{len(found.members)}"))
    if found.left_out:
        known.append(("Left out", f"{len(found.left_out)} files that could not be read"))
    return tuple(known)


def _note(text: str) -> None:
    console.say(f"bd_annotate: note: {text}")


