# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects that have symbols: static and thread-local variables, of programs and of libraries."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from harness import check_profile, guest_program, why_no_x86
from object_runs import YES, objects, run, walked


THREAD_LOCALS = {"thread-local points": 300, "thread-local buffer": 300}


RELOCATED = """
const char *const names[4096] = {"a", "b"};
static volatile char large[1 << 24];
int last = 1;
__attribute__((noinline)) int walk(int count) {
    volatile int found = 0;
    for (int i = 0; i < count; i += 8) found += names[i] != 0;
    for (int i = 0; i < 64 * 100; i += 64) found += large[(1 << 23) + i];
    return found - last;
}
int main(int argc, char **argv) { return walk(argc * 2400); }
"""


# Such constants lie in a section that Valgrind's core does not look at. Of a file without symbols, all is the file's.
@pytest.mark.parametrize("options", [[], ["-s"]])
def test_variables_that_are_relocated(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "program.c").write_text(RELOCATED)
    command = ["gcc", "-O1", "-fPIE", "-pie", *options, "-o", "program", "program.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = run(tmp_path, [tmp_path / "program"], YES)
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    event = found["events"].index("EvLineD1")
    lines = {group["label"]: group["self"][event] for group in found["groups"]}
    if options:
        assert lines["file program"] >= 400
    else:
        assert walked(found)["variable names"] == 300
        assert walked(found)["variable large"] == 100


UNIQUE = """
struct alignas(64) Cell { double value; };
template <class T> struct Pool { static T items[300]; };
template <class T> T Pool<T>::items[300];
inline Cell cells[300];
inline int odd = 7;
inline Cell* more() { static Cell all[300]; return all; }
__attribute__((noinline)) double walk(const Cell* all) {
    double sum = 0;
    for (int at = 0; at < 300; ++at) sum += all[at].value;
    return sum;
}
int main() { return walk(Pool<Cell>::items) + walk(cells) + walk(more()) + odd != 7; }
"""


# Their symbols are unique, which Valgrind's core leaves out.
@pytest.mark.parametrize("options", [["-O1"], ["-O1", "-static"], ["-O1", "-m32"]])
def test_variables_of_templates_and_inline_functions(tmp_path: Path, options: list[str]) -> None:
    if not shutil.which("g++") or not shutil.which("c++filt"):
        pytest.skip("g++ or c++filt is missing")
    if "-m32" in options and (why_not := why_no_x86()):
        pytest.skip(why_not)
    (tmp_path / "cells.cpp").write_text(UNIQUE)
    command = ["g++", "-std=c++17", "-g", *options, "-o", "cells", "cells.cpp"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "-m32" in options and made.returncode != 0:
        pytest.skip("g++ makes no 32-bit programs")
    assert made.returncode == 0, made.stderr
    result = run(tmp_path, [tmp_path / "cells"], YES)
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    event = found["events"].index("EvLineD1")
    lines: Counter[str] = Counter()
    for row in found["rows"]:
        if row["function"].startswith("walk"):
            lines[found["groups"][row["group"]]["label"]] += row["self"][event]
    for name in ("Pool<Cell>::items", "cells", "more()::all"):
        assert lines[f"variable {name}"] == 300
    sizes = {group["name"]: group["size"] for group in found["groups"] if group["kind"] == "static"}
    assert sizes["cells"] == 300 * 64


@pytest.mark.parametrize(
    "guest", ["thread_locals", "thread_locals_static", "x86/thread_locals", "x86/thread_locals_static"]
)
@pytest.mark.parametrize("engine_threads", ["0", "1"])
def test_a_thread_local_variable_is_one_for_all_threads(tmp_path: Path, guest: str, engine_threads: str) -> None:
    result = run(tmp_path, [guest_program(guest)], YES, f"--engine-threads={engine_threads}")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    lines = walked(objects(result.profile_path))
    assert {label: lines[label] for label in THREAD_LOCALS} == THREAD_LOCALS
    (scratch,) = [label for label in lines if label.startswith("thread-local scratch")]
    assert lines[scratch] == 300


# A library that is loaded with the program, and one that is loaded later, whose block malloc has. {name} is that of
# the variable; what else is in there comes before it.
LIBRARY = """
static __thread char before[24] = "initialized";
__thread char {name}[4096];
__attribute__((noinline)) void walk_{name}(void) {{
    for (int i = 0; i < 4096; i += 64) ++((volatile char *){name})[i];
    ++*(volatile char *)before;
}}
"""

WITH_LIBRARIES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static void (*walk_late)(void);
void walk_early(void);
OWN
static void *run(void *unused) { walk_early(); walk_late(); return unused; }
int main(void) {
    void *library = dlopen(LATE, RTLD_NOW);
    if (library == 0) abort();
    walk_late = (void (*)(void))dlsym(library, "walk_late");
    run(0);
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
"""


@pytest.mark.parametrize("own", ["", "__thread char own[1000];"])
@pytest.mark.parametrize("model", ["initial-exec", "global-dynamic"])
def test_thread_local_variables_of_libraries(tmp_path: Path, own: str, model: str) -> None:
    if not shutil.which("gcc"):
        pytest.skip("gcc is missing")
    for name, its_model in (("early", model), ("late", "global-dynamic")):
        (tmp_path / f"{name}.c").write_text(LIBRARY.format(name=name))
        options = ["-O1", "-g", "-shared", "-fPIC", f"-ftls-model={its_model}"]
        command = ["gcc", *options, f"{name}.c", "-o", f"{name}.so"]
        subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "program.c").write_text(WITH_LIBRARIES.replace("OWN", own))
    late = f'-DLATE="{tmp_path}/late.so"'
    files = ["program.c", f"{tmp_path}/early.so", "-ldl", "-o", "program"]
    command = ["gcc", "-O1", "-g", "-pthread", late, *files]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = run(tmp_path, [tmp_path / "program"], YES)
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path, "--object=thread-local early")
    event = found["events"].index("EvLineD1")
    lines = {group["label"]: group["self"][event] for group in found["groups"]}
    # Each thread loads its 64 lines, perhaps one more where the variable begins amid a line.
    assert 128 <= lines["thread-local early"] <= 134
    assert "thread-local late" not in lines
