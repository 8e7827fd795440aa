# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions, from the program to the report."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, SOURCE, run_tool
from structure_report import Frame, Json, by_text, check_conservation, structure
from structured_programs import Loop, structured_program

LONG = bool(os.environ.get("BDGRIND_LONG"))
COMPILERS = [
    (compiler, level, seed)
    for number, (compiler, level) in enumerate(
        (compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2", "-O3")
    )
    for seed in (range(30) if LONG else (number,))
]

LOOPS = SOURCE / "bdgrind" / "tests" / "guest" / "loops.S"


@pytest.mark.parametrize("engine_threads", ["0", "1", "2"])
def test_each_kind_of_loop(tmp_path: Path, engine_threads: str) -> None:
    options = [*SMALL_CACHES, "--structure=yes", f"--engine-threads={engine_threads}"]
    run = run_tool(tmp_path, [GUESTS / "loops"], options)
    report, frames = structure(run.profile_path)
    check_conservation(report, frames)
    source = LOOPS.read_text().splitlines()
    ir = report["events"].index("Ir")

    def of(name: str) -> Frame:
        return by_text(frames[name], source, ir)

    inner: Frame = ("loop", "dec %edx", 10, (200,), 400, 400, [])
    outer: Frame = ("loop", "mov $20, %edx", 1, (10,), 40, 460, [inner])
    assert of("nested") == ("function", "nested", 1, (), 2, 462, [outer])
    # Three times through `dec` each; `inc` is executed three and two times.
    region: Frame = ("irreducible region", "inc %edx", 2, (6,), 17, 17, [])
    assert of("into") == ("function", "into", 2, (), 8, 25, [region])
    # Halts in the sixth.
    dispatch: Frame = ("loop", "movzbl (%rsi), %eax", 1, (6,), 28, 28, [])
    assert of("interpret") == ("function", "interpret", 1, (), 2, 30, [dispatch])
    # 3, 5 and 5.
    tries: Frame = ("loop", "cmp %edi, %ecx", 3, (13,), 62, 62, [])
    assert of("search") == ("function", "search", 3, (), 6, 68, [tries])
    # The outermost call makes two, these make two each, and these none.
    first: Frame = ("loop", "lea -1(%rbp), %eax", 1, (2,), 8, 54, [])
    assert of("descend") == ("function", "descend", 1, (), 9, 63, [first])
    others: Frame = ("loop", "lea -1(%rbp), %eax", 2, (4,), 16, 16, [])
    assert of("descend'2") == ("function", "descend'2", 6, (), 30, 46, [others])
    # Each `bounce` and its tail call of `leaf` are four instructions.
    calls: Frame = ("loop", "call bounce", 1, (3,), 9, 21, [])
    assert of("bouncing") == ("function", "bouncing", 1, (), 2, 23, [calls])
    line = "1:  dec %ecx; jnz 1b; mov $5, %ecx; 2: dec %ecx; jnz 2b"
    parts: Frame = ("loop", line, 2, (20, 5), 50, 50, [])
    assert of("twice") == ("function", "twice", 1, (), 3, 53, [parts])
    # Six iterations of 6 instructions, one of 6 and one of 8 and `leaf`; the cold part is rarely's.
    hot: Frame = ("loop", "cmp $3, %ecx", 1, (8,), 50, 52, [])
    assert of("rarely") == ("function", "rarely", 1, (), 2, 54, [hot])
    assert "rarely.cold" not in frames
    # Each `partly.part.0` is 10 instructions, 8 of them the loop's.
    halves: Frame = ("loop", "test %edi, %edi", 2, (6,), 30, 90, [])
    assert of("partly") == ("function", "partly", 2, (), 4, 94, [halves])
    rest: Frame = ("loop", "dec %edx", 6, (24,), 48, 48, [])
    assert of("partly.part.0") == ("function", "partly.part.0", 6, (), 12, 60, [rest])
    # A jump to where a function begins is a call, as in Callgrind.
    assert of("at_entry") == ("function", "at_entry", 2, (), 4, 18, [])


def loops_of(frame: Json) -> list[Loop]:
    """By source line. What was inlined is part of what is around; of parts, all iterations count."""
    found: list[Loop] = []
    for inner in frame["frames"]:
        nested = loops_of(inner)
        if inner["kind"] == "inlined":
            found += nested
            continue
        assert inner["kind"] == "loop"
        iterations = sum(part["iterations"] for part in inner["parts"])
        found.append(Loop(inner["line"] or 0, inner["entries"], iterations, nested))
    return sorted(found, key=lambda loop: loop.line)


@pytest.mark.parametrize("compiler, level, seed", COMPILERS)
def test_the_loops_of_random_programs(
    tmp_path: Path, compiler: str, level: str, seed: int
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is missing")
    if not shutil.which("llvm-symbolizer"):
        pytest.skip("llvm-symbolizer is missing")
    generated = structured_program(seed)
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(generated.text)
    subprocess.run([compiler, "-g", "-gdwarf-4", level, "-o", program, source], check=True)
    run = run_tool(tmp_path, [program], [*SMALL_CACHES, "--structure=yes"])
    report, frames = structure(run.profile_path)
    check_conservation(report, frames)
    assert loops_of(frames["main"]) == generated.loops, generated.text
