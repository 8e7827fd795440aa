# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose code it is: what the reader can change, and what is the runtime."""

import pytest

from bdannotate.analyses.code.ownership import Ownership, Reach, allocates_for_callers
from bdannotate.analyses.code_use import code_use
from bdannotate.model.profile import Function

from screens import LIBC, report_of


@pytest.mark.parametrize("name, is_runtime", [
    ("libc.so.6", True), ("libc-2.31.so", True), ("ld-linux-x86-64.so.2", True), ("ld-2.31.so", True),
    ("ld-musl-x86_64.so.1", True), ("libstdc++.so.6.0.30", True), ("libgomp.so.1.0.0", True),
    ("vgpreload_core-amd64-linux.so", True), ("libcrypto.so.3", False), ("libmagic.so.1", False),
    ("libsqlite3.so.0.8.6", False), ("libc", False), ("ld", False), ("???", False), ("", False),
])
def test_what_belongs_to_the_runtime(name, is_runtime):
    function = Function(f"/usr/lib/{name}", "???", "f")
    assert (Ownership({function: ()}).reach(function) is Reach.RUNTIME) == is_runtime


def test_a_runtime_whose_source_is_here_can_be_changed(tmp_path):
    source = tmp_path / "malloc.c"
    source.write_text("")
    function = Function("/home/me/libc.so.6", str(source), "malloc")
    assert Ownership({function: ()}).reach(function) is Reach.OWN


def test_code_of_the_c_library_comes_behind_what_can_be_changed():
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    events = "Ir I1mr D1mr D1mw ILmr DLmr DLmw SpLoss1 UsByte1 SpLossD1 UsByteD1"
    cost = "1000 {} 0 0 0 0 0 64 64 1 1"
    body += f"5 {cost.format(100)}\nob={LIBC}\nfl=malloc.c\nfn=malloc\n9 {cost.format(900)}\n"
    found = code_use(report_of(body, events))
    assert [function.name for function, _ in found.functions] == ["main", "malloc"]


@pytest.mark.parametrize("name, allocates", [
    ("xmalloc", True), ("l_alloc", True), ("luaM_realloc_", True), ("xstrdup'2", True), ("sqlite3DbMallocRaw", True),
    ("Arena<int>::alloc(int)", True), ("AllocateBytes(int) [clone .cold]", True), ("xmemdup", True),
    ("dealloc_all", False), ("Allocator::run()", False), ("fill<std::allocator<int> >(int)", False),
    ("f(std::allocator<int>)", False), ("new_node", False), ("main", False),
])
def test_names_that_say_that_a_function_allocates_for_others(name, allocates):
    assert allocates_for_callers(name) == allocates


def test_a_name_with_brackets_as_deep_as_it_is_long_takes_one_pass():
    """With a pass for each level it would take many minutes."""
    deep = 200_000
    assert allocates_for_callers("<" * deep + ">" * deep + "xmalloc")
    assert not allocates_for_callers("f" + "<xmalloc" * deep + ">" * deep)
