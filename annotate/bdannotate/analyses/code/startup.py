# SPDX-License-Identifier: GPL-2.0-or-later
"""Startup code: the callers of main, and of the start routines of threads.

It is the same in every program and has the inclusive cost of the whole program, so that it would lead every list.
"""

from __future__ import annotations

import re

from ...model.graph import CallGraph
from ...model.profile import Function

# The first of these that occurs is where the program begins; Fortran and Rust have a main of C above their own.
_STARTS = ("MAIN__", "main")
_RUST_START = re.compile(r"(?:std::rt::|.*std::rt::)?lang_start\b.*|.*lang_start_internal.*")
_RUST_MARK = "lang_start"  # rules out most names without the slower _RUST_START
_RUST_MAIN = re.compile(r"\w+::main(?:::h[0-9a-f]{16})?")
# The callers of the program's main, which has no name in a program without symbols.
_BELOW_MAIN = re.compile(r"\(below main\)|__libc_start_call_main|__libc_start_main(?:@.*)?")
_THREAD_STARTS = frozenset({
    "clone", "clone3", "__clone", "__clone3", "__clone_internal", "start_thread", "thread_start",
})


def is_start(function: Function) -> bool:
    """Whether a function is startup code, by its name, which --separate-callers may have extended by callers."""
    name = function.name.partition("'")[0]
    return name in _THREAD_STARTS or _BELOW_MAIN.fullmatch(name) is not None


def above_main(graph: CallGraph) -> frozenset[Function]:
    """The functions above main: they only start the program and its threads."""
    starts = _starts(graph)
    found: set[Function] = set()
    waiting = list(starts)
    while waiting:
        for caller in graph.callers.get(waiting.pop(), ()):
            if caller not in found and not any(graph.within_cycle(caller, s) for s in starts):
                found.add(caller)
                waiting.append(caller)
    found |= {function for function in graph.functions if function.name in _THREAD_STARTS}
    return frozenset(found - set(starts))


def _starts(graph: CallGraph) -> list[Function]:
    """The functions where the program begins; empty if they are not known."""
    names = graph.functions
    if any(_RUST_MARK in f.name and _RUST_START.fullmatch(f.name) for f in names):
        rust = [f for f in names if _RUST_MAIN.fullmatch(f.name) and graph.callers.get(f)]
        if rust:
            return rust
    for start in _STARTS:
        found = [f for f in names if f.name == start and graph.callers.get(f)]
        if found:
            return found
    return _called_by_start(graph)


def _called_by_start(graph: CallGraph) -> list[Function]:
    """The costliest function of another object file that the C library's startup code calls; empty if there is none."""
    called = {
        callee: graph.functions[callee].inclusive
        for caller in graph.functions
        if _BELOW_MAIN.fullmatch(caller.name)
        for callee in graph.callees.get(caller, ())
        if callee.object != caller.object and not _BELOW_MAIN.fullmatch(callee.name)
    }
    return [max(called, key=lambda function: (called[function], function))] if called else []
