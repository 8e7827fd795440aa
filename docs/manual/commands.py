# SPDX-License-Identifier: GPL-2.0-or-later
"""All commands, and what their manual pages say besides options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bdannotate.options import command as annotate_command
from bdcommon.described import Command
from bdcontrol.arguments import COMMAND as CONTROL_COMMAND

from .calibrate import COMMAND as CALIBRATE_COMMAND
from .tool import tool_command

_OPTIONS = Path(__file__).resolve().parent.parent.parent / "bdgrind" / "tool" / "options.h"


@dataclass(frozen=True, slots=True)
class Section:
    """items are set apart from each other: a term and what it means."""

    title: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Page:
    command: Command
    sections: tuple[Section, ...]
    see_also: tuple[str, ...]


_SEE_ALSO = {
    "bdgrind": ("bd_annotate(1)", "bd_control(1)", "valgrind(1)"),
    "bd_annotate": ("bdgrind(1)", "bd_calibrate(1)", "bd_control(1)", "callgrind_annotate(1)"),
    "bd_calibrate": ("bd_annotate(1)", "bdgrind(1)"),
    "bd_control": ("bdgrind(1)", "vgdb(1)", "callgrind_control(1)"),
}
_SECTIONS: Mapping[str, tuple[Section, ...]] = {
    "bdgrind": (
        Section("Files", (
            ("bdgrind.out.PID", "the profile, unless --bdgrind-out-file names another file"),
            ("bdgrind.out.PID.1, ...", "the parts dumped before the end"),
        )),
        Section("Environment", (
            ("VALGRIND_LIB", "the folder in which valgrind looks for tools, if bdgrind is not "
             "beside Valgrind's own"),
            ("VALGRIND_OPTS", "options that come before those of the command line"),
        )),
        Section("Examples", (
            ("valgrind --tool=bdgrind ./program", "writes bdgrind.out.PID"),
            ("bd_annotate --hints", "says where to look, in the newest profile of the folder"),
        )),
    ),
    "bd_annotate": (
        Section("Columns", (
            ("self", "the function's own code, with its share of the total"),
            ("incl", "the function and everything it called"),
            ("instr.", "instructions"),
            ("never used", "bytes loaded into D1 (L1, if the profile does not separate data) that were not used "
             "before their line left"),
            ("unused", "their share of the bytes loaded"),
            ("D1 misses", "data accesses that did not find their line in the first level"),
            ("LLd misses", "those of them that did not find it in the last level either"),
            ("acc/line", "accesses to a line while it was in the first level, on average"),
            ("D1 miss", "the share of all data accesses that miss the first level"),
            ("LL miss", "the share of all accesses that miss the last level"),
            ("mispred.", "branches that were predicted wrongly, or their share"),
        )),
        Section("Exit status", (
            ("0", "success"),
            ("1", "--check found a violation, or a condition of --fail-if holds"),
            ("2", "anything else, with one sentence on standard error"),
        )),
        Section("Environment", (
            ("NO_COLOR", "if set, there is no colour without --color=yes"),
        )),
        Section("Examples", (
            ("bd_annotate --hints", "the newest profile, and what its numbers suggest"),
            ("bd_annotate --annotate --function=sort bdgrind.out.1234",
             "the source of the functions whose names contain sort"),
            ("bd_annotate --diff before.out after.out", "what a change of the program changed"),
        )),
    ),
    "bd_calibrate": (
        Section("Exit status", (
            ("0", "the machine file has been written"),
            ("2", "anything else, with one sentence on standard error"),
        )),
        Section("Examples", (
            ("bd_calibrate -o here.machine", "measures this machine"),
            ("bd_annotate --machine-file=here.machine", "the report, in seconds of this machine"),
        )),
    ),
    "bd_control": (
        Section("Exit status", (
            ("0", "success"),
            ("1", "a mistake in the command, no such run, or a run that does not answer"),
            ("2", "the answer could not be written"),
        )),
        Section("Examples", (
            ("bd_control -b -e Ir,DLmr", "the open calls of all runs, with these events"),
            ("bd_control -d 'before the loop' 1234", "a part of the profile, with its reason"),
        )),
    ),
}


def pages() -> dict[str, Page]:
    commands = (tool_command(_OPTIONS.read_text()), annotate_command(), CALIBRATE_COMMAND, CONTROL_COMMAND)
    return {
        command.name: Page(command, _SECTIONS[command.name], _SEE_ALSO[command.name])
        for command in commands
    }
