# SPDX-License-Identifier: GPL-2.0-or-later
"""Random structured programs, and what loops they have: nested, in functions that are inlined, left early.

Loops run over volatile bounds and have a body that no compiler can leave out, so that each stays one loop at every
level of optimisation. A loop's iterations depend on nothing but its bound.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Loop:
    """entries and iterations are those of the whole run."""

    line: int
    entries: int
    iterations: int
    loops: list[Loop] = field(default_factory=list)


@dataclass
class Program:
    text: str
    loops: list[Loop]  # main's, those of inlined functions among them


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = [
            "static volatile int sink;",
            "static volatile int bounds[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};",
            'static void touch(void) { sink = sink + 1; __asm__ volatile("" ::: "memory"); }'.replace(
                "static void", "static inline __attribute__((always_inline)) void"
            ),
        ]

    def add(self, depth: int, text: str) -> int:
        self.lines.append("    " * depth + text)
        return len(self.lines)

    def body(self, depth: int, times: int, nesting: int) -> list[Loop]:
        """Statements that are executed so many times."""
        found: list[Loop] = []
        for _ in range(self.rng.randint(1, 2)):
            self.add(depth, "touch();")
            if nesting and self.rng.random() < 0.7:
                found.append(self.loop(depth, times, nesting))
        self.add(depth, "touch();")
        return found

    def loop(self, depth: int, times: int, nesting: int) -> Loop:
        count = self.rng.randint(2, 9)
        name = f"i{len(self.lines)}"
        leaves = self.rng.random() < 0.3
        line = self.add(depth, f"for (int {name} = 0; {name} < bounds[{count}]; {name}++) {{")
        done = self.rng.randint(2, count) if leaves else count
        inner = self.body(depth + 1, times * done, nesting - 1)
        if leaves:
            self.add(depth + 1, f"if ({name} + 1 == bounds[{done}]) break;")
        self.add(depth, "}")
        return Loop(line, times, times * done, inner)


def structured_program(seed: int) -> Program:
    """main calls functions that are inlined, each from one place, as often as a loop around it says."""
    writer = _Writer(seed)
    found: list[Loop] = []
    functions = writer.rng.randint(1, 3)
    for number in range(functions):
        writer.add(0, f"static inline __attribute__((always_inline)) void f{number}(void) {{")
        found += writer.body(1, 1, 3)
        writer.add(0, "}")
    writer.add(0, "int main(void) {")
    for number in range(functions):
        writer.add(1, f"f{number}();")
    found += writer.body(1, 1, 2)
    writer.add(1, "return 0;")
    writer.add(0, "}")
    return Program("\n".join(writer.lines) + "\n", found)
