# SPDX-License-Identifier: GPL-2.0-or-later
"""The catalogue of guest programs, with amounts of work for one to three seconds under none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bdbench.model import BenchError, Geometry, Guest
from bdbench.workshop import PROGRAMS, Workshop, compiler_proper, installed

MANY_FUNCTIONS = 100_000
DEEP = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A guest program, made on demand. Hidden ones run only when they are asked for."""

    name: str
    about: str
    make: Callable[[Workshop], Guest]
    hidden: bool = False


def _stencil(shop: Workshop) -> Guest:
    return Guest("stencil", (shop.program("stencil.c"), "500", str(shop.scaled(8))))


def _chase(shop: Workshop) -> Guest:
    steps = shop.scaled(12_000_000)
    return Guest("chase", (shop.program("chase.c"), "131072", str(steps)))


def _recurse(shop: Workshop) -> Guest:
    return Guest("recurse", (shop.program("recurse.c"), str(shop.scaled(800))))


def _deep(shop: Workshop) -> Guest:
    # A multiple of the depth, at least one descent.
    calls = max(DEEP, shop.scaled(40 * DEEP))
    return Guest("deep", (shop.program("deep.c"), str(DEEP), str(calls)))


def _functions(shop: Workshop) -> Guest:
    count = min(MANY_FUNCTIONS, shop.scaled(MANY_FUNCTIONS))
    return Guest("functions", (shop.functions_program(count), str(shop.scaled(20))))


def _dispatch(shop: Workshop) -> Guest:
    return Guest("dispatch", (shop.program("dispatch.cpp"), "100000", str(shop.scaled(120))))


def _trees(shop: Workshop) -> Guest:
    return Guest("trees", (shop.program("trees.cpp"), str(shop.scaled(10_000_000))))


def _names(shop: Workshop) -> Guest:
    return Guest("names", (shop.program("names.cpp"), str(shop.scaled(10))))


def _join(shop: Workshop) -> Guest:
    return Guest("join", (shop.program("join.c"), "100000", str(shop.scaled(24))))


def _sort(shop: Workshop) -> Guest:
    return Guest("sort", (shop.program("sort.c"), str(shop.scaled(100_000)), "5"))


def _threads(shop: Workshop) -> Guest:
    return Guest("threads", (shop.program("threads.c"), str(shop.scaled(150))))


def _xz(shop: Workshop) -> Guest:
    text = shop.text(shop.scaled(4_000_000))
    return Guest("xz", (installed("xz"), "-1", "-T1", "-c", str(text)))


def _bzip2(shop: Workshop) -> Guest:
    text = shop.text(shop.scaled(3_000_000))
    return Guest("bzip2", (installed("bzip2"), "-c", str(text)))


def _sqlite3(shop: Workshop) -> Guest:
    orders = max(100, shop.scaled(16_000))
    size = f"CREATE TABLE size(orders INTEGER);\nINSERT INTO size VALUES({orders});\n"
    script = shop.script(size + (PROGRAMS / "joins.sql").read_text(encoding="ascii"))
    return Guest("sqlite3", (installed("sqlite3"), "-batch", ":memory:"), stdin=script)


def _perl(shop: Workshop) -> Guest:
    text = shop.text(shop.scaled(800_000))
    return Guest("perl", (installed("perl"), str(PROGRAMS / "report.pl"), str(text)))


def _python3(shop: Workshop) -> Guest:
    text = shop.text(shop.scaled(600_000))
    script = str(PROGRAMS / "report.py")
    return Guest("python3", (installed("python3"), "-S", "-s", "-B", script, str(text)))


def _cc1(shop: Workshop) -> Guest:
    source = shop.compiler_input(shop.scaled(10))
    return Guest("cc1", (compiler_proper(), "-quiet", "-O2", str(source), "-o", "-"))


def make_trivial(shop: Workshop) -> Guest:
    """The guest of trial runs."""
    return Guest("trivial", (shop.program("trivial.c"),))


CATALOGUE = (
    Entry("stencil", "2-D stencil with strided gather and transposition", _stencil),
    Entry("chase", "pointer chasing through a list and a tree", _chase),
    Entry("recurse", "direct and mutual recursion, little else", _recurse),
    Entry("deep", "recursion 1,000,000 calls deep", _deep),
    Entry("functions", "100,000 functions, each called a few times", _functions),
    Entry("dispatch", "virtual calls over many small C++ objects", _dispatch),
    Entry("trees", "search trees that are built and dropped", _trees),
    Entry("names", "maps of strings and short vectors", _names),
    Entry("join", "hash join", _join),
    Entry("sort", "the C library's sort and search with callbacks", _sort),
    Entry("threads", "thread switches and signal handlers", _threads),
    Entry("xz", "xz -1 of a text", _xz),
    Entry("bzip2", "bzip2 of a text", _bzip2),
    Entry("sqlite3", "joins and sorts in memory", _sqlite3),
    Entry("perl", "hashes, regular expressions and sorting", _perl),
    Entry("python3", "dictionaries, objects and sorting", _python3),
    Entry("cc1", "gcc's compiler proper, -O2", _cc1),
    Entry("trivial", "sums up an array; for trials of the driver", make_trivial, hidden=True),
)


def select(names: list[str]) -> list[Entry]:
    """The entries of these names, in the order of the catalogue; all but hidden ones without."""
    known = {entry.name for entry in CATALOGUE}
    for name in names:
        if name not in known:
            raise BenchError(f"no program '{name}'; there are {', '.join(sorted(known))}")
    return [e for e in CATALOGUE if e.name in names or (not names and not e.hidden)]


def _length_sweep(shop: Workshop, _geometry: Geometry) -> list[Guest]:
    program = shop.program("stencil.c")
    return [
        Guest(f"stencil x{factor}", (program, "500", str(shop.scaled(4 * factor))))
        for factor in (1, 2, 4, 8)
    ]


def _depth_sweep(shop: Workshop, _geometry: Geometry) -> list[Guest]:
    program = shop.program("deep.c")
    calls = str(max(DEEP, shop.scaled(20 * DEEP)))
    return [
        Guest(f"deep {depth}", (program, str(depth), calls))
        for depth in (10, 1000, 100_000, DEEP)
    ]


def _functions_sweep(shop: Workshop, _geometry: Geometry) -> list[Guest]:
    calls = max(MANY_FUNCTIONS, shop.scaled(80 * MANY_FUNCTIONS))
    return [
        Guest(f"functions {count}", (shop.functions_program(count), str(calls // count)))
        for count in (100, 1000, 10_000, MANY_FUNCTIONS)
    ]


def _cache_sweep(shop: Workshop, geometry: Geometry) -> list[Guest]:
    command = (shop.program("chase.c"), "131072", str(shop.scaled(12_000_000)))
    return [
        Guest(
            f"LL {mib} MiB",
            command,
            geometry=Geometry(geometry.i1, geometry.d1, f"{mib << 20},16,64"),
        )
        for mib in (1, 4, 16, 64)
    ]


# What must not make a simulated event dearer: each sweep varies one thing and keeps the others.
SWEEPS: dict[str, Callable[[Workshop, Geometry], list[Guest]]] = {
    "length": _length_sweep,
    "depth": _depth_sweep,
    "functions": _functions_sweep,
    "cache": _cache_sweep,
}
