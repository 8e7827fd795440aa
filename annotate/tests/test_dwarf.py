# SPDX-License-Identifier: GPL-2.0-or-later
"""What debug information says of types: compiled programs, and damaged ones."""

import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import pytest
from bdannotate.model.data_types import Field, PointerName, Repeats, VariableName, WantedTypes
from bdannotate.reading.debug_types import read_types
from programs import TYPE_UNITS, compiled, compilers

pytestmark = pytest.mark.usefixtures("in_this_process")

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


@pytest.fixture(name="program")
def fixture_program(tmp_path, elftools):
    if not shutil.which("cc"):
        pytest.skip("cc is missing")
    return compiled(tmp_path, ("cc", "-g"), C)


def read(path, names=(), variables=()):
    found = read_types({path: WantedTypes(frozenset(names), frozenset(VariableName(*one) for one in variables))})
    assert found.notes == ()
    return found


def integers(fields):
    """Compilers differ in the names of integer types."""
    return [(name, re.sub(r"short int", "short", type_), *rest) for name, type_, *rest, _ in fields]


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
    found = {variable[:2]: types for (_, variable), types in read(path, (), wanted).variables.items()}
    assert {variable: [(one.name, one.size) for one in types] for variable, types in found.items()} == {
        ("single", 96): [("thing", 96)], ("many", 480): [("thing", 96)], ("hidden", 4): [("once", 4)],
        ("points", 8): [("point*", 8)], (local, 56): [("point", 8)],
        ("many", 64): [("thing", 96)],  # a part of it
        ("many", 999): [],
    }


THREAD_LOCALS = """
struct item { int key; double value; };
static _Thread_local char before[200] = "initialized";
_Thread_local struct item items[4];
static _Thread_local struct single { char one; } single;
struct item shared;
int main(void) {
    static _Thread_local float local[7];
    return before[1] + items[1].key + single.one + (int)local[0] + shared.key;
}
"""


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang"]))
def test_thread_local_variables_of_c(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, THREAD_LOCALS)
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    local = next(line.split()[-1] for line in symbols.splitlines() if "local" in line.split()[-1])
    wanted = [("before", 200), ("items", 64), ("single", 1), (local, 28), ("shared", 16)]
    found = read(path, (), [(*one, True) for one in wanted] + [("shared", 16, False), ("items", 64, False)]).variables
    assert {variable: [(one.name, one.size) for one in types] for (_, variable), types in found.items()} == {
        ("before", 200, True): [("char", 1)], ("items", 64, True): [("item", 16)],
        ("single", 1, True): [("single", 1)], (local, 28, True): [("float", 4)], ("shared", 16, True): [],
        ("shared", 16, False): [("item", 16)], ("items", 64, False): [],
    }


@pytest.mark.parametrize("compiler", compilers(["g++", "clang++"]))
def test_types_of_cpp(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, CPP)
    pair = "geo::Pair<int, geo::Pair<char, double> >"
    found = read(path, ["geo::Particle", "Particle", "ticle", pair, "geo::Diamond"], [("one", 96)])
    (particle,) = found.named[path, "geo::Particle"]
    corners = Repeats(32, 16, 3)
    assert (particle.name, particle.size) == ("geo::Particle", 96)
    assert [field[:1] + field[2:] for field in particle.fields if "vptr" not in field.name] == [
        ("id", 8, 4, None), ("at.x", 16, 8, None), ("at.y", 24, 8, None), ("corners[3].x", 32, 8, corners),
        ("corners[3].y", 40, 8, corners), ("next", 80, 8, None), ("flag", 88, 1, None),
    ]
    assert found.named[path, "Particle"] == (particle,)
    assert found.named[path, "ticle"] == ()
    assert found.variables[path, VariableName("one", 96)] == (particle,)
    (pairs,) = found.named[path, pair]
    assert [(field.name, field.offset) for field in pairs.fields] == [
        ("first", 0), ("second.first", 8), ("second.second", 16)
    ]
    for name in ("geo::Pair<int const, char>", "geo::Pair<const int, char>"):
        assert [one.size for one in read(path, [name]).named[path, name]] == [8]
    (diamond,) = found.named[path, "geo::Diamond"]
    assert diamond.has_virtual_bases
    assert [field.name for field in diamond.fields if "vptr" not in field.name] == ["own"]


ARGUMENTS = """
template <class T, class U = int> struct Box { T first; U second; };
template <class T, unsigned long N> struct Row { T all[N]; };
struct V { long a; };
Box<long> a; Box<unsigned long> b; Box<short> c; Box<unsigned short> d; Box<unsigned> e; Box<long long> f;
Box<unsigned long long> g; Box<signed char> h; Box<long double> i; Box<unsigned __int128> j;
Box<const unsigned long, V> k{1, {}}; Box<const char* const, const V*> l{nullptr, nullptr}; Row<long, 9> m;
Box<const Box<const char, V>, V> n{{0, {}}, {}};
int main() { return 0; }
"""


@pytest.mark.parametrize("compiler", compilers(["g++", "clang++"]))
@pytest.mark.parametrize(
    ("name", "size"),
    # As demanglers write them.
    [
        ("Box<long, int>", 16), ("Box<unsigned long, int>", 16), ("Box<short, int>", 8),
        ("Box<unsigned short, int>", 8), ("Box<unsigned int, int>", 8), ("Box<long long, int>", 16),
        ("Box<unsigned long long, int>", 16), ("Box<signed char, int>", 8), ("Box<char, int>", None),
        ("Box<long double, int>", 32), ("Box<double, int>", None), ("Box<unsigned __int128, int>", 32),
        ("Box<unsigned long const, V>", 16), ("Box<char const* const, V const*>", 16), ("Row<long, 9ul>", 72),
        ("Box<Box<char const, V> const, V>", 24),
        # As users do.
        ("Box<const unsigned long int, V>", 16), ("Box<unsigned, int>", 8), ("unsigned long", 8), ("long int", 8),
    ],
)
def test_compilers_name_arguments_of_templates_in_their_ways(programs_with, compiler, name, size):
    path = programs_with(compiler)
    assert {one.size for one in read(path, [name]).named[path, name]} == ({size} if size else set())


@pytest.fixture(name="programs_with", scope="module")
def fixture_programs_with(tmp_path_factory):
    """By compiler, compiled once."""
    pytest.importorskip("elftools")
    return functools.cache(lambda compiler: compiled(tmp_path_factory.mktemp("arguments"), compiler, ARGUMENTS))


POINTERS = """
struct one { int a; }; struct two { int a, b; }; typedef struct two *pointer;
struct one *everywhere;
static struct one one;
static struct two two;
static int parameter(const struct two *p) { return p->a + one.a + two.a; }
static int typedefs(void) { pointer const p = 0; return p != 0; }
static int array(void) { struct one p[3] = {{1}}; return p[0].a; }
static int blocks(int n) { if (n) { struct one *p = 0; return p != 0; } else { struct two *p = 0; return p == 0; } }
static int nested(int n) { if (n) { struct one **p = 0; return p != 0; } return 1; }
static int outside(void) { return everywhere != 0; }
static int number(void) { int p = 3; void *q = 0; return p + (q != 0); }
int main(void) { return parameter(&two) + typedefs() + array() + blocks(1) + nested(1) + outside() + number(); }
"""


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang", "g++", "clang++"]))
def test_what_variables_point_to(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, POINTERS)
    arguments = "(x)" if "++" in compiler[0] else ""
    wanted = [
        ("parameter", "p", {8}), ("typedefs", "p", {8}), ("array", "p", {4}), ("blocks", "p", {4, 8}),
        ("nested", "p", {8}), ("outside", "everywhere", {4}), ("number", "p", set()), ("number", "q", set()),
        ("absent", "p", set()), ("absent", "everywhere", set()), ("", "p", set()), ("nested", "q", set()),
    ]
    names = {PointerName(f"{function}{arguments}", variable): sizes for function, variable, sizes in wanted}
    found = read_types({path: WantedTypes(pointers=frozenset(names))})
    assert found.notes == ()
    assert {name: {one.size for one in types} for (_, name), types in found.pointees.items()} == names
    for behind in (".part.0", "'2", " [clone .isra.0]"):
        name = PointerName(f"nested{arguments}{behind}", "p")
        (one,) = read_types({path: WantedTypes(pointers=frozenset({name}))}).pointees[path, name]
        assert one.name == "one*"


MEMBERS = """
struct item { long a, b, c; };
typedef struct item items[3];
struct store { int count; const struct item *all; items few; struct store *next; int *const *numbers; };
typedef struct store *handle;
static struct store main_store;
static long by_pointer(struct store *s) { return s->all->a + s->few[0].b + s->next->all->c; }
static long by_value(struct store s) { return s.all->a; }
static long by_typedef(const handle s) { return s->count; }
int main(void) { return (int)(by_pointer(&main_store) + by_value(main_store) + by_typedef(&main_store)); }
"""


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang", "g++", "clang++"]))
def test_what_members_of_variables_point_to(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, MEMBERS)
    wanted = [
        ("by_pointer", ("all",), {24}), ("by_pointer", ("few",), {24}), ("by_pointer", ("next", "all"), {24}),
        ("by_pointer", ("next", "next"), {104}), ("by_pointer", ("count",), set()), ("by_pointer", ("none",), set()),
        ("by_pointer", ("count", "all"), set()), ("by_pointer", ("numbers",), {8}),
        ("by_value", ("all",), {24}), ("by_typedef", ("next", "few"), {24}),
    ]
    arguments = {"by_pointer": "(store*)", "by_value": "(store)", "by_typedef": "(store* const)"}
    names = {
        PointerName(function + (arguments[function] if "++" in compiler[0] else ""), "s", members): sizes
        for function, members, sizes in wanted
    }
    found = read_types({path: WantedTypes(pointers=frozenset(names))})
    assert {name: {one.size for one in types} for (_, name), types in found.pointees.items()} == names


METHODS = """
namespace geo {
struct Item { long a; };
template <class T> struct Pool { int grow(int); };
template <class T> int Pool<T>::grow(int n) { T* p = 0; return n + (p ? int(p->a) : 0); }
namespace { int hidden(int n) { Item* p = 0; return n + (p ? p->a : 0); } }
template <class T> long generic(T) { Item* p = 0; return p ? p->a : 0; }
int call() { return Pool<Item>().grow(1) + hidden(2) + generic<long>(1); }
}
struct Item { int a; };
int hidden() { Item* p = 0; return p ? p->a : 0; }
int main() { return geo::call() + hidden(); }
"""


@pytest.mark.parametrize("compiler", compilers(["g++", "clang++"]))
def test_what_variables_of_methods_point_to(tmp_path, elftools, compiler):
    """In one of the functions called hidden, it is another Item."""
    if compiler[0] == "clang++" and TYPE_UNITS in compiler:
        pytest.skip("no package helps: clang leaves out the names of classes around methods then")
    path = compiled(tmp_path, compiler, METHODS)
    names = [
        "geo::Pool<geo::Item>::grow(int)", "grow", "geo::(anonymous namespace)::hidden(int)", "geo::hidden",
        "long geo::generic<long>(long)", "hidden()",
    ]
    found = read_types({path: WantedTypes(pointers=frozenset(PointerName(name, "p") for name in names))})
    sizes = [sorted(one.size for one in found.pointees[path, PointerName(name, "p")]) for name in names]
    assert sizes == [[8]] * 5 + [[4, 8]]


NODES = """
#include <list>
#include <map>
#include <memory>
#include <unordered_map>
struct Vec { float x; double y; };
std::list<Vec> vectors(1);
std::list<int> numbers(1);
std::map<long, Vec> tree;
std::unordered_map<long, Vec> table;
std::shared_ptr<Vec> shared;
int main() {
    tree[1].x = 1;
    table[1].x = 1;
    shared = std::make_shared<Vec>();
    return int(shared->x) + int(vectors.front().x);
}
"""


@pytest.mark.parametrize("compiler", compilers(["g++", "clang++"]))
def test_nodes_of_containers_have_the_fields_of_their_elements(tmp_path, elftools, compiler):
    path = compiled(tmp_path, compiler, NODES)
    vec, pair = [("x", 0, 4), ("y", 8, 8)], [("first", 0, 8), ("second.x", 8, 4), ("second.y", 16, 8)]
    wanted = {
        "std::_List_node<Vec>": (16, vec), "std::_Rb_tree_node<std::pair<long const, Vec> >": (32, pair),
        "std::__detail::_Hash_node<std::pair<long const, Vec>, false>": (8, pair),
        "std::_Sp_counted_ptr_inplace<Vec, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>": (16, vec),
    }
    found = read(path, [*wanted, "std::_List_node<int>"]).named
    if not found[path, "std::_List_node<int>"]:
        pytest.skip("no package helps: it is another library than GNU's")
    (number,) = found[path, "std::_List_node<int>"]
    assert [field[1:4] for field in number.fields if field.offset >= 16] == [("int", 16, 4)]
    for name, (start, fields) in wanted.items():
        (node,) = found[path, name]
        held = [(field.name, field.offset - start, field.size) for field in node.fields if field.offset >= start]
        assert [field[1:] for field in held] == [field[1:] for field in fields]
        assert all(one[0].endswith(f"_M_storage.{other[0]}") for one, other in zip(held, fields)), held


ARRAYS = """
struct point { double x; float w; };
struct bits { unsigned a : 3; unsigned b : 13; };
struct deep { struct point p[2]; int n; };
struct empty { int none[0]; };
struct world {
    int n; struct point p[5][4]; struct bits b[3]; struct deep d[2]; struct point one[1];
    struct empty e[4]; struct point open[];
} world;
int main(void) { return world.n; }
"""


@pytest.mark.parametrize("compiler", compilers(["gcc", "clang"]))
def test_the_fields_in_arrays_of_structs(tmp_path, elftools, compiler):
    """In an array in such an array, they are one field."""
    path = compiled(tmp_path, compiler, ARRAYS)
    (world,) = read(path, ["world"]).named[path, "world"]
    points, bits, deep, one = Repeats(8, 16, 20), Repeats(328, 4, 3), Repeats(344, 40, 2), Repeats(424, 16, 1)
    assert [field for field in world.fields if "none" not in field.name] == [
        Field("n", "int", 0, 4), Field("p[5][4].x", "double", 8, 8, points), Field("p[5][4].w", "float", 16, 4, points),
        Field("b[3].a:3", "unsigned int", 328, 1, bits), Field("b[3].b:13", "unsigned int", 328, 2, bits),
        Field("d[2].p[2]", "point", 344, 32, deep), Field("d[2].n", "int", 376, 4, deep),
        Field("one[1].x", "double", 424, 8, one), Field("one[1].w", "float", 432, 4, one),
        Field("e[4]", "empty", 440, 0), Field("open[]", "point", 440, 0),
    ]


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
    assert "the file does not exist" in notes(name)


def test_a_file_without_debug_information_says_so(tmp_path, program):
    assert "compile with -g" in notes(compiled(tmp_path, "cc", C, "bare", "-s"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_file_with_lines_only_says_so(tmp_path, program, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is missing")
    assert "has no types (compile with -g, not with -g1)" in notes(compiled(tmp_path, compiler, C, "lines", "-g1"))


@pytest.mark.parametrize("error", [SyntaxError("bad \x1b[31m"), AttributeError("module has no attribute"), OSError()])
def test_a_damaged_pyelftools_gives_a_sentence(monkeypatch, error):
    def fails(name):
        raise error

    monkeypatch.setattr("importlib.import_module", fails)
    found = read_types({"/bin/true": WantedTypes(frozenset({"thing"}))})
    (note,) = found.notes
    assert note.startswith("types of data are not known: pyelftools does not work (") and "\x1b" not in note
    assert "pyelftools does not work" in found.problems["/bin/true"]


@pytest.mark.parametrize("mine, lack", [
    ("/opt/conda/bin/python3", "which neither /opt/conda/bin/python3 nor /usr/bin/python3 has"),
    ("/usr/bin/python3", "which /usr/bin/python3 does not have"),
])
def test_without_pyelftools_a_sentence_says_who_looked(monkeypatch, mine, lack):
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    monkeypatch.setattr("sys.executable", mine)
    wanted = WantedTypes(frozenset({"thing"}))
    assert read_types({"/bin/true": wanted, "/bin/false": wanted}).notes == (
        f"types of data are not known: that needs pyelftools (package python3-pyelftools), {lack}",
    )
    assert read_types({}).notes == ()


# As an interpreter of pyenv or conda, this one has none of the system's packages.
_ELSEWHERE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
from bdannotate.model.data_types import WantedTypes
from bdannotate.reading.debug_types import read_types
for package in ("elftools", "pytest"):
    try:
        importlib.import_module(package)
        sys.exit(f"{package} is there")
    except ImportError:
        pass
found = read_types({sys.argv[2]: WantedTypes(frozenset({"thing"}))})
print([one.size for one in found.named[sys.argv[2], "thing"]], found.notes)
try:
    import pytest
    print("the system's other packages are there, too")
except ImportError:
    pass
"""


def test_another_interpreter_has_pyelftools_from_the_systems(tmp_path, program):
    if subprocess.run(["/usr/bin/python3", "-I", "-c", "import elftools"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("the system's python3 has no pyelftools")
    package = pathlib.Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _ELSEWHERE, package, program], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("[96] ()\n", "")


def has_types(path):
    found = read(path, ["thing"], [("many", 480)])
    many = found.variables[path, VariableName("many", 480)]
    return [one.size for one in (*found.named[path, "thing"], *many)] == [96, 96]


@pytest.fixture(name="split")
def fixture_split(tmp_path, program):
    """A program in a folder that it was not compiled in, with its .dwo file where that was."""
    built, moved = tmp_path / "built", tmp_path / "moved"
    built.mkdir()
    moved.mkdir()
    compiled(built, ("cc", "-gdwarf-5", "-gsplit-dwarf"), C)
    (target,) = built.glob("*.dwo")
    os.rename(built / "program", moved / "program")
    return str(moved / "program"), target


def test_split_debug_information_is_found(split):
    program, file = split
    assert has_types(program)
    beside = os.path.join(os.path.dirname(program), file.name)
    os.rename(file, beside)
    assert has_types(program)
    os.unlink(beside)
    assert f"it is split into {file.name}, which is missing" in notes(program)
    file.mkdir()
    assert f"it is split into {file.name}, which is missing" in notes(program)


def test_split_debug_information_must_be_of_the_same_build(split):
    program, file = split
    compiled(file.parent, ("cc", "-gdwarf-5", "-gsplit-dwarf"), C.replace("struct once", "struct twice"))
    assert "its .dwo files are from another build" in notes(program)


def test_split_debug_information_that_is_damaged_gives_a_sentence_or_types(split, own_process):
    program, file = split
    data = file.read_bytes()
    chance = random.Random(2)
    wanted = WantedTypes(frozenset({"thing", "point"}), frozenset({VariableName("many", 480)}))
    for round_ in range(40):
        damaged = bytearray(data)
        for _ in range(1 + round_ % 10):
            damaged[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(damaged[: len(data) if round_ % 3 else chance.randrange(len(data))])
        assert len(read_types({program: wanted}).notes) <= 1


def test_what_is_split_in_an_older_way_is_named(tmp_path, program):
    target = compiled(tmp_path, ("cc", "-gdwarf-4", "-gsplit-dwarf"), C, "split")
    assert "split into .dwo files of DWARF 4, which are not read" in notes(target)


@pytest.fixture(name="stripped")
def fixture_stripped(tmp_path, program):
    """A program, and a file with its debug information."""
    if not shutil.which("objcopy"):
        pytest.skip("objcopy is missing")
    target = compiled(tmp_path, ("cc", "-g", "-Wl,--build-id=0x1234abcd"), C, "stripped")
    debug = tmp_path / "kept.debug"
    subprocess.run(["objcopy", "--only-keep-debug", target, debug], check=True)
    subprocess.run(["strip", target], check=True)
    return target, debug


def test_separate_debug_information_is_found_by_build_id(tmp_path, stripped, monkeypatch):
    target, debug = stripped
    folder = tmp_path / ".build-id" / "12"
    folder.mkdir(parents=True)
    os.rename(debug, folder / "34abcd.debug")
    assert "compile with -g" in notes(target)
    monkeypatch.setattr("bdannotate.reading.dwarf_files._DEBUG_FOLDER", str(tmp_path))
    assert has_types(target)


def test_separate_debug_information_is_found_by_its_name(tmp_path, stripped, monkeypatch):
    target, debug = stripped
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", target], check=True)
    assert has_types(target)
    root = tmp_path / "root"
    for folder in (tmp_path / ".debug", pathlib.Path(f"{root}{os.path.realpath(tmp_path)}")):
        folder.mkdir(parents=True)
        os.rename(debug, folder / debug.name)
        monkeypatch.setattr("bdannotate.reading.dwarf_files._DEBUG_FOLDER", str(root))
        assert has_types(target)
        debug = folder / debug.name
    debug.write_bytes(debug.read_bytes() + b"\0")
    assert "kept.debug is from another build" in notes(target)
    debug.unlink()
    assert "its debug information is in kept.debug, which is missing" in notes(target)


def test_damaged_files_give_a_sentence_or_types(tmp_path, program, own_process):
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


RUST = """
pub struct Cell { weight: f32, tag: [u8; 6], next: Option<Box<Cell>>, at: (u8, u64), text: &'static str }
pub enum Shape { Dot, Round(f64) }
pub fn cells() -> Vec<Cell> { let mut all = Vec::new(); all.push(make()); all }
fn make() -> Cell { Cell { weight: 1.0, tag: [0; 6], next: None, at: (1, 2), text: "" } }
pub fn shapes() -> Vec<(u64, Shape)> { vec![(1, Shape::Dot), (2, Shape::Round(3.0))] }
fn main() { println!("{} {}", cells().len(), shapes().len()); }
"""


VEC = "alloc::vec::Vec<geo::Cell, alloc::alloc::Global>"


def test_types_of_rust(tmp_path, elftools):
    """Rust orders fields as it likes."""
    if not shutil.which("rustc"):
        pytest.skip("rustc is missing")
    (tmp_path / "geo.rs").write_text(RUST)
    subprocess.run(["rustc", "-g", "-Adead_code", "-o", "geo", "geo.rs"], cwd=tmp_path, check=True)
    path = str(tmp_path / "geo")
    names = ["geo::Cell", "(u64, geo::Shape)", "geo::Shape", VEC, "u64"]
    found = {name: kinds for (_, name), kinds in read(path, names).named.items()}
    (cell,) = found["geo::Cell"]
    assert cell.size == 56
    assert sorted((field.name, field.type, field.size) for field in cell.fields) == [
        ("at.__0", "u8", 1), ("at.__1", "u64", 8),
        ("next", "Option<alloc::boxed::Box<geo::Cell, alloc::alloc::Global>>", 8),
        ("tag[6]", "u8", 6), ("text.data_ptr", "u8*", 8), ("text.length", "usize", 8), ("weight", "f32", 4),
    ]
    assert [(one.size, one.fields) for one in found["geo::Shape"]] == [(16, ())]
    (pair,) = found["(u64, geo::Shape)"]
    assert [(field.name, field.type, field.size) for field in pair.fields] == [("__0", "u64", 8), ("__1", "Shape", 16)]
    assert [one.size for one in found[VEC]] == [24]
    assert [one.size for one in found["u64"]] == [8]
