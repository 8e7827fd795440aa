# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_control without a run: its command line, what it reads, and what it shows of it.

With real runs it is tested in bdgrind/tests/system/test_monitor.py.
"""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "bd_control"


def load():
    loader = importlib.machinery.SourceFileLoader("bd_control", str(SCRIPT))
    spec = importlib.util.spec_from_loader("bd_control", loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bd_control"] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


bd_control = load()


def run(*arguments, path=None):
    environment = {"PATH": path} if path else None
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def wishes(text):
    return bd_control.parse_command_line(text.split())


@pytest.mark.parametrize("text, field, value", [
    ("-l", "folder", True),
    ("--long", "folder", True),
    ("-s", "state", True),
    ("--stat", "state", True),
    ("-b", "stacks", True),
    ("--back", "stacks", True),
    ("-e", "totals", True),
    ("-e Ir,Dw", "events", ("Ir", "Dw")),
    ("--events=Ir", "events", ("Ir",)),
    ("-i on", "instrumentation", "on"),
    ("-i=off", "instrumentation", "off"),
    ("--instr=on", "instrumentation", "on"),
    ("-d", "dump", True),
    ("-d why", "hint", "why"),
    ("--dump=why", "hint", "why"),
    ("-d 123", "hint", ""),
    ("-d 123", "names", ["123"]),
    ("-d -s", "hint", ""),
    ("-z", "zero", True),
    ("--zero", "zero", True),
    ("-k", "kill", True),
    ("--kill", "kill", True),
    ("--vgdb-prefix=/x", "vgdb_prefix", "/x"),
    ("-s ls 12", "names", ["ls", "12"]),
])
def test_options(text, field, value):
    assert getattr(wishes(text), field) == value


@pytest.mark.parametrize("arguments, problem", [
    (["-q"], "-q is not an option"),
    (["--nothing"], "--nothing is not an option"),
    (["-i"], "-i needs on or off"),
    (["-i", "maybe"], "-i needs on or off"),
    (["--stat=1"], "-s takes no value"),
    (["--vgdb-prefix="], "--vgdb-prefix needs a value"),
])
def test_mistakes_are_one_sentence(arguments, problem):
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch(rf"bd_control: {problem}.*\n", result.stderr)


def test_help_and_version():
    said = run("--help").stdout
    for option in bd_control.LONG_NAMES.items():
        assert re.search(rf"^  {option[1]}, {option[0]}\b", said, re.MULTILINE)
    assert max(map(len, said.splitlines())) <= 100
    configured = (ROOT.parent / "configure.ac").read_text()
    (version,) = re.findall(r"AC_INIT\(\[bdgrind\], \[(.*)\]\)", configured)
    assert run("--version").stdout == f"bd_control {version}\n"


def test_no_vgdb(tmp_path):
    result = run(path=str(tmp_path))
    assert result.stderr == "bd_control: vgdb was not found; it comes with Valgrind\n"
    assert result.returncode == 1


@pytest.mark.parametrize("arguments, program", [
    (["valgrind", "--tool=bdgrind", "-q", "ls", "-l"], "ls -l"),
    (["valgrind", "--tool=bdgrind", "--", "ls", "--", "x"], "ls -- x"),
    (["valgrind", "--tool=bdgrind"], ""),
])
def test_the_command_of_a_program(arguments, program):
    assert bd_control.program_of(arguments) == program


def test_the_name_of_a_program():
    assert bd_control.Run(1, "/usr/bin/ls -l /tmp").name == "ls"


RUNS = [bd_control.Run(7, "/bin/ls"), bd_control.Run(8, "/bin/cat"), bd_control.Run(9, "ls x")]


@pytest.mark.parametrize("names, pids", [
    ([], [7, 8, 9]),
    (["ls"], [7, 9]),
    (["8"], [8]),
    (["9", "cat"], [8, 9]),
])
def test_choosing_runs(names, pids):
    assert [found.pid for found in bd_control.choose(RUNS, names)] == pids


def test_choosing_what_does_not_run():
    with pytest.raises(bd_control.ControlError, match="name dog runs under bdgrind"):
        bd_control.choose(RUNS, ["ls", "dog"])
    with pytest.raises(bd_control.ControlError, match="no program runs"):
        bd_control.choose([], [])


STATUS = """\
command: ./prog with: a colon
instrumentation: on
parts: 1
blocks: 1234567
events: Ir SpLoss1
totals: 9000 70
thread: 1 collecting
costs: 8000 60
frame: 3 7000 50 std::map<int, int>::find(int const&) const
frame: 1 8000 60 main
frame: (below main)
handler: 1 not collecting
thread: 12 collecting
costs: 1000 10
frame: 0x0000000000001234
"""


def test_what_a_run_says():
    state = bd_control.parse_state(STATUS)
    assert (state.instrumentation, state.parts, state.blocks) == ("on", 1, 1234567)
    assert state.totals == (9000, 70)
    first, handler, second = state.stacks
    assert [frame.function for frame in first.frames] == [
        "std::map<int, int>::find(int const&) const", "main", "(below main)"]
    assert first.frames[0].calls == 3 and first.frames[0].costs == (7000, 50)
    assert first.frames[2].calls is None
    assert (handler.title, handler.collecting) == ("signal handler of 1", False)
    assert second.frames == [bd_control.Frame("0x0000000000001234")]


def test_another_version_is_not_understood():
    with pytest.raises(bd_control.ControlError, match="another version"):
        bd_control.parse_state("hello\n")


def test_state_is_shown():
    assert list(bd_control.show_state(bd_control.parse_state(STATUS))) == [
        "  instrumentation on, 1 part written, 1,234,567 blocks run",
        "  thread 1: collecting",
        "  signal handler of 1: not collecting",
        "  thread 12: collecting",
    ]


def test_totals_are_shown_by_thread():
    assert list(bd_control.show_totals(bd_control.parse_state(STATUS), [])) == [
        "  total  thread 1  thread 12  event",
        "  9,000     8,000      1,000  Ir",
        "     70        60         10  SpLoss1",
    ]


def test_stacks_are_shown():
    state = bd_control.parse_state(STATUS)
    assert list(bd_control.show_stack(state.stacks[0], state, ["SpLoss1"])) == [
        "  calls  SpLoss1  function, in thread 1",
        "      3       50  std::map<int, int>::find(int const&) const",
        "      1       60  main",
        "                  (below main)",
    ]


def test_an_event_that_is_not_counted():
    with pytest.raises(bd_control.ControlError, match="Dw is not counted; counted are Ir, SpL"):
        bd_control.shown_events(bd_control.parse_state(STATUS), ["Dw"])
