# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the programs of the gallery, profiles them, and stores the first screen of each, with what
callgrind_annotate and cg_annotate say of it beside:

  gallery.py VALGRIND FOLDER [NAME...]

VALGRIND runs bdgrind, as vg-in-place of a build folder does; FOLDER takes programs and screens. Without
names, README.md is made anew of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BD_ANNOTATE = HERE.parent.parent / "annotate" / "bd_annotate"
# The same on every machine.
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
_BESIDE_LINES = 14
_BESIDE_WIDTH = 120
_SECONDS = 900


@dataclass(frozen=True)
class Program:
    """How a program is built and run, in a folder that has a copy of its source."""

    source: str
    build: tuple[str, ...]  # nothing for a program that is there
    run: tuple[str, ...]
    finds: tuple[str, ...]  # regular expressions for lines of the first screen
    launcher: tuple[str, ...] = ()
    stdin: str = ""
    header: str = ""  # that its C compiler must find
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """What must be installed."""
        return (*self.build[:1], *self.launcher[:1], *(() if self.build else self.run[:1]))

    def guilty(self) -> str:
        """The first line that its source calls so, as file:line."""
        for number, line in enumerate((HERE / self.source).read_text().split("\n"), 1):
            if "guilty:" in line:
                return f"{self.source}:{number}"
        return ""


def cc1plus() -> str:
    if not shutil.which("g++"):
        return "cc1plus"
    command = ["g++", "-print-prog-name=cc1plus"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# Otherwise Open MPI starts nothing for root, nor more ranks than there are processors (to 4.x, from 5.0 on). Other
# implementations do not look at these.
_OPEN_MPI = (
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
)
PROGRAMS = {
    "objects": Program(
        "objects.cpp", ("g++", "-std=c++17", "-O2", "-g", "objects.cpp", "-o", "objects"),
        ("./objects",), (r" 4\d\.\d% .* {guilty} +main", r"1\. main \(objects\.cpp:\d+\)"),
    ),
    "loops": Program(
        "loops.f90", ("gfortran", "-O1", "-g", "loops.f90", "-o", "loops"), ("./loops",),
        (r" 99\.\d% .* {guilty} +sums::along_rows", r"1\. sums::along_rows \({guilty}\)"),
    ),
    "parallel": Program(
        "parallel.c", ("gcc", "-O2", "-g", "-fopenmp", "parallel.c", "-o", "parallel"),
        ("./parallel",), (r" 9\d\.\d% .* {guilty} +total", r"1\. total\S* \({guilty}\)"),
        environment=(("OMP_NUM_THREADS", "2"),),
    ),
    "ranks": Program(
        "ranks.c", ("mpicc", "-O2", "-g", "ranks.c", "-o", "ranks"), ("./ranks",),
        (r" [4-7]\d\.\d% .* {guilty} +main",),
        launcher=("mpirun", "-np", "2"), environment=_OPEN_MPI, header="mpi.h",
    ),
    "table": Program(
        "table.rs", ("rustc", "-C", "opt-level=2", "-g", "table.rs", "-o", "table"), ("./table",),
        (r" 9\d\.\d% .* {guilty} +", r"1\. \S*search::count_equal \({guilty}\)"),
    ),
    "sqlite3": Program(
        "query.sql", (), ("sqlite3", ":memory:"),
        (r"Unknown +\d+% of the loss .*sqlite3", r"sqlite3VdbeExec", r"\(no lines\) .*(sqlite3|\+0x)"),
        stdin="query.sql",
    ),
    "python3": Program(
        "words.py", (), ("/usr/bin/python3", "-B", "-S", "words.py"),
        (r"\(no lines\) +\S*(Py|\+0x)", r"^1\. \S*(Py|\+0x)"), environment=(("PYTHONHASHSEED", "0"),),
    ),
    "cc1plus": Program(
        "compiled.cpp", (), (cc1plus(), "-quiet", "-O2", "compiled.cpp", "-o", "compiled.s"),
        (r"Unknown +\d+% of the loss .*\(cc1plus\)", r"main  \[cc1plus\]", r"\(no lines\) +\w+",
         r"^1\. .+: at most \d+% of the cycles"),
    ),
}


def missing(program: Program) -> str:
    """The first of what it needs that is not there."""
    if need := next((need for need in program.needs if not shutil.which(need)), ""):
        return need
    if not program.header:
        return ""
    # A package for running programs may bring the compiler without its headers, as Debian's openmpi-bin does.
    compiled = subprocess.run(
        [program.build[0], "-fsyntax-only", "-x", "c", "-"], input=f"#include <{program.header}>\n", text=True,
        capture_output=True, check=False,
    )
    return program.header if compiled.returncode != 0 else ""


def build(program: Program, folder: Path) -> None:
    shutil.copyfile(HERE / program.source, folder / program.source)
    if program.build:
        subprocess.run(program.build, cwd=folder, check=True, capture_output=True)


def profile(
    program: Program, folder: Path, valgrind: Path, name: str, tool: str = "bdgrind"
) -> str:
    """The name of the profile; of several processes, that of the first."""
    out = f"{tool}.out.{name}"
    form = f"{out}.%p" if program.launcher else out
    command = [
        *program.launcher, str(valgrind), f"--tool={tool}", *CACHES, f"--{tool}-out-file={form}",
        *program.run,
    ]
    if tool == "cachegrind":
        command.insert(len(program.launcher) + 2, "--cache-sim=yes")
    stdin = (folder / program.stdin).read_bytes() if program.stdin else b""
    subprocess.run(
        command, cwd=folder, input=stdin, check=True, capture_output=True, timeout=_SECONDS,
        env={**os.environ, **dict(program.environment)},
    )
    return min(path.name for path in folder.glob(f"{out}*"))


def first_screen(folder: Path, profile_name: str) -> str:
    command = [sys.executable, str(BD_ANNOTATE), "--width=80", profile_name]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, errors="replace"
    ).stdout


def beside(folder: Path, command: Sequence[str]) -> str:
    """The costs that another reader begins with."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    lines = [line.rstrip() for line in result.stdout.split("\n")]
    starts = [index for index, line in enumerate(lines) if "PROGRAM TOTALS" in line]
    first = starts[0] if starts else 0
    # Where it was built says nothing.
    lines = [line.replace(f"{folder}/", "") for line in lines[first : first + _BESIDE_LINES]]
    return "\n".join(line[:_BESIDE_WIDTH] for line in lines)


def show(name: str, folder: Path, valgrind: Path) -> None:
    program = PROGRAMS[name]
    if need := missing(program):
        print(f"{name}: left out, {need} is missing")
        return
    build(program, folder)
    found = profile(program, folder, valgrind, name)
    screens = {
        "bd_annotate": first_screen(folder, found),
        "callgrind_annotate": beside(folder, ["callgrind_annotate", "--inclusive=yes",
                                              "--show=SpLoss1,D1mr,DLmr", found]),
    }
    other = profile(program, folder, valgrind, name, "cachegrind")
    screens["cg_annotate"] = beside(folder, ["cg_annotate", "--show=D1mr,D1mw,DLmr", other])
    for reader, text in screens.items():
        (folder / f"{name}.{reader}.txt").write_text(text.rstrip() + "\n")
    print(f"{name}: done")


def page(folder: Path) -> str:
    """README.md: what is told of each program, and its screens as they are in the folder."""
    text = (HERE / "README.md").read_text().partition("\n## ")[0].rstrip() + "\n"
    for name, program in PROGRAMS.items():
        if not (folder / f"{name}.bd_annotate.txt").exists():
            continue
        text += f"\n## {name}\n\n[{program.source}]({program.source})\n\n"
        commands = [" ".join(command) for command in (program.build, program.run) if command]
        text += "".join(f"    {command}\n" for command in commands)
        for reader in ("bd_annotate", "callgrind_annotate", "cg_annotate"):
            screen = (folder / f"{name}.{reader}.txt").read_text().rstrip()
            text += f"\n`{reader}`:\n\n```\n{screen}\n```\n"
    return text


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    valgrind, folder, *names = arguments
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or PROGRAMS:
        show(name, Path(folder), Path(valgrind).resolve())
    if not names:
        (HERE / "README.md").write_text(page(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
