# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one table of options, from which --help, the manual page and the shells'
completion are made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bdcommon.described import Command, Group, Option

from .errors import ControlError

ON_OFF = ("on", "off")

COMMAND = Command(
    name="bd_control",
    summary="look at programs that run under bdgrind, and steer them",
    usage="bd_control [options] [PID|NAME...]",
    description=(
        "Looks at programs that run under bdgrind, and steers them. Runs are named by process id or by the name of "
        "the program. Without a name, all bdgrind runs are shown, but none is changed: -i, -d, -z and -k need a "
        "run, or --all.",
    ),
    groups=(
        Group("what to show, besides the process id and command of each run", (
            Option(("-l", "--long"), "", "also the folder that the program runs in"),
            Option(("-s", "--stat"), "",
                   "whether the run is observed, how far it is, and its threads"),
            Option(("-e", "--events"), " [A,B,...]",
                   "what was counted since the latest dump, of all events or of these"),
            Option(("-b", "--back"), "",
                   "the open calls of each thread, innermost first: how often each was made and "
                   "what it cost since the latest dump, in the events of -e [Ir and the bytes "
                   "never used]"),
        )),
        Group("what to do then, in this order", (
            Option(("-i", "--instr"), " on|off",
                   "observe the program from now on, or let it run unobserved", ON_OFF),
            Option(("-d", "--dump"), " [HINT]",
                   "write what was counted into a file, with HINT as the reason, and count from "
                   "zero again"),
            Option(("-z", "--zero"), "", "discard what was counted since the latest dump"),
            Option(("-k", "--kill"), "", "end the program; its profile is lost"),
            Option(("-a", "--all"), "",
                   "do it to all runs of that name, or to all runs"),
        )),
        Group("other", (
            Option(("--vgdb-prefix",), "=PREFIX",
                   "where vgdb finds the runs, if valgrind was given the same option",
                   takes_file=True),
            Option(("-h", "--help"), "", "print this and exit"),
            Option(("--version",), "", "print the version and exit"),
        )),
    ),
    notes=(
        "A value may also follow an equals sign: -i=off, -d=HINT, -e=Ir,Dw. After -d and -e, a word that begins "
        "with a letter is their value, not the name of a program.",
        "Root may query the runs of all users; vgdb then runs as the user in question.",
    ),
)

_OPTIONS = {name: option for option in COMMAND.options() for name in option.names}


@dataclass(slots=True)
class Arguments:
    folder: bool = False
    state: bool = False
    totals: bool = False
    stacks: bool = False
    events: tuple[str, ...] = ()
    instrumentation: str = ""
    dump: bool = False
    hint: str = ""
    zero: bool = False
    kill: bool = False
    all: bool = False
    help: bool = False
    version: bool = False
    vgdb_prefix: str = ""
    names: list[str] = field(default_factory=list)

    def shows(self) -> bool:
        return self.folder or self.state or self.totals or self.stacks

    def changes(self) -> bool:
        return bool(self.instrumentation) or self.dump or self.zero or self.kill


def parse_command_line(words: Sequence[str]) -> Arguments:
    arguments = Arguments()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            arguments.names.append(word)
            continue
        name, sign, value = word.partition("=")
        option = _OPTIONS.get(name)
        if option is None:
            raise ControlError(f"{name} is not an option (--help lists them)")
        if not option.takes_value and sign:
            raise ControlError(f"{name} takes no value")
        if option.form.startswith(" ") and not sign and rest and re.match(r"[A-Za-z_]", rest[0]):
            value = rest.pop(0)
        _set(arguments, option.names[0], value)
    return arguments


def _set(arguments: Arguments, option: str, value: str) -> None:
    match option:
        case "-l":
            arguments.folder = True
        case "-s":
            arguments.state = True
        case "-e":
            arguments.totals = True
            arguments.events = tuple(name for name in value.split(",") if name)
        case "-b":
            arguments.stacks = True
        case "-i":
            if value not in ON_OFF:
                raise ControlError("-i needs on or off")
            arguments.instrumentation = value
        case "-d":
            arguments.dump = True
            arguments.hint = value
        case "-z":
            arguments.zero = True
        case "-k":
            arguments.kill = True
        case "-a":
            arguments.all = True
        case "-h":
            arguments.help = True
        case "--version":
            arguments.version = True
        case _:
            if not value:
                raise ControlError(f"{option} needs a value")
            arguments.vgdb_prefix = value
