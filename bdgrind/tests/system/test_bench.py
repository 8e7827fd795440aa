# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark's driver works; no test is about what it measures."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from harness import SOURCE, VALGRIND

BENCH = SOURCE / "bdgrind" / "tests" / "bench"
sys.path.insert(0, str(BENCH))

from bdbench.model import Campaign, Geometry, Metric, Sample  # noqa: E402
from bdbench.render import as_markdown, as_text  # noqa: E402
from bdbench.summary import Summary  # noqa: E402
from bdbench.variants import select  # noqa: E402

# Behaves like a launcher whose tools leave the guest alone and write the head of a profile. Like
# Callgrind, they simulate caches when they are told a geometry.
GOOD_VALGRIND = """#!%s
import os, signal, sys
arguments = sys.argv[1:]
options = dict(word[2:].split("=", 1) for word in arguments if "=" in word)

def refuse(*names):
    for name in names:
        if name in options:
            sys.exit(f"valgrind: Unknown option: --{name}={options[name]}")

def write_profile(tool, asked=options):
    use = asked.get("cacheuse", "yes" if tool == "bdgrind" else "no") == "yes"
    cache = asked.get("cache-sim", "yes" if use or "I1" in asked else "no") == "yes"
    with open(options[tool + "-out-file"], "w") as out:
        for name in "I1", "D1", "LL":
            if cache:
                size, ways, line = asked[name].split(",")
                out.write(f"desc: {name} cache:  {size} B, {line} B, {ways}-way associative\\n")
        out.write("events: Ir" + " I1mr" * cache + " SpLoss1" * (use and cache) + "\\n")

if arguments == ["--version"]:
    sys.exit(print("valgrind-0.1"))
%s
if options["tool"] != "none":
    write_profile(options["tool"])
os.execv(arguments[-1], arguments[-1:])
"""


def bench(
    folder: Path, *options: str, valgrind: Path = VALGRIND
) -> subprocess.CompletedProcess[str]:
    command = bench_command(folder, *options, valgrind=valgrind)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def bench_command(folder: Path, *options: str, valgrind: Path) -> list[str]:
    places = (f"--work={folder / 'work'}", f"--json={folder / 'result.json'}")
    driver = [sys.executable, str(BENCH / "run"), f"--valgrind={valgrind}", *places]
    return [*driver, "--programs=trivial", *options]


def fake_valgrind(folder: Path, special: str = "") -> Path:
    path = folder / "fake-valgrind"
    path.write_text(GOOD_VALGRIND % (sys.executable, special))
    path.chmod(0o755)
    return path


def test_measures_a_program_in_each_round(tmp_path: Path) -> None:
    done = bench(tmp_path, "--variants=none", "--rounds=2", "--quick")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert [(s["guest"], s["variant"], s["round"], s["failure"]) for s in result["samples"]] == [
        ("trivial", "none", 0, ""),
        ("trivial", "none", 1, ""),
    ]
    for sample in result["samples"]:
        assert sample["user_s"] + sample["system_s"] > 0
        assert sample["wall_s"] > 0
        assert sample["peak_memory_kib"] > 10_000  # Valgrind alone needs more
    assert "CPU time in s, median" in done.stdout
    assert not list((tmp_path / "work").glob("run-*"))


def test_unknown_variants_are_absent_and_assumed_options_left_out(tmp_path: Path) -> None:
    valgrind = fake_valgrind(tmp_path, 'refuse("objects", "engine-threads")')
    done = bench(tmp_path, "--rounds=1", valgrind=valgrind)
    assert done.returncode == 0, done.stderr
    assert "Absent: bdgrind-objects: Unknown option: --objects=yes" in done.stdout
    assert "Absent: bdgrind-thread: Unknown option: --engine-threads=1" in done.stdout
    result = json.loads((tmp_path / "result.json").read_text())
    names = {variant["name"]: variant["assumed"] for variant in result["variants"]}
    assert names == {
        "none": [],
        "callgrind": [],
        "callgrind-cache": [],
        "callgrind-cacheuse": [],
        "cachegrind": [],
        "bdgrind": [],
        "bdgrind-nocacheuse": [],
        "bdgrind-nocache": [],
        "bdgrind-structure": [],
        "bdgrind-tree": [],
        "bdgrind-causes": [],
        "bdgrind-why": [],
    }


@pytest.mark.parametrize(
    ("special", "reason"),
    [
        ("sys.exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("print('more', flush=True)", "the program's output differs from that without a tool"),
        ("os.execv(arguments[-1], arguments[-1:])", "no profile was written"),
    ],
)
def test_a_run_that_goes_wrong_is_a_failure(tmp_path: Path, special: str, reason: str) -> None:
    # The first call, the trial, goes well.
    mark = tmp_path / "tried"
    after_trial = f"if os.path.exists({str(mark)!r}): {special}\nopen({str(mark)!r}, 'w')"
    valgrind = fake_valgrind(tmp_path, after_trial)
    done = bench(tmp_path, "--rounds=1", "--variants=callgrind", valgrind=valgrind)
    assert done.returncode == 1
    assert f"FAILED: trivial under callgrind, round 1: {reason}\n" in done.stdout


@pytest.mark.parametrize(
    ("variant", "asked", "reason"),
    [
        # What a geometry did to Callgrind without caches.
        ("callgrind", {"I1": "1,1,1", "D1": "1,1,1", "LL": "1,1,1"},
         "it simulated caches instead of no caches"),
        ("callgrind-cacheuse", {}, "it simulated no caches instead of cache use"),
        ("bdgrind-nocacheuse", None, "it simulated cache use instead of caches"),
        ("cachegrind", {"I1": "32768,8,64", "D1": "32768,4,64", "LL": "6291456,12,64"},
         "its D1 is not 32768,8,64"),
    ],
)  # fmt: skip
def test_a_variant_that_simulates_something_else_is_refused(
    tmp_path: Path, variant: str, asked: dict[str, str] | None, reason: str
) -> None:
    ignored = "{**options, 'cacheuse': 'yes'}" if asked is None else repr(asked)
    special = f"sound = write_profile\ndef write_profile(tool): sound(tool, {ignored})"
    valgrind = fake_valgrind(tmp_path, special)
    done = bench(tmp_path, f"--variants={variant}", valgrind=valgrind)
    assert done.returncode == 2
    assert f"bench: {variant}: the trial run is not what it should be: {reason}\n" in done.stderr


def test_all_installed_peers_simulate_what_their_names_say(tmp_path: Path) -> None:
    peers = "none,callgrind,callgrind-cache,callgrind-cacheuse,cachegrind"
    done = bench(tmp_path, f"--variants={peers}", "--rounds=1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Absent" not in done.stdout


def test_a_contestant_that_crashes_is_not_just_absent(tmp_path: Path) -> None:
    valgrind = fake_valgrind(tmp_path, "print('out of order', file=sys.stderr); sys.exit(4)")
    done = bench(tmp_path, "--variants=callgrind", valgrind=valgrind)
    assert done.returncode == 2
    assert "bench: callgrind: the trial run failed: exit status 4; out of order\n" in done.stderr


def test_stops_when_asked_to_and_shows_what_there_is(tmp_path: Path) -> None:
    # The second call of the tool, the first that counts, succeeds; the third never ends.
    calls = tmp_path / "calls"
    special = (
        f"open({str(calls)!r}, 'a').write('call\\n')\n"
        f"if len(open({str(calls)!r}).readlines()) == 3: os.execlp('sleep', 'sleep', '1000')"
    )
    valgrind = fake_valgrind(tmp_path, special)
    driver = subprocess.Popen(
        bench_command(tmp_path, "--variants=callgrind", "--rounds=2", valgrind=valgrind),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not calls.exists() or calls.read_text().count("\n") < 3:
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    driver.terminate()
    output, _ = driver.communicate(timeout=60)
    assert driver.returncode == 1
    assert "INTERRUPTED: 1 runs are missing" in output
    assert not list((tmp_path / "work").glob("run-*"))


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--rounds=0", "--rounds must be at least 1"),
        ("--scale=-1", "--scale must be above 0"),
        ("--variants=nonesuch", "no variant 'nonesuch'"),
        ("--programs=nonesuch", "no program 'nonesuch'"),
        ("--valgrind=/nonesuch", "there is no program '/nonesuch'"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, option: str, reason: str) -> None:
    done = bench(tmp_path, option)
    assert done.returncode == 2
    assert f"bench: {reason}" in done.stderr


def sample(guest: str, variant: str, number: int, cpu_s: float) -> Sample:
    return Sample(guest, variant, number, cpu_s * 2, cpu_s * 0.75, cpu_s * 0.25, 1024, 0.0)


def campaign() -> Campaign:
    """Two guests, three rounds. bdgrind / callgrind is 1/2, 1/4, 1/2 on a and 2, 1, 1/2 on b."""
    seconds = {
        ("a", "callgrind"): (2, 4, 8),
        ("a", "bdgrind"): (1, 1, 4),
        ("b", "callgrind"): (1, 3, 6),
        ("b", "bdgrind"): (2, 3, 3),
    }
    return Campaign(
        machine="a machine",
        valgrind="valgrind-0.1",
        geometry=Geometry("1", "2", "3"),
        scale=1.0,
        rounds=3,
        sweep="",
        guests=("a", "b"),
        variants=tuple(select(["callgrind", "bdgrind"])),
        absent=(),
        samples=tuple(
            sample(guest, variant, number, cpu_s)
            for (guest, variant), values in seconds.items()
            for number, cpu_s in enumerate(values)
        ),
    )


def test_ratios_are_taken_within_a_round() -> None:
    ratio = Summary(campaign()).ratio("a", "bdgrind", "callgrind", Metric.CPU)
    assert ratio is not None
    assert (ratio.least, ratio.median, ratio.most) == (0.25, 0.5, 0.5)


def test_geometric_mean_per_round() -> None:
    # Rounds: sqrt(1/2 * 2) = 1, sqrt(1/4 * 1) = 1/2, sqrt(1/2 * 1/2) = 1/2.
    mean = Summary(campaign()).mean_ratio("bdgrind", "callgrind", Metric.CPU)
    assert mean is not None
    assert (mean.least, mean.median, mean.most) == pytest.approx((0.5, 0.5, 1.0))
    assert Summary(campaign()).worst_ratio("bdgrind", "callgrind", Metric.CPU) == ("b", 1.0)


def test_failed_runs_do_not_count() -> None:
    samples = [
        replace(s, failure="exit status 1") if s.guest == "a" and s.round == 0 else s
        for s in campaign().samples
    ]
    summary = Summary(replace(campaign(), samples=tuple(samples)))
    ratio = summary.ratio("a", "bdgrind", "callgrind", Metric.CPU)
    assert ratio is not None
    assert (ratio.least, ratio.median, ratio.most) == (0.25, 0.375, 0.5)
    mean = summary.mean_ratio("bdgrind", "callgrind", Metric.CPU)
    assert mean is not None
    assert (mean.least, mean.most) == pytest.approx((0.5, 0.5))  # the round without a is left out


def test_tables_show_ratios_and_targets() -> None:
    text = as_text(campaign())
    assert "Peak memory" in text
    assert "b               1.00 (0.50-2.00)" in text
    assert "geometric mean  0.50 (0.50-1.00)" in text
    assert "CPU time bdgrind / callgrind  0.50 (0.50-1.00)  b 1.00       1  met" in text
    markdown = as_markdown(campaign())
    assert "| geometric mean | 0.50 (0.50-1.00) |" in markdown


def test_missing_runs_are_said_to_be_missing() -> None:
    whole = campaign()
    assert "INTERRUPTED" not in as_text(whole)
    assert "INTERRUPTED: 2 runs are missing" in as_text(replace(whole, samples=whole.samples[:-2]))


def test_a_sweep_shows_growth() -> None:
    text = as_text(replace(campaign(), sweep="depth"))
    growth = text[text.index("CPU time as a multiple of the first row's") :]
    assert [line.split() for line in growth.splitlines()[2:5]] == [
        ["callgrind", "bdgrind"],
        ["a", "1.00", "1.00"],
        ["b", "0.75", "3.00"],
    ]
