# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects: who owns what is loaded, that all adds up to the profile, and that nothing else changes.

Which group has which cost, the unit tests compare with a naive engine. Here `bd_annotate --check` does the sums: every
event, function by function.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from harness import (
    BDCOMPARE,
    GUESTS,
    SMALL_CACHES,
    SOURCE,
    annotate,
    check_profile,
    counted,
    guest_program,
    needs_bdcompare,
    run_tool,
    steady_environment,
)
from object_runs import YES, objects, run, walked


LAYOUTS_CPP = Path(__file__).parent / "layouts.cpp"


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
    result = run(tmp_path, [guest_program(guest)], YES, "--alloc-fn=pool_alloc")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    lines = walked(objects(result.profile_path))
    assert {label: lines[label] for label in ALWAYS} == ALWAYS
    assert lines["stack of from_stack"] == of_stack
    assert lines[f"file {Path(guest).name}"] >= 100  # And perhaps where its code lies.


MAPPED = {
    "file sparse": 200,
    "file private": 100,
    "file shared": 100,
    "file deleted (deleted)": 100,
    "file deleted later": 100,
    "file memfd:frames (deleted)": 100,
    "file zero": 100,
    "file moved": 300,
    "mapped moved": 100,
    "heap from_arena": 400,
    "file instead": 500,
    "heap from_malloc": 100,
}


@pytest.mark.parametrize("guest", ["mappings", "x86/mappings"])
def test_what_is_mapped_has_its_name(tmp_path: Path, guest: str) -> None:
    """And a large one takes no time where it has no variables: 101 times 4 GiB, or 512 MiB on x86."""
    result = run(tmp_path, [guest_program(guest), tmp_path], YES, "--alloc-fn=arena_alloc")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    lines = walked(found)
    assert {label: lines[label] for label in MAPPED} == MAPPED
    # What an arena's blocks were is forgotten with it.
    blocks = {group["label"].partition(", ")[2]: group for group in found["groups"] if group["blocks"]}
    (arena,) = [group for label, group in blocks.items() if label.startswith("from_arena")]
    assert arena["blocks"]["freed"] == 4
    assert arena["blocks"]["alive"] == 0
    assert sum(pattern[3] for pattern in arena["patterns"]) <= 400


# By what allocates the blocks: the lines of D1 loaded for them, and how often a line left in which the bytes from one
# offset on were so many, of which these were used.
LINES: dict[str, tuple[int, dict[tuple[int, int, tuple[int, ...]], int]]] = {
    "a": (0, {(0, 16, (3,)): 100}),
    "b": (100, {(0, 48, (20,)): 100}),
    "c": (100, {(0, 16, (3,)): 100}),
    "d": (0, {(0, 48, (20,)): 100}),
    "x": (200, {(0, 64, (62, 63)): 100, (64, 32, (64, 65)): 100}),
    "y": (0, {(0, 32, (0,)): 100}),
    "v": (100, {(0, 64, (62, 63)): 100}),
    "w": (100, {(0, 64, (0, 1)): 100}),
}


@pytest.mark.parametrize("guest", ["objects_lines", "x86/objects_lines"])
def test_blocks_that_share_lines_and_lie_across_them(tmp_path: Path, guest: str) -> None:
    result = run(tmp_path, [guest_program(guest)], YES, "--alloc-fn=take", "--objects-depth=1")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    event = found["events"].index("EvLineD1")
    actual: dict[str, tuple[int, Counter[tuple[int, int, tuple[int, ...]]]]] = {}
    for group in found["groups"]:
        name = group["label"].partition(", ")[2]
        if name not in LINES:
            continue
        patterns: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
        for offset, count, used, times, _ in group["patterns"]:
            patterns[offset, count, tuple(offset + at for at in range(count) if used >> at & 1)] += times
        actual[name] = (group["self"][event], patterns)
        assert group["blocks"]["number"] == 100
    assert actual == LINES


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


# Small caches, as the naive engine looks at every line and block for each line that is evicted.
@needs_bdcompare
@pytest.mark.parametrize(
    ("guest", "caches"),
    [
        ("objects", ["--D1=4096,4,64", "--LL=16384,8,64"]),
        ("objects_c", ["--D1=1024,2,32", "--LL=20480,5,128"]),
        ("objects_large", ["--D1=4096,4,64", "--LL=16384,8,64"]),
        ("objects_lines", ["--D1=3072,3,128", "--LL=12288,4,32"]),
        ("objects_new", ["--D1=4096,4,64", "--LL=16384,8,64"]),
    ],
)
def test_objects_and_their_bytes_equal_the_naive_engines(tmp_path: Path, guest: str, caches: list[str]) -> None:
    """From a recorded trace, which has heap blocks, but neither variables nor files."""
    trace = tmp_path / "trace"
    options = ["--I1=4096,4,64", *caches, YES, "--alloc-fn=pool_alloc", "--alloc-fn=take", "--free-fn=pool_free"]
    run_tool(tmp_path, [GUESTS / guest], [*options, f"--record-trace={trace}"])
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    numbers = re.search(r" (\d+) costs of objects, (\d+) patterns, (\d+) of large objects, ", compared.stdout)
    assert numbers, compared.stdout
    costs, patterns, large = map(int, numbers.groups())
    assert costs > 500
    assert patterns + large >= 9
    if guest == "objects_large":
        assert large == 8192


def test_large_blocks_are_looked_at_in_part(tmp_path: Path) -> None:
    found = objects(run(tmp_path, [GUESTS / "objects_large"], YES).profile_path)
    assert walked(found)["heap make"] == 8192
    (group,) = [group for group in found["groups"] if group["label"].endswith(", make")]
    looked_at = Counter({offset: times for offset, count, _, times, _ in group["patterns"] if count})
    assert {(count, used) for _, count, used, _, _ in group["patterns"] if count} == {(64, 0xFF)}
    # Of each page all or nothing; of the first page all.
    pages = Counter(offset // 4096 for offset in looked_at.elements())
    assert set(pages.values()) == {32}
    assert pages[0] == 32
    assert 4 <= len(pages) <= 32


@pytest.mark.parametrize(
    ("guest", "options"),
    [
        ("thread_locals", ["--separate-threads=yes"]),
        ("workload", ["--dump-before=main"]),
        ("threads", ["--separate-threads=yes"]),
        ("workload", ["--dump-every-bb=100000", "--combine-dumps=yes"]),
        ("attribution", ["--toggle-collect=main"]),
        ("odd_sets", ["--D1=3072,3,32", "--LL=12288,3,128"]),
        ("objects", ["--engine-threads=0", "--objects-depth=1"]),
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


@pytest.mark.parametrize(("which", "line"), [*((which, 64) for which in LAYOUTS), ("BODIES", 128), ("CHAINS", 128)])
def test_another_layout_loads_what_was_predicted(tmp_path: Path, which: str, line: int) -> None:
    if not shutil.which("g++"):
        pytest.skip("g++ is missing")
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    label, advice = LAYOUTS[which]

    def loaded(*options: str) -> tuple[int, Any]:
        """How many bytes for the data that it is about, and the type of what loads most of it."""
        command = ["g++", "-std=c++17", "-O1", "-g", *options, f"-D{which}", str(LAYOUTS_CPP), "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        caches = [f"--D1=32768,8,{line}", f"--LL=262144,16,{line}"]
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
        run(folder, [GUESTS / "objects"], YES, "--engine-threads=0", *options)
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


CALLERS = """
#include <stdlib.h>
struct item { long key; char pad[56]; };
__attribute__((noipa)) long sum(struct item *all) {
    long s = 0;
    for (int i = 0; i < 5000; i++) s += all[i].key;
    return s;
}
__attribute__((noipa)) long once(struct item *all) { return sum(all) + 1; }
__attribute__((noipa)) long twice(struct item *all) { return sum(all) - sum(all); }
int main(void) { struct item *all = calloc(5000, sizeof *all); return once(all) + twice(all) == 7; }
"""


def test_callers_tell_apart_for_whom_data_was_loaded(tmp_path: Path) -> None:
    """Exactly with --separate-callers; without, by what the calls cost for all data."""
    if not shutil.which("gcc"):
        pytest.skip("gcc is missing")
    (tmp_path / "callers.c").write_text(CALLERS)
    subprocess.run(["gcc", "-O1", "-g", "callers.c", "-o", "callers"], cwd=tmp_path, check=True)
    program = [tmp_path / "callers"]
    plain = annotate("--object=heap callers.c", run(tmp_path, program, YES, name="plain").profile_path).stdout
    assert " 66.7%  sum < twice < main\n 33.3%  sum < once < main\n" in plain
    profile = run(tmp_path, program, YES, "--separate-callers1=sum", name="apart").profile_path
    assert check_profile(profile) == ""
    found = objects(profile)
    lines: Counter[str] = Counter()
    for row in found["rows"]:
        if found["groups"][row["group"]]["label"] == "heap callers.c:11, main":
            lines[row["function"]] += row["self"][found["events"].index("EvLineD1")]
    # The first line came when malloc wrote the size of the block.
    assert (lines["sum'once"], lines["sum'twice"]) == (4999, 10000)


def test_an_objects_file_of_another_run_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path, [GUESTS / "objects"], YES, name="first").profile_path
    second = run(tmp_path, [GUESTS / "recursion"], YES, name="second").profile_path
    first.with_name(f"objects.{first.name}").write_bytes(second.with_name(f"objects.{second.name}").read_bytes())
    assert "but the profile about" in check_profile(first)
    completed = annotate("--objects", first)
    assert completed.returncode == 2
    assert "is from another run than" in completed.stderr


def test_without_a_file_of_objects_it_says_what_to_do(tmp_path: Path) -> None:
    profile = run(tmp_path, [GUESTS / "recursion"]).profile_path
    completed = annotate("--objects", profile)
    assert completed.returncode == 2
    assert "--objects=yes" in completed.stderr


def test_without_cache_use_it_says_that_it_does_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, [GUESTS / "recursion"], YES, "--cacheuse=no")
    assert "--objects does nothing" in result.log
    assert not list(tmp_path.glob("objects.*"))
