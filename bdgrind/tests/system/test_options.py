# SPDX-License-Identifier: GPL-2.0-or-later
"""Each option does what it says: every test fails if its option does nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, SOURCE, Run, check_profile, run_tool

ALWAYS = ["Ir", "Dr", "Dw"]
MISSES = ["I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw"]
USE = [f"{event}{kind}" for kind in ("1", "D1", "2", "DL") for event in "AcCost SpLoss EvLine UsByte Access".split()]


def run_workload(folder: Path, *options: str) -> Run:
    run = run_tool(folder, [GUESTS / "workload"], [*SMALL_CACHES, *options], name="".join(options))
    assert run.status == 0
    assert check_profile(run.profile_path) == ""
    return run


def cost_lines(run: Run) -> list[str]:
    return re.findall(r"^(?:[+*-]|\d|0x).*$", run.profile_path.read_text(), re.MULTILINE)


def test_default_events(tmp_path: Path) -> None:
    profile = run_workload(tmp_path).profile
    assert profile.events == ALWAYS + MISSES + USE
    named = {line.partition(" : ")[0] for line in profile.header["event"]}
    code = {"SpLossI1 = SpLoss1 - SpLossD1", "SpLossIL = SpLoss2 - SpLossDL"}
    assert named == set(USE) | code, "viewers know the others, and only those"


def test_cacheuse_no(tmp_path: Path) -> None:
    with_use = run_workload(tmp_path).profile
    run = run_workload(tmp_path, "--cacheuse=no")
    assert run.profile.events == ALWAYS + MISSES
    for event in run.profile.events:
        assert run.profile.totals[event] == with_use.totals[event]
    assert "never used" not in run.log


def test_cache_sim_no(tmp_path: Path) -> None:
    with_caches = run_workload(tmp_path).profile
    run = run_workload(tmp_path, "--cache-sim=no")
    assert "D1mr" not in run.profile.events and "SpLoss1" not in run.profile.events
    assert run.profile.totals["Ir"] == with_caches.totals["Ir"]
    assert "miss" not in run.log
    assert run.profile.calls_to("compare") == with_caches.calls_to("compare") > 0


def test_branch_sim(tmp_path: Path) -> None:
    without = run_workload(tmp_path)
    branches = ["Bc", "Bcm", "Bi", "Bim"]
    run = run_workload(tmp_path, "--branch-sim=yes")
    assert run.profile.events == without.profile.events + branches
    assert all(run.profile.totals[event] > 0 for event in branches)
    assert all(run.profile.totals[event] == total for event, total in without.profile.totals.items())
    assert "Mispredicts:" in run.log and "Mispredicts:" not in without.log
    alone = run_workload(tmp_path, "--branch-sim=yes", "--cache-sim=no")
    assert alone.profile.events == ALWAYS + branches
    assert {event: alone.profile.totals[event] for event in branches} == {
        event: run.profile.totals[event] for event in branches
    }


def test_compat_events(tmp_path: Path) -> None:
    """Callgrind's events, all of them and no others, and their numbers."""
    options = ("--simulate-wb=yes", "--branch-sim=yes", "--collect-bus=yes", "--collect-systime=no")
    everything = run_workload(tmp_path, *options).profile
    run = run_workload(tmp_path, "--compat-events=yes", *options)
    callgrinds = set()
    for option in (*options, "--cacheuse=yes", "--collect-systime=nsec"):
        command = [GUESTS / "recursion"]
        peer = run_tool(tmp_path, command, ["--cache-sim=yes", option], tool="callgrind")
        callgrinds |= set(peer.profile.events)
    own = [event for event in everything.events if event not in callgrinds]
    assert own == [event for event in USE if event not in {"AcCost1", "SpLoss1", "AcCost2", "SpLoss2"}]
    assert run.profile.events == [event for event in everything.events if event in callgrinds]
    for event in run.profile.events:
        assert run.profile.totals[event] == everything.totals[event]


def test_simulate_wb(tmp_path: Path) -> None:
    without = run_workload(tmp_path)
    run = run_workload(tmp_path, "--simulate-wb=yes")
    assert run.profile.events == without.profile.events + ["ILdmr", "DLdmr", "DLdmw"]
    assert without.profile.totals.items() <= run.profile.totals.items()
    without_caches = run_workload(tmp_path, "--simulate-wb=yes", "--cache-sim=no")
    assert "do nothing without --cache-sim=yes" in without_caches.log
    assert "do nothing" not in run.log
    for dirty, miss in (("ILdmr", "ILmr"), ("DLdmr", "DLmr"), ("DLdmw", "DLmw")):
        assert 0 < run.profile.totals[dirty] <= run.profile.totals[miss]


def test_simulate_hwpref(tmp_path: Path) -> None:
    without = run_workload(tmp_path).profile
    profile = run_workload(tmp_path, "--simulate-hwpref=yes").profile
    assert profile.events == without.events
    assert profile.totals["D1mr"] == without.totals["D1mr"]
    assert profile.totals["DLmr"] < without.totals["DLmr"]
    assert profile.totals["EvLine2"] > without.totals["EvLine2"], "not all was of use"


def test_everything_together(tmp_path: Path) -> None:
    """Where Callgrind would switch cache use off."""
    options = ["--branch-sim", "--collect-jumps", "--simulate-wb", "--simulate-hwpref"]
    run = run_workload(tmp_path, *[option + "=yes" for option in options])
    assert {"SpLoss2", "DLdmw", "Bcm"} <= set(run.profile.events)


@pytest.mark.parametrize(
    "option", ["branch-sim", "collect-jumps", "simulate-wb", "simulate-hwpref"]
)
def test_neither_yes_nor_no(tmp_path: Path, option: str) -> None:
    run = run_tool(tmp_path, [GUESTS / "workload"], [f"--{option}=maybe"])
    assert run.status == 1
    message = f"'maybe' is not a value for --{option}=no|yes: it must be yes or no."
    assert message in " ".join((run.log + run.stderr).replace("==", " ").split())


def test_collect_jumps(tmp_path: Path) -> None:
    source = (SOURCE / "bdgrind" / "tests" / "guest" / "branches.S").read_text().splitlines()

    def jumps(*options: str) -> set[tuple[str, str, str]]:
        """How each jump is counted, and the texts of the lines from where and to where it goes."""
        all_options = [*SMALL_CACHES, "--compress-pos=no", *options]
        run = run_tool(tmp_path, [GUESTS / "branches"], all_options, name="".join(options))
        assert check_profile(run.profile_path) == ""
        found = re.findall(r"^(j[a-z]*=\S+) (.*)\n(.*)$", run.profile_path.read_text(), re.MULTILINE)
        lines = [(count, int(at.split()[-1]), int(to.split()[-1])) for count, to, at in found]
        return {(count, source[at - 1].strip(), source[to - 1].strip()) for count, at, to in lines}

    expected = {
        ("jcnd=99/100", "jnz .Lhundred", "dec %ecx"),
        ("jcnd=19/20", "jb .Ltwenty", "inc %ecx"),
        ("jcnd=4/5", "jb .Lnext", "mov table(,%rbx,8), %rax"),
        ("jump=1", "jmp *end_of_main", "ret"),
    }
    assert jumps() == set()
    assert jumps("--collect-jumps=yes") == expected
    assert jumps("--collect-jumps=yes", "--dump-instr=yes", "--cache-sim=no") == expected


def test_jumps_to_unknown_lines_are_left_out(tmp_path: Path) -> None:
    options = ("--collect-jumps=yes", "--compress-pos=no")
    by_line = run_workload(tmp_path, *options).profile_path.read_text()
    by_address = run_workload(tmp_path, "--dump-instr=yes", *options).profile_path.read_text()
    assert re.search(r"^jcnd=\S+ 0x\S+ 0$", by_address, re.MULTILINE), "libc has no lines here"
    assert re.search(r"^jcnd=\S+ [1-9]", by_line, re.MULTILINE)
    assert not re.search(r"^j[a-z]*=\S+ 0$", by_line, re.MULTILINE)


def test_cache_geometry_is_described(tmp_path: Path) -> None:
    descriptions = run_workload(tmp_path).profile.header["desc"]
    assert "I1 cache: 4096 B, 64 B, 4-way associative" in descriptions
    assert "D1 cache: 4096 B, 64 B, 4-way associative" in descriptions
    assert "LL cache: 262144 B, 64 B, 8-way associative" in descriptions


def test_default_geometry_is_the_machines(tmp_path: Path) -> None:
    run = run_tool(tmp_path, [GUESTS / "recursion"])
    (line,) = [text for text in run.profile.header["desc"] if text.startswith("D1 cache: ")]
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind = ((index / name).read_text().strip() for name in ("level", "type"))
        if (level, kind) == ("1", "Data"):
            size = int((index / "size").read_text().strip().removesuffix("K")) * 1024
            assert line.startswith(f"D1 cache: {size} B, ")
            assert "kernel" in run.log


def test_dump_line_no(tmp_path: Path) -> None:
    lines = run_workload(tmp_path)
    functions = run_workload(tmp_path, "--dump-line=no")
    assert functions.profile.totals == lines.profile.totals
    assert len(cost_lines(functions)) < len(cost_lines(lines))
    assert functions.profile.header["positions"] == ["line"]
    assert all(line.startswith("* ") for line in cost_lines(functions))


def test_dump_instr_yes(tmp_path: Path) -> None:
    lines = run_workload(tmp_path)
    instructions = run_workload(tmp_path, "--dump-instr=yes")
    assert instructions.profile.header["positions"] == ["instr line"]
    assert lines.profile.header["positions"] == ["line"]
    assert instructions.profile.totals == lines.profile.totals
    assert instructions.profile.self_costs == lines.profile.self_costs
    assert len(cost_lines(instructions)) > len(cost_lines(lines))


def test_compress_strings_no(tmp_path: Path) -> None:
    compressed = run_workload(tmp_path)
    plain = run_workload(tmp_path, "--compress-strings=no")
    assert not re.search(r"^c?(fn|fi|fe|fl|ob)=\(\d", plain.profile_path.read_text(), re.MULTILINE)
    assert plain.profile.self_costs == compressed.profile.self_costs
    assert plain.profile.arcs == compressed.profile.arcs


def test_compress_pos_no(tmp_path: Path) -> None:
    compressed = run_workload(tmp_path)
    plain = run_workload(tmp_path, "--compress-pos=no")
    assert all(line[0].isdigit() for line in cost_lines(plain))
    assert not all(line[0].isdigit() for line in cost_lines(compressed))
    assert plain.profile.self_costs == compressed.profile.self_costs


def test_stats(tmp_path: Path) -> None:
    run = run_workload(tmp_path, "--stats=yes")
    for what in ("nodes, at most", "nodes made", "Call arcs"):
        assert re.search(rf"{what}: +[\d,.]*[1-9]", run.log), what
    assert "nodes made" not in run_workload(tmp_path).log


def test_the_log_names_the_level_of_the_machine_that_is_not_simulated(tmp_path: Path) -> None:
    """As the kernel has it here, where there is one."""
    folders = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")
    known = {
        int((folder / "level").read_text()): folder for folder in folders
        if (folder / "type").read_text().strip() == "Unified" and (folder / "ways_of_associativity").exists()
    }
    run = run_tool(tmp_path, [GUESTS / "workload"])
    if not {2, 3} <= known.keys() or "as the kernel describes it" not in run.log:
        pytest.skip("the kernel knows of no L2 in front of another level here")
    assert re.search(r"Not simulated: its L2 of \d+ [MK]iB \(--machine=native simulates it\)$", run.log, re.MULTILINE)
    size = int((known[2] / "size").read_text().strip().removesuffix("K")) * 1024
    ways = int((known[2] / "ways_of_associativity").read_text())
    assert f"its L2 of {size} B, 64 B, {ways}-way is not simulated" in run.profile_path.read_text()
    for name, option in ("other", f"--LL={size},{ways},64"), ("native", "--machine=native"):
        given = run_tool(tmp_path, [GUESTS / "workload"], [option], name=name)
        assert "Not simulated" not in given.log and "is not simulated" not in given.profile_path.read_text()
    assert f"desc: L2 cache: {size} B, 64 B, {ways}-way associative\n" in given.profile_path.read_text()


def test_the_log_is_short(tmp_path: Path) -> None:
    """And every number in it says what it is."""
    log = run_workload(tmp_path, "--branch-sim=yes").log
    lines = [line for line in log.splitlines() if not line.startswith("Parent PID")]
    numbers = [line for line in lines if re.search(r": +[\d,]+(?:  \(|$)", line)]
    assert len(numbers) == 9 and "Collected" not in log and "Events  " not in log
    assert len(log.splitlines()) <= 22


def test_the_log_prints_the_totals(tmp_path: Path) -> None:
    run = run_workload(tmp_path, "--stats=yes")
    totals = run.profile.totals

    def printed(label: str) -> int:
        found = re.search(rf"^{label}: +([\d,]+)", run.log, re.MULTILINE)
        assert found, f"{label}: is not in the log:\n{run.log}"
        return int(found[1].replace(",", ""))

    assert printed("I   refs") == totals["Ir"]
    assert printed("D   refs") == totals["Dr"] + totals["Dw"]
    assert printed("D1  misses") == totals["D1mr"] + totals["D1mw"]
    assert printed("LL misses") == totals["ILmr"] + totals["DLmr"] + totals["DLmw"]
    for label, level in (("L1", "1"), ("LL", "2")):
        loaded = totals[f"UsByte{level}"] + totals[f"SpLoss{level}"]
        assert printed(f"{label} bytes loaded") == loaded == 64 * totals[f"EvLine{level}"]
        assert printed(f"{label} bytes never used") == totals[f"SpLoss{level}"]
        assert printed(f"{label} lines evicted") == totals[f"EvLine{level}"]
