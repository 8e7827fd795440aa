# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects: who owns what is loaded, that all adds up to the profile, and that nothing else changes.

Which group has which cost, the unit tests compare with a naive engine. Here `bd_annotate --check` does the sums: every
event, function by function.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from harness import (
    BD_ANNOTATE,
    GUESTS,
    NO_X86,
    SMALL_CACHES,
    SOURCE,
    Run,
    check_profile,
    has_x86,
    run_tool,
    steady_environment,
)

YES = "--objects=yes"
LAYOUTS_CPP = Path(__file__).parent / "layouts.cpp"


def run(folder: Path, command: Sequence[str | Path], *options: str, **more: Any) -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options], **more)


def annotate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    words = [str(argument) for argument in arguments]
    return subprocess.run(
        [sys.executable, str(BD_ANNOTATE), *words], capture_output=True, text=True, check=False
    )


def objects(profile: Path, *options: str) -> dict[str, Any]:
    completed = annotate("--objects", *options, "--format=json", profile)
    assert completed.returncode == 0, completed.stderr
    found: dict[str, Any] = json.loads(completed.stdout)["objects"]
    return found


def walked(found: dict[str, Any]) -> Counter[str]:
    """The lines of D1 that walk() has loaded, by what the object is called, without line numbers."""
    event = found["events"].index("EvLineD1")
    lines: Counter[str] = Counter()
    for row in found["rows"]:
        if row["function"] != "walk":
            continue
        label = re.sub(r"\w+\.c:\d+, ", "", found["groups"][row["group"]]["label"])
        lines[label] += row["self"][event]
    return lines


# What walk() loads besides, all of it less than a walk: its own frame, and sink.
ALWAYS = {
    "variable variable": 200,
    "heap from_malloc": 100,
    "heap from_again": 100,
    "heap from_realloc": 100,
    "heap from_calloc": 100,
    "heap from_aligned": 100,
    "heap from_posix": 100,
    "mapped from_mmap": 100,
    "heap from_pool": 100,
    "heap from_thread": 100,
    "heap from_handler": 100,
}


# The address that walk() returns to is in its caller's frame. Walking that drives it out of the cache, but on x86,
# where the argument beside it is read anew.
@pytest.mark.parametrize(("guest", "of_stack"), [("objects", 101), ("objects_static", 101), ("x86/objects", 100)])
def test_each_kind_of_object_has_its_own(tmp_path: Path, guest: str, of_stack: int) -> None:
    if guest.startswith("x86") and not has_x86():
        pytest.skip(NO_X86)
    result = run(tmp_path, [GUESTS / guest], YES, "--alloc-fn=pool_alloc")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    lines = walked(objects(result.profile_path))
    assert {label: lines[label] for label in ALWAYS} == ALWAYS
    assert lines["stack of from_stack"] == of_stack
    assert lines[f"file {Path(guest).name}"] >= 100  # And perhaps where its code lies.


def test_a_pool_that_is_not_named_is_a_block(tmp_path: Path) -> None:
    found = objects(run(tmp_path, [GUESTS / "objects"], YES).profile_path)
    assert walked(found)["heap pool_alloc"] == 100


def test_blocks_are_counted(tmp_path: Path) -> None:
    found = objects(run(tmp_path, [GUESTS / "objects"], YES, "--objects-depth=1").profile_path)
    blocks = {group["label"].partition(", ")[2]: group["blocks"] for group in found["groups"] if group["blocks"]}
    assert blocks["from_strdup"]["number"] == 1
    assert blocks["from_strdup"]["bytes"] == 26
    assert blocks["from_strdup"]["freed"] == 1
    assert blocks["from_calloc"]["divisor"] == 8
    assert blocks["from_malloc"] | {"unmapped": 0} == {
        "number": 2, "bytes": 16000, "freed": 1, "alive": 8000, "most_alive": 8000, "smallest": 8000,
        "largest": 8000, "divisor": 8000, "unmapped": 0,
    }
    assert blocks["from_thread"]["freed"] == 1  # By another thread than the one that allocated it.


def test_blocks_of_a_pool_are_freed_by_what_is_named_for_it(tmp_path: Path) -> None:
    options = [YES, "--objects-depth=1", "--alloc-fn1=pool_alloc", "--free-fn=pool_free", "--free-fn2=pool_give"]
    # The pool itself, which malloc gave it, has been forgotten since its first block begins there.
    for names, freed in ((options[:3], 1), (options[:4], 2), (options, 3)):
        found = objects(run(tmp_path, [GUESTS / "objects"], *names).profile_path)
        (blocks,) = [group["blocks"] for group in found["groups"] if group["label"].endswith(", from_pool")]
        assert (blocks["number"], blocks["freed"]) == (3, freed)


def test_all_forms_of_new(tmp_path: Path) -> None:
    found = objects(run(tmp_path, [GUESTS / "objects_new"], YES).profile_path)
    counts: dict[str, tuple[int, int, int]] = {}
    for group in found["groups"]:
        functions = [place["function"].partition("(")[0] for place in group["places"]]
        for name in ("single", "arrays", "aligned", "without_exceptions", "vectors"):
            if group["blocks"] and name in functions:
                blocks = group["blocks"]
                counts[name] = blocks["number"], blocks["bytes"], blocks["freed"]
    assert counts == {
        "single": (10, 400, 10),
        "arrays": (10, 10_000, 10),
        "aligned": (10, 1280, 10),
        "without_exceptions": (10, 70, 10),
        "vectors": (10, 40 * 55, 10),
    }


THREAD_LOCALS = {"thread-local points": 300, "thread-local buffer": 300}


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
    if "-m32" in options and not has_x86():
        pytest.skip(NO_X86)
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
@pytest.mark.parametrize("engine_thread", ["no", "yes"])
def test_a_thread_local_variable_is_one_for_all_threads(tmp_path: Path, guest: str, engine_thread: str) -> None:
    if guest.startswith("x86") and not has_x86():
        pytest.skip(NO_X86)
    result = run(tmp_path, [GUESTS / guest], YES, f"--engine-thread={engine_thread}")
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


def counted(profile: Path) -> str:
    """All that stands in a profile, but for the process and its command line."""
    return re.sub(r"^(pid|cmd): .*\n", "", profile.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize(
    "guest",
    ["objects_new", "recursion", "handlers", "longjmp", "coroutines", "exceptions", "straddle", "thread_locals 1"],
)
def test_nothing_else_changes(tmp_path: Path, guest: str) -> None:
    name, *arguments = guest.split()
    command = [str(GUESTS / name), *arguments]
    environment = steady_environment(tmp_path, command)
    options = ["--simulate-wb=yes", "--branch-sim=yes", "--dump-instr=yes"]
    without = run(tmp_path, command, *options, "--objects=no", environment=environment, name="without")
    with_objects = run(tmp_path, command, *options, YES, environment=environment, name="with")
    assert check_profile(with_objects.profile_path) == ""
    assert counted(with_objects.profile_path) == counted(without.profile_path)


@pytest.mark.parametrize(
    ("guest", "options"),
    [
        ("thread_locals", ["--separate-threads=yes"]),
        ("workload", ["--dump-before=main"]),
        ("threads", ["--separate-threads=yes"]),
        ("workload", ["--dump-every-bb=100000", "--combine-dumps=yes"]),
        ("attribution", ["--toggle-collect=main"]),
        ("odd_sets", ["--D1=3072,3,32", "--LL=12288,3,128"]),
        ("objects", ["--engine-thread=no", "--objects-depth=1"]),
        ("names", ["--fn-skip=*alloc*", "--obj-skip=*libc*"]),
        ("siglongjmp", []),
    ],
)
def test_every_part_adds_up(tmp_path: Path, guest: str, options: list[str]) -> None:
    run(tmp_path, [GUESTS / guest], YES, *options)
    profiles = sorted(path for path in tmp_path.glob("profile.out*"))
    assert profiles
    for profile in profiles:
        assert profile.with_name(f"objects.{profile.name}").exists()
        assert check_profile(profile) == ""


def test_a_forked_child_has_its_own(tmp_path: Path) -> None:
    run_tool(tmp_path, [GUESTS / "objects", "fork"], [*SMALL_CACHES, YES, f"--bdgrind-out-file={tmp_path}/p.%p"])
    profiles = list(tmp_path.glob("p.*"))
    assert len(profiles) == 2
    child = [found for found in map(objects, profiles) if "variable variable" not in walked(found)]
    assert len(child) == 1
    # What the parent has allocated is known in the child.
    assert walked(child[0])["heap from_handler"] == 100
    assert walked(child[0])["heap from_malloc"] == 100
    assert [check_profile(profile) for profile in profiles] == ["", ""]


def test_containers_that_are_inlined_into_one_function_are_told_apart(tmp_path: Path) -> None:
    """A vector and a map of the gallery's program: both call operator new in one line of the library."""
    for program in ("g++", "llvm-symbolizer"):
        if not shutil.which(program):
            pytest.skip(f"{program} is missing")
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    source = SOURCE / "docs" / "gallery" / "objects.cpp"
    text = source.read_text().split("\n")
    vector, nodes = (
        1 + next(number for number, line in enumerate(text) if what in line)
        for what in ("std::vector<Particle> particles", "++kinds[")
    )
    command = ["g++", "-std=c++17", "-O2", "-g", str(source), "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    profile = run(tmp_path, [tmp_path / "program"], YES).profile_path
    numbers = {
        group["label"]: group["blocks"]["number"] for group in objects(profile)["groups"] if group["blocks"]
    }
    assert numbers[f"heap objects.cpp:{vector}, main"] == 1
    assert numbers[f"heap objects.cpp:{nodes}, main"] == 64
    shown = annotate("--hints", profile)
    assert shown.stderr == ""
    words = " ".join(shown.stdout.partition("== Hints ==")[2].split())
    assert f"Data: heap objects.cpp:{vector}, main. Never used:" in words
    assert "Fields of Particle, 200 bytes" in words
    assert re.search(r"Used together: x, (y, )?charge \((24|16) bytes\); ", words)


RUST = """
struct Particle { x: f64, y: f64, name: [u8; 80] }
struct Node { key: u64, next: Option<Box<Node>>, rest: [u64; 6] }

fn particles() -> Vec<Particle> {
    let mut all = Vec::new();
    for at in 0..5000 { all.push(Particle { x: at as f64, y: 1.0, name: [0; 80] }); }
    all
}

fn nodes() -> Option<Box<Node>> {
    let mut head = None;
    for key in 0..5000 { head = Some(Box::new(Node { key, next: head, rest: [0; 6] })); }
    head
}

fn main() {
    let mut all = particles();
    let head = nodes();
    for _ in 0..100 { for one in all.iter_mut() { one.x += one.y; } }
    let mut at = &head;
    let mut sum = 0;
    while let Some(node) = at { sum += node.key; at = &node.next; }
    println!("{} {}", sum, all[7].x + all[7].name[0] as f64 + node_rest(&head));
}

fn node_rest(head: &Option<Box<Node>>) -> f64 { head.as_ref().unwrap().rest[0] as f64 }
"""


def test_blocks_of_rust_have_types_and_lines_of_the_program(tmp_path: Path) -> None:
    if not shutil.which("rustc") or not shutil.which("llvm-symbolizer"):
        pytest.skip("rustc or llvm-symbolizer is missing")
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    (tmp_path / "sim.rs").write_text(RUST)
    subprocess.run(["rustc", "-O", "-g", "-o", "sim", "sim.rs"], cwd=tmp_path, check=True)
    # What the library calls on its way to the allocator takes none of the depth.
    profile = run(tmp_path, [tmp_path / "sim"], YES).profile_path
    found = objects(profile, "--object=heap sim.rs")
    kinds = {group["type"]["name"]: group for group in found["groups"] if group.get("type")}
    assert set(kinds) >= {"sim::Particle", "sim::Node"}
    assert [kinds[name]["type"]["size"] for name in ("sim::Particle", "sim::Node")] == [96, 64]
    used = {field["name"]: field["used"] for field in kinds["sim::Particle"]["type"]["fields"]}
    assert used["x"] > 0 and used["y"] > 0
    assert used["name[80]"] < used["x"] / 2


# What the program of layouts.cpp does with each, how many bytes it loads for its type, and what the second layout
# loads in place of that. (label, what --object= says)
LAYOUTS = {
    "BODIES": ("heap layouts.cpp:.*, main", "in_order"),
    "CHAINS": ("heap layouts.cpp:.*, add", "order"),
    "TABLE": ("variable .*table", "in_order"),
}


@pytest.mark.parametrize("which", LAYOUTS)
def test_another_layout_loads_what_was_predicted(tmp_path: Path, which: str) -> None:
    if not shutil.which("g++"):
        pytest.skip("g++ is missing")
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    label, advice = LAYOUTS[which]

    def loaded(*options: str) -> tuple[int, Any]:
        """How many bytes for the data that it is about, and the type of what loads most of it."""
        command = ["g++", "-std=c++17", "-O1", "-g", *options, f"-D{which}", str(LAYOUTS_CPP), "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        caches = ["--D1=32768,8,64", "--LL=262144,16,64"]
        profile = run_tool(tmp_path, [tmp_path / "program"], [YES, *caches]).profile_path
        found = objects(profile, f"--object={label}")
        first, used = found["events"].index("SpLoss1"), found["events"].index("UsByte1")
        groups = [group for group in found["groups"] if re.match(label, group["label"])]
        sums = [int(group["self"][first]) + int(group["self"][used]) for group in groups]
        return sum(sums), groups[sums.index(max(sums))]["type"]

    before, kind = loaded()
    after, _ = loaded("-DREPAIRED")
    predicted = kind["order"]["then"] if advice == "order" else kind["split"][advice]
    assert before > 1.5 * after
    assert abs(predicted - after) <= 0.1 * after


def test_what_each_thread_allocates_and_loads_adds_up(tmp_path: Path) -> None:
    def added(*options: str) -> tuple[dict[str, Counter[str]], dict[str, int]]:
        """Numbers of blocks, and lines in patterns, by what allocated them."""
        folder = tmp_path / f"threads{len(options)}"
        folder.mkdir()
        run(folder, [GUESTS / "objects"], YES, "--engine-thread=no", *options)
        paths = sorted(path for path in folder.glob("profile.out*"))
        assert (len(paths) > 1) == bool(options)
        blocks: dict[str, Counter[str]] = defaultdict(Counter)
        lines: dict[str, int] = defaultdict(int)
        for path in paths:
            for group in objects(path)["groups"]:
                for key in ("number", "bytes", "freed", "alive"):
                    if group["blocks"]:
                        blocks[group["label"]][key] += group["blocks"][key]
                        lines[group["label"]] += sum(pattern[3] for pattern in group["patterns"])
        return blocks, lines

    assert added("--separate-threads=yes") == added()


def test_an_objects_file_of_another_run_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path, [GUESTS / "objects"], YES, name="first").profile_path
    second = run(tmp_path, [GUESTS / "recursion"], YES, name="second").profile_path
    first.with_name(f"objects.{first.name}").write_bytes(second.with_name(f"objects.{second.name}").read_bytes())
    assert "but the profile about" in check_profile(first)
    completed = annotate("--objects", first)
    assert completed.returncode == 2
    assert "tells of another run than" in completed.stderr


def test_without_a_file_of_objects_it_says_what_to_do(tmp_path: Path) -> None:
    profile = run(tmp_path, [GUESTS / "recursion"]).profile_path
    completed = annotate("--objects", profile)
    assert completed.returncode == 2
    assert "--objects=yes" in completed.stderr


def test_without_cache_use_it_says_that_it_does_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, [GUESTS / "recursion"], YES, "--cacheuse=no")
    assert "--objects does nothing" in result.log
    assert not list(tmp_path.glob("objects.*"))


def test_wrong_arguments_of_allocators_are_refused(tmp_path: Path) -> None:
    result = run(tmp_path, [GUESTS / "recursion"], "--alloc-fn4=f")
    assert result.status == 1
    assert "only arguments 1 to 3 are known" in result.log + result.stderr
