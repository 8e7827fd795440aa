# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions, from the program to the report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import BD_ANNOTATE, GUESTS, SMALL_CACHES, SOURCE, run_tool
from structured_programs import Loop, structured_program

Json = dict[str, Any]
# A frame: kind, how it is known, entries, iterations of each part, self and inclusive instructions,
# frames within.
Frame = tuple[str, str, int, tuple[int, ...], int, int, list["Frame"]]

LONG = bool(os.environ.get("BDGRIND_LONG"))
COMPILERS = [
    (compiler, level, seed)
    for number, (compiler, level) in enumerate(
        (compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2", "-O3")
    )
    for seed in (range(30) if LONG else (number,))
]

LOOPS = SOURCE / "bdgrind" / "tests" / "guest" / "loops.S"


def structure(profile: Path) -> tuple[Json, dict[str, Json]]:
    """The report, and the frames of each function by its name."""
    completed = subprocess.run(
        [sys.executable, str(BD_ANNOTATE), "--structure", "--format=json", str(profile)],
        capture_output=True, text=True, check=False,
    )
    assert completed.returncode == 0, completed.stderr
    report = json.loads(completed.stdout)
    names = {function["id"]: function["name"] for function in report["functions"]}
    return report, {names[frame["function"]]: frame for frame in report["structure"]}


def by_text(frame: Json, source: list[str], ir: int) -> Frame:
    """A loop is known by the text of its line, an inlined function by its name."""
    is_loop = frame["kind"] not in ("function", "inlined")
    return (
        frame["kind"],
        source[frame["line"] - 1].strip() if is_loop else frame["name"],
        frame["entries"],
        tuple(part["iterations"] for part in frame["parts"]),
        frame["self"][ir],
        frame["inclusive"][ir],
        [by_text(inner, source, ir) for inner in frame["frames"]],
    )


def violations(frame: Json, around: list[int]) -> list[str]:
    found = [
        f"{frame['kind']} {frame['name']} {frame['line']}: {mine} of {outer}"
        for mine, outer in zip(frame["inclusive"], around)
        if mine > outer
    ]
    return found + [
        text for inner in frame["frames"] for text in violations(inner, frame["inclusive"])
    ]


def self_costs(frame: Json) -> list[int]:
    rows = [frame["self"], *(self_costs(inner) for inner in frame["frames"])]
    return [sum(counts) for counts in zip(*rows)]


def check_conservation(report: Json, frames: dict[str, Json]) -> None:
    functions = {function["name"]: function for function in report["functions"]}
    for name, frame in frames.items():
        assert self_costs(frame) == functions[name]["self"], name
        assert violations(frame, functions[name]["inclusive"]) == [], name


@pytest.mark.parametrize("engine_thread", ["no", "yes"])
def test_each_kind_of_loop(tmp_path: Path, engine_thread: str) -> None:
    options = [*SMALL_CACHES, "--structure=yes", f"--engine-thread={engine_thread}"]
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


INLINED = """
#include "sum.h"
static inline __attribute__((always_inline)) int twice(volatile int* data) {
    return sum(data) * 2;
}
__attribute__((noinline)) int first(volatile int* data) {
    return twice(data);
}
__attribute__((noinline)) int second(volatile int* data) {
    int total = 0;
    for (int i = 0; i < data[4]; i++)
        total += sum(data);
    return total;
}
int main(void) {
    volatile int data[5] = {1, 2, 3, 4, 5};
    return first(data) + second(data) == 0;
}
"""
SUM_H = """
static inline __attribute__((always_inline)) int get(volatile int* data, int at) {
    return data[at];
}
static inline __attribute__((always_inline)) int sum(volatile int* data) {
    int total = 0;
    for (int i = 0; i < data[3]; i++)
        total += get(data, i);
    return total;
}
"""
FORMS = {
    "dwarf 4": ["-gdwarf-4"],
    "compressed": ["-gdwarf-4", "-gz=zlib"],
    "split": ["-gdwarf-4", "-gsplit-dwarf"],
    "lto": ["-gdwarf-4", "-flto"],
    "separate": ["-gdwarf-4"],
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_header_has_is_inlined_into_each_caller(tmp_path: Path, form: str) -> None:
    for name in ("gcc", "objcopy", "llvm-symbolizer"):
        if not shutil.which(name):
            pytest.skip(f"{name} is missing")
    (tmp_path / "sum.h").write_text(SUM_H)
    (tmp_path / "program.c").write_text(INLINED)
    command = ["gcc", "-O2", *FORMS[form], "-o", "program", "program.c"]
    subprocess.run(command, check=True, cwd=tmp_path)
    if form == "separate":
        for words in (["--only-keep-debug", "program", "program.debug"], ["--strip-debug", "program"],
                      ["--add-gnu-debuglink=program.debug", "program"]):
            subprocess.run(["objcopy", *words], check=True, cwd=tmp_path)
    run = run_tool(tmp_path, [tmp_path / "program"], [*SMALL_CACHES, "--structure=yes"])
    report, frames = structure(run.profile_path)
    check_conservation(report, frames)

    def names(frame: Json) -> list[Any]:
        """Frames with what is in them. Of the loops, their iterations."""
        is_loop = frame["kind"] == "loop"
        name = frame["parts"][0]["iterations"] if is_loop else frame["name"]
        return [name, *map(names, frame["frames"])]

    # data[3] is 4 and data[4] is 5. (An inlined function without instructions of its own is not seen.)
    loop = [4, ["get"]]
    (twice,) = frames["first"]["frames"]
    assert (twice["kind"], twice["name"]) == ("inlined", "twice")
    assert ["sum", loop] in names(twice)
    (outer,) = [frame for frame in frames["second"]["frames"] if frame["kind"] == "loop"]
    assert outer["parts"][0]["iterations"] == 5
    assert ["sum", [20, ["get"]]] in names(outer)
