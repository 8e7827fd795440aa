# SPDX-License-Identifier: GPL-2.0-or-later
"""generate_programs.py SEED COUNT: a C++ source of COUNT random programs, which run one after the other.

Each program is a handful of functions that call each other, directly, through pointers, as tail calls and recursively;
jump out with longjmp and exceptions; raise signals, whose handlers return or jump out; start threads; and read and
write memory on the way. The same seed gives the same source, and each program does the same each time it runs, but for
the order in which its threads do: with an argument, all is run in one thread.
"""

from __future__ import annotations

import random
import sys

PROLOGUE = r"""// Made by generate_programs.py, seed {seed}.
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

// Bounds what a thread does, whatever calls whom.
static thread_local long fuel;
static thread_local sigjmp_buf* escape;
static bool one_thread;

static const long kTableSize = 4096;
static long table[kTableSize];

using Function = long (*)(long depth, long value);

struct Escape {{
    sigjmp_buf buffer;
    sigjmp_buf* const outer = escape;
    Escape() {{ escape = &buffer; }}
    ~Escape() {{ escape = outer; }}
}};

static long touch(long* memory, long first, long step, long count) {{
    long sum = 0;
    for (long i = 0; i < count; ++i) {{
        long& place = memory[(first + i * step) & (kTableSize - 1)];
        sum += place;
        place = sum ^ i;
    }}
    return sum;
}}

static void* run_thread(void* start) {{
    fuel = 60;
    return reinterpret_cast<void*>(reinterpret_cast<Function>(start)(6, 1));
}}

static long in_threads(Function first, Function second) {{
    void* start[2] = {{reinterpret_cast<void*>(first), reinterpret_cast<void*>(second)}};
    pthread_t threads[2];
    const long saved_fuel = fuel;
    sigjmp_buf* const saved_escape = escape;
    escape = nullptr;
    for (int i = 0; i < 2; ++i) {{
        if (one_thread) {{
            run_thread(start[i]);
        }} else if (pthread_create(&threads[i], nullptr, run_thread, start[i]) != 0) {{
            abort();
        }}
    }}
    for (int i = 0; i < 2 && !one_thread; ++i) pthread_join(threads[i], nullptr);
    fuel = saved_fuel;
    escape = saved_escape;
    return fuel;
}}
"""

EPILOGUE = r"""
int main(int argc, char**) {{
    one_thread = argc > 1;
    alignas(16) static char stack[65536];
    const stack_t alternate = {{stack, 0, sizeof stack}};
    if (sigaltstack(&alternate, nullptr) != 0) return 1;
    static const Function programs[] = {{{programs}}};
    long sum = 0;
    for (const Function program : programs) {{
        fuel = 150;
        sum += program(8, 3);
    }}
    return sum == 42 ? 1 : 0;
}}
"""


class Program:
    """The functions of one program; the first is where it starts."""

    def __init__(self, choice: random.Random, number: int) -> None:
        self.choice = choice
        self.name = f"p{number}"
        self.size = choice.randint(4, 10)

    def source(self) -> str:
        functions = [self.function_name(i) for i in range(self.size)]
        declarations = "".join(f"static long {name}(long depth, long value);\n" for name in functions)
        declarations += f"static const Function {self.name}_all[] = {{{', '.join(functions)}}};\n"
        parts = [declarations, *map(self.handler, range(2)), *map(self.function, range(self.size))]
        return "\n".join(parts) + self.start()

    def function_name(self, number: int) -> str:
        return f"{self.name}_f{number}"

    def any_function(self) -> str:
        if self.choice.random() < 0.3:
            return f"{self.name}_all[(value ^ depth) & 3]"
        return self.function_name(self.choice.randrange(self.size))

    def call(self) -> str:
        return f"{self.any_function()}(depth - 1, value + {self.choice.randrange(100)})"

    def touch(self) -> str:
        first, step = self.choice.randrange(4096), self.choice.choice([1, 1, 2, 8, 9, 64, 1023])
        return f"touch(table, {first} + value, {step}, {self.choice.randint(1, 12)})"

    def statement(self) -> str:
        make = self.choice.choice(
            [
                self.plain_call, self.plain_call, self.plain_call, self.work, self.work,
                self.branch, self.jump_target, self.jump, self.catch, self.throw,
                self.signal, self.copy, self.sort, self.atomic, self.loop,
            ]
        )  # fmt: skip
        return make()

    def plain_call(self) -> str:
        return f"value += {self.call()};"

    def work(self) -> str:
        return f"value += {self.touch()};"

    def loop(self) -> str:
        times = self.choice.randint(2, 5)
        return f"for (int i = 0; i < {times} && fuel > 0; ++i) value += {self.call()};"

    def branch(self) -> str:
        cases = "".join(
            f" case {i}: {self.choice.choice([self.plain_call, self.work])()} break;"
            for i in range(self.choice.randint(2, 6))
        )
        return f"switch (value & 7) {{{cases} default: ++value; }}"

    def jump_target(self) -> str:
        saved = self.choice.randrange(2)
        return (
            f"{{ Escape here; if (sigsetjmp(here.buffer, {saved}) == 0) "
            f"*const_cast<volatile long*>(&value) += {self.call()}; }}"
        )

    def jump(self) -> str:
        return f"if (escape && (value & {self.mask()}) == 0) siglongjmp(*escape, 1);"

    def catch(self) -> str:
        return f"try {{ value += {self.call()}; }} catch (long thrown) {{ value ^= thrown; }}"

    def throw(self) -> str:
        # Past an Escape its destructor runs; without a catch at all, the start has one.
        return f"if ((value & {self.mask()}) == 0) throw value;"

    def mask(self) -> int:
        return self.choice.choice([1, 3, 3, 7])

    def signal(self) -> str:
        return f"if (depth > 2) raise({self.choice.choice(['SIGUSR1', 'SIGUSR2'])});"

    def copy(self) -> str:
        size, first, second = self.choice.randint(1, 300), *self.choice.sample(range(0, 30000, 8), 2)
        kind = self.choice.choice(["memcpy", "memmove", "rep"])
        to, source = f"reinterpret_cast<char*>(table) + {first}", f"table + {second // 8}"
        if kind == "rep":
            return (
                f"{{ void* to = {to}; const void* from = {source}; long count = {size // 8}; "
                'asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory"); }'
            )
        return f"memmove({to}, {source}, {size});" if kind == "memmove" else f"memset({to}, 7, {size});"

    def sort(self) -> str:
        first, count = self.choice.randrange(0, 4000, 8), self.choice.randint(2, 9)
        return f"qsort(table + {first}, {count}, sizeof *table, {self.name}_order);"

    def atomic(self) -> str:
        return f"value += __atomic_fetch_add(&table[{self.choice.randrange(4096)}], depth, __ATOMIC_SEQ_CST);"

    def function(self, number: int) -> str:
        lines = [f"static long {self.function_name(number)}(long depth, long value) {{"]
        lines.append("    if (--fuel < 0 || depth <= 0) return value + depth;")
        if self.choice.random() < 0.4:
            lines.append(f"    volatile long frame[{self.choice.choice([3, 9, 40, 300])}];")
            lines.append("    frame[depth & 1] = value;")
        lines += [f"    {self.statement()}" for _ in range(self.choice.randint(1, 4))]
        # A tail call, if the compiler can.
        end = self.call() if self.choice.random() < 0.5 else "value + depth"
        return "\n".join([*lines, f"    return {end};", "}"])

    def handler(self, number: int) -> str:
        """Of a signal: it may call, return, or jump out. Nothing is thrown through it."""
        jump = self.jump().replace("value", "fuel") if self.choice.random() < 0.5 else ""
        if number == 1:
            return (
                f"static int {self.name}_order(const void* a, const void* b) {{\n"
                "    const long left = *static_cast<const long*>(a), right = *static_cast<const long*>(b);\n"
                "    return (left > right) - (left < right);\n}"
            )
        callee = self.function_name(self.choice.randrange(self.size))
        return (
            f"static void {self.name}_handler(int signal) {{\n"
            "    const long saved = fuel;\n"
            f"    fuel = saved > 5 ? 5 : saved;\n"
            f"    try {{ table[signal] += {callee}(2, signal); }} catch (long) {{ ++table[0]; }}\n"
            "    fuel = saved;\n"
            f"    {jump}\n}}"
        )

    def start(self) -> str:
        on_stack = self.choice.choice(["0", "SA_ONSTACK", "SA_NODEFER", "SA_ONSTACK | SA_NODEFER"])
        threads = ""
        if self.choice.random() < 0.5:
            first, second = (
                self.function_name(self.choice.randrange(self.size)) for _ in range(2)
            )
            threads = f"    value += in_threads({self.name}_guarded<{first}>, {self.name}_guarded<{second}>);\n"
        return (
            f"\ntemplate <Function function>\nstatic long {self.name}_guarded(long depth, long value) {{\n"
            "    try {\n        Escape here;\n"
            "        return sigsetjmp(here.buffer, 1) == 0 ? function(depth, value) : 0;\n"
            "    } catch (long thrown) {\n        return thrown;\n    }\n}\n"
            f"\nstatic long {self.name}(long depth, long value) {{\n"
            "    struct sigaction action{};\n"
            f"    action.sa_handler = {self.name}_handler;\n    action.sa_flags = {on_stack};\n"
            "    sigaction(SIGUSR1, &action, nullptr);\n    action.sa_flags = 0;\n"
            "    sigaction(SIGUSR2, &action, nullptr);\n"
            f"{threads}"
            f"    return value + {self.name}_guarded<{self.function_name(0)}>(depth, value);\n}}\n"
        )


def generate(seed: int, count: int) -> str:
    programs = [Program(random.Random(f"{seed} {i}"), i) for i in range(count)]
    names = ", ".join(program.name for program in programs)
    sources = "\n".join(program.source() for program in programs)
    return PROLOGUE.format(seed=seed) + "\n" + sources + EPILOGUE.format(programs=names)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("Usage: generate_programs.py SEED COUNT", file=sys.stderr)
        return 2
    print(generate(int(arguments[0]), int(arguments[1])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
