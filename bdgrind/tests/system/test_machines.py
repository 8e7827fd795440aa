# SPDX-License-Identifier: GPL-2.0-or-later
"""Three levels of caches, and those of processors by name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from harness import BDCOMPARE, GUESTS, VALGRIND, check_profile, run_tool

THREE_LEVELS = {
    "ordinary": "--I1=4096,4,64 --D1=4096,4,64 --L2=32768,8,64 --LL=262144,8,64",
    "tiny": "--I1=256,2,64 --D1=256,1,64 --L2=512,2,64 --LL=2048,4,64",
    "other lines": "--I1=1024,2,32 --D1=2048,2,128 --L2=4096,4,64 --LL=20480,5,256",
    "L2 smaller than L1": "--I1=4096,4,64 --D1=4096,4,64 --L2=1024,2,64 --LL=16384,8,64",
}
ALL = ["--simulate-wb=yes", "--simulate-hwpref=yes", "--branch-sim=yes", "--why=yes", "--objects=yes"]


@pytest.mark.parametrize("name", THREE_LEVELS)
@pytest.mark.parametrize("more", [[], ALL], ids=["plain", "all"])
def test_three_levels_equal_the_naive_engines(tmp_path: Path, name: str, more: list[str]) -> None:
    if not BDCOMPARE.exists():
        pytest.skip("bdcompare is not built: GoogleTest is missing")
    trace = tmp_path / "trace"
    options = [*THREE_LEVELS[name].split(), *more]
    run = run_tool(tmp_path, [GUESTS / "attribution"], [*options, f"--record-trace={trace}"])
    assert not check_profile(run.profile_path)
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_an_l2_changes_nothing_in_front_of_it(tmp_path: Path) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --LL=65536,8,64".split()
    two = run_tool(tmp_path, [GUESTS / "workload"], caches, name="two").profile.totals
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--L2=8192,4,64"], name="three")
    three = run.profile.totals
    for event in ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "AcCost1", "SpLoss1", "EvLine1", "Access1", "SpLossD1"):
        assert three[event] == two[event], event
    # Each level is asked for what the one in front of it misses.
    for first, second, last in ("I1mr", "I2mr", "ILmr"), ("D1mr", "D2mr", "DLmr"), ("D1mw", "D2mw", "DLmw"):
        assert three[first] >= three[second] >= three[last] > 0
    assert three["SpLossL2"] + three["UsByteL2"] == 64 * three["EvLineL2"]
    assert "desc: L2 cache: 8192 B, 64 B, 4-way associative\n" in run.profile_path.read_text()
    assert re.search(r"^Caches: +I1 1 KiB 2-way, D1 1 KiB 2-way, L2 8 KiB 4-way, LL 64 KiB", run.log, re.MULTILINE)
    assert re.search(r"^L2d misses: +[\d,]+ ", run.log, re.MULTILINE)


def test_machines_have_names(tmp_path: Path) -> None:
    command = [str(VALGRIND), "--tool=bdgrind", "--machine=list", "echo", "not run"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    text = listed.stdout + listed.stderr
    assert "not run" not in text
    assert max(map(len, text.splitlines())) <= 80
    names = re.findall(r"^([a-z][\w-]*) {2,}\w", text, re.MULTILINE)
    assert len(names) >= 14 and {"zen4", "apple-m1", "native"} <= set(names)
    for name in names[:-1]:
        run = run_tool(tmp_path, [GUESTS / "attribution"], [f"--machine={name}"], name=name)
        head = run.profile_path.read_text()
        assert f"desc: Geometry: --machine={name}, " in head and not check_profile(run.profile_path)
        assert ("desc: L2 cache: " in head) == (name not in ("apple-m1", "cortex-a72"))
        assert "Not simulated" not in run.log and f"Simulated caches: --machine={name}, " in run.log


def test_a_cache_of_a_machine_can_be_another(tmp_path: Path) -> None:
    options = ["--machine=zen4", "--L2=no", "--LL=1048576,8,64"]
    run = run_tool(tmp_path, [GUESTS / "attribution"], options)
    caches = re.findall(r"^desc: (.. cache: .*)$", run.profile_path.read_text(), re.MULTILINE)
    assert caches == [
        "I1 cache: 32768 B, 64 B, 8-way associative", "D1 cache: 32768 B, 64 B, 8-way associative",
        "LL cache: 1048576 B, 64 B, 8-way associative",
    ]
