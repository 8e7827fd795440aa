# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects on the heap: which functions allocate and free, and what is counted of blocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
from harness import GUESTS, annotate, check_profile, guest_program
from object_runs import YES, objects, run, walked


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
    # Its name says that it allocates for others, so who calls it tells its blocks apart.
    plain = [blocks[name] for name in blocks if name.startswith("from_malloc from main objects.c:")]
    common = {"bytes": 8000, "most_alive": 8000, "smallest": 8000, "largest": 8000, "divisor": 8000, "usual": 0}
    assert [each | {"unmapped": 0} for each in sorted(plain, key=lambda each: int(each["alive"]))] == [
        common | {"number": 1, "freed": 1, "alive": 0, "unmapped": 0},
        common | {"number": 1, "freed": 0, "alive": 8000, "unmapped": 0},
    ]
    assert blocks["from_thread"]["freed"] == 1  # By another thread than the one that allocated it.


def test_blocks_of_a_pool_are_freed_by_what_is_named_for_it(tmp_path: Path) -> None:
    options = [YES, "--objects-depth=1", "--alloc-fn1=pool_alloc", "--free-fn=pool_free", "--free-fn2=pool_give"]
    # The pool itself, which malloc gave it, has been forgotten since its first block begins there.
    for names, freed in ((options[:3], 1), (options[:4], 2), (options, 3)):
        found = objects(run(tmp_path, [GUESTS / "objects"], *names).profile_path)
        (blocks,) = [group["blocks"] for group in found["groups"] if group["label"].endswith(", from_pool")]
        assert (blocks["number"], blocks["freed"]) == (3, freed)


# What the log and the first screen say of functions that return no blocks.
MISNAMED = [
    "--alloc-fn1=set_level: 20 of its 20 results point outside the program's memory. If it does not return the block, "
    "remove the option.",
    "--alloc-fn1=status: none of its 20 calls returned a block. If it does not return the block, remove the option.",
    "--alloc-fn1=handle_data: 20 of its 20 results lie in less memory than argument 1 says. If another argument is the "
    "size, name it: --alloc-fn<n>=.",
]


@pytest.mark.parametrize("guest", ["objects_misnamed", "x86/objects_misnamed"])
def test_functions_that_return_no_block_are_named(tmp_path: Path, guest: str) -> None:
    names = ("set_level", "status", "handle_new", "handle_data", "arena_alloc", "header_alloc")
    options = [f"--alloc-fn={name}" for name in names]
    result = run(tmp_path, [guest_program(guest)], YES, "--objects-depth=1", *options)
    assert result.status == 0
    assert [line for line in result.log.splitlines() if line.startswith("--alloc-fn")] == MISNAMED
    screen = annotate("--width=400", result.profile_path).stdout
    assert [line.split(None, 1)[1] for line in screen.splitlines() if line.startswith("Objects ")] == MISNAMED
    assert check_profile(result.profile_path) == ""
    # All are called by main(), in lines of their own.
    blocks = [group["blocks"] for group in objects(result.profile_path)["groups"] if ", main" in group["label"]]
    handle = {2016, 2008}  # with 64 and 32 bits
    assert sorted((each["number"], each["bytes"]) for each in blocks) == [
        (20, 2000), (20, 2000), (40, 20 * next(size for size in handle if (size == 2008) == guest.startswith("x86"))),
    ]


POOLS = [YES, "--alloc-fn2=Pool::allocate*", "--free-fn2=Pool::release*", "--alloc-fn=mem_alloc"]


def test_what_pools_get_is_no_block_of_theirs(tmp_path: Path) -> None:
    """So all their blocks are of one size, and have a type."""
    result = run(tmp_path, [GUESTS / "objects_pools"], *POOLS)
    assert "--alloc-fn" not in result.log
    assert check_profile(result.profile_path) == ""
    found = [group for group in objects(result.profile_path)["groups"] if "objects_pools.cpp" in group["label"]]
    counts: dict[tuple[str, int, int], Counter[str]] = defaultdict(Counter)
    for group in found:
        blocks, name = group["blocks"], group["label"].partition(", ")[2].partition(" ")[0]
        kind = counts[name, blocks["smallest"], blocks["largest"]]
        kind.update({key: blocks[key] for key in ("number", "freed", "alive")})
    assert {kind: tuple(each.values()) for kind, each in counts.items()} == {
        ("make_body", 48, 48): (1500, 500, 48_000),
        ("make_joint", 24, 24): (300, 0, 7200),
        ("make_facet", 72, 72): (1000, 0, 72_000),
        ("make_ridge", 40, 40): (1000, 0, 40_000),
    }


@pytest.mark.parametrize("name, kind, hot", [("make_body", "Body", "next"), ("make_ridge", "Ridge", "next")])
def test_blocks_of_pools_have_types(tmp_path: Path, name: str, kind: str, hot: str) -> None:
    result = run(tmp_path, [GUESTS / "objects_pools"], *POOLS)
    for more in list[list[str]]([[], [f"--object-type={name}={kind}"]]):
        groups = objects(result.profile_path, f"--object=, {name}", *more)["groups"]
        types = [group["type"] for group in groups if group.get("type")]
        assert types and all(each["name"] == kind for each in types), more
        used = {field["name"]: field["used"] for field in types[0]["fields"]}
        assert used[hot] == max(used.values()) > 0


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_callers_are_told_apart_behind_functions_that_allocate_for_others(tmp_path: Path, depth: int) -> None:
    """As many as depth says, of those whose names do not say so."""
    result = run(tmp_path, [GUESTS / "objects_wrappers"], YES, f"--objects-depth={depth}")
    assert check_profile(result.profile_path) == ""
    groups = [group for group in objects(result.profile_path)["groups"] if "objects_wrappers.c" in group["label"]]
    wrappers = ["raw_alloc", "xmalloc", "xmemdup"]
    ways = [["add_name", "main"], ["add_value", "add_left", "main"], ["add_value", "add_right", "main"]]
    expected = Counter[tuple[str, ...]]()
    for way in ways:
        expected[*wrappers, *way[:depth]] += 10
    found = Counter[tuple[str, ...]]()
    for group in groups:
        names = [place["function"] for place in group["places"]]
        # Before main, the C library calls.
        names = names[: names.index("main") + 1] if "main" in names else names
        if group["blocks"]:
            found[tuple(names)] += group["blocks"]["number"]
    assert found == expected
    # They are called by who asks for them.
    labels = {group["label"].partition(", ")[2].partition(" ")[0] for group in groups if group["blocks"]}
    assert labels == {"add_name", "add_value"}


# As find_library() knows them; None: the C library itself.
LIBRARIES = [None, "jemalloc", "mimalloc", "tcmalloc_minimal"]


def preloaded(library: str | None) -> dict[str, str]:
    """The environment in which a guest has that allocator."""
    if library is None:
        return {}
    file = find_library(library)
    if file is None:
        pytest.skip(f"lib{library} is missing")
    return {"LD_PRELOAD": file}


def blocks_of(found: dict[str, Any], names: Container[str]) -> dict[str, tuple[int, int, int]]:
    """How many blocks, their bytes, and how many were freed, by the function among the callers that is in `names`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for group in found["groups"]:
        functions = [place["function"].partition("(")[0] for place in group["places"]]
        for name in functions:
            if group["blocks"] and name in names:
                counts[name].update({key: group["blocks"][key] for key in ("number", "bytes", "freed")})
    return {name: (each["number"], each["bytes"], each["freed"]) for name, each in counts.items()}


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_forms_of_new(tmp_path: Path, library: str | None) -> None:
    expected = {
        "single": (10, 400, 10),
        "arrays": (10, 10_000, 10),
        "aligned": (10, 1280, 10),
        "without_exceptions": (10, 70, 10),
        "vectors": (10, 40 * 55, 10),
    }
    result = run(tmp_path, [GUESTS / "objects_new"], YES, environment=preloaded(library))
    assert blocks_of(objects(result.profile_path), expected) == expected


@pytest.mark.parametrize("library", LIBRARIES)
def test_cs_functions_whoever_has_them(tmp_path: Path, library: str | None) -> None:
    expected = {
        "by_malloc": (10, 1000, 10),
        "by_calloc": (10, 700, 10),
        "by_realloc": (10, 55_000, 10),
        "by_posix": (10, 5120, 10),
        "by_aligned": (10, 5120, 10),
        "by_memalign": (10, 5120, 10),
        "by_strdup": (10, 100, 10),
        "large": (10, 10_000_000, 10),
    }
    result = run(tmp_path, [GUESTS / "objects_c"], YES, environment=preloaded(library))
    assert result.status == 0
    assert blocks_of(objects(result.profile_path), expected) == expected


def blocks_by_caller(found: dict[str, Any]) -> dict[str, dict[str, int]]:
    """What is known of heap blocks, by the function that called for them."""
    return {
        group["label"].partition(", ")[2]: group["blocks"] for group in found["groups"] if group["blocks"]
    }


@pytest.mark.parametrize("guest", ["objects_prefixed", "x86/objects_prefixed"])
def test_allocators_are_known_with_the_prefix_of_a_library(tmp_path: Path, guest: str) -> None:
    result = run(tmp_path, [guest_program(guest)], YES, "--objects-depth=1")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    lines = walked(found)
    callers = ("from_calloc", "from_realloc", "from_posix")
    assert {caller: lines[f"heap {caller}"] for caller in callers} == dict.fromkeys(callers, 100)
    blocks = blocks_by_caller(found)
    counts = {
        caller: tuple(blocks[caller][key] for key in ("number", "bytes", "freed", "divisor"))
        for caller in (*callers, "from_malloc")
    }
    assert counts == {
        "from_calloc": (1, 8000, 1, 8),
        "from_malloc": (1, 100, 1, 100),
        "from_realloc": (1, 8000, 0, 8000),
        "from_posix": (1, 8000, 1, 8000),
    }


@pytest.mark.parametrize("guest", ["objects_interrupted", "x86/objects_interrupted"])
def test_a_handler_may_allocate_while_it_interrupts_an_allocator(tmp_path: Path, guest: str) -> None:
    result = run(tmp_path, [guest_program(guest)], YES, "--objects-depth=1", "--alloc-fn=take")
    assert result.status == 0
    assert check_profile(result.profile_path) == ""
    found = objects(result.profile_path)
    blocks = blocks_by_caller(found)
    expected = {"from_interrupted": 1, "from_after": 1, "handler_malloc": 2, "handler_take": 2}
    numbers = {caller: (blocks[caller]["number"], blocks[caller]["bytes"]) for caller in expected}
    assert numbers == {caller: (number, 8000 * number) for caller, number in expected.items()}
    assert "from_left" not in blocks
    lines = walked(found)
    assert {caller: lines[f"heap {caller}"] for caller in expected} == dict.fromkeys(expected, 100)


@pytest.mark.parametrize("option", ["--alloc-fn=main", "--alloc-fn2=main", "--free-fn=main", "--free-fn2=main"])
def test_without_objects_allocators_do_nothing(tmp_path: Path, option: str) -> None:
    result = run(tmp_path, [GUESTS / "recursion"], option)
    assert "Warning: --alloc-fn and --free-fn do nothing without --objects=yes." in result.log
    assert "no function of that name has run" not in result.log


def test_wrong_arguments_of_allocators_are_refused(tmp_path: Path) -> None:
    result = run(tmp_path, [GUESTS / "recursion"], "--alloc-fn4=f")
    assert result.status == 1
    assert "only arguments 1 to 3 are known" in result.log + result.stderr
