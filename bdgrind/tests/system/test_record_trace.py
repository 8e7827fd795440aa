# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded trace is all that the engine saw: bdreplay makes of it, byte for byte, the profile of
the run that was recorded."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness import BUILD, GUESTS, SMALL_CACHES, Run, run_tool

BDREPLAY = BUILD / "bdgrind" / "bdreplay"


def record(
    folder: Path,
    command: Sequence[str | Path],
    options: Sequence[str] = SMALL_CACHES,
    name: str = "profile",
    environment: dict[str, str] | None = None,
) -> tuple[Run, Path]:
    trace = folder / f"{name}.trace"
    options = [*options, f"--record-trace={trace}"]
    return run_tool(folder, command, options, name=name, environment=environment), trace


def bdreplay(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BDREPLAY, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def replayed(trace: Path, *options: str) -> bytes:
    """The profile that bdreplay writes."""
    profile = trace.with_suffix(".replayed")
    completed = bdreplay(*options, f"--out={profile}", trace)
    assert completed.returncode == 0, completed.stderr
    return profile.read_bytes()


def without_pid(profile: bytes) -> bytes:
    return re.sub(rb"^pid: \d+$", b"pid:", profile, count=1, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "guest",
    [
        "attribution",
        "coroutines",
        "exceptions",
        "handlers",
        "longjmp",
        "masked",
        "plt_lazy",
        "plugins",
        "recursion",
        "siglongjmp",
        "straddle",
        "tail_call",
        "threads",
        "written_code",
    ],
)
def test_replay_writes_the_profile_of_the_run(guest: str, tmp_path: Path) -> None:
    run, trace = record(tmp_path, [GUESTS / guest])
    expected = run.profile_path.read_bytes()
    for words in ("1", "1000", "10000000"):
        assert replayed(trace, f"--batch-words={words}") == expected
    assert replayed(trace, "--repeat=2") == expected


def test_replay_tells_how_long_it_takes_undisturbed(tmp_path: Path) -> None:
    trace = record(tmp_path, [GUESTS / "recursion"])[1]
    once = bdreplay("--time", trace).stdout
    assert len(re.findall(r"per record: read [\d.]+ ns, replay [\d.]+ ns", once)) == 1
    assert "at its fastest" not in once
    times = bdreplay("--time", "--repeat=3", "--batch-words=1000", trace).stdout
    each = [float(time) for time in re.findall(r"per record: .*, replay ([\d.]+) ns", times)]
    fastest = [
        float(time) for time in re.findall(r"at its fastest: replay ([\d.]+) ns per record", times)
    ]
    assert len(each) == 3
    assert len(fastest) == 1
    assert 0 < fastest[0] <= min(each)


def test_replay_reports_what_the_run_reported(tmp_path: Path) -> None:
    run, trace = record(tmp_path, [GUESTS / "recursion"], [*SMALL_CACHES, "--stats=yes"])
    report = [*filter(None, bdreplay(trace).stderr.splitlines())]
    assert len(report) > 20
    log = [*filter(None, run.log.splitlines())]
    first = log.index(report[0])
    assert log[first : first + len(report)] == report
    # What follows is about the run.
    assert log[first + len(report)].startswith("Caches:")


@pytest.mark.parametrize(
    "options",
    [
        ["--cacheuse=no"],
        ["--cache-sim=no"],
        ["--dump-instr=yes", "--dump-line=no"],
        ["--compress-strings=no", "--compress-pos=no"],
    ],
    ids=" ".join,
)
def test_options_mean_the_same_to_both(options: list[str], tmp_path: Path) -> None:
    run, trace = record(tmp_path, [GUESTS / "recursion"], [*SMALL_CACHES, *options])
    assert replayed(trace, *options) == run.profile_path.read_bytes()


def test_one_recording_serves_every_geometry(tmp_path: Path) -> None:
    command = [GUESTS / "attribution"]
    recorded, trace = record(tmp_path, command, name="recorded")
    other = ["--I1=1024,2,16", "--D1=3072,3,128", "--LL=40960,5,32"]
    run = run_tool(tmp_path, command, other, name="other")
    assert without_pid(replayed(trace, *other)) == without_pid(run.profile_path.read_bytes())
    assert replayed(trace) == recorded.profile_path.read_bytes()


def test_only_the_parent_of_a_fork_is_recorded(tmp_path: Path) -> None:
    # The child writes its own profile over the parent's, unless their names differ.
    options = [*SMALL_CACHES, f"--bdgrind-out-file={tmp_path}/%p.out"]
    run, trace = record(tmp_path, [GUESTS / "forks"], options)
    assert run.status == 0
    profiles = {path.read_bytes() for path in tmp_path.glob("*.out")}
    assert len(profiles) == 2
    assert replayed(trace) in profiles


def test_the_guest_finds_no_further_file_descriptor(tmp_path: Path) -> None:
    count = "for (1..3000) { open(F, '<', '/dev/null'); $n{fileno F}++; } print join ' ', keys %n"
    command = ["/usr/bin/perl", "-e", count]
    run, trace = record(tmp_path, command)
    assert run.stdout == run_tool(tmp_path, command, tool="none", name="none").stdout
    assert trace.stat().st_size > 1 << 20  # it was written to while the guest ran


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/dev/full", "no space is left on the device"),
        ("missing/folder", "there is no such folder"),
        (".", "it is a folder"),
    ],
)
def test_nothing_runs_if_the_trace_cannot_be_written(
    path: str, reason: str, tmp_path: Path
) -> None:
    trace = tmp_path / path
    run = run_tool(tmp_path, ["/bin/echo", "hello"], [f"--record-trace={trace}"])
    assert (run.status, run.stdout) == (1, b"")
    assert f"The trace could not be written to {trace} (--record-trace): {reason}." in run.log
    assert not run.profile_path.exists()


def test_the_run_goes_on_if_the_trace_can_no_longer_be_written(tmp_path: Path) -> None:
    trace = tmp_path / "profile.trace"
    script = f"unlink '{trace}' or die; mkdir '{trace}' or die; $x += $_ for 1..300000; exit 7"
    run, _ = record(tmp_path, ["/usr/bin/perl", "-e", script])
    assert run.status == 7
    sentence = (
        f"The trace could not be written to {trace}: it has been removed or replaced. "
        "It is incomplete; the run goes on without it."
    )
    assert run.log.count("The trace could not be written") == 1
    assert sentence in run.log
    assert run.profile.totals["Ir"] > 1000000


def expect_refusal(completed: subprocess.CompletedProcess[str], message: str) -> None:
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr == f"bdreplay: {message}\n"


def test_other_files_are_refused(tmp_path: Path) -> None:
    text, empty, missing = tmp_path / "text", tmp_path / "empty", tmp_path / "missing"
    text.write_text("# callgrind format\n")
    empty.touch()
    for path in (text, empty):
        expect_refusal(bdreplay(path), f"{path}: this is not a trace recorded by bdgrind")
    expect_refusal(bdreplay(missing), f"{missing}: No such file or directory")
    expect_refusal(bdreplay(tmp_path), f"{tmp_path}: Is a directory")


def test_traces_that_are_cut_short_or_spoilt_are_refused(tmp_path: Path) -> None:
    run, trace = record(tmp_path, [GUESTS / "recursion"])
    good = trace.read_bytes()
    profile = tmp_path / "spoilt.out"
    trace.write_bytes(good[:-1])
    completed = bdreplay(f"--out={profile}", trace)
    assert re.search(r"profile\.trace: byte \d+: the trace is cut short\n$", completed.stderr)
    assert completed.returncode == 2
    trace.write_bytes(good + b"\0")
    assert "the trace goes on behind its end" in bdreplay(f"--out={profile}", trace).stderr
    trace.write_bytes(good[: len(good) // 2] + b"\xff" * 20 + good[len(good) // 2 :])
    assert bdreplay(f"--out={profile}", trace).returncode == 2
    assert not profile.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no trace is named; see --help"),
        (["--what", "x"], "there is no option --what; see --help"),
        (["--repeat=0", "x"], "--repeat=0: it must be a positive number"),
        (["--batch-words=many", "x"], "--batch-words=many: it must be a positive number"),
        (
            ["--D1=48000,7,60", "x"],
            "'48000,7,60' is not a value for --D1=<size>,<ways>,<line size>: "
            "the line size must be 16, 32, 64, 128 or 256 bytes",
        ),
        (["--out=y", "x", "x"], "--out is for a single trace"),
        (
            ["--bdgrind-out-file=y", "x"],
            "--bdgrind-out-file and --record-trace are options of the tool; here there is --out",
        ),
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str) -> None:
    expect_refusal(bdreplay(*arguments), message)


def test_a_profile_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    _, trace = record(tmp_path, [GUESTS / "recursion"])
    expect_refusal(bdreplay("--out=/dev/full", trace), "/dev/full: No space left on device")
