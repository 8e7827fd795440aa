# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of data objects: what debug information says, what is guessed, and what is made of it."""

import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from bdannotate import cli
from bdannotate.analyses.objects import Use
from bdannotate.analyses.split import hot_cold_split
from bdannotate.analyses.types import AskedType, TypedGroup, field_uses, types_of, typing
from bdannotate.cli import main
from bdannotate.model.frames import Position
from bdannotate.model.objects import Blocks, Group, Identity, ObjectKind, Pattern, Place, Site
from bdannotate.model.profile import Function
from bdannotate.model.types import Field, FoundTypes, Type, VariableName, WantedTypes
from bdannotate.reading.types import read_types
from test_objects import GROUPS, HEAP, beside

C = """
struct inner { short a; double b; };
struct thing {
    char tag;
    struct inner in;
    int bits : 3;
    int more : 12;
    union { int whole; char parts[4]; };
    const char* const name[2][3];
    int (*call)(int);
    enum { RED } colour;
};
typedef struct { float x, y; } point;
struct thing single;
static struct thing many[5];
point* points;
struct once { int only; };
static volatile struct once hidden;
int main(void) {
    static point local[7];
    return single.tag + many[1].tag + (int)local[0].x + hidden.only + (points != 0);
}
"""
# Offsets by the ABI of x86-64 and AArch64 alike.
THING = [
    ("tag", "char", 0, 1), ("in.a", "short", 8, 2), ("in.b", "double", 16, 8), ("bits:3", "int", 24, 1),
    ("more:12", "int", 24, 2), ("whole", "int", 28, 4), ("parts[4]", "char", 28, 4),
    ("name[2][3]", "const char* const", 32, 48), ("call", "function*", 80, 8), ("colour", "enumeration", 88, 4),
]
CPP = """
#include <memory>
namespace geo {
struct Empty {};
struct Base { int id; static int shared; };
struct Vec { double x, y; double length() const { return x; } };
class Particle : public Base, public Empty {
  public:
    virtual ~Particle() {}
    Vec at;
    Vec corners[3];
    Particle* next;
    unsigned char flag;
};
template <class T, class U> struct Pair { T first; U second; };
struct Diamond : virtual Base { int own; };
}
geo::Particle one;
static geo::Pair<int, geo::Pair<char, double>> pairs[4];
geo::Pair<const int, char> constant = {1, 2};
geo::Diamond diamond;
int main() { return one.flag + pairs[0].first + diamond.own; }
"""


def compilers(names):
    for name, dwarf in itertools.product(names, (4, 5)):
        mark = () if shutil.which(name) else pytest.mark.skip(reason=f"{name} is missing")
        yield pytest.param((name, f"-gdwarf-{dwarf}"), marks=mark, id=f"{name}-dwarf-{dwarf}")


@pytest.fixture(name="elftools")
def fixture_elftools():
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")


def compiled(folder, compiler, text, name="program", *options):
    compiler = (compiler,) if isinstance(compiler, str) else compiler
    source = folder / f"{name}.{'cpp' if '++' in compiler[0] else 'c'}"
    source.write_text(text)
    target = folder / name
    subprocess.run([*compiler, "-O0", *options, "-o", target, source], check=True)
    return str(target)


@pytest.fixture(name="program")
def fixture_program(tmp_path, elftools):
    if not shutil.which("cc"):
        pytest.skip("cc is missing")
    return compiled(tmp_path, ("cc", "-g"), C)


def read(path, names=(), variables=()):
    found = read_types({path: WantedTypes(frozenset(names), frozenset(map(VariableName._make, variables)))})
    assert found.notes == ()
    return found


def integers(fields):
    """Compilers differ in the names of integer types."""
    return [(name, re.sub(r"short int", "short", type_), *rest) for name, type_, *rest in fields]


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang"]))
def test_types_of_c(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, C)
    found = read(path, ["thing", "struct inner", "point", "char", "point*", "absent"])
    (thing,) = found.named[path, "thing"]
    assert (thing.name, thing.size) == ("thing", 96)
    assert integers(thing.fields) == THING
    assert [(one.name, one.size) for one in found.named[path, "struct inner"]] == [("inner", 16)]
    assert [(one.name, one.size) for one in found.named[path, "point"]] == [("point", 8)]
    assert [(one.name, one.size) for one in found.named[path, "char"]] == [("char", 1)]
    assert [(one.name, one.size) for one in found.named[path, "point*"]] == [("point*", 8)]
    assert found.named[path, "absent"] == ()


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang"]))
def test_variables_of_c(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, C)
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    local = next(line.split()[-1] for line in symbols.splitlines() if "local" in line.split()[-1])
    wanted = [("single", 96), ("many", 480), ("hidden", 4), ("points", 8), (local, 56), ("many", 64), ("many", 999)]
    found = {variable: types for (_, variable), types in read(path, (), wanted).variables.items()}
    assert {variable: [(one.name, one.size) for one in types] for variable, types in found.items()} == {
        ("single", 96): [("thing", 96)], ("many", 480): [("thing", 96)], ("hidden", 4): [("once", 4)],
        ("points", 8): [("point*", 8)], (local, 56): [("point", 8)],
        ("many", 64): [("thing", 96)],  # a part of it
        ("many", 999): [],
    }


@pytest.mark.parametrize("compiler", compilers(["g++", "clang++"]))
def test_types_of_cpp(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, CPP)
    pair = "geo::Pair<int, geo::Pair<char, double> >"
    found = read(path, ["geo::Particle", "Particle", "ticle", pair, "geo::Diamond"], [("one", 96)])
    (particle,) = found.named[path, "geo::Particle"]
    assert (particle.name, particle.size) == ("geo::Particle", 96)
    assert [field[:1] + field[2:] for field in particle.fields if "vptr" not in field.name] == [
        ("id", 8, 4), ("at.x", 16, 8), ("at.y", 24, 8), ("corners[3]", 32, 48), ("next", 80, 8), ("flag", 88, 1),
    ]
    assert found.named[path, "Particle"] == (particle,)
    assert found.named[path, "ticle"] == ()
    assert found.variables[path, ("one", 96)] == (particle,)
    (pairs,) = found.named[path, pair]
    assert [(field.name, field.offset) for field in pairs.fields] == [
        ("first", 0), ("second.first", 8), ("second.second", 16)
    ]
    for name in ("geo::Pair<int const, char>", "geo::Pair<const int, char>"):
        assert [one.size for one in read(path, [name]).named[path, name]] == [8]
    (diamond,) = found.named[path, "geo::Diamond"]
    assert diamond.has_virtual_bases
    assert [field.name for field in diamond.fields if "vptr" not in field.name] == ["own"]


def test_different_types_of_one_name_are_two(tmp_path, program):
    (tmp_path / "other.c").write_text("struct thing { int x; }; struct thing other;")
    target = tmp_path / "both"
    files = [tmp_path / "program.c", tmp_path / "other.c"]
    subprocess.run(["cc", "-g", "-o", target, *files], check=True)
    found = read(str(target), ["thing"]).named[str(target), "thing"]
    assert sorted(one.size for one in found) == [4, 96]


def notes(path):
    found = read_types({path: WantedTypes(frozenset({"thing"}), frozenset({VariableName("single", 96)}))})
    assert not any(found.named.values()) and not any(found.variables.values())
    (note,) = found.notes
    return note


@pytest.mark.parametrize("name", ["relative", "/missing", "/dev/null", "/", "/\0"])
def test_only_regular_files_are_opened(elftools, name):
    assert "there is no such file" in notes(name)


def test_a_file_without_debug_information_says_so(tmp_path, program):
    assert "compile with -g" in notes(compiled(tmp_path, "cc", C, "bare", "-s"))


def test_without_pyelftools_a_sentence_names_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    assert notes("/bin/true") == (
        "types of /bin/true are not known: that needs pyelftools (package python3-pyelftools)"
    )


def test_split_debug_information_is_named(tmp_path, program):
    target = compiled(tmp_path, ("cc", "-g", "-gsplit-dwarf"), C, "split")
    assert "split into .dwo files" in notes(target)


def test_separate_debug_information_is_found_by_build_id(tmp_path, program, monkeypatch):
    if not shutil.which("objcopy"):
        pytest.skip("objcopy is missing")
    stripped = compiled(tmp_path, ("cc", "-g", "-Wl,--build-id=0x1234abcd"), C, "stripped")
    folder = tmp_path / "12"
    folder.mkdir()
    subprocess.run(["objcopy", "--only-keep-debug", stripped, folder / "34abcd.debug"], check=True)
    subprocess.run(["strip", stripped], check=True)
    assert "compile with -g" in notes(stripped)
    monkeypatch.setattr("bdannotate.reading.types._DEBUG_FOLDER", str(tmp_path))
    found = read(stripped, ["thing"], [("many", 480)])
    assert [one.size for one in found.named[stripped, "thing"]] == [96]
    assert [one.size for one in found.variables[stripped, ("many", 480)]] == [96]


def test_damaged_files_give_a_sentence_or_types(tmp_path, program):
    """Whatever is in there, nothing is raised and nothing runs for ever."""
    with open(program, "rb") as file:
        data = file.read()
    wanted = WantedTypes(frozenset({"thing", "point"}), frozenset({VariableName("many", 480)}))
    chance = random.Random(1)
    target = tmp_path / "damaged"
    good = data.find(b"thing\0")
    for round_ in range(60):
        damaged = bytearray(data)
        for _ in range(1 + round_ % 20):
            damaged[chance.randrange(good // 2, len(data))] = chance.randrange(256)
        cut = len(data) if round_ % 3 else chance.randrange(len(data))
        target.write_bytes(damaged[:cut])
        found = read_types({str(target): wanted})
        assert len(found.notes) <= 1


# What is guessed.

MAIN = Function("/prog", "/src/main.cpp", "main")


def heap(places, blocks, allocator="malloc", patterns=()):
    """places: (function, file, line)."""
    functions = [(MAIN._replace(name=name), file, line) for name, file, line in places]
    identity = Identity(
        ObjectKind.HEAP, function=MAIN._replace(name=allocator),
        places=tuple(Place(*place) for place in functions),
    )
    sites = tuple(Site(*place, 0x10 * index) for index, place in enumerate(functions))
    return Group(identity, Blocks(1, 1, 0, 1, 1, *blocks, 0), tuple(patterns), (sites,))


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
    one, two = ((Position("main", "/missing", 3), Position(f"std::vector<{name}>::f", "/missing.h", 1)) for name in "AB")
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


def test_how_fields_were_used():
    # Elements of 24 bytes: a line that begins with byte 16 of one has the next one, and 24 bytes of a third.
    kind = Type("Vec", 24, (Field("x", "double", 0, 8), Field("n", "int", 8, 4), Field("y", "double", 16, 8)))
    group = heap([], (2400, 2400, 24), patterns=[
        Pattern(0, 24, 0x0000FF, 5),  # x
        Pattern(40, 32, 0x1, 3),  # the first byte is of y
        Pattern(48, 24, 0x001000, 2),  # the gap
    ])
    assert [(use.name, use.offset, use.size, use.loaded, use.used) for use in field_uses(kind, group)] == [
        ("x", 0, 8, 10, 5), ("n", 8, 4, 10, 0), ("(padding)", 12, 4, 10, 2), ("y", 16, 8, 13, 3),
    ]


def test_gaps_at_the_end_and_of_virtual_bases():
    kind = Type("D", 16, (Field("own", "int", 8, 4),), has_virtual_bases=True)
    names = [(use.name, use.offset, use.size) for use in field_uses(kind, heap([], (16, 16, 16)))]
    assert names == [("(padding, virtual bases)", 0, 8), ("own", 8, 4), ("(padding, virtual bases)", 12, 4)]


# What to split.


def split(fields, patterns, loaded, size):
    """fields: (name, offset, size)."""
    kind = Type("Vec", size, tuple(Field(name, "int", *where) for name, *where in fields))
    group = heap([], (10 * size, 10 * size, size), patterns=patterns)
    typed = TypedGroup(kind, "", field_uses(kind, group), True)
    return hot_cold_split(typed, group, Use(loaded, 0, 0, 0, 0))


def test_fields_that_are_never_used_are_split_off():
    # 64 bytes in a line: 8 of them used in 10 loads, 40 times as many lines as in the patterns.
    found = split([("x", 0, 8), ("rest", 8, 56)], [Pattern(0, 64, 0xFF, 10)], 40 * 640, 64)
    assert [(part.fields[0].name, part.size) for part in (found.hot, found.cold)] == [("x", 8), ("rest", 56)]
    assert (found.hot.loads, found.cold.loads) == (10, 0)
    # In order, the 8 bytes 10 times; else a line each.
    assert (found.now, found.in_order, found.scattered) == (25600, 40 * 80, 25600)


def test_fields_that_are_used_as_often_stay_together():
    all_used = [Pattern(0, 64, (1 << 64) - 1, 10)]
    assert split([("x", 0, 8), ("rest", 8, 56)], all_used, 640, 64) is None


def test_rarely_used_fields_cost_what_they_are_used():
    patterns = [Pattern(0, 64, 0xFF, 9), Pattern(0, 64, 0xFFFF, 1)]
    found = split([("x", 0, 8), ("y", 8, 8), ("rest", 16, 48)], patterns, 640, 64)
    assert [field.name for field in found.hot.fields] == ["x"]
    assert found.in_order == 10 * 8 + 1 * 56
    assert found.scattered == 10 * 64 + 1 * (64 + 48)


def test_a_type_whose_order_is_at_fault_is_not_split():
    # Of each line with 4 elements of 16 bytes, the first 12 bytes of one.
    fields = [("x", 0, 8), ("y", 8, 4), ("z", 12, 4)]
    assert split(fields, [Pattern(0, 64, 0xFFF, 10)], 640, 16) is None


def test_what_shares_bytes_is_not_split():
    union = [("whole", 0, 64), ("part", 0, 8)]
    assert split(union, [Pattern(0, 64, 0xFF, 10)], 640, 64) is None


def test_single_elements_are_not_split():
    kind = Type("Vec", 64, (Field("x", "int", 0, 8), Field("rest", "int", 8, 56)))
    group = heap([], (64, 64, 64), patterns=[Pattern(0, 64, 0xFF, 10)])
    typed = TypedGroup(kind, "", field_uses(kind, group), True)
    assert hot_cold_split(typed, group, Use(640, 0, 0, 0, 0)) is None


def test_nothing_is_split_without_patterns_or_fields():
    assert split([("x", 0, 8), ("y", 8, 8)], [], 640, 16) is None
    assert split([], [Pattern(0, 64, 0xFF, 10)], 640, 64) is None


# All of it.

KIND = """
struct item { int key; char name[8]; short rank; };
struct item table[4];
int main(void) { return table[0].key; }
"""


@pytest.fixture(name="profile")
def fixture_profile(tmp_path, elftools):
    """3 blocks of 16 bytes, of which bytes 0 to 7 were used in all loads."""
    if not shutil.which("cc"):
        pytest.skip("cc is missing")
    path = compiled(tmp_path, ("cc", "-g"), KIND)
    functions = [(path, "/src/prog.c", 1, "main"), (path, "/src/prog.c", 20, "make")]
    groups = [*GROUPS[:2], "static 1 64 table", *GROUPS[3:]]
    profile = beside(tmp_path, functions=functions, groups=groups)
    text = (tmp_path / "p.out").read_text()
    (tmp_path / "p.out").write_text(text.replace("ob=prog", f"ob={path}"))
    return profile


def test_the_table_of_fields(profile, capsys):
    assert main(["--width=80", "--object=heap", "--object-type=prog.c:22=item", profile]) == 0
    text = capsys.readouterr().out
    assert "item, 16 bytes\nas --object-type=prog.c:22=item says\n" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["0", "4", "10", "100.0%", "key", "int"] in rows
    assert ["4", "8", "12", "100.0%", "name[8]", "char"] in rows
    assert ["14", "2", "12", "0.0%", "(padding)"] in rows
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_advice_below_it(tmp_path, profile, capsys):
    # Of 4 elements in each of 11 lines, key is used.
    path = str(tmp_path / "program")
    functions = [(path, "/src/prog.c", 1, "main"), (path, "/src/prog.c", 20, "make")]
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", "160 160 16"), *GROUPS[2:]]
    patterns = [(2, 0, 64, 0x000F000F000F000F, 11)]
    beside(tmp_path, functions=functions, groups=groups, patterns=patterns)
    text = (tmp_path / "p.out").read_text()
    (tmp_path / "p.out").write_text(text.replace("ob=prog", f"ob={path}"))
    assert main(["--width=80", "--object=heap", "--object-type=heap=item", profile]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Used most: key, 4 bytes together; the other 12 are never used." in text
    assert "176 bytes loaded instead of 704 if elements are used in the order of memory" in text
    assert "2,816 if each lies far from the one before" in text


def test_the_fields_of_a_variable(profile, capsys):
    assert main(["--width=80", "--object=variable table", profile]) == 0
    found = capsys.readouterr().out
    assert "item, 16 bytes\nas it is declared; the variable has 4 of them\n" in found
    assert "Which bytes are used is recorded for heap blocks only." in found
    assert ["4", "8", "name[8]", "char"] in [line.split() for line in found.splitlines()]


def test_json_has_the_fields(profile, capsys):
    options = ["--object=heap|table", "--object-type=heap=item", "--format=json"]
    assert main([*options, profile]) == 0
    groups = json.loads(capsys.readouterr().out)["objects"]["groups"]
    found = groups[1]["type"]
    assert (found["name"], found["size"], found["reason"]) == ("item", 16, "as --object-type=heap=item says")
    assert found["fields"][0] == {"name": "key", "type": "int", "offset": 0, "size": 4, "loaded": 10, "used": 10}
    assert found["fields"][-1]["name"] is None
    assert groups[2]["type"]["fields"][0] == {"name": "key", "type": "int", "offset": 0, "size": 4}
    assert groups[0]["type"] is None


def test_what_is_not_so_is_said_and_the_report_stays(profile, capsys):
    assert main(["--object=heap", "--object-type=heap=nothing", profile]) == 0
    out, err = capsys.readouterr()
    assert "has no such type" in err
    assert "An element of 16 bytes (the size of every block)" in out


def test_the_report_stays_where_the_file_is_gone(tmp_path, profile, capsys):
    os.unlink(tmp_path / "program")
    assert main(["--object=heap", "--object-type=heap=item", profile]) == 0
    out, err = capsys.readouterr()
    assert "are not known: there is no such file" in err
    assert "An element of 16 bytes (the size of every block)" in out


@pytest.mark.parametrize(
    "options",
    [["--object-type=a=b"], ["--object=heap", "--object-type=b"], ["--object=heap", "--object-type=(=b"],
     ["--object=heap", "--object-type=elsewhere=b"], ["--object=heap", "--object-type=a="]],
)
def test_options_that_make_no_sense(profile, capsys, options):
    assert main([*options, profile]) == 2
    assert capsys.readouterr().err.startswith("bd_annotate: ")


def of_a_stranger(tmp_path, monkeypatch, kind, groups, note):
    """A profile for which this type is found whatever is asked."""
    monkeypatch.setattr(
        cli, "read_types",
        lambda wanted: FoundTypes(
            {(path, name): (kind,) for path, what in wanted.items() for name in what.names}, {}, (note,)
        ),
    )
    functions = [("/prog", "/src/prog.c", 1, "main"), ("/prog", "/src/prog.c", 20, "make")]
    profile = beside(tmp_path, functions=functions, groups=groups)
    (tmp_path / "p.out").write_text((tmp_path / "p.out").read_text().replace("ob=prog", "ob=/prog"))
    return profile


def test_names_of_types_are_neutralised(tmp_path, capsys, monkeypatch):
    hostile = "\x1b[31m\x07"
    kind = Type(hostile, 16, (Field(hostile, hostile, 0, 16),))
    profile = of_a_stranger(tmp_path, monkeypatch, kind, GROUPS, hostile)
    assert main(["--object=heap", f"--object-type=heap={hostile}", profile]) == 0
    out, err = capsys.readouterr()
    assert "[31m" in out
    assert not any(character in out + err for character in "\x1b\x07")


def test_endless_types_and_names_cost_nothing(tmp_path, capsys, monkeypatch):
    size = 1 << 40
    kind = Type("x " * 100_000, size, (Field("y " * 100_000, "z " * 100_000, 0, size),))
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", f"{size} {size} {size}"), *GROUPS[2:]]
    profile = of_a_stranger(tmp_path, monkeypatch, kind, groups, "")
    assert main(["--width=80", "--object=heap", "--object-type=heap=T", profile]) == 0
    text = capsys.readouterr().out
    assert "1,099,511,627,776" in text
    assert [line[:60] for line in text.splitlines() if len(line) > 80] == []
