# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_control and says how it went: status 0 good, 1 a mistake or a run that does not answer,
2 where the answer cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from bdcommon import __version__
from bdcommon.console import flush, guarded, printable, say, write
from bdcommon.described import help_text

from .arguments import COMMAND, Arguments, parse_command_line
from .errors import ControlError
from .runs import Run, choose, choose_to_change, find_runs
from .state import parse_state
from .vgdb import Vgdb
from .view import show_stack, show_state, show_totals


def main(words: Sequence[str]) -> int:
    return guarded(COMMAND.name, lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    try:
        arguments = parse_command_line(words)
        if arguments.help:
            write([help_text(COMMAND)])
            return 0
        if arguments.version:
            write([f"{COMMAND.name} {__version__}\n"])
            return 0
        vgdb = Vgdb(arguments.vgdb_prefix)
        runs = find_runs(vgdb.pids())
        if arguments.changes():
            runs = choose_to_change(runs, arguments.names, arguments.all)
        else:
            runs = choose(runs, arguments.names)
    except ControlError as problem:
        say(f"{COMMAND.name}: {problem}{':' if problem.choices else ''}")
        for choice in problem.choices:
            say(f"  {choice}")
        return 1
    status = 0
    for run in runs:
        try:
            if arguments.shows() or not arguments.changes():
                _print(_shown(run, vgdb, arguments))
            _print(_changed(run, vgdb, arguments))
        except BrokenPipeError:  # the reader has seen enough
            raise
        except (ControlError, OSError) as problem:
            say(f"{COMMAND.name}: PID {run.pid}: {problem}")
            status = 1
    return status


def _print(lines: Iterator[str]) -> None:
    """Each as soon as it is known: the next may have to wait for an answer. What another user's
    program calls itself must not look like a line of ours."""
    for line in lines:
        write([f"{printable(line)}\n"])
        flush()


def _shown(run: Run, vgdb: Vgdb, arguments: Arguments) -> Iterator[str]:
    yield f"PID {run.pid}: {run.command}"
    if arguments.folder:
        yield f"  in {os.readlink(f'/proc/{run.pid}/cwd')}"
    if not (arguments.state or arguments.totals or arguments.stacks):
        return
    words = ["status", "stacks"] if arguments.stacks else ["status"]
    state = parse_state(vgdb.ask(run, *words))
    if arguments.state:
        yield from show_state(state)
    if arguments.totals:
        yield from show_totals(state, arguments.events)
    if arguments.stacks:
        for stack in state.stacks:
            yield from show_stack(stack, state, arguments.events)


def _changed(run: Run, vgdb: Vgdb, arguments: Arguments) -> Iterator[str]:
    if arguments.instrumentation:
        vgdb.ask(run, "instrumentation", arguments.instrumentation)
        yield f"PID {run.pid}: instrumentation is {arguments.instrumentation}"
    if arguments.dump:
        said = vgdb.ask(run, "dump", *arguments.hint.split()).strip()
        yield f"PID {run.pid}: {said}"
    if arguments.zero:
        vgdb.ask(run, "zero")
        yield f"PID {run.pid}: all counts are zero"
    if arguments.kill:
        vgdb.kill(run)
        yield f"PID {run.pid}: killed"
