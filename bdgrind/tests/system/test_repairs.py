# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with a known repair, in several languages: that repair is named first, at the right lines, and what it is
to save is what the repaired program then loads."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from harness import SMALL_CACHES, SOURCE, annotate, run_tool
from profile_reader import read_profile

PROGRAMS = SOURCE / "bdgrind" / "tests" / "guest" / "why"
OPTIONS = (*SMALL_CACHES, "--why=yes", "--objects=yes")
ALONE = (*SMALL_CACHES, "--why=yes")
COMPILERS: dict[str, tuple[list[str], list[str], str]] = {
    ".c": (["gcc", "-O2", "-g"], ["-lpthread"], "-DREPAIRED"),
    ".cpp": (["g++", "-std=c++17", "-O2", "-g"], ["-lpthread"], "-DREPAIRED"),
    ".F90": (["gfortran", "-O2", "-g", "-fno-inline"], [], "-DREPAIRED"),
    ".rs": (["rustc", "-Copt-level=2", "-g"], [], "--cfg=repaired"),
}


@dataclass(frozen=True)
class Program:
    """lines: parts of source lines, each of which the repair names."""

    name: str
    remedy: str
    lines: tuple[str, ...]
    function: str = "work"  # whose loads are compared
    is_doubtful: bool = False  # whether it hardly gains time by the estimate, and the first line says so


KNOWN = [
    Program("product.c", "interchange", (
        "(int j = 0; j < SIZE; ++j) {", "(int k = 0; k < SIZE; ++k) product"
    ), "multiply"),
    Program("product.cpp", "interchange", (
        "(std::size_t j = 0; j < size; ++j) {", "(std::size_t k = 0; k < size; ++k) sum"
    ), "main"),
    Program("order.F90", "interchange", ("do i = 1, size", "do j = 1, size"), "step"),
    Program("volume.c", "interchange", ("(int x = 0; x < SIZE; ++x) {", "(int z = 0; z < SIZE; ++z) {")),
    Program("upwind.F90", "interchange", ("do i = 2, size - 1", "do j = 2, size - 1")),
    Program("sources.c", "interchange", ("(int j = 0; j < SIZE; ++j) {", "(int i = 0; i < SIZE; ++i) {")),
    Program("strips.c", "interchange", (
        "sums[i * sum_step] += cells[i * step]", "(int column = 0; column < SIZE; ++column) gather"
    ), "gather"),
    Program("transpose.c", "tile", ("(int i = 0; i < SIZE; ++i) {", "(int j = 0; j < SIZE; ++j) to"), "transpose"),
    Program("transpose.cpp", "tile", (
        "(std::size_t i = 0; i < kSize; ++i) {", "(std::size_t j = 0; j < kSize; ++j) function"
    ), "main"),
    Program("transpose.rs", "tile", ("for i in 0..SIZE", "for j in 0..SIZE"), "transpose"),
    Program("passes.c", "fuse", ("values[i] *= 0.5", "+= weights[i];", "+= values[i] * values[i];")),
    Program("passes.cpp", "fuse", ("values[i] *= 0.5", "+= weights[i];", "+= values[i] * values[i];")),
    Program("passes.rs", "fuse", ("for value in values",), "scale|shift|sum|work|main"),
    Program("solver.cpp", "fuse", ("from[i] -= factor * what[i]", "sum += one * one"), "main"),
    Program("fat.c", "split", ("bodies[i].place += bodies[i].speed",)),
    Program("fat.cpp", "split", ("body.place += body.speed",), "main"),
    Program("fat.rs", "split", ("body.place += body.speed",)),
    Program("crowd.c", "split", (
        "if (WEIGHT(i).is_there)", "WHERE(i).place[0] +=", "sum += MOTION(i).speed[0]"
    ), "count|move|energy"),
    Program("padding.c", "pack", ("item->price * item->weight",), is_doubtful=True),
    Program("padding.cpp", "pack", ("item.price * item.weight",), "main"),
    Program("padding.rs", "pack", ("item.price * item.weight",), is_doubtful=True),
    Program("samples.c", "pack", ("if (samples[i].is_good)",), "main", is_doubtful=True),
    Program("columns.c", "pad", ("sums[i] += column[0][i]",)),
    Program("columns.cpp", "pad", ("out[x] = (a[x]",), "main"),
    Program("columns.F90", "pad", ("table(i, 6)",), "MAIN__|add"),
    Program("table.c", "prefetch", ("sum += mix(table[place(i)]);",)),
    Program("table.cpp", "prefetch", ("sum += mix(table[keys[i] % kSize]",), "main"),
    Program("table.rs", "prefetch", ("sum += u64::from(table[place(i)]);",)),
    Program("list.c", "colocate", ("node = node->next",)),
    Program("list.cpp", "colocate", ("node->weight += step",), "main"),
    Program("list.rs", "colocate", ("sum.wrapping_add(node.key",)),
    Program("pages.c", "huge-pages", ("sum += pages[i * (PAGE + 64)]",)),
    Program("pages.cpp", "huge-pages", ("sum += table[row * kWidth]++",), "main"),
    Program("pages.F90", "huge-pages", ("matrix(1, j) = matrix(1, j)",), "MAIN__|add"),
    Program("records.c", "align", ("sum += record->key",)),
    Program("records.cpp", "align", ("sum += record.key",), "main"),
    Program("records.rs", "align", ()),
    Program("rounds.c", "smaller-working-set", ("all[i].place += all[i].speed",)),
]
# Look-ups anywhere in a table that the cache has nearly room for are no passes over it, nor do they cost time here.
NOTHING = [
    "histogram.c", "palette.cpp", "votes.rs", "search.cpp", "stream.c", "stream.cpp", "stream.F90", "counters.c",
    "counters.cpp",
]


# Kinds that data objects are not needed for, but for the data's name.
WITHOUT_OBJECTS = {"interchange", "tile", "fuse", "pad", "prefetch", "colocate", "huge-pages"}


@cache
def profiled(name: str, repaired: bool, options: tuple[str, ...] = OPTIONS) -> Path:
    source = PROGRAMS / name
    command, libraries, mark = COMPILERS[source.suffix]
    compiler, flags = command[0], command[1:]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    folder = Path(mkdtemp(prefix="repairs-"))
    program = folder / source.stem
    marks = [mark] if repaired else []
    subprocess.run([compiler, *flags, *marks, "-o", program, source, *libraries], cwd=folder, check=True)
    run = run_tool(folder, [program], options, name=source.stem)
    assert run.status == 0, run.log
    return run.profile_path


def loads(path: Path, function: str) -> dict[str, int]:
    """The lines that those functions load themselves, and those of LL."""
    is_meant = re.compile(rf"(^|::|_MOD_)({function})(\.|$|\(|::h)").search
    meant = [costs for name, costs in read_profile(path).self_costs.items() if is_meant(name)]
    return {
        "L1 misses": sum(costs["EvLineD1"] for costs in meant),
        "LL misses": sum(costs["DLmr"] + costs["DLmw"] for costs in meant),
    }


@cache
def repairs(path: Path) -> list[dict[str, Any]]:
    # Sources are read for what a loop needs of an earlier one, and only in folders that are named, or the current one.
    completed = annotate("--format=json", f"--include={PROGRAMS}", path)
    assert completed.returncode == 0, completed.stderr
    document = json.loads(completed.stdout)
    found: list[dict[str, Any]] = document["repairs"]
    return found


@pytest.mark.parametrize("program", KNOWN, ids=[program.name for program in KNOWN])
def test_the_known_repair_is_first_and_saves_what_it_says(program: Program) -> None:
    before = profiled(program.name, False)
    found = repairs(before)
    assert (found[0]["remedy"] == "none") == program.is_doubtful
    first = found[1 if program.is_doubtful else 0]
    assert first["remedy"] == program.remedy
    assert (first["share"] < 0.02) == program.is_doubtful
    source = (PROGRAMS / program.name).read_text().split("\n")
    for text in program.lines:
        numbers = {number for number, line in enumerate(source, 1) if text in line}
        assert numbers & set(first["lines"]), f"{text} is in lines {numbers}, not {first['lines']}"
    now = loads(before, program.function)
    # Of the repaired program only what it loads is looked at, which is the same without causes and data objects.
    then = loads(profiled(program.name, True, SMALL_CACHES), program.function)
    said = first["saves"]["L1 misses"]
    # With -s, the rows of the table in docs/why.md.
    print(f"| {program.name} | {first['remedy']} | {said['before']:,} | {said['after']:,} | {now['L1 misses']:,} | "
          f"{then['L1 misses']:,} |")
    for level, least in (("L1 misses", 0), ("LL misses", max(300, now["L1 misses"] // 50))):
        saved = first["saves"][level]["before"] - first["saves"][level]["after"]
        assert now[level] - saved == pytest.approx(then[level], rel=0.15, abs=least), (level, now, then, first["saves"])


@pytest.mark.parametrize(
    "program", [one for one in KNOWN if one.name.endswith(".c") and one.remedy in WITHOUT_OBJECTS],
    ids=[one.name for one in KNOWN if one.name.endswith(".c") and one.remedy in WITHOUT_OBJECTS],
)
def test_the_repair_is_the_same_without_data_objects(program: Program) -> None:
    assert repairs(profiled(program.name, False, ALONE))[0]["remedy"] == program.remedy


def test_a_loop_has_its_own_line_where_it_begins_with_that_of_earlier_code() -> None:
    """As gcc 12 compiles it: the place of the column is computed as where the matrix is cleared."""
    source = (PROGRAMS / "reflect.c").read_text().split("\n")
    columns = next(number for number, line in enumerate(source, 1) if "column < SIZE" in line)
    found = [one for one in repairs(profiled("reflect.c", False)) if one["remedy"] == "interchange"]
    assert found and all(one["lines"][0] == columns for one in found)


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_is_to_be_gained_that_is_said(name: str) -> None:
    path = profiled(name, False)
    assert {repair["remedy"] for repair in repairs(path)} == {"none"}
    text = annotate("--hints", "--width=80", path).stdout
    assert "Usually helps" not in text and "exchange" not in text


@pytest.mark.parametrize("program", KNOWN, ids=[program.name for program in KNOWN])
def test_the_first_screen_leads_with_it(program: Program) -> None:
    lines = annotate("--width=80", profiled(program.name, False)).stdout.split("\n")
    assert max(map(len, lines)) <= 80 and len(lines) - 1 <= 40
    start = lines.index("== What to change ==")
    assert lines[start + 1].startswith("1. ") and start < 15


@pytest.mark.parametrize(("name", "line", "advice"), [
    ("agenda.cpp", "agenda.pop();", "keep a copy of them beside it"),
    ("mesh.c", "sum += heat[neighbour[i][k]]", "number the elements in the order of the visits"),
])
def test_what_a_pointer_or_an_index_leads_to_is_named(name: str, line: str, advice: str) -> None:
    source = (PROGRAMS / name).read_text().split("\n")
    number = next(number for number, text in enumerate(source, 1) if line in text)
    text = " ".join(annotate("--width=80", profiled(name, False)).stdout.split())
    found = re.search(rf"{re.escape(name)}:{number} costs (at most )?\d+%: each address [^:]*: ([^.=]*)", text)
    assert found is not None and advice in found[2], text


def test_all_files_agree_with_their_profiles() -> None:
    for name in ("product.c", "passes.c", "list.c"):
        completed = annotate("--check", profiled(name, False))
        assert completed.returncode == 0, completed.stderr
        assert "lines missed by" in completed.stdout


def test_a_type_that_is_a_librarys_is_left_as_it_is() -> None:
    assert not {"split", "pack"} & {repair["remedy"] for repair in repairs(profiled("words.cpp", False))}
