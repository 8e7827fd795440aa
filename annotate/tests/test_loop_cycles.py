# SPDX-License-Identifier: GPL-2.0-or-later
"""How long an iteration of a loop takes: which loops that is asked of, and what is known of their code."""

import json
import os
import shutil
import subprocess

import pytest
from bdannotate.analyses.misses.loop_work import loop_bodies, work_of
from bdannotate.model.frames import Loop, Nest
from bdannotate.model.machine import Machine
from bdannotate.model.profile import Function
from bdannotate.model.work import Body, Cycles
from bdannotate.reading import loop_cycles
from bdannotate.reading.loop_cycles import names_of, read_loop_cycles
from bdannotate.reading.machine import parse_machine
from bdannotate.reading.parser import Detail, parse_text
from test_waits import MACHINE

ZEN3 = parse_machine(MACHINE + "model: AuthenticAMD family 25 model 1 stepping 1\n", "toy")
WORK = Function("/bin/p", "a.c", "work")

# Of AMD's manual for family 25: additions of doubles take 3 cycles, of which two units begin two in each; two other
# units multiply doubles in 3; products of integers take 3, of which one unit begins one in each; four units add
# integers in a cycle; six operations are dispatched in one.
COUNTED = {
    "sum": (["addsd %xmm0, %xmm1"], 3, 0.5),
    "sums": (["addsd %xmm0, %xmm1", "addsd %xmm0, %xmm2"], 3, 1),
    "power": (["imul %rax, %rax"], 3, 1),
    "polynomial": (["mulsd %xmm0, %xmm1", "addsd %xmm2, %xmm1"], 6, 0.5),
    "free": ([f"add $1, %{name}" for name in ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9")], 2, 2),
}


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """A body for each, in an object file."""
    if not all(map(shutil.which, ("as", "llvm-mca", "llvm-objdump"))) or os.uname().machine != "x86_64":
        pytest.skip("as, llvm-mca or llvm-objdump for x86-64 is missing; on Debian: apt-get install binutils llvm")
    folder = tmp_path_factory.mktemp("loops")
    text, names, found = ".text\n", [], {}
    for name, (lines, _, _) in COUNTED.items():
        text += f"{name}:\n" + "\n".join(lines) + f"\n cmp %r15, %r14\n jne {name}\n"
        names.append((name, len(lines) + 2))
    (folder / "loops.s").write_text(text)
    path = str(folder / "loops.o")
    subprocess.run(["as", "-o", path, folder / "loops.s"], check=True)
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True
    ).stdout
    addresses = iter([
        int(line.partition(":")[0], 16) for line in listing.split("\n") if line.startswith(" ") and ":\t" in line
    ])
    for name, count in names:
        found[name] = Body(path, tuple(next(addresses) for _ in range(count)))
    return found


@pytest.mark.parametrize("name", COUNTED)
def test_a_loop_takes_what_is_counted_by_hand(loops, name):
    _, each, least = COUNTED[name]
    found = read_loop_cycles(loops.values(), ZEN3)[loops[name]]
    assert found.each == pytest.approx(each, rel=0.15)
    # The comparison is an operation, too.
    assert least <= found.least <= least + 0.25


def test_processors_that_are_not_known_tell_nothing(loops):
    for model in ("", "AuthenticAMD family 5 model 1 stepping 1", "implementer 0x41 part 0xd0c", "x" * 90):
        assert not names_of(model)
        text = MACHINE + (f"model: {model}\n" if model else "")
        assert read_loop_cycles(loops.values(), parse_machine(text, "toy")) == {}
    assert names_of("AuthenticAMD family 25 model 17 stepping 1")[0] == "znver4"


def test_without_the_tools_nothing_is_known(loops, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert read_loop_cycles(loops.values(), ZEN3) == {}


def test_what_is_no_file_or_no_code_is_left_out(loops, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    known = loops["sum"]
    others = [
        Body(str(tmp_path / "pipe"), (0, 4)), Body("relative", (0, 4)), Body("/nowhere", (0, 4)),
        Body(known.object, (1 << 40,)),
    ]
    assert list(read_loop_cycles([*others, known], ZEN3)) == [known]


def test_loops_that_are_near_are_disassembled_together(monkeypatch):
    near, far = 1 << 14, (1 << 14) + 1
    second = 104 + near
    third = second + 4 + far
    bodies = [Body("/bin/sh", (start, start + 4)) for start in (third, 0, 100, second)]
    ranges = []
    missing = ""

    def answer(command, text, _):
        if "objdump" not in command[0]:
            return "{}"
        start, stop = (int(option.partition("=")[2], 16) for option in command if "address" in option)
        ranges.append((start, stop))
        code = "".join(f"  {address:x}:\tnop\n" for body in bodies for address in body.addresses)
        return code.replace(missing, "") if missing and stop - start > 5 else code

    monkeypatch.setattr(loop_cycles, "answer_of", answer)
    monkeypatch.setattr(loop_cycles.shutil, "which", lambda name: f"/usr/bin/{name}")
    read_loop_cycles([*bodies, Body("/bin/ls", (0,))], ZEN3)
    assert ranges == [(0, 1), (0, second + 5), (third, third + 5)]
    # Data may lie between two loops, and be taken for an instruction that overlaps the second one.
    ranges.clear()
    missing = f"  {second:x}:\tnop\n"
    read_loop_cycles(bodies, ZEN3)
    assert ranges == [(0, second + 5), (second, second + 5), (third, third + 5)]


@pytest.mark.parametrize("line", [
    "       0: \t.incbin\t\"/etc/passwd\"", "       0: \tnop\n# LLVM-MCA-END 0", "       0: \tnop;.incbin \"x\"",
    "       0: \tcall\t0x10", "       0: \trep\t\tmovsb", "       0: \tnop\t\x1b[31m",
])
def test_only_instructions_are_passed_on(monkeypatch, line):
    asked = []

    def answer(command, text, _):
        asked.append(text)
        return line if "objdump" in command[0] else "{}"

    monkeypatch.setattr(loop_cycles, "answer_of", answer)
    monkeypatch.setattr(loop_cycles.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert read_loop_cycles([Body("/bin/sh", (0,))], ZEN3) == {}
    for text in asked:
        assert "incbin" not in text and "\x1b" not in text and text.count("LLVM-MCA-END") <= 2


def nested(counts, inner=(), called=()):
    """The profile of a loop with so many executions of each instruction, and its nest."""
    text = "version: 1\ncreator: bdgrind\npositions: instr line\nevents: Ir\nob=/bin/p\nfl=a.c\nfn=work\n"
    for number, count in enumerate(counts):
        text += f"{16 * number:#x} 5 {count}\n"
        if number in called:
            text += f"cfn=other\ncalls={count} 0x900 9\n{16 * number:#x} 5 {count}\n"
    profile = parse_text(text + "fn=other\n0x900 9 1\n", Detail.INSTRUCTIONS)
    one = Loop("a.c", 5, (), 0, 1, max(counts), None)
    all_loops = (one, Loop("a.c", 6, (), 16 * inner[0], 1, 9, 0)) if inner else (one,)
    return profile, {WORK: Nest(all_loops, {16 * at: int(at in inner) for at in range(len(counts))})}


@pytest.mark.parametrize("counts, others, expected", [
    ([100, 100, 100, 99], {}, (0, 16, 32, 48)),
    ([100, 100, 1, 100], {}, (0, 16, 48)),  # hardly ever
    ([100, 50, 50, 100], {}, None),  # either or
    ([100, 100, 100], {"called": [1]}, None),
    ([10, 500, 500, 10], {"inner": [1, 2]}, (16, 32)),  # not the loop around
])
def test_loops_are_asked_about_whose_iterations_are_alike(counts, others, expected):
    found = loop_bodies(*nested(counts, **others))
    assert [one.body.addresses for one in found] == ([expected] if expected else [])
    if found:
        cycles = {found[0].body: Cycles(6.0, 2.0)}
        work = work_of(found, cycles, ZEN3)
        # 0.3 ns in the loop of eight instructions, of which six take a cycle, are 0.4 ns for each.
        assert sum(one.value for one in work.values()) == pytest.approx(found[0].iterations * 6 * 0.4)
        assert sum(one.least for one in work.values()) == pytest.approx(found[0].iterations * 2 * 0.4)
        assert isinstance(ZEN3, Machine)


def test_what_the_simulator_does_not_know_is_asked_once(monkeypatch):
    """It then answers for another processor, with a warning."""
    asked = []

    def answer(command, text, _):
        if "objdump" in command[0]:
            return "  0:\tnop\n"
        asked.append(next(option.partition("=")[2] for option in command if option.startswith("-mcpu=")))
        view = {"BlockRThroughput": 1, "TotalCycles": 200}
        region = {"Name": "0", "SummaryView": view}
        return json.dumps({"SimulationParameters": {"-mcpu": "znver3"}, "CodeRegions": [region]})

    monkeypatch.setattr(loop_cycles, "_unknown", set())
    monkeypatch.setattr(loop_cycles, "answer_of", answer)
    monkeypatch.setattr(loop_cycles.shutil, "which", lambda name: f"/usr/bin/{name}")
    machine = parse_machine(MACHINE + "model: AuthenticAMD family 26 model 2 stepping 1\n", "toy")
    body = Body("/bin/sh", (0,))
    for _ in range(2):
        assert read_loop_cycles([body], machine) == {body: Cycles(1, 1)}
    assert asked == ["znver5", "znver4", "znver3", "znver3"]
