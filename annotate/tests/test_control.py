# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_control without a run: its command line, what it reads, and what it shows of it.

With real runs it is tested in bdgrind/tests/system/test_monitor.py.
"""

import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile

import pytest
from bdcontrol import arguments as command_line
from bdcontrol import cli, runs, state, vgdb, view
from bdcontrol.errors import ControlError

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "bd_control"


def run(*arguments, path=None):
    environment = {"PATH": path} if path else None
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def wishes(text):
    return command_line.parse_command_line(text.split())


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
    (["--stat=1"], "--stat takes no value"),
    (["--vgdb-prefix="], "--vgdb-prefix needs a value"),
])
def test_mistakes_are_one_sentence(arguments, problem):
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch(rf"bd_control: {problem}.*\n", result.stderr)


def test_help_and_version():
    said = run("--help").stdout
    for option in command_line.COMMAND.options():
        assert re.search(rf"^  {', '.join(option.names)}(?=[ =\n])", said, re.MULTILINE)
    assert max(map(len, said.splitlines())) <= 100
    configured = (ROOT.parent / "configure.ac").read_text()
    (version,) = re.findall(r"AC_INIT\(\[bdgrind\], \[(.*)\]\)", configured)
    assert run("--version").stdout == f"bd_control {version}\n"


def test_no_vgdb(tmp_path):
    result = run(path=str(tmp_path))
    assert result.stderr == "bd_control: vgdb was not found; it comes with Valgrind\n"
    assert result.returncode == 1


@pytest.mark.parametrize("arguments, program", [
    (["valgrind", "--tool=bdgrind", "-q", "ls", "-l"], ("ls", "-l")),
    (["valgrind", "--tool=bdgrind", "--", "ls", "--", "x"], ("ls", "--", "x")),
    (["valgrind", "--tool=bdgrind"], ()),
])
def test_the_command_of_a_program(arguments, program):
    assert runs.program_of(arguments) == program


def test_the_name_of_a_program():
    assert runs.Run(1, ("/usr/bin/ls", "-l", "/tmp"), 0).name == "ls"
    assert runs.Run(1, ("/opt/two words/my program", "-l"), 0).name == "my program"


RUNS = [
    runs.Run(7, ("/bin/ls",), 0), runs.Run(8, ("/bin/cat",), 0), runs.Run(9, ("ls", "x"), 0),
]


@pytest.mark.parametrize("names, pids", [
    ([], [7, 8, 9]),
    (["ls"], [7, 9]),
    (["8"], [8]),
    (["9", "cat"], [8, 9]),
])
def test_choosing_runs(names, pids):
    assert [found.pid for found in runs.choose(RUNS, names)] == pids


def test_what_cannot_be_undone_needs_a_run():
    """A user who has one run in mind may not know of the others."""
    with pytest.raises(ControlError, match="name a run, or use --all") as caught:
        runs.choose_to_change(RUNS, [], False)
    assert caught.value.choices == ("7  /bin/ls", "8  /bin/cat", "9  ls x")
    with pytest.raises(ControlError, match="several runs are named ls") as caught:
        runs.choose_to_change(RUNS, ["8", "ls"], False)
    assert caught.value.choices == ("7  /bin/ls", "9  ls x")
    assert runs.choose_to_change(RUNS, ["9", "cat"], False) == RUNS[1:]
    assert runs.choose_to_change(RUNS, ["ls"], True) == [RUNS[0], RUNS[2]]
    assert runs.choose_to_change(RUNS, [], True) == RUNS


@pytest.mark.parametrize("option", ["-k", "-d", "-z", "-i=off"])
def test_no_change_reaches_a_run_that_was_not_named(option, monkeypatch, capsysbinary):
    asked = []

    class Vgdb:
        def __init__(self, prefix):
            pass

        def pids(self):
            return [7, 8, 9]

        def ask(self, run, *words):
            asked.append(run.pid)
            return ""

        def kill(self, run):
            asked.append(run.pid)

    monkeypatch.setattr(cli, "Vgdb", Vgdb)
    monkeypatch.setattr(cli, "find_runs", lambda pids: RUNS)
    assert cli.main([option]) == 1
    assert asked == []
    assert capsysbinary.readouterr().err.decode().split("\n")[1:3] == ["  7  /bin/ls", "  8  /bin/cat"]
    assert cli.main([option, "8"]) == 0
    assert asked == [8]
    assert cli.main([option, "--all"]) == 0
    assert asked == [8, 7, 8, 9]


def test_names_of_other_users_programs_cannot_control_the_terminal(monkeypatch, capsysbinary):
    hostile = runs.Run(9, ("x\nPID 1: /sbin/init", "\x1b[2J", "\udc9b2J", "\udcff"), 0)

    class Vgdb:
        def __init__(self, prefix):
            pass

        def pids(self):
            return []

    monkeypatch.setattr(cli, "Vgdb", Vgdb)
    monkeypatch.setattr(cli, "find_runs", lambda pids: [hostile])
    assert cli.main([]) == 0
    shown = b"x?PID 1: /sbin/init ?[2J ?2J \xff\n"
    assert capsysbinary.readouterr().out == b"PID 9: " + shown
    assert cli.main(["-k"]) == 1
    assert capsysbinary.readouterr().err.split(b"\n", 1)[1] == b"  9  " + shown


def fake_vgdb(folder, script):
    program = folder / "vgdb"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    folder.chmod(0o755)


BUSY = "echo 'Cannot acquire lock.' >&2; exit 1"


def test_a_run_that_is_busy_is_asked_again(tmp_path, monkeypatch):
    fake_vgdb(tmp_path, f"test -e {tmp_path}/again || {{ touch {tmp_path}/again; {BUSY}; }}; echo yes")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert vgdb.Vgdb("").ask(RUNS[0], "status") == "yes\n"


def test_a_run_that_stays_busy_is_an_error(tmp_path, monkeypatch):
    fake_vgdb(tmp_path, BUSY)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(vgdb, "ANSWER_SECONDS", 0)
    monkeypatch.setattr(subprocess, "run", without_timeout(subprocess.run))
    with pytest.raises(ControlError, match="busy answering another vgdb; try again later"):
        vgdb.Vgdb("").ask(RUNS[0], "status")


def without_timeout(function):
    return lambda *arguments, **named: function(*arguments, **{**named, "timeout": None})


@pytest.mark.skipif(os.geteuid() != 0, reason="no package helps: only root may become another user")
def test_root_asks_another_users_run_as_that_user(monkeypatch):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        user = 65534
        path = pathlib.Path(folder)
        for owner, name in ((0, "mallory"), (user, "some-on-body")):
            shared = path / f"pipe-shared-mem-vgdb-7-by-{name}-on-host.domain"
            shared.touch()
            os.chown(shared, owner, owner)
        fake_vgdb(path, 'echo "$(id -u) $(id -G) $LOGNAME $HOST"')
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        asker = vgdb.Vgdb(f"{folder}/pipe")
        said = asker.ask(runs.Run(7, ("x",), user), "status")
        assert said == f"{user} {user} some-on-body host.domain\n"
        assert asker.ask(runs.Run(7, ("x",), 0), "status").startswith("0 ")
        with pytest.raises(ControlError, match="its owner left no file for vgdb"):
            asker.ask(runs.Run(8, ("x",), user), "status")


def test_another_users_process_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    owner = pwd.getpwuid(pathlib.Path("/proc/1").stat().st_uid).pw_name  # root's, but in a container
    with pytest.raises(ControlError, match=rf"process 1 belongs to {re.escape(owner)}: only that user and root may"):
        runs.choose([], ["1"])


def test_choosing_what_does_not_run():
    with pytest.raises(ControlError, match="name dog is running under bdgrind"):
        runs.choose(RUNS, ["ls", "dog"])
    with pytest.raises(ControlError, match="no program is running"):
        runs.choose([], [])


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
    found = state.parse_state(STATUS)
    assert (found.instrumentation, found.parts, found.blocks) == ("on", 1, 1234567)
    assert found.totals == (9000, 70)
    first, handler, second = found.stacks
    assert [frame.function for frame in first.frames] == [
        "std::map<int, int>::find(int const&) const", "main", "(below main)"]
    assert first.frames[0].calls == 3 and first.frames[0].costs == (7000, 50)
    assert first.frames[2].calls is None
    assert (handler.title, handler.collecting) == ("signal handler of 1", False)
    assert second.frames == [state.Frame("0x0000000000001234")]


def test_another_version_is_not_understood():
    with pytest.raises(ControlError, match="another version"):
        state.parse_state("hello\n")


def test_state_is_shown():
    assert list(view.show_state(state.parse_state(STATUS))) == [
        "  instrumentation on, 1 part written, 1,234,567 blocks run",
        "  thread 1: collecting",
        "  signal handler of 1: not collecting",
        "  thread 12: collecting",
    ]


def test_totals_are_shown_by_thread():
    assert list(view.show_totals(state.parse_state(STATUS), [])) == [
        "  total  thread 1  thread 12  event",
        "  9,000     8,000      1,000  Ir",
        "     70        60         10  SpLoss1",
    ]


def test_stacks_are_shown():
    found = state.parse_state(STATUS)
    assert list(view.show_stack(found.stacks[0], found, ["SpLoss1"])) == [
        "  calls  SpLoss1  function, in thread 1",
        "      3       50  std::map<int, int>::find(int const&) const",
        "      1       60  main",
        "                  (below main)",
    ]


def test_an_event_that_is_not_counted():
    with pytest.raises(ControlError, match="Dw is not counted; the run counts Ir, SpL"):
        view.shown_events(state.parse_state(STATUS), ["Dw"])
