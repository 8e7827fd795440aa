# SPDX-License-Identifier: GPL-2.0-or-later
"""What llvm-symbolizer is asked, and what is made of its answers."""

import shutil
import subprocess

import pytest

from bdannotate.model.frames import Position
from bdannotate.modes import outputs
from bdannotate.options import parse_options
from bdannotate.reading import inlined
from bdannotate.reading.inlined import end_symbolizers, read_inlined_calls


@pytest.fixture(name="symbolizer")
def fixture_symbolizer(tmp_path, monkeypatch):
    """Puts a program in its place that answers as told; returns the object to ask about."""
    target = tmp_path / "object"
    target.write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))

    def answering(text, status=0):
        program = tmp_path / "llvm-symbolizer"
        program.write_text(f"#!/bin/sh\n/bin/cat <<'EOF'\n{text}EOF\nexit {status}\n")
        program.chmod(0o755)
        return str(target)

    return answering


def test_chains_are_outermost_first(symbolizer):
    target = symbolizer("get\n/a.h:3:1\nmain\n/a.c:9:2\n\nmain\n/a.c:10:0\n\n??\n??:0:0\n\n")
    found = read_inlined_calls({target: {0x10: 3, 0x14: 10, 0x18: 0}})
    outer = Position("main", "/a.c", 9)
    assert found.notes == ()
    assert found.chains == {
        target: {0x10: (outer, Position("get", "/a.h", 3)), 0x14: (Position("main", "/a.c", 10),)}
    }


def test_what_the_symbolizer_cannot_demangle_another_tool_can(symbolizer, tmp_path):
    target = symbolizer("_ZStx\n/a.h:3:1\nmain\n/a.c:9:2\n\n")

    def names():
        chains = read_inlined_calls({target: {0x10: 3}}).chains
        return [place.function for place in chains[target][0x10]]

    assert names() == ["main", "_ZStx"]
    program = tmp_path / "c++filt"
    for script, name in (("read name; echo \"std::x of $name\"", "std::x of _ZStx"),
                         ("exit 1", "_ZStx"), ("echo a; echo b", "_ZStx")):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert names() == ["main", name]


RUST = (
    "alloc::vec::Vec$LT$T$C$A$GT$::push::h146b80732fcbe51f\n/rustc/1/mod.rs:9:1\n"
    "a::main::h0123456789abcdef\n/a.rs:3:2\n\n"
)


def test_names_of_rust_have_their_types_if_wanted(symbolizer, tmp_path):
    target = symbolizer(RUST)
    program = tmp_path / "llvm-symbolizer"
    bare = "push<a::Cell, Global>\n/rustc/1/mod.rs:9:1\nmain\n/a.rs:3:2\n\n"
    short = f"case \"$*\" in *--functions=short*)\n/bin/cat <<'EOF'\n{bare}EOF\nexit;; esac\n"
    program.write_text(program.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{short}"))
    chain = read_inlined_calls({target: {0x10: 9}}, with_types=True).chains[target][0x10]
    assert [(place.function, place.line) for place in chain] == [
        ("a::main", 3), ("alloc::vec::Vec<T,A>::push::<a::Cell, Global>", 9),
    ]
    chain = read_inlined_calls({target: {0x10: 9}}).chains[target][0x10]
    assert [place.function.rpartition("::")[2] for place in chain] == ["h0123456789abcdef", "h146b80732fcbe51f"]


@pytest.mark.parametrize("answer, status, message", [
    ("main\n/a.c:7:0\n\n", 0, "the file is not the one that ran"),
    ("??\n??:0:0\n\n", 0, "or its debug information is missing"),
    ("", 0, "gave 0 answers for 1 addresses"),
    ("main\n", 0, "gave 0 answers for 1 addresses"),
    ("", 1, "llvm-symbolizer failed"),
])
def test_what_cannot_be_believed_is_not(symbolizer, answer, status, message):
    target = symbolizer(answer, status)
    found = read_inlined_calls({target: {0x10: 3}})
    (note,) = found.notes
    assert message in note
    assert not found.chains


def test_without_the_tool_a_sentence_names_its_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = read_inlined_calls({"/bin/true": {0x10: 3}})
    assert found.notes == (
        "inlined functions of /bin/true are not shown: that needs llvm-symbolizer (package llvm)",
    )


def test_objects_without_lines_are_not_asked_about(symbolizer):
    target = symbolizer("", 1)
    assert read_inlined_calls({target: {0x10: 0}}).notes == ()


@pytest.mark.parametrize("name", ["relative", "/missing", "/dev/null", "/", "/\0"])
def test_only_regular_files_are_opened(symbolizer, name):
    symbolizer("main\n/a.c:3:0\n\n")
    found = read_inlined_calls({name: {0x10: 3}})
    assert "the file does not exist" in found.notes[0]


def test_what_is_known_is_not_asked_again(symbolizer, tmp_path):
    target = symbolizer("")
    (tmp_path / "llvm-symbolizer").write_text(
        "#!/bin/sh\necho x >>$0.started\nwhile read line; do echo $line >>$0.asked\n"
        "printf 'main\\n  Filename: /a.c\\n  Function start line: 2\\n  Line: 3\\n  Column: 1\\n\\n'; done\n"
    )
    ones = [
        read_inlined_calls({target: dict.fromkeys(addresses, 3)}, with_starts=with_starts).chains[target]
        for addresses, with_starts in (((16, 32), True), ((32, 48), False), ((16, 48), True))
    ]
    assert [list(one) for one in ones] == [[16, 32], [32, 48], [16, 48]]
    assert [{chain[0].start for chain in one.values()} for one in ones] == [{2}, {0}, {2}]
    assert (tmp_path / "llvm-symbolizer.started").read_text() == "x\n"
    assert (tmp_path / "llvm-symbolizer.asked").read_text() == "0x10\n0x20\n0x30\n"
    end_symbolizers()
    read_inlined_calls({target: {16: 3}})
    assert (tmp_path / "llvm-symbolizer.started").read_text() == "x\nx\n"


def test_numbers_that_are_no_addresses_are_not_asked_about(symbolizer):
    """The symbolizer has no answer to them, not even an empty one."""
    target = symbolizer("main\n/a.c:3:0\n\n")
    found = read_inlined_calls({target: {-1: 3, 16: 3, 1 << 64: 3}}, seconds=9)
    assert found.notes == () and list(found.chains[target]) == [16]


def test_few_symbolizers_wait(symbolizer, tmp_path):
    symbolizer("main\n/a.c:3:0\n\n")
    end_symbolizers()
    for number in range(9):
        (tmp_path / f"object{number}").write_text("")
        assert read_inlined_calls({str(tmp_path / f"object{number}"): {16: 3}}).chains
    assert [name[-1] for name, _ in inlined._waiting] == ["5", "6", "7", "8"]
    symbolizer("another\n/a.c:3:0\n\n")
    again = read_inlined_calls({str(tmp_path / "object0"): {16: 3}}).chains
    assert [place.function for place in again[str(tmp_path / "object0")][16]] == ["main"], "what it said is known"
    end_symbolizers()
    assert not inlined._waiting


def test_none_waits_while_a_report_is_looked_at(symbolizer, monkeypatch):
    target = symbolizer("main\n/a.c:3:0\n\n")
    waiting, shown = [], []

    def lines_on(_):
        assert read_inlined_calls({target: {16: 3}}).chains
        waiting.append(len(inlined._waiting))
        return ["a line"]

    def show(lines):
        waiting.append(len(inlined._waiting))
        shown.extend(lines)

    end_symbolizers()
    monkeypatch.setattr(outputs, "write_paged", show)
    outputs.write_text(lines_on, [], parse_options(["profile"]))
    assert shown == ["a line"]
    assert waiting == [1, 0]


def test_the_real_tool_reads_what_a_compiler_writes(tmp_path):
    compiler, nm = shutil.which("cc"), shutil.which("nm")
    if not (compiler and nm and shutil.which("llvm-symbolizer")):
        pytest.skip("cc, nm or llvm-symbolizer is missing")
    (tmp_path / "a.c").write_text(
        "static inline __attribute__((always_inline)) int inner(volatile int* p) {\n"
        "    return *p;\n"
        "}\n"
        "int outer(volatile int* p) {\n"
        "    return inner(p);\n"
        "}\n"
    )
    library = tmp_path / "a.so"
    command = [compiler, "-g", "-O1", "-shared", "-fPIC", "-o", library, tmp_path / "a.c"]
    subprocess.run(command, check=True)
    symbols = subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout
    (start,) = [int(line.split()[0], 16) for line in symbols.splitlines() if "outer" in line]
    found = read_inlined_calls({str(library): {start: 2}})
    assert found.notes == ()
    chain = found.chains[str(library)][start]
    assert [(place.function, place.line) for place in chain] == [("outer", 5), ("inner", 2)]
