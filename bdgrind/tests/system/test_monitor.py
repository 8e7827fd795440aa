# SPDX-License-Identifier: GPL-2.0-or-later
"""A running guest is looked at and steered from outside, through vgdb and with bd_control.

It waits inside two calls, level0 > level1 > wait_for_input, so that everything but the time it
waits is known: 3 and 4 lines were touched before, 5 and 6 will be. See guest/steer.c.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import ENVIRONMENT, GUESTS, SMALL_CACHES, SOURCE, VALGRIND, configured
from part_files import PartFile, assert_sound, order, written_files
from profile_reader import read_profile

SCRIPT = "c(d*e)f"
BD_CONTROL = SOURCE / "annotate" / "bd_control"

# Beside valgrind, where bd_control is to find it, too.
VGDB = configured("VALGRIND").parent / "vgdb"
WITH_VGDB = os.environ | {"PATH": f"{VGDB.parent}:{os.environ['PATH']}"}

pytestmark = pytest.mark.skipif(
    not VGDB.exists(), reason="vgdb is missing; it comes with Valgrind"
)


@dataclass
class Running:
    process: subprocess.Popen[bytes]
    profile_path: Path
    prefix: str  # runs of others, and in other tests, must stay out of this

    @property
    def pid(self) -> str:
        return str(self.process.pid)

    def vgdb(self, *words: str) -> str:
        command = [str(VGDB), self.prefix, f"--pid={self.pid}", *words]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False
        ).stdout

    def control(self, *arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, str(BD_CONTROL), self.prefix, *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=WITH_VGDB, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def says(self, *arguments: str) -> str:
        status, said, complaints = self.control(*arguments)
        assert (status, complaints) == (0, "")
        return said

    def finish(self) -> list[PartFile]:
        """Lets the guest go on to its end."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        files = written_files(self.profile_path)
        parts = [
            PartFile(files[ending], ending, read_profile(files[ending], contexts=True))
            for ending in sorted(files, key=order)
        ]
        for part in parts:
            assert_sound(part)
        return parts


Start = Callable[..., Running]


@pytest.fixture(params=["0", "2"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Starts guests, with the engine on their thread and on its own, and waits until they wait."""
    started: list[Running] = []

    def start_one(
        *options: str,
        name: str = "profile",
        script: str = SCRIPT,
        command: Sequence[str] = (),
        waits_in: str = "wait_for_input",
    ) -> Running:
        profile = tmp_path / f"{name}.out"
        prefix = f"--vgdb-prefix={tmp_path}/vgdb"
        valgrind = [
            str(VALGRIND),
            "--tool=bdgrind",
            f"--log-file={tmp_path}/{name}.log",
            f"--bdgrind-out-file={profile}",
            f"--engine-threads={request.param}",
            prefix,
            *SMALL_CACHES,
            *options,
            *(command or [str(GUESTS / "steer"), script, "BD"]),
        ]
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        environment = ENVIRONMENT | {"TMPDIR": str(temporary)}
        process = subprocess.Popen(valgrind, stdin=subprocess.PIPE, env=environment)
        running = Running(process, profile, prefix)
        started.append(running)
        for _ in range(300):
            if not options and re.search(rf"{waits_in}.*\n", running.vgdb("status", "stacks")):
                break
            if options and "blocks: " in running.vgdb("status"):
                time.sleep(1)  # where calls are not observed, it is there soon
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the guest does not get there")
        return running

    yield start_one
    for running in started:
        running.process.kill()
        running.process.wait(60)


def fields(status: str) -> dict[str, str]:
    return {key: value for key, value in re.findall(r"^(\w+): (.*)$", status, re.MULTILINE)}


def frames(status: str) -> list[tuple[str, int, dict[str, int]]]:
    """Function, calls and costs of each open call, innermost first."""
    events = fields(status)["events"].split()
    result = []
    for line in re.findall(r"^frame: (.*)$", status, re.MULTILINE):
        words = line.split(" ", len(events) + 1)
        if len(words) == len(events) + 2:
            calls, *costs = map(int, words[:-1])
            result.append((words[-1], calls, dict(zip(events, costs, strict=True))))
    return result


def test_status(start: Start) -> None:
    running = start()
    status = running.vgdb("status")
    said = fields(status)
    assert said["command"] == f"{GUESTS / 'steer'} {SCRIPT} BD"
    assert said["instrumentation"] == "on"
    assert said["parts"] == "0"
    assert said["thread"] == "1 collecting"
    assert len(said["totals"].split()) == len(said["events"].split())
    assert "frame" not in said
    later = fields(running.vgdb("status"))
    assert int(later["blocks"]) > int(said["blocks"])
    assert int(later["totals"].split()[0]) > int(said["totals"].split()[0])


def test_stacks(start: Start) -> None:
    waiting, level1, level0, main, *_ = frames(start().vgdb("status", "stacks"))
    assert [frame[0] for frame in (waiting, level1, level0, main)] == [
        "wait_for_input",
        "level1",
        "level0",
        "main",
    ]
    assert [frame[1] for frame in (waiting, level1, level0, main)] == [1, 1, 1, 1]
    assert [frame[2]["DLmr"] for frame in (waiting, level1, level0)] == [0, 4, 3 + 4]
    assert 0 < waiting[2]["Ir"] < level1[2]["Ir"] < level0[2]["Ir"] < main[2]["Ir"]


def test_dump_with_a_reason(start: Start) -> None:
    running = start()
    assert running.vgdb("dump", "seen", "from", "outside") == "part 1 is written\n"
    assert fields(running.vgdb("status"))["parts"] == "1"
    # The calls are still open, and have cost nothing of this since.
    _, level1, level0, *_ = frames(running.vgdb("status", "stacks"))
    assert (level1[1], level1[2]["DLmr"]) == (level0[1], level0[2]["DLmr"]) == (0, 0)
    assert running.vgdb("dump") == "part 2 is written\n"
    first, second, last = running.finish()
    assert first.trigger == "Monitor command: seen from outside"
    assert second.trigger == "Monitor command"
    assert [part.own("touch") for part in (first, second, last)] == [3 + 4, 0, 5 + 6]
    assert [part.calls("level0", "level1") for part in (first, second, last)] == [1, 0, 0]
    assert first.blocks[1] == second.blocks[0] < second.blocks[1] == last.blocks[0]


def test_a_part_that_cannot_be_written_is_kept_for_the_next(start: Start, tmp_path: Path) -> None:
    running = start()
    shutil.rmtree(tmp_path / "temporary")
    blocked = Path(f"{running.profile_path}.1")
    blocked.mkdir()
    said = running.vgdb("dump")
    assert f"The profile could not be written to {blocked}: it is a folder.\n" in said
    assert said.endswith("part 1 could not be written\n")
    blocked.rmdir()
    assert running.vgdb("dump") == "part 2 is written\n"
    second, last = running.finish()
    assert second.own("touch") == 3 + 4 and second.blocks[0] == 0
    assert second.profile.header["part"] == ["2"] and second.ending == ".2"
    assert last.own("touch") == 5 + 6


def test_zero(start: Start) -> None:
    running = start()
    running.vgdb("zero")
    _, level1, *_ = frames(running.vgdb("status", "stacks"))
    assert (level1[1], level1[2]["DLmr"]) == (0, 0)
    (only,) = running.finish()
    assert only.own("touch") == 5 + 6 and only.passed("level0", "level1") == 5


def test_instrumentation_off(start: Start) -> None:
    running = start()
    assert running.vgdb("instrumentation") == "instrumentation: on\n"
    assert running.vgdb("instrumentation", "off") == "instrumentation: off\n"
    before = fields(running.vgdb("status"))
    assert before["instrumentation"] == "off"
    assert fields(running.vgdb("status")) == before  # the guest runs, but nothing is counted
    (only,) = running.finish()
    assert only.own("touch") == 3 + 4


def test_instrumentation_on(start: Start) -> None:
    running = start("--instr-atstart=no")
    assert running.vgdb("instrumentation") == "instrumentation: off\n"
    assert fields(running.vgdb("status"))["blocks"] == "0"
    assert running.vgdb("instrumentation", "on") == "instrumentation: on\n"
    assert running.vgdb("instrumentation", "maybe") == "instrumentation is on or off, not maybe\n"
    (only,) = running.finish()
    assert only.own("touch") == 5 + 6


def test_a_deep_stack_is_shown_whole(start: Start) -> None:
    """Far more than a packet of gdb's, or than a pipe holds."""
    depth = 3000
    status = start(script="<" * depth + "*").vgdb("status", "stacks")
    assert [frame[0] for frame in frames(status)].count("level0") == depth + 1


def test_a_program_that_waits_in_a_system_call(start: Start) -> None:
    """vgdb interrupts it, and it does not notice."""
    running = start(command=["/bin/sleep", "6"], waits_in="nanosleep")
    stack = frames(running.vgdb("status", "stacks"))
    # From glibc 2.41 on, what can be cancelled makes its system call in a function of its own.
    name, calls, _ = next(frame for frame in stack if "syscall_cancel" not in frame[0])
    assert "nanosleep" in name and calls == 1
    assert running.vgdb("dump", "asleep") == "part 1 is written\n"
    first, last = running.finish()
    assert first.trigger == "Monitor command: asleep"
    assert first.profile.totals["Ir"] > 10 * last.profile.totals["Ir"] > 0


def test_help_and_what_is_not_known(start: Start) -> None:
    running = start()
    said = running.vgdb("help")
    for command in ("dump", "zero", "status", "instrumentation"):
        assert re.search(rf"^ +{command}\b", said, re.MULTILINE)
    assert "instrumentation: on" in running.vgdb("st")  # Valgrind's habit: a beginning will do
    assert "'nonsense' not recognised" in running.vgdb("nonsense")


# --- bd_control -----------------------------------------------------------------------------------


def test_control_finds_runs(start: Start) -> None:
    first, second = start(name="first"), start(name="second", script="a(b*c)d")
    lines = {
        first.pid: f"PID {first.pid}: {GUESTS / 'steer'} {SCRIPT} BD\n",
        second.pid: f"PID {second.pid}: {GUESTS / 'steer'} a(b*c)d BD\n",
    }
    both = "".join(lines[pid] for pid in sorted(lines, key=int))
    assert first.says() == first.says("steer") == both
    assert first.says(first.pid) == lines[first.pid]
    assert first.says("-l", second.pid) == lines[second.pid] + f"  in {Path.cwd()}\n"
    status, said, complaint = first.control("-s", "missing")
    assert (status, said) == (1, "")
    assert complaint == (
        "bd_control: no program with the process id or name missing is running under bdgrind\n"
    )


def test_control_shows_state_totals_and_stacks(start: Start) -> None:
    running = start()
    said = running.says("-s", running.pid)
    assert re.search(r"^  instrumentation on, 0 parts written, [\d,]+ blocks run$", said, re.M)
    assert "\n  thread 1: collecting\n" in said
    said = running.says("-e", "Dw,DLmr")  # what only looks needs no run
    assert re.search(r"^ +total  event\n +[\d,]+  Dw\n +[\d,]+  DLmr\n\Z", said, re.M)
    assert len(running.says("-e").splitlines()) == 2 + 29
    said = running.says("-b", "-e=DLmr")
    table = [line.split() for line in said[said.index("calls ") :].splitlines()]
    assert table[0] == ["calls", "DLmr", "function,", "in", "thread", "1"]
    assert table[1:4] == [
        ["1", "0", "wait_for_input"],
        ["1", "4", "level1"],
        ["1", "7", "level0"],
    ]
    assert running.says("-b").splitlines()[1].split()[:4] == ["calls", "Ir", "SpLoss1", "SpLoss2"]
    status, _, complaint = running.control("-e", "XY")
    assert status == 1 and "XY is not counted; the run counts Ir, Dr," in complaint


def test_control_dumps_zeroes_and_switches(start: Start) -> None:
    running = start()
    assert running.says("-d", "why", running.pid) == f"PID {running.pid}: part 1 is written\n"
    assert running.says("--dump=so and so", "-z", "steer") == (
        f"PID {running.pid}: part 2 is written\nPID {running.pid}: all counts are zero\n"
    )
    assert running.says("-i", "off", running.pid) == f"PID {running.pid}: instrumentation is off\n"
    assert "instrumentation off, 2 parts" in running.says("-s")
    running.says("-i=on", "--all")
    first, second, last = running.finish()
    assert first.trigger == "Monitor command: why"
    assert second.trigger == "Monitor command: so and so"
    assert [part.own("touch") for part in (first, second, last)] == [7, 0, 11]


def test_control_stops_when_its_output_is_not_read(start: Start) -> None:
    running = start()
    command = f"{sys.executable} {BD_CONTROL} {running.prefix} -b -e | head -1"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env=WITH_VGDB, check=True
    )
    assert done.stdout.startswith(f"PID {running.pid}: ") and done.stderr == ""


def test_control_kills(start: Start) -> None:
    running = start()
    status, said, complaint = running.control("-k")
    assert (status, said) == (1, "")
    assert complaint == (
        "bd_control: name a run, or use --all:\n"
        f"  {running.pid}  {GUESTS / 'steer'} {SCRIPT} BD\n"
    )
    said = running.says("-d", "-k", running.pid)
    assert said == f"PID {running.pid}: part 1 is written\nPID {running.pid}: killed\n"
    running.process.wait(60)
    assert list(written_files(running.profile_path)) == [".1"]
    assert running.control("-l") == (1, "", "bd_control: no program is running under bdgrind\n")


def test_control_sees_threads_apart(start: Start) -> None:
    running = start("--separate-threads=yes")
    said = running.says("-e", "Ir")
    assert re.search(r"^ +total +thread 1  event$", said, re.MULTILINE)
    total, own, _ = said.splitlines()[-1].split()
    assert total == own
