# SPDX-License-Identifier: GPL-2.0-or-later
"""Three levels of caches, TLBs, and those of processors by name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from harness import BDCOMPARE, GUESTS, VALGRIND, check_profile, needs_bdcompare, run_tool

THREE_LEVELS = {
    "ordinary": "--I1=4096,4,64 --D1=4096,4,64 --L2=32768,8,64 --LL=262144,8,64",
    "tiny": "--I1=256,2,64 --D1=256,1,64 --L2=512,2,64 --LL=2048,4,64",
    "other lines": "--I1=1024,2,32 --D1=2048,2,128 --L2=4096,4,64 --LL=20480,5,256",
    "L2 smaller than L1": "--I1=4096,4,64 --D1=4096,4,64 --L2=1024,2,64 --LL=16384,8,64",
}
POLICIES = {
    "trees": "--LL-replacement=tree-plru --L2-replacement=bit-plru --L2-index=hash",
    "ages": "--LL-replacement=QLRU_H11_M1_R0_U0 --L2-replacement=QLRU_H00_M1_R2_U1 --LL-index=hash",
    "others": "--LL-replacement=random,3 --L2-replacement=fifo",
    "trees in front": "--D1-replacement=tree-plru --I1-replacement=random,2 --simulate-wb=yes",
    "three trees": "--D1=6144,12,64 --D1-replacement=lru3plru4 --I1-replacement=fifo --LL=49152,12,64"
    " --LL-replacement=lru3plru4",
    "pages at random": "--pages=random,7 --LL-index=hash",
    "contiguous pages": "--pages=contiguous",
    "prefetchers": "--prefetch=adjacent,next,stream,stride",
    "prefetchers into L2": "--L2-prefetch=adjacent,next,stride --prefetch=stream --simulate-wb=yes",
    "exclusive": "--LL-inclusion=exclusive --simulate-wb=yes --pages=random,1",
    "inclusive": "--LL-inclusion=inclusive --simulate-wb=yes --pages=random,1",
    "inclusive with prefetchers": "--LL-inclusion=inclusive --prefetch=adjacent,stream,stride --simulate-hwpref=yes",
    "inclusive with prefetchers into L2": "--LL-inclusion=inclusive --L2-prefetch=stream,stride --prefetch=adjacent",
    "exclusive with prefetchers": "--LL-inclusion=exclusive --prefetch=adjacent,stream,stride --simulate-hwpref=yes",
    "exclusive with prefetchers into L2": "--LL-inclusion=exclusive --L2-prefetch=stream,stride --prefetch=adjacent",
}
LOADS_OF_L2 = ("I2mr", "D2mr", "D2mw", "IPfUseL2", "IPfLossL2", "DPfUseL2", "DPfLossL2")
ALL = ["--simulate-wb=yes", "--simulate-hwpref=yes", "--branch-sim=yes", "--why=yes", "--objects=yes"]


@needs_bdcompare
@pytest.mark.parametrize("name", THREE_LEVELS)
@pytest.mark.parametrize("more", [[], ALL], ids=["plain", "all"])
def test_three_levels_equal_the_naive_engines(tmp_path: Path, name: str, more: list[str]) -> None:
    trace = tmp_path / "trace"
    options = [*THREE_LEVELS[name].split(), *more]
    run = run_tool(tmp_path, [GUESTS / "attribution"], [*options, f"--record-trace={trace}"])
    assert not check_profile(run.profile_path)
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr


@needs_bdcompare
@pytest.mark.parametrize("name", POLICIES)
def test_policies_equal_the_naive_engines(tmp_path: Path, name: str) -> None:
    trace = tmp_path / "trace"
    options = [*THREE_LEVELS["ordinary"].split(), *POLICIES[name].split(), "--why=yes"]
    run = run_tool(tmp_path, [GUESTS / "attribution"], [*options, f"--record-trace={trace}"])
    assert not check_profile(run.profile_path)
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_policies_are_named_where_caches_are(tmp_path: Path) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --L2=4096,4,64 --LL=65536,8,64".split()
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain")
    assert not [line for line in plain.profile_path.read_text().splitlines() if " policy: " in line]
    options = [*caches, "--L2-index=hash", "--LL-replacement=random"]
    run = run_tool(tmp_path, [GUESTS / "workload"], options, name="other")
    lines = run.profile_path.read_text().splitlines()
    assert "desc: L2 policy: lru, sets by a hash" in lines
    assert "desc: LL policy: random,0" in lines
    assert "L2 4 KiB 4-way hashed, LL 64 KiB 8-way random,0; lines of 64 B" in run.log
    assert run.profile.totals["D1mr"] == plain.profile.totals["D1mr"]
    assert run.profile.totals["DLmr"] != plain.profile.totals["DLmr"]


def test_where_pages_lie_matters_behind_the_first_level(tmp_path: Path) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --LL=131072,2,64".split()
    runs = {
        pages: run_tool(tmp_path, [GUESTS / "workload"], [*caches, f"--pages={pages}"], name=pages)
        for pages in ("virtual", "contiguous", "random,1", "random,2")
    }
    placements = {
        pages: [line for line in run.profile_path.read_text().splitlines() if line.startswith("desc: Placement:")]
        for pages, run in runs.items()
    }
    assert placements == {
        "virtual": [],
        "contiguous": ["desc: Placement: contiguous pages"],
        "random,1": ["desc: Placement: pages at random, seed 1"],
        "random,2": ["desc: Placement: pages at random, seed 2"],
    }
    assert len({run.profile.totals["D1mr"] for run in runs.values()}) == 1
    assert len({run.profile.totals["DLmr"] for run in runs.values()}) == 4


@pytest.mark.parametrize("prefetcher", ["adjacent", "next", "stream", "stride"])
def test_what_prefetches_cover_are_no_misses(tmp_path: Path, prefetcher: str) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --LL=131072,8,64".split()
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain").profile.totals
    assert "DPfUse" not in plain
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, f"--prefetch={prefetcher}"], name="prefetched")
    assert not check_profile(run.profile_path)
    totals = run.profile.totals
    assert totals["DPfUse"] > 0
    assert totals["DLmr"] + totals["DLmw"] < plain["DLmr"] + plain["DLmw"]
    for event in ("Ir", "I1mr", "D1mr", "D1mw", "SpLoss1"):
        assert totals[event] == plain[event]
    # What leaves LL was loaded by a miss or by a prefetch. (An access that misses two lines is one miss.)
    misses = totals["ILmr"] + totals["DLmr"] + totals["DLmw"]
    prefetched = sum(totals[event] for event in ("IPfUse", "IPfLoss", "DPfUse", "DPfLoss"))
    assert 0 <= totals["EvLine2"] - misses - prefetched < misses / 50
    without = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--prefetch=stream", "--cacheuse=no"], name="no-use")
    assert "DPfUse" not in without.profile.totals


@pytest.mark.parametrize("prefetcher", ["adjacent", "next", "stream", "stride"])
def test_prefetches_into_l2_cover_misses_of_both_levels(tmp_path: Path, prefetcher: str) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --L2=8192,8,64 --LL=131072,8,64".split()
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain").profile.totals
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, f"--L2-prefetch={prefetcher}"], name="prefetched")
    assert not check_profile(run.profile_path)
    totals = run.profile.totals
    assert "DPfUse" not in totals
    assert totals["DPfUseL2"] > 0
    for event in ("D2mr", "DLmr"):
        assert totals[event] < plain[event]
    for event in ("Ir", "I1mr", "D1mr", "D1mw", "SpLoss1"):
        assert totals[event] == plain[event]
    # What leaves L2 was loaded by a miss or by a prefetch, or as the second line that an access misses.
    second_lines = [
        all_of["EvLineL2"] - sum(all_of.get(event, 0) for event in LOADS_OF_L2) for all_of in (plain, totals)
    ]
    assert 0 <= second_lines[1] <= 1.1 * second_lines[0]
    without = run_tool(tmp_path, [GUESTS / "workload"], ["--L2=no", "--L2-prefetch=stream"], name="without")
    assert "--L2-prefetch does nothing without an L2" in without.log
    assert "DPfUseL2" not in without.profile.totals


def test_a_tree_needs_a_power_of_two(tmp_path: Path) -> None:
    for level in ("I1", "D1", "L2", "LL"):
        run = subprocess.run(
            [
                VALGRIND, "--tool=bdgrind", f"--{level}=98304,12,64", f"--{level}-replacement=tree-plru", "echo",
                "it ran",
            ],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )
        assert run.returncode == 1
        wanted = f"--{level}-replacement=tree-plru needs a power of two of ways in {level}, lru3plru4 needs 12."
        assert wanted in run.stderr
        assert "it ran" not in run.stdout
    assert not list(tmp_path.iterdir())


def test_an_exclusive_last_level_holds_more(tmp_path: Path) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --L2=16384,4,64 --LL=32768,4,64".split()
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain")
    assert "LL inclusion" not in plain.profile_path.read_text() and "exclusive LL" not in plain.log
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--LL-inclusion=exclusive"], name="exclusive")
    assert not check_profile(run.profile_path)
    totals = run.profile.totals
    assert "desc: LL inclusion: exclusive\n" in run.profile_path.read_text()
    assert "LL 32 KiB 4-way; lines of 64 B, exclusive LL" in run.log
    # What is in front of LL does not notice.
    for event in ("Ir", "I1mr", "D1mr", "D1mw", "SpLoss1", "I2mr", "D2mr", "D2mw", "EvLineL2", "SpLossL2"):
        assert totals[event] == plain.profile.totals[event], event
    # Each line comes from memory once for each miss. (An access that misses two lines is one miss.)
    misses = totals["ILmr"] + totals["DLmr"] + totals["DLmw"]
    assert misses < sum(plain.profile.totals[event] for event in ("ILmr", "DLmr", "DLmw"))
    assert 0 <= totals["EvLine2"] - misses < misses / 50
    assert totals["SpLoss2"] + totals["UsByte2"] == 64 * totals["EvLine2"]


def test_an_inclusive_last_level_takes_lines_from_the_others(tmp_path: Path) -> None:
    caches = "--I1=1024,2,64 --D1=1024,2,64 --L2=4096,4,64 --LL=8192,4,64".split()
    plain = run_tool(tmp_path, [GUESTS / "workload"], caches, name="plain").profile.totals
    run = run_tool(tmp_path, [GUESTS / "workload"], [*caches, "--LL-inclusion=inclusive"], name="inclusive")
    assert not check_profile(run.profile_path)
    assert "desc: LL inclusion: inclusive\n" in run.profile_path.read_text()
    assert "LL 8 KiB 4-way; lines of 64 B, inclusive LL" in run.log
    totals = run.profile.totals
    for event in ("Ir", "Dr", "Dw"):
        assert totals[event] == plain[event], event
    for events in (("I1mr",), ("D1mr", "D1mw"), ("I2mr",), ("D2mr", "D2mw")):
        assert sum(totals[event] for event in events) > sum(plain[event] for event in events), events


def test_an_inclusive_last_level_needs_long_lines_and_one_placement(tmp_path: Path) -> None:
    for options, error in (
        (["--D1=2048,2,128", "--LL=65536,8,64"], "needs an LL whose lines are at least as long as those of the others"),
        (["--placements=4"], "--placements cannot be combined with an inclusive LL: give --LL-inclusion=none, too."),
    ):
        command = [str(VALGRIND), "--tool=bdgrind", *options, "--LL-inclusion=inclusive", "echo", "it ran"]
        refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert refused.returncode == 1 and "it ran" not in refused.stdout
        assert error in refused.stderr
    assert not list(tmp_path.iterdir())


def test_an_exclusive_last_level_needs_an_l2(tmp_path: Path) -> None:
    for caches in (["--LL=65536,8,64"], ["--L2=16384,4,32", "--LL=65536,8,64"], ["--machine=zen4", "--L2=no"]):
        command = [str(VALGRIND), "--tool=bdgrind", *caches, "--LL-inclusion=exclusive", "echo", "it ran"]
        refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert refused.returncode == 1 and "it ran" not in refused.stdout
        assert "--LL-inclusion=exclusive needs an L2 (--L2=) whose lines are as long as those of LL." in refused.stderr
    assert not list(tmp_path.iterdir())
    # A machine's own rule is not asked for.
    run = run_tool(tmp_path, [GUESTS / "attribution"], ["--machine=zen4", "--L2=no"])
    assert "LL inclusion" not in run.profile_path.read_text()


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


TLBS = ["--tlb=2,1,8,2", "--tlb=64,4,1536,12", "--tlb=zen4"]


@needs_bdcompare
@pytest.mark.parametrize("tlbs", TLBS)
@pytest.mark.parametrize("more", [[], ALL], ids=["plain", "all"])
def test_page_misses_equal_the_naive_engines(tmp_path: Path, tlbs: str, more: list[str]) -> None:
    trace = tmp_path / "trace"
    options = [*THREE_LEVELS["ordinary"].split(), tlbs, *more]
    run = run_tool(tmp_path, [GUESTS / "attribution"], [*options, f"--record-trace={trace}"])
    assert not check_profile(run.profile_path)
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_tlbs_change_nothing_else(tmp_path: Path) -> None:
    plain = run_tool(tmp_path, [GUESTS / "workload"], name="plain").profile.totals
    run = run_tool(tmp_path, [GUESTS / "workload"], ["--tlb=16,16,64,4"], name="tlbs")
    totals = run.profile.totals
    assert {event: totals[event] for event in plain} == plain
    assert set(totals) - set(plain) == {
        f"{what}{size}{level}m{kind}"
        for size in "TH" for level in (1, 2) for what, kind in (("I", "r"), ("D", "r"), ("D", "w"))
    }
    for kind in "Ir", "Dr", "Dw":
        first, second = (totals[f"{kind[0]}T{level}m{'r' if kind == 'Ir' else kind[1]}"] for level in (1, 2))
        assert totals[kind] > first >= second > 0, kind
    assert totals["DT2mr"] > totals["DH2mr"]
    head = run.profile_path.read_text()
    assert "desc: TLBs: pages of 4 KiB; I1 16 entries 16-way, D1 16 entries 16-way, L2 64 entries 4-way\n" in head
    assert "desc: Huge TLBs: pages of 2 MiB; I1 16 entries" in head
    assert "desc: TLB geometry: as on the command line\n" in head
    assert re.search(r"^Page walks: +[\d,]+ ", run.log, re.MULTILINE)
    assert "Simulated TLBs: as on the command line" in run.log


def this_processor() -> str | None:
    """The preset of this machine, if the kernel describes one of a few processors. None: another one."""
    text = Path("/proc/cpuinfo").read_text()
    fields = [re.search(rf"^{name}\s*: (\S+)$", text, re.MULTILINE) for name in ("vendor_id", "cpu family", "model")]
    known = {
        "AuthenticAMD 23 49": "zen2", "AuthenticAMD 25 1": "zen3", "AuthenticAMD 25 17": "zen4",
        "AuthenticAMD 26 2": "zen5", "GenuineIntel 6 85": "skylake-sp", "GenuineIntel 6 106": "icelake-sp",
        "GenuineIntel 6 143": "sapphire-rapids", "GenuineIntel 6 158": "skylake-client",
    }
    return known.get(" ".join(field[1] for field in fields if field is not None))


def test_this_machine_has_what_its_processor_is_known_for(tmp_path: Path) -> None:
    run = run_tool(tmp_path, [GUESTS / "attribution"], ["--machine=native", "--tlb=yes", "--cores=2"])
    head = run.profile_path.read_text()
    taken = "D1 replacement, LL inclusion, coherence, TLBs"
    named = re.search(rf"Of its kind of processor \(([\w-]+)\): {taken}\n", run.log)
    if this_processor() is not None:
        assert named is not None and named[1] == this_processor()
    if named is None:
        assert "desc: LL inclusion" not in head and "MOESI" not in head
        assert ("those of skylake-sp, Intel Skylake-SP, Xeon Gold 6148, as this machine's are not known\n") in head
        return
    assert re.search(rf"^desc: TLB geometry: those of {named[1]}, ", head, re.MULTILINE)
    assert ("MOESI" in head) == named[1].startswith("zen")
    caches = dict(re.findall(r"^desc: (L.) cache: .* B, (\d+) B,", head, re.MULTILINE))
    exclusive = named[1].startswith("zen") or named[1] in ("skylake-sp", "icelake-sp", "sapphire-rapids")
    d1 = {"skylake-client": "32768", "skylake-sp": "32768", "icelake-sp": "49152"}.get(named[1])
    assert ("desc: D1 policy: " in head) == (re.search(rf"^desc: D1 cache: {d1} B, ", head, re.MULTILINE) is not None)
    assert ("desc: LL inclusion: exclusive" in head) == (exclusive and caches.get("L2") == caches["LL"])
    assert ("desc: LL inclusion: inclusive" in head) == (named[1] in ("skylake-client", "cortex-a72"))


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ("--machine=skylake-sp", "tree-plru"),
        ("--machine=icelake-sp", "lru3plru4"),
        ("--machine=icelake-sp --D1=32768,8,64", None),
        ("--machine=icelake-sp --D1-replacement=lru", None),
        ("--machine=icelake-sp --D1-replacement=random", "random,0"),
        ("--machine=zen4", None),
    ],
)
def test_a_machine_has_the_d1_that_was_measured(tmp_path: Path, options: str, policy: str | None) -> None:
    run = run_tool(tmp_path, [GUESTS / "attribution"], options.split())
    found = re.findall(r"^desc: (.. policy: .*)$", run.profile_path.read_text(), re.MULTILINE)
    assert found == ([] if policy is None else [f"D1 policy: {policy}"])


def test_tlbs_are_those_of_the_processor_that_is_named(tmp_path: Path) -> None:
    for options, source in (
        (["--machine=zen4", "--tlb=yes"], "those of zen4, AMD Zen 4"),
        (["--machine=zen4", "--tlb=neoverse-n1"], "those of neoverse-n1, Arm Neoverse N1, Graviton2"),
        (["--tlb=yes"], "those of skylake-sp, Intel Skylake-SP, Xeon Gold 6148, as this machine's are not known"),
    ):
        run = run_tool(tmp_path, [GUESTS / "attribution"], options, name="named")
        assert f"Simulated TLBs: {source}\n" in run.log
        assert f"desc: TLB geometry: {source}\n" in run.profile_path.read_text()
    assert "IT1mr" not in run_tool(tmp_path, [GUESTS / "attribution"], ["--tlb=no"]).profile.totals
