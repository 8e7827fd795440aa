# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops and inlined functions in what compilers write: forms of debug information, and languages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import GUESTS, SMALL_CACHES, Run, annotated, run_tool
from structure_report import Json, check_conservation, structure


def need(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is missing")


def observed(folder: Path, program: Path) -> tuple[Run, dict[str, Json]]:
    """A run, and the frames of each function by its name."""
    run = run_tool(folder, [program], [*SMALL_CACHES, "--structure=yes"])
    report, frames = structure(run.profile_path)
    check_conservation(report, frames)
    return run, frames


def compiled(folder: Path, file: str, text: str, *command: str) -> tuple[Run, dict[str, Json]]:
    need(command[0], "llvm-symbolizer")
    (folder / file).write_text(text)
    subprocess.run([*command, "-o", "program", file], check=True, cwd=folder)
    return observed(folder, folder / "program")


def loops_in(frame: Json) -> list[Json]:
    """Those that are in no other loop of this frame."""
    found: list[Json] = []
    for inner in frame["frames"]:
        found += [inner] if inner["kind"] != "inlined" else loops_in(inner)
    return found


def only_loop(frame: Json, kind: str = "loop") -> Json:
    (loop,) = loops_in(frame)
    assert loop["kind"] == kind
    return loop


def shown(run: Run, function: str) -> str:
    return annotated("--structure", f"--function={function}", "--threshold=0", "--width=200", run.profile_path)


def times(loop: Json) -> tuple[int, int, int]:
    """Line, entries and iterations."""
    return loop["line"], loop["entries"], sum(part["iterations"] for part in loop["parts"])


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
FORMS: dict[str, list[str]] = {
    "plain": [],
    "compressed": ["-gz=zlib"],
    "split": ["-gsplit-dwarf"],
    "lto": ["-flto"],
    "separate": [],
}
# Clang's intermediate code is not GNU ld's.
LINKERS = {("clang", "lto"): "-fuse-ld=lld"}




def build_header_program(folder: Path, compiler: str, version: int, form: str) -> Path:
    need(compiler, "objcopy", "llvm-symbolizer", *(["ld.lld"] if (compiler, form) in LINKERS else []))
    (folder / "sum.h").write_text(SUM_H)
    (folder / "program.c").write_text(INLINED)
    command = [compiler, "-O2", f"-gdwarf-{version}", *FORMS[form], "-o", "program", "program.c"]
    if (compiler, form) in LINKERS:
        command.append(LINKERS[compiler, form])
    subprocess.run(command, check=True, cwd=folder)
    if form == "separate":
        for words in (["--only-keep-debug", "program", "program.debug"], ["--strip-debug", "program"],
                      ["--add-gnu-debuglink=program.debug", "program"]):
            subprocess.run(["objcopy", *words], check=True, cwd=folder)
    return folder / "program"


@pytest.mark.parametrize("compiler, version, form", [
    (compiler, version, form)
    for compiler in ("gcc", "clang") for version in (4, 5) for form in FORMS
    if (version, form) != (5, "split")
])
def test_what_a_header_has_is_inlined_into_each_caller(
    tmp_path: Path, compiler: str, version: int, form: str
) -> None:
    program = build_header_program(tmp_path, compiler, version, form)
    _, frames = observed(tmp_path, program)

    def names(frame: Json) -> list[Any]:
        """Frames with what is in them. Of the loops, their iterations."""
        is_loop = frame["kind"] == "loop"
        name = frame["parts"][0]["iterations"] if is_loop else frame["name"]
        return [name, *map(names, frame["frames"])]

    # data[3] is 4 and data[4] is 5. An inlined function without instructions of its own is not seen:
    # Clang adds from memory, which is sum's.
    within = [["get"]] if compiler == "gcc" else []
    (twice,) = frames["first"]["frames"]
    assert (twice["kind"], twice["name"]) == ("inlined", "twice")
    assert ["sum", [4, *within]] in names(twice)
    outer = only_loop(frames["second"])
    assert outer["parts"][0]["iterations"] == 5
    assert ["sum", [20, *within]] in names(outer)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_split_dwarf_5_is_as_good_as_valgrind_reads_it(tmp_path: Path, compiler: str) -> None:
    """3.19 gives up where it is GCC's, with any tool, and knows no lines where it is Clang's. Loops
    are then known by address, and inlined functions, which lines vouch for, are not."""
    program = build_header_program(tmp_path, compiler, 5, "split")
    if run_tool(tmp_path, [program], tool="none").status:
        run = run_tool(tmp_path, [program], ["--structure=yes"])
        assert run.status == 1
        assert "Possibly corrupted debuginfo file" in run.log
        return
    _, frames = observed(tmp_path, program)
    assert times(only_loop(frames["first"]))[1:] == (1, 4)
    outer = only_loop(frames["second"])
    assert times(outer)[1:] == (1, 5)
    assert times(only_loop(outer))[1:] == (5, 20)


def test_calls_of_an_indirect_function_are_in_the_loop(tmp_path: Path) -> None:
    _, frames = observed(tmp_path, GUESTS / "indirect_function")
    loop = only_loop(frames["main"])
    assert times(loop)[1:] == (1, 10)
    called = loop["inclusive"][0] - loop["self"][0]
    assert called == frames["implementation"]["inclusive"][0]
    assert called % 10 == 0 and frames["implementation"]["entries"] == 10


THROWS = """static volatile int sink;
static volatile int limit = 40;
static volatile int data[8];
__attribute__((noinline)) void thrower(int i) { if (i % 4 == 0) throw i; sink = i; }
__attribute__((noinline)) int catching() {
    int total = 0;
    for (int i = 0; i < limit; i++) {
        try {
            thrower(i);
            total += data[i & 7];
        } catch (int value) {
            total -= value;
        }
    }
    return total;
}
int main() { return catching() == 0; }
"""


@pytest.mark.parametrize("command", [
    ["g++", "-O0"], ["g++", "-O2"], ["g++", "-O2", "-fno-reorder-blocks-and-partition"],
    ["clang", "-O2"],
])
def test_a_loop_that_catches_is_one_loop(tmp_path: Path, command: list[str]) -> None:
    """Ten of the 40 iterations throw. GCC's handler is a cold part, and so is all that follows."""
    linked = ["-Wl,--no-as-needed", "-lstdc++"] if command[0] == "clang" else []
    _, frames = compiled(tmp_path, "program.cpp", THROWS, *command, "-gdwarf-4", *linked)
    assert times(only_loop(frames["catching()"])) == (7, 1, 40)
    assert not [name for name in frames if "catching" in name and name != "catching()"]


PARTLY = """static volatile int sink;
static volatile int limit = 10;
__attribute__((noinline)) void work(int at) { sink = sink + at; }
static int slow(volatile int* data, int count) {
    if (data[0] == 0)
        return 0;
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += data[i & 3];
        work(total);
        work(sink);
        work(sink ^ total);
        work(sink - total);
    }
    for (int i = 0; i < count; i++) {
        total -= data[i & 1];
        work(total * 3);
        work(sink | 8);
        work(sink ^ total);
        work(sink - total);
    }
    return total;
}
__attribute__((noinline)) int often(volatile int* data) {
    int total = 0;
    for (int i = 0; i < limit; i++)
        total += slow(data + (i & 1), 3);
    return total;
}
__attribute__((noinline)) int twice(volatile int* data) {
    return slow(data, 4) + slow(data + 1, 5);
}
int main(void) {
    volatile int data[5] = {0, 1, 2, 3, 4};
    return often(data) + twice(data) == 0;
}
"""


def test_a_partly_inlined_function_is_in_both_places(tmp_path: Path) -> None:
    """`often` calls it ten times, five of which go past the test; `twice` two, one of which does."""
    _, frames = compiled(tmp_path, "program.c", PARTLY, "gcc", "-O2", "-gdwarf-4")
    if "slow.part.0" not in frames:
        pytest.skip("no package helps: this GCC does not inline in part what the test has")
    loop = only_loop(frames["often"])
    assert times(loop) == (26, 1, 10)
    (inlined,) = loop["frames"]
    assert (inlined["kind"], inlined["name"]) == ("inlined", "slow")
    rest = frames["slow.part.0"]
    assert rest["entries"] == 6
    found = sorted(map(times, loops_in(rest)))
    assert found == [(8, 6, 5 * 3 + 5), (15, 6, 5 * 3 + 5)]


COROUTINE = """#include <coroutine>
struct Generator {
    struct promise_type {
        int value = 0;
        Generator get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) noexcept { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
static volatile int limit = 10;
static volatile int sink;
Generator squares(int n) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < limit; ++j)
            sink = sink + j;
        co_yield i * i;
    }
}
int main() {
    Generator g = squares(5);
    int total = 0;
    while (g.handle.resume(), !g.handle.done())
        total += g.handle.promise().value;
    return total == 30 ? 0 : 1;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_coroutine_is_known_by_its_name(tmp_path: Path, level: str) -> None:
    """Resumed six times; five times the inner loop is entered."""
    command = ["g++", "-std=c++20", level, "-gdwarf-4"]
    run, frames = compiled(tmp_path, "program.cpp", COROUTINE, *command)
    assert times(only_loop(frames["main"])) == (28, 1, 5)
    said = shown(run, "^squares")
    assert "  squares [resume]  program.cpp" in said
    assert "loop program.cpp:20  5 x 10" in said


RUST = """use std::hint::black_box;
#[inline(never)]
fn largest<T: PartialOrd + Copy>(items: &[T]) -> T {
    let mut best = items[0];
    for item in items {
        if black_box(*item) > best {
            best = *item;
        }
    }
    best
}
#[inline(never)]
fn chain(items: &[u32]) -> u32 {
    items.iter().map(|item| black_box(item * 2)).filter(|item| item % 3 != 0).sum()
}
fn main() {
    let numbers: Vec<u32> = (0..1000).collect();
    let reals = vec![1.5f64; 50];
    println!("{} {} {}", largest(&numbers), largest(&reals), chain(&numbers));
}
"""


def test_rust_has_generic_functions_and_chains_of_iterators(tmp_path: Path) -> None:
    """Both instances of `largest` have the same name, and are one function."""
    command = ["rustc", "-O", "-g", "-Cdebuginfo=2"]
    run, frames = compiled(tmp_path, "program.rs", RUST, *command)
    assert times(only_loop(frames["program::largest"])) == (5, 2, 1050)
    assert times(only_loop(frames["program::chain"]))[1:] == (1, 1000)
    said = shown(run, "^program::chain$")
    assert "program::chain::{closure" in said
    assert "$" not in said


FORTRAN = """program outer
    implicit none
    integer, volatile :: limit
    real :: data(100)
    limit = 20
    data = 1.0
    call scale(data, 5)
    print *, data(1)
contains
    subroutine scale(values, times)
        real, intent(inout) :: values(:)
        integer, intent(in) :: times
        integer :: i, j
        do i = 1, times
            do j = 1, limit
                values(j) = values(j) * 2.0
            end do
        end do
    end subroutine scale
end program outer
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_fortrans_contained_procedures_have_loops(tmp_path: Path, level: str) -> None:
    command = ["gfortran", "-fno-inline", "-fno-ipa-cp", level, "-gdwarf-4"]
    _, frames = compiled(tmp_path, "program.f90", FORTRAN, *command)
    (name,) = [name for name in frames if name.startswith("scale")]
    outer = only_loop(frames[name])
    assert times(outer) == (14, 1, 5)
    assert times(only_loop(outer)) == (15, 5, 100)
