# SPDX-License-Identifier: GPL-2.0-or-later
"""The profiles of a run and the files beside them, read as its options say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bdcommon import console

from ..analyses.code.inlined_lines import asked_for, inlined_lines
from ..analyses.code.ownership import Folders, Reach
from ..analyses.code.report import FunctionPattern, Report
from ..analyses.code.structure import wanted_lines
from ..model.cold_parts import with_cold_parts
from ..model.contexts import ContextTree
from ..model.errors import UserError
from ..model.frames import Chains
from ..model.merge import Renaming, parse_substitution
from ..model.metrics import with_cycle_costs
from ..model.profile import Function, Profile
from ..model.separate import Separation, separated
from ..model.why import Instruction
from ..options import Options
from ..reading.inlined import read_inlined_calls
from ..reading.load import Contexts, load, load_contexts, load_sum
from ..reading.machine import machine_named
from ..reading.parser import Detail


# The maximum number of seconds that a report waits for what only improves it.
_SECONDS = 30


class Inputs:
    """Reads profiles and what belongs to them. It raises UserError for a file that is wrong; a note says what is not
    known, and why."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._said: set[str] = set()
        self.functions: FunctionPattern | None = None  # those that the user asked for, once they are known
        self.folders = Folders(options.own, options.library)
        self.separation = Separation(options.separate_loops, options.separate_inlines)
        # The machine is read first, so that errors in it are reported before a large profile is read.
        self.machine = machine_named(options.machine_file) if options.machine_file is not None else None
        self.renaming = Renaming(
            tuple(map(parse_substitution, options.mod_filename)),
            tuple(map(parse_substitution, options.mod_funcname)),
        )

    def say_notes(self, notes: Iterable[str]) -> None:
        """Print notes, each once in a run, as several views may miss the same file."""
        for note in notes:
            if note not in self._said:
                self._said.add(note)
                console.say(f"bd_annotate: note: {note}")

    def profile(self, path: str, detail: Detail) -> Profile:
        found = load(path, self._detail(detail), self.renaming, self.options.threads)
        return self.with_separate_frames(self.with_estimate(found))

    def sum_of_profiles(self, paths: Sequence[str], detail: Detail) -> Profile:
        found = load_sum(paths, self._detail(detail), self.renaming, self.options.threads)
        return self.with_separate_frames(self.with_estimate(found))

    def profile_of_functions(self, path: str, detail: Detail) -> Profile:
        """The profile without separate frames, as it is in the file."""
        return load(path, detail, self.renaming, self.options.threads)

    def with_estimate(self, profile: Profile) -> Profile:
        factors = self.options.cycle_costs
        return with_cycle_costs(profile, factors) if factors else profile

    def whole(self, paths: Sequence[str]) -> Profile:
        """The sum of profiles with instructions, without separate frames, but with cold parts joined with their
        functions."""
        found = load_sum(paths, Detail.INSTRUCTIONS, self.renaming, self.options.threads)
        return with_cold_parts(self.with_estimate(found))

    def with_separate_frames(self, profile: Profile) -> Profile:
        if self.separation or self.options.structure:
            profile = with_cold_parts(profile)
        if not self.separation:
            return profile
        functions = {place.function for place in profile.instructions}
        return separated(profile, self.inlined_chains(profile, functions), self.separation)

    def inlined_chains(
        self, profile: Profile, functions: Iterable[Function], with_starts: bool = False
    ) -> Chains:
        inlined = read_inlined_calls(wanted_lines(profile, functions), with_starts=with_starts)
        self.say_notes(inlined.notes)
        return inlined.chains

    def chains_of(self, places: Iterable[Instruction]) -> Chains:
        """The inlining chains of some instructions, for profiles that only have lines."""
        wanted: dict[str, dict[int, int]] = {}
        for place in places:
            if place.line:
                wanted.setdefault(place.function.object, {})[place.address] = place.line
        found = read_inlined_calls(wanted, with_starts=True, seconds=_SECONDS)
        self.say_notes(found.notes)
        return found.chains

    def with_inlined_lines(self, report: Report) -> Report:
        """The report in which inlined code counts for the lines that a reader would change, if these are known."""
        profile, ownership = report.profile, report.ownership
        wanted = asked_for(
            profile, lambda function: ownership.reach(function) is not Reach.RUNTIME
        )
        if not wanted:
            return report
        found = read_inlined_calls(wanted, with_starts=True, seconds=_SECONDS)
        self.say_notes(found.notes)
        return replace(report, inlined=inlined_lines(
            profile, found.chains, ownership.folders.is_library, self.options.include
        ))

    def trees(
        self, paths: Sequence[str], profiles: Sequence[Profile]
    ) -> list[ContextTree | None]:
        """The context trees beside the profiles; None for those of other runs and those that cannot be read, with a
        note."""
        found: list[ContextTree | None] = []
        for path, profile in zip(paths, profiles):
            try:
                contexts = load_contexts(path, profile, self.renaming)
            except UserError as error:
                contexts = Contexts(None, f"a context tree is left out: {error}")
            self.say_notes([contexts.note] if contexts.note else [])
            found.append(contexts.tree)
        return found

    def _detail(self, detail: Detail) -> Detail:
        return Detail.INSTRUCTIONS if self.separation else detail
