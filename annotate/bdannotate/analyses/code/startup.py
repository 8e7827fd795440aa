# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs before the program does: the callers of main, and of the start routines of threads.

It is the same in every program and carries the inclusive cost of all of it, so that it would lead
every list.
"""

from __future__ import annotations

import re

from ...model.graph import CallGraph
from ...model.profile import Function

# The first that occurs is where the program begins; Fortran and Rust have a main of C above theirs.
_STARTS = ("MAIN__", "main")
_RUST_START = re.compile(r"(?:std::rt::|.*std::rt::)?lang_start\b.*|.*lang_start_internal.*")
_RUST_MARK = "lang_start"  # most names are known not to be it without looking closely
_RUST_MAIN = re.compile(r"\w+::main(?:::h[0-9a-f]{16})?")
# What calls the program's main, which has no name in a program without symbols.
_BELOW_MAIN = re.compile(r"\(below main\)|__libc_start_call_main|__libc_start_main(?:@.*)?")
_THREAD_STARTS = frozenset({
    "clone", "clone3", "__clone", "__clone3", "__clone_internal", "start_thread", "thread_start",
})


def is_start(function: Function) -> bool:
    """Whether it is what calls main, or the start routine of a thread. With --separate-callers, the
    names of callers follow."""
    name = function.name.partition("'")[0]
    return name in _THREAD_STARTS or _BELOW_MAIN.fullmatch(name) is not None


def above_main(graph: CallGraph) -> frozenset[Function]:
    """The functions that do nothing but start others. Empty if the program's start is unknown."""
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
    """The costliest function that the C library's start calls in another object."""
    called = {
        callee: graph.functions[callee].inclusive
        for caller in graph.functions
        if _BELOW_MAIN.fullmatch(caller.name)
        for callee in graph.callees.get(caller, ())
        if callee.object != caller.object and not _BELOW_MAIN.fullmatch(callee.name)
    }
    return [max(called, key=lambda function: (called[function], function))] if called else []
