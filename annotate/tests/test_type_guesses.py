# SPDX-License-Identifier: GPL-2.0-or-later
"""Which types heap blocks are taken for, and why."""

import re
from dataclasses import replace

import pytest
from bdannotate.analyses.types.type_fit import elements_of
from bdannotate.analyses.types.typed_groups import AskedType, types_of, typing
from bdannotate.model.data_types import Field, FoundTypes, PointerName, Type, VariableName, WantedTypes
from bdannotate.model.frames import Position
from bdannotate.model.objects import Identity, ObjectGroup, ObjectKind, Pattern
from heap_groups import STEP, heap


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
        ("p = malloc(n * sizeof *p);", [("*p", False)]),
        ("p = malloc(n * sizeof(*p));", [("*p", False)]),
        ("p = calloc(n, sizeof(p[0]));", [("*p", False)]),
        ("p = malloc(n * sizeof *p + sizeof(*p) * m);", [("*p", False), ("*p", False)]),
        ("p = malloc(n * sizeof *p->next);", [("*p->next", False)]),
        ("s->p = xmalloc(n * sizeof *s -> p);", [("*s->p", False)]),
        ("s.t->p = xmalloc(n * sizeof(*s.t->p));", [("*s.t->p", False)]),
        ("s->p = xcalloc(n, sizeof(s->p[0]));", [("*s->p", False)]),
        ("p = malloc(n * sizeof *p->next[1]);", []),
        ("p = malloc(n * sizeof *p->next());", []),
        ("p = malloc(n * sizeof(*p)->next);", []),
        ("p = malloc(n * sizeof **p);", []),
        ("p = malloc(n * sizeof p[1]);", []),
        ("p = malloc(n * sizeof p);", []),
        ("p = malloc(n *\n    sizeof(struct node));", [("struct node", False)]),
        ("p = malloc(n); q = malloc(\n    sizeof(struct node));", [("struct node", False)]),
        ("p = malloc(n);\n q = malloc(sizeof(struct node));", []),
        ('p = xmalloc(":-(", sizeof(struct node));\nq = malloc(sizeof(int));', [("struct node", False)]),
        ("p = malloc(n); /* sizeof(struct node) */", []),
        ("p = malloc(n); // sizeof(struct node)", []),
        ("p = new Box<long>{1};", [("Box<long>", True)]),
        ("p = new std::pair<int, Box<long>>[7];", [("std::pair<int, Box<long>>", False)]),
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


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Minisat::vec<Minisat::Solver::Watcher>::capacity(int)", ["T", "Minisat::Solver::Watcher"]),
        ("pool<Node, 64>::grow()", ["T", "Node"]),
        ("map<Key, pair<A, B> >::grow(std::vector<int>&)", ["T", "pair<A, B>", "Key"]),
        ("void grow<Node>(Node**)", ["T", "Node"]),
        ("outer<X>::inner<Y>::grow()", ["T", "Y", "X"]),
        ("grow(int)", ["T"]),
        ("a<", ["T"]),
    ],
)
def test_a_parameter_stands_for_an_argument_of_the_template(tmp_path, name, found):
    source = tmp_path / "vec.h"
    source.write_text("data = (T*)realloc(data, (cap += add) * sizeof(T));\n")
    group = heap([(name, str(source), 1)], (8, 8, 8))
    assert guesses(group) == [(one, False) for one in found]


def test_what_is_no_parameter_stands_for_itself(tmp_path):
    source = tmp_path / "vec.h"
    source.write_text("data = realloc(data, n * sizeof(Node));\n")
    assert guesses(heap([("vec<Edge>::grow()", str(source), 1)], (8, 8, 8))) == [("Node", False)]


def resolved(group, known, asked=(), kind="Vec"):
    found = FoundTypes({("/prog", kind): tuple(known)}, {})
    types, said = types_of(asked, typing([group], asked, {}, ()), found)
    known = types.known.get(group.identity)
    assert (known is None) == bool(types.missing.get(group.identity))
    return known and known.type.size, said


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
    assert [note.partition("is not shown as Vec (as --object-type=... says): ")[2] for note in found[1]] == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a = malloc(sizeof(A)); b = malloc(sizeof *b);", "main.cpp:2 names several types: A, *b"),
        ("a = malloc(n * sizeof **a);", "a sizeof that is neither of a type nor of what a variable points to"),
        ("a = malloc(n);", "main.cpp:2 has neither new T nor sizeof(T)"),
        (None, "the source main.cpp:2: not found"),
    ],
)
def test_why_a_source_line_tells_no_type_is_said(tmp_path, line, said):
    source = tmp_path / "main.cpp"
    if line:
        source.write_text(f"\n{line}\n")
    group = heap([("main", str(source), 2)], (8, 8, 8))
    assert typing([group], (), {}, ()).reasons[group.identity].endswith(said)


def test_why_functions_tell_no_type_is_said():
    group = heap([("main", "???", 0)], (32, 32, 32))
    assert "main has no source lines (compile with -g)" in typing([group], (), {}, ()).reasons[group.identity]
    group = heap([("operator new(unsigned long)", "???", 0)], (32, 32, 32))
    assert "it name no type" in typing([group], (), {}, ()).reasons[group.identity]
    other = (group.sites[0][0]._replace(address=0x20),)
    group = replace(group, sites=(*group.sites, other))
    chains = {
        "/prog": {
            at: (Position("main", "/missing", 3), Position(f"std::vector<{name}>::f", "/missing.h", 1))
            for at, name in ((0, "A"), (0x20, "B"))
        }
    }
    said = typing([group], (), chains, ()).reasons[group.identity]
    assert said == "different types are allocated in the same line: A, B"


def missing(group, found, asked=()):
    return types_of(asked, typing([group], asked, {}, ()), found)[0].missing[group.identity]


def test_why_a_guess_is_not_taken_is_said():
    single = heap([("std::make_unique<Vec>()", "???", 0)], (48, 48, 48))
    reason = "Vec (allocated by std::make_unique<Vec>): "
    assert missing(single, FoundTypes({}, {})) == f"{reason}the debug information of prog has no such type"
    known = {("/prog", "Vec"): (Type("Vec", 24),)}
    assert missing(single, FoundTypes(known, {})) == f"{reason}its size, 24, is not that of every block"
    assert missing(single, FoundTypes({}, {}, problems={"/prog": "none there"})) == "prog: none there"


def test_why_a_variable_has_no_type_is_said():
    group = ObjectGroup(Identity(ObjectKind.STATIC, "table", "/prog", 64))
    assert missing(group, FoundTypes({}, {})) == "the debug information of prog has no such variable"
    several = {("/prog", VariableName("table", 64)): (Type("A", 8), Type("B", 8))}
    assert "2 variables of that name" in missing(group, FoundTypes({}, several))
    assert missing(group, FoundTypes({}, {}, problems={"/prog": "none there"})) == "prog: none there"


def test_what_a_variable_points_to_is_looked_up_in_its_function(tmp_path):
    source = tmp_path / "main.c"
    source.write_text("p = malloc(n * sizeof *p);\n")
    group = heap([("make", str(source), 1)], (48, 240, 24))
    sought = typing([group], (), {}, ())
    pointer = PointerName("make", "p")
    assert sought.wanted == {"/prog": WantedTypes(pointers=frozenset({pointer}))}
    types, _ = types_of((), sought, FoundTypes({}, {}, pointees={("/prog", pointer): (Type("Vec", 24),)}))
    found = types.known[group.identity]
    assert (found.type.name, found.reason) == ("Vec", "main.c:1 says sizeof *p, and p is declared so")
    assert missing(group, FoundTypes({}, {})).endswith("no such variable there, or not the type that it points to")


def test_so_is_what_a_member_points_to(tmp_path):
    source = tmp_path / "main.c"
    source.write_text("return malloc(size);\nall->parts = own(n * sizeof *all->parts);\n")
    group = heap([("own", str(source), 1), ("make", str(source), 2)], (48, 240, 24))
    sought = typing([group], (), {}, ())
    pointer = PointerName("make", "all", ("parts",))
    assert sought.wanted == {"/prog": WantedTypes(pointers=frozenset({pointer}))}
    types, _ = types_of((), sought, FoundTypes({}, {}, pointees={("/prog", pointer): (Type("Vec", 24),)}))
    found = types.known[group.identity]
    assert (found.type.name, found.reason) == ("Vec", "main.c:2 says sizeof *all->parts, and all->parts is declared so")


MESSAGE = Type("Vec", 16, (Field("length", "int", 0, 4), Field("data[]", "char", 12, 0)))


@pytest.mark.parametrize(
    ("blocks", "size", "data"),
    [
        ((116, 116, 116), 116, 104),
        ((128, 128, 128), 128, 116),  # not 8 of them
        ((20, 116, 4), 116, 104),
        ((12, 16, 4), 16, 4),
        ((12, 12, 12), 12, 0),
        ((8, 116, 4), None, None),
        ((80000, 80000, 8), None, None),  # calloc(10000, 8)
        ((116, 116, 1), 116, 104),  # by calloc(116, 1)
        ((1160, 1160, 116), 116, 104),  # calloc(10, 116)
    ],
)
def test_what_ends_in_an_array_of_any_length_is_the_beginning_of_a_block(blocks, size, data):
    group = heap([("std::vector<Vec>::f()", "???", 0)], blocks)
    types, _ = types_of((), typing([group], (), {}, ()), FoundTypes({("/prog", "Vec"): (MESSAGE,)}, {}))
    if size is None:
        assert types.missing[group.identity].endswith("its size, 16, does not divide the sizes of the blocks")
        return
    found = types.known[group.identity]
    assert (found.type.size, found.type.fields[-1]) == (size, Field("data[]", "char", 12, data))
    assert found.reason.endswith("; data[] goes on to the end of the block") and found.has_open_end


@pytest.mark.parametrize(
    ("blocks", "allocator", "fits"),
    [
        ((8 + 5 * 24, 8 + 5 * 24, 8 + 5 * 24), "operator new[](unsigned long)", True),
        ((8 + 24, 8 + 3 * 24, 8), "operator new[](unsigned long)", True),
        ((8 + 5 * 24, 8 + 5 * 24, 8 + 5 * 24), "malloc", False),
        ((8 + 5 * 24, 8 + 5 * 24, 8 + 5 * 24), "operator new(unsigned long)", False),
        ((16 + 5 * 24, 16 + 5 * 24, 16 + 5 * 24), "operator new[](unsigned long)", False),
        ((8 + 24, 16 + 24, 8), "operator new[](unsigned long)", False),
        ((16 + 24, 8 + 3 * 24, 8), "operator new[](unsigned long)", False),
    ],
)
def test_what_has_a_destructor_stands_behind_a_number(tmp_path, blocks, allocator, fits):
    source = tmp_path / "main.cpp"
    source.write_text("p = new Vec[n];\n")
    patterns = [Pattern(0, 56, 0xF0F, 2, STEP), Pattern(56, 64, 0xFF, 3, STEP), Pattern(0, 8, 1, 5, STEP)]
    patterns += [Pattern(0, 0, 0, 7, STEP)]
    group = heap([("main", str(source), 1)], blocks, allocator, patterns)
    vec = Type("Vec", 24, (Field("x", "double", 0, 8), Field("name[16]", "char", 8, 16)))
    types, _ = types_of((), typing([group], (), {}, ()), FoundTypes({("/prog", "Vec"): (vec,)}, {}))
    if not fits:
        assert not types.known
        return
    found = types.known[group.identity]
    assert found.reason == "main.cpp:1 says new Vec[]; 8 bytes with their number come first"
    assert elements_of(group, found.start).patterns == (
        Pattern(0, 48, 0xF, 2, STEP), Pattern(48, 64, 0xFF, 3, STEP), Pattern(0, 0, 0, 7, STEP)
    )
    assert [(field.name, field.loaded, field.used) for field in found.fields] == [
        ("x", 2 * 2 + 3 * 3, 2 + 3), ("name[16]", 2 * 2 + 3 * 3, 0)
    ]


def test_a_single_element_has_no_number_before_it(tmp_path):
    source = tmp_path / "main.cpp"
    source.write_text("p = new Vec;\n")
    group = heap([("main", str(source), 1)], (32, 32, 32), "operator new[](unsigned long)")
    assert resolved(group, [Type("Vec", 24)]) == (None, [])


def test_types_are_looked_up_where_the_program_has_them():
    """Not in the C++ library that allocates for it, whose debug information need not be here."""
    group = heap([("std::vector<Node>::grow", "???", 0), ("main", "/src/main.cpp", 7)], (8, 8, 8))

    def through(module):
        first, *others = group.identity.places
        first = first._replace(function=first.function._replace(object=module))
        return replace(group, identity=group.identity._replace(places=(first, *others)))

    def wanted(group):
        return {path: sorted(what.names) for path, what in typing([group], (), {}, ()).wanted.items()}

    assert wanted(through("/usr/lib/libstdc++.so.6.0.30")) == {"/prog": ["Node"]}
    assert wanted(through("/usr/lib/libgeo.so.1")) == {"/usr/lib/libgeo.so.1": ["Node"], "/prog": ["Node"]}


def test_a_few_odd_sizes_do_not_hide_a_type():
    """As of a pool: what refills it is larger, and has patterns behind the size of an element."""
    odd = Pattern(4096, 8, 0xFF, 3, STEP)
    usual = Pattern(0, 24, 0xFF, 7, STEP)
    name = f"void {VECTOR}::push_back()".replace("geo::", "")
    group = heap([(name, "???", 0)], (24, 16384, 8, 24), patterns=[usual, odd])
    assert resolved(group, [Type("Vec", 24)]) == (24, [])
    assert resolved(group, [Type("Vec", 16)]) == (None, [])
    assert resolved(heap([(name, "???", 0)], (24, 16384, 8)), [Type("Vec", 24)]) == (None, [])
    found = FoundTypes({("/prog", "Vec"): (Type("Vec", 24, (Field("x", "long", 0, 8),)),)}, {})
    types, _ = types_of((), typing([group], (), {}, ()), found)
    typed = types.known[group.identity]
    assert "at least nine tenths of the blocks have 24 bytes" in typed.reason
    assert [(field.name, field.used) for field in typed.fields][0] == ("x", 7)
    only = elements_of(group, typed.start, typed.only)
    assert only.blocks.largest == 24 and list(only.patterns) == [usual]
