# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of many ranks as one file, with statistics beside it."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from itertools import islice

from bdcommon import console

from ..merging.beside import Beside, written_beside
from ..merging.faults import fault_of_names, fault_of_outputs
from ..merging.file_head import MergedHead
from ..merging.job import Merged, merged
from ..merging.members import Member
from ..merging.merged_profile import merged_profile, profile_text
from ..merging.processes import AllKnow, Processes, with_processes
from ..merging.ranks_file import ranks_text
from ..model.errors import UserError, shorten
from ..model.numbers import counted
from ..model.placements import is_of_placements
from ..model.ranks import MERGED
from ..model.sample import SAMPLE
from ..options import Options
from ..reading.ranks import PREFIX
from ..views.ranks import missing_ranks, spans
from ..views.text import shorten_end
from .inputs import Inputs
from .outputs import EXIT_GOOD, write_file

# The thresholds of the garbage collector. A merge makes millions of small rows, nearly all without cycles: collecting
# as often as usual takes a third of the time.
_COLLECTIONS = (100_000, 50, 1_000)
# If programs differ, at most so many are named, with at most so many characters for the ranks of each.
_PROGRAMS = 4
_ROOM = 32


def merge(paths: Sequence[str], options: Options) -> int:
    def work(processes: Processes) -> None:
        try:
            output, renaming = _output(paths, options), Inputs(options).renaming
        except UserError as error:
            raise AllKnow(str(error)) from None
        statistics = written_beside(output, PREFIX)
        processes.fail_if(fault_of_names(paths, (output, statistics)) if processes.number == 0 else "")

        def fault(kept: Sequence[str], kinds: Sequence[Beside]) -> str:
            beside = [written_beside(output, kind.prefix) for kind in kinds]
            return fault_of_outputs(kept, [output, statistics, *beside])

        found = merged(processes, paths, renaming, options.skip_unreadable, _note, fault)
        if found is not None:
            _write(output, found)

    thresholds = gc.get_threshold()
    gc.set_threshold(*_COLLECTIONS)
    try:
        with_processes(work)
    finally:
        gc.set_threshold(*thresholds)
    return EXIT_GOOD


def _output(paths: Sequence[str], options: Options) -> str:
    if options.output is None:
        raise UserError("--merge needs -o FILE, the file to write")
    if "-" in paths:
        raise UserError("--merge reads files, not standard input")
    return options.output


def _write(output: str, found: Merged) -> None:
    tally, members = found.tally, found.members
    profile = merged_profile(tally)
    command, descriptions = tally.head.command, _descriptions(found)
    # What is beside it first: beside a profile of other sums, it is left out with a note.
    write_file(
        written_beside(output, PREFIX), ranks_text(tally, members, command, found.totals, found.strip)
    )
    head = MergedHead(command, descriptions, profile.events, profile.titles, profile.formulas)
    things = {kind.what: thing for kind, thing in found.beside}
    for kind, thing in found.beside:
        write_file(written_beside(output, kind.prefix), kind.text(thing, head, things))
    write_file(output, profile_text(profile, command, descriptions, found.code))
    hosts = {member.host for member in members if member.host}
    where = f" of {counted(len(hosts), 'host')}" if hosts else ""
    files = counted(sum(len(member.paths) for member in members), "file")
    ranks = counted(len(members), "rank")
    console.write([f"{output}: {ranks}{where} from {files}; bd_annotate --ranks {output}\n"])
    for text in (_programs(members), missing_ranks([member.rank for member in members if member.rank is not None])):
        if text:
            _note(text)
    for what, why in found.lacking.items():
        _note(f"{what} are not merged, as {why}")


def _programs(members: Sequence[Member]) -> str:
    """Which ranks ran which ones, if these are not the same; otherwise nothing."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for member in members:
        groups.setdefault(member.programs, []).append(member.name)
    if len(groups) < 2:
        return ""
    shown = [
        f"{' and '.join(shorten(program) or 'unknown' for program in programs)} ({shorten_end(spans(names), _ROOM)})"
        for programs, names in islice(groups.items(), _PROGRAMS)
    ]
    more = f" and {len(groups) - _PROGRAMS} more" if len(groups) > _PROGRAMS else ""
    return f"not all ranks ran the same program: {', '.join(shown)}{more}"


# Descriptions that are about a single run.
_OF_ONE_RUN = ("Rank", "Host", "Timerange", "Trigger", SAMPLE)


def _is_of_one_run(name: str) -> bool:
    return name in _OF_ONE_RUN or is_of_placements(name)


def _descriptions(found: Merged) -> tuple[tuple[str, str], ...]:
    known = [pair for pair in found.tally.head.descriptions if not _is_of_one_run(pair[0])]
    known.append((MERGED, f"{len(found.members)}"))
    if samples := [member.sample for member in found.members if member.sample]:
        others = ", and others" if len(set(samples)) > 1 else ""
        known.append((SAMPLE, f"{samples[0]}{others}; in {len(samples)} of {len(found.members)} ranks"))
    if found.left_out:
        known.append(("Left out", f"{counted(found.left_out, 'file')} that could not be read or merged"))
    return tuple(known)


def _note(text: str) -> None:
    console.say(f"bd_annotate: note: {text}")


