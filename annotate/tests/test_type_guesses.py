# SPDX-License-Identifier: GPL-2.0-or-later
"""Which types heap blocks are taken for, and why."""

import re
from dataclasses import replace

import pytest
from bdannotate.analyses.types import AskedType, types_of, typing
from bdannotate.model.frames import Position
from bdannotate.model.types import FoundTypes, Type
from heap_groups import heap


def guesses(group, chains=()):
    sought = typing([group], (), dict(chains), ())
    return [(one.name, one.is_single) for one in sought.guesses[group.identity]]


VECTOR = "std::vector<geo::Vec, std::allocator<geo::Vec> >"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (f"void {VECTOR}::_M_realloc_insert<geo::Vec const&>(geo::Vec const&)", ("geo::Vec", False)),
        (f"std::__cxx11::basic_string<char>::f({VECTOR}&)", None),
        ("std::allocator_traits<std::allocator<Node*> >::allocate(std::allocator<Node*>&, unsigned long)",
         ("Node*", False)),
        ("__gnu_cxx::new_allocator<Pair<int, char> >::allocate(unsigned long, void const*)",
         ("Pair<int, char>", False)),
        ("std::__1::vector<Node, std::__1::allocator<Node> >::push_back(Node&&)", ("Node", False)),
        ("std::_MakeUniq<Node>::__single_object std::make_unique<Node>()", ("Node", True)),
        ("std::_MakeUniq<Node []>::__array std::make_unique<Node []>(unsigned long)", ("Node", False)),
        (f"{VECTOR}::f()".replace("geo::Vec", "std::__cxx11::basic_string<char>"),
         ("std::__cxx11::basic_string<char>", False)),
        ("operator<<(std::vector<int>&)", None),
        ("a>b<c", None),
        ("std::vector<", None),
    ],
)
def test_library_functions_tell_what_they_allocate(name, kind):
    found = guesses(heap([(name, "???", 0)], (8, 8, 8)))
    assert found == ([kind] if kind else [])


RUST = "/rustc/59807616/library/alloc/src/"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        # Mangled as C++'s, with what the parameters stand for.
        ("alloc::vec::Vec<T,A>::push::<geo::Cell, alloc::alloc::Global>", ("geo::Cell", False)),
        ("alloc::vec::Vec<T,A>::push", None),
        ("alloc::vec::Vec<T,A>::push::<T, A>", None),
        ("<alloc::vec::Vec<T> as alloc::vec::SpecFromIter<T,I>>::from_iter::<(u64, geo::Cell), X<u8>>",
         ("(u64, geo::Cell)", False)),
        ("alloc::boxed::Box<T>::new::<geo::Node>", ("geo::Node", True)),
        ("alloc::boxed::Box<[T]>::new_uninit_slice::<geo::Node>", ("geo::Node", False)),
        ("alloc::vec::from_elem::<f64>", ("f64", False)),
        ("alloc::raw_vec::RawVec<T,A>::grow_one::<geo::Cell, alloc::alloc::Global>", None),
        ("alloc::boxed::box_new_uninit", None),
        # As rustc mangles otherwise.
        ("<alloc::vec::Vec<geo::Cell>>::push", ("geo::Cell", False)),
        ("<alloc::boxed::Box<geo::Node>>::new", ("geo::Node", True)),
        ("<alloc::boxed::Box<[geo::Node]>>::new_uninit_slice", ("geo::Node", False)),
        ("<alloc::vec::Vec<alloc::boxed::Box<dyn geo::Shape>> as core::iter::FromIterator<alloc::boxed::Box<dyn "
         "geo::Shape>>>::from_iter::<core::iter::Map<core::ops::Range<i32>, geo::main::{closure#0}>>",
         ("alloc::boxed::Box<dyn geo::Shape>", False)),
        ("<alloc::raw_vec::RawVec<geo::Cell>>::grow_one", None),
        ("<hashbrown::raw::RawTable<(u64, geo::Cell)>>::reserve_rehash::<()>", None),
    ],
)
def test_rusts_library_tells_what_it_allocates(name, kind):
    group = heap([("__rustc::__rust_alloc", "???", 0), ("geo::main", f"{RUST}vec/mod.rs", 7)], (48, 48, 48))
    chain = (
        Position("geo::main", "/src/main.rs", 3), Position(name, f"{RUST}vec/mod.rs", 7),
        Position("alloc::alloc::alloc", f"{RUST}alloc.rs", 95),
    )
    assert guesses(group, {"/prog": {0x10: chain}}) == ([kind] if kind else [])


def test_a_closure_that_rusts_library_calls_is_the_programs():
    """What is around it is what the closure's result goes into."""
    places = [("__rustc::__rdl_alloc", f"{RUST}alloc.rs", 455), ("from_iter", f"{RUST}vec/mod.rs", 7)]
    group = heap(places, (48, 48, 48))
    chain = (
        Position("<alloc::vec::Vec<alloc::boxed::Box<geo::Node>> as A>::from_iter", f"{RUST}vec/mod.rs", 7),
        Position("geo::main::{closure#0}", "/src/main.rs", 9),
        Position("<alloc::boxed::Box<geo::Node>>::new", RUST, 1),
    )
    assert guesses(group, {"/prog": {0x10: chain}}) == [("geo::Node", True)]
    without = (chain[0], chain[2]._replace(function="alloc::alloc::alloc"))
    assert guesses(group, {"/prog": {0x10: without}}) == [("alloc::boxed::Box<geo::Node>", False)]


def test_what_calls_the_programs_own_function_tells_nothing():
    """A vector's element that allocates is not the vector's element."""
    inner = ("Node::Node()", "???", 0)
    outer = ("void std::vector<Node>::emplace_back<>()", "???", 0)
    assert guesses(heap([inner, outer], (8, 8, 8))) == []
    assert guesses(heap([outer, inner], (8, 8, 8))) == [("Node", False)]


def test_inlined_functions_tell_it_too():
    group = heap([("main", "/usr/include/c++/12/bits/unique_ptr.h", 1065)], (32, 32, 32), "operator new(unsigned long)")
    chain = (Position("main", "/missing", 3), Position("std::make_unique<Node>", "/missing.h", 1065))
    assert guesses(group, {"/prog": {0: chain}}) == [("Node", True)]


def test_one_line_that_allocates_different_types_tells_none():
    group = heap([("main", "/usr/include/c++/12/bits/new_allocator.h", 137)], (32, 32, 32))
    other = (group.sites[0][0]._replace(address=0x20),)
    group = replace(group, sites=(*group.sites, other))
    one, two = (
        (Position("main", "/missing", 3), Position(f"std::vector<{name}>::f", "/missing.h", 1)) for name in "AB"
    )
    assert guesses(group, {"/prog": {0: one, 0x20: two}}) == []
    assert guesses(group, {"/prog": {0: one, 0x20: one}}) == [("A", False)]
    assert guesses(group, {"/prog": {0: one}}) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("p = malloc(n * sizeof(struct node));", [("struct node", False)]),
        ("p = malloc(n * sizeof( node_t ) );", [("node_t", False)]),
        ("p = malloc(n * sizeof(struct node *));", [("struct node*", False)]),
        ("p = malloc(n * sizeof *p);", []),
        ("p = malloc(n * sizeof(*p));", []),
        ("auto* p = new geo::Vec{1, 2};", [("geo::Vec", True)]),
        ("Vec** p = new Vec*[7];", [("Vec*", False)]),
        ("p = new Vec", [("Vec", True)]),
        ("p = new Vec[7];", [("Vec", False)]),
        ("p = new (place) Vec;", []),
        ("a = renew Vec;", []),
        ("a = malloc(sizeof(A)); b = malloc(sizeof(B));", []),
        ("a = malloc(sizeof(A)); b = malloc(sizeof *b);", []),
        ("a = new A; b = new B;", []),
    ],
)
def test_source_lines_tell_what_they_allocate(tmp_path, line, found):
    source = tmp_path / "main.cpp"
    source.write_text(f"\n{line}\n")
    assert guesses(heap([("main", str(source), 2)], (8, 8, 8))) == found


def test_who_allocates_for_a_caller_is_passed_over(tmp_path):
    source = tmp_path / "main.c"
    source.write_text("return malloc(size);\np = xmalloc(sizeof(struct node)); q = new Other;\n")
    group = heap([("xmalloc", str(source), 1), ("main", str(source), 2)], (8, 8, 8))
    assert guesses(group) == [("struct node", False)]


def resolved(group, known, asked=(), kind="Vec"):
    found = FoundTypes({("/prog", kind): tuple(known)}, {})
    types, said = types_of(asked, typing([group], asked, {}, ()), found)
    return (types[group.identity].type.size if types else None), said


@pytest.mark.parametrize(
    ("blocks", "sizes", "size"),
    [
        ((48, 240, 24), [24], 24),  # a vector that has grown
        ((48, 240, 8), [24], None),
        ((4000, 4000, 8), [8], 8),  # calloc
        ((24, 24, 24), [24, 16], 24),
        ((48, 48, 48), [24, 16], None),  # both would fit
        ((24, 24, 24), [], None),
    ],
)
def test_a_type_must_fit_the_blocks(blocks, sizes, size):
    group = heap([(f"void {VECTOR}::push_back()".replace("geo::", ""), "???", 0)], blocks)
    assert resolved(group, [Type("Vec", one) for one in sizes]) == (size, [])


def test_what_new_makes_is_one_element():
    group = heap([("std::make_unique<Vec>()", "???", 0)], (48, 48, 48))
    assert resolved(group, [Type("Vec", 24)]) == (None, [])
    assert resolved(group, [Type("Vec", 48)]) == (48, [])


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([Type("Vec", 24)], []),
        ([], ["the debug information of prog has no such type"]),
        ([Type("Vec", 32)], ["its size, 32, does not divide the sizes of the blocks"]),
        ([Type("Vec", 24), Type("Vec", 48)], ["there are 2 different types of that name"]),
    ],
)
def test_what_the_user_says_is_checked(known, said):
    group = heap([("main", "/src/main.cpp", 7)], (48, 48, 48))
    asked = [AskedType(re.compile("main.cpp:7"), "Vec", "--object-type=...")]
    found = resolved(group, known, asked)
    assert found[0] == (None if said else 24)
    assert [note.partition("is not taken for Vec: ")[2] for note in found[1]] == said
