# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information from strangers: types or one sentence, in bounded time and memory. The damage is the same in
every run; fuzz_dwarf.py goes on for hours."""

import os
import random
import resource

import pytest
from bdannotate.analyses.code.instructions import disassemble
from bdannotate.model.data_types import Type
from bdannotate.model.errors import UserError
from bdannotate.reading import bounded, debug_types, dwarf
from bdannotate.reading.debug_types import _alike
from bdannotate.reading.inlined import read_inlined_calls
from dwarf_corpus import CASES, units
from fuzz_dwarf import damaged, read, seeds

pytestmark = pytest.mark.usefixtures("elftools")
DAMAGED = 60
CPU_SECONDS = 60
MEMORY = 1500 << 20
# What must not cost the types of the file.
READABLE = {"const_names", "many_consts", "sibling_back", "abbreviations", "nested_inlined"}


def used():
    """Processor time and the most memory of ended children."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime, now.ru_maxrss << 10


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_made_up_debug_information(case, tmp_path):
    path = tmp_path / "self"
    path.write_bytes(case())
    before = used()[0]
    found, _ = read(path)
    time, memory = used()
    assert time - before < CPU_SECONDS
    assert memory < MEMORY
    assert len(found.notes) <= 1
    if case.__name__ in READABLE:
        assert found.notes == ()
        (thing,) = found.named[str(path), "thing"]
        assert isinstance(thing, Type) and thing.size == 8
    for types in found.named.values():
        for one in types:
            assert one.size < 1 << 23
            assert all(0 <= field.offset <= one.size - field.size for field in one.fields)


def test_damaged_debug_information(tmp_path):
    known = seeds(tmp_path)
    path = tmp_path / "damaged"
    outcomes = set()
    for number in range(DAMAGED):
        chance = random.Random(number)
        path.write_bytes(damaged(chance.choice(known), chance))
        before = used()[0]
        found, _ = read(path)
        assert used()[0] - before < CPU_SECONDS, number
        assert len(found.notes) <= 1 and not any("reader fail" in note for note in found.notes), number
        outcomes.add(bool(found.notes))
    assert outcomes == {True, False}


def test_a_loop_of_links_ends(tmp_path):
    for name, other in (("self", "other"), ("other", "self")):
        (tmp_path / name).symlink_to(other)
    found, _ = read(tmp_path / "self")
    assert found.problems == {str(tmp_path / "self"): "the file does not exist"}


@pytest.mark.parametrize("name", ["/proc/kmsg", "/proc/self/maps", "/dev/zero", "fifo", "link", "relative"])
def test_only_regular_files_are_opened(name, tmp_path):
    """A FIFO, or the kernel's messages, would be waited for."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/proc/kmsg")
    path = name if name[0] == "/" or name == "relative" else str(tmp_path / name)
    assert read(path)[0].problems == {path: "the file does not exist"}
    inlined = read_inlined_calls({path: {16: 1}})
    assert not inlined.chains and "the file does not exist" in inlined.notes[0]
    assert disassemble(path, range(16)) == {}


@pytest.mark.parametrize("name, same", [
    ("const T*", "T const*"), ("const const T", "T const"), ("const const", "const const"),
    ("a<const b, c<const d*> >", "a<b const,c<d const*>>"), ("const a<const b>", "a<b const>const"),
    ("f(const a&, const b)", "f(a const&,b const)"), ("constant", "constant"), ("a> const", "a>const"),
])
def test_const_stands_behind(name, same):
    assert _alike(name) == _alike(same) == same


def test_units_are_counted(tmp_path, monkeypatch):
    """Each takes a reader 140 KiB."""
    monkeypatch.setattr(dwarf, "_MOST_UNITS", 100)
    path = tmp_path / "self"
    path.write_bytes(units())
    assert read(path)[0].problems == {str(path): "its debug information has too many units"}


@pytest.mark.parametrize("limit, problem", [
    ("_MOST_BYTES", "its debug information takes more than 0 GiB of memory to read"),
    ("_SECONDS", "its debug information takes longer than 1 seconds to read"),
])
def test_what_no_count_bounds_ends(limit, problem, monkeypatch):
    monkeypatch.setattr(bounded, limit, 1)

    def work():
        kept = bytearray(1 << 26)
        while limit == "_SECONDS":
            kept[0] ^= 1

    with pytest.raises(UserError, match=problem):
        bounded.bounded(work, "its debug information")


@pytest.mark.parametrize("wrap", [False, True], ids=["as it is", "as Python 3.13 wraps it"])
def test_memory_that_runs_out_is_said(wrap, tmp_path, monkeypatch):
    def fail(*_):
        try:
            raise MemoryError
        except MemoryError as error:
            if wrap:
                raise SystemError("<class 'bytes'> returned a result with an exception set") from error
            raise

    monkeypatch.setattr(debug_types, "with_debug_information", fail)
    path = tmp_path / "self"
    path.write_bytes(units())
    assert read(path)[0].problems == {
        str(path): "its debug information takes more than 4 GiB of memory to read"
    }


def test_other_errors_of_python_are_not_memory():
    def fail():
        raise SystemError

    with pytest.raises(UserError, match="makes the reader fail"):
        bounded.bounded(fail, "its debug information")
