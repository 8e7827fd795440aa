#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of the C programs here, natively and with more data, before and after the repair: medians of the
processor time of interleaved runs. Prints the rows of the table in docs/why.md."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 7
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
}


def seconds(program: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or PROGRAMS:
            built = []
            for mark, options in (("before", []), ("after", ["-DREPAIRED"])):
                built.append(Path(folder, f"{name}-{mark}"))
                subprocess.run(
                    ["gcc", "-O2", *PROGRAMS[name], *options, "-o", built[-1], here / f"{name}.c"], check=True
                )
            times = list(zip(*([seconds(program) for program in built] for _ in range(RUNS))))
            before, after = map(statistics.median, times)
            print(f"| {name} | {before:.2f} s | {after:.2f} s | {before / after:.1f} |", flush=True)


if __name__ == "__main__":
    main()
