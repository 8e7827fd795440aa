#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares call counts and instructions per function with Callgrind's.

    compare_calls.py [--all] [OPTION]... PROGRAM [ARGUMENT]...

runs the program under both tools without cache simulation, in the same environment. The options
are given to both. It prints the first function that differs (--all: every one), with the calls
that make the difference, and how many differ; the exit status is 1 then. Standard input goes to
the program; its output is thrown away.

Functions are compared by object, file and name, contexts included, from the raw profiles:
callgrind_annotate merges names. One difference is left out, as every program has it: Callgrind
does not count the block that ends the process. Its instructions are missing in the function that
ends the process and in those that called it. (The same happens to the last block of a thread, and
to one that a signal interrupts; such functions are printed.)

Code outside of the sections that Valgrind's core knows, as stubs in .plt.got are, has no object in
Callgrind, and its address in memory for a name. It is known by its place in a page.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from harness import run_tool

_ADDRESS = re.compile(r"0x[0-9a-f]{16}")
_NAME = re.compile(r"(c?)(fn|ob|f[lie])=(?:\((\d+)\) ?(.*)|(.*))$")


class Function(NamedTuple):
    object: str
    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.file}, {self.object})"


class Arc(NamedTuple):
    calls: int
    inclusive: int


@dataclass(slots=True)
class Calls:
    """The instructions of functions, and of the calls between them."""

    self_cost: Counter[Function] = field(default_factory=Counter)
    arcs: dict[tuple[Function, Function], Arc] = field(default_factory=dict)

    def add_arc(self, caller: Function, callee: Function, calls: int, inclusive: int) -> None:
        before = self.arcs.get((caller, callee), Arc(0, 0))
        self.arcs[caller, callee] = Arc(before.calls + calls, before.inclusive + inclusive)

    def functions(self) -> dict[Function, FunctionCalls]:
        result: dict[Function, FunctionCalls] = defaultdict(FunctionCalls)
        for function, cost in self.self_cost.items():
            result[function].self_cost = cost
        for (caller, callee), arc in self.arcs.items():
            result[callee].calls += arc.calls
            result[callee].called_by[caller] = arc
            result[caller].calls_to[callee] = arc
        return result


@dataclass(slots=True)
class FunctionCalls:
    calls: int = 0
    self_cost: int = 0
    called_by: dict[Function, Arc] = field(default_factory=dict)
    calls_to: dict[Function, Arc] = field(default_factory=dict)

    def inclusive(self, itself: Function) -> int:
        """Self cost and calls to others. In a cycle it means little, but the same for both."""
        others = (arc.inclusive for callee, arc in self.calls_to.items() if callee != itself)
        return self.self_cost + sum(others)


def read_calls(path: Path) -> Calls:
    """The first event of a profile, which must be Ir, with one position column."""
    result = Calls()
    names: dict[tuple[str, str], str] = {}
    now = {"ob": "", "fl": "", "fn": ""}
    target: dict[str, str] = {}
    function = Function("", "", "")
    file = ""
    calls: int | None = None
    for line in path.read_text(errors="surrogateescape").splitlines():
        if line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            cost = int(line.split()[1])
            if calls is None:
                result.self_cost[function] += cost
                continue
            named = target.get("ob", now["ob"]), target.get("fl", file), target["fn"]
            callee = Function(*named)
            result.add_arc(function, callee, calls, cost)
            calls, target = None, {}
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif match := _NAME.match(line):
            called, kind, number, new_name, plain = match.groups()
            space = "fl" if kind in ("fi", "fe") else kind
            if number and new_name:
                names[space, number] = new_name
            name = names[space, number] if number else plain
            if called:
                target[space] = name
                continue
            if space == "fl":
                file = name
            if kind == space:
                now[space] = name
                function = Function(now["ob"], now["fl"], now["fn"])
                file = now["fl"]
        elif line.startswith("events:"):
            assert line.split()[1] == "Ir", f"{path}: {line}"
    return result


def without_objects(calls: Calls, places: set[tuple[str, str]]) -> Calls:
    """With the functions at these objects and addresses named by their place in a page, whichever
    object they are in. So are all addresses in contexts, as objects are not told there."""

    def renamed(function: Function) -> Function:
        address = _ADDRESS.match(function.name)
        name = function.name[: address.end()] if address else ""
        context = _ADDRESS.sub(lambda found: f"~{found[0][-3:]}", function.name[len(name) :])
        if address and (function.object, name) in places:
            return Function("???", function.file, f"~{name[-3:]}{context}")
        return function._replace(name=name + context)

    result = Calls()
    for function, cost in calls.self_cost.items():
        result.self_cost[renamed(function)] += cost
    for (caller, callee), arc in calls.arcs.items():
        result.add_arc(renamed(caller), renamed(callee), *arc)
    return result


def alike(ours: Calls, theirs: Calls) -> tuple[Calls, Calls]:
    """Both with the code that has no object in Callgrind named in the same way."""

    def addresses(calls: Calls) -> set[tuple[str, str]]:
        functions = {*calls.self_cost, *(function for arc in calls.arcs for function in arc)}
        return {(f.object, match[0]) for f in functions if (match := _ADDRESS.match(f.name))}

    mine, known = addresses(ours), addresses(theirs)
    unknown = {(where, address) for where, address in known if where == "???"}
    return without_objects(ours, mine - known), without_objects(theirs, unknown)


@dataclass(slots=True)
class Comparison:
    """What differs, of all functions."""

    functions: int
    instructions: int
    differing: list[Difference]
    last_block: int  # instructions of the last block


@dataclass(slots=True)
class Difference:
    function: Function
    ours: FunctionCalls
    theirs: FunctionCalls

    def describe(self) -> Iterator[str]:
        yield f"{self.function}"
        inclusive = self.ours.inclusive(self.function), self.theirs.inclusive(self.function)
        for what, ours, theirs in (
            ("calls", self.ours.calls, self.theirs.calls),
            ("self Ir", self.ours.self_cost, self.theirs.self_cost),
            ("inclusive Ir", *inclusive),
        ):
            if ours != theirs:
                yield f"  {what}: {ours}, Callgrind has {theirs} ({ours - theirs:+})"
        for title, ours_by, theirs_by in (
            ("called by", self.ours.called_by, self.theirs.called_by),
            ("calls", self.ours.calls_to, self.theirs.calls_to),
        ):
            for other in sorted({*ours_by, *theirs_by}):
                our, their = ours_by.get(other), theirs_by.get(other)
                if our != their:
                    yield f"  {title} {other}: {_arc(our)}, Callgrind has {_arc(their)}"


def _arc(arc: Arc | None) -> str:
    return "nothing" if arc is None else f"{arc.calls} calls, {arc.inclusive} Ir"


def compare(ours: Calls, theirs: Calls) -> Comparison:
    our_functions, their_functions = ours.functions(), theirs.functions()
    last_block = ours.self_cost.total() - theirs.self_cost.total()
    differing = []
    functions = sorted({*our_functions, *their_functions})
    for function in functions:
        our = our_functions.get(function, FunctionCalls())
        their = their_functions.get(function, FunctionCalls())
        calls = our.calls - their.calls
        self_cost = our.self_cost - their.self_cost
        inclusive = our.inclusive(function) - their.inclusive(function)
        if calls or self_cost not in (0, last_block) or inclusive not in (0, last_block):
            differing.append(Difference(function, our, their))
    return Comparison(len(functions), ours.self_cost.total(), differing, last_block)


def run_both(
    folder: Path, command: Sequence[str], options: Sequence[str] = (), stdin: bytes = b""
) -> Comparison:
    calls = []
    # With --separate-recs<n>=<function>, Callgrind's numbers for names are not unique.
    always = ["--cache-sim=no", "--compress-strings=no"]
    for tool in ("bdgrind", "callgrind"):
        run = run_tool(
            folder,
            command,
            [*always, *options],
            tool=tool,
            stdin=stdin,
            environment={"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"},
            name=tool,
            timeout=3600,
        )
        assert run.profile_path.exists(), f"{tool} wrote no profile:\n{run.log}"
        calls.append(read_calls(run.profile_path))
    ours, theirs = calls
    return compare(*alike(ours, theirs))


def main(arguments: Sequence[str]) -> int:
    options = []
    words = list(arguments)
    show_all = words[:1] == ["--all"]
    if show_all:
        del words[0]
    while words and words[0].startswith("--"):
        options.append(words.pop(0))
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    stdin = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory() as folder:
        result = run_both(Path(folder), words, options, stdin)
    limit = None if show_all else 1
    for difference in result.differing[:limit]:
        print("\n".join(difference.describe()))
    print(
        f"{len(result.differing)} of {result.functions} functions differ; {result.instructions} "
        f"instructions, {result.last_block} more than Callgrind has"
    )
    return 1 if result.differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
