# SPDX-License-Identifier: GPL-2.0-or-later
"""Damages debug information and reads it: `python3 fuzz_dwarf.py SECONDS SEED FOLDER` goes on for so long, and
leaves in the folder what breaks its limits."""

import pathlib
import random
import resource
import shutil
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bdannotate.model.data_types import PointerName, VariableName, WantedTypes  # noqa: E402
from bdannotate.reading.debug_types import read_types  # noqa: E402
from dwarf_corpus import CASES  # noqa: E402
from programs import compiled  # noqa: E402

WANTED = WantedTypes(
    frozenset({"thing", "S", "geo::Particle", "Pair<int, char>", "int", "long unsigned int"}),
    frozenset({VariableName("one", 72), VariableName("single", 8)}),
    frozenset({PointerName("main", "local"), PointerName("f", "m")}),
)
PROGRAM = """
#include <vector>
namespace geo { struct Base { int id; }; struct Particle : Base { double x[3]; Particle* next; std::vector<int> v; }; }
template <class T, class U> struct Pair { T first; U second; };
struct thing { int a : 3; struct { char c[3][4]; } in; Pair<int, char> pair; } single;
geo::Particle one; thread_local thing mine;
int main() { thing* local = new thing[3]; return local[1].in.c[1][2] + one.id + mine.a; }
"""
SECONDS = 60  # of processor time
# These take a reader what it may spend, for many seconds, and so would most that is made of them.
SLOW = {"empty_structs", "deep_namespaces"}


def seeds(folder):
    """Object files to be damaged: small ones of the corpus, and what compilers make."""
    found = [data for case in CASES if case.__name__ not in SLOW and len(data := case()) < 200_000]
    for number, compiler in enumerate((("g++", "-g"), ("g++", "-g", "-gdwarf-4", "-O2"), ("g++", "-g", "-gz"),
                                       ("clang++", "-g"), ("clang++", "-g", "-fdebug-types-section"))):
        if shutil.which(compiler[0]):
            (folder / str(number)).mkdir()
            found.append(pathlib.Path(compiled(folder / str(number), compiler, PROGRAM)).read_bytes())
    return found


def debug_ranges(data):
    """Where sections of debug information lie, and the table of sections."""
    table, = struct.unpack_from("<Q", data, 40)
    number, names = struct.unpack_from("<HH", data, 60)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * index) for index in range(number)]
    start = heads[names][4]
    found = [(table, table + 64 * number)]
    for head in heads:
        name = data[start + head[0] :].partition(b"\0")[0]
        if name.startswith((b".debug", b".zdebug", b".gnu_debug", b".sym", b".note")) and head[5]:
            found.append((head[4], head[4] + head[5]))
    return found


def damaged(data, chance):
    data = bytearray(data)
    ranges = debug_ranges(data)
    for _ in range(chance.choice((1, 1, 2, 4, 30))):
        start, end = chance.choice(ranges)
        end = min(end, len(data))  # what was put in place of more has made the file shorter
        if start >= end:
            continue
        at = chance.randrange(start, end)
        match chance.randrange(6):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                data[at] ^= 1 << chance.randrange(8)
            case 3:
                width = chance.choice((2, 4, 8))
                most = (1 << 8 * width) - 1
                value = chance.choice((0, 1, most, most // 2 + 1, chance.randrange(most)))
                data[at : at + width] = value.to_bytes(width, "little")
            case 4:
                size = chance.randrange(1, 40)
                other = chance.randrange(start, end)
                data[at : at + size] = data[other : other + size]
            case _ if chance.random() < 0.1:
                return bytes(data[:at])
    return bytes(data)


def read(path):
    """The sentences that it leads to, and the processor time that it took in the reader's process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = read_types({str(path): WANTED})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(seconds, seed, folder):
    failures = pathlib.Path(folder)
    failures.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        known = seeds(scratch)
        path = scratch / "damaged"
        end, inputs, slowest, sentences = time.monotonic() + seconds, 0, 0.0, {}
        while time.monotonic() < end:
            chance = random.Random(f"{seed} {inputs}")
            path.write_bytes(damaged(chance.choice(known), chance))
            found, took = read(path)
            slowest = max(slowest, took)
            for note in found.notes:
                what = note.rpartition(": ")[2][:60]
                sentences[what] = sentences.get(what, 0) + 1
            if took > SECONDS or len(found.notes) > 1 or any("reader fail" in note for note in found.notes):
                shutil.copy(path, failures / f"{seed}-{inputs}")
                print(f"failure {seed}-{inputs}: {took:.1f} s, {found.notes}", flush=True)
            inputs += 1
            if inputs % 1000 == 0:
                print(f"{inputs} inputs, the slowest took {slowest:.1f} s", flush=True)
        print(f"{inputs} inputs in {seconds} s, the slowest took {slowest:.1f} s")
        for what, number in sorted(sentences.items(), key=lambda one: -one[1])[:20]:
            print(f"{number:8} {what}")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], sys.argv[3])
