# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark's driver works; what it measures is nobody's test."""

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

# Behaves like a launcher whose tools write a profile and leave the guest alone.
GOOD_VALGRIND = """#!/bin/sh
test "$*" = --version && { echo valgrind-0.1; exit; }
refuse() { echo "valgrind: Unknown option: $1" >&2; exit 1; }
%s
for word; do case $word in --*-out-file=*) echo profile >"${word#*=}";; esac; done
exec "$word"
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
    path.write_text(GOOD_VALGRIND % special)
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
    valgrind = fake_valgrind(
        tmp_path, 'for word; do case $word in --backdate*|--engine*) refuse "$word";; esac; done'
    )
    done = bench(tmp_path, "--rounds=1", valgrind=valgrind)
    assert done.returncode == 0, done.stderr
    assert "Absent: bdgrind-nobackdate: Unknown option: --backdate=no" in done.stdout
    assert "Absent: bdgrind-thread: Unknown option: --engine-thread=yes" in done.stdout
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
    }


@pytest.mark.parametrize(
    ("special", "reason"),
    [
        ("exit 3", "exit status 3"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("echo more", "the program's output differs from that without a tool"),
        ('for word; do :; done; exec "$word"', "no profile was written"),
    ],
)
def test_a_run_that_goes_wrong_is_a_failure(tmp_path: Path, special: str, reason: str) -> None:
    # The first call, the trial, goes well.
    after_trial = f"if test -e {tmp_path}/tried; then {special}; fi; : >{tmp_path}/tried"
    valgrind = fake_valgrind(tmp_path, after_trial)
    done = bench(tmp_path, "--rounds=1", "--variants=callgrind", valgrind=valgrind)
    assert done.returncode == 1
    assert f"FAILED: trivial under callgrind, round 1: {reason}\n" in done.stdout


def test_a_contestant_that_crashes_is_not_just_absent(tmp_path: Path) -> None:
    valgrind = fake_valgrind(tmp_path, "echo out of order >&2; exit 4")
    done = bench(tmp_path, "--variants=callgrind", valgrind=valgrind)
    assert done.returncode == 2
    assert "bench: callgrind: the trial run failed: exit status 4; out of order\n" in done.stderr


def test_stops_when_asked_to_and_shows_what_there_is(tmp_path: Path) -> None:
    # The second call of the tool, the first that counts, succeeds; the third never ends.
    calls = tmp_path / "calls"
    special = f"echo >>{calls}; test $(wc -l <{calls}) -lt 3 || exec sleep 1000"
    valgrind = fake_valgrind(tmp_path, special)
    driver = subprocess.Popen(
        bench_command(tmp_path, "--variants=callgrind", "--rounds=2", valgrind=valgrind),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stderr is not None
    for line in driver.stderr:
        if line.startswith("round 1/2"):
            break
    while calls.read_text().count("\n") < 3:
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
