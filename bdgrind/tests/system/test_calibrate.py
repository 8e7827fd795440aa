# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_calibrate: the form of a machine file, what it says of this machine's caches, and where it refuses. Figures depend
on the machine and on what else it does: of these, no more is asked than what holds of every cache."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from harness import BUILD, GUESTS, run_tool

PROGRAM = BUILD / "bdgrind" / "bd_calibrate"
ORDERS = {"in-order", "stride", "column", "write", "independent", "nearby", "chain"}
UNITS = {
    "instruction": "ns", "instruction-free": "ns", "instruction-chained": "ns", "misprediction": "ns",
    "page-walk": "ns", "translations": "pages", "window": "instructions", "read-bandwidth": "GB/s",
    "write-bandwidth": "GB/s", "transfer": "ns",
}
ONE_CORE = len({
    tuple((one / "topology" / name).read_text() for name in ("physical_package_id", "core_id"))
    for one in (Path(f"/sys/devices/system/cpu/cpu{number}") for number in os.sched_getaffinity(0))
}) == 1


def calibrate(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *options], capture_output=True, text=True, timeout=300, env=environment, check=False
    )


def test_the_machine_file_says_what_the_kernel_does_and_measures_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "here.machine"
    done = calibrate("--passes=1", f"--output={path}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = path.read_text().splitlines()
    assert lines[0] == "machine: 1"
    head = dict(line.split(": ", 1) for line in lines if re.match("(name|processor|model|measured): ", line))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d by bd_calibrate \d.*", head["measured"])
    if (known := re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)):
        assert head["processor"] == known[1].strip()
    caches = [line.split()[1:] for line in lines if line.startswith("cache: ")]
    assert caches
    folders = list(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))  # none in some virtual machines
    for level, size, *_ in caches if folders else ():
        sizes = {
            (one / "size").read_text().strip() for one in folders
            if (one / "level").read_text().strip() == level[1:] and (one / "type").read_text().strip() != "Instruction"
        }
        assert sizes == {f"{int(size) // 1024}K"}
    run = run_tool(tmp_path, [GUESTS / "workload"], ["--machine=native"])
    if not folders and "is known to have them" in run.log:
        described = r"^desc: (?:D1|L2|LL) cache: (\d+) B, (\d+) B, (\d+)-way"
        simulated = re.findall(described, run.profile_path.read_text(), re.MULTILINE)
        assert simulated == [tuple(row[1:]) for row in caches]
    figures = {line.split()[1]: line.split()[2:] for line in lines if line.startswith("figure: ")}
    expected = {name: unit for name, unit in UNITS.items() if name != "transfer" or not ONE_CORE}
    assert {name: row[0] for name, row in figures.items()} == expected
    # A line of another core is farther than one of this core's L1.
    assert ONE_CORE or float(figures["transfer"][2]) > 10 * float(figures["instruction-chained"][2])
    times = {
        (order, int(size)): [float(one) for one in row]
        for order, size, *row in (line.split()[1:] for line in lines if line.startswith("line: "))
    }
    assert {order for order, _ in times} == ORDERS
    for value, least, median in [*times.values(), *(map(float, row[1:]) for row in figures.values())]:
        assert 0 <= least <= value <= median
    # Memory is farther than L1 by more than any noise, and its lines are foreseen where they come in order.
    small, large = min(size for _, size in times), max(size for _, size in times)
    assert times["chain", large][0] > 5 * times["chain", small][0]
    assert times["in-order", large][0] < times["chain", large][0] / 5
    told = {line.partition(": ")[0] for line in lines if not line.startswith("#")}
    assert told <= {"machine", "name", "processor", "model", "measured", "cache", "figure", "line"}


def test_on_one_processor_no_line_is_taken_from_another() -> None:
    done = subprocess.run(
        ["taskset", "-c", str(min(os.sched_getaffinity(0))), PROGRAM, "--passes=1"], capture_output=True, text=True,
        timeout=300, check=True,
    )
    assert "figure: window" in done.stdout and "figure: transfer" not in done.stdout


# Of a virtual machine whose kernel describes no caches: /proc/cpuinfo, and what is known of such a processor.
@pytest.mark.parametrize("text, caches", [
    ("vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n",
     ["L1 49152 64 12", "L2 1048576 64 16", "L3 33554432 64 16"]),
    ("CPU implementer\t: 0x41\nCPU part\t: 0xd08\n", ["L1 32768 64 2", "L2 1048576 64 16"]),
    ("vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 1\n", []),
    ("CPU implementer\t: 0x41\nCPU part\t: 0xd03\n", []),
    ("", []),
])
def test_caches_that_the_kernel_does_not_describe_are_those_of_such_processors(
    tmp_path: Path, text: str, caches: list[str]
) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    source = tmp_path / "files.c"
    source.write_text(f"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
FILE* fopen64(const char* path, const char* mode) {{
    FILE* (*open)(const char*, const char*) = dlsym(RTLD_NEXT, "fopen64");
    if (strcmp(path, "/proc/cpuinfo") == 0) path = "{tmp_path}/cpuinfo";
    return strstr(path, "/cpu0/cache/") ? NULL : open(path, mode);
}}
""")
    library = tmp_path / "files.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = calibrate("--passes=1", LD_PRELOAD=str(library))
    if not caches:
        said = "bd_calibrate: neither the kernel nor the table of processors says which caches this machine has\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
        return
    assert done.returncode == 0, done.stderr
    told = re.findall("^cache: (.*)$", done.stdout, re.MULTILINE)
    assert told == caches
    assert "# the kernel describes no caches: those of A" in done.stdout


@pytest.mark.parametrize("body, sentence", [
    ("return -1;", "the clock cannot be read, so nothing can be timed"),
    ("time->tv_sec = 7; time->tv_nsec = 0; return 0;", "the clock stands still, so nothing can be timed"),
    ("static long now = 1000000; time->tv_sec = now--; time->tv_nsec = 0; return 0;",
     "the clock has run backwards, so nothing can be timed"),
    ("static long now; time->tv_sec = now++ / 5000; time->tv_nsec = 0; return 0;",
     "the clock is too coarse: it must resolve 10 microseconds"),
])
def test_a_clock_that_fails_is_refused(tmp_path: Path, body: str, sentence: str) -> None:
    source = tmp_path / "clock.c"
    source.write_text(
        f"#include <time.h>\nint clock_gettime(clockid_t id, struct timespec* time) {{ (void)id; {body} }}\n"
    )
    library = tmp_path / "clock.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = calibrate("--passes=1", LD_PRELOAD=str(library))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"bd_calibrate: {sentence}\n")


@pytest.mark.parametrize("options, sentence", [
    (["--passes=0"], "--passes must be a number from 1 to 100"),
    (["--passes=many"], "--passes must be a number from 1 to 100"),
    (["--output="], "--output= is not an option (see --help)"),
    (["-o"], "-o is not an option (see --help)"),
    (["here"], "here is not an option (see --help)"),
])
def test_what_is_not_understood_is_said(options: list[str], sentence: str) -> None:
    done = calibrate(*options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"bd_calibrate: {sentence}\n")


def test_a_file_that_cannot_be_written_is_said() -> None:
    done = calibrate("--passes=1", "--output=/no/such/folder/file")
    assert done.returncode == 2
    assert done.stderr == "bd_calibrate: /no/such/folder/file cannot be written: No such file or directory\n"
