# SPDX-License-Identifier: GPL-2.0-or-later
"""One program, many caches: every total equals the oracle's, and Callgrind's where it can say."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import CALLGRIND_EVENTS, GUESTS, CallgrindHierarchy, oracle_totals, run_tool

GEOMETRIES = {
    "ordinary": "--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64",
    "tiny": "--I1=512,2,64 --D1=256,1,64 --LL=2048,4,64",
    "one line each": "--I1=64,1,64 --D1=64,1,64 --LL=64,1,64",
    "fully associative": "--I1=4096,64,64 --D1=4096,64,64 --LL=32768,512,64",
    "odd numbers of sets": "--I1=960,5,64 --D1=2688,3,64 --LL=67584,11,64",
    "more ways than sets": "--I1=2048,16,64 --D1=3072,24,64 --LL=16384,64,64",
    "lines of 16 bytes": "--I1=1024,2,16 --D1=1024,4,16 --LL=16384,8,16",
    "lines of 256 bytes": "--I1=4096,2,256 --D1=8192,4,256 --LL=131072,8,256",
    "L1 lines larger": "--I1=4096,2,128 --D1=2048,1,256 --LL=4096,1,64",
    "L1 lines smaller": "--I1=2048,2,32 --D1=1024,4,16 --LL=32768,8,128",
    "LL smaller than L1": "--I1=8192,4,64 --D1=16384,4,64 --LL=2048,2,64",
}
# Callgrind wants numbers of sets that are powers of two and equal line sizes. And where one of two
# straddled lines misses L1, it looks up both in LL, which may show where LL is small.
CALLGRIND_TOO = ("ordinary", "fully associative", "lines of 256 bytes")
SMALL_LL = ("fully associative",)


@pytest.mark.parametrize("name", GEOMETRIES)
def test_totals_equal_the_oracle(name: str, tmp_path: Path) -> None:
    caches = GEOMETRIES[name].split()
    run = run_tool(tmp_path, [GUESTS / "workload"], caches)
    assert run.profile.totals == oracle_totals(tmp_path, [GUESTS / "workload"], caches)


@pytest.mark.parametrize("name", CALLGRIND_TOO)
def test_totals_equal_callgrind(name: str, tmp_path: Path) -> None:
    caches = GEOMETRIES[name].split()
    run = run_tool(tmp_path, [GUESTS / "workload"], caches)
    options = ["--cache-sim=yes", *caches]
    peer = run_tool(tmp_path, [GUESTS / "workload"], options, tool="callgrind", name="callgrind")
    # Callgrind's totals are without the last block, its fetches' misses, too; its summary has all.
    expected = {event: peer.profile.summary.get(event, 0) for event in CALLGRIND_EVENTS}
    as_callgrind = oracle_totals(tmp_path, [GUESTS / "workload"], caches, CallgrindHierarchy)
    assert {event: as_callgrind[event] for event in CALLGRIND_EVENTS} == expected
    # What bdgrind has of LL there, the oracle has, too: the test above.
    alike = [event for event in CALLGRIND_EVENTS if name not in SMALL_LL or "L" not in event]
    assert {event: run.profile.totals[event] for event in alike} == {event: expected[event] for event in alike}


def test_caches_change_nothing_but_misses(tmp_path: Path) -> None:
    """The caches are an observer: what is executed and accessed does not depend on them."""
    small, large = (
        run_tool(tmp_path, [GUESTS / "workload"], GEOMETRIES[name].split()).profile
        for name in ("tiny", "ordinary")
    )
    for event in ("Ir", "Dr", "Dw"):
        assert small.totals[event] == large.totals[event]
    for event in ("I1mr", "D1mr", "D1mw", "DLmr", "DLmw", "EvLine1", "EvLine2"):
        assert small.totals[event] > large.totals[event], event
