#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of the C programs here, natively and with more data, before and after the repair: least and median of the
user time of interleaved runs. Prints the rows of the table in docs/why.md, and which machine it was and how busy: with
a load of 3 and more, the least is worth more than the median."""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 11
# Sizes that a processor of today has to work on for some tenths of a second.
PROGRAMS = {
    "product": ["-DSIZE=900"],
    "transpose": ["-DSIZE=4104"],
    "passes": ["-DSIZE=8000000"],
    "fat": ["-DSIZE=400000"],
    "padding": ["-DSIZE=1000000"],
    "columns": ["-DSTEPS=60000"],
    "table": ["-DSIZE=(1<<26)", "-DLOOKUPS=4000000"],
    "list": ["-DSIZE=1000000"],
    "pages": ["-DSTEPS=8000"],
    "records": ["-DSIZE=(1<<20)", "-DLOOKUPS=4000000"],
    "histogram": ["-DBINS=20480", "-DVALUES=40000000"],
}


def seconds(program: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def machine() -> str:
    """The processor's name, and the load."""
    name = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    known = name[1] if name else "unknown processor"
    return f"{known}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


def main() -> None:
    here = Path(__file__).parent
    print(f"{machine()}; {RUNS} runs each; least (median)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or PROGRAMS:
            built = []
            for mark, options in (("before", []), ("after", ["-DREPAIRED"])):
                built.append(Path(folder, f"{name}-{mark}"))
                subprocess.run(
                    ["gcc", "-O2", *PROGRAMS[name], *options, "-o", built[-1], here / f"{name}.c"], check=True
                )
            times = list(zip(*([seconds(program) for program in built] for _ in range(RUNS))))
            least, median = [[of(one) for one in times] for of in (min, statistics.median)]
            texts = [f"{one:.2f} s ({other:.2f})" for one, other in zip(least, median)]
            print(f"| {name} | {' | '.join(texts)} | {least[0] / least[1]:.1f} |", flush=True)
    print(machine())


if __name__ == "__main__":
    main()
